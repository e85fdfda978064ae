"""`in_order`: hits that follow one another, step by step.

In: per step the hits that could stand there. Out: per step the hits that can be reached from the first, or None.

Within one source the line tells what comes after; over sources only comparable times do (see `clocks`). From each step
only the earliest of what is reached matters, per source and per sort of clock, so a step costs one pass:

    steps  [a: x.log:10, x.log:90]  [b: x.log:40]       b is reached from x.log:10
    steps  [a: x.log:90]            [b: x.log:40]       None

A step may need several hits (`at_least` in order): what follows comes after so many of them, or, where it counts
different values (`distinct`), after hits with so many of these.

Where a step between sources cannot be told for want of comparable times it is taken as possible, and the chain is not
certain. A chain in which every step is sure is preferred.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from troubleshoot.clocks import certainly_before
from troubleshoot.evaluate.sightings import Sighting

# What of a step's hit is counted: hits of one value count once, those without a value ("") not at all. None: each hit.
Value = Callable[[Sighting], str] | None


@dataclass(frozen=True, slots=True)
class Chain:
    levels: tuple[tuple[Sighting, ...], ...]
    is_certain: bool


def chain(
    levels: Sequence[Sequence[Sighting]], needed: Sequence[int] = (), values: Sequence[Value] = ()
) -> Chain | None:
    """Return what each step reaches, certain if that is possible; None if no chain reaches the last step.
    `needed` says how many hits each step takes, one if left out; `values` what of them is counted."""
    numbers = needed or [1] * len(levels)
    counted = values or [None] * len(levels)
    for certain in (True, False):
        reached = _reach(levels, numbers, counted, certain)
        if reached is not None:
            return Chain(reached, certain)
    return None


def _reach(
    levels: Sequence[Sequence[Sighting]], needed: Sequence[int], values: Sequence[Value], certain: bool
) -> tuple[tuple[Sighting, ...], ...] | None:
    reached = [tuple(levels[0])] if levels else []
    for step, level in enumerate(levels[1:], start=1):
        before, value = needed[step - 1], values[step - 1]
        if before > 1:
            after = tuple(each for each in level if _so_many_before(reached[-1], each, before, value, certain))
        else:
            start = _Start.of(reached[-1])
            after = tuple(each for each in level if start.leads_to(each, certain))
        if _count(after, values[step]) < needed[step]:
            return None
        reached.append(after)
    return tuple(reached)


def _so_many_before(reached: Sequence[Sighting], then: Sighting, needed: int, value: Value, certain: bool) -> bool:
    earlier = []
    for each in reached:
        answer = certainly_before(each.hit, then.hit)
        if answer is True or (answer is None and not certain):
            earlier.append(each)
    return _count(earlier, value) >= needed


def _count(sightings: Sequence[Sighting], value: Value) -> int:
    if value is None:
        return len(sightings)
    return len({value(each) for each in sightings} - {""})


@dataclass(frozen=True, slots=True)
class _Start:
    """What is left to know of a step's hits: the first line of each source, and per sort of clock (none is one too)
    the two earliest hits of different sources, so that one of them is of another source than any hit asked about."""

    first_places: Mapping[str, tuple[str, int, int]]
    earliest: tuple[Sighting, ...]

    @classmethod
    def of(cls, sightings: Sequence[Sighting]) -> _Start:
        places: dict[str, tuple[str, int, int]] = {}
        clocks: dict[str | None, list[Sighting]] = {}
        for each in sorted(sightings, key=_time):
            places[each.source] = min(places.get(each.source, each.place), each.place)
            stamp = each.hit.record.stamp
            held = clocks.setdefault(stamp.zone if stamp is not None else None, [])
            if not held or (len(held) == 1 and held[0].source != each.source):
                held.append(each)
        return cls(places, tuple(each for held in clocks.values() for each in held))

    def leads_to(self, then: Sighting, certain: bool) -> bool:
        place = self.first_places.get(then.source)
        if place is not None and place < then.place:
            return True
        answers = [certainly_before(each.hit, then.hit) for each in self.earliest if each.source != then.source]
        return True in answers or (not certain and None in answers)


def _time(sighting: Sighting) -> float:
    stamp = sighting.hit.record.stamp
    return stamp.time.timestamp() if stamp is not None else 0.0
