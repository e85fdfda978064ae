"""Occurrences of a condition, and the vetoes that reach for one of them.

In: the hits of each leg of a condition that holds, and vetoes that say from when to when they count (`since`, `until`).
Out: the hits of the occurrences that stand, or why none does.

An occurrence is one hit of each leg (n of an `at_least`), the earliest that there are. A veto whose hit lies between
its two moments, both included, takes from it the event that the veto is counted from; the next hit of that leg stands
in for it, until an occurrence stands or a leg has run out of hits:

    legs   alarm 12:00:05, alarm 12:09:00      veto   cleared 12:00:20, since: event 1, until: event 1 + 30 s
    12:00:05 is vetoed, 12:09:00 stands

Moments need times. Hits without comparable times are told apart by their lines, in one source and where no moment is
moved by seconds; else it cannot be told.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from troubleshoot.evaluate.sightings import Sighting
from troubleshoot.model import Instant, Reach, Window


@dataclass(frozen=True, slots=True)
class Leg:
    """What one part of a condition may be made of. `needed`: how many hits an occurrence takes."""

    hits: tuple[Sighting, ...]
    needed: int = 1


@dataclass(frozen=True, slots=True)
class Veto:
    """When a veto counts, and where it hit."""

    reach: Reach
    hits: tuple[Sighting, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """The hits of the occurrences that stand. Without one, `vetoed_by` is the hit that took the last."""

    hits: tuple[Sighting, ...] = ()
    vetoed_by: Sighting | None = None


_Event = tuple[float, Sighting]


@dataclass(slots=True)
class _Queue:
    """The events of one leg, earliest first, of which those before `start` are used up."""

    events: list[_Event]
    needed: int
    start: int = 0

    @property
    def frame(self) -> list[_Event]:
        """The events that the present occurrence has from this leg."""
        return self.events[self.start : self.start + self.needed]

    def drop(self, sighting: Sighting) -> bool:
        """Take an event out of the frame; tell whether it was in it."""
        for at, (_, each) in enumerate(self.frame, self.start):
            if each is sighting:
                del self.events[at]
                return True
        return False


def standing(legs: Sequence[Leg], vetoes: Sequence[Veto], *, ordered: bool, window: Window | None) -> Standing | None:
    """Return the occurrences that no veto reaches; None if the hits have no comparable times to tell by."""
    involved = [*(each for leg in legs for each in leg.hits), *(each for veto in vetoes for each in veto.hits)]
    by_lines = _is_told_by_lines(involved, vetoes)
    if by_lines is None:
        return None
    queues = [_Queue(_events(leg.hits, by_lines), leg.needed) for leg in legs]
    marks = [(veto.reach, _events(veto.hits, by_lines)) for veto in vetoes]
    limit_s = window.seconds if window is not None and not by_lines else None
    stood: list[Sighting] = []
    vetoed_by: Sighting | None = None
    while _fill(queues, ordered):
        frame = sorted((each for queue in queues for each in queue.frame), key=_key)
        if limit_s is not None and frame[-1][0] - frame[0][0] > limit_s:
            _drop(queues, frame[0][1])
            continue
        veto = _veto(frame, marks)
        if veto is not None:
            taken, vetoed_by = veto
            _drop(queues, taken)
            continue
        for queue in queues:
            stood += [each for _, each in queue.frame]
            queue.start += queue.needed
    return Standing(tuple(stood), None if stood else vetoed_by)


def _fill(queues: Sequence[_Queue], ordered: bool) -> bool:
    """Move each leg to its earliest events, in order each after those of the leg before; tell whether there are so
    many."""
    after: _Key | None = None
    for queue in queues:
        if after is not None:
            queue.start = max(queue.start, bisect_right(queue.events, after, key=_key))
        if len(queue.events) - queue.start < queue.needed:
            return False
        after = _key(queue.frame[-1]) if ordered else None
    return True


def _drop(queues: Sequence[_Queue], event: Sighting) -> None:
    for queue in queues:
        if queue.drop(event):
            return


def _veto(frame: Sequence[_Event], marks: Sequence[tuple[Reach, Sequence[_Event]]]) -> tuple[Sighting, Sighting] | None:
    """Return the event that a veto takes, and the veto's hit; None if the occurrence stands."""
    for reach, hits in marks:
        since, event = _moment(reach.since, frame)
        until, _ = _moment(reach.until, frame)
        at = bisect_left(hits, since, key=lambda each: each[0])
        if at < len(hits) and hits[at][0] <= max(since, until):
            return event, hits[at][1]
    return None


def _moment(instant: Instant, frame: Sequence[_Event]) -> tuple[float, Sighting]:
    """Return when an instant is, and the event that it is counted from: the last where there are not so many."""
    at = len(frame) - 1 if instant.event < 0 else min(instant.event, len(frame)) - 1
    time, event = frame[at]
    return time + instant.spans * (frame[-1][0] - frame[0][0]) + instant.shift_s, event


def _is_told_by_lines(hits: Sequence[Sighting], vetoes: Iterable[Veto]) -> bool | None:
    """Say whether lines tell what came first, and not times; None where neither does."""
    zones = {each.hit.record.stamp.zone if each.hit.record.stamp is not None else None for each in hits}
    if len(zones) <= 1 and None not in zones:
        return False
    moves = any(moment.shift_s for veto in vetoes for moment in (veto.reach.since, veto.reach.until))
    return None if moves or len({each.source for each in hits}) > 1 else True


def _events(sightings: Iterable[Sighting], by_lines: bool) -> list[_Event]:
    return sorted(((_at(each, by_lines), each) for each in sightings), key=_key)


def _at(sighting: Sighting, by_lines: bool) -> float:
    record = sighting.hit.record
    return float(record.position) if by_lines or record.stamp is None else record.stamp.time.timestamp()


_Key = tuple[float, tuple[str, int, int]]


def _key(event: _Event) -> _Key:
    return event[0], event[1].place
