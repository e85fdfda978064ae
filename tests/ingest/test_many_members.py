"""The limit on an archive's members, at its real size."""

from __future__ import annotations

import io
import tracemalloc

import pytest

from troubleshoot import limits
from troubleshoot.ingest import open_upload


def header(name: bytes, size: int) -> bytes:
    head = bytearray(512)
    head[: len(name)] = name
    head[100:108], head[124:136], head[156:157], head[257:265] = b"0000644\0", b"%011o\0" % size, b"0", b"ustar\00000"
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head)


@pytest.mark.slow
def test_members_up_to_the_limit_are_opened_in_little_memory() -> None:
    """5 s of one core; a scan of them takes 30 s, some 0.3 ms a member, which is what opening a source costs."""
    member = b"step 1\n".ljust(512, b"\0")
    archive = io.BytesIO(
        b"".join(header(b"logs/rank-%d.log" % i, 7) + member for i in range(limits.ARCHIVE_MEMBERS + 50))
    )
    tracemalloc.start()
    ranks, notes = [], []
    for source in open_upload(archive, "many.tar"):
        ranks.append(source.source.identity.rank)
        notes += source.notes()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ranks[:-1] == [*range(limits.ARCHIVE_MEMBERS)]
    assert [(note.code, note.source) for note in notes] == [("members", "many.tar")]
    assert peak < 32 << 20
