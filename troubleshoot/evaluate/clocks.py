"""Which of two hits came first, as far as anybody can tell.

Within one source the line tells. Over sources only times can, and only where both clocks are known in the same way
(both with a zone, or both assumed alike) and further apart than the coarser of the two resolutions.

`earliest_first` needs a total order all the same, to show things in and to name a first rank: times of the commonest
sort of clock come first, in their order, then what has no such time, by rank, source and line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from troubleshoot.evaluate.sightings import Sighting
from troubleshoot.model import Stamp


def certainly_before(a: Sighting, b: Sighting) -> bool | None:
    """Tell whether `a` came before `b`; None where it cannot be told."""
    if a.source == b.source:
        return a.place < b.place
    return stamp_before(a.hit.record.stamp, b.hit.record.stamp)


def stamp_before(a: Stamp | None, b: Stamp | None) -> bool | None:
    """Tell whether a time lies before another; None where the clocks, or their fineness, do not say."""
    if a is None or b is None or a.zone != b.zone:
        return None
    gap_s = (b.time - a.time).total_seconds()
    return None if abs(gap_s) < max(a.resolution_s, b.resolution_s) else gap_s > 0


def earliest_first(sightings: Iterable[Sighting]) -> list[Sighting]:
    """Return the sightings, earliest first, in an order that depends on nothing but the sightings."""
    found = list(sightings)
    zone = common_zone(found)
    one_source = len({each.source for each in found}) == 1
    return sorted(found, key=lambda each: each.place if one_source else _key(each, zone))


def common_zone(sightings: Sequence[Sighting]) -> str | None:
    """Return the sort of clock that most of the sightings have; None where none has a time."""
    zones = Counter(each.hit.record.stamp.zone for each in sightings if each.hit.record.stamp is not None)
    return min(zones, key=lambda zone: (-zones[zone], zone != "explicit", zone)) if zones else None


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts `rank-2` before `rank-10`."""
    return tuple(
        (0, int(part), "") if part.isascii() and part.isdigit() else (1, 0, part) for part in _PARTS.findall(name)
    )


_PARTS = re.compile(r"[0-9]{1,18}|[^0-9]+")
_Key = tuple[int, datetime, int, tuple[tuple[int, int, str], ...], int, int]
_NO_TIME = datetime.max


def _key(sighting: Sighting, zone: str | None) -> _Key:
    stamp = sighting.hit.record.stamp
    timed = stamp is not None and stamp.zone == zone
    time = stamp.time.replace(tzinfo=None) if timed and stamp is not None else _NO_TIME
    rank = sighting.rank if sighting.rank is not None else 1 << 30
    return (0 if timed else 1, time, rank, natural(sighting.source), sighting.hit.record.line, sighting.hit.start)
