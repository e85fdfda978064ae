"""The job part in the formats for readers: as agreed, within limits, and with nothing of the log let loose."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from job_samples import JOB_REPORT, JOB_SAMPLES, many
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt

from troubleshoot.report import RENDERERS
from troubleshoot.report.schema import report_schema

EXTENSIONS = {
    "text": "txt",
    "markdown": "md",
    "json": "json",
    "ndjson": "ndjson",
    "slack": "slack.json",
    "html": "html",
    "sarif": "sarif.json",
    "junit": "junit.xml",
}


@pytest.mark.parametrize("name", JOB_SAMPLES)
@pytest.mark.parametrize("format", EXTENSIONS)
def test_job_section_is_as_agreed(name: str, format: str, job_golden: Callable[[str, str], None]) -> None:
    if name == "job-hostile" and format in ("ndjson", "sarif", "junit"):
        pytest.skip("tested by parsing instead")
    job_golden(f"{name}.{EXTENSIONS[format]}", RENDERERS[format](JOB_SAMPLES[name]))


@pytest.mark.parametrize("name", JOB_SAMPLES)
def test_json_follows_the_schema(name: str) -> None:
    Draft202012Validator(report_schema()).validate(json.loads(RENDERERS["json"](JOB_SAMPLES[name])))


@pytest.mark.parametrize("world", [8, 10_000])
def test_slack_message_stays_within_its_limits(world: int) -> None:
    message = json.loads(RENDERERS["slack"](many(world)))
    assert len(message["blocks"]) <= 50
    assert len(json.dumps(message["blocks"], ensure_ascii=False).encode()) <= 13_000
    for block in message["blocks"]:
        assert len(block.get("text", {}).get("text", "")) <= 3_000


def test_markdown_table_of_the_timeline_has_a_row_each() -> None:
    text = RENDERERS["markdown"](JOB_SAMPLES["job-hostile"])
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    rows = sum(1 for token in tokens if token.type == "tr_open")
    assert rows == 1 + len(JOB_REPORT.job.timeline if JOB_REPORT.job else ())
    assert not [token for token in tokens if token.type in ("html_block", "html_inline")]
    columns = [token for token in tokens if token.type == "td_open"]
    assert len(columns) == 6 * (rows - 1)


def test_hostile_text_steers_no_terminal() -> None:
    text = RENDERERS["text"](JOB_SAMPLES["job-hostile"])
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_ten_thousand_ranks_are_told_in_few_lines() -> None:
    assert len(RENDERERS["text"](many(10_000))) < 12_000
    assert len(RENDERERS["json"](many(10_000))) < 40_000
