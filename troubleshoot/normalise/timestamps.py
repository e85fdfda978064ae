"""Turns the time texts of logs into `Stamp`s in UTC.

In: the text of a stamp as a wrapper cut it out of a line. Out: a `Stamp`, or None when it gives no date: a date is
never guessed. What a format leaves out is taken from the `Clock` of the source:

    "Dec 31 23:59:58"  in a file last written on 2027-01-02  ->  2026-12-31 23:59:58, assumed-local
    "20:15:04"         in a source all of one day            ->  that day; otherwise None

A stamp without zone is read as if it were UTC and marked: "assumed-utc" where the format is known to be written in UTC,
"assumed-local" everywhere else. `resolution_s` is what the digits can tell, not what the clock could.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from functools import lru_cache

from troubleshoot import late
from troubleshoot.model import Stamp
from troubleshoot.normalise.months import LOCAL_MONTH, month_of

FUTURE = timedelta(days=2)  # clocks differ and zones are unknown: a stamp may lie so far after the file's own time

# Texts of stamps, for use in wrappers' patterns. They take the text only; `parse_stamp` decides what it means.
FRACTION = r"(?:[.,]\d{1,9})"
ZONE = r"(?:Z|[+-]\d\d:?\d\d)"
ISO = rf"\d{{4}}[-/]\d\d[-/]\d\d[T _]\d\d:\d\d:\d\d{FRACTION}?"
CTIME = r"[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?:[A-Z]{2,5} )?\d{4}"
SYSLOG = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})?"
LOCAL = (
    rf"{LOCAL_MONTH} {{1,2}}\d{{1,2}} \d\d:\d\d:\d\d(?:\.\d{{1,6}})?"  # SYSLOG and CTIME as other locales write them
)
LOCAL_CTIME = rf"[^\W\d]{{1,4}}\.? {LOCAL_MONTH} {{1,2}}\d{{1,2}} \d\d:\d\d:\d\d \d{{4}}"
FULL = r"[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z]{2,5}"
CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,6})?"
SHORT = r"\d\d-\d\d \d\d:\d\d:\d\d"
AMERICAN = r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d"
KIBANA = r"[A-Z][a-z]{2} \d{1,2}, \d{4} @ \d\d:\d\d:\d\d\.\d{3}"


@dataclass(frozen=True, slots=True)
class Clock:
    """What a source tells about the stamps in it.

    `latest`: when it was last written. `near`: a full date that stands in it. `day`: its date, if all of it is of one
    day.
    """

    latest: datetime
    near: datetime | None = None
    day: date | None = None


def parse_stamp(text: str, clock: Clock, zone: str = "assumed-local") -> Stamp | None:
    """Return the stamp that `text` is, or None. `zone` is what a stamp without zone is to be taken for."""
    for pattern, build in _FORMATS:
        if m := pattern.fullmatch(text):
            try:
                return build(m, clock, zone)
            except (ValueError, KeyError, OverflowError):
                return None  # 31 February, hour 25, year 0: shaped like a stamp and none
    return None


def stamp_from_number(value: float | int | str) -> Stamp | None:
    """Return the stamp of seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by magnitude."""
    text = str(value)
    if not re.fullmatch(r"\d{9,19}(?:\.\d{1,9})?", text):
        return None
    whole, _, fraction = text.partition(".")
    digits = 0 if len(whole) <= 10 else 3 if len(whole) <= 13 else 6 if len(whole) <= 16 else 9
    nanos = int(whole) * 10 ** (9 - digits) + int(fraction[: 9 - digits].ljust(9 - digits, "0") or 0)
    try:
        time = datetime.fromtimestamp(nanos // 10**9, UTC) + timedelta(microseconds=nanos % 10**9 // 1000)
    except (ValueError, OverflowError, OSError):
        return None
    return Stamp(time, "explicit", 10.0 ** -(digits + len(fraction)))


def _iso(m: re.Match[str], clock: Clock, zone: str) -> Stamp:
    *second, fraction, offset = m.groups()
    time = _whole_second(*second, offset)
    if fraction:
        time = time.replace(microsecond=int(fraction[:6].ljust(6, "0")))
    return Stamp(time, "explicit" if offset else zone, 10.0 ** -len(fraction) if fraction else 1.0)


@lru_cache(4096)  # the lines of a job share their seconds, within a file and from file to file
def _whole_second(year: str, month: str, day: str, hour: str, minute: str, second: str, offset: str) -> datetime:
    return _stamp(int(year), int(month), int(day), int(hour), int(minute), int(second), None, offset, "").time


def _ctime(m: re.Match[str], clock: Clock, zone: str) -> Stamp:
    clock_text, offset = (int(m[3]), int(m[4]), int(m[5])), "UTC" if m[6] in ("UTC", "GMT") else None
    return _stamp(int(m[7]), month_of(m[1]), int(m[2]), *clock_text, None, offset, zone)


def _rfc1123(m: re.Match[str], clock: Clock, zone: str) -> Stamp:
    offset = None if m[7] is None else "UTC" if m[7] in ("UTC", "GMT") else m[7]
    return _stamp(int(m[3]), month_of(m[2]), int(m[1]), int(m[4]), int(m[5]), int(m[6]), None, offset, zone)


def _american(m: re.Match[str], clock: Clock, zone: str) -> Stamp:
    return _stamp(int(m[3]), int(m[1]), int(m[2]), int(m[4]), int(m[5]), int(m[6]), None, None, zone)


def _kibana(m: re.Match[str], clock: Clock, zone: str) -> Stamp:
    return _stamp(int(m[3]), month_of(m[1]), int(m[2]), int(m[4]), int(m[5]), int(m[6]), m[7], None, zone)


def _syslog(m: re.Match[str], clock: Clock, zone: str) -> Stamp | None:
    return _yearless(clock, zone, month_of(m[1]), int(m[2]), int(m[3]), int(m[4]), int(m[5]), m[6])


def _month_day(m: re.Match[str], clock: Clock, zone: str) -> Stamp | None:
    month, day, hour, minute, second = (int(g) for g in m.groups()[:5])
    return _yearless(clock, zone, month, day, hour, minute, second, m[6])


def _minute(m: re.Match[str], clock: Clock, zone: str) -> Stamp | None:
    stamp = _yearless(clock, zone, month_of(m[1]), int(m[2]), int(m[3]), int(m[4]), 0, None)
    return stamp and Stamp(stamp.time, stamp.zone, 60.0)


def _clock_only(m: re.Match[str], clock: Clock, zone: str) -> Stamp | None:
    if clock.day is None:
        return None
    day = clock.day
    return _stamp(day.year, day.month, day.day, int(m[1]), int(m[2]), int(m[3]), m[4], None, zone)


def _number(m: re.Match[str], clock: Clock, zone: str) -> Stamp | None:
    return stamp_from_number(m[0])


def _yearless(
    clock: Clock, zone: str, month: int, day: int, hour: int, minute: int, second: int, fraction: str | None
) -> Stamp | None:
    """Return the stamp in the newest year that is not in the future, or in the one nearest to `clock.near`."""
    stamps = []
    for year in range(clock.latest.year + 1, clock.latest.year - 9, -1):  # eight years back hold a 29 February
        try:
            stamps.append(_stamp(year, month, day, hour, minute, second, fraction, None, zone))
        except ValueError:
            continue
    past = [stamp for stamp in stamps if stamp.time <= clock.latest + FUTURE]
    if clock.near is not None and past:
        near = clock.near
        return min(past, key=lambda stamp: abs(stamp.time - near))
    return past[0] if past else None


def _stamp(
    year: int, month: int, day: int, hour: int, minute: int, second: int,
    fraction: str | None, offset: str | None, zone: str,
) -> Stamp:  # fmt: skip
    micro = int((fraction or "0")[:6].ljust(6, "0"))
    time = datetime(year, month, day, hour, minute, min(second, 59), micro, tzinfo=_offset(offset)).astimezone(UTC)
    return Stamp(time, "explicit" if offset else zone, 10.0 ** -len(fraction) if fraction else 1.0)


def _offset(text: str | None) -> timezone:
    if not text or text in ("Z", "z", "UTC", "GMT"):
        return UTC
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))


_HMS = r"(\d\d):(\d\d):(\d\d)"
_FRACTION = r"(?:[.,](\d{1,9}))?"
_FORMATS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Clock, str], Stamp | None]], ...] = tuple(
    (late.compile(pattern), build)
    for pattern, build in (
        (
            rf"(?:[A-Z][a-z]{{2}} )?(\d{{4}})[-/](\d\d)[-/](\d\d)[Tt _]{_HMS}{_FRACTION}"
            r" ?(?:(Z|z|UTC|GMT|[+-]\d\d:?\d\d)|[A-Z]{2,5})?",
            _iso,
        ),
        (rf"[A-Z][a-z]{{2}} ([A-Z][a-z]{{2}}) ([ \d]\d) {_HMS} (?:([A-Z]{{2,5}}) )?(\d{{4}})", _ctime),
        (
            rf"(?:[A-Z][a-z]{{2}}, )?(\d\d?)[ /]([A-Z][a-z]{{2}})[ /](\d{{4}})[ :]{_HMS}(?: (GMT|UTC|[+-]\d{{4}}))?",
            _rfc1123,
        ),
        (rf"([A-Z][a-z]{{2}}) ([ \d]\d) {_HMS}{_FRACTION}", _syslog),
        (rf"({LOCAL_MONTH}) {{1,2}}(\d{{1,2}}) {_HMS}{_FRACTION}", _syslog),
        (rf"[^\W\d]{{1,4}}\.? ({LOCAL_MONTH}) {{1,2}}(\d{{1,2}}) {_HMS} (?:([A-Z]{{2,5}}) )?(\d{{4}})", _ctime),
        (rf"(\d\d)/(\d\d)/(\d{{4}}) {_HMS}", _american),
        (rf"([A-Z][a-z]{{2}}) (\d{{1,2}}), (\d{{4}}) @ {_HMS}{_FRACTION}", _kibana),
        (rf"(\d\d)-(\d\d) {_HMS}{_FRACTION}", _month_day),
        (rf"(\d\d?)(\d\d) {_HMS}{_FRACTION}", _month_day),
        (r"([A-Z][a-z]{2})([ \d]\d) (\d\d):(\d\d)", _minute),
        (rf"{_HMS}{_FRACTION}", _clock_only),
        (r"\d{9,19}(?:\.\d{1,9})?", _number),
    )
)
