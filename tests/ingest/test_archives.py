"""Files, folders, compressed files and archives, honest and hostile ones."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import pickle
import tarfile
import threading
import zipfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import cast

import pytest
import zstandard
from reading import rows_of

from troubleshoot import limits
from troubleshoot.errors import SourceError
from troubleshoot.ingest import OpenSource, open_sources, open_stream, open_upload
from troubleshoot.ingest import streams as streams_module
from troubleshoot.model import Block

LOG = b"first\nRuntimeError: boom\n"
ROWS = [(1, 0, "first"), (2, 6, "RuntimeError: boom")]
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


def read(*paths: Path | str) -> dict[str, tuple[list[tuple[int, int, str]], list[str]]]:
    """Return rows and note codes by the name of the source, all read in turn."""
    found = {}
    for source in open_sources([str(path) for path in paths]):
        found[source.source.name] = (rows_of(source), [note.code for note in source.notes()])
    return found


def tar_of(members: dict[str, bytes], **options: str) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", **options) as tar:  # type: ignore[call-overload] # format by name
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zip_of(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize("suffix", sorted(COMPRESSORS))
def test_compressed_file_is_read_by_its_magic_whatever_its_name(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "job.txt"
    path.write_bytes(COMPRESSORS[suffix](LOG))
    assert read(path) == {str(path): (ROWS, [])}


@pytest.mark.parametrize("suffix", sorted(COMPRESSORS))
def test_members_that_follow_one_another_are_one_text(tmp_path: Path, suffix: str) -> None:
    compress = COMPRESSORS[suffix]
    path = tmp_path / "nvidia-bug-report.log.gz"
    path.write_bytes(compress(b"first\nRuntime") + compress(b"Error: boom\n"))
    assert read(path) == {str(path): (ROWS, [])}


@pytest.mark.parametrize("suffix", sorted(COMPRESSORS))
@pytest.mark.parametrize("size", [10, 1000, 20_000])
def test_compressed_file_that_ends_early_keeps_what_was_read(tmp_path: Path, suffix: str, size: int) -> None:
    text = b"".join(b"line %d of the log %d\n" % (i, i * 7919 % 1000) for i in range(size))
    whole = COMPRESSORS[suffix](text)
    path = tmp_path / "a.gz"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    found, codes = read(path)[str(path)]
    assert codes == ["cut"]
    assert all(line.startswith("line ") for _, _, line in found[:-1])


@pytest.mark.parametrize("suffix", sorted(COMPRESSORS))
def test_damaged_compressed_file_is_noted(tmp_path: Path, suffix: str) -> None:
    rng = os.urandom(200_000)
    whole = bytearray(COMPRESSORS[suffix](rng.hex().encode()))
    whole[len(whole) // 2 :] = b"\x55" * (len(whole) - len(whole) // 2)
    path = tmp_path / "a"
    path.write_bytes(whole)
    assert read(path)[str(path)][1] in (["damaged"], ["cut"])


def test_long_compressed_file_is_read_ahead_and_can_be_left_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams_module, "AHEAD_AFTER_BYTES", 100_000)
    monkeypatch.setattr(streams_module, "AHEAD_CHUNK_BYTES", 10_000)
    text = b"".join(b"line %d\n" % i for i in range(100_000))
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(text)[:-4])
    (source,) = open_sources([path])
    assert b"".join(bytes(block.data) for block in source.blocks(50_000)) == text
    assert [note.code for note in source.notes()] == ["cut"]
    (source,) = open_sources([path])
    blocks = cast(Generator[Block, None, None], source.blocks(50_000))
    next(blocks)
    next(blocks)
    blocks.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "read-ahead"]


@pytest.mark.parametrize("suffix", ["", *sorted(COMPRESSORS)])
def test_tar_gives_its_members(tmp_path: Path, suffix: str) -> None:
    data = tar_of({"logs/b.log": LOG, "logs/a/stderr.log": b"x\n", "empty": b""})
    path = tmp_path / "bundle.tar"
    path.write_bytes(COMPRESSORS[suffix](data) if suffix else data)
    assert read(path) == {
        f"{path}/logs/b.log": (ROWS, []),
        f"{path}/logs/a/stderr.log": ([(1, 0, "x")], []),
        f"{path}/empty": ([], []),
    }


def test_tar_with_long_names_and_large_numbers(tmp_path: Path) -> None:
    name = "x" * 90 + "/" + "é" * 120 + "/a.log"
    for kind in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=kind) as tar:
            info = tarfile.TarInfo(name)
            info.size = len(LOG)
            tar.addfile(info, io.BytesIO(LOG))
        path = tmp_path / "bundle.tar"
        path.write_bytes(out.getvalue())
        assert read(path) == {f"{path}/{name}": (ROWS, [])}


def test_zip_gives_its_members(tmp_path: Path) -> None:
    path = tmp_path / "logs.zip"
    path.write_bytes(zip_of({"a.log": LOG, "dir/": b"", "dir/b.log": b"x\n"}))
    assert read(path) == {f"{path}/a.log": (ROWS, []), f"{path}/dir/b.log": ([(1, 0, "x")], [])}


def test_archives_within_archives(tmp_path: Path) -> None:
    inner = gzip.compress(tar_of({"deep/a.log": LOG}))
    path = tmp_path / "bundle.zip"
    path.write_bytes(zip_of({"one.tar": tar_of({"two.tgz": inner, "three.zip": zip_of({"b.log": LOG})})}))
    assert read(path) == {
        f"{path}/one.tar/two.tgz/deep/a.log": (ROWS, []),
        f"{path}/one.tar/three.zip/b.log": (ROWS, []),
    }


def test_archives_deeper_than_the_limit_are_named(tmp_path: Path) -> None:
    data = LOG
    for i in range(limits.ARCHIVE_DEPTH + 2):
        data = tar_of({f"{i}": data})
    path = tmp_path / "deep.tar"
    path.write_bytes(data)
    ((name, (found, codes)),) = read(path).items()
    assert (found, codes) == ([], ["depth"])
    assert name.startswith(str(path))


def test_standard_input_and_upload(tmp_path: Path) -> None:
    assert rows_of(open_stream(io.BytesIO(gzip.compress(LOG)))) == ROWS
    (plain,) = open_sources(["-"], stdin=io.BytesIO(LOG))
    assert (plain.source.name, plain.source.kind, rows_of(plain)) == ("stdin", "stdin", ROWS)
    for data in (zip_of({"a.log": LOG}), gzip.compress(tar_of({"a.log": LOG}))):
        found = [(s.source.name, rows_of(s)) for s in open_upload(io.BytesIO(data), "bundle")]
        assert found == [("bundle/a.log", ROWS)]
    source = open_stream(io.BytesIO(zip_of({"a.log": LOG})))
    assert (rows_of(source), [n.code for n in source.notes()]) == ([], ["skipped-zip"])


def test_folder_is_walked_sorted_without_links_and_pipes(tmp_path: Path) -> None:
    outside = tmp_path / "outside.log"
    outside.write_bytes(LOG)
    top = tmp_path / "job"
    (top / "b").mkdir(parents=True)
    (top / "b" / "2.log").write_bytes(LOG)
    (top / "a.log").write_bytes(LOG)
    (top / "z.log").symlink_to(outside)
    (top / "loop").symlink_to(top)
    (top / ".git").mkdir()
    (top / ".git" / "x.log").write_bytes(LOG)
    os.mkfifo(top / "pipe")
    found = read(top)
    assert list(found) == [str(top / "a.log"), str(top / "b" / "2.log"), str(top)]
    assert found[str(top)] == ([], ["skipped-members"])


def test_glob_and_path_that_names_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(LOG)
    (tmp_path / "b.txt").write_bytes(LOG)
    assert list(read(tmp_path / "*.log")) == [str(tmp_path / "a.log")]
    with pytest.raises(SourceError):
        read(tmp_path / "none*")


def test_plain_files_may_be_collected_first_and_read_later(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_bytes(LOG)
    assert [rows_of(source) for source in list(open_sources([tmp_path]))] == [ROWS, ROWS]


def test_named_pipe_that_the_user_gives_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    if os.fork() == 0:
        path.write_bytes(LOG)
        os._exit(0)
    assert read(path) == {str(path): (ROWS, [])}


SKIPPED = {
    "skipped-pickle": pickle.dumps({"entries": [1, 2]}, protocol=4),
    "skipped-core": b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x04\x00" + bytes(500),
    "skipped-elf": b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00" + bytes(500),
    "skipped-image": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "skipped-safetensors": (200).to_bytes(8, "little") + b'{"weight":{"dtype":"F32"}}',
    "skipped-torch": zip_of({"archive/data.pkl": b"x"}),
    "skipped-binary": bytes(range(256)) * 8,
    "skipped-journal": b"LPKSHHRH" + bytes(200),
}


@pytest.mark.parametrize("code", sorted(SKIPPED))
def test_what_is_no_log_is_named_and_not_opened(tmp_path: Path, code: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(SKIPPED[code])
    source: OpenSource
    (source,) = open_sources([path])
    assert rows_of(source) == []
    assert [note.code for note in source.notes()] == [code]
    assert source.info().bytes == len(SKIPPED[code])


def test_flight_recorder_dump_is_told_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "comm_lib_trace_rank_3"
    path.write_bytes(pickle.dumps({"version": "2.4"}, protocol=2))
    (source,) = open_sources([path])
    assert source.source.identity.rank == 3
    assert "flight recorder" in source.notes()[0].text


# --- hostile ----------------------------------------------------------------------------------------------------------


def test_members_with_hostile_names_and_kinds_are_only_shown(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name in ("../../etc/passwd", "/absolute.log", "bad\x1b[31m\nname"):
            info = tarfile.TarInfo(name)
            info.size = len(LOG)
            tar.addfile(info, io.BytesIO(LOG))
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            info = tarfile.TarInfo("special")
            info.type = kind
            info.linkname = "/etc/passwd"
            tar.addfile(info)
    path = tmp_path / "hostile.tar"
    path.write_bytes(out.getvalue())
    found = read(path)
    assert [codes for _, codes in found.values()] == [[], [], [], ["skipped-members"]]
    assert f"{path}/bad\ufffd[31m\ufffdname" in found
    assert list(tmp_path.iterdir()) == [path]


def test_zip_link_is_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "link.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("link")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    assert read(path) == {str(path): ([], ["skipped-members"])}


def test_gzip_bomb_ends_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RATIO_FLOOR_BYTES", 1 << 20)
    monkeypatch.setattr(limits, "ARCHIVE_RATIO", 100)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(gzip.compress(bytes(200 << 20), 1), 9))
    (source,) = open_sources([path])
    for _ in source.blocks():
        pass
    assert "bomb" in [note.code for note in source.notes()]
    assert source.info().bytes < 100 << 20


@pytest.mark.parametrize("suffix", ["bz2", "xz", "zst"])
def test_bombs_of_other_kinds_end_with_a_note(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RATIO_FLOOR_BYTES", 4 << 20)
    path = tmp_path / "bomb"
    path.write_bytes(COMPRESSORS[suffix](b"\n" * (limits.RATIO_FLOOR_BYTES + (24 << 20))))
    (source,) = open_sources([path])
    read_bytes = sum(len(block.data) for block in source.blocks())
    assert [note.code for note in source.notes()] == ["bomb"]
    assert read_bytes <= limits.RATIO_FLOOR_BYTES + (8 << 20)


def test_zip_bomb_of_members_that_share_their_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "RATIO_FLOOR_BYTES", 1 << 20)
    monkeypatch.setattr(limits, "ARCHIVE_RATIO", 50)
    path = tmp_path / "bomb.zip"
    path.write_bytes(zip_of({f"{i}.log": b"a\n" * (1 << 20) for i in range(20)}))
    codes = [code for _, found in read(path).values() for code in found]
    assert "bomb" in codes


def test_archive_with_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams_module.Purse.__init__, "__defaults__", (limits.TOTAL_BYTES, 5))
    for name, data in (
        ("many.tar", tar_of({str(i): b"x\n" for i in range(9)})),
        ("many.zip", zip_of({str(i): b"x\n" for i in range(9)})),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        found = read(path)
        assert len(found) == 6
        assert found[str(path)] == ([], ["members"])


def test_total_size_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams_module.Purse.__init__, "__defaults__", (40, 100))
    for i in range(3):
        (tmp_path / f"{i}.log").write_bytes(LOG)
    found = read(tmp_path)
    assert sum(len(text) + 1 for rows, _ in found.values() for _, _, text in rows) <= 41
    assert [code for _, codes in found.values() for code in codes] == ["total-size"]


@pytest.mark.parametrize("cut", [100, 513, 700, 1030, 1500])
def test_tar_that_ends_early(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "cut.tar"
    path.write_bytes(tar_of({"a.log": LOG, "b.log": LOG * 40})[:cut])
    read(path)  # nothing raises; what is whole is there
    if cut > 1024:
        assert read(path)[f"{path}/a.log"] == (ROWS, [])
        assert "damaged" in read(path)[str(path)][1]


def test_damaged_zip(tmp_path: Path) -> None:
    whole = zip_of({"a.log": os.urandom(5000).hex().encode()})
    path = tmp_path / "bad.zip"
    path.write_bytes(whole[:3000])
    assert read(path) == {str(path): ([], ["damaged"])}
    path.write_bytes(whole[:500] + b"\x55" * 400 + whole[900:])
    assert [codes for _, codes in read(path).values()] == [["damaged"]]


def test_encrypted_zip_member_is_named(tmp_path: Path) -> None:
    data = bytearray(zip_of({"a.log": LOG}, zipfile.ZIP_STORED))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path = tmp_path / "secret.zip"
    path.write_bytes(data)
    assert [codes for _, codes in read(path).values()] == [["damaged"]]


def test_unreadable_and_vanished_files_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(LOG)
    (source,) = open_sources([path])
    path.unlink()
    assert rows_of(source) == []
    assert [note.code for note in source.notes()] == ["unreadable"]


def test_file_that_grows_while_read_ends_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(LOG)
    (source,) = open_sources([path])
    with path.open("ab") as file:
        file.write(b"later\n")
    assert rows_of(source) == ROWS
    assert [note.code for note in source.notes()] == ["grew"]


def test_file_that_shrinks_is_noted(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(LOG)
    (source,) = open_sources([path])
    path.write_bytes(b"first\n")
    assert rows_of(source) == ROWS[:1]
    assert [note.code for note in source.notes()] == ["shrank"]
