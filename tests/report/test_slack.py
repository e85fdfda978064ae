"""Slack messages: the shape, the limits that make Slack refuse one, and that log text stays text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from report_samples import EVIDENCE, FINDING, HOSTILE, OTHER, REPORT, SAMPLES

from troubleshoot.model import Fix, Report
from troubleshoot.report.slack import cut, escape, render_slack, slack_blocks, slack_text


def huge() -> Report:
    evidence = tuple(replace(EVIDENCE, text="\u4f60\U0001f600&<>" * 700) for _ in range(8))
    fixes = tuple(Fix(f"fix {index} " + "&" * 3_000, do="x" * 5_000, run=("y" * 9_000,) * 5) for index in range(9))
    finding = replace(FINDING, title="\U0001f600" * 400, explanation="z&" * 4_000, evidence=evidence, fixes=fixes)
    others = tuple(replace(OTHER, rule=f"a/b{index}", title="<!channel> " * 50) for index in range(60))
    return replace(REPORT, findings=(finding, *others), suspects=REPORT.suspects * 60, notes=REPORT.notes * 60)


ALL = {**SAMPLES, "huge": huge()}


def texts(value: Any) -> Iterator[dict[str, Any]]:
    """Every text object and text element of the blocks."""
    if isinstance(value, dict):
        if isinstance(value.get("text"), str):
            yield value
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)


@pytest.mark.parametrize("name", SAMPLES)
def test_slack_is_as_agreed(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"{name}.slack.json", render_slack(SAMPLES[name]))


@pytest.mark.parametrize("name", ALL)
def test_message_keeps_slacks_limits(name: str) -> None:
    message = json.loads(render_slack(ALL[name]))
    blocks = message["blocks"]
    assert 0 < len(blocks) <= 50
    assert len(json.dumps(blocks, ensure_ascii=False).encode()) <= 13_000
    assert 0 < len(message["text"].encode("utf-16-le")) // 2 <= 4_000
    for block in blocks:
        for text in texts(block):
            most = 150 if block["type"] == "header" else 3_000
            assert 0 < len(text["text"].encode("utf-16-le")) // 2 <= most


def test_what_does_not_fit_is_counted() -> None:
    assert "did not fit into a message" in json.dumps(slack_blocks(huge()))
    assert "did not fit" not in json.dumps(slack_blocks(REPORT))


@pytest.mark.parametrize("name", ALL)
def test_no_mention_or_link_of_the_log_comes_alive(name: str) -> None:
    for text in texts(slack_blocks(ALL[name])):
        if text["type"] == "mrkdwn":
            assert "<" not in text["text"]
            assert ">" not in text["text"]
            assert text["verbatim"] is True
    assert "<" not in slack_text(HOSTILE)


def test_escape_is_slacks_and_formatting_marks_do_nothing() -> None:
    assert escape("a & b <@U1>") == "a &amp; b &lt;@U1&gt;"
    assert "*bold*" not in escape("*bold*")


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("a&amp;b", 4, "a…"), ("\U0001f600\U0001f600", 3, "\U0001f600…")],
)
def test_cut_counts_as_slack_does_and_breaks_nothing(text: str, most: int, expected: str) -> None:
    assert cut(text, most) == expected


def test_cause_evidence_and_fix_are_there() -> None:
    shown = json.dumps(slack_blocks(REPORT), ensure_ascii=False)
    for wanted in (FINDING.title, "severity *high*", "GLIBC_2.34' not found", "Rebuild the image", "disable-auto-efa"):
        assert wanted in shown
