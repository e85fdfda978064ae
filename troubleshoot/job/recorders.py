"""Puts the flight recorder dumps of a job's ranks beside each other: who is missing from which collective.

In: dumps by rank. Out: a `Gap`: the collective that does not end, who waits in it, and who

    is absent    has not called it, though the others have
    differs      calls something else under the same number
    is stuck     has called it, and its GPU has not begun it, though those of the others have

and of whom no dump was left. Who is missing from one group because it waits in another is not where it began: the
group speaks whose missing ranks wait nowhere, else the one that waits since longest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from troubleshoot.model import FlightDump, FlightGroup, FlightWork

FEW = 4  # one in so many differs, or is stuck, to be told apart from the others


@dataclass(frozen=True, slots=True)
class Gap:
    """A collective that does not end. `behind` are absent ranks with their last collective."""

    group: str
    seq: int
    operation: str
    waiting: tuple[int, ...]
    absent: tuple[int, ...] = ()
    behind: Mapping[int, int] | None = None
    differing: Mapping[int, str] | None = None
    stuck: tuple[int, ...] = ()
    undumped: tuple[int, ...] = ()


def find_gap(dumps: Mapping[int, FlightDump]) -> Gap | None:
    """Return the gap that tells most; None where all collectives end, or one dump is all there is."""
    groups: dict[tuple[str, str, tuple[int, ...]], dict[int, FlightGroup]] = {}
    for rank, dump in dumps.items():
        for group in dump.groups:
            groups.setdefault((group.name, group.desc, group.ranks), {})[rank] = group
    gaps = [
        (gap, of_rank)
        for (name, desc, ranks), of_rank in groups.items()
        if (gap := _gap_of(desc or name, ranks or tuple(sorted(of_rank)), of_rank)) is not None
    ]
    waiting = [set(gap.waiting) for gap, _ in gaps]

    def priority(at: int) -> tuple[bool, int, int, str]:
        gap, of_rank = gaps[at]
        elsewhere = set().union(*(each for i, each in enumerate(waiting) if i != at))
        since = min(work.created_ms for each in of_rank.values() for work in each.works if work.seq == gap.seq)
        return not (gap.absent or gap.differing), len(elsewhere.intersection(gap.absent)), since, gap.group

    return gaps[min(range(len(gaps)), key=priority)][0] if gaps else None


def _gap_of(name: str, ranks: tuple[int, ...], of_rank: Mapping[int, FlightGroup]) -> Gap | None:
    waits = {rank: work for rank, group in of_rank.items() if (work := _waits_in(group)) is not None}
    if not waits or len(ranks) < 2:
        return None
    seq = max(work.seq for work in waits.values())
    at = {rank: work for rank, work in waits.items() if work.seq == seq}
    absent = {rank: group.last for rank, group in of_rank.items() if group.last < seq}
    undumped = tuple(sorted(set(ranks) - set(of_rank)))
    kinds = Counter((work.operation, work.sizes) for work in at.values())
    usual = kinds.most_common(1)[0][0]
    odd = {rank: _named(work, usual) for rank, work in at.items() if (work.operation, work.sizes) != usual}
    scheduled = tuple(sorted(rank for rank, work in at.items() if work.state == "scheduled"))
    is_few = len(scheduled) * FEW <= len(at)
    return Gap(
        group=name,
        seq=seq,
        operation=usual[0],
        waiting=tuple(sorted(set(at) - set(odd))),
        absent=tuple(sorted(absent)),
        behind=absent,
        differing=odd if len(odd) * FEW <= len(at) else None,
        stuck=scheduled if not absent and not odd and is_few else (),
        undumped=undumped,
    )


def _waits_in(group: FlightGroup) -> FlightWork | None:
    return next((work for work in group.works if work.state != "completed"), None)


def _named(work: FlightWork, usual: tuple[str, str]) -> str:
    return work.operation if work.operation != usual[0] else f"{work.operation} of {work.sizes} instead of {usual[1]}"
