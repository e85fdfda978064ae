"""The words that a line must hold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scan_samples import Piece, pattern, pieces, text_pattern

from troubleshoot.rulepack.load import load_pack
from troubleshoot.scan.confirm import compile_pattern
from troubleshoot.scan.lines import lacks, lower_words
from troubleshoot.scan.needs import needed_words, words_of_first_line

CASES: dict[str, set[tuple[str, ...]]] = {
    r"(?:exit|status) code \d+": {("exit", "status"), ("code",)},
    r"zygotes of \d+ zebras": {("zygotes",), ("zebras",)},
    r"Zygotes(?= seen)": {("zygotes",), ("seen",)},
    r"(?:zygotes)? zebras": {("zebras",)},
    r"(?:zygotes)*zebras": {("zebras",)},
    r"(?:zygotes,\d)+ zebras": {("zygotes",), ("zebras",)},
    r"zygotes|zebras": {("zebras", "zygotes")},
    r"zygotes|\d+": set(),
    r"(?!zygotes)zebras": {("zebras",)},
    r".*": set(),
}


@pytest.mark.parametrize("source", CASES)
def test_needed_words(source: str) -> None:
    assert set(needed_words(pattern(source))) == {tuple(word.encode() for word in words) for words in CASES[source]}


FIRST_LINES: dict[str, set[tuple[str, ...]]] = {
    r"zygotes\n\s*zebras": {("zygotes",)},
    r"zygotes [^:]*zebras": {("zygotes",)},
    r"zygotes [^:\n]*zebras\nhorses": {("zygotes",), ("zebras",)},
    r"zygotes(?=\nzebras) *horses": {("zygotes",), ("horses",)},
    r"(?:zygotes \d\n)+zebras": set(),
    r"zygotes\nhorses|zebras\nhorses": {("zebras", "zygotes")},
    r"(?:zygotes\n|zebras\n)horses": {("zebras", "zygotes")},
    r"\s*zygotes\nzebras": set(),
    r"(?s:zygotes.zebras)": {("zygotes",)},
}


@pytest.mark.parametrize("source", FIRST_LINES)
def test_words_of_first_line(source: str) -> None:
    found = words_of_first_line(pattern(source, lines=12))
    assert set(found) == {tuple(word.encode() for word in words) for words in FIRST_LINES[source]}


def test_a_message_in_all_languages_needs_a_word_of_one_of_them() -> None:
    needs = needed_words(text_pattern("write: Disk quota exceeded"))
    assert not lacks(lower_words("write: 超出磁盘配额".encode()), needs)
    assert lacks(lower_words(b"write: no space left on device"), needs)


def test_of_a_line_that_peeling_may_rewrite_nothing_is_told() -> None:
    needs = needed_words(pattern("zygotes of zebras"))
    assert lacks(lower_words(b"zygotes of horses"), needs)
    assert not lacks(lower_words(rb"zygotes of \u007aebras"), needs)
    assert not lacks(lower_words(b"zygotes of &#122;ebras"), needs)


@settings(max_examples=300)
@given(pieces(), st.data())
def test_no_text_that_a_pattern_matches_lacks_what_it_needs(piece: Piece, data: st.DataObject) -> None:
    text = data.draw(piece.texts)
    made = pattern(piece.regex, lines=12)
    if compile_pattern(made).search(text) is not None:
        assert not lacks(lower_words(text.encode("utf-8", "surrogatepass")), needed_words(made))


@settings(max_examples=300)
@given(pieces(), st.data())
def test_the_line_in_which_a_match_begins_holds_the_words_of_the_first_line(piece: Piece, data: st.DataObject) -> None:
    text = data.draw(piece.texts)
    made = pattern(piece.regex, lines=12)
    found = compile_pattern(made).search(text)
    if found is not None:
        start = text.rfind("\n", 0, found.start()) + 1
        first = text[start:].split("\n", 1)[0]
        assert not lacks(lower_words(first.encode("utf-8", "surrogatepass")), words_of_first_line(made))


def test_no_example_of_the_pack_lacks_what_its_signatures_need() -> None:
    pack = load_pack()
    compiled = [compile_pattern(each) for each in pack.patterns]
    needs = [needed_words(each) for each in pack.patterns]
    lines = {
        line
        for rule in pack.rules.values()
        for example in rule.examples
        for text in example.files.values()
        for line in text.splitlines()
    }
    for line in sorted(lines)[::5]:
        words = lower_words(line.encode())
        for each, needed in zip(compiled, needs, strict=True):
            if lacks(words, needed):
                assert each.search(line) is None, (each.pattern, line)
