"""No input may raise; places are right whatever the bytes; unwrapping loses nothing that the raw line gave."""

from __future__ import annotations

import gzip
import io
import random
import time
import zipfile
from typing import Any, cast
from unittest import mock

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reading import rows, rows_of

from troubleshoot import limits
from troubleshoot.ingest import OpenSource, open_stream, open_text, open_upload
from troubleshoot.model import Source
from troubleshoot.normalise import detect_encoding, is_wide

PIECES = [
    b"2026-11-30T20:15:04.123456789Z stdout P ",
    b"2026-11-30T20:15:04.123456789Z stderr F ",
    b"2026-11-30T20:15:04.123456Z 01E+",
    b"2026-11-30T20:15:04.123456Z 01E ",
    b'{"log":"a\\nb\\n","stream":"stdout","time":"2026-11-30T20:15:04Z"}',
    b'{"log":"\\ud800","stream":"stdout","time":"x"}',
    b'{"events":[{"timestamp":1,"message":"x',
    b'{"events":[', b"[{", b"}]}", b'"message":"', b'{"_source":{"message":["a"]}}',
    b"\x1b[31m", b"\x1b", b"\x1b]8;;", b"\x1b[A", b"\r", b"\r\n", b"\n", b"\0", b"\x08", b"\xef\xbb\xbf", b"\xff\xfe",
    b"\xc2\xa0", b"\xe2\x80\x8b", b"\xc3", b"\xe9", "“”".encode(), b"&lt;", b"&#1114112;", b"&amp;lt;",
    b"<br>", b"</p>", b"<http://a|b>", b"```", b"=\n", b"=3D", b"=C3", b"> ", b"    ", b"1: ", b"[1,3]<stderr>:",
    b"[rank3]: ", b"host-1: ", b"(required by ", b"NCCL WARN x", b"Traceback", b"\\n", b"Nov 31 25:61:61 h k[1]: ",
    b"[99999999999999.123456] ",
    b"apiVersion: v1\nkind: Pod\n", b"A=1\nB=2\nC=3\nPATH=/\n", b"1399 20:15:04.000000 1 a:1] ", b"<999>1 - - - - - - ",
    b"FROM x\nRUN y \\\n", b"provider: efa\n", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"x" * 70,
]  # fmt: skip
soup = st.lists(st.sampled_from(PIECES) | st.binary(max_size=12), max_size=30).map(b"".join)


def check(source: OpenSource, data: bytes, size: int = limits.BLOCK_BYTES) -> list[tuple[int, int, str]]:
    """Read a source through and check what every reader relies on."""
    found = rows_of(source, size)
    lines = data.count(b"\n") + 1
    for line, offset, text in found:
        assert 1 <= line <= lines
        assert 0 <= offset <= len(data)
        peeled = source.normaliser.peel(text, line)
        assert len(peeled.text) <= len(text) + 40
    source.info()
    source.notes()
    for block in source.joined_blocks() or ():
        assert block.line_map is not None
        assert len(block.line_map.lines) == len(block.line_map.offsets) == bytes(block.data).count(b"\n")
    return found


def check_maps(data: bytes) -> None:
    for block in open_text(data).blocks():
        if block.line_map is not None:
            text = bytes(block.data)
            count = text.count(b"\n") + (bool(text) and not text.endswith(b"\n"))
            assert len(block.line_map.lines) >= count
            assert len(block.line_map.offsets) == len(block.line_map.lines)


BEGINNINGS = [
    b"timestamp,message\n", b"sep=\t\nTime\tLine\n", b"__CURSOR=x\n__REALTIME_TIMESTAMP=1796069704123456\n",
    b'{"results":[[{"field":"@message","value":"x"}],',
]  # fmt: skip
BEGUN = [
    b'"', b'""', b",", b'1796069704,"', b"\t", b"\n\n", b"MESSAGE\n", b"MESSAGE=x\n", b"\5\0\0\0\0\0\0\0", b"A=b\n",
    b"\xff" * 8, b'[{"field":1}],', b"20:15:04 ", b"20:15:03 ",
]  # fmt: skip


@settings(max_examples=250, deadline=None)
@given(
    st.sampled_from(BEGINNINGS),
    st.lists(st.sampled_from(BEGUN + PIECES), max_size=30).map(b"".join),
    st.integers(1, 90),
)
def test_any_export_is_read_and_peeled(begin: bytes, rest: bytes, size: int) -> None:
    data = begin + rest
    check(open_text(data), data)
    with mock.patch.object(limits, "PASTE_BYTES", 16):
        check(open_text(data), data, size)


@settings(max_examples=250, deadline=None)
@given(soup)
def test_any_text_is_read_and_peeled(data: bytes) -> None:
    check(open_text(data), data)
    check_maps(data)


@settings(max_examples=60, deadline=None)
@given(soup, st.integers(1, 300))
def test_any_large_text_is_read_and_peeled(data: bytes, size: int) -> None:
    with mock.patch.object(limits, "FILE_PASTE_BYTES", 64):
        source = OpenSource(Source("x", "file"), lambda: cast(Any, io.BytesIO(data)), size=len(data))
        check(source, data, size)


