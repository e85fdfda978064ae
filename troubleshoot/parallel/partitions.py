"""Cuts work into partitions that are worth a trip to another process.

In: paths. Out: `Partition`s: a range of a large file, one file of middling size, or a bundle of many small ones. Files
are listed and not opened here: what a file is, and whether it can be cut at all, the worker finds out on reading.

    a.log 300 MiB, b.log 9 kB, c.log 5 kB   ->   [a 0-100] [a 100-200] [a 200-300] [b c]

Archives and what needs repairs over lines are whole: the worker that has the range at 0 reads them, the others of the
same file say that it was not theirs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from troubleshoot import limits
from troubleshoot.ingest.sources import OpenSource, find_files, open_file
from troubleshoot.model import Period, ScanResult

SHARES = 4  # ranges per worker of all bytes: more make the end more even, and each costs 20 ms
MIN_RANGE_BYTES = 32 * 1024 * 1024  # 20 ms of scanning: a hundred times what a trip costs
MAX_RANGE_BYTES = 256 * 1024 * 1024  # what an interrupt or a worker's death loses
BUNDLE_BYTES = 8 * 1024 * 1024
BUNDLE_FILES = 64
MANY_BYTES = 64 * 1024 * 1024  # from here on more than one process pays for its start
MANY_FILES = 200

LEARN_BYTES = 8 * 1024 * 1024  # of a large file, in which its noisy patterns saturate

ScanHere = Callable[[OpenSource], ScanResult]


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes from `begin` to `end` of the file that is number `index`. A piece with `end` None is the whole file,
    whatever is in it."""

    index: int
    path: str
    size: int
    begin: int = 0
    end: int | None = None
    most: int = 0  # hits to keep per pattern and source; 0: the usual
    closed: frozenset[int] = frozenset()  # ids of patterns that ranges before this one have saturated
    period: Period | None = None  # hits of another time do not count

    @property
    def bytes(self) -> int:
        return self.size if self.end is None else self.end - self.begin


@dataclass(frozen=True, slots=True)
class Partition:
    """What one worker does in one go."""

    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """What paths name, in order: files with their sizes, by number, and results of what only this process can read."""

    files: tuple[Piece, ...]
    here: tuple[tuple[int, ScanResult], ...] = ()  # number it stands before, result

    @property
    def bytes(self) -> int:
        return sum(each.size for each in self.files)

    def in_order(self, of_file: Callable[[Piece], Iterable[ScanResult]]) -> Iterator[Iterable[ScanResult]]:
        """Yield the results of each file, as `of_file` gives them, and between them those that are here."""
        here = list(self.here)
        for file in self.files:
            while here and here[0][0] <= file.index:
                yield (here.pop(0)[1],)
            yield of_file(file)
        yield from ((result,) for _, result in here)


def list_files(
    paths: Sequence[str | Path], scan_here: ScanHere, *, stdin: BinaryIO | None = None, period: Period | None = None
) -> Listing:
    """Return what the paths name. Standard input and pipes are scanned at once, for no other process can.
    Raises SourceError for a path that names nothing."""
    files: list[Piece] = []
    here: list[tuple[int, ScanResult]] = []
    for found in find_files(paths, stdin=stdin):
        if isinstance(found, OpenSource):
            here.append((len(files), scan_here(found)))
            continue
        size = _size_of(found)
        if size is None:
            here += [(len(files), scan_here(opened)) for opened in open_file(found)]
        else:
            files.append(Piece(len(files), os.fspath(found), size, period=period))
    most = max(limits.LEAST_HITS_PER_PATTERN, limits.HITS_PER_PATTERN_IN_JOB // max(len(files), 1))
    if most < limits.HITS_PER_PATTERN:
        files = [replace(file, most=most) for file in files]
    return Listing(tuple(files), tuple(here))


def _size_of(path: Path) -> int | None:
    """Return the size of a regular file, 0 if it is gone; None for what is no file."""
    try:
        status = path.stat()
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def default_workers(listing: Listing) -> int:
    """Return how many processes the files are worth."""
    if listing.bytes < MANY_BYTES and len(listing.files) <= MANY_FILES:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def most_workers(listing: Listing) -> int:
    """Return how many processes can have something to do: whoever asks for a thousand gets no thousand idle ones."""
    return max(1, len(listing.files) + listing.bytes // MIN_RANGE_BYTES)


def partition(files: Sequence[Piece], workers: int, *, range_bytes: int | None = None) -> list[Partition]:
    """Return the partitions: first those at the beginning of files, for what they saturate need not be looked for
    later in the same file. `range_bytes`: the size of ranges, instead of what fits."""
    return sorted(_partitions(files, workers, range_bytes), key=lambda each: each.pieces[0].begin)


def _partitions(files: Sequence[Piece], workers: int, range_bytes: int | None) -> Iterator[Partition]:
    if range_bytes is None:
        share = sum(each.size for each in files) // (max(workers, 1) * SHARES)
        range_bytes = min(max(share, MIN_RANGE_BYTES), MAX_RANGE_BYTES)
    bundle: list[Piece] = []
    filled = 0
    most = min(BUNDLE_FILES, len(files) // (max(workers, 1) * SHARES) + 1)
    for each in files:
        if each.size >= 2 * range_bytes:
            yield from (Partition((piece,)) for piece in cut(each, even_places(each.size, range_bytes)))
            continue
        bundle.append(each)
        filled += each.size
        if filled >= BUNDLE_BYTES or len(bundle) >= most:
            yield Partition(tuple(bundle))
            bundle, filled = [], 0
    if bundle:
        yield Partition(tuple(bundle))


def split_beginning(partitions: Sequence[Partition]) -> tuple[Piece | None, list[Partition]]:
    """Return the beginning of the first large file, and the partitions without it; None where no file is large."""
    for i, each in enumerate(partitions):
        piece = each.pieces[0]
        if piece.end is not None and piece.begin == 0 and piece.end > 2 * LEARN_BYTES:
            rest = Partition((replace(piece, begin=LEARN_BYTES),))
            return replace(piece, end=LEARN_BYTES), [*partitions[:i], rest, *partitions[i + 1 :]]
    return None, list(partitions)


def even_places(size: int, range_bytes: int) -> list[int]:
    """Return where to cut a file into equal ranges of about `range_bytes`."""
    count = max(1, size // range_bytes)
    return [size * i // count for i in range(1, count)]


def cut(file: Piece, places: Sequence[int]) -> Iterator[Piece]:
    """Yield the ranges of a file cut at the places, in order. The last one is never so short that the last steps of
    its ranks could stand before it."""
    last = file.size - limits.TAIL_BYTES - limits.LINE_BYTES
    bounds = [0, *sorted({place for place in places if 0 < place <= last}), file.size]
    if len(bounds) == 2:
        yield file
        return
    for begin, end in pairwise(bounds):
        yield replace(file, begin=begin, end=end)
