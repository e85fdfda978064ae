"""The page: whole in itself, valid to parse, nothing of the log alive in it, its pictures right."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as Tree

import pytest
from job_samples import JOB, JOB_REPORT, JOB_SAMPLES, many
from report_samples import SAMPLES

from troubleshoot.model import Job
from troubleshoot.report.html import render_html
from troubleshoot.report.picture import draw_map, draw_timeline

SVG = "{http://www.w3.org/2000/svg}"
VOID = {"meta", "br", "hr", "img", "link", "input"}
EVERY = {**SAMPLES, **JOB_SAMPLES}


class Reader(HTMLParser):
    """Collects elements, and complains of what is not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("name", EVERY)
def test_page_is_whole_and_fetches_nothing(name: str) -> None:
    page = render_html(EVERY[name])
    reader = read(page)
    tags = {tag for tag, _ in reader.elements}
    assert not tags & {"script", "iframe", "object", "embed", "form", "link", "base", "img"}
    for tag, attributes in reader.elements:
        assert not any(key.startswith("on") or key in ("src", "style", "srcdoc") for key in attributes), (
            tag,
            attributes,
        )
        if "href" in attributes:
            assert tag == "a"
            assert re.match(r"https?://", attributes["href"] or "")
    assert "url(" not in page
    assert "@import" not in page


def test_nothing_in_a_hostile_log_comes_alive() -> None:
    hostile, tame = read(render_html(JOB_SAMPLES["job-hostile"])), read(render_html(JOB_SAMPLES["job"]))
    assert {tag for tag, _ in hostile.elements} <= {tag for tag, _ in tame.elements} | {"ul", "li"}
    page = render_html(JOB_SAMPLES["job-hostile"])
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)


def test_page_is_dark_where_the_screen_is_and_light_on_paper() -> None:
    page = render_html(JOB_REPORT)
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_evidence_is_marked_and_commands_are_whole() -> None:
    page = render_html(JOB_REPORT)
    assert "<mark>" in page
    texts = "".join(read(page).texts)
    for fix in JOB_REPORT.findings[0].fixes:
        for command in fix.run:
            assert command in texts


def test_timeline_has_a_row_per_rank_and_marks_the_first_failure() -> None:
    svg = Tree.fromstring(draw_timeline(JOB))
    titles = [each.text or "" for each in svg.iter(f"{SVG}title")]
    assert len(titles) == 8
    assert [each.get("class") for each in svg.iter(f"{SVG}g")].count("failed") == 1
    assert "rank 3 fails first, 20:33:06.432" in [each.text for each in svg.iter(f"{SVG}text")]
    assert len([each for each in svg.iter(f"{SVG}circle") if each.get("class") == "ring"]) == 1
    assert len([each for each in svg.iter(f"{SVG}circle") if each.get("class") == "lag"]) == 1


def test_end_of_a_long_job_is_shown_larger() -> None:
    svg = Tree.fromstring(draw_timeline(JOB))
    assert "the last 2 min of the job" in [each.text for each in svg.iter(f"{SVG}text")]


@pytest.mark.parametrize("world", [256, 257, 10_000])
def test_thousands_of_ranks_share_rows(world: int) -> None:
    job = many(world).job
    assert job is not None
    svg = Tree.fromstring(draw_timeline(job))
    rows = [each.get("class") for each in svg.iter(f"{SVG}g")]
    assert len(rows) <= 256
    assert rows.count("failed") == 1
    assert len(render_html(many(world))) < 2_500_000


def test_map_has_a_cell_per_rank() -> None:
    svg = Tree.fromstring(draw_map(JOB))
    assert [each.get("class") for each in svg.iter(f"{SVG}g")] == [each.fate for each in JOB.tracks]


def test_no_picture_without_times_or_ranks() -> None:
    assert draw_timeline(Job()) == ""
    assert draw_map(Job()) == ""
    assert "<svg" not in render_html(SAMPLES["fault"])
