"""Hits become findings: walk the rules that any hit touches, ask each its condition, build what held.

In: the pack and the scan results of all sources. Out: an `Evaluation`. The order of the results is no matter.

A rule that no hit touches is not asked: absence needs its `given`, so it is no exception. A rule gives one finding over
all sources, ranks and groups. Distinct values of its `fingerprint` captures are different faults of the same rule, so
the condition is asked once per value, over the hits that carry it and those that carry none:

    fingerprint: [library]      libfoo.so on 9 ranks, libbar.so on 1      two findings
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from troubleshoot import limits
from troubleshoot.clocks import earliest_first
from troubleshoot.evaluate.conditions import Judge, merged
from troubleshoot.evaluate.findings import build_finding, known_names
from troubleshoot.evaluate.sightings import Sighting, View, view_rules
from troubleshoot.evaluate.texts import Texts
from troubleshoot.evaluate.trees import can_hold
from troubleshoot.evaluate.windows import groups
from troubleshoot.model import Finding, Note, Outcome, Rule, RulePack, ScanResult, Truth, Undecided


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What all rules came to. `outcomes` has every rule that was asked, whether it held or not."""

    findings: tuple[Finding, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


def evaluate(pack: RulePack, results: Sequence[ScanResult], *, platform: str | None = None) -> Evaluation:
    """Return findings, rules that could not be told, and the outcome of every rule asked, by rule id.
    `platform` says which variant of a fix stands first."""
    notes: list[Note] = []
    findings: list[Finding] = []
    undecided: list[Undecided] = []
    outcomes: dict[str, Outcome] = {}
    for rule_id, view in sorted(view_rules(pack, results).items()):
        rule = pack.rules[rule_id]
        judge = Judge(rule_id)
        asked = _ask(judge, rule, view)
        notes += judge.notes
        found = [build_finding(pack, rule, part, outcome, platform) for part, outcome in asked if _holds(outcome)]
        findings += found
        outcomes[rule_id] = merged(rule.condition, [outcome for _, outcome in asked], "in no group")
        if not found:
            undecided += [_undecided(pack, rule, part, each) for part, each in asked if each.truth is Truth.UNDECIDED][
                :1
            ]
    return Evaluation(tuple(findings), tuple(undecided), outcomes, tuple(notes))


def explain_rule(pack: RulePack, results: Sequence[ScanResult], rule_id: str) -> Outcome:
    """Return what one rule comes to, even if no hit touches it."""
    rule = pack.rules[rule_id]
    view = view_rules(pack, results, only=rule_id).get(rule_id, View({}))
    return merged(rule.condition, [outcome for _, outcome in _ask(Judge(rule_id), rule, view)], "in no group")


def _ask(judge: Judge, rule: Rule, view: View) -> list[tuple[View, Outcome]]:
    """Return the outcome per value of the fingerprint captures, earliest first."""
    asked = [(part, judge.judge(rule.condition, part)) for part in _parts(rule, view)]
    holding = [pair for pair in asked if _holds(pair[1])]
    if len(holding) <= limits.FINDINGS_PER_RULE:
        return asked
    more = len(holding) - limits.FINDINGS_PER_RULE
    judge.notes.append(Note("findings-capped", f"{rule.id} was found in {more} more forms than are shown"))
    return holding[: limits.FINDINGS_PER_RULE]


def _parts(rule: Rule, view: View) -> Iterator[View]:
    parts = [view]
    for name in rule.fingerprint:
        parts = [
            smaller for part in parts for smaller in groups(part, name, lambda names: can_hold(rule.condition, names))
        ]
    yield from parts


def _holds(outcome: Outcome) -> bool:
    return outcome.truth is Truth.TRUE and bool(outcome.hits)


def _undecided(pack: RulePack, rule: Rule, view: View, outcome: Outcome) -> Undecided:
    captures: dict[str, str] = {}
    for each in earliest_first(view.all()):
        captures = {**each.captures, **captures}
    texts = Texts(captures, known_names(pack, rule))
    why, advice = _reason(outcome)
    where = next((each for each in outcome.hits if isinstance(each, Sighting)), None)
    first = where or next(iter(earliest_first(view.all())), None)
    if not advice and first is not None:
        advice = f"read {first.source}:{first.hit.record.line} and the lines around it"
    return Undecided(rule.id, texts.title(rule.title), texts.prose(why), texts.prose(advice))


def _reason(outcome: Outcome) -> tuple[str, str]:
    """Return why the outcome is UNDECIDED and what to do next: from the deepest node that says so."""
    for child in outcome.children:
        if child.truth is Truth.UNDECIDED:
            why, advice = _reason(child)
            if why or advice:
                return why, advice or (outcome.condition.next_step or "").strip()
    return outcome.why, (outcome.condition.next_step or "").strip()
