"""The quality of a pack as numbers, so that its author sees which signature to sharpen; the most expensive rules first.

In: a pack, what its patterns cost on a log and what a corpus shows of its rules (measured by those who may scan), when
its files last changed. Out: `PackStats`; `stats_report` shows them.

What a rule costs is the sum over its wordings; the time of a wording that several rules have in common is shared out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date

from troubleshoot.model import Rule, RulePack
from troubleshoot.rulepack.stats_ages import Sources, sources_of


@dataclass(frozen=True, slots=True)
class PatternCost:
    """What one pattern costs. `per_million`: of a million ordinary lines so many hold one of its words, by the table of
    word frequencies. The figures below it are those of a log, and 0 where none was measured."""

    pattern: int
    searched: str  # by "words", an "expression", or on "every line"
    words: tuple[str, ...] = ()
    per_million: float | None = None
    candidates: int = 0
    false: int = 0
    confirm_s: float = 0.0
    slowest_s: float = 0.0
    overran: int = 0


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a corpus shows of a rule: incidents in which it fires, in which it is the answer, in which nobody expected
    it; and the rules that fire on the same lines, with how often."""

    incidents: int = 0
    first: int = 0
    unlisted: int = 0
    beside: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SignatureStats:
    """One wording of a rule."""

    rule: str
    signature: str
    source: str
    cost: PatternCost
    shared_with: int  # other rules with the same wording


@dataclass(frozen=True, slots=True)
class RuleStats:
    """A rule's figures. `untried`: signatures that hit neither in the corpus nor in an example."""

    id: str
    signatures: tuple[SignatureStats, ...]
    coverage: Coverage | None
    sources: Sources
    untried: tuple[str, ...] = ()

    @property
    def confirm_s(self) -> float:
        """Its share of the time: what rules have in common costs each of them a part."""
        return sum(each.cost.confirm_s / (1 + each.shared_with) for each in self.signatures)

    @property
    def candidates(self) -> int:
        return sum(each.cost.candidates for each in self.signatures)

    @property
    def false(self) -> int:
        return sum(each.cost.false for each in self.signatures)

    @property
    def per_million(self) -> float:
        return sum(each.cost.per_million or 0.0 for each in self.signatures)

    @property
    def is_slow(self) -> bool:
        return any(each.cost.searched == "every line" for each in self.signatures)


@dataclass(frozen=True, slots=True)
class PackStats:
    """The figures of a pack. `bytes`: of the log that costs were measured on; 0: they are estimates."""

    name: str
    rules: tuple[RuleStats, ...]
    patterns: int
    confirm_s: float
    bytes: int = 0
    log: str = ""
    incidents: bool = False

    def per_mb(self, number: float) -> float:
        return number / (self.bytes / 1e6) if self.bytes else 0.0


def build_stats(
    pack: RulePack,
    costs: Mapping[int, PatternCost],
    *,
    size: int = 0,
    log: str = "",
    coverage: Mapping[str, Coverage] | None = None,
    seen: Mapping[str, set[str]] | None = None,
    changed: Mapping[str, date] | None = None,
) -> PackStats:
    """Return the figures of a pack, the most expensive rules first. `seen` are the signatures that ever hit, by rule;
    `changed` says when a rule's file last did, by its path."""
    rules = [
        RuleStats(
            id,
            tuple(_signatures(pack, rule, costs)),
            coverage.get(id, Coverage()) if coverage is not None else None,
            sources_of(rule, (changed or {}).get(rule.path)),
            tuple(name for name in rule.signatures if seen is not None and name not in seen.get(id, ())),
        )
        for id, rule in pack.rules.items()
    ]
    rules.sort(key=lambda each: (-each.confirm_s, not each.is_slow, -each.per_million, each.id))
    total = sum(cost.confirm_s for cost in costs.values())
    return PackStats(pack.name, tuple(rules), len(pack.patterns), total, size, log, coverage is not None)


def _signatures(pack: RulePack, rule: Rule, costs: Mapping[int, PatternCost]) -> Iterator[SignatureStats]:
    for name, signature in rule.signatures.items():
        for pattern in signature.patterns:
            others = {use.rule for use in pack.users[pattern.id]} - {rule.id}
            yield SignatureStats(rule.id, name, pattern.source, costs[pattern.id], len(others))
