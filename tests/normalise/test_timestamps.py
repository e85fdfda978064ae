# ruff: noqa: E501 - samples stand on one line, as programs print them
from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from troubleshoot.model import Stamp
from troubleshoot.normalise.timestamps import Clock, parse_stamp, stamp_from_number

CLOCK = Clock(datetime(2027, 1, 2, 12, tzinfo=UTC))


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type] # a row of numbers is easier to read


@pytest.mark.parametrize(
    ("text", "time", "zone", "resolution"),
    [
        ("2026-11-30T20:15:04Z", at(2026, 11, 30, 20, 15, 4), "explicit", 1.0),
        ("2026-11-30T20:15:04.123456789Z", at(2026, 11, 30, 20, 15, 4, 123456), "explicit", 1e-9),
        ("2026-11-30T21:15:04.5+01:00", at(2026, 11, 30, 20, 15, 4, 500000), "explicit", 0.1),
        ("2026-11-30T15:15:04-0500", at(2026, 11, 30, 20, 15, 4), "explicit", 1.0),
        ("2026-11-30T20:15:04,123456+00:00", at(2026, 11, 30, 20, 15, 4, 123456), "explicit", 1e-6),
        ("2026-11-30 20:15:04 UTC", at(2026, 11, 30, 20, 15, 4), "explicit", 1.0),
        ("2026-11-30 20:15:04,120", at(2026, 11, 30, 20, 15, 4, 120000), "assumed-local", 1e-3),
        ("2026-11-30_20:15:04", at(2026, 11, 30, 20, 15, 4), "assumed-local", 1.0),
        ("2026/11/30 20:15:04", at(2026, 11, 30, 20, 15, 4), "assumed-local", 1.0),
        ("Mon Nov 30 20:15:04 2026", at(2026, 11, 30, 20, 15, 4), "assumed-local", 1.0),
        ("Mon Nov 30 20:15:04 UTC 2026", at(2026, 11, 30, 20, 15, 4), "explicit", 1.0),
        ("Mon Nov  2 20:15:04 2026", at(2026, 11, 2, 20, 15, 4), "assumed-local", 1.0),
        ("Mon, 30 Nov 2026 20:15:04 +0100", at(2026, 11, 30, 19, 15, 4), "explicit", 1.0),
        ("30/Nov/2026:20:15:04 +0000", at(2026, 11, 30, 20, 15, 4), "explicit", 1.0),
        ("Mon 2026-11-30 20:15:04 CET", at(2026, 11, 30, 20, 15, 4), "assumed-local", 1.0),
        ("Nov 30 20:15:04", at(2026, 11, 30, 20, 15, 4), "assumed-local", 1.0),
        ("Jan  2 11:00:00.250000", at(2027, 1, 2, 11, 0, 0, 250000), "assumed-local", 1e-6),
        ("11-30 20:15:04", at(2026, 11, 30, 20, 15, 4), "assumed-local", 1.0),
        ("1130 20:15:04.120001", at(2026, 11, 30, 20, 15, 4, 120001), "assumed-local", 1e-6),
        ("105 20:15:04", at(2026, 1, 5, 20, 15, 4), "assumed-local", 1.0),
        ("Nov30 20:15", at(2026, 11, 30, 20, 15), "assumed-local", 60.0),
        ("1796069704.123456", at(2026, 11, 30, 20, 15, 4, 123456), "explicit", 1e-6),
        ("2016-12-31T23:59:60Z", at(2016, 12, 31, 23, 59, 59), "explicit", 1.0),
    ],
)
def test_format(text: str, time: datetime, zone: str, resolution: float) -> None:
    stamp = parse_stamp(text, CLOCK)
    assert stamp is not None
    assert (stamp.time, stamp.zone) == (time, zone)
    assert stamp.resolution_s == pytest.approx(resolution)


@pytest.mark.parametrize("text", ["2026-02-31T00:00:00Z", "Foo Bar 30 20:15:04 2026", "Foo 30 20:15:04", "", "yesterday", "1399 20:15:04", "0000-01-01 00:00:00", "2026-11-30T25:00:00Z"])  # fmt: skip
def test_what_only_looks_like_a_stamp_is_none(text: str) -> None:
    assert parse_stamp(text, CLOCK) is None


def test_clock_only_stamp_has_no_date_unless_the_source_gives_one() -> None:
    assert parse_stamp("20:15:04", CLOCK) is None
    known = Clock(CLOCK.latest, day=date(2026, 11, 30))
    assert parse_stamp("20:15:04,5", known) == Stamp(at(2026, 11, 30, 20, 15, 4, 500000), "assumed-local", 0.1)


def test_yearless_stamps_around_new_year_keep_their_order() -> None:
    before, after = parse_stamp("Dec 31 23:59:58", CLOCK), parse_stamp("Jan  1 00:00:01", CLOCK)
    assert before is not None and after is not None
    assert (before.time.year, after.time.year) == (2026, 2027)


def test_year_comes_from_a_full_date_in_the_source_before_the_file_time() -> None:
    clock = Clock(CLOCK.latest, near=at(2024, 12, 30))
    years = [s.time.year for text in ("1231 23:59:58", "101 00:00:01") if (s := parse_stamp(text, clock))]
    assert years == [2024, 2025]


@pytest.mark.parametrize(
    ("text", "month"),
    [
        ("Mär  3", 3),
        ("mars  3", 3),
        ("déc.  3", 12),
        ("12月  3", 12),
        ("1월  3", 1),
        ("мая  3", 5),
        ("Okt  3", 10),
        ("ene  3", 1),
    ],
)
def test_months_of_other_languages(text: str, month: int) -> None:
    stamp = parse_stamp(f"{text} 10:00:00", CLOCK)
    assert stamp is not None
    assert (stamp.time.month, stamp.time.day) == (month, 3)


@pytest.mark.parametrize("text", ["13月  3", "0월  3", "Foo  3", "Mrz.. 3"])
def test_what_is_no_month_gives_no_time(text: str) -> None:
    assert parse_stamp(f"{text} 10:00:00", CLOCK) is None


def test_leap_day_is_found_in_an_earlier_year() -> None:
    stamp = parse_stamp("Feb 29 10:00:00", CLOCK)
    assert stamp is not None and stamp.time == at(2024, 2, 29, 10)


@pytest.mark.parametrize(
    ("number", "time"),
    [
        ("1796069704", at(2026, 11, 30, 20, 15, 4)),
        (1796069704123, at(2026, 11, 30, 20, 15, 4, 123000)),
        ("1796069704123456", at(2026, 11, 30, 20, 15, 4, 123456)),
        ("1796069704123456789", at(2026, 11, 30, 20, 15, 4, 123456)),
    ],
)
def test_number_is_read_by_its_magnitude(number: int | str, time: datetime) -> None:
    stamp = stamp_from_number(number)
    assert stamp is not None and stamp.time == time


def test_number_that_is_no_time_is_none() -> None:
    assert stamp_from_number(12) is None
    assert stamp_from_number("12345678901234567890123") is None
