"""Control codes, carriage returns, NUL bytes, encodings: undone, with lines and offsets of the source as given."""
# ruff: noqa: E501 - samples stand on one line, as programs print them

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest
from reading import rows, rows_of, texts

from troubleshoot import limits
from troubleshoot.ingest import open_sources, open_text

BIG = limits.PASTE_BYTES + 1


def as_large(data: bytes, line: bytes = b"filler line of an ordinary log\n") -> tuple[bytes, int, int]:
    """Return the data behind so many lines that the source is a large one, and where it begins there."""
    count = BIG // len(line) + 1
    return line * count + data, count, count * len(line)


def large_rows(data: bytes) -> list[tuple[int, int, str]]:
    whole, lines, start = as_large(data)
    return [(line - lines, offset - start, text) for line, offset, text in rows(whole, 64 * 1024) if line > lines]


def test_clean_text_is_not_copied() -> None:
    data = b"one\ntwo\n"
    (block,) = open_text(data).blocks()
    assert (bytes(block.data), block.line_map) == (data, None)


CONTROLS = {
    "colour": (b"\x1b[1;31mRuntimeError\x1b[0m: CUDA\nx\n", [(1, 0, "RuntimeError: CUDA"), (2, 30, "x")]),
    "hyperlink": (b"\x1b]8;;file:///w/train.py\x1b\\train.py\x1b]8;;\x1b\\:88\n", [(1, 0, "train.py:88")]),
    "title": (b"\x1b]0;job\x07text\n", [(1, 0, "text")]),
    "charset and two-byte codes": (b"\x1b(Ba\x1bMb\x1b=c\n", [(1, 0, "abc")]),
    "jenkins note": (b"\x1b[8mha:////4AAAA+abc==\x1b[0mStarted by user\n", [(1, 0, "Started by user")]),
    "bar": (b"10%|#\r20%|##\rTraceback\nx\n", [(1, 0, "10%|#"), (1, 6, "20%|##"), (1, 13, "Traceback"), (2, 23, "x")]),
    "bar with codes": (b"\x1b[2K\r\x1b[36mEpoch 3\x1b[0m\n", [(1, 0, ""), (1, 5, "Epoch 3")]),
    "cursor up": (b"a: 10%\x1b[Aboom\n", [(1, 0, "a: 10%"), (1, 9, "boom")]),
    "crlf twice": (b"a\r\r\nb\rc\r\n", [(1, 0, "a"), (2, 4, "b"), (2, 6, "c")]),
    "gitlab section": (b"\x1b[0Ksection_start:1796069705:run\r\x1b[0K$ go\n", [(1, 0, "section_start:1796069705:run"), (1, 33, "$ go")]),
    "nul hole": (b"a\n" + b"\0" * 5000 + b"b\n", [(1, 0, "a"), (2, 2, "b")]),
    "backspace": (b"X\x08X_\x08bold\x1b[0m\n", [(1, 0, "Xbold")]),
    "unfinished bar": (b"a\n10%\r20%", [(1, 0, "a"), (2, 2, "10%"), (2, 6, "20%")]),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CONTROLS))
def test_control_codes(name: str) -> None:
    data, expected = CONTROLS[name]
    assert rows(data) == expected


@pytest.mark.parametrize("name", sorted(CONTROLS))
def test_control_codes_in_a_large_source(name: str) -> None:
    data, expected = CONTROLS[name]
    assert large_rows(data) == expected


def test_crlf_lines_pass_untouched() -> None:
    data = b"one\r\ntwo\r\n"
    (block,) = open_text(data).blocks()
    assert (bytes(block.data), block.line_map) == (data, None)


def test_nul_bytes_are_noted() -> None:
    source = open_text(b"a\n" + b"\0" * 7 + b"b\n")
    rows_of(source)
    assert [(n.code, n.text) for n in source.notes()] == [("nul-bytes", "7 NUL bytes from offset 2 on were skipped")]


def test_long_progress_line_is_cut_at_its_returns() -> None:
    bar = b"".join(b"%7d/9999999 it/s\r" % i for i in range(200_000)) + b"Traceback\nlast\n"
    found = rows(bar, 64 * 1024)
    assert [text for _, _, text in found] == [b.decode() for b in bar.replace(b"\n", b"\r").split(b"\r")[:-1]]
    assert {line for line, _, _ in found[:-1]} == {1}
    assert all(bar[offset : offset + len(text)] == text.encode() for _, offset, text in found)


def test_byte_order_mark_is_no_part_of_the_text() -> None:
    assert rows(b"\xef\xbb\xbfone\ntwo\n") == [(1, 3, "one"), (2, 7, "two")]


TEXT = "RuntimeError: boom – Größe\nzwei\n\nvier"


