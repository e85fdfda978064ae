"""The wire format: its shape, its schema, its bytes."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import pytest
from jsonschema import Draft202012Validator
from report_samples import HOSTILE, REPORT, SAMPLES, TIME

from troubleshoot.model import Report, Severity
from troubleshoot.ranks import compress_ranks
from troubleshoot.report.json import render_json
from troubleshoot.report.ndjson import render_ndjson
from troubleshoot.report.schema import report_schema
from troubleshoot.report.wire import plain, wire_report, wire_time

VALIDATOR = Draft202012Validator(report_schema())


@pytest.mark.parametrize("name", SAMPLES)
def test_json_is_as_agreed(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"{name}.json", render_json(SAMPLES[name]))


@pytest.mark.parametrize("name", ["fault", "hostile"])
def test_ndjson_is_as_agreed(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"{name}.ndjson", render_ndjson(SAMPLES[name]))


@pytest.mark.parametrize("report", SAMPLES.values(), ids=SAMPLES)
def test_json_fits_its_schema(report: Report) -> None:
    assert [error.message for error in VALIDATOR.iter_errors(json.loads(render_json(report)))] == []


def test_schema_is_a_schema_and_refuses_a_report_without_its_parts() -> None:
    Draft202012Validator.check_schema(report_schema())
    whole = wire_report(REPORT)
    for key in whole:
        part = {name: value for name, value in whole.items() if name != key}
        assert not VALIDATOR.is_valid(part), key
    whole["findings"][0]["severity"] = "fatal"
    assert not VALIDATOR.is_valid(whole)


def test_ndjson_lines_carry_what_json_carries() -> None:
    lines = [json.loads(line) for line in render_ndjson(REPORT).splitlines()]
    report = json.loads(render_json(REPORT))
    for kind, key in (("finding", "findings"), ("source", "sources"), ("note", "notes"), ("suspect", "suspects")):
        assert [{"type": kind, **each} for each in report[key]] == [each for each in lines if each["type"] == kind]
    assert lines[-1]["type"] == "summary"
    assert (lines[-1]["verdict"], lines[-1]["findings"], lines[-1]["pack"]) == ("fault", 3, report["pack"])


@pytest.mark.parametrize("render", [render_json, render_ndjson])
def test_no_character_of_a_log_leaves_as_control_code(render: Callable[[Report], str]) -> None:
    text = render(HOSTILE)
    assert [
        char for char in text if (ord(char) < 32 and char != "\n") or 127 <= ord(char) < 160 or char in "\u202e\u202c"
    ] == []
    text.encode("utf-8")  # a lone surrogate cannot be encoded
    first = json.loads(text.splitlines()[-1]) if render is render_ndjson else json.loads(text)
    assert first["verdict"] == "fault"


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ((), ""),
        ((3,), "3"),
        ((0, 1, 2, 3, 4, 5, 6, 7, 12), "0-7,12"),
        ((5, 4, 4, 0), "0,4-5"),
        (range(10_000), "0-9999"),
        ((0, 2, 4), "0,2,4"),
    ],
)
def test_ranks_are_compressed(ranks: tuple[int, ...], expected: str) -> None:
    assert compress_ranks(ranks) == expected


def test_times_are_utc_with_milliseconds() -> None:
    assert wire_time(TIME) == "2026-11-30T20:33:06.432Z"
    there = datetime(2026, 12, 1, 4, 33, 6, tzinfo=timezone(timedelta(hours=8)))
    assert wire_time(there) == "2026-11-30T20:33:06.000Z"
    assert wire_time(None) is None


def test_job_of_any_make_becomes_plain_values() -> None:
    class Color(enum.Enum):
        RED = "red"

    @dataclass(frozen=True)
    class Job:
        color: Color
        severity: Severity
        when: datetime
        rows: tuple[dict[str, int | None], ...]

    job = Job(Color.RED, Severity.HIGH, TIME, ({"rank": 3, "line": None},))
    expected = {"color": "red", "severity": "high", "when": wire_time(TIME), "rows": [{"rank": 3, "line": None}]}
    assert plain(job) == expected
    assert plain(expected) == expected
    assert "job" not in wire_report(REPORT)
