"""SARIF 2.1.0: valid by the public schema, and what it says is what the report says."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from job_samples import JOB_SAMPLES, many
from jsonschema import Draft7Validator
from report_samples import FINDING, REPORT, SAMPLES

from troubleshoot.model import Report, Role
from troubleshoot.report.sarif import render_sarif, uri_of

EVERY = {**SAMPLES, **JOB_SAMPLES}


@cache
def validator() -> Draft7Validator:
    path = Path(__file__).parents[1] / "schemas" / "sarif-2.1.0.json"
    return Draft7Validator(json.loads(path.read_text()), format_checker=Draft7Validator.FORMAT_CHECKER)


def run_of(report: Report) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(render_sarif(report))["runs"][0]
    return run


@pytest.mark.parametrize("name", EVERY)
def test_log_is_valid(name: str) -> None:
    errors = [error.message for error in validator().iter_errors(json.loads(render_sarif(EVERY[name])))]
    assert errors == []


def test_schema_would_find_an_error() -> None:
    log = json.loads(render_sarif(REPORT))
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert list(validator().iter_errors(log))


def test_result_points_at_the_line_and_its_rule() -> None:
    run = run_of(REPORT)
    result = run["results"][0]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == FINDING.rule
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == FINDING.evidence[0].source
    assert place["region"]["startLine"] == FINDING.evidence[0].line
    assert result["partialFingerprints"]["troubleshoot/v1"] == FINDING.fingerprint


def test_symptoms_are_notes() -> None:
    levels = {result["properties"]["role"]: result["level"] for result in run_of(REPORT)["results"]}
    if any(each.role is Role.SYMPTOM for each in REPORT.findings):
        assert levels["symptom"] == "note"


def test_unknown_fault_has_its_suspects_as_results() -> None:
    run = run_of(SAMPLES["unknown"])
    assert {result["ruleId"] for result in run["results"]} >= {"troubleshoot/unknown-fault"}


def test_partial_reading_is_no_successful_execution() -> None:
    assert run_of(JOB_SAMPLES["job-partial"])["invocations"][0]["executionSuccessful"] is False


def test_job_is_in_the_properties() -> None:
    assert run_of(JOB_SAMPLES["job"])["properties"]["job"]["first_failure"]["rank"] == 3


@pytest.mark.parametrize(
    ("source", "uri"),
    [
        ("logs/rank-3.log", "logs/rank-3.log"),
        ("/var/log/a b.log", "file:///var/log/a%20b.log"),
        ("b.tar!a/c:d%e.log", "b.tar!a/c%3Ad%25e.log"),
        ("C:\\logs\\x.log", "C%3A/logs/x.log"),
        ("", "unnamed"),
    ],
)
def test_names_of_sources_become_uris(source: str, uri: str) -> None:
    assert uri_of(source) == uri


def test_ranks_of_ten_thousand_are_capped() -> None:
    assert len(render_sarif(many(10_000))) < 200_000
