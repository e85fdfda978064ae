"""Reads a part of a large file: the lines that begin in a range of its bytes, and a few more.

In: a range, cut anywhere. Out: blocks of the lines that begin in it, and behind them the next limits.SPAN_LINES - 1
lines, for a pattern over several lines may end in those. Who cuts need not look at the file, and every line belongs to
one range:

    bytes   aaaa\\nbb|bb\\ncc\\ndd|dd\\ne      cut at the two bars
    own     aaaa bbbb | cc dddd | e         lines that begin in each range
    context cc dddd e | e       |           read with them

What cannot be cut without changing what is found shows only on reading, and then the range is `is_torn`: lines too long
for one block, records in pieces, NUL bytes, a file that became shorter. Such a source is read again as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from troubleshoot import limits
from troubleshoot.ingest.blocks import read_blocks
from troubleshoot.ingest.streams import Readable
from troubleshoot.model import Block
from troubleshoot.normalise import Look, is_wide

LOOK_BYTES = 64 * 1024  # in which most lines end
LINE_LOCAL = frozenset({"cri", "stamped", "odd", "lost-escapes"})  # repairs that keep to one line, or tell if not
CONTEXT_LINES = limits.SPAN_LINES - 1

Peek = Callable[[int, int], bytes]


@dataclass(slots=True)
class Range:
    """The bytes from `begin` to `end` of a file that has `size`. Known once it is read: `lines` that begin in it, and
    whether it `is_torn`. Known once the seams are found: its own lines' `first` byte and `own_end`, the `stop` of what
    is read with them, and how many `context_lines` that are."""

    begin: int
    end: int
    size: int
    lines: int = 0
    is_torn: bool = False
    first: int = 0
    own_end: int = 0
    stop: int = 0
    context_lines: int = 0

    @property
    def own_bytes(self) -> int:
        return self.own_end - self.first


def can_be_ranged(look: Look) -> bool:
    """Tell whether the source's repairs keep to lines, so that it may be cut between any two."""
    return look.json is None and look.traits <= LINE_LOCAL and not is_wide(look.encoding)


def find_seams(part: Range, peek: Peek) -> bool:
    """Find where the lines of a range begin and end, or mark it as torn and return False."""
    first, own_end = (_line_start(at, part.size, peek) for at in (part.begin, part.end))
    found = None if first is None or own_end is None else _context(own_end, part.size, peek)
    if first is None or own_end is None or found is None:
        part.is_torn = True
        return False
    part.first, part.own_end = first, own_end
    part.stop, part.context_lines = found if first < own_end else (own_end, 0)
    return True


def _line_start(at: int, size: int, peek: Peek) -> int | None:
    """Return where the first line begins that begins at `at` or later; None if that is too far."""
    if at <= 0 or at >= size:
        return max(0, min(at, size))
    start = at - 1
    while start - at <= limits.LINE_BYTES:
        piece = peek(start, LOOK_BYTES)
        if not piece:
            return None
        found = piece.find(b"\n")
        if found >= 0:
            return min(start + found + 1, size)
        start += len(piece)
        if start >= size:
            return size
    return None


def _context(at: int, size: int, peek: Peek) -> tuple[int, int] | None:
    """Return the end of the next CONTEXT_LINES lines, and how many there are; None if they are too long."""
    lines, end = 0, at
    while end < size and end - at <= limits.LINE_BYTES:
        piece = peek(end, min(LOOK_BYTES, size - end))
        if not piece:
            return None
        found = -1
        while lines < CONTEXT_LINES:
            found = piece.find(b"\n", found + 1)
            if found < 0:
                break
            lines += 1
        if lines == CONTEXT_LINES:
            return end + found + 1, lines
        end += len(piece)
    return (size, lines + (peek(size - 1, 1) != b"\n")) if end >= size > at else (at, 0) if at >= size else None


def read_range(stream: Readable, part: Range, size: int) -> Iterator[Block]:
    """Yield the blocks of a range, from a stream of its bytes, with offsets of the file and lines counted from 1."""
    for block in read_blocks(stream, size):
        part.is_torn = part.is_torn or block.cut
        yield replace(block, offset=block.offset + part.first)
