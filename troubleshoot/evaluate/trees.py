"""What can be said of a condition without asking it: in words, whether it can hold at all, how often it happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from troubleshoot.evaluate.sightings import Sighting, View
from troubleshoot.model import Condition, Op, Window


def can_hold(node: Condition, present: Iterable[str]) -> bool:
    """Tell whether the node can hold where only these signatures hit: quick, and never wrong when it says no."""
    return _can_hold(node, frozenset(present))


def _can_hold(node: Condition, present: frozenset[str]) -> bool:
    if node.op is Op.SIGNATURE:
        return node.signature in present
    if node.op in (Op.ALL, Op.IN_ORDER):
        return all(_can_hold(child, present) for child in node.children)
    if node.op is Op.ANY or (node.op is Op.AT_LEAST and (node.distinct is not None or len(node.children) == 1)):
        return any(_can_hold(child, present) for child in node.children)
    if node.op is Op.AT_LEAST:
        return sum(_can_hold(child, present) for child in node.children) >= node.n
    return True


def occurrences(node: Condition, sightings: Sequence[Sighting], view: View) -> int:
    """Return how often the node happened: its hits, of `all` those of the rarest leg, of `any` those of every leg."""
    if node.op is Op.SIGNATURE:
        return view.count([each for each in sightings if each.signature == node.signature])
    if node.op is Op.NONE:
        return 0
    children = (node.given,) if node.op is Op.MISSING else node.children
    legs = [child for child in children if child is not None]
    if node.op in (Op.ANY, Op.AT_LEAST) and all(leg.op is Op.SIGNATURE for leg in legs):
        names = {leg.signature for leg in legs}
        own = [each for each in sightings if each.signature in names]
        records = {(each.source, each.hit.record.line) for each in own}
        return len(records) + view.count(own) - len(own)
    counts = [number for number in (occurrences(leg, sightings, view) for leg in legs) if number]
    if not counts:
        return 0
    return min(counts) if node.op in (Op.ALL, Op.IN_ORDER) else sum(counts)


def describe(node: Condition) -> str:
    """Return the condition in few words, for a reason."""
    if node.op is Op.SIGNATURE:
        return (node.signature or "").replace("_", " ")
    inner = ", ".join(describe(child) for child in node.children)
    if node.op is Op.AT_LEAST:
        return f"{node.n} of {inner}" + (f" with different {node.distinct}" if node.distinct else "")
    if node.op is Op.ALL:
        return inner.replace(", ", " and ") if len(node.children) < 3 else f"all of {inner}"
    words = {Op.ANY: "any of ", Op.NONE: "no ", Op.IN_ORDER: "in order ", Op.MISSING: "absence of "}
    return f"{words[node.op]}{inner}" if len(node.children) > 1 or node.op is not Op.ANY else inner


def describe_window(window: Window) -> str:
    return f"{window.records} records" if window.records is not None else f"{window.seconds:g} s"


def looks_for_absence(node: Condition) -> bool:
    """Tell whether more hits can make the node false: `none`, `missing` or `unless` stand in it."""
    return any(each.op in (Op.NONE, Op.MISSING) or each.unless is not None for each in node.walk())
