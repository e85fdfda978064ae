"""What can be said of a condition without asking it: in words, whether it can hold at all, how often it happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

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
    counts = [(leg, number) for leg in legs if (number := occurrences(leg, sightings, view))]
    if not counts:
        return 0
    if node.op not in (Op.ALL, Op.IN_ORDER):
        return sum(number for _, number in counts)
    # of a leg of which the scan stopped keeping hits there may be any number
    sure = [number for leg, number in counts if not view.is_saturated(signatures_of(leg))]
    return min(sure or [number for _, number in counts])


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


def needed_of(node: Condition) -> int:
    """Return how many hits it takes for the node to happen once: those that an `at_least` of one counts."""
    counts = node.op is Op.AT_LEAST and node.distinct is None and len(node.children) == 1
    return node.n if counts else 1


def legs_of(node: Condition) -> tuple[Condition, ...]:
    """Return the parts that an occurrence of the node is made of: of `all` and `in_order` one hit of each."""
    return node.children if node.op in (Op.ALL, Op.IN_ORDER) else (node,)


def signatures_of(node: Condition) -> frozenset[str]:
    """Return the signatures whose hits make the node hold."""
    if node.op is Op.SIGNATURE:
        return frozenset((node.signature or "",))
    if node.op in (Op.NONE, Op.MISSING):
        return frozenset()
    return frozenset().union(*(signatures_of(child) for child in node.children))


def reaching(node: Condition) -> tuple[Condition, ...]:
    """Return the vetoes of a node that say from when to when they count."""
    return tuple(each for each in _vetoes(node) if each.reach is not None)


def without(node: Condition, vetoes: Iterable[Condition]) -> Condition:
    """Return the node without some of its vetoes."""
    gone = {id(each) for each in vetoes}
    left = [each for each in _vetoes(node) if id(each) not in gone]
    unless = node.unless
    if unless is not None:
        unless = replace(unless, children=tuple(left)) if _is_list(unless) and left else next(iter(left), None)
    return replace(node, unless=unless)


def _vetoes(node: Condition) -> tuple[Condition, ...]:
    if node.unless is None:
        return ()
    return node.unless.children if _is_list(node.unless) else (node.unless,)


def _is_list(unless: Condition) -> bool:
    """Say whether it is no more than a list of vetoes."""
    plain = unless.same is None and unless.within is None and unless.where is None and unless.unless is None
    return unless.op is Op.ANY and unless.reach is None and plain