@pytest.mark.parametrize(
    ("encoding", "mark", "unit"),
    [("utf-16-le", b"\xff\xfe", 2), ("utf-16-be", b"\xfe\xff", 2), ("utf-32-le", b"\xff\xfe\0\0", 4), ("utf-32-be", b"\0\0\xfe\xff", 4)],
)  # fmt: skip
@pytest.mark.parametrize("repeat", [1, 30_000])
def test_wide_encoding_with_mark(encoding: str, mark: bytes, unit: int, repeat: int) -> None:
    text = (TEXT + "\n") * (repeat - 1) + TEXT
    data = mark + text.encode(encoding)
    found = rows(data, 64 * 1024)
    assert [t for _, _, t in found] == text.split("\n")
    assert [line for line, _, _ in found] == list(range(1, len(found) + 1))
    for _, offset, line in (*found[:4], found[-1]):
        assert data[offset : offset + unit * len(line)].decode(encoding) == line


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_encoding_without_mark(encoding: str) -> None:
    source = open_text("RuntimeError: boom\nsecond\n".encode(encoding))
    assert rows_of(source) == [(1, 0, "RuntimeError: boom"), (2, 38, "second")]
    assert source.info().encoding == encoding


def test_wide_text_that_was_cut_within_a_character() -> None:
    data = "RuntimeError: boom\nsecond\n".encode("utf-16-le")[1:]
    assert "second" in texts(data)


@pytest.mark.parametrize(
    ("encoding", "name", "text"),
    [
        ("gb18030", "gb18030", "错误: 没有那个文件或目录\n无法分配内存\n"),
        ("cp932", "cp932", "エラー: メモリを確保できません\n許可がありません\n"),
        ("cp949", "cp949", "오류: 메모리를 할당할 수 없습니다\n허가 거부\n"),
        ("cp1252", "cp1252", "Fehler: Nicht genügend Hauptspeicher verfügbar\nÜberlauf\n"),
    ],
)
def test_eight_bit_encoding(encoding: str, name: str, text: str) -> None:
    source = open_text(text.encode(encoding))
    found = rows_of(source)
    assert [t for _, _, t in found] == text.splitlines()
    assert found[1][1] == len(text.splitlines()[0].encode(encoding)) + 1
    assert source.info().encoding == name


def test_a_few_broken_bytes_do_not_make_another_encoding() -> None:
    data = b"ordinary line\n" * 200 + b"caf\xe9\n"
    source = open_text(data)
    assert rows_of(source)[-1][2] == "caf\ufffd"
    assert source.info().encoding == "utf-8"


ODD = {
    "no-break space": ("NCCL\u00a0WARN\u2007x\u3000y", "NCCL WARN x y"),
    "zero width": ("NC\u200bCL\u2060 WA\u00adRN\ufeff", "NCCL WARN"),
    "direction marks": ("\u202eabc\u202c", "abc"),
    "full width": ("ＮＣＣＬ　ＷＡＲＮ：１", "NCCL WARN:1"),
    "eight-bit escape": ("\u009b31mred\u009b0m", "red"),
    "encoded twice": ("donâ€™t find Ã¼ber", "don’t find über"),
    "progress blocks stay": ("50%|█████     | 5/10", "50%|█████     | 5/10"),
    "accents stay": ("Größe déjà vu 错误", "Größe déjà vu 错误"),
}


@pytest.mark.parametrize("name", sorted(ODD))
def test_odd_characters(name: str) -> None:
    text, expected = ODD[name]
    assert texts(text) == [expected]


def test_odd_blanks_in_a_large_source_are_seen_in_its_sample() -> None:
    assert large_rows("NCCL\u00a0WARN x\ny\n".encode()) == [(1, 0, "NCCL WARN x"), (2, 13, "y")]


def test_hole_of_a_sparse_file_costs_little_and_is_counted_once(tmp_path: Path) -> None:
    path = tmp_path / "job.log"
    with path.open("wb") as file:
        file.write(b"start\n" * 100)
        file.seek(256 << 20)
        file.write(b"\nRuntimeError: boom\nlast\n")
    (source,) = open_sources([path])
    began = time.process_time()
    tracemalloc.start()
    found = rows_of(source)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found[-2:] == [(102, (256 << 20) + 1, "RuntimeError: boom"), (103, (256 << 20) + 20, "last")]
    assert [text for _, _, text in found[:100]] == ["start"] * 100
    assert peak < 48 << 20
    assert time.process_time() - began < 10  # 0.5 s; before, 25 s and all of it in memory
    (note,) = source.notes()
    assert note.text == f"{(256 << 20) - 600} NUL bytes from offset 600 on were skipped"
