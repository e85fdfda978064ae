"""The figures of a pack as JSON-ready values, and as text for a person: the most expensive rules first.

rule                 ms/MB   cand/MB  false/MB   corpus  changed
storage/slow-disk   0.4120    312.00    311.50      0/0  2026-03-02
    line: tried on every line
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from troubleshoot.rulepack.stats import PackStats, RuleStats

Json = dict[str, Any]


def stats_document(stats: PackStats) -> Json:
    """Return the figures as JSON-ready values."""
    return {
        "pack": stats.name,
        "log": {"name": stats.log, "bytes": stats.bytes} if stats.bytes else None,
        "totals": {
            "rules": len(stats.rules),
            "patterns": stats.patterns,
            "confirm_ms_per_mb": round(stats.per_mb(stats.confirm_s) * 1e3, 4) if stats.bytes else None,
            "on_every_line": sum(each.is_slow for each in stats.rules),
            "without_incident": _without_incident(stats),
            "untried_signatures": sum(len(each.untried) for each in stats.rules),
        },
        "rules": [_rule_document(stats, each) for each in stats.rules],
    }


def _without_incident(stats: PackStats) -> int | None:
    if not stats.incidents:
        return None
    return sum(each.coverage is not None and not each.coverage.incidents for each in stats.rules)


def _rule_document(stats: PackStats, rule: RuleStats) -> Json:
    coverage = rule.coverage
    return {
        "id": rule.id,
        **_cost_document(stats, rule.candidates, rule.false, rule.confirm_s),
        "corpus": {"incidents": coverage.incidents, "first": coverage.first, "unlisted": coverage.unlisted}
        if coverage is not None
        else None,
        "beside": dict(coverage.beside) if coverage is not None else None,
        "untried": list(rule.untried),
        "changed": rule.sources.changed.isoformat() if rule.sources.changed is not None else None,
        "references": {
            "count": rule.sources.references,
            "pinned": rule.sources.pinned,
            "moving": rule.sources.moving,
            "newest": rule.sources.newest or None,
        },
        "signatures": [
            {
                "name": each.signature,
                "source": each.source,
                "searched": each.cost.searched,
                "words": list(each.cost.words),
                "lines_per_million": each.cost.per_million,
                **_cost_document(stats, each.cost.candidates, each.cost.false, each.cost.confirm_s),
                "slowest_us": round(each.cost.slowest_s * 1e6, 1) if stats.bytes else None,
                "overran": each.cost.overran if stats.bytes else None,
                "shared_with": each.shared_with,
            }
            for each in sorted(rule.signatures, key=lambda each: -each.cost.confirm_s)
        ],
    }


def _cost_document(stats: PackStats, candidates: int, false: int, confirm_s: float) -> Json:
    if not stats.bytes:
        return {"candidates_per_mb": None, "false_per_mb": None, "confirm_ms_per_mb": None}
    return {
        "candidates_per_mb": round(stats.per_mb(candidates), 3),
        "false_per_mb": round(stats.per_mb(false), 3),
        "confirm_ms_per_mb": round(stats.per_mb(confirm_s) * 1e3, 5),
    }


def stats_lines(stats: PackStats, top: int) -> Iterator[str]:
    """Yield the figures as text: totals, then the most expensive rules as a table."""
    shown = stats.rules[:top]
    width = max((len(each.id) for each in shown), default=4)
    told = f"{len(stats.rules)} rules with {stats.patterns} wordings of {stats.name}"
    if stats.bytes:
        cost = stats.per_mb(stats.confirm_s) * 1e3
        yield f"{told}; on {stats.log} ({stats.bytes / 1e6:.1f} MB) confirming takes {cost:.3f} ms/MB."
    else:
        yield f"{told}; without a log the costs are estimates: of a million ordinary lines so many hold a word of it."
    figures = f"{'ms/MB':>8} {'cand/MB':>9} {'false/MB':>9}" if stats.bytes else f"{'lines/million':>13}"
    yield f"{'rule':<{width}} {figures}  {'corpus':>7}  changed"
    for rule in shown:
        yield _row(stats, rule, width)
        yield from (f"{'':<4}{line}" for line in _details(stats, rule))
    yield ""
    yield from _remarks(stats)


def _row(stats: PackStats, rule: RuleStats, width: int) -> str:
    if stats.bytes:
        candidates, false = stats.per_mb(rule.candidates), stats.per_mb(rule.false)
        figures = f"{stats.per_mb(rule.confirm_s) * 1e3:8.4f} {candidates:9.2f} {false:9.2f}"
    else:
        figures = f"{rule.per_million:13,.0f}"
    corpus = f"{rule.coverage.first}/{rule.coverage.incidents}" if rule.coverage is not None else "-"
    changed = rule.sources.changed.isoformat() if rule.sources.changed is not None else "-"
    return f"{rule.id:<{width}} {figures}  {corpus:>7}  {changed}".rstrip()


def _details(stats: PackStats, rule: RuleStats) -> Iterator[str]:
    """Yield what to look at in a rule: its dearest wording, and what is odd about it."""
    dearest = max(rule.signatures, key=lambda each: (each.cost.confirm_s, each.cost.per_million or 0.0), default=None)
    if dearest is not None and (dearest.cost.confirm_s or not stats.bytes):
        by = {"words": "by " + ", ".join(repr(word) for word in dearest.cost.words[:3])}
        how = by.get(dearest.cost.searched, f"by an {dearest.cost.searched}")
        how = "tried on every line" if dearest.cost.searched == "every line" else f"searched {how}"
        shared = f", shared with {dearest.shared_with} rules" if dearest.shared_with else ""
        yield f"{dearest.signature}: {how}{shared}"
    if rule.coverage is not None and rule.coverage.unlisted:
        yield f"fires in {rule.coverage.unlisted} incidents that do not list it"
    if rule.coverage is not None and rule.coverage.beside:
        yield "on the same lines as " + ", ".join(f"{other} ({n})" for other, n in rule.coverage.beside.items())


def _remarks(stats: PackStats) -> Iterator[str]:
    slow = [each.id for each in stats.rules if each.is_slow]
    if slow:
        yield f"Tried on every line: {_some(slow)}."
    untried = [f"{each.id} ({', '.join(each.untried)})" for each in stats.rules if each.untried]
    if untried:
        yield f"Signatures that hit in no example and no incident: {_some(untried)}."
    if stats.incidents:
        bare = [each.id for each in stats.rules if each.coverage is not None and not each.coverage.incidents]
        yield f"{len(stats.rules) - len(bare)} of {len(stats.rules)} rules fire in the corpus" + (
            f"; not so {_some(bare)}." if bare else "."
        )
    dated = sorted((each.sources.changed, each.id) for each in stats.rules if each.sources.changed is not None)
    if dated:
        yield f"Longest unchanged: {_some([f'{id} ({day})' for day, id in dated], 3)}."
    moving = [each.id for each in stats.rules if each.sources.moving]
    if moving:
        yield f"References to a branch that moves on: {_some(moving)}."


def _some(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
