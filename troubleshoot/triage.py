"""Order findings so that the first is the root cause, and say what a log comes to as a whole.

In: findings in any order. Out: the same findings, ordered, with role and `explained_by`. The order depends on nothing
but the findings. Confirmations stand last and take no part.

The order, and why:

1. **A cause stands above what it explains** (`causes`: ids, `domain/*`, `#tag`). People who know the programs wrote
   that down, so it goes before any clock: an effect is often printed first, by another rank or an unbuffered stream.
   A catch-all explains no fault and a symptom only symptoms, so that neither lifts itself above a fault. A tag or a
   domain says less than an id: it does not make a fault the effect of one that certainly came after it. Where causes go
   in a circle, links lead only from what would stand first without them to what would stand later.
2. **By kind**: faults that nothing explains, explained faults, catch-alls, symptoms, what is both. What merely echoes a
   failure is never the answer when anything else is there; a catch-all (an exception that no rule knows) is less than
   a known fault and more than an echo.
3. **A notice (severity low) stands below all that is worse**, whatever its kind: it did not end the job. It is no
   "anything else" for a symptom either. A notice that explains something worse counts as being as bad as that.
4. **What ends a job (high, critical) before what slows it (medium).** Warnings about a slow network are printed at
   start-up, before the fault that kills; time alone would put them first. High and critical are one band: which of two
   deadly faults came first says more than which sounds worse.
5. **A guess (confidence low) below what is surer**, within its band.
6. **First evidence first**, where clocks can be compared: within a source by line, over sources by times known in the
   same way and further apart than their resolution. The first error of a chain is the one that sets off the others.
7. **Ties**: on one and the same record the surer reading first, then the narrower one, whose signatures take more of
   its text; else severity, confidence, narrowness; then the id, so that equal input gives equal output.

"Before" by 6 is only a partial order. Of the findings left, the next one is the best by 7 among those that none of the
others came before; what was asked in 2 to 5 has already split them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from troubleshoot import limits
from troubleshoot.clocks import stamp_before
from troubleshoot.model import (
    Confidence,
    Finding,
    Kind,
    Role,
    RulePack,
    Severity,
    Suspect,
    Verdict,
)

_FAULT, _EXPLAINED, _GENERIC, _SYMPTOM, _BOTH = range(5)


@dataclass(frozen=True, slots=True)
class _Case:
    """A finding with what its place depends on. `causes` are positions of the findings that explain it."""

    finding: Finding
    causes: frozenset[int]
    severity: Severity  # its own, or that of the worst it explains
    specificity: int  # characters of its first record that its signatures spell out

    @property
    def band(self) -> tuple[int, int, int, int]:
        """Return what splits the findings before time is asked: lower stands first."""
        finding = self.finding
        kind = _rung(finding) or (_EXPLAINED if self.causes else _FAULT)
        is_notice = self.severity < Severity.MEDIUM
        return (is_notice, kind, self.severity < Severity.HIGH, finding.confidence is Confidence.LOW)

    @property
    def tie(self) -> tuple[int, int, int, str, str]:
        finding = self.finding
        return (-self.severity, -finding.confidence, -self.specificity, finding.rule, finding.fingerprint)


def triage(pack: RulePack, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings, root cause first, each with its role and the rules of the findings that explain it."""
    confirmations = sorted((each for each in findings if each.kind is Kind.CONFIRMATION), key=_name)
    faults = sorted((each for each in findings if each.kind is Kind.FAULT), key=_name)
    causes = _without_circles(pack, faults, _causes(pack, faults))
    severities = _inherited(faults, causes)
    cases = [_Case(each, causes[at], severities[at], _specificity(pack, each)) for at, each in enumerate(faults)]
    return (*(_told(cases, at) for at in _ordered(cases)), *confirmations)


def decide_verdict(findings: Iterable[Finding], suspects: Iterable[Suspect]) -> Verdict:
    """Say what the log comes to.

    fault: some fault of severity medium or above that is neither symptom nor catch-all; or a symptom, whose text says
    where to look, unless the log also holds a grave suspect (an exception, a crash) that no rule knows: then that is
    the fault and it is not known. unknown-fault: that, or only catch-alls, or nothing known but a suspect that weighs
    enough. clean: notices (severity low), confirmations and light suspects stand in healthy logs too."""
    worse = [each for each in findings if each.kind is Kind.FAULT and each.severity >= Severity.MEDIUM]
    weight = max((each.weight for each in suspects), default=0)
    if any(not each.generic and not each.symptom for each in worse):
        return Verdict.FAULT
    if any(not each.generic for each in worse) and weight < limits.GRAVE_SUSPECT_WEIGHT:
        return Verdict.FAULT
    return Verdict.UNKNOWN_FAULT if worse or weight >= limits.SUSPECT_WEIGHT else Verdict.CLEAN


def explains(pack: RulePack, cause: Finding, other: Finding) -> bool:
    """Tell whether a finding's rule names the other's among its `causes`."""
    if cause.rule == other.rule or _rung(cause) > _rung(other):
        return False
    cause_rule, other_rule = pack.rules.get(cause.rule), pack.rules.get(other.rule)
    if cause_rule is None:
        return False
    if other.rule in cause_rule.causes:
        return True
    kinds = {f"#{tag}" for tag in other_rule.tags} if other_rule is not None else set()
    kinds.add(f"{other.rule.split('/', 1)[0]}/*")
    if kinds.isdisjoint(cause_rule.causes):
        return False
    return _rung(other) > 0 or not _surely_before(other, cause)


