"""Order findings so that the first is the root cause, and say what a log comes to as a whole.

In: findings in any order. Out: the same findings, ordered, with role and `explained_by`. The order depends on nothing
but the findings. Confirmations stand last and take no part.

The order, and why:

1. **A cause stands above what it explains** (`causes`: ids, `domain/*`, `#tag`). People who know the programs wrote
   that down, so it goes before any clock: an effect is often printed first, by another rank or an unbuffered stream.
   A symptom explains only symptoms and a catch-all only those, so that neither lifts itself above a fault. Where causes
   go in a circle, links lead only from what would stand first without them to what would stand later.
2. **By kind**: faults that nothing explains, explained faults, symptoms, catch-alls. What merely echoes a failure is
   never the answer when a failure is there.
3. **A notice (severity low) stands below all that is worse**, whatever its kind: it did not end the job. It is no
   "anything else" for a symptom either. A notice that explains something worse counts as being as bad as that.
4. **What ends a job (high, critical) before what slows it (medium).** Warnings about a slow network are printed at
   start-up, before the fault that kills; time alone would put them first. High and critical are one band: which of two
   deadly faults came first says more than which sounds worse.
5. **A guess (confidence low) below what is surer**, within its band.
6. **First evidence first**, where clocks can be compared: within a source by line, over sources by times known in the
   same way and further apart than their resolution. The first error of a chain is the one that sets off the others.
7. **Ties**: on one and the same record the narrower reading (more signatures, longer patterns) first; then severity,
   confidence, narrowness; then the id, so that equal input gives equal output.

"Before" by 6 is only a partial order. Of the findings left, the next one is the best by 7 among those that none of the
others came before; what was asked in 2 to 5 has already split them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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

_FAULT, _EXPLAINED, _SYMPTOM, _GENERIC = range(4)


@dataclass(frozen=True, slots=True)
class _Case:
    """A finding with what its place depends on. `causes` are positions of the findings that explain it."""

    finding: Finding
    causes: frozenset[int]
    severity: Severity  # its own, or that of the worst it explains
    specificity: tuple[int, int]

    @property
    def band(self) -> tuple[int, int, int, int]:
        """Return what splits the findings before time is asked: lower stands first."""
        finding = self.finding
        kind = _GENERIC if finding.generic else _SYMPTOM if finding.symptom else _EXPLAINED if self.causes else _FAULT
        is_notice = self.severity < Severity.MEDIUM
        return (is_notice, kind, self.severity < Severity.HIGH, finding.confidence is Confidence.LOW)

    @property
    def narrowness(self) -> tuple[int, int]:
        """Return a key that sorts the narrower reading of a record first."""
        return (-self.specificity[0], -self.specificity[1])

    @property
    def tie(self) -> tuple[int, int, tuple[int, int], str, str]:
        finding = self.finding
        return (-self.severity, -finding.confidence, self.narrowness, finding.rule, finding.fingerprint)


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

    fault: some fault of severity medium or above that is no catch-all; a symptom alone counts, its text says where to
    look. unknown-fault: only catch-alls, or nothing known but a suspect that weighs enough. clean: notices (severity
    low), confirmations and light suspects stand in healthy logs too."""
    worse = [each for each in findings if each.kind is Kind.FAULT and each.severity >= Severity.MEDIUM]
    if any(not each.generic for each in worse):
        return Verdict.FAULT
    if worse or any(each.weight >= limits.SUSPECT_WEIGHT for each in suspects):
        return Verdict.UNKNOWN_FAULT
    return Verdict.CLEAN


def explains(pack: RulePack, cause: Finding, other: Finding) -> bool:
    """Tell whether a finding's rule names the other's among its `causes`."""
    if cause.rule == other.rule or _rung(cause) > _rung(other):
        return False
    cause_rule, other_rule = pack.rules.get(cause.rule), pack.rules.get(other.rule)
    if cause_rule is None:
        return False
    tags = {f"#{tag}" for tag in other_rule.tags} if other_rule is not None else set()
    domain = other.rule.split("/", 1)[0]
    return any(name in (other.rule, f"{domain}/*") or name in tags for name in cause_rule.causes)


def _rung(finding: Finding) -> int:
    return 2 if finding.generic else 1 if finding.symptom else 0


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
    return min(readings, key=lambda at: (cases[at].narrowness, cases[at].tie))


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


def _specificity(pack: RulePack, finding: Finding) -> tuple[int, int]:
    """Return how narrow a reading the finding is: signatures seen, and the length of their patterns."""
    rule = pack.rules.get(finding.rule)
    names = {each.signature for each in finding.evidence}
    if rule is None:
        return (len(names), 0)
    wordings: Mapping[str, int] = {
        name: max(len(pattern.source) for pattern in signature.patterns)
        for name, signature in rule.signatures.items()
        if signature.patterns
    }
    return (len(names), sum(wordings.get(name, 0) for name in names))
