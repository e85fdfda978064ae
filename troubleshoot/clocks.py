"""Which of two hits came first, as far as anybody can tell.

Within one source the line tells. Over sources only times can, and only where both clocks are known in the same way
(both with a zone, or both assumed alike) and further apart than the coarser of the two resolutions.

`earliest_first` needs a total order all the same, to show things in and to name a first rank: times of the commonest
sort of clock come first, in their order, then what has no such time, by rank, source and line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from troubleshoot import late
from troubleshoot.model import Hit, SignatureHit, Stamp

AnyHit = TypeVar("AnyHit", bound=SignatureHit)

_PARTS = late.compile(r"[0-9]{1,18}|[^0-9]+")
_NO_TIME = datetime.max.replace(tzinfo=UTC)
_NO_RANK = 1 << 30

_Natural = tuple[tuple[int, int, str], ...]


def place_of(hit: Hit) -> tuple[str, int, int]:
    """Return source, line and column: the same for the same hit, and in reading order within a source."""
    return (hit.record.source.name, hit.record.position, hit.start)


def rank_of(hit: Hit) -> int | None:
    """Return the rank that wrote the record, as far as record or source tell."""
    rank = hit.record.identity.rank
    return rank if rank is not None else hit.record.source.identity.rank


def certainly_before(a: Hit, b: Hit) -> bool | None:
    """Tell whether `a` came before `b`; None where it cannot be told."""
    if a.record.source.name == b.record.source.name:
        return place_of(a) < place_of(b)
    return stamp_before(a.record.stamp, b.record.stamp)


def stamp_before(a: Stamp | None, b: Stamp | None) -> bool | None:
    """Tell whether a time lies before another; None where the clocks, or their fineness, do not say."""
    if a is None or b is None or a.zone != b.zone:
        return None
    gap_s = (b.time - a.time).total_seconds()
    return None if abs(gap_s) < max(a.resolution_s, b.resolution_s) else gap_s > 0


def earliest_first(hits: Iterable[AnyHit]) -> list[AnyHit]:
    """Return the hits, earliest first, in an order that depends on nothing but the hits."""
    found = list(hits)
    if len({each.hit.record.source.name for each in found}) <= 1:
        return sorted(found, key=lambda each: (place_of(each.hit), each.signature))
    zone = common_zone(found)
    return sorted(found, key=lambda each: _key(each, zone))


def common_zone(hits: Sequence[SignatureHit]) -> str | None:
    """Return the sort of clock that most of the hits have; None where none has a time."""
    zones = Counter(each.hit.record.stamp.zone for each in hits if each.hit.record.stamp is not None)
    return min(zones, key=lambda zone: (-zones[zone], zone != "explicit", zone)) if zones else None


def natural(name: str) -> _Natural:
    """Return a key that sorts `rank-2` before `rank-10`."""
    return tuple(
        (0, int(part), "") if part.isascii() and part.isdigit() else (1, 0, part) for part in _PARTS.findall(name)
    )


def _key(each: SignatureHit, zone: str | None) -> tuple[datetime, int, _Natural, int, int, str]:
    record, rank = each.hit.record, rank_of(each.hit)
    time = record.stamp.time if record.stamp is not None and record.stamp.zone == zone else _NO_TIME
    return (
        time,
        rank if rank is not None else _NO_RANK,
        natural(record.source.name),
        record.position,
        each.hit.start,
        each.signature,
    )
