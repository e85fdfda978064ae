"""A trial of a rule -> text for its author, or JSON.

acme/fan-stopped fires on job.log, as it should

What its readers see:
...
Its examples:
  yes  line 19, match: fires
  no   line 23, no_match: the rule fires on this example of `no_match`
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from troubleshoot.model import Kind, Verdict
from troubleshoot.report.look import PLAIN, Look
from troubleshoot.report.printable import one_line
from troubleshoot.report.redact import redact_text
from troubleshoot.report.text import render_text
from troubleshoot.report.why import render_why, wire_near
from troubleshoot.report.wire import wire_finding, wire_undecided

if TYPE_CHECKING:
    from troubleshoot.trial import Trial, TriedExample

CAME = {"match": "fires", "no_match": "stays silent", "undecided": "cannot be told, as it should be"}
OTHERS = 8


def render_trial(trial: Trial, names: Sequence[str], look: Look = PLAIN, *, silent: bool = False) -> str:
    """Return what an author wants to know of a trial on the logs of these names, as text that ends in a newline."""
    sections = ["\n".join(_on_logs(trial, names, look, silent))] if trial.report is not None else []
    sections.append("\n".join(["Its examples:" if trial.examples else "It has no examples.", *_examples(trial, look)]))
    well = trial.is_well(silent=silent)
    sections.append(look.paint("All as it should be." if well else "Not as it should be.", "green" if well else "red"))
    return "\n\n".join(sections) + "\n"


def _on_logs(trial: Trial, names: Sequence[str], look: Look, silent: bool) -> Iterator[str]:
    assert trial.report is not None and trial.explanation is not None, "it was tried on logs"
    id, where = one_line(trial.rule.id), one_line(", ".join(names))
    finding = trial.finding
    if finding is None:
        word = "cannot tell" if trial.undecided is not None else "stays silent"
        yield look.paint(f"{id} {word} on {where}{', as it should' if silent else ''}", "bold")
        if trial.undecided is not None:
            yield f"{one_line(trial.undecided.why)}. Next: {one_line(trial.undecided.next)}"
        if not silent:
            yield ""
            yield render_why(trial.explanation, look).rstrip("\n")
        return
    yield look.paint(f"{id} fires on {where}{', and should stay silent' if silent else ', as it should'}", "bold")
    yield _standing(trial)
    captures = redact_text(", ".join(f"{name} = {value}" for name, value in finding.captures.items()))
    if captures:
        yield f"Captures: {one_line(captures)}"
    yield ""
    yield "What its readers see:"
    yield ""
    is_good_news = finding.kind is Kind.CONFIRMATION
    only = replace(
        trial.report,
        verdict=Verdict.CLEAN if is_good_news else Verdict.FAULT,
        findings=() if is_good_news else (finding,),
        confirmations=(finding,) if is_good_news else (),
        undecided=(),
        suspects=(),
        notes=(),
        job=None,
    )
    yield from (f"  {line}".rstrip() for line in render_text(only, replace(look, width=look.width - 2)).splitlines())


def _standing(trial: Trial) -> str:
    assert trial.report is not None, "it was tried on logs"
    listed = ", ".join(map(one_line, trial.others[:OTHERS]))
    more = f" and {len(trial.others) - OTHERS} more" if len(trial.others) > OTHERS else ""
    if not trial.others:
        return "No other rule fires there."
    ids = [each.rule for each in trial.report.findings]
    if trial.rule.id not in ids:
        return f"Others fire there too: {listed}{more}."
    at = ids.index(trial.rule.id) + 1
    by = trial.report.findings[at - 1].explained_by
    explained = f", as an effect of {', '.join(map(one_line, by))}" if by else ""
    return f"It stands {'first' if at == 1 else f'at place {at}'} of {len(ids)}{explained}. Others: {listed}{more}."


def _examples(trial: Trial, look: Look) -> Iterator[str]:
    for each in trial.examples:
        where = f"line {each.line}, {each.expect}"
        if each.is_open:
            yield f"  {look.paint('?   ', 'yellow')} {where}: not written yet"
        elif each.problems:
            for problem in each.problems:
                yield f"  {look.paint('no  ', 'red')} {where}: {one_line(problem.text)}"
        else:
            yield f"  {look.paint('yes ', 'green')} {where}: {CAME[each.expect]}"
    if trial.examples and not any(each.expect == "no_match" for each in trial.examples):
        yield f"  {look.paint('?   ', 'yellow')} no near-miss: add the closest line that is not this fault"


def trial_document(trial: Trial, names: Sequence[str], *, silent: bool = False) -> dict[str, Any]:
    """Return a trial as JSON values."""
    finding, undecided = trial.finding, trial.undecided
    answers = trial.explanation.signatures if trial.explanation is not None else ()
    return {
        "rule": trial.rule.id,
        "path": trial.rule.path,
        "ok": trial.is_well(silent=silent),
        "logs": list(names),
        "expected": None if trial.report is None else "silent" if silent else "fires",
        "fires": None if trial.report is None else finding is not None,
        "finding": wire_finding(finding) if finding is not None else None,
        "undecided": wire_undecided(undecided) if undecided is not None else None,
        "others": list(trial.others),
        "nearest": [
            {"signature": answer.signature.name, **wire_near(near)}
            for answer in answers
            for near in (() if finding is not None else answer.nearest)
        ],
        "examples": [_wire_example(each) for each in trial.examples],
    }


def _wire_example(example: TriedExample) -> dict[str, Any]:
    return {
        "expect": example.expect,
        "line": example.line,
        "ok": not (example.problems or example.is_open),
        "open": example.is_open,
        "problems": [each.text for each in example.problems],
    }
