"""A pattern over an entry sees the lines of one log entry, and never those of the next."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scan_samples import SOURCE, Stamped, blocks_of, pack_of, pattern

from troubleshoot.scan.plain import scan_plainly
from troubleshoot.scan.scanner import Scanner

OVER = pattern("(?s)panic.*overboard", lines=12, entry=True)


def found(text: str, lines: int = 10**9) -> list[tuple[int, int]]:
    result = Scanner(pack_of(OVER)).scan(SOURCE, blocks_of(text.encode(), lines), Stamped())
    return [(hit.record.line, hit.record.end_line) for hit in result.hits]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("12:00:01 panic\ngoroutine 7\n\noverboard\n", [(1, 4)]),
        ("12:00:01 panic\n12:00:02 overboard\n", []),
        ("12:00:01 panic\nmore\n12:00:02 overboard\n", []),
        ("panic\n  at main\n\toverboard\n", [(1, 3)]),
        ("panic\noverboard\n", []),
        ("panic overboard\n", [(1, 1)]),
        ("12:00:01 begins\npanic\n  overboard\nnext\n", [(2, 3)]),
    ],
)
def test_an_entry_ends_where_the_next_begins(text: str, spans: list[tuple[int, int]]) -> None:
    assert found(text) == spans
    assert found(text, lines=1) == spans


@given(st.lists(st.sampled_from(["12:00:01 panic", "panic", " overboard", "overboard", "", "12:00:02 x", "\ty"])))
def test_the_plain_matcher_agrees(lines: list[str]) -> None:
    text = "\n".join(lines)
    result = scan_plainly(pack_of(OVER), SOURCE, blocks_of(text.encode()), Stamped())
    assert [(hit.record.line, hit.record.end_line) for hit in result.hits] == found(text)


@given(
    st.lists(
        st.sampled_from(["12:00:01 panic", "panic", " overboard", "overboard", "", "12:00:02 x", "\ty"]), min_size=8
    ),
    st.integers(1, 5),
)
def test_where_blocks_end_is_no_matter(lines: list[str], size: int) -> None:
    text = "\n".join(lines)
    assert found(text, lines=size) == found(text)
