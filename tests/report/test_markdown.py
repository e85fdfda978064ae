"""Markdown for tickets: read by a Markdown parser, so that what the log can smuggle in is seen as a site sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from report_samples import EVIDENCE, FINDING, HOSTILE, NASTY_LINE, OTHER, REPORT, SAMPLES

from troubleshoot.report.markdown import code, escape, fence, render_markdown
from troubleshoot.report.printable import one_line, visible

PARSER = MarkdownIt("gfm-like", {"linkify": False})


def tokens(text: str) -> Iterator[Token]:
    for token in PARSER.parse(text):
        yield token
        yield from token.children or ()


@pytest.mark.parametrize("name", SAMPLES)
def test_markdown_is_as_agreed(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"{name}.md", render_markdown(SAMPLES[name]))


def test_log_text_brings_no_markup_of_its_own() -> None:
    found = {token.type for token in tokens(render_markdown(HOSTILE))}
    assert not found & {"html_block", "html_inline", "image", "table_open", "s_open", "em_open"}
    links = [token.attrs["href"] for token in tokens(render_markdown(HOSTILE)) if token.type == "link_open"]
    assert links == []
    headings = [token for token in tokens(render_markdown(HOSTILE)) if token.type == "heading_open"]
    expected = [token for token in tokens(render_markdown(REPORT)) if token.type == "heading_open"]
    assert len(headings) == len(expected)


NASTY_INLINE = [
    "# x", "- x", "+ x", "1. x", "1) x", "> x", "| a | b |", "---", "===", "***", "~~~", "```", "`a` ``b``", "<b>x</b>",
    "<!-- x", "&lt;b&gt;", "[a](http://b)", "![a](b)", "[a]: http://b", "http://evil.example", "www.evil.example",
    "*a* _b_ **c** __d__ ~~e~~", "a\\", "\\# x", "    indented", "@everyone @org/team", "/close", "$x$", "^a^", "a@b.c",
    "\x1b[31mred", "a\nb\n\n# c", "\u202eabc", NASTY_LINE,
]  # fmt: skip


@pytest.mark.parametrize("text", NASTY_INLINE)
def test_escaped_text_is_read_back_as_plain_text(text: str) -> None:
    parsed = [token for token in tokens(escape(text)) if token.type not in {"inline", "softbreak"}]
    assert {token.type for token in parsed} <= {"paragraph_open", "paragraph_close", "text", "text_special"}
    read = "".join(token.content for token in parsed).replace("\u200b", "")
    assert read == one_line(text).strip()


@pytest.mark.parametrize("text", NASTY_INLINE)
def test_escaped_text_neither_links_nor_mentions(text: str) -> None:
    assert "://" not in escape(text)
    assert "@e" not in escape(text)
    assert not escape(text).startswith("/")


@pytest.mark.parametrize("text", ["`", "``", "a`b", "`a`", "a``b`", "", "x"])
def test_code_spans_hold_any_backticks(text: str) -> None:
    spans = [token.content for token in tokens(code(text)) if token.type == "code_inline"]
    assert [span.strip() for span in spans] == [text.strip()]


@pytest.mark.parametrize("text", ["```\n# out\n```", "````", "~~~\nx", "a\n`````\nb", "\x1b[0m\n"])
def test_nothing_ends_a_fence_but_its_end(text: str) -> None:
    parsed = PARSER.parse(fence(text))
    assert [token.type for token in parsed] == ["fence"]
    assert parsed[0].content == visible(text).rstrip("\n") + "\n"


def test_commands_and_evidence_are_copied_whole() -> None:
    blocks = [token.content for token in tokens(render_markdown(REPORT)) if token.type == "fence"]
    assert FINDING.fixes[1].run[0] + "\n" in blocks
    assert EVIDENCE.text + "\n" in blocks
    assert FINDING.fixes[2].variants["yaml"] + "\n" in blocks


def test_long_lists_are_counted() -> None:
    others = tuple(replace(OTHER, rule=f"a/b{index}") for index in range(25))
    assert "- and 5 more\n" in render_markdown(replace(REPORT, findings=(FINDING, *others)))
