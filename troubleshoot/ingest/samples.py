"""Takes a sample of a large source: some lines of its head, middle and tail.

In: the first bytes of a source, and if it can be sought in, a way to read anywhere in it. Out: pieces of whole lines,
and from those the lines that its wrappers are judged by, most from where a log says what it is and how it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from troubleshoot import limits
from troubleshoot.ingest.blocks import read_blocks
from troubleshoot.ingest.streams import in_memory
from troubleshoot.normalise import Look, Mender, is_wide

SAMPLE_BYTES = 32 * 1024  # from each of head, middle and tail
LINE_BYTES = 4096  # of a line
Peek = Callable[[int, int], bytes]


def take_pieces(head: bytes, encoding: str, size: int, peek: Peek | None, each: int = SAMPLE_BYTES) -> list[bytes]:
    """Return whole lines from head, middle and tail, in UTF-8; from head and its end without `peek`."""
    pieces = [head[:each]]
    if peek is not None and size > 4 * each:
        pieces += [peek(size // 8 * 4, each), peek((size - each) // 4 * 4, each)]
    else:
        pieces.append(head[-each // 4 * 4 :])
    if is_wide(encoding):
        pieces = [piece.decode(encoding, "replace").encode("utf-8", "replace") for piece in pieces]
    return [_whole_lines(piece, first=i == 0) for i, piece in enumerate(pieces)]


def mend_pieces(pieces: Sequence[bytes], look: Look) -> list[bytes]:
    """Return the pieces with the repairs made that their source gets."""
    look = Look(names=look.names, json=look.json, traits=look.traits)  # they are in UTF-8 already
    return [b"".join(bytes(b.data) for b in Mender(look).mend(read_blocks(in_memory(piece)))) for piece in pieces]


def choose_lines(pieces: Sequence[bytes], *, sampled: bool, most: int = limits.PROBE_LINES) -> tuple[list[str], bool]:
    """Return up to `most` lines, and whether they are only some of the source."""
    share = most // max(1, len(pieces))
    lines: list[str] = []
    for piece in pieces:
        rows = [row for row in piece.split(b"\n") if row.strip()]
        if len(rows) > share:
            sampled, rows = True, _spread(rows, share)
        lines += [row[:LINE_BYTES].decode("utf-8", "replace").removesuffix("\r") for row in rows]
    return lines, sampled


def _spread(rows: list[bytes], count: int) -> list[bytes]:
    """Return `count` rows: two fifths each from head and tail, the others from the middle."""
    ends, middle = count * 2 // 5, len(rows) // 2
    inner = count - 2 * ends
    return [*rows[:ends], *rows[middle - inner // 2 : middle - inner // 2 + inner], *rows[-ends:]]


def _whole_lines(piece: bytes, *, first: bool) -> bytes:
    """Cut a piece of a text at line ends; the first piece begins where a line does. A piece of one line stays."""
    if piece.count(b"\n") < 2:
        return piece
    begin = 0 if first else piece.find(b"\n") + 1
    return piece[begin : piece.rfind(b"\n") + 1]
