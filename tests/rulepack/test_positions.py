"""What an author is shown of a place: its line, and a caret below the very character."""

from __future__ import annotations

import pytest

from troubleshoot.errors import Problem
from troubleshoot.model import Place
from troubleshoot.rulepack.positions import EXCERPT_CHARS, read_document


def shown(text: str, column: int, line: int = 1) -> Problem:
    document = read_document(text, "a.yaml")
    return document.problem("R004", "wrong", Place("a.yaml", line, column))


@pytest.mark.parametrize(
    ("text", "char"),
    [
        ("title: wrong", "w"),
        ("      title: wrong", "w"),
        ("x: " + "-" * 300 + "w" + "-" * 300, "w"),
        ("x: " + "-" * 300 + "w", "w"),
        ("w: " + "-" * 300, "w"),
        ("x: \x07\x07w", "w"),
    ],
)
def test_caret_is_below_the_character(text: str, char: str) -> None:
    problem = shown(text, text.index(char) + 1)
    _what, where, caret = str(problem).splitlines()
    assert where[caret.index("^")] == char
    assert len(problem.excerpt) <= EXCERPT_CHARS + 3


def test_caret_stands_right_below_wide_characters() -> None:
    _what, where, caret = str(shown("内存: w", 5)).splitlines()
    assert caret.index("^") == where.index("w") + 2  # two characters before it take two cells each


def test_without_a_line_there_is_no_caret() -> None:
    assert "^" not in str(shown("x: y", 1, line=7))
    assert "^" not in str(Problem("R013", "cannot be read"))
