"""Choosing findings, and failing on them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report_samples import CLEAN, FINDING, GENERIC, REPORT, UNKNOWN

from troubleshoot.model import Confidence, Report, Severity, Verdict
from troubleshoot.report.selection import Selection, cut_findings, is_failing, select_findings

NAMES = {
    "efa/glibc-too-old": ("efa", "glibc"),
    "nccl/info-debug-swapped": ("nccl",),
    "mpi/launch-failed": ("mpi", "peer-lost"),
    "efa/in-use": ("efa",),
}


def chosen(selection: Selection, report: Report = REPORT) -> Report:
    return select_findings(report, selection, lambda rule: NAMES.get(rule, ()))


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(), ["efa/glibc-too-old", "nccl/info-debug-swapped", "mpi/launch-failed"]),
        (Selection(select=("efa/glibc-too-old",)), ["efa/glibc-too-old"]),
        (Selection(select=("efa/*", "mpi")), ["efa/glibc-too-old", "mpi/launch-failed"]),
        (Selection(ignore=("#peer-lost", "glibc")), ["nccl/info-debug-swapped"]),
        (Selection(min_severity=Severity.MEDIUM), ["efa/glibc-too-old", "mpi/launch-failed"]),
        (Selection(min_confidence=Confidence.HIGH), ["efa/glibc-too-old", "nccl/info-debug-swapped"]),
        (Selection(select=("efa",), ignore=("glibc",)), []),
    ],
)
def test_findings_are_chosen_by_any_of_their_names(selection: Selection, expected: list[str]) -> None:
    assert [each.rule for each in chosen(selection).findings] == expected


def test_what_is_left_out_is_counted_and_nothing_chosen_changes_nothing() -> None:
    assert chosen(Selection()) is REPORT
    assert chosen(Selection(ignore=("mpi",))).notes[-1].text == "1 of 3 findings left out as asked"


def test_confirmations_are_chosen_by_name_but_not_by_severity() -> None:
    assert chosen(Selection(ignore=("efa",))).confirmations == ()
    assert chosen(Selection(min_severity=Severity.CRITICAL)).confirmations == REPORT.confirmations


def test_verdict_is_that_of_what_remains() -> None:
    assert chosen(Selection(select=("nothing",))).verdict is Verdict.UNKNOWN_FAULT  # its suspects remain
    assert chosen(Selection(select=("nothing",)), replace(REPORT, suspects=())).verdict is Verdict.CLEAN
    assert chosen(Selection(select=("nothing",)), CLEAN).verdict is Verdict.CLEAN
    assert chosen(Selection(min_severity=Severity.LOW), GENERIC).verdict is Verdict.UNKNOWN_FAULT


def test_cut_keeps_the_first_and_counts_the_rest() -> None:
    cut = cut_findings(REPORT, 1)
    assert cut.findings == (FINDING,)
    assert cut.notes[-1].text.startswith("2 more findings not shown")
    assert cut_findings(REPORT, 0) is REPORT


@pytest.mark.parametrize(
    ("report", "fail_on", "expected"),
    [
        (REPORT, (), False),
        (REPORT, ("low",), True),
        (REPORT, ("high",), True),
        (REPORT, ("critical",), False),
        (REPORT, ("any",), True),
        (REPORT, ("unknown",), False),
        (REPORT, ("critical", "low"), True),
        (UNKNOWN, ("low",), False),
        (UNKNOWN, ("unknown",), True),
        (UNKNOWN, ("any",), True),
        (GENERIC, ("unknown",), True),
        (CLEAN, ("any", "unknown", "low"), False),
    ],
)
def test_fail_on(report: Report, fail_on: tuple[str, ...], expected: bool) -> None:
    assert is_failing(report, fail_on) is expected
