"""Streams of bytes as given: counted, paid for, replayed, read ahead.

In: a readable stream. Out: a readable stream of the same bytes, or fewer. Everything is read as it comes, nothing is
held whole. A stream that ends early or spends its limit simply ends, and leaves a remark (code, text) that becomes a
note: what could be read stays.
"""

from __future__ import annotations

import contextlib
import io
import os
import queue
import select
import threading
from collections.abc import Callable
from typing import BinaryIO, Protocol, cast

from troubleshoot import limits

AHEAD_AFTER_BYTES = 8 * 1024 * 1024  # from here on a thread is worth its start
AHEAD_CHUNK_BYTES = 1024 * 1024
AHEAD_CHUNKS = 4
POLL_S = 0.2  # between two looks at whether to stop, while nothing comes

Remarks = list[tuple[str, str]]


class Readable(Protocol):
    def readinto(self, buffer: memoryview, /) -> int | None: ...


class Purse:
    """What may still be spent over all sources of one call: bytes that come out, and members."""

    def __init__(self, total_bytes: int = limits.TOTAL_BYTES, members: int = limits.ARCHIVE_MEMBERS) -> None:
        self._bytes_left = total_bytes
        self._members_left = members
        self._is_told = False

    def is_first_to_miss(self) -> bool:
        """Tell whether nobody has said before that it is empty."""
        was_told, self._is_told = self._is_told, True
        return not was_told

    def bytes_left(self) -> int:
        return self._bytes_left

    def pay_bytes(self, count: int) -> None:
        self._bytes_left -= count

    def pay_member(self) -> bool:
        """Take one more member; False when there were too many."""
        self._members_left -= 1
        return self._members_left >= 0


class Interruptible:
    """A stream that ends when told to stop, also while nothing comes: a terminal, a pipe whose writer is silent. Only
    for what has a descriptor that can be waited for; of others the stream itself is returned."""

    def __init__(self, stream: io.RawIOBase, stop: Callable[[], bool]) -> None:
        self._stream = stream
        self._stop = stop

    @classmethod
    def over(cls, stream: BinaryIO, stop: Callable[[], bool]) -> BinaryIO:
        raw = getattr(stream, "raw", None)  # a buffered reader would wait until its buffer is full
        try:
            if not isinstance(raw, io.RawIOBase) or stream.seekable() or os.name != "posix":
                return stream
            select.select([raw.fileno()], [], [], 0)
        except (OSError, ValueError):
            return stream
        return cast(BinaryIO, cls(raw, stop))

    def seekable(self) -> bool:
        return False

    def readinto(self, buffer: memoryview) -> int:
        while not self._stop():
            if select.select([self._stream.fileno()], [], [], POLL_S)[0]:
                return cast(io.FileIO, self._stream).readinto(buffer) or 0
        return 0


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


class Purchased:
    """A stream that pays for its bytes from a purse and ends when it is empty."""

    def __init__(self, stream: Readable, purse: Purse, remarks: Remarks) -> None:
        self._stream = stream
        self._purse = purse
        self._remarks = remarks

    def readinto(self, buffer: memoryview) -> int:
        left = self._purse.bytes_left()
        if left <= 0:
            if self._purse.is_first_to_miss():
                text = f"more than {limits.TOTAL_BYTES} bytes in all: the rest is not read"
                self._remarks.append(("total-size", text))
            return 0
        got = self._stream.readinto(buffer[:left]) or 0
        self._purse.pay_bytes(got)
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


def in_memory(data: bytes) -> Readable:
    """Return a stream over bytes that are already there."""
    return cast(Readable, io.BytesIO(data))


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
