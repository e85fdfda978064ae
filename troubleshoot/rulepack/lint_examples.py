"""Lints that try the examples: a rule fires where it should, nowhere else, and no other rule fires there.

Each example is scanned once with the whole pack, so a rule is tried on every other rule's examples in the same pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

import regex

from troubleshoot.errors import Problem, TroubleshootError
from troubleshoot.model import Example, Finding, Pattern, Report, RulePack, Status
from troubleshoot.rulepack.shape import did_you_mean
from troubleshoot.rulepack.signatures import compile_pattern
from troubleshoot.rulepack.subject import Subject

Run = Callable[[Mapping[str, str]], Report]


def lint_examples(subjects: Sequence[Subject], pack: RulePack, run: Run | None) -> Iterator[Problem]:
    """Yield what comes out otherwise than the examples say. Without `run` only signatures are tried, line by line."""
    for subject in subjects:
        seen: set[str] = set()
        for index, example in enumerate(subject.rule.examples):
            if run is None:
                continue
            try:
                report = run(example.files)
            except TroubleshootError as error:
                yield subject.problem(
                    "L005", f"the example cannot be scanned: {error.text}", ("examples", index), error.help
                )
                continue
            own = _finding(report, subject.rule.id)
            seen.update(evidence.signature for evidence in own.evidence if own is not None) if own else None
            yield from comes_out_as_stated(subject, index, example, report, own)
            yield from fires_no_other(subject, index, example, report, pack)
        yield from every_signature_tried(subject, seen)


def _finding(report: Report, id: str) -> Finding | None:
    return next((each for each in (*report.findings, *report.confirmations) if each.rule == id), None)


def comes_out_as_stated(
    subject: Subject, index: int, example: Example, report: Report, finding: Finding | None
) -> Iterator[Problem]:
    """L005: match, no match or cannot tell; captures; confidence."""
    where = ("examples", index, example.expect)
    undecided = next((each for each in report.undecided if each.rule == subject.rule.id), None)
    came = "match" if finding is not None else "undecided" if undecided is not None else "no_match"
    if came != example.expect:
        words = {"match": "fires", "no_match": "does not fire", "undecided": "cannot tell"}
        text = f"the rule {words[came]} on this example of `{example.expect}`"
        help = f"save the text and see `troubleshoot why {subject.rule.id} FILE`"
        yield subject.problem("L005", text, where, help, key=True)
        return
    if finding is None:
        return
    for name, value in example.captures.items():
        got = finding.captures.get(name)
        if got != value:
            came_out = f"is `{got}`" if got is not None else "is not captured"
            help = (
                did_you_mean(name, finding.captures, "capture") if got is None else f"write `{got}`, or mend the hole"
            )
            at = ("examples", index, "captures", name)
            yield subject.problem("L005", f"`{name}` {came_out}, and not `{value}`", at, help, key=True)
    if example.confidence is not None and finding.confidence is not example.confidence:
        text = f"confidence is {finding.confidence.word}, and not {example.confidence.word}"
        help = "; ".join(finding.because)
        yield subject.problem("L005", text, ("examples", index, "confidence"), help, key=True)


def fires_no_other(subject: Subject, index: int, example: Example, report: Report, pack: RulePack) -> Iterator[Problem]:
    """L006: another rule that fires and is not named in `also`. A catch-all is expected to."""
    fired = sorted({each.rule for each in (*report.findings, *report.confirmations)} - {subject.rule.id})
    for id in fired:
        other = pack.rules.get(id)
        if other is None or other.generic or any(_names(name, id) for name in example.also):
            continue
        text = f"{id} fires on this example too"
        help = f"sharpen {id}, or allow it: `also: [{id}]`"
        imported = subject.is_imported or other.status is Status.IMPORTED  # as broad as it is where it comes from
        severity = "warning" if imported else "error"
        yield subject.problem("L006", text, ("examples", index, example.expect), help, severity, key=True)


def _names(name: str, id: str) -> bool:
    return id.startswith(name[:-1]) if name.endswith("/*") else id == name


def every_signature_tried(subject: Subject, seen: set[str]) -> Iterator[Problem]:
    """L013: a signature that matches nothing in any example may never match at all.

    `seen` are those that were evidence. The others are tried on the raw lines, so one that is tied to the line's
    beginning and only stands behind a wrapper is told of although it is well: hence a warning.
    """
    texts = [text for example in subject.rule.examples for text in example.files.values()]
    for name, signature in subject.rule.signatures.items():
        if name not in seen and not any(_stands_in(pattern, text) for pattern in signature.patterns for text in texts):
            help = "add the line that it recognises to an example"
            yield subject.problem(
                "L013", f"signature `{name}` is in no example", ("signatures", name), help, "warning", key=True
            )


def _stands_in(pattern: Pattern, text: str) -> bool:
    lines = text.split("\n")
    compiled = _compiled(pattern.regex, pattern.exact_case)
    windows = ("\n".join(lines[at : at + pattern.lines]) for at in range(len(lines)))
    try:
        return any(compiled.search(window, timeout=1) for window in windows)
    except TimeoutError:
        return False


@lru_cache(maxsize=4096)
def _compiled(source: str, exact_case: bool) -> regex.Pattern[str]:
    return compile_pattern(source, exact_case)
