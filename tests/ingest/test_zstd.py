"""Zstandard data that ends early is told, whatever its frames are made of."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
import zstandard
from reading import rows_of

from troubleshoot.ingest import open_sources

TEXT = b"".join(b"line %d of the log %d\n" % (i, i * 7919 % 1000) for i in range(3000))
SKIPPABLE = b"\x53\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"12345"


def compressed(text: bytes, **options: bool) -> bytes:
    return zstandard.ZstdCompressor(**options).compress(text)


def streamed(text: bytes) -> bytes:
    """Return what a pipe through `zstd` gives: no size in the frame's head."""
    engine = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    return engine.compress(text) + engine.flush()


WHOLE = {
    "size in the head": compressed(TEXT),
    "with a checksum": compressed(TEXT, write_checksum=True),
    "without a size": streamed(TEXT),
    "stored and repeated blocks": compressed(os.urandom(9000).hex().encode() + b"\n" + b"x" * 300_000 + b"\n"),
    "two frames": compressed(TEXT) + streamed(TEXT),
    "a skippable frame between": compressed(TEXT) + SKIPPABLE + compressed(TEXT),
    "empty frame": compressed(b"") + compressed(TEXT),
}


def codes(path: Path, data: bytes) -> list[str]:
    path.write_bytes(data)
    (source,) = open_sources([path])
    rows_of(source)
    return [note.code for note in source.notes()]


@pytest.mark.parametrize("form", sorted(WHOLE))
def test_whole_data_gives_no_note(tmp_path: Path, form: str) -> None:
    assert codes(tmp_path / "a.zst", WHOLE[form]) == []


@pytest.mark.parametrize("form", sorted(WHOLE))
def test_data_that_ends_early_gives_one(tmp_path: Path, form: str) -> None:
    rng = random.Random(form)
    whole = WHOLE[form]
    first = len(compressed(TEXT)) if "frame" in form else 0  # an end between two frames is an end
    for cut in {len(whole) - 1, len(whole) - 4, *(rng.randrange(len(whole) // 2, len(whole)) for _ in range(12))}:
        if cut not in (first, first + len(SKIPPABLE)):
            assert codes(tmp_path / "a.zst", whole[:cut]) == ["cut"], cut
