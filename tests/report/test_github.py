"""Annotations for GitHub Actions: one command per line, whatever the log holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from report_samples import FINDING, HOSTILE, OTHER, REPORT, SAMPLES

from troubleshoot.report.github import render_github


@pytest.mark.parametrize("name", SAMPLES)
def test_annotations_are_as_agreed(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"{name}.github.txt", render_github(SAMPLES[name]))


def test_log_text_makes_no_command_of_its_own() -> None:
    lines = render_github(HOSTILE).rstrip("\n").split("\n")
    assert all(line.startswith(("::error title=", "::warning title=", "::notice")) for line in lines)
    assert len(lines) == 3  # two causes and what was read
    assert not any(char < " " or "\x7f" <= char < "\xa0" for char in "".join(lines))
    assert "%250A" in lines[0]  # the log's own %0A is shown


def test_ten_at_most_and_the_rest_as_a_number() -> None:
    others = tuple(replace(OTHER, rule=f"a/b{index}") for index in range(30))
    lines = render_github(replace(REPORT, findings=(FINDING, *others))).split("\n")
    assert len([line for line in lines if "title=" in line]) == 9
    assert "::notice::22 more findings in the full report" in lines
