"""Whole-pack checks: rules that load, and would disappoint. One small function each.

A lint takes a `Subject` (a rule with the places of its file) or the pack, and yields problems. `lint_pack` runs them
all. What needs another step of the program is handed in by the caller: a scan for the lints on examples, what the
prefilter can search for for those on patterns.

    lint_pack(pack, engine.scan_texts, choose=planner.choose)

Captures that no text uses are no lint: every capture is shown in the report.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping

from troubleshoot.errors import Problem
from troubleshoot.model import Condition, Kind, Op, Rule, RulePack
from troubleshoot.rulepack.fields import KEYS, PLATFORMS
from troubleshoot.rulepack.lint_examples import Run, lint_examples
from troubleshoot.rulepack.lint_patterns import Choose, lint_patterns
from troubleshoot.rulepack.positions import Path as Where
from troubleshoot.rulepack.scaffold import PLACEHOLDER
from troubleshoot.rulepack.shape import did_you_mean
from troubleshoot.rulepack.subject import Subject, read_subject
from troubleshoot.rulepack.text import RESERVED_NAMES

_NAMED = re.compile(r"(?<!\{)\{([a-z][a-z0-9_]*)\}(?!\})")


def lint_pack(
    pack: RulePack,
    run: Run | None = None,
    *,
    only: Collection[str] | None = None,
    choose: Choose | None = None,
) -> list[Problem]:
    """Return all that the lints say of the pack, or of the rules named in `only`, rule by rule in the files' order.

    `run` scans texts by name with this pack; without it examples are not tried. `choose` says how the scan searches for
    a pattern; without it nothing is said of how fast that is.
    """
    subjects = [read_subject(rule) for id, rule in pack.rules.items() if only is None or id in only]
    problems = [problem for subject in subjects for lint in RULE_LINTS for problem in lint(subject, pack)]
    problems += circles(pack, {subject.rule.id: subject for subject in subjects})
    told: set[int] = set()  # a pattern of several rules is told of once
    for subject in subjects:
        problems += lint_patterns(subject, choose, told)
    problems += lint_examples(subjects, pack, run)
    return sorted(problems, key=lambda each: (each.place.path, each.place.line) if each.place else ("", 0))


# --- one rule --------------------------------------------------------------------------------------------------------


def keys_in_order(subject: Subject, pack: RulePack) -> Iterator[Problem]:
    """L001: rule files are compared by eye, so keys stand in one order."""
    written = [key for key in subject.top_keys() if key in KEYS]
    for before, key in itertools.pairwise(written):
        if KEYS.index(key) < KEYS.index(before):
            help = f"the order is {', '.join(each for each in KEYS if each in written)}"
            yield subject.problem("L001", f"`{key}` stands after `{before}`", (key,), help, "warning", key=True)
            return


def used_signatures(subject: Subject, pack: RulePack) -> Iterator[Problem]:
    """L002: a signature that nothing asks for."""
    rule = subject.rule
    used = {*_leaves(rule.condition), *rule.supports, *rule.contradicts}
    for name in rule.signatures:
        if name not in used:
            help = "name it in the condition, in `supports` or `contradicts`, or remove it"
            where = ("signatures", name)
            yield subject.problem("L002", f"signature `{name}` is never used", where, help, "warning", key=True)


def has_examples(subject: Subject, pack: RulePack) -> Iterator[Problem]:
    """L003, L004: a rule proves itself by a log it knows and by the closest one it must not take for it."""
    if subject.is_imported:
        return
    outcomes = {example.expect for example in subject.rule.examples}
    severity = subject.severity
    if "match" not in outcomes:
        help = "add an example with `match:`, the log lines verbatim"
        yield subject.problem("L003", "no example that matches", ("examples",), help, severity, key=True)
    if "no_match" not in outcomes:
        help = "add an example with `no_match:`, the closest text that is not this fault"
        yield subject.problem("L004", "no near-miss", ("examples",), help, severity, key=True)


def known_captures(subject: Subject, pack: RulePack) -> Iterator[Problem]:
    """L007: a text that would show its braces to the reader."""
    rule = subject.rule
    holes = {hole for each in rule.signatures.values() for pattern in each.patterns for hole in pattern.holes}
    known = sorted({*holes, *(lookup.name for lookup in rule.lookup), *RESERVED_NAMES})
    for text, where in _texts(rule):
        for name in dict.fromkeys(_NAMED.findall(text)):
            if name not in known:
                help = f"{did_you_mean(name, known)} (`{{{{{name}}}}}` shows braces)"
                yield subject.problem("L007", f"no capture `{name}`", where, help)


def known_rules(subject: Subject, pack: RulePack) -> Iterator[Problem]:
    """L008: ids and tags that no rule has."""
    rule = subject.rule
    for index, cause in enumerate(rule.causes):
        yield from _known_rule(subject, pack, cause, ("causes", index))
    for index, example in enumerate(rule.examples):
        for position, id in enumerate(example.also):
            yield from _known_rule(subject, pack, id, ("examples", index, "also", position))


def _known_rule(subject: Subject, pack: RulePack, name: str, where: Where) -> Iterator[Problem]:
    if name == subject.rule.id:
        yield subject.problem("L008", f"`{name}` is this rule itself", where, "remove it")
    elif not any(means(name, other) for other in pack.rules.values()):
        if name.startswith("#"):
            tags = sorted({f"#{tag}" for other in pack.rules.values() for tag in other.tags})
            yield subject.problem("L008", f"no rule has the tag `{name}`", where, did_you_mean(name, tags, "tag"))
        else:
            near = difflib.get_close_matches(name, pack.rules, n=1)
            help = f"did you mean `{near[0]}`?" if near else "`troubleshoot rules list` names them all"
            yield subject.problem("L008", f"no rule `{name}`", where, help)


def own_signatures(subject: Subject, pack: RulePack) -> Iterator[Problem]:
    """L010: a wording that another rule has too. Shared signatures are shared on purpose."""
    for name, signature in subject.rule.signatures.items():
        if signature.shared:
            continue
        others = {
            use.rule
            for pattern in signature.patterns
            for use in pack.users[pattern.id]
            if use.rule in pack.rules and use.rule != subject.rule.id
            if not pack.rules[use.rule].signatures[use.signature].shared
        }
        if others:
            text = f"signature `{name}` is also one of {', '.join(sorted(others))}"
            help = "make it a shared signature in `_shared/`, or say what tells the two faults apart"
            yield subject.problem("L010", text, ("signatures", name), help, "warning", key=True)


def has_sources(subject: Subject, pack: RulePack) -> Iterator[Problem]:
    """L011: every claim has a source."""
    if not subject.rule.references and not subject.is_imported:
        help = "name the document, or the source file where the message is born"
        yield subject.problem("L011", "no reference", (), help, subject.severity)


def has_fixes(subject: Subject, pack: RulePack) -> Iterator[Problem]:
    """L012, L016: what to do, and how to see that it worked."""
    rule = subject.rule
    if subject.is_imported:
        return
    if rule.kind is Kind.FAULT and not rule.symptom and not rule.fixes:
        help = "say what to do, or mark the rule `symptom: true`"
        yield subject.problem("L012", "no fix", ("fixes",), help, subject.severity, key=True)
    if rule.fixes and not any(fix.verify for fix in rule.fixes):
        help = "add `verify:` to a fix: a command, and what it prints once the fault is gone"
        yield subject.problem("L016", "no fix says how to see that it worked", ("fixes",), help, "warning", key=True)


def known_platforms(subject: Subject, pack: RulePack) -> Iterator[Problem]:
    """L014: a variant that would never be chosen."""
    for index, fix in enumerate(subject.rule.fixes):
        for platform in fix.variants:
            if platform not in PLATFORMS:
                where, help = ("fixes", index, "variants", platform), did_you_mean(platform, PLATFORMS)
                yield subject.problem("L014", f"unknown platform `{platform}`", where, help, "warning", key=True)


def filled_in(subject: Subject, pack: RulePack) -> Iterator[Problem]:
    """L018: what `rules new` left for the author to write, told once for all of it."""
    places = [subject.document.place(where) for text, where in _texts(subject.rule) if PLACEHOLDER in text]
    for index, example in enumerate(subject.rule.examples):
        texts = {example.expect: " ".join(example.files.values()), "why": example.why}
        places += [
            subject.document.place(("examples", index, key)) for key, text in texts.items() if PLACEHOLDER in text
        ]
    if places:
        lines = ", ".join(dict.fromkeys(str(place.line) for place in places))
        what = f"`{PLACEHOLDER}` left on line{'s' * (',' in lines)} {lines}"
        yield subject.problem_at("L018", what, places[0], "write the text, or remove its key")


RULE_LINTS: tuple[Callable[[Subject, RulePack], Iterator[Problem]], ...] = (
    keys_in_order,
    used_signatures,
    has_examples,
    known_captures,
    known_rules,
    own_signatures,
    has_sources,
    has_fixes,
    known_platforms,
    filled_in,
)


def _leaves(condition: Condition) -> Iterator[str]:
    return (node.signature for node in condition.walk() if node.op is Op.SIGNATURE and node.signature is not None)


def _texts(rule: Rule) -> Iterator[tuple[str, Where]]:
    """Yield every text in which captures may be used, with its path in the file."""
    yield rule.title, ("title",)
    yield rule.explanation, ("explanation",)
    for index, fix in enumerate(rule.fixes):
        below: Where = ("fixes", index)
        yield fix.title, (*below, "title")
        yield fix.do, (*below, "do")
        for position, command in enumerate(fix.run):
            yield command, (*below, "run", position)
        for platform, text in fix.variants.items():
            yield text, (*below, "variants", platform)
        if fix.verify is not None:
            yield fix.verify.run, (*below, "verify", "run")
            yield fix.verify.expect, (*below, "verify", "expect")


# --- rules among each other ------------------------------------------------------------------------------------------


def means(name: str, rule: Rule) -> bool:
    """Say whether an entry of `causes` (an id, `domain/*`, or `#tag`) means the rule."""
    if name.startswith("#"):
        return name[1:] in rule.tags
    if name.endswith("/*"):
        return rule.id.startswith(name[:-1])
    return name == rule.id


def circles(pack: RulePack, subjects: dict[str, Subject]) -> Iterator[Problem]:
    """L009: rules that explain each other by name in a circle, told once for each circle.

    Tags and domains may point at each other: there the time of the evidence decides which one is the cause.
    """
    graph = {
        id: sorted({cause for cause in rule.causes if cause in pack.rules and cause != id})
        for id, rule in pack.rules.items()
    }
    for circle in _circles(graph):
        subject = next((subjects[id] for id in circle if id in subjects), None)
        if subject is not None:
            text = f"causes go round: {' -> '.join([*circle, circle[0]])}"
            help = "a cause explains its symptom and never the other way: remove one of them"
            yield subject.problem("L009", text, ("causes",), help, key=True)


def _explained(rule: Rule, pack: RulePack) -> set[str]:
    others = [other for other in pack.rules.values() if other.id != rule.id]
    return {other.id for cause in rule.causes for other in others if means(cause, other)}


def _circles(graph: Mapping[str, list[str]]) -> Iterator[list[str]]:
    """Yield the circles that a walk depth first runs into, at most one from each start."""
    done: set[str] = set()
    for start in graph:
        trail: list[str] = []
        ahead = [iter([start])]
        found = False
        while ahead:
            id = next((each for each in ahead[-1] if each not in done), None)
            if id is None:
                ahead.pop()
                if trail:
                    done.add(trail.pop())
            elif id in trail:
                if not found:
                    yield trail[trail.index(id) :]
                found = True
            else:
                trail.append(id)
                ahead.append(iter(graph[id]))
