"""Streams of bytes with a purse: decompression that knows when to stop.

In: a readable stream. Out: a readable stream of what it holds. Everything is read as it comes, nothing is held whole.
A stream that ends early, is damaged or spends its limit simply ends, and leaves a remark (code, text) that becomes a
note: what could be read stays.

    Taken(file) -> Inflated(gzip) -> Inflated(bzip2)      ratio = bytes out of the last : bytes taken from the file
"""

from __future__ import annotations

import bz2
import contextlib
import io
import lzma
import queue
import threading
import zlib
from collections.abc import Callable
from typing import IO, Any, Protocol, cast

import zstandard

from troubleshoot import limits

try:
    from isal import igzip_lib
except ImportError:  # no wheel for this platform: the same bytes, at a third of the speed
    igzip_lib = None  # type: ignore[assignment] # told apart where it is used

COMPRESSED = frozenset({"gzip", "bzip2", "xz", "zstd"})
CHUNK_BYTES = 256 * 1024
AHEAD_AFTER_BYTES = 8 * 1024 * 1024  # from here on a thread is worth its start
AHEAD_CHUNK_BYTES = 1024 * 1024
AHEAD_CHUNKS = 4
ZSTD_WINDOW_BYTES = 128 * 1024 * 1024  # what `zstd --long=27` needs; more is asked for by bombs
XZ_MEMORY_BYTES = 256 * 1024 * 1024

Remarks = list[tuple[str, str]]
_ISAL_ERROR = zlib.error if igzip_lib is None else cast(type[Exception], igzip_lib.IsalError)
DAMAGE = (_ISAL_ERROR, zlib.error, lzma.LZMAError, zstandard.ZstdError, EOFError, ValueError, OSError)


class Readable(Protocol):
    def readinto(self, buffer: memoryview, /) -> int | None: ...


class Purse:
    """What may still be spent over all sources of one call: bytes that come out, and members."""

    def __init__(self, total_bytes: int = limits.TOTAL_BYTES, members: int = limits.ARCHIVE_MEMBERS) -> None:
        self.bytes_left = total_bytes
        self.members_left = members


class Taken:
    """The bytes of a file as given, counted. `limit`: the size it had when opened; what is added later is not read."""

    def __init__(self, stream: Readable, remarks: Remarks, *, limit: int | None = None) -> None:
        self._stream = stream
        self._remarks = remarks
        self._limit = limit
        self.count = 0

    def readinto(self, buffer: memoryview) -> int:
        if self._limit is not None and self.count + len(buffer) > self._limit:
            buffer = buffer[: self._limit - self.count]
            if not buffer:
                if self._stream.readinto(memoryview(bytearray(1))):
                    self._remarks.append(("grew", "grew while it was read: only what was there at the start was read"))
                self._limit = self.count  # ask once
                self._stream = io.BytesIO()  # nothing more comes
                return 0
        try:
            got = self._stream.readinto(buffer) or 0
        except OSError as error:
            self._remarks.append(("unreadable", f"reading stopped after {self.count} bytes: {error.strerror or error}"))
            return 0
        if not got and self._limit is not None and self.count < self._limit:
            text = f"became shorter while it was read: {self.count} bytes of {self._limit}"
            self._remarks.append(("shrank", text))
            self._limit = None
        self.count += got
        return got


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
        self._reader = engine.stream_reader(cast(IO[bytes], _Reader(stream)), read_across_frames=True)
        self.cut = False  # the library does not tell

    def readinto(self, buffer: memoryview) -> int:
        return self._reader.readinto(buffer)


class _Reader:
    """`read` for a stream that has only `readinto`."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        return read_head(self._stream, size if size > 0 else CHUNK_BYTES)


class Purchased:
    """A stream that pays for its bytes from a purse and ends when it is empty."""

    def __init__(self, stream: Readable, purse: Purse, remarks: Remarks) -> None:
        self._stream = stream
        self._purse = purse
        self._remarks = remarks

    def readinto(self, buffer: memoryview) -> int:
        if self._purse.bytes_left <= 0:
            if self._purse.bytes_left == 0:
                self._remarks.append(
                    ("total-size", f"more than {limits.TOTAL_BYTES} bytes in all: the rest is not read")
                )
                self._purse.bytes_left = -1
            return 0
        got = self._stream.readinto(buffer[: self._purse.bytes_left]) or 0
        self._purse.bytes_left -= got
        return got


class Ahead:
    """A stream that is read in a thread of its own once it has proved long: decompression, which lets go of the
    interpreter's lock, then runs beside what is done with the bytes."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._ready: queue.Queue[memoryview | BaseException] = queue.Queue(AHEAD_CHUNKS)
        self._rest = memoryview(b"")
        self._count = 0
        self._thread: threading.Thread | None = None
        self._is_stopped = False

    def readinto(self, buffer: memoryview) -> int:
        if self._thread is None:
            if self._count < AHEAD_AFTER_BYTES:
                got = self._stream.readinto(buffer) or 0
                self._count += got
                return got
            self._thread = threading.Thread(target=self._read, name="read-ahead", daemon=True)
            self._thread.start()
        if not self._rest and not self._is_stopped:
            item = self._ready.get()
            if isinstance(item, BaseException):
                raise item
            self._rest = item
            self._is_stopped = not item
        got = min(len(buffer), len(self._rest))
        buffer[:got] = self._rest[:got]
        self._rest = self._rest[got:]
        return got

    def close(self) -> None:
        """End the thread: it must not read from a file that is being closed."""
        self._is_stopped = True
        while self._thread is not None and self._thread.is_alive():
            with contextlib.suppress(queue.Empty):
                self._ready.get(timeout=0.01)

    def _read(self) -> None:
        got = 1
        while got and not self._is_stopped:
            chunk = memoryview(bytearray(AHEAD_CHUNK_BYTES))
            try:
                got = self._stream.readinto(chunk) or 0
            except BaseException as error:  # belongs to the thread that asked for the bytes
                self._ready.put(error)
                return
            self._ready.put(chunk[:got])


class Replayed:
    """A stream whose beginning was read already."""

    def __init__(self, head: bytes, stream: Readable) -> None:
        self._head = memoryview(head)
        self._stream = stream

    def readinto(self, buffer: memoryview) -> int:
        if self._head:
            got = min(len(buffer), len(self._head))
            buffer[:got] = self._head[:got]
            self._head = self._head[got:]
            return got
        return self._stream.readinto(buffer) or 0


def read_head(stream: Readable, size: int) -> bytes:
    """Read `size` bytes, fewer only at the end of the stream."""
    buffer = bytearray(size)
    filled = 0
    with memoryview(buffer) as view:
        while filled < size:
            got = stream.readinto(view[filled:])
            if not got:
                break
            filled += got
    return bytes(buffer[:filled])


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
