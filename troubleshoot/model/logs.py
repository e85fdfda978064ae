"""Logs as read: sources, blocks of text, records, hits, and what a scan of one source gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Identity:
    """Who wrote a source or a record, as far as path and content tell."""

    host: str | None = None
    pod: str | None = None
    container: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    stream: str | None = None  # "stdout" or "stderr"

    def over(self, other: Identity) -> Identity:
        """Return this identity with its gaps filled from `other`."""
        # most lines tell nothing of their own, and most sources nothing of theirs: twice per line and hit
        if other is self or other is NOBODY:
            return self
        if self is NOBODY:
            return other
        return Identity(
            self.host if self.host is not None else other.host,
            self.pod if self.pod is not None else other.pod,
            self.container if self.container is not None else other.container,
            self.rank if self.rank is not None else other.rank,
            self.local_rank if self.local_rank is not None else other.local_rank,
            self.stream if self.stream is not None else other.stream,
        )

    def parts(self) -> tuple[Any, ...]:
        return (self.host, self.pod, self.container, self.rank, self.local_rank, self.stream)


NOBODY = Identity()  # of what tells nothing


@dataclass(frozen=True, slots=True)
class Source:
    """A named stream of bytes: a file, an archive's member, standard input, a request's body."""

    name: str
    kind: str = "file"  # file | member | stdin | text | upload
    identity: Identity = NOBODY


@dataclass(frozen=True, slots=True)
class LineMap:
    """For a block whose bytes were repaired: where its i-th line stood in the source as given.

    Several lines may have come from one (a progress bar's, a JSON record's), one from several (joined pieces: where the
    first stood). The sequences may be computed when first asked, so a block without hits never pays for them.
    `continued`: indexes, rising, of lines that go on in the record of the line before, as far as a repair knows.
    """

    lines: Sequence[int]
    offsets: Sequence[int]
    continued: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive whole lines of a source, ready to scan.

    `data` may be a view of a buffer that is used again: it is valid until the next block is asked for. It ends after a
    line feed unless it is the last block or a line longer than limits.LINE_BYTES was cut (`cut`). Where `line_map` is
    None, `data` is the source's own bytes and its first byte stands at `offset`, on line `first_line`. `feeds` tells
    how many line feeds stand before each multiple of limits.FEEDS_STRIDE; empty where nobody has counted yet.
    """

    data: bytes | memoryview
    first_line: int
    offset: int
    line_map: LineMap | None = None
    last: bool = False
    cut: bool = False
    feeds: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Stamp:
    """A record's time in UTC, how its zone is known, and how fine it is.

    `zone` is "explicit", "assumed-utc", "assumed-local". `resolution_s` is 1.0 for stamps in whole seconds.
    """

    time: datetime
    zone: str = "explicit"
    resolution_s: float = 1e-6


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time, both ends included; without an end, open on that side."""

    since: datetime | None = None
    until: datetime | None = None

    def holds(self, time: datetime) -> bool:
        return (self.since is None or self.since <= time) and (self.until is None or time <= self.until)


@dataclass(frozen=True, slots=True)
class Record:
    """One logical log entry. `raw` is its text as given, `text` what is left when wrappers are taken off."""

    source: Source
    line: int
    end_line: int
    offset: int
    raw: str
    text: str
    stamp: Stamp | None = None
    identity: Identity = NOBODY
    level: str | None = None
    document: str = "log"  # kind of document it stands in: log, env, manifest, describe, fi_info, ...
    order: int | None = None  # its place in time, in a source whose lines stand newest first

    @property
    def position(self) -> int:
        """Where the record comes among those of its source: its line, but in a source newest first."""
        return self.line if self.order is None else self.order


@dataclass(frozen=True, slots=True)
class Hit:
    """A pattern confirmed at a record. `start` and `end` are columns in `record.text`, counted from 0, half open."""

    pattern: int
    record: Record
    captures: Mapping[str, str]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Peeled:
    """What a normaliser says of one line."""

    text: str
    stamp: Stamp | None = None
    identity: Identity = NOBODY
    level: str | None = None
    document: str = "log"


class Normaliser(Protocol):
    """Takes wrapper, timestamp and rank off one line of one source; never raises, never loses text."""

    def peel(self, raw: str, line: int) -> Peeled: ...


@dataclass(frozen=True, slots=True)
class Note:
    """Something the reader must know of how the scan went: what was skipped, capped, cut or unreadable."""

    code: str
    text: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """What a source turned out to be, known once it has been read."""

    name: str
    bytes: int
    lines: int
    encoding: str = "utf-8"
    wrapper: str | None = None
    identity: Identity = NOBODY
    documents: tuple[str, ...] = ()
    first_time: datetime | None = None
    last_time: datetime | None = None


@dataclass(frozen=True, slots=True)
class ScanResult:
    """All hits of one source, in record order, with what was capped.

    `counts[pattern]` is the number of confirmed hits, or, for a pattern in `saturated`, at least that many.
    """

    source: Source
    hits: tuple[Hit, ...]
    counts: Mapping[int, int]
    saturated: frozenset[int] = frozenset()
    notes: tuple[Note, ...] = ()
    info: SourceInfo | None = None
    progress: tuple[Progress, ...] = ()  # the last steps of each rank, from the end of the source, in its order
    overran: tuple[tuple[int, int], ...] = ()  # line and pattern, for each time that one ran past its time
    flight: FlightDump | None = None  # what it says, if it is a flight recorder dump


@dataclass(frozen=True, slots=True)
class Progress:
    """A line on which a rank counts its steps. `world`: how many ranks there are, where the line says so."""

    source: str
    line: int
    text: str
    step: int
    epoch: int | None = None
    stamp: Stamp | None = None
    identity: Identity = NOBODY
    world: int | None = None


@dataclass(frozen=True, slots=True)
class FlightWork:
    """A collective that a rank called. `state`: scheduled, started (on the GPU) or completed."""

    seq: int
    operation: str
    sizes: str
    state: str
    created_ms: int = 0


@dataclass(frozen=True, slots=True)
class FlightGroup:
    """A rank's collectives in one process group: the last it called, the last that ended, and around that `works`."""

    name: str
    desc: str
    ranks: tuple[int, ...]
    last: int
    done: int
    works: tuple[FlightWork, ...] = ()


@dataclass(frozen=True, slots=True)
class FlightDump:
    """What the flight recorder of one rank held. `world`: as many ranks as its groups name."""

    groups: tuple[FlightGroup, ...]
    world: int = 0
