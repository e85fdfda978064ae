"""Growing files and pipes -> findings as they come, once each.

    Tail.read -> chunk of whole lines -> scan (with a few lines before it) -> hits so far -> evaluate -> new findings

Each chunk is scanned as a text of its own, together with the last limits.SPAN_LINES lines before it, so that a
signature over several lines is not lost at the seam; a hit that both chunks see counts once. What was found before is
evaluated again with what is new, since a condition may only now hold. Costs: the scan of each byte once or twice, and
one evaluation per chunk that brought a hit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from troubleshoot import limits
from troubleshoot.engine import Engine, scan_source
from troubleshoot.ingest.sources import open_text
from troubleshoot.model import Finding, Hit, Note, Report, ScanResult, Source, SourceInfo
from troubleshoot.scan.scanner import Scanner, merge_hits


class Tail:
    """The growing end of one source. `read` gives whole lines only, until `close` gives the rest.

    A file that became shorter was written anew and is read from its start again; one that is gone is waited for.
    """

    def __init__(self, name: str, stream: BinaryIO | None = None) -> None:
        self.name = name
        self.notes: list[Note] = []
        self._stream = stream
        self._offset = 0
        self._carry = b""
        self.is_at_end = False  # a pipe whose writer is gone

    def read(self) -> bytes:
        """Return the whole lines that are new; empty when there are none yet."""
        data = self._carry + self._new()
        end = data.rfind(b"\n") + 1
        if end == 0 and len(data) > limits.LINE_BYTES:  # a line without end must not be kept for ever
            end = len(data)
        self._carry = data[end:]
        return data[:end]

    def close(self) -> bytes:
        """Return what is left: an unfinished last line."""
        rest, self._carry = self._carry, b""
        return rest

    def _new(self) -> bytes:
        if self._stream is not None:
            data = b"" if self.is_at_end else os.read(self._stream.fileno(), limits.BLOCK_BYTES)
            self.is_at_end = self.is_at_end or not data
            return data
        try:
            with Path(self.name).open("rb") as file:
                if os.fstat(file.fileno()).st_size < self._offset:
                    self.notes.append(Note("truncated", "became shorter and is read from its start again", self.name))
                    self._offset, self._carry = 0, b""
                file.seek(self._offset)
                data = file.read(limits.BLOCK_BYTES)
        except OSError as error:
            self._say_once(Note("unreadable", f"cannot be read now: {error.strerror}", self.name))
            return b""
        self._offset += len(data)
        return data

    def _say_once(self, note: Note) -> None:
        if note not in self.notes:
            self.notes.append(note)


class _Grown:
    """What is known of one source so far."""

    def __init__(self, tail: Tail) -> None:
        self.tail = tail
        self.source = Source(tail.name, "file")
        self.result = ScanResult(self.source, (), {}, info=SourceInfo(tail.name, 0, 0))
        self._before = b""  # the last lines, scanned again with the next chunk
        self._lines = 0  # lines before `_before`
        self._bytes = 0

    def take(self, scanner: Scanner, chunk: bytes) -> bool:
        """Scan a chunk of whole lines; return whether it brought a hit."""
        text = self._before + chunk
        found = scan_source(scanner, open_text(text, self.tail.name))
        known = len(self.result.hits)
        self.result = merge_hits(self.result, _shifted(found, self.source, self._lines, self._bytes))
        kept = text.splitlines(keepends=True)[-limits.SPAN_LINES :]
        size = sum(map(len, kept))
        self._lines += text.count(b"\n") - sum(line.endswith(b"\n") for line in kept)
        self._bytes += len(text) - size
        self._before = b"".join(kept)
        info = found.info or SourceInfo(self.tail.name, 0, 0)
        lines, length = self._lines + len(kept), self._bytes + size
        self.result = replace(self.result, info=replace(info, lines=lines, bytes=length))
        return len(self.result.hits) > known


def _shifted(result: ScanResult, source: Source, lines: int, offset: int) -> ScanResult:
    """Return the result with its places counted from the source's start."""

    def moved(hit: Hit) -> Hit:
        record = hit.record
        record = replace(
            record,
            source=source,
            line=record.line + lines,
            end_line=record.end_line + lines,
            offset=record.offset + offset,
        )
        return replace(hit, record=record)

    return replace(result, source=source, hits=tuple(map(moved, result.hits)))


class Follower:
    """Follows sources with one engine. `step` reads what is new; `report` says all that is known."""

    def __init__(self, engine: Engine, tails: Sequence[Tail], platform: str | None = None) -> None:
        self._engine = engine
        self._platform = platform
        self._scanner = Scanner(engine.pack)
        self._grown = [_Grown(tail) for tail in tails]
        self._told: set[tuple[str, str]] = set()
        self._began = time.monotonic()

    def step(self, *, last: bool = False) -> list[Finding]:
        """Read what is new in every source and return the findings not returned before, in order of priority."""
        brought = False
        for grown in self._grown:
            chunk = grown.tail.read()
            if last:
                chunk += grown.tail.close()
            if chunk:
                brought |= grown.take(self._scanner, chunk)
        return list(self._new_findings()) if brought else []

    def report(self) -> Report:
        """Return the report over all that was read."""
        results = [replace(each.result, notes=(*each.result.notes, *each.tail.notes)) for each in self._grown]
        return self._engine.report_from(results, self._platform, self._began)

    def _new_findings(self) -> Iterator[Finding]:
        report = self.report()
        for finding in (*report.findings, *report.confirmations):
            key = finding.rule, finding.fingerprint
            if key not in self._told:
                self._told.add(key)
                yield finding
