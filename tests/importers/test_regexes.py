"""Patterns of Go and Rust mean the same here, or are refused."""

from __future__ import annotations

import pytest

from troubleshoot.importers.foreign import CannotImportError
from troubleshoot.importers.regexes import over_entry, translate
from troubleshoot.rulepack.signatures import compile_pattern


@pytest.mark.parametrize(
    ("pattern", "finds", "not_finds"),
    [
        ("panic(.+)runtime", "panic: a runtime", "panicruntime"),
        (r"\Qa.b(c)\E\d", "a.b(c)7", "aXb(c)7"),
        (r"end\z", "the end", "end of"),
        ("(?i)failed to bind", "FAILED TO BIND", "fail to bind"),
        ("one (?i)two", "one TWO", "ONE two"),
        ("(one (?i)two) three", "one TWO three", "one TWO THREE"),
        ("a(?i:b)c", "aBc", "ABC"),
        ("boom {what}", "boom {what}", "boom what"),
        (r"x{2,}y", "xxxy", "xy"),
        ("x{,2}y", "x{,2}y", "xxy"),
        ("[[:digit:]]+ of [[a]", "12 of [", "x of a b"),
        (r"\x{41}", "A", "x"),
        ("Slow", "Slow", "slow"),
    ],
)
def test_it_finds_the_same(pattern: str, finds: str, not_finds: str) -> None:
    translated = translate(pattern)
    compiled = compile_pattern(translated.regex, translated.exact_case)
    assert compiled.search(finds)
    assert not compiled.search(not_finds)


def test_names_of_groups_become_names_of_captures() -> None:
    translated = translate(r"(?P<Host>\w+):(?<count>\d+) (plain)")
    assert translated.captures == ("host", "count_")
    assert translate("(a)|(?:b)(c)", name_groups=True).captures == ("group1", "group2")


@pytest.mark.parametrize("pattern", [r"\C", "(?U)a+", "[a-z&&[^b]]", r"\<word", "(open", r"\b{start}x"])
def test_what_has_no_equal_is_refused(pattern: str) -> None:
    with pytest.raises(CannotImportError):
        translate(pattern)


@pytest.mark.parametrize(
    ("pattern", "over"),
    [
        ("panic.*overboard", "(?s)panic.*overboard"),
        (".*panic.*overboard.*", "(?s)panic.*overboard"),
        (".*panic.*", None),
        ("panic", None),
        (r"a\.+b", None),
        ("a.*|.*b", "(?s)a.*|.*b"),
        ("(a.*b|c)", "(?s)(a.*b|c)"),
    ],
)
def test_over_an_entry_only_where_that_finds_more(pattern: str, over: str | None) -> None:
    assert over_entry(pattern) == over
