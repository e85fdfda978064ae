from __future__ import annotations

import re

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from scan_samples import Piece, pattern, pieces, text_pattern

from troubleshoot.scan.confirm import compile_pattern
from troubleshoot.scan.fallback import FallbackSearch
from troubleshoot.scan.fragment import Fragment, fragment_of
from troubleshoot.scan.plan import Entry
from troubleshoot.scan.prefilter import _compile

CASES = [
    # pattern, texts it must find, texts it should not
    (r"NCCL\s+WARN", ["NCCL WARN", "nccl \t warn", "NCCL      WARN"], ["NCCL INFO warn"]),
    (r"zygotes$", ["zygotes", "zygotes\r", "zygotes</stderr>"], ["zygotes by nobody"]),
    (r"via NET/OFI/\d+(?!\S*/GDRDMA)(?![\d(])", ["via NET/OFI/1", "via NET/OFI/12/Shared"], ["via NET/OFI/12/GDRDMA"]),
    (
        r"via NET/(?:AWS Libfabric|OFI)/\d+(?:\(\d+\))?(?!\S*/GDRDMA)(?![\d(])",
        ["via NET/OFI/1(2)"],
        ["via NET/OFI/1/GDRDMA"],
    ),
    (r"Xids 7(?!\d)", ["Xids 7", "Xids 7,", "Xids 7<"], ["Xids 79"]),
    (r"zygote(?!s\b)\d", ["zygote7"], ["zygotes"]),
    (r"zygotes 'b' <c>", ["zygotes 'b' <c>", "zygotes &#39;b&apos; &lt;c&gt;"], ["zygotes b c"]),
    (r"zygotes: oom", ["zygotes: oom", "zygotes[12]: oom"], ["zygotes oom"]),
    (r"zygotes.ü", ["zygotesxü", "zygotes\N{SNOWMAN}ü"], ["zygotesxy"]),
    (r"(?:zygotes|zebras)(?: in| out)* 7", ["zygotes 7", "ZEBRAS OUT 7"], ["zygotes on 7"]),
    (r"zygotes\d+ x|zebras", ["zygotes12345678 x", "zebras"], ["zygotes x"]),
    (r"zygotes 'b'$", ["zygotes 'b'", 'zygotes \\"b\\""}]', "zygotes 'b'\""], ["zygotes 'b' c"]),
    (r"zygotes\s*[:=]\s*nan", ["zygotes=nan", "zygotes : nan", "zygotes          = nan"], ["zygotes: 7"]),
    (r"zygote{3,400}x", ["zygoteeex", "zygote" + "e" * 30 + "x"], ["zygotex"]),
]


def search(fragment: Fragment, data: bytes) -> bool:
    entry = Entry(fragment.expression, (0,))
    found: list[int] = []
    _compile((entry,)).scan(data, lambda *match: found.append(match[2]))
    in_fallback = {end for _, end in FallbackSearch((entry,)).matches(data)}  # of those that begin alike, one
    assert in_fallback <= set(found)
    assert bool(found) == bool(in_fallback)
    return bool(found)


@pytest.mark.parametrize(("source", "held", "foreign"), CASES, ids=[case[0] for case in CASES])
def test_fragment_finds_and_leaves(source: str, held: list[str], foreign: list[str]) -> None:
    fragment = fragment_of(pattern(source))
    assert fragment is not None
    assert [text for text in held if not search(fragment, b"[11:00] " + text.encode() + b"\nnext\n")] == []
    assert [text for text in foreign if search(fragment, b"[11:00] " + text.encode() + b"\nnext\n")] == []


@pytest.mark.parametrize(
    "source", [r".*", r"\w* zygotes", r"zygotes.*oom", r"(a|b|)", r"(?!x)", r"\1", "zygotes|zebras"]
)
def test_nothing_telling_has_no_fragment(source: str) -> None:
    assert fragment_of(pattern(source)) is None


def test_look_ahead_in_mixed_case_is_left_alone() -> None:
    assert fragment_of(pattern(r"zygotes(?!X)")) is not None
    assert fragment_of(pattern(r"zygotes(?!X)", exact_case=True)) is None
    assert fragment_of(pattern(r"zygotes(?!(?-i:X)y)")) is None


def test_text_with_all_its_quotes_is_bounded() -> None:
    fragment = fragment_of(text_pattern("version 'GLIBC_{needed:version}' not found (required by {library:path})"))
    assert fragment is None or len(fragment.expression) <= 1_500


@settings(max_examples=400, deadline=None)
@given(
    pieces().flatmap(lambda piece: st.tuples(st.just(piece), piece.texts)),
    st.sampled_from(["", "x ", "é: ", "9", "y" * 50]),
    st.sampled_from(["", " y", "\N{SNOWMAN}", "9", "/GDR"]),
)
def test_fragment_is_found_wherever_the_pattern_matches(case: tuple[Piece, str], before: str, after: str) -> None:
    piece, text = case
    one = pattern(piece.regex)
    fragment = fragment_of(one)
    try:
        compiled = compile_pattern(one)
    except regex.error:
        return
    line = re.sub(r"[\n\r]", " ", before + text + after)
    if fragment is not None and compiled.search(line, timeout=2) is not None:
        for end in (b"\n", b"\r\n", b"\nmore\n"):
            assert search(fragment, b"12:00:01 " + line.encode() + end)
