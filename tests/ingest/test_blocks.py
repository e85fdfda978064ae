from __future__ import annotations

import io
import itertools
from typing import Any, cast

import pytest

from troubleshoot.ingest.blocks import read_blocks
from troubleshoot.model import Block


def read(data: bytes, size: int, **limits: int) -> list[tuple[bytes, Block]]:
    return [(bytes(b.data), b) for b in read_blocks(cast(Any, io.BytesIO(data)), size, **limits)]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 64, 4096])
@pytest.mark.parametrize("data", [b"", b"\n", b"one", b"one\n", b"one\ntwo", b"\n\n\n", b"a\nbb\nccc\n" * 20])
def test_blocks_are_the_stream_cut_after_line_feeds(data: bytes, size: int) -> None:
    blocks = read(data, size)
    assert b"".join(d for d, _ in blocks) == data
    assert [b.last for _, b in blocks] == [False] * (len(blocks) - 1) + [True]
    for got, block in blocks:
        assert block.offset == 0 or data[block.offset - 1 : block.offset] == b"\n"
        assert data[block.offset : block.offset + len(got)] == got
        assert block.first_line == data[: block.offset].count(b"\n") + 1


def test_long_line_is_cut_and_its_end_comes_again() -> None:
    data = b"head\n" + bytes(range(97, 123)) * 40 + b"\nfoot\n"
    blocks = read(data, 64, line_bytes=48, overlap=16)
    assert any(b.cut for _, b in blocks)
    assert all(data[b.offset : b.offset + len(d)] == d for d, b in blocks)
    for (got, block), (_, following) in itertools.pairwise(blocks):
        assert following.offset == block.offset + len(got) - (16 if block.cut else 0)
        assert following.first_line == data[: following.offset].count(b"\n") + 1
    assert blocks[-1][0].endswith(b"foot\n")


class Trickle(io.RawIOBase):
    """Gives one byte at a time, as a slow pipe does."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def readinto(self, buffer: Any) -> int:
        piece, self._data = self._data[:1], self._data[1:]
        buffer[: len(piece)] = piece
        return len(piece)


def test_short_reads_change_nothing() -> None:
    data = b"alpha\nbeta\ngamma"
    assert [bytes(b.data) for b in read_blocks(cast(Any, Trickle(data)), 8)] == [b"alpha\n", b"beta\n", b"gamma"]
