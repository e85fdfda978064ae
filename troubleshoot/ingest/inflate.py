"""Decompression as a stream, which knows when to stop.

In: a stream of compressed bytes. Out: a stream of what they hold, no more at a time than is asked for. Data that ends
early, is damaged, or gives more than limits.ARCHIVE_RATIO bytes for each one taken from the file simply ends, with a
remark: what could be read stays.

    Taken(file) -> Inflated(gzip) -> Inflated(bzip2)      ratio = bytes out of the last : bytes taken from the file
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import IO, Any, cast

import zstandard

from troubleshoot import limits
from troubleshoot.ingest.streams import Readable, Remarks, read_head

try:
    from isal import igzip_lib
except ImportError:  # no wheel for this platform: the same bytes, at a third of the speed
    igzip_lib = None  # type: ignore[assignment] # told apart where it is used

CHUNK_BYTES = 256 * 1024
ZSTD_WINDOW_BYTES = 128 * 1024 * 1024  # what `zstd --long=27` needs; more is asked for by bombs
XZ_MEMORY_BYTES = 256 * 1024 * 1024

_ISAL_ERROR = zlib.error if igzip_lib is None else cast(type[Exception], igzip_lib.IsalError)
DAMAGE = (_ISAL_ERROR, zlib.error, lzma.LZMAError, zstandard.ZstdError, EOFError, ValueError, OSError)


class Inflated:
    """The decompressed bytes of a stream; members that follow one another are one stream, as gzip has it.

    `taken` tells how many bytes were taken from the file at the bottom, for the ratio.
    """

    def __init__(self, stream: Readable, container: str, taken: Callable[[], int], remarks: Remarks) -> None:
        self._inner = _ZstdFrames(stream) if container == "zstd" else _Members(stream, _DECOMPRESSORS[container])
        self._container = container
        self._taken = taken
        self._remarks = remarks
        self._ended = False
        self.count = 0

    def readinto(self, buffer: memoryview) -> int:
        if self._ended:
            return 0
        try:
            got = self._inner.readinto(buffer)
        except DAMAGE as error:
            return self._end("damaged", f"{self._container} data is damaged after {self.count} bytes: {error}")
        self.count += got
        if not got and self._inner.cut:
            return self._end("cut", f"{self._container} data ends early, after {self.count} bytes")
        if self.count > limits.RATIO_FLOOR_BYTES and self.count > limits.ARCHIVE_RATIO * max(1, self._taken()):
            ratio = limits.ARCHIVE_RATIO
            self._end("bomb", f"gives more than {ratio} bytes for each one taken: stopped after {self.count}")
        return got

    def _end(self, code: str, text: str) -> int:
        self._ended = True
        self._remarks.append((code, text))
        return 0


class _Members:
    """Compressed members that follow one another, through a decompressor with the manners of bz2's."""

    def __init__(self, stream: Readable, new: Callable[[], Any]) -> None:
        self._stream = stream
        self._new = new
        self._engine = new()
        self._begun = False
        self._chunk = bytearray(CHUNK_BYTES)
        self.cut = False

    def readinto(self, buffer: memoryview) -> int:
        while True:
            pending = b""
            if self._engine.eof:
                pending = self._engine.unused_data.lstrip(b"\0") or self._read().lstrip(b"\0")
                if not pending:
                    return 0
                self._engine, self._begun = self._new(), False
            elif self._engine.needs_input:
                pending = self._read()
                if not pending:
                    self.cut = self._begun
                    return 0
            self._begun = True
            data = self._engine.decompress(pending, len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)

    def _read(self) -> bytes:
        with memoryview(self._chunk) as view:
            return bytes(view[: self._stream.readinto(view) or 0])


class _ZstdFrames:
    """Zstandard frames. Its reader gives no more than it is asked for, which its decompressor objects do not."""

    def __init__(self, stream: Readable) -> None:
        engine = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW_BYTES)
        self._given = _Reader(stream)
        self._reader = engine.stream_reader(cast(IO[bytes], self._given), read_across_frames=True)

    def readinto(self, buffer: memoryview) -> int:
        return self._reader.readinto(buffer)

    @property
    def cut(self) -> bool:
        return self._given.frames.is_within


class _Reader:
    """`read` for a stream that has only `readinto`."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self.frames = _FrameWalk()

    def read(self, size: int = -1) -> bytes:
        data = read_head(self._stream, size if size > 0 else CHUNK_BYTES)
        self.frames.feed(data)
        return data


class _FrameWalk:
    """Follows Zstandard data from frame to frame, block to block, for the library does not tell that it ended early.
    Source: RFC 8878, section 3.1."""

    def __init__(self) -> None:
        self._state: Callable[[bytes], None] = self._magic
        self._field = b""  # of the part that is being read, what came so far
        self._needed = 4
        self._skip = 0
        self._has_checksum = False
        self.is_within = False  # a frame has begun that has not ended

    def feed(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            self.is_within = True
            if self._skip:
                step = min(self._skip, len(data) - at)
                self._skip, at = self._skip - step, at + step
            else:
                part = data[at : at + self._needed - len(self._field)]
                self._field, at = self._field + part, at + len(part)
                if len(self._field) == self._needed:
                    field, self._field = self._field, b""
                    self._state(field)
            if not self._skip and not self._field and self._state == self._magic:
                self.is_within = False

    def _then(self, state: Callable[[bytes], None], needed: int) -> None:
        self._state, self._needed = state, needed

    def _magic(self, field: bytes) -> None:
        skippable = field[1:] == b"\x2a\x4d\x18" and field[0] >> 4 == 5
        self._then(self._skippable if skippable else self._descriptor, 4 if skippable else 1)

    def _skippable(self, field: bytes) -> None:
        self._skip = int.from_bytes(field, "little")
        self._then(self._magic, 4)

    def _descriptor(self, field: bytes) -> None:
        is_single, size = bool(field[0] & 0x20), field[0] >> 6
        self._has_checksum = bool(field[0] & 4)
        self._skip = (not is_single) + (0, 1, 2, 4)[field[0] & 3] + ((0, 2, 4, 8)[size] or is_single)
        self._then(self._block, 3)

    def _block(self, field: bytes) -> None:
        head = int.from_bytes(field, "little")
        self._skip = 1 if head >> 1 & 3 == 1 else head >> 3
        if head & 1:
            self._skip += 4 * self._has_checksum
            self._then(self._magic, 4)


class _Zlib:
    """zlib's decompressor with the manners of bz2's."""

    def __init__(self) -> None:
        self._engine = zlib.decompressobj(31)

    def decompress(self, data: bytes, size: int) -> bytes:
        return self._engine.decompress(self._engine.unconsumed_tail + data, size)

    @property
    def needs_input(self) -> bool:
        return not self._engine.unconsumed_tail

    @property
    def eof(self) -> bool:
        return self._engine.eof

    @property
    def unused_data(self) -> bytes:
        return self._engine.unused_data


def _gzip() -> Any:
    return igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP) if igzip_lib is not None else _Zlib()


_DECOMPRESSORS: dict[str, Callable[[], Any]] = {
    "gzip": _gzip,
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(memlimit=XZ_MEMORY_BYTES),
}
