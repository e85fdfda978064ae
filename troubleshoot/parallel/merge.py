"""Puts the results of partitions together into those of a serial scan.

In: `PieceResult`s, in any order. Out: one `ScanResult` per source, in the order of the files. The ranges of a file are
joined when all are there:

    lines    a range counts from 1; the lines of all ranges before it are added
    hits     are counted once more in the order of the file, so that the caps keep the ones a serial scan keeps. A range
             alone keeps at least those: where it is full, the whole file is
    notes    of caps and time budgets are made anew from the whole
    the look encoding, wrappers and identity are every range's own copy of the same sample

A range that is torn has its file read again, whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from troubleshoot import limits
from troubleshoot.model import Hit, Note, Progress, RulePack, ScanResult, Source, SourceInfo
from troubleshoot.parallel.partitions import Listing, Partition, Piece
from troubleshoot.parallel.worker import PieceResult, State
from troubleshoot.scan.enough import Enough
from troubleshoot.scan.tally import Tally

PER_SOURCE = ("saturated", "counted-roughly", "pattern-timeout")  # notes that the whole source's tally makes


class Gathering:
    """Collects what the pieces of a listing gave."""

    def __init__(self, pack: RulePack, listing: Listing, pieces: Sequence[Piece]) -> None:
        self._enough = Enough(pack)
        self._listing = listing
        self._waiting: dict[int, dict[int, PieceResult]] = {}
        self._expected: dict[int, int] = {}
        for piece in pieces:
            self._expected[piece.index] = self._expected.get(piece.index, 0) + 1
        self._done: dict[int, tuple[ScanResult, ...]] = {}
        self._again: set[int] = set()

    def take(self, result: PieceResult) -> tuple[list[ScanResult], list[Partition]]:
        """Take a piece's result. Return the results of its file if they are complete, and what must be read again."""
        index = result.piece.index
        if result.state is State.TORN:
            if index in self._again:
                return [], []
            self._again.add(index)
            self._waiting.pop(index, None)
            return [], [Partition((replace(result.piece, begin=0, end=None, closed=frozenset()),))]
        if index in self._done or (index in self._again and result.piece.end is not None):
            return [], []
        if result.state is State.LOST:
            return self._finish(index, (lost_result(result),)), []
        if result.state is State.WHOLE:
            return self._finish(index, result.results), []
        there = self._waiting.setdefault(index, {})
        there[result.piece.begin] = result
        if len(there) < self._expected[index] or any(each.state is State.ELSEWHERE for each in there.values()):
            return [], []
        return self._finish(index, self._joined(there)), []

    def prepared(self, partition: Partition) -> Partition:
        """Return the partition with what is known by now to be saturated before its ranges begin."""
        if all(piece.end is None or piece.begin == 0 for piece in partition.pieces):
            return partition
        return Partition(tuple(replace(piece, closed=self._closed_before(piece)) for piece in partition.pieces))

    def is_early(self, partition: Partition) -> bool:
        """Tell whether the beginning of the partition's file is not known yet, and so what need not be looked for."""
        piece = partition.pieces[0]
        return piece.begin > 0 and 0 not in self._waiting.get(piece.index, {})

    def _closed_before(self, piece: Piece) -> frozenset[int]:
        """Return the patterns with so many hits in the ranges before that none of this one's would be kept."""
        counts: Counter[int] = Counter()
        for begin, result in self._waiting.get(piece.index, {}).items():
            if begin < piece.begin:
                counts.update(hit.pattern for each in result.results for hit in each.hits)
        return frozenset(
            pattern
            for pattern, count in counts.items()
            if count >= self._enough.hits_of(pattern, piece.most or limits.HITS_PER_PATTERN)
        )

    def _finish(self, index: int, results: tuple[ScanResult, ...]) -> list[ScanResult]:
        self._waiting.pop(index, None)
        self._done[index] = results
        return list(results)

    def _joined(self, there: dict[int, PieceResult]) -> tuple[ScanResult, ...]:
        """Join the ranges that follow one another from the start of the file."""
        parts: list[PieceResult] = []
        end = 0
        for begin in sorted(there):
            part = there[begin]
            if begin != end or part.state is not State.RANGE or part.is_short:
                break
            parts.append(part)
            end = part.piece.end or 0
        return (join_ranges(self._enough, parts),) if parts else ()

    def results(self) -> Iterator[ScanResult]:
        """Yield the results in the order of the files: of a file that was not read to its end, of its beginning."""
        for results in self._listing.in_order(self._of_file):
            yield from results

    def _of_file(self, file: Piece) -> Sequence[ScanResult]:
        return self._done.get(file.index) or self._joined(self._waiting.get(file.index, {}))


def join_ranges(enough: Enough, parts: Sequence[PieceResult]) -> ScanResult:
    """Return the result of a source from those of its ranges, in order."""
    first = parts[0].results[0]
    source = first.source
    tally = Tally(source, enough, parts[0].piece.most)
    base = 0
    progress: tuple[Progress, ...] = ()
    extra: list[Note] = []
    for part in parts:
        result = part.results[0]
        _replay(tally, result, base, source)
        progress = tuple(replace(each, line=each.line + base) for each in result.progress)
        extra += [note for note in result.notes if note.code not in PER_SOURCE]
        base += part.lines
    joined = tally.result(dict.fromkeys(extra))
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return replace(
        joined, notes=(*notes, *joined.notes), info=_info(first.info, parts, base), progress=progress, overran=()
    )


def _replay(tally: Tally, result: ScanResult, base: int, source: Source) -> None:
    """Count a range's hits and overruns as the scan of the whole would have, up to the caps."""
    events: list[tuple[int, int, int, Hit | None]] = [
        (hit.record.line, hit.record.offset, hit.pattern, hit) for hit in result.hits
    ]
    events += [(line, -1, pattern, None) for line, pattern in result.overran]
    for line, _, pattern, hit in sorted(events, key=lambda event: event[:3]):
        if not tally.is_open(pattern):
            continue
        if hit is None:
            tally.overran(pattern, line + base)
        else:
            record = hit.record
            placed = replace(record, source=source, line=record.line + base, end_line=record.end_line + base)
            tally.add(replace(hit, record=placed))


def _info(info: SourceInfo | None, parts: Sequence[PieceResult], lines: int) -> SourceInfo | None:
    return None if info is None else replace(info, bytes=sum(part.bytes for part in parts), lines=lines)


def lost_result(result: PieceResult) -> ScanResult:
    """Return what stands for a source that no process survived."""
    name = result.piece.path
    return ScanResult(Source(name), (), {}, notes=result.notes, info=SourceInfo(name, 0, 0))
