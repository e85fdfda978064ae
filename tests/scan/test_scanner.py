"""The fast matcher finds what the plain one finds, whatever the blocks, and keeps within its bounds."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scan_samples import (
    SOURCE,
    Piece,
    Stamped,
    Untouched,
    blocks_of,
    full,
    pack_of,
    pattern,
    pieces,
    places,
    text_pattern,
)

from troubleshoot import limits
from troubleshoot.ingest.blocks import read_blocks
from troubleshoot.model import Block, LineMap, PatternUse, Peeled, RulePack, ScanResult
from troubleshoot.scan import planner, prefilter
from troubleshoot.scan.confirm import compile_pattern
from troubleshoot.scan.match import Matcher
from troubleshoot.scan.plain import scan_plainly
from troubleshoot.scan.scanner import Scanner, merge_hits


def scan(pack: RulePack, data: bytes, lines: int = 10**9, normaliser: object = None, **options: object) -> ScanResult:
    return Scanner(pack, **options).scan(  # type: ignore[arg-type]
        SOURCE,
        blocks_of(data, lines),
        normaliser or Untouched(),  # type: ignore[arg-type]
    )


def plain(pack: RulePack, data: bytes, lines: int = 10**9, normaliser: object = None) -> ScanResult:
    return scan_plainly(pack, SOURCE, blocks_of(data, lines), normaliser or Untouched())  # type: ignore[arg-type]


# --- the hit ---------------------------------------------------------------------------------------------------------


def test_hit_tells_line_offset_text_and_captures() -> None:
    (hit,) = scan(
        pack_of(r"lost rank (?P<rank>\d+)"), b"one\ntwo\n12:00:07 rank3: lost rank 5\n", normaliser=Stamped()
    ).hits
    record = hit.record
    assert (record.line, record.end_line, record.offset) == (3, 3, 8)
    assert (record.raw, record.text) == ("12:00:07 rank3: lost rank 5", "lost rank 5")
    assert (record.identity.rank, record.stamp and record.stamp.time.second) == (3, 7)
    assert (hit.start, hit.end, hit.captures) == (0, 11, {"rank": "5"})


def test_anchored_pattern_matches_the_peeled_line() -> None:
    assert places(scan(pack_of("^zygotes$"), b"12:00:01 zygotes\nx zygotes\n", normaliser=Stamped())) == [(1, 0)]


def test_pattern_on_the_wrapper_matches_the_raw_line() -> None:
    (hit,) = scan(pack_of("rank3: zygotes"), b"12:00:01 rank3: zygotes\n", normaliser=Stamped()).hits
    assert hit.record.text == hit.record.raw
    assert hit.record.text[hit.start : hit.end] == "rank3: zygotes"


def test_one_hit_per_pattern_and_line_in_record_order() -> None:
    pack = pack_of("zygotes", "gone", r"zygotes\W+gone")
    assert places(scan(pack, b"zygotes zygotes gone\nno\ngone zygotes")) == [(1, 0), (1, 1), (1, 2), (3, 0), (3, 1)]


def test_last_line_needs_no_line_feed() -> None:
    assert places(scan(pack_of("zygotes$"), b"a\nzygotes")) == [(2, 0)]


def test_carriage_return_is_no_part_of_a_line() -> None:
    (hit,) = scan(pack_of("zygotes$"), b"a zygotes\r\n").hits
    assert hit.record.raw == "a zygotes"


def test_empty_source_has_no_hits() -> None:
    assert scan(pack_of("zygotes"), b"").hits == ()


@pytest.mark.parametrize("data", [b"\0\0zygotes\0", b"\xff\xfezygotes\xff", "é内存不足 zygotes".encode()])
def test_odd_bytes_do_not_matter(data: bytes) -> None:
    assert places(scan(pack_of("zygotes"), data)) == [(1, 0)]


def test_characters_beyond_ascii_are_found_exactly() -> None:
    data = "12:00:01 内存不足\nÜBERLAUF\nÜberlauf\n".encode()
    assert places(scan(pack_of("内存不足", "Überlauf", "überlauf"), data)) == [(1, 0), (2, 1), (3, 1)]


def test_line_map_gives_lines_and_offsets() -> None:
    block = Block(b"a\nzygotes\nb\nzygotes\n", 1, 0, LineMap((3, 4, 9, 12), (20, 30, 90, 120)), last=True)
    result = Scanner(pack_of("zygotes")).scan(SOURCE, [block], Untouched())
    assert [(hit.record.line, hit.record.offset) for hit in result.hits] == [(4, 30), (12, 120)]


@given(st.integers(1, 40), st.integers(30, 300))
def test_lines_are_numbered_on_from_where_the_reader_has_counted(stride: int, size: int) -> None:
    data = b"".join(b"zygotes\nhorses\n" if number % 3 == 0 else b"x" * (number % 7) + b"\n" for number in range(90))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "FEEDS_STRIDE", stride)
        pack = pack_of("zygotes", pattern(r"horses\n[^\n]*\n[^\n]*\nzygotes", lines=4))
        result = Scanner(pack).scan(SOURCE, read_blocks(io.BytesIO(data), size), Untouched())
    lines = data.split(b"\n")
    assert [hit.record.line for hit in result.hits if hit.pattern == 0] == [
        number for number, line in enumerate(lines, 1) if line == b"zygotes"
    ]
    assert [hit.record.line for hit in result.hits if hit.pattern == 1] == [
        number for number, line in enumerate(lines, 1) if line == b"horses" and number < len(lines) - 3
    ]


def test_only_the_patterns_asked_for() -> None:
    pack = pack_of("zygotes", "gone")
    assert places(scan(pack, b"zygotes gone", only=frozenset({1}))) == [(1, 1)]


class Rewriting:
    """A normaliser that does more than take off what stands before."""

    def peel(self, raw: str, line: int) -> Peeled:
        return Peeled(raw.replace("slurmstepd[12]:", "slurmstepd:").replace("<std>", "").replace("&lt;", "<"))


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("slurmstepd: zygotes", b"slurmstepd[12]: zygotes"),
        ("zygotes <x", b"<std>zygotes &lt;x"),
        ("^zygotes", b"<std>zygotes"),
    ],
)
def test_lines_that_peeling_rewrites_are_peeled_before_they_are_dismissed(source: str, line: bytes) -> None:
    assert places(scan(pack_of(source), line, normaliser=Rewriting())) == [(1, 0)]


# --- lines in a row --------------------------------------------------------------------------------------------------

FORK = pattern(r"os\.fork\(\)(?:[^\n]*\n){1,3}?[^\n]*OSError\b", lines=4)


@pytest.mark.parametrize("lines", [1, 2, 3, 4, 100])
def test_match_over_lines_is_found_over_the_seams_of_blocks(lines: int) -> None:
    data = b"x\ny\n12:00:01   pid = os.fork()\n  ^^\n12:00:01 OSError: no\nz\n" * 3
    result = scan(pack_of(FORK), data, lines, Stamped())
    assert [(hit.record.line, hit.record.end_line) for hit in result.hits] == [(3, 5), (9, 11), (15, 17)]
    assert result.hits[0].record.text == "  pid = os.fork()\n  ^^\nOSError: no"
    assert result.hits[0].record.raw == "12:00:01   pid = os.fork()\n  ^^\n12:00:01 OSError: no"


def test_match_over_more_lines_than_allowed_is_none() -> None:
    assert scan(pack_of(FORK), b"os.fork()\n1\n2\n3\nOSError\n").hits == ()
    assert len(scan(pack_of(FORK), b"os.fork()\n1\n2\nOSError\n").hits) == 1


def test_match_over_lines_at_the_end_of_the_source() -> None:
    result = scan(pack_of(pattern(r"zygotes\ngone", lines=9)), b"a\nzygotes\ngone", 2)
    assert [(hit.record.line, hit.record.end_line) for hit in result.hits] == [(2, 3)]


def test_source_that_stops_without_a_last_block() -> None:
    def torn() -> Iterator[Block]:
        for block in blocks_of(b"zygotes\ngone\n", 1):
            yield replace(block, last=False)

    pack = pack_of(pattern(r"zygotes\ngone", lines=9))
    assert len(Scanner(pack).scan(SOURCE, torn(), Untouched()).hits) == 1


# --- long lines ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place", [0, 70_000, limits.MATCH_CHARS - 3, limits.MATCH_CHARS - limits.LINE_OVERLAP_BYTES, 299_980]
)
def test_match_anywhere_in_a_long_line(place: int) -> None:
    data = b"first\n" + b"." * place + b"zygotes 7" + b"." * (300_000 - place) + b"\nlast\n"
    for result in (scan(pack_of(r"zygotes (?P<n>\d)"), data), plain(pack_of(r"zygotes (?P<n>\d)"), data)):
        (hit,) = result.hits
        assert (hit.record.line, hit.record.offset) == (2, 6)
        assert hit.record.text[hit.start : hit.end] == "zygotes 7"
        assert len(hit.record.text) <= limits.RECORD_CHARS


@pytest.mark.parametrize("place", [100, limits.LINE_BYTES - 4, 2 * limits.LINE_BYTES - 5_000])
def test_match_in_a_line_that_is_cut(place: int) -> None:
    data = b"first\n" + b"." * place + b"zygotes" + b"." * (2_300_000 - place) + b"\nlast zygotes\n"
    assert places(scan(pack_of("zygotes"), data)) == [(2, 0), (3, 0)]


def test_huge_numbers_of_candidates_stay_in_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CANDIDATES_PER_SCAN", 1_000)
    data = b"a" * 200_000 + b"\n" + b"aaaa b\n" * 5_000 + b"zygotes aaaa\n"
    pack = pack_of("aaaaz", "aaaa", "zygotes")
    assert full(scan(pack, data)) == full(plain(pack, data))


# --- bounds ----------------------------------------------------------------------------------------------------------


def test_pattern_saturates_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HITS_PER_PATTERN", 10)
    pack = pack_of("zygotes", "gone")
    data = b"zygotes\n" * 500 + b"gone zygotes\n"
    result = scan(pack, data, 100)
    assert full(result) == full(plain(pack, data))
    assert (result.counts[0], result.counts[1], result.saturated) == (10, 1, {0})
    (note,) = result.notes
    assert note.code == "saturated"
    assert "test/rule-0" in note.text


def test_counts_go_on_where_a_rule_needs_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HITS_PER_PATTERN", 10)
    monkeypatch.setattr(limits, "IDLE_CANDIDATES", 5)
    pack = pack_of("zygotes", "gone")
    result = scan(pack, b"gone zygotes\n" * 500, 100, count_all=frozenset({0}))
    assert result.counts == {0: 500, 1: 10}
    assert sorted(note.code for note in result.notes) == ["counted-roughly", "saturated"]


def test_saturated_literal_leaves_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HITS_PER_PATTERN", 10)
    monkeypatch.setattr(limits, "IDLE_CANDIDATES", 50)
    asked: list[tuple[frozenset[int], frozenset[bytes]]] = []
    without = prefilter.Prefilter.without
    monkeypatch.setattr(
        prefilter.Prefilter, "without", lambda self, off, avoid: asked.append((off, avoid)) or without(self, off, avoid)
    )
    data = b"zygotes\n" * 500 + b"gone\n"
    assert places(scan(pack_of("zygotes", "gone"), data, 100))[-1] == (501, 1)
    assert asked == [(frozenset({0}), frozenset())]


def test_candidates_in_vain_bring_a_sharper_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "VAIN_COST", 50)
    asked: list[tuple[frozenset[int], frozenset[bytes]]] = []
    without = prefilter.Prefilter.without
    monkeypatch.setattr(
        prefilter.Prefilter, "without", lambda self, off, avoid: asked.append((off, avoid)) or without(self, off, avoid)
    )
    pack = pack_of(r"zygotes\s*\d+ gone", "^other$")
    vain = [b"zygotes here, %d times\n" % each for each in range(500)]
    data = b"".join([*vain, b"zygotes 7 gone\n", *vain, b"zygotes 8 gone\n"])
    for lines in (10, 10**9):
        assert full(scan(pack, data, lines)) == full(plain(pack, data))
    assert asked[0] == (frozenset(), frozenset({b"zygotes"}))


def test_a_line_printed_again_and_again_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    match_line = Matcher.match_line
    monkeypatch.setattr(
        Matcher, "match_line", lambda self, pattern, *rest: tried.append(pattern) or match_line(self, pattern, *rest)
    )
    pack = pack_of(r"zygotes\s*\d+ gone")
    data = b"gone: zygotes here\n" * 5000 + b"zygotes 8 gone\n" * 2
    assert [line for line, _ in places(scan(pack, data))] == [5001, 5002]
    assert len(tried) == 3


def test_a_line_that_nothing_matched_may_begin_a_match_over_lines() -> None:
    pack = pack_of(r"zygotes gone \d", pattern(r"zygotes here\nhorses", lines=2), r"horses \d")
    data = b"zygotes here\n" * 50 + b"horses\n" + b"zygotes here\n" * 3 + b"horses\n"
    assert places(scan(pack, data)) == places(plain(pack, data)) == [(50, 1), (54, 1)]


def test_hits_of_all_patterns_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HITS_PER_SOURCE", 50)
    monkeypatch.setattr(limits, "HITS_PER_PATTERN_WHEN_FULL", 3)
    pack = pack_of("zygotes", "gone")
    result = scan(pack, b"zygotes\n" * 300 + b"gone\n" * 300)
    assert (result.counts[0], result.counts[1]) == (51, 3)


def test_marks_of_a_platform_saturate_early_and_in_silence() -> None:
    pack = pack_of("zygotes", "gone")
    users = (
        (PatternUse("~platforms", "kubernetes"),),
        (PatternUse("~platforms", "x"), PatternUse("test/rule", "line")),
    )
    result = scan(replace(pack, users=users), b"zygotes gone\n" * 900)
    assert result.counts == {0: limits.PRESENCE_HITS, 1: 900}
    assert result.saturated == {0}
    assert result.notes == ()


def test_catastrophic_pattern_is_given_up_and_the_rest_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CONFIRM_TIMEOUT_S", 0.02)
    monkeypatch.setattr(limits, "TIMEOUTS_PER_PATTERN", 3)
    data = b"".join(b"zygotes " + b"a" * (60 + each % 9) + b"b\n" for each in range(100)) + b"gone\n"
    begin = time.monotonic()
    result = scan(pack_of(r"zygotes (?:a|aa)+$", "gone"), data)
    assert time.monotonic() - begin < 5
    assert places(result) == [(101, 1)]
    (note,) = result.notes
    assert note.code == "pattern-timeout"
    assert "3 lines, first on line 1" in note.text


def test_patterns_without_a_literal_are_found_and_named() -> None:
    pack = pack_of(r"^\w\d$", pattern(r"^\d\w$", slow="short"))
    result = scan(pack, b"a1\n\n1a\nxyz\n")
    assert places(result) == [(1, 0), (3, 1)]
    assert [note.code for note in result.notes] == ["slow-pattern"]
    assert "rule-0" in result.notes[0].text and "rule-1" not in result.notes[0].text


# --- threads and joins -----------------------------------------------------------------------------------------------


def test_threads_share_a_pack() -> None:
    pack = pack_of(*(f"zygotes{number} (?P<what>\\w+)" for number in range(40)))
    data = b"".join(b"nothing %d\nzygotes%d gone\n" % (number, number % 40) for number in range(2_000))
    expected = scan(pack, data)
    found: list[ScanResult] = []
    threads = [threading.Thread(target=lambda: found.append(scan(pack, data, 300))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.hits for result in found] == [expected.hits] * 8


def test_merged_passes_hold_each_hit_once() -> None:
    pack = pack_of("zygotes", "gone for good")
    one = scan(pack, b"zygotes gone\nfor good\n")
    other = scan(pack, b"zygotes gone for good\n")
    merged = merge_hits(one, other)
    assert places(merged) == [(1, 0), (1, 1)]
    assert merged.counts == {0: 1, 1: 1}


def test_hit_on_a_later_line_of_a_joined_record_counts_once() -> None:
    pack = pack_of("zygotes", "gone for good")
    one = scan(pack, b"the first one\nzygotes gone\nfor good\nanother one\nzygotes\n")
    other = scan(pack, b"the first one zygotes gone for good\n")
    merged = merge_hits(one, other, {1: 3}.get)  # type: ignore[arg-type] # only line 1 is asked for
    assert places(merged) == [(1, 1), (2, 0), (5, 0)]
    assert merged.counts == {0: 2, 1: 1}


def test_reading_ahead_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("troubleshoot.scan.ahead.WORTH_BYTES", 1)
    pack = pack_of("zygotes", FORK)
    data = b"os.fork()\nOSError zygotes\n" * 200
    assert scan(pack, data, 7) == scan(pack, data, 7, ahead=False)


# --- equal to the plain matcher --------------------------------------------------------------------------------------

LINES = ["", "x", "12:00:01 ", "12:00:02 rank3: ", "\r", "NCCL INFO loss", "é", "try setting ", "a" * 90]


@st.composite
def cases(draw: st.DrawFn) -> tuple[RulePack, bytes]:
    chosen: list[Piece] = draw(st.lists(pieces(), min_size=1, max_size=4))
    patterns = []
    for number, piece in enumerate(chosen):
        height = draw(st.sampled_from([1, 1, 1, 2, 3, limits.SPAN_LINES]))
        source = piece.regex
        if height > 1:
            source += draw(st.sampled_from(["", r"\n", r"\s*", r"[^\n]*\n+"])) + draw(st.sampled_from(chosen)).regex
            source = regex.sub(r"\(\?P<n\d>", "(?:", source)
        made = pattern(source, number, lines=height, exact_case=draw(st.booleans()), slow="for the test")
        patterns.append(made)
    texts = st.one_of(*(piece.texts for piece in chosen), st.sampled_from(LINES))
    lines = draw(st.lists(st.lists(texts, max_size=3).map("".join), max_size=14))
    data = "\n".join(lines).encode() + draw(st.sampled_from([b"", b"\n", b"\xff\n"]))
    return pack_of(*patterns), data


def compiling(case: tuple[RulePack, bytes]) -> tuple[RulePack, bytes]:
    """Return the case, unless one of its patterns is not a pattern."""
    for each in case[0].patterns:
        try:
            compile_pattern(each)
        except regex.error:
            assume(False)
    return case


@settings(max_examples=120, deadline=None)
@given(cases(), st.sampled_from([1, 2, 3, 7, 10**9]), st.sampled_from([Untouched(), Stamped()]))
def test_fast_equals_plain(case: tuple[RulePack, bytes], lines: int, normaliser: object) -> None:
    pack, data = compiling(case)
    assert full(scan(pack, data, lines, normaliser)) == full(plain(pack, data, 10**9, normaliser))


@settings(max_examples=40, deadline=None)
@given(cases(), st.sampled_from([1, 3, 10**9]))
def test_fast_equals_plain_under_pressure(case: tuple[RulePack, bytes], lines: int) -> None:
    """The same with every bound so low that databases change all the time."""
    pack, data = compiling(case)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "HITS_PER_PATTERN": 2,
            "VAIN_COST": 1,
            "IDLE_CANDIDATES": 1,
            "FIRST_SCAN_BYTES": 8,
            "CANDIDATES_PER_SCAN": 5,
        }.items():
            patch.setattr(limits, name, value)
        assert full(scan(pack, data * 3, lines)) == full(plain(pack, data * 3))


@settings(max_examples=40, deadline=None)
@given(cases())
def test_fallback_equals_plain(case: tuple[RulePack, bytes]) -> None:
    pack, data = compiling(case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prefilter, "hyperscan", None)
        planner._made_choices.cache_clear()
        assert full(scan(pack, data)) == full(plain(pack, data))
    planner._made_choices.cache_clear()


def test_text_signatures_equal_plain_on_a_generated_log() -> None:
    pack = pack_of(
        text_pattern("Cannot allocate memory"),
        text_pattern("NCCL WARN"),
        text_pattern("version 'GLIBC_{needed:version}' not found"),
        text_pattern("NET/AWS Libfabric/"),
        r"via NET/(?:AWS Libfabric|OFI)/\d+(?!\S*/GDRDMA)",
        FORK,
    )
    lines = []
    for number in range(3_000):
        lines.append(
            f"12:00:{number % 60:02d} rank{number % 8}: NCCL INFO Channel via NET/AWS Libfabric/{number % 4}/GDRDMA"
        )
        if number % 97 == 0:
            lines += [
                "NCCL  WARN x",
                "OSError: Ne peut allouer de la m\u00e9moire",
                "version \u2018GLIBC_2.34\u2019 not  found",
            ]
        if number % 131 == 0:
            lines += ["  os.fork()", "OSError: [Errno 12]", "via NET/OFI/3", "via NET/AWS Libfabric/12\r"]
    data = "\n".join(lines).encode()
    expected = full(plain(pack, data, normaliser=Stamped()))
    for size in (1, 50, 10**9):
        assert full(scan(pack, data, size, Stamped())) == expected


def test_next_source_begins_with_what_the_last_one_taught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "VAIN_COST", 50)
    scanner = Scanner(pack_of(r"zygotes\s*\d+ gone"))
    data = b"".join(b"zygotes here %d\n" % number for number in range(500)) + b"zygotes 7 gone\n"
    first = scanner.scan(SOURCE, blocks_of(data), Untouched())
    assert scanner.avoid == {b"zygotes"}
    assert full(scanner.scan(SOURCE, blocks_of(data), Untouched())) == full(first)