@settings(max_examples=60, deadline=None)
@given(soup, st.sampled_from([b"", b"\x1f\x8b", b"PK\x03\x04", b"BZh9", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"]))
def test_any_stream_is_opened(data: bytes, magic: bytes) -> None:
    for source in open_upload(io.BytesIO(magic + data)):
        for _ in source.blocks():
            pass
        source.info()
    rows_of(open_stream(io.BytesIO(magic + data)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["tar.gz", "zip"]))
def test_any_damage_to_an_archive_is_survived(seed: int, kind: str) -> None:
    rng = random.Random(seed)
    data = bytearray(ARCHIVES[kind])
    for _ in range(rng.randrange(1, 12)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    del data[rng.randrange(len(data) // 2, len(data) + 1) :]
    for source in open_upload(io.BytesIO(bytes(data))):
        for _ in source.blocks():
            pass
        source.notes()


def _archives() -> dict[str, bytes]:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.log", "b/c.log"):
            archive.writestr(name, b"RuntimeError: boom\n" * 50)
    from test_archives import tar_of

    return {"zip": out.getvalue(), "tar.gz": gzip.compress(tar_of({"a.log": b"x\n" * 500, "b": b"y"}))}


ARCHIVES = _archives()


@settings(max_examples=80, deadline=None)
@given(soup)
def test_cutting_into_blocks_changes_nothing(data: bytes) -> None:
    def large(size: int) -> list[tuple[int, int, str]]:
        whole = data + b"\n" + b"plain line\n" * 300
        with mock.patch.object(limits, "FILE_PASTE_BYTES", 2048):
            source = OpenSource(Source("x", "file"), lambda: cast(Any, io.BytesIO(whole)), size=len(whole))
            return sorted((line, offset, text.rstrip("\r")) for line, offset, text in rows_of(source, size))

    if b"01E+" not in data:  # GitLab's continuations are joined within a block
        assert large(300) == large(limits.BLOCK_BYTES)


WORD = "Zyxw"


@settings(max_examples=200, deadline=None)
@given(soup, soup)
def test_a_word_on_a_line_is_found_in_what_is_left_of_it(before: bytes, after: bytes) -> None:
    """Repairs may take codes and tags out of a line, never a word that stands clear of them."""
    data = before + b" " + WORD.encode() + b" " + after
    assume(not is_wide(detect_encoding(data)[0]))  # a mark or NUL pattern that lies
    assume(b"\x1b]" not in before and b"\x08" not in after)  # a title, which is not shown; a word struck out
    found = rows(data)
    assert any(WORD in text for _, _, text in found)


def test_a_gigabyte_line_costs_a_block() -> None:
    filler = memoryview(b"x" * limits.BLOCK_BYTES)

    class Endless:
        """A line of 1 GiB that is never in memory."""

        left = 1 << 30

        def readinto(self, buffer: memoryview) -> int:
            got = min(self.left, len(buffer))
            self.left -= got
            buffer[:got] = filler[:got]
            return got

    source = OpenSource(Source("x", "stdin"), lambda: cast(Any, Endless()))
    began = time.monotonic()
    sizes = [len(block.data) for block in source.blocks()]
    assert max(sizes) <= limits.BLOCK_BYTES + limits.LINE_BYTES
    assert (1 << 30) <= sum(sizes) <= (1 << 30) + len(sizes) * limits.LINE_OVERLAP_BYTES
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("piece", [b"\n", b"a\n", b"\r", b"\x1b[31m\n", b"\0\n", b"> \n", b"0: \n", b"{}\n", b"<br>\n"])
def test_a_million_tiny_lines_end_in_time(piece: bytes) -> None:
    data = piece * (limits.PASTE_BYTES // len(piece))
    began = time.monotonic()
    source = open_text(data)
    for _ in source.blocks():
        pass
    source.joined_blocks()
    source.info()
    assert time.monotonic() - began < 20


SLOW = {
    "open tags": b"<" * 200_000,
    "open codes": b"\x1b[" * 100_000,
    "open links": b"\x1b]8;;" * 50_000,
    "brackets": b"[" * 200_000,
    "parentheses": b"(" * 200_000,
    "digits": b"1" * 200_000,
    "blanks": b" " * 200_000 + b"x",
    "tabs": b"a\t" * 100_000,
    "open json": b'{"a":' * 60_000,
    "open strings": b'{"log":"' + b"\\" * 200_000,
    "entities": b"&#" * 100_000,
    "pipes": b"| " * 100_000,
    "bars": b"9%|" * 70_000,
    "labels": b'{a="b", ' * 30_000,
    "quotes": b"> " * 100_000,
    "escaped": b"\\n" * 100_000,
    "ranks": b"[rank1]: " * 20_000,
    "words": b"aaa-" * 50_000,
    "soft breaks": b"=\n" * 50_000 + b"=3D",
    "equal signs": b"A=" * 100_000,
    "times": b"2026-11-30T20:15:04Z " * 9_000,
}


@pytest.mark.parametrize("name", sorted(SLOW))
def test_hostile_line_takes_linear_time(name: str) -> None:
    data = SLOW[name] + b"\nRuntimeError: boom\n"
    began = time.process_time()
    source = open_text(data)
    found = rows_of(source)
    for line, _, text in found[:50] + found[-50:]:
        source.normaliser.peel(text, line)
    source.joined_blocks()
    source.info()
    assert time.process_time() - began < 5
