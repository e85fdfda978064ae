"""Turns the time texts of logs into `Stamp`s in UTC.

In: the text of a stamp as a wrapper cut it out of a line. Out: a `Stamp`, or None when it gives no date: a date is
never guessed. What a format leaves out is taken from the `Clock` of the source: the year of year-less stamps (the
newest year in which the stamp does not lie in the future), and whether a stamp without zone was written in UTC or in
some local time (then it is read as if it were UTC and marked "assumed-local").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from troubleshoot.model import Stamp

MONTHS = {"JanFebMarAprMayJunJulAugSepOctNovDec"[3 * i : 3 * i + 3]: i + 1 for i in range(12)}

ISO = r"\d{4}-\d\d-\d\d[T _]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
ZONE = r"(?:Z|[+-]\d\d:?\d\d)"
CTIME = r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}"
SYSLOG = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?"

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T _](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))? ?(Z|UTC|[+-]\d\d:?\d\d)?$")
_CTIME = re.compile(r"(?:[A-Z][a-z]{2} )?([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?: (\d{4}))?$")
_MMDD = re.compile(r"(\d{1,2}?)(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?$")


@dataclass(frozen=True, slots=True)
class Clock:
    """What a source tells about the stamps in it: the moment it was last written, and the zone of bare stamps."""

    latest: datetime
    zone: str = "assumed-local"


def parse_stamp(text: str, clock: Clock, *, zone: str | None = None) -> Stamp | None:
    """Return the stamp that `text` is, in any of the formats known, or None."""
    if m := _ISO.match(text):
        year, month, day, hour, minute, second = (int(g) for g in m.groups()[:6])
        return _stamp(year, month, day, hour, minute, second, m[7], m[8], zone or clock.zone)
    if m := _CTIME.match(text):
        month = MONTHS.get(m[1], 0)
        given = int(m[7]) if m[7] else None
        return _dated(given, month, int(m[2]), int(m[3]), int(m[4]), int(m[5]), m[6], zone or clock.zone, clock)
    if m := _MMDD.match(text):
        month, day, hour, minute, second = (int(g) for g in m.groups()[:5])
        return _dated(None, month, day, hour, minute, second, m[6], zone or clock.zone, clock)
    return None


def _dated(
    year: int | None, month: int, day: int, hour: int, minute: int, second: int,
    fraction: str | None, zone: str, clock: Clock,
) -> Stamp | None:  # fmt: skip
    if year is not None:
        return _stamp(year, month, day, hour, minute, second, fraction, None, zone)
    stamp = _stamp(clock.latest.year, month, day, hour, minute, second, fraction, None, zone)
    if stamp is None or stamp.time > clock.latest + timedelta(days=2):
        return _stamp(clock.latest.year - 1, month, day, hour, minute, second, fraction, None, zone)
    return stamp


def _stamp(
    year: int, month: int, day: int, hour: int, minute: int, second: int,
    fraction: str | None, offset: str | None, zone: str,
) -> Stamp | None:  # fmt: skip
    micro = int((fraction or "0")[:6].ljust(6, "0"))
    try:
        time = datetime(year, month, day, hour, minute, min(second, 59), micro, tzinfo=_zone(offset)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return Stamp(time, "explicit" if offset else zone, 10.0 ** -len(fraction) if fraction else 1.0)


def _zone(offset: str | None) -> timezone:
    if not offset or offset in ("Z", "UTC"):
        return UTC
    minutes = int(offset[1:3]) * 60 + int(offset[-2:])
    return timezone(timedelta(minutes=-minutes if offset[0] == "-" else minutes))
