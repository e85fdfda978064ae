"""Messages between the service and its scan processes: a JSON head and raw bodies, never a pickle.

    length of head (4 bytes, big endian) | head as JSON, with "sizes": [3, 5] | 3 bytes | 5 bytes

A scan process reads logs of strangers, so what comes back from it is data and is parsed as such.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, BinaryIO, Protocol

HEAD_BYTES = 1024 * 1024
LENGTH_BYTES = 4

Head = dict[str, Any]


class AsyncReader(Protocol):
    """The part of asyncio.StreamReader that is used here."""

    async def readexactly(self, n: int, /) -> bytes: ...


def pack_frame(head: Head, bodies: Sequence[bytes] = ()) -> list[bytes]:
    """Return the pieces of a message, to be written one after another."""
    encoded = json.dumps({**head, "sizes": [len(body) for body in bodies]}).encode()
    return [len(encoded).to_bytes(LENGTH_BYTES, "big") + encoded, *bodies]


def read_frame(stream: BinaryIO) -> tuple[Head, list[bytes]] | None:
    """Return the next message, or None where the stream ends."""
    length = stream.read(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        return None
    head = json.loads(stream.read(int.from_bytes(length, "big")))
    return head, [stream.read(size) for size in head.pop("sizes")]


async def read_frame_async(reader: AsyncReader) -> tuple[Head, list[bytes]]:
    """Return the next message. Raises EOFError where the other side went away, ValueError for nonsense."""
    size = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
    if size > HEAD_BYTES:
        raise ValueError("a scan process answered with a head that is too large")
    head = json.loads(await reader.readexactly(size))
    return head, [await reader.readexactly(size) if size else b"" for size in head.pop("sizes")]
