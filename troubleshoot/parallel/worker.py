"""Scans one partition: what runs in another process, or on another machine.

In: a `Partition`. Out: a `PieceResult` per piece, all plain values that can be sent. A worker holds the pack's compiled
patterns and one scanner for all that it is given.

A range gives the hits on its own lines, numbered from 1 at its start; what it was part of is for merge.py to know.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from troubleshoot import limits
from troubleshoot.database_cache import PackStore
from troubleshoot.engine import last_progress, scan_source
from troubleshoot.ingest.ranges import Range
from troubleshoot.ingest.sources import OpenSource, open_file
from troubleshoot.ingest.streams import Purse
from troubleshoot.job.progress import Tail
from troubleshoot.model import Note, RulePack, ScanResult
from troubleshoot.parallel.partitions import Partition, Piece
from troubleshoot.parallel.sending import VALUES, send_quickly
from troubleshoot.scan.scanner import Scanner
from troubleshoot.watching import Stop, never, until


class State(enum.Enum):
    """What became of a piece."""

    WHOLE = "whole"  # the file was read whole, whatever range was asked for
    RANGE = "range"
    ELSEWHERE = "elsewhere"  # the file cannot be cut; who has its first range reads it whole
    TORN = "torn"  # cutting it there changes what is found: to be read again as a whole
    LOST = "lost"  # the process that read it died


@dataclass(frozen=True, slots=True)
class PieceResult:
    """What a piece gave. `lines` and `bytes` are those of its own lines; `is_short`: reading was stopped within it."""

    piece: Piece
    state: State
    results: tuple[ScanResult, ...] = ()
    lines: int = 0
    bytes: int = 0
    is_short: bool = False
    notes: tuple[Note, ...] = ()  # of a range: what stands before the notes of its hits


send_quickly((*VALUES, Piece, Partition, PieceResult))


def with_notes(result: PieceResult, notes: tuple[Note, ...]) -> PieceResult:
    """Return the result with more notes, on its first source."""
    if not notes or result.state is not State.WHOLE or not result.results:
        return replace(result, notes=(*notes, *result.notes))
    first = result.results[0]
    return replace(result, results=(replace(first, notes=(*notes, *first.notes)), *result.results[1:]))


class Worker:
    """Scans partitions with one pack, one after another."""

    def __init__(self, pack: RulePack, *, ahead: bool = False) -> None:
        self._scanner = Scanner(pack, store=PackStore(pack), ahead=ahead)
        self.purse: Purse | None = None  # of all workers together; each file has its own where there is none

    def scan_partition(self, partition: Partition, stop: Stop = never) -> tuple[PieceResult, ...]:
        """Return what the pieces gave, in order; fewer when told to stop."""
        found: list[PieceResult] = []
        for piece in partition.pieces:
            if stop():
                break
            found.append(self._scan_piece(piece, stop))
        return tuple(found)

    def learn(self, piece: Piece, stop: Stop = never) -> PieceResult | None:
        """Return what the range gave, or None where the file cannot be cut. The worker knows then what is noisy there,
        and so do the processes that are forked from this one."""
        opened = next(open_file(Path(piece.path)), None)
        part = Range(piece.begin, piece.end or piece.size, piece.size)
        if opened is None or not opened.narrow(part):
            return None
        learned = self._scan_range(piece, opened, part, stop)
        self._scanner.expect(frozenset().union(*(result.saturated for result in learned.results)))
        return learned

    def _scan_piece(self, piece: Piece, stop: Stop) -> PieceResult:
        if piece.end is None:
            return self._scan_whole(piece, open_file(Path(piece.path), self.purse), stop)
        sources = open_file(Path(piece.path), self.purse)
        opened = next(sources)
        part = Range(piece.begin, piece.end, piece.size)
        if opened.narrow(part):
            return self._scan_range(piece, opened, part, stop)
        if piece.begin > 0:
            return PieceResult(piece, State.ELSEWHERE)
        return self._scan_whole(piece, _rest(opened, sources), stop)

    def _scan_whole(self, piece: Piece, sources: Iterator[OpenSource], stop: Stop) -> PieceResult:
        results: list[ScanResult] = []
        for opened in sources:
            results.append(scan_source(self._scanner, opened, stop, most=piece.most, period=piece.period))
            if stop():
                break
        return PieceResult(piece, State.WHOLE, tuple(results), bytes=piece.size, is_short=stop())

    def _scan_range(self, piece: Piece, opened: OpenSource, part: Range, stop: Stop) -> PieceResult:
        is_end = part.end >= part.size
        tail = Tail()
        blocks = until(opened.blocks(limits.BLOCK_BYTES), stop)
        watched = tail.watch(blocks) if is_end else blocks
        result = self._scanner.scan(opened.source, watched, opened.normaliser, piece.closed, piece.most, piece.period)
        if stop():
            return PieceResult(piece, State.RANGE, is_short=True)
        if part.is_torn:
            return PieceResult(piece, State.TORN)
        own = replace(
            result,
            hits=tuple(hit for hit in result.hits if hit.record.line <= part.lines),
            overran=tuple(each for each in result.overran if each[0] <= part.lines),
            info=opened.info(),
            progress=last_progress(tail, opened, part.size) if is_end else (),
        )
        return PieceResult(piece, State.RANGE, (own,), part.lines, part.own_bytes, notes=opened.notes())


def _rest(first: OpenSource, others: Iterator[OpenSource]) -> Iterator[OpenSource]:
    yield first
    yield from others
