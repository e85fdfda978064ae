"""A source that is ready to be read: its blocks, what peels its lines, what was noticed on the way.

In: a stream of bytes with a name. Out: blocks to be searched, and when they are read, what the source turned out to be.
A source up to limits.PASTE_BYTES (a file: FILE_PASTE_BYTES) is taken as a whole, so that the costly repairs can be made
and the documents within it be seen; a larger one is read block by block, and judged by a sample of its head, middle and
tail.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from troubleshoot import limits
from troubleshoot.ingest.blocks import read_blocks
from troubleshoot.ingest.ranges import Range, can_be_ranged, find_seams, read_range
from troubleshoot.ingest.samples import SAMPLE_BYTES, Peek, choose_lines, mend_pieces, take_pieces
from troubleshoot.ingest.sections import Sections, has_sections
from troubleshoot.ingest.streams import Readable, Remarks, Replayed, in_memory, read_head
from troubleshoot.model import Block, Hit, Normaliser, Note, Source, SourceInfo
from troubleshoot.normalise import (
    PUT_BEFORE,
    Clock,
    Documents,
    LineNormaliser,
    Look,
    Mender,
    cut_marks,
    detect_encoding,
    find_documents,
    is_wide,
    join_wrapped,
    look_at,
    may_hold_documents,
    may_run_backwards,
    read_wide_blocks,
    text_as_given,
    whole_document,
)

if TYPE_CHECKING:
    from troubleshoot.ingest.turned import Turned

DOCUMENT_LINES = 100  # of a large source tell whether all of it is one document
PEELED_LINES = 5000  # so many are unwrapped to look for documents in them


class OpenSource:
    """A source that is ready to be read, once.

    `open_stream` is called when the blocks are asked for. `peek(offset, size)` reads anywhere in what is seekable.
    `remarks` are filled by the streams below. `skipped`: it is only named, and there is nothing to read.
    `open_range(begin, end)` opens a part of what is seekable.
    """

    def __init__(
        self,
        source: Source,
        open_stream: Callable[[], Readable],
        *,
        written: datetime | None = None,
        size: int | None = None,
        peek: Peek | None = None,
        remarks: Remarks | None = None,
        skipped: bool = False,
        open_range: Callable[[int, int], Readable] | None = None,
    ) -> None:
        self.source = source
        self._open = open_stream
        self._size = size
        self._peek = peek
        self._remarks: Remarks = remarks if remarks is not None else []
        self._skipped = skipped
        self._open_range = open_range
        self._range: Range | None = None
        self._look = Look()
        self._pieces: Sequence[bytes] = ()  # of the repaired text, as a sample
        self._sampled = False
        self._mended: Block | None = None  # the whole text of a small source
        self._documents = Documents()
        self._sections: Sections | None = None
        self._joined_ends: dict[int, int] = {}
        self._newest_first = False
        self._turned: Turned | None = None
        self._bytes = 0
        self._lines = 0
        self._normaliser = LineNormaliser(source.identity, Clock(written or datetime.now(UTC)), self._sample_lines)

    @property
    def normaliser(self) -> Normaliser:
        """What takes wrappers off this source's lines."""
        return self._normaliser

    def stream(self) -> Readable:
        """Return the source's bytes as given, decompressed: instead of its blocks, for whoever shows the text."""
        return self._open() if not self._skipped else in_memory(b"")

    def blocks(self, size: int = limits.BLOCK_BYTES) -> Iterator[Block]:
        """Yield the source's blocks in order, repaired. A block is valid until the next one is asked for."""
        if self._skipped:
            return
        if self._range is not None:
            yield from self._range_blocks(self._range, size)
            return
        try:
            stream = self._open()
        except OSError as error:
            self._remarks.append(("unreadable", f"cannot be opened: {error.strerror or error}"))
            return
        try:
            paste_bytes = limits.FILE_PASTE_BYTES if self.source.kind in ("file", "member") else limits.PASTE_BYTES
            head = read_head(stream, paste_bytes + 1)
            if len(head) <= paste_bytes:
                yield from self._small_blocks(head)
            else:
                yield from self._large_blocks(head, stream, size)
        finally:
            close = getattr(stream, "close", None)
            if close is not None:
                close()

    def narrow(self, part: Range) -> bool:
        """Let the blocks be those of a part of the source, with the look and the wrappers of the whole. Tell whether
        that can be: not for what is no plain file, is small, or needs repairs that reach over lines."""
        smallest = 4 * SAMPLE_BYTES + max(limits.PASTE_BYTES, limits.FILE_PASTE_BYTES)
        if self._open_range is None or self._peek is None or part.size <= smallest:
            return False
        self._size = part.size
        self._look_over(self._peek(0, SAMPLE_BYTES))
        turns = self._newest_first and part.size <= limits.TURN_BYTES
        if not can_be_ranged(self._look) or self._sections is not None or turns:
            return False
        self._range = part
        return True

    def _range_blocks(self, part: Range, size: int) -> Iterator[Block]:
        assert self._open_range is not None and self._peek is not None, "narrow() has asked"
        if not find_seams(part, self._peek):
            return
        try:
            stream = self._open_range(part.first, part.stop)
        except OSError:
            part.is_torn = True  # whoever reads it whole says why
            return
        mender = Mender(self._look, self._remarks)
        try:
            yield from mender.mend(self._counted(read_range(stream, part, size)))
        finally:
            cast(io.FileIO, stream).close()
        part.lines = self._lines - part.context_lines
        self._bytes = part.own_bytes
        if part.stop < part.size:
            self._remarks[:] = [each for each in self._remarks if each[0] != "grew"]  # of course there is more behind
        part.is_torn |= mender.has_joined or any(code != "grew" for code, _ in self._remarks)

    def behind(self, end: int) -> Iterator[bytes]:
        """Yield pieces of the file from `end` backwards, last first, at most limits.FAR_TAIL_BYTES: for who has not
        found in its end what a sample of it shows. Nothing of what is no plain text, or cannot be sought in."""
        if self._peek is None or self._look.json is not None or is_wide(self._look.encoding):
            return
        least = max(0, end - limits.FAR_TAIL_BYTES)
        while end > least:
            begin = max(least, end - limits.FAR_PIECE_BYTES)
            piece = self._peek(begin, end - begin)
            if len(piece) < end - begin:
                return
            yield piece
            end = begin

    def sample(self) -> bytes:
        """Return some of the head, the middle and the end of a large source; nothing of a small one."""
        return b"".join(self._pieces) if self._sampled else b""

    def joined_blocks(self) -> Iterator[Block] | None:
        """Return the shadow text in which hard-wrapped lines are joined, or None when the source looks unwrapped.
        Ask after the blocks were read."""
        if self._mended is None or self._mended.line_map is None:
            return None
        pasted = self.source.kind not in ("file", "member")
        rows, places = _rows(self._mended), self._mended.line_map
        joined = join_wrapped(rows, places, self._bare, pasted=pasted)
        if pasted and len(rows) <= PEELED_LINES and self._normaliser.detected.names:
            within = join_wrapped(rows, places, self._text_of)  # broken first, and then each line was wrapped
            joined = within if joined is None else joined.and_also(within)
        if joined is None:
            return None
        self._joined_ends = joined.ends
        text = joined.text
        return iter([Block(text.data, text.map.lines[0], text.map.offsets[0], text.map, last=True)])

    def joined_end(self, line: int) -> int:
        """Return the last of the lines that were joined to `line`. A hit in the joined text that stands on one of them
        as it is has been found before."""
        return self._joined_ends.get(line, line)

    def notes(self) -> tuple[Note, ...]:
        """Return what the reader should know of how the reading went, so far."""
        remarks = list(self._remarks)
        if self._newest_first:
            done = (
                "read from the last one up" if self._turned is not None else "too many to be turned: sort them by time"
            )
            remarks.append(("newest-first", f"the lines stand newest first, as some log viewers export them; {done}"))
        if self._mended is not None and (cut := cut_marks(bytes(self._mended.data))):
            remarks.append(("truncated", f"the text says that something was left out: {cut}"))
        return tuple(Note(code, text, self.source.name) for code, text in remarks)

    def info(self) -> SourceInfo:
        """Return what the source turned out to be. Complete once all blocks were read."""
        detected = self._normaliser.detected
        return SourceInfo(
            name=self.source.name,
            bytes=self._size or 0 if self._skipped else self._bytes,
            lines=self._lines,
            encoding=self._look.encoding,
            wrapper="+".join(dict.fromkeys((*self._look.names, *detected.names))) or None,
            identity=self._normaliser.identity,
            documents=self._documents.kinds,
            first_time=detected.first,
            last_time=detected.last,
        )

    def _small_blocks(self, data: bytes) -> Iterator[Block]:
        encoding, mark = detect_encoding(data)
        text = data[mark:].decode(encoding, "replace").encode("utf-8", "replace") if is_wide(encoding) else data
        self._look = look_at(text, encoding, mark, small=True)
        self._look_for_sections(text)
        if is_wide(encoding):
            raw = read_wide_blocks(in_memory(data), encoding, mark)
        else:
            raw = iter([Block(data, 1, 0, last=True)])
        for block in Mender(self._look, self._remarks).mend(self._counted(raw)):
            self._mended = _with_map(block)
            self._pieces = [bytes(block.data)]
            self._find_documents(self._mended)
            self._newest_first = self._is_newest_first()
            if self._newest_first:
                block = self._mended = self._turn([self._mended])
            yield block
        self._bytes = len(data)

    @property
    def _bare(self) -> Callable[[str], str] | None:
        """What takes off what was put before every line, or None when nothing was."""
        put_before = any(each.name in PUT_BEFORE for each in self._normaliser.detected.weak)
        return self._normaliser.bare if put_before else None

    def _text_of(self, row: str) -> str:
        return self._normaliser.peel(row, 0).text

    def _find_documents(self, block: Block) -> None:
        """Look for documents among the lines as a person would have pasted them: without what stands before each."""
        rows = _rows(block)
        if block.line_map is None or not may_hold_documents(rows):
            return
        if any(name not in PUT_BEFORE for name in self._normaliser.detected.names) and len(rows) <= PEELED_LINES:
            rows = [self._normaliser.peel(row, 0).text for row in rows]
        elif self._bare is not None:
            rows = [self._bare(row) for row in rows]
        self._documents = find_documents(rows, block.line_map.lines)
        self._normaliser.document_at = self._documents.at

    def _look_over(self, head: bytes) -> tuple[str, int]:
        """Look at a sample of a large source; return its encoding and the length of its byte order mark."""
        encoding, mark = detect_encoding(head[:SAMPLE_BYTES])
        pieces = take_pieces(head, encoding, self._size or 0, self._peek, SAMPLE_BYTES)
        sample = b"".join(pieces)
        self._look = look_at(sample, encoding, mark, small=False)
        self._look_for_sections(sample)
        self._pieces = pieces if not self._look.is_document else pieces[:1]
        self._sampled = True
        self._documents = whole_document(
            [row.decode("utf-8", "replace") for row in pieces[0].split(b"\n")[:DOCUMENT_LINES]]
        )
        self._normaliser.document_at = self._documents.at
        self._newest_first = self._is_newest_first()
        return encoding, mark

    def _look_for_sections(self, sample: bytes) -> None:
        if has_sections(sample):
            self._sections = Sections()
            self._normaliser.identity_at = self._sections.at

    def _large_blocks(self, head: bytes, stream: Readable, size: int) -> Iterator[Block]:
        encoding, mark = self._look_over(head)
        replayed = _Counted(Replayed(head, stream))
        if is_wide(encoding):
            raw = read_wide_blocks(replayed, encoding, mark, size)
        elif self._look.is_document:
            raw = read_blocks(replayed, size, line_bytes=0, overlap=0)  # it may be all one line
        else:
            raw = read_blocks(replayed, size)
        blocks = Mender(self._look, self._remarks).mend(self._counted(raw))
        try:
            yield from self._in_order(blocks) if self._newest_first else blocks
        finally:
            self._bytes = replayed.count

    def _is_newest_first(self) -> bool:
        if self._sections is not None or not any(map(may_run_backwards, self._pieces)):
            return False
        return self._normaliser.detected.newest_first

    def _in_order(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """Yield a source newest first as one block, oldest first; a large one as it stands."""
        kept: list[Block] = []
        size = 0
        for block in blocks:
            kept.append(_with_map(block))
            size += len(block.data)
            if size > limits.TURN_BYTES or block.cut:
                yield from kept
                yield from blocks
                return
        if kept:
            yield self._turn(kept)

    def _turn(self, blocks: Sequence[Block]) -> Block:
        from troubleshoot.ingest.turned import Turned  # few sources need it

        self._turned = Turned(blocks, self._normaliser, all_begin=self._look.json not in (None, "table"))
        return self._turned.block

    def in_order(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Return the hits as their records were written, where the lines stand in another order."""
        return self._turned.in_order(hits) if self._turned is not None else tuple(hits)

    def _sample_lines(self) -> tuple[list[str], bool]:
        """Return up to limits.PROBE_LINES lines of the repaired text, and whether they are only some of it."""
        pieces = mend_pieces(self._pieces, self._look) if self._sampled else self._pieces
        is_small_file = not self._sampled and self.source.kind in ("file", "member")
        most = limits.FILE_PROBE_LINES if is_small_file else limits.PROBE_LINES
        return choose_lines(pieces, sampled=self._sampled, most=most)

    def _counted(self, blocks: Iterable[Block]) -> Iterator[Block]:
        for block in blocks:
            self._lines = block.first_line - 1
            if self._sections is not None:
                self._sections.learn(block)
            if block.last:
                tail = bytes(block.data)
                unfinished = bool(tail) and not tail.endswith(b"\n")
                self._lines = block.first_line - 1 + tail.count(b"\n") + unfinished
            yield block


class _Counted:
    """A stream that counts what is read from it."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self.count = 0

    def readinto(self, buffer: memoryview) -> int:
        got = self._stream.readinto(buffer) or 0
        self.count += got
        return got


def _with_map(block: Block) -> Block:
    if block.line_map is not None:
        return block
    data = bytes(block.data)
    return replace(block, data=data, line_map=text_as_given(data, block.first_line, block.offset).map)


def _rows(block: Block) -> list[str]:
    """Return the lines of a block as text."""
    data = bytes(block.data)
    rows = data.decode("utf-8", "replace").split("\n")
    return rows[:-1] if data.endswith(b"\n") else rows
