"""What the tests of the scan share: packs and blocks made by hand, and random patterns with texts that they match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from hypothesis import strategies as st

from troubleshoot import limits
from troubleshoot.model import (
    Block,
    Hit,
    Identity,
    Pattern,
    PatternUse,
    Peeled,
    RulePack,
    ScanResult,
    Source,
    Stamp,
)
from troubleshoot.rulepack.text import regex_from_text

SOURCE = Source("job.log")


def pattern(regex: str, number: int = 0, **options: object) -> Pattern:
    return replace(Pattern(number, "regex", regex, regex), **options)  # type: ignore[arg-type]


def text_pattern(text: str, number: int = 0, **options: object) -> Pattern:
    source, holes = regex_from_text(text)
    return replace(Pattern(number, "text", text, source, holes=tuple(holes)), **options)  # type: ignore[arg-type]


def pack_of(*patterns: str | Pattern) -> RulePack:
    """Return a pack of these patterns, numbered as they come."""
    made = tuple(
        replace(each, id=number) if isinstance(each, Pattern) else pattern(each, number)
        for number, each in enumerate(patterns)
    )
    users = tuple((PatternUse(f"test/rule-{each.id}", "line"),) for each in made)
    return RulePack("test", "1", "", {}, made, users)


class Untouched:
    """A normaliser that finds no wrapper."""

    def peel(self, raw: str, line: int) -> Peeled:
        return Peeled(raw)


class Stamped:
    """A normaliser that takes `12:00:01 rank3: ` off a line."""

    def peel(self, raw: str, line: int) -> Peeled:
        match = re.match(r"12:00:(\d\d) (?:rank(\d): )?", raw)
        if match is None:
            return Peeled(raw)
        stamp = Stamp(datetime(2026, 11, 30, 12, 0, int(match[1]) % 60, tzinfo=UTC))
        return Peeled(raw[match.end() :], stamp, Identity(rank=int(match[2]) if match[2] else None))


def blocks_of(data: bytes, lines: int = 10**9, line_bytes: int = limits.LINE_BYTES) -> Iterator[Block]:
    """Yield blocks of at most `lines` lines; a line longer than `line_bytes` is cut, with the promised overlap."""
    start = 0
    pieces: list[tuple[int, int, int, bool]] = []  # start, end, line, cut
    for number, line in enumerate(data.split(b"\n"), 1):
        end = min(start + len(line) + 1, len(data))
        while end - start > line_bytes:
            pieces.append((start, start + line_bytes, number, True))
            start += line_bytes - limits.LINE_OVERLAP_BYTES
        if end > start:
            pieces.append((start, end, number, False))
        start = end
    group: list[tuple[int, int, int, bool]] = []
    buffer = bytearray()
    for index, piece in enumerate(pieces):
        group.append(piece)
        last = index == len(pieces) - 1
        if len(group) >= lines or piece[3] or last:
            buffer[:] = data[group[0][0] : piece[1]]
            view = memoryview(buffer)
            yield Block(view, group[0][2], group[0][0], last=last, cut=piece[3])
            view.release()
            buffer[:] = b"?" * len(buffer)  # a block is valid until the next one is asked for
            group = []
    if not pieces:
        yield Block(b"", 1, 0, last=True)


def places(result: ScanResult) -> list[tuple[int, int]]:
    """Return (line, pattern) of each hit."""
    return [(hit.record.line, hit.pattern) for hit in result.hits]


def full(result: ScanResult) -> tuple[Sequence[Hit], object, object]:
    """Return what the plain and the fast matcher must agree in."""
    counts = {each: count for each, count in result.counts.items() if each not in result.saturated}
    return result.hits, counts, result.saturated


# --- random patterns -------------------------------------------------------------------------------------------------

Draw = Callable[[st.SearchStrategy[str]], str]


@dataclass(frozen=True)
class Piece:
    """Part of a pattern, and a strategy for texts that this part matches."""

    regex: str
    texts: st.SearchStrategy[str]


WORDS = (
    "NCCL",
    "INFO",
    "loss",
    "libfabric",
    "NET/OFI",
    "cannot",
    "allocate",
    "größe",
    "内存不足",
    "Xid",
    "to",
    "é",
    "79",
)
FIXED = [Piece(re.escape(word), st.just(word) | st.just(word.swapcase() if word.isascii() else word)) for word in WORDS]
FIXED += [Piece(re.escape(char), st.just(char)) for char in (" ", ": ", "[", '"', "(", "=", "<")]
LOOSE = [
    Piece(r"\d", st.sampled_from("0379")),
    Piece(r"[abc]", st.sampled_from("abC")),
    Piece(r"[Nn]", st.sampled_from("nN")),
    Piece(r"[^\s:]", st.sampled_from("xé%")),
    Piece(r"[\u2018-\u201f'\"]", st.sampled_from("'\u2019\u201c")),
    Piece(r"\w", st.sampled_from("a_9")),
    Piece(r".", st.sampled_from("a é")),
    Piece(r"[\t \u00a0\u2003]", st.sampled_from(" \t\u00a0\u2003")),
    Piece(r"\s", st.sampled_from(" \t\x0b")),
    Piece(r"[ ]", st.just(" ")),
]
NOTHING = [
    Piece(r"\b", st.just("")),
    Piece(r"(?!zz)", st.just("")),
    Piece(r"(?<!qq)", st.just("")),
    Piece(r"(?!\S*/GDR)", st.just("")),
    Piece(r"(?!\d|nan)", st.just("")),
    Piece(r"(?#what)", st.just("")),
]


def _sequence(pieces: list[Piece]) -> Piece:
    return Piece("".join(each.regex for each in pieces), st.tuples(*(each.texts for each in pieces)).map("".join))


def _alternatives(pieces: list[Piece]) -> Piece:
    return Piece("(?:" + "|".join(each.regex for each in pieces) + ")", st.one_of(*(each.texts for each in pieces)))


def _repeated(piece: Piece, mark: str, low: int, high: int) -> Piece:
    texts = st.lists(piece.texts, min_size=low, max_size=high).map("".join)
    return Piece(f"(?:{piece.regex}){mark}", texts)


REPEATS = [
    ("?", 0, 1),
    ("*", 0, 3),
    ("+", 1, 3),
    ("{2}", 2, 2),
    ("{1,3}", 1, 3),
    ("+?", 1, 3),
    ("{0,2}", 0, 2),
    ("{9,}", 9, 9),
]


def pieces() -> st.SearchStrategy[Piece]:
    """Return a strategy for parts of patterns."""
    loose = st.sampled_from(LOOSE)
    simple = st.sampled_from(FIXED) | st.sampled_from(FIXED) | loose | st.sampled_from(NOTHING)
    simple |= loose.map(
        lambda piece: Piece(f"{piece.regex}+", st.lists(piece.texts, min_size=1, max_size=3).map("".join))
    )

    def extend(inner: st.SearchStrategy[Piece]) -> st.SearchStrategy[Piece]:
        return (
            st.lists(inner, min_size=1, max_size=5).map(_sequence)
            | st.lists(inner, min_size=2, max_size=3).map(_alternatives)
            | st.tuples(inner, st.sampled_from(REPEATS)).map(lambda pair: _repeated(pair[0], *pair[1]))
            | inner.map(lambda piece: Piece(f"(?P<name>{piece.regex})", piece.texts))
            | inner.map(lambda piece: Piece(f"(?={piece.regex})(?:{piece.regex})", piece.texts))
            | inner.map(lambda piece: Piece(f"(?>{piece.regex})", piece.texts))
            | inner.map(lambda piece: Piece(f"(?i:{piece.regex})", piece.texts))
        )

    def named_once(piece: Piece) -> Piece:
        parts = piece.regex.split("(?P<name>")
        return Piece(parts[0] + "".join(f"(?P<n{index}>{part}" for index, part in enumerate(parts[1:])), piece.texts)

    whole = st.lists(st.recursive(simple, extend, max_leaves=6), min_size=1, max_size=4).map(_sequence).map(named_once)
    return whole | whole.map(lambda piece: Piece(piece.regex + "$", piece.texts))