def _surely_before(a: Finding, b: Finding) -> bool:
    """Tell whether `a` came before `b` for sure: ranks whose output was put into one file one after the other are not
    in the order of time."""
    ranks_a, ranks_b = set(a.ranks), set(b.ranks)
    is_mixed = bool(ranks_a and ranks_b and ranks_a.isdisjoint(ranks_b))
    by_time = stamp_before(a.first_seen, b.first_seen)
    return by_time if by_time is not None else not is_mixed and came_before(a, b)


def _rung(finding: Finding) -> int:
    """Return what a finding is by its rule: it explains only what stands on its own rung or below."""
    if finding.symptom:
        return _BOTH if finding.generic else _SYMPTOM
    return _GENERIC if finding.generic else _FAULT


def _name(finding: Finding) -> tuple[str, str, str, int]:
    first = finding.evidence[0] if finding.evidence else None
    return (finding.rule, finding.fingerprint, first.source if first else "", first.line if first else 0)


def _told(cases: Sequence[_Case], at: int) -> Finding:
    case = cases[at]
    explained_by = tuple(sorted({cases[cause].finding.rule for cause in case.causes}))
    role = Role.SYMPTOM if explained_by or case.finding.symptom else Role.CAUSE
    return replace(case.finding, role=role, explained_by=explained_by)


# --- causes ----------------------------------------------------------------------------------------------------------


def _causes(pack: RulePack, faults: Sequence[Finding]) -> list[frozenset[int]]:
    return [frozenset(at for at, cause in enumerate(faults) if explains(pack, cause, other)) for other in faults]


def _without_circles(
    pack: RulePack, faults: Sequence[Finding], causes: Sequence[frozenset[int]]
) -> list[frozenset[int]]:
    """Return the causes without those links that close a circle: within one, links only lead from what would stand
    earlier without them to what would stand later."""
    alone = [_Case(each, frozenset(), each.severity, _specificity(pack, each)) for each in faults]
    place = {at: position for position, at in enumerate(_ordered(alone))}
    above = [_all_above(at, causes) for at in range(len(faults))]
    return [
        frozenset(cause for cause in own if not (at in above[cause] and place[cause] > place[at]))
        for at, own in enumerate(causes)
    ]


def _all_above(at: int, causes: Sequence[frozenset[int]]) -> set[int]:
    """Return every finding that explains this one, at first or further hand."""
    above: set[int] = set()
    left = list(causes[at])
    while left:
        cause = left.pop()
        if cause not in above:
            above.add(cause)
            left.extend(causes[cause])
    return above


def _inherited(faults: Sequence[Finding], causes: Sequence[frozenset[int]]) -> list[Severity]:
    severities = [each.severity for each in faults]
    for at, each in enumerate(faults):
        for cause in _all_above(at, causes):
            severities[cause] = max(severities[cause], each.severity)
    return severities


# --- order -----------------------------------------------------------------------------------------------------------


def _ordered(cases: Sequence[_Case]) -> list[int]:
    """Return the positions of the cases, best first, none before its causes."""
    bands = [case.band for case in cases]
    before = [
        {
            other
            for other, one in enumerate(cases)
            if bands[other] == bands[at] and came_before(one.finding, case.finding)
        }
        for at, case in enumerate(cases)
    ]
    left = set(range(len(cases)))
    order: list[int] = []
    while left:
        free = {at for at in left if not cases[at].causes & left}
        band = min(bands[at] for at in free)
        free = {at for at in free if bands[at] == band}
        unpreceded = [at for at in free if not before[at] & free] or list(free)  # all preceded: clocks go in a circle
        order.append(_best(unpreceded, cases))
        left.discard(order[-1])
    return order


def _best(positions: Sequence[int], cases: Sequence[_Case]) -> int:
    best = min(positions, key=lambda at: cases[at].tie)
    record = _first_place(cases[best].finding)
    readings = [at for at in positions if _first_place(cases[at].finding) == record]
    return min(readings, key=lambda at: (-cases[at].finding.confidence, -cases[at].specificity, cases[at].tie))


def came_before(a: Finding, b: Finding) -> bool:
    """Tell whether the first evidence of `a` certainly came before that of `b`."""
    first_a, first_b = _first_place(a), _first_place(b)
    if first_a is not None and first_b is not None and first_a[0] == first_b[0]:
        return first_a[1] < first_b[1]
    by_time = stamp_before(a.first_seen, b.first_seen)
    if by_time is not None:
        return by_time
    shared = a.first_lines.keys() & b.first_lines.keys()
    return bool(shared) and all(a.first_lines[source] < b.first_lines[source] for source in shared)


def _first_place(finding: Finding) -> tuple[str, int] | None:
    return (finding.evidence[0].source, finding.evidence[0].line) if finding.evidence else None


def _specificity(pack: RulePack, finding: Finding) -> int:
    """Return how many characters of the first record the rule spells out: of each signature that hit there the matched
    text without its captures, though not more than its pattern is long."""
    place, found = _first_place(finding), finding.outcome
    spelled: dict[str, int] = {}
    for each in found.hits if found is not None else ():
        record = each.hit.record
        if (record.source.name, record.line) == place:
            taken = each.hit.end - each.hit.start - sum(len(value) for value in each.hit.captures.values())
            pattern = pack.patterns[each.hit.pattern].source
            spelled[each.signature] = max(spelled.get(each.signature, 0), min(taken, len(pattern)))
    return sum(spelled.values())
