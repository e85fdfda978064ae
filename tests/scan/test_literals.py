from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from scan_samples import Piece, pattern, pieces, text_pattern

from troubleshoot.model import Pattern
from troubleshoot.scan.confirm import compile_pattern
from troubleshoot.scan.frequencies import cost, cost_of_phrase
from troubleshoot.scan.literals import required_literals

CASES: dict[str, set[str] | None] = {
    "a rare word beside common ones": None,
    r"version\W{1,8}GLIBC_(?P<needed>[\d.]+)\W+not found": {"glibc_"},
    r"cudaMalloc|cudaFree": {"cudamalloc", "cudafree"},
    r"cuda(?:Malloc|Free)Async": {"cudamallocasync", "cudafreeasync"},
    r"(?:OSError|IOError)\s?:": {"oserror", "ioerror"},
    r"[Ll]ibfabric_x": {"libfabric_x"},
    r"gre[ye]hound": {"greyhound", "greehound"},
    r"(?i:Watchdogs)": {"watchdogs"},
    r"(?i)Watchdogs": {"watchdogs"},
    r"(?x) watch dogs  # a comment": {"watchdogs"},
    r"uncorrectables?": {"uncorrectable"},
    r"(?:uncorrectable)+": {"uncorrectable"},
    r"(?:uncorrectable)*": None,
    r"(?:uncorrectable|)": None,
    r"(?:uncorrectable){0}": None,
    r"(?:uncorrectable){e<=1}": None,
    r"uncorrectable{e<=1}xyzzyplugh": {"uncorrectabl"},
    r"uncorrectables{3}": {"uncorrectablesss"},
    r"(?!uncorrectable)": None,
    r"(?<!uncorrectable)watchdogs": {"watchdogs"},
    r"(?=.*uncorrectable)x": {"uncorrectable"},
    r"(?<name>uncorrectable)": {"uncorrectable"},
    r"(?P<name>uncorrectable)(?P=name)": {"uncorrectable"},
    r"(?>uncorrectable)": {"uncorrectable"},
    r"(?|uncorrectable|containable)": {"uncorrectable", "containable"},
    r"(?#uncorrectable)abc": None,
    r"(a)?(?(1)uncorrectable|b)": None,
    r"\Auncorrectable\Z": {"uncorrectable"},
    r"foo\.uncorrectable\/x": {"foo.uncorrectable/x"},
    r"\x75ncorrectable": {"uncorrectable"},
    r"\u0075ncorrectable": {"uncorrectable"},
    r"内存不足": {"内存不足"},
    r"Größenfehler": {"größenfehler"},
    r"[ÜÄ]berlauf": {"Überlauf", "Äberlauf"},
    r"\p{Lu}berlauf": {"berlauf"},
    r"\d+-\d+": None,
    r".*": None,
    r"": None,
    r"[[:alpha:]]rrrrr": {"rrrrr"},
    r"[^a]uncorrectable": {"uncorrectable"},
    r"[A-z]uncorrectable": {"uncorrectable"},
    r"uncorrectable[": None,
    r"uncorrectable(": None,
    r'"uncorrectable: gone"': {"uncorrectable"},
}


@pytest.mark.parametrize("source", CASES, ids=repr)
def test_literals_of_a_pattern(source: str) -> None:
    expected = CASES[source]
    if source == "a rare word beside common ones":
        source, expected = r"error while running zygomorphic module", {"zygomorphic"}
    found = required_literals(pattern(source))
    assert expected == (None if found is None else {word.decode() for word in found.words})


def test_common_words_are_searched_together_and_each_other_gap_on_its_own() -> None:
    found = required_literals(pattern(r"NCCL\s+WARN"))
    assert found is not None
    assert {b"nccl warn", b"nccl\t", b"nccl  ", b"nccl \t"} <= set(found.words)


def test_blanks_of_a_text_signature_are_a_gap() -> None:
    found = required_literals(text_pattern("NCCL WARN"))
    assert found is not None
    assert {b"nccl warn", b"nccl\t", b"nccl  ", b"nccl \t", "\u00a0".encode(), "\u3000".encode()} <= set(found.words)


def test_fixed_blanks_between_common_words_need_no_other_gap() -> None:
    found = required_literals(pattern(r"NCCL WARN"))
    assert found is not None
    assert found.words == (b"nccl warn",)


def test_gap_over_a_line_end_is_no_literal() -> None:
    found = required_literals(pattern(r"NCCL\s+WARN", lines=2))
    assert found is not None
    assert found.words in ((b"warn",), (b"nccl",))


def test_text_in_all_languages_has_a_literal_per_language() -> None:
    found = required_literals(text_pattern("Disk quota exceeded"))
    assert found is not None
    assert len(found.words) >= 6
    assert "磁盘配额" in b" ".join(found.words).decode()


def test_short_word_is_a_literal_only_with_what_is_next_to_it() -> None:
    assert required_literals(pattern(r"Xid\w+")) is None
    cases = {
        r"Xid \d+": [b"xid %d" % digit for digit in range(10)],
        r"^\s*env:\s*$": [b"env:"],
        r"\[\d+\] /\S": [b"%d] /" % digit for digit in range(10)],
        r"\w+ oom[,;]": [b" oom,", b" oom;"],
    }
    for source, words in cases.items():
        found = required_literals(pattern(source))
        assert found is not None, source
        assert sorted(found.words) == sorted(words), source


def test_short_word_behind_blanks_is_searched_with_what_is_before_them() -> None:
    found = required_literals(pattern(r"loss\s*[:=]\s*nan\b"))
    assert found is not None
    assert {b":nan", b"=nan", b": nan", b"= nan", b"  nan", b"\t nan"} <= set(found.words)
    assert b" nan" not in found.words


def test_words_to_avoid_give_way_to_others() -> None:
    one = pattern("zygotes of zebras were seen")
    assert required_literals(one) != required_literals(one, frozenset({b"zygotes"}))
    found = required_literals(one, frozenset({b"zygotes", b"zebras"}))
    assert found is not None
    assert found.words == (b"seen",)


def test_word_to_avoid_is_still_used_when_there_is_no_other() -> None:
    found = required_literals(pattern(r"zygotes\S"), frozenset({b"zygotes"}))
    assert found is not None
    assert found.words == (b"zygotes",)


def test_frequent_words_cost_more() -> None:
    assert cost("channel") > cost("checkpoint") > cost("error") / 10 > cost("zygomorphic")
    assert cost("12.4") > cost("zygo")
    assert cost_of_phrase(("nccl", "info")) > 100_000 > cost_of_phrase(("nccl", "warn"))


def holds(one: Pattern, text: str) -> bool:
    found = required_literals(one)
    data = text.encode().lower()
    return found is None or any(word in data for word in found.words)


@settings(max_examples=400, deadline=None)
@given(pieces().flatmap(lambda piece: st.tuples(st.just(piece), piece.texts)), st.text("ab é\t", max_size=4))
def test_every_match_holds_a_literal(case: tuple[Piece, str], around: str) -> None:
    piece, text = case
    one = pattern(piece.regex)
    try:
        compiled = compile_pattern(one)
    except regex.error:
        return
    match = compiled.search(around + text + around, timeout=2)
    if match is not None:
        assert holds(one, match.string[: match.end() + 8])
