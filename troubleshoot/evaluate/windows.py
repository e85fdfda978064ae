"""Parts of a view in which hits count together: groups that agree in something, and spans of lines or seconds.

Groups (`same:`). A hit belongs to the group of its record, source, rank, host, or of the value of a capture. Where the
rank or host is not known, the source stands for it. A hit without the capture belongs to every group: it contradicts
none. Records overlap where their lines do, so a hit over three lines is on the same record as one on its second.

Windows (`within:`). A window begins at every hit and ends the span later, its edge included. Lines are counted within
one source, seconds over all sources whose clocks are known in the same way:

    lines   10a 12b 40a 95b      within 5 records:  [10a 12b] [40a] [95b]

What has no comparable time floats: it may be in any window, which is for the caller to weigh.
Looking for what must not be there (`none`, `unless`), a window reaches as far back as it reaches forward.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from troubleshoot import limits
from troubleshoot.clocks import earliest_first
from troubleshoot.errors import LimitError
from troubleshoot.evaluate.sightings import Sighting, View
from troubleshoot.model import Window

_Lists = dict[str, list[Sighting]]
_KeyOf = Callable[[Sighting], Hashable | None]


def groups(view: View, scope: str, is_possible: Callable[[Iterable[str]], bool]) -> Iterator[View]:
    """Yield the views of the groups, earliest first. A group whose signatures cannot make the condition hold is left
    out, but where that would leave none, the one with most signatures is yielded."""
    key_of = _key_function(view, scope)
    split, shared = _split(earliest_first(view.all()), key_of)
    if not split:
        yield view
        return
    near_split, near_shared = _split(view.near.all(), key_of) if view.near is not None else ({}, {})
    best: View | None = None
    yielded = False
    for key, own in split.items():
        group = View(_joined(own, shared), view.floors)
        if view.near is not None:
            group = View(group.hits, view.floors, View(_joined(near_split.get(key, {}), near_shared), view.floors))
        if is_possible(group.hits):
            yielded = True
            yield group
        elif best is None or len(group.hits) > len(best.hits):
            best = group
    if best is not None and not yielded:
        yield best


def _key_function(view: View, scope: str) -> _KeyOf:
    if scope == "source":
        return lambda each: each.source
    if scope == "rank":
        return lambda each: each.rank if each.rank is not None else each.source
    if scope == "host":
        return lambda each: each.host if each.host is not None else ("source", each.source)
    if scope == "record":
        records = _records(view.around.all())
        return lambda each: records[(each.source, each.hit.record.line)]
    return lambda each: each.captures[scope].strip().casefold() if scope in each.captures else None


def _records(sightings: Iterable[Sighting]) -> dict[tuple[str, int], int]:
    """Number the records: line ranges of one source that overlap have one number."""
    numbers: dict[tuple[str, int], int] = {}
    number, source, end = 0, "", 0
    for each in sorted(sightings, key=lambda each: each.place):
        record = each.hit.record
        last = record.position + record.end_line - record.line
        if each.source != source or record.position > end:
            number, source, end = number + 1, each.source, last
        end = max(end, last)
        numbers[(source, record.line)] = number
    return numbers


def _split(sightings: Iterable[Sighting], key_of: _KeyOf) -> tuple[dict[Hashable, _Lists], _Lists]:
    split: dict[Hashable, _Lists] = {}
    shared: _Lists = {}
    for each in sightings:
        key = key_of(each)
        lists = shared if key is None else split.setdefault(key, {})
        lists.setdefault(each.signature, []).append(each)
    return split, shared


def _joined(own: _Lists, shared: _Lists) -> Mapping[str, tuple[Sighting, ...]]:
    names = sorted({*own, *shared})
    return {name: tuple(own.get(name, ())) + tuple(shared.get(name, ())) for name in names}


@dataclass(frozen=True, slots=True)
class Span:
    """One window: the hits in it, and those hits together with all that may be in it or not for want of a time."""

    strict: View
    loose: View | None


class WindowLimitError(LimitError):
    """More windows than the budget allows: what was yielded so far is right, and not all."""


def spans(view: View, window: Window, *, every: bool) -> Iterator[Span]:
    """Yield the windows, earliest first, at least one. A window that lies within the one before says nothing new to a
    condition that only asks for presence, and is left out unless `every`.
    Raises WindowLimitError when the budget is spent."""
    visited = 0
    for rows, near_rows, floating in _rows(view, window):
        reach = window.seconds if window.seconds is not None else float(window.records or 0)
        ends = [at for at, _ in rows]
        near_ends = [at for at, _ in near_rows]
        last_end = 0
        for start, (at, _) in enumerate(rows):
            end = bisect_right(ends, at + reach)
            if end == last_end and not every:
                continue
            last_end = end
            visited += end - start
            if visited > limits.WINDOW_HITS:
                raise WindowLimitError("it has too many hits")
            near = near_rows[bisect_left(near_ends, at - reach) : bisect_right(near_ends, at + reach)]
            around = View(_by_signature(each for _, each in near), view.floors)
            inside = [each for _, each in rows[start:end]]
            strict = View(_by_signature(inside), view.floors, around)
            loose = View(_by_signature([*inside, *floating]), view.floors, view.around) if floating else None
            yield Span(strict, loose)
        if not rows:
            yield Span(View({}, view.floors, view.around), view)


_Row = tuple[float, Sighting]


def _rows(view: View, window: Window) -> Iterator[tuple[list[_Row], list[_Row], list[Sighting]]]:
    """Yield per source or per sort of clock: its hits with their position, the hits around, and those that float."""
    if window.records is not None:
        around = _lines(view.around)
        for source, rows in _lines(view).items():
            yield rows, around.get(source, []), []
        return
    zones = sorted({each.hit.record.stamp.zone for each in view.all() if each.hit.record.stamp is not None})
    for zone in zones or [""]:
        rows = _times(view, zone)
        inside = {id(each) for _, each in rows}
        yield rows, _times(view.around, zone), [each for each in view.all() if id(each) not in inside]


def _lines(view: View) -> dict[str, list[_Row]]:
    """Return the hits of each source by line, the source with the earliest hit first."""
    sources: dict[str, list[_Row]] = {}
    for each in earliest_first(view.all()):
        sources.setdefault(each.source, []).append((float(each.hit.record.position), each))
    return {source: sorted(rows, key=lambda row: (row[0], row[1].place)) for source, rows in sources.items()}


def _times(view: View, zone: str) -> list[_Row]:
    rows = [
        (each.hit.record.stamp.time.timestamp(), each)
        for each in view.all()
        if each.hit.record.stamp is not None and each.hit.record.stamp.zone == zone
    ]
    return sorted(rows, key=lambda row: (row[0], row[1].place))


def _by_signature(sightings: Iterable[Sighting]) -> Mapping[str, tuple[Sighting, ...]]:
    lists: _Lists = {}
    for each in sightings:
        lists.setdefault(each.signature, []).append(each)
    return {name: tuple(lists[name]) for name in sorted(lists)}
