"""However logs are cut into partitions, the report is that of a serial scan."""

from __future__ import annotations

import functools
import gzip
import random
from collections.abc import Callable
from pathlib import Path

import inline
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from troubleshoot import limits
from troubleshoot.engine import Engine
from troubleshoot.ingest import opened
from troubleshoot.parallel.partitions import Partition, Piece, cut, list_files, partition
from troubleshoot.parallel.worker import State, Worker
from troubleshoot.report.json import render_json

CORPUS = Path(__file__).parent.parent.parent / "corpus"
ORDINARY = "[2026-11-30 20:15:{:02d},{:03d}] [INFO] [rank{}] step {} loss 2.1"


@functools.cache
def engine() -> Engine:
    return Engine.default()


@functools.cache
def corpus_texts() -> list[bytes]:
    found = sorted(each for each in CORPUS.glob("*/*.log") if each.is_file() and each.stat().st_size < 20_000)
    return [each.read_bytes() for each in found]


def make_log(rng: random.Random, size: int) -> bytes:
    """Return a log of ordinary lines, and of incidents of the corpus as they stand there."""
    pieces: list[bytes] = []
    length = 0
    while length < size:
        lines = [
            ORDINARY.format(rng.randrange(60), rng.randrange(1000), rng.randrange(8), length + i) for i in range(20)
        ]
        piece = "\n".join(lines).encode() + b"\n"
        if rng.random() < 0.5:
            piece += rng.choice(corpus_texts()).removesuffix(b"\n") + b"\n"
        pieces.append(piece)
        length += len(piece)
    return b"".join(pieces)


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make everything small, so that little logs are large ones."""
    for name, value in {
        "PASTE_BYTES": 4_000,
        "FILE_PASTE_BYTES": 4_000,
        "BLOCK_BYTES": 16_000,
        "LINE_BYTES": 8_000,
        "TAIL_BYTES": 4_000,
        "HITS_PER_PATTERN": 12,
        "HITS_PER_PATTERN_IN_JOB": 20,
        "LEAST_HITS_PER_PATTERN": 3,
        "HITS_PER_SOURCE": 150,
        "HITS_PER_PATTERN_WHEN_FULL": 3,
    }.items():
        monkeypatch.setattr(limits, name, value)
    monkeypatch.setattr(opened, "SAMPLE_BYTES", 2_000)


def cut_all(files: tuple[Piece, ...], places: Callable[[Piece], list[int]]) -> list[Partition]:
    return [Partition((piece,)) for file in files for piece in cut(file, places(file))]


def same_report(paths: list[str], partitions: list[Partition], seed: int = 0) -> None:
    expected = list(engine().read(paths))
    found = inline.results_of(engine(), paths, partitions, seed)
    assert found == expected
    report, serial = (inline.timeless(engine().report_from(each, None, 0.0)) for each in (found, expected))
    assert render_json(report) == render_json(serial)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.floats(0, 1), max_size=8))
def test_any_cuts_give_the_report_of_a_serial_scan(
    tmp_path_factory: pytest.TempPathFactory, seed: int, cuts: list[float]
) -> None:
    folder = tmp_path_factory.mktemp("logs")
    rng = random.Random(seed)
    for rank in range(2):
        (folder / f"rank{rank}.log").write_bytes(make_log(rng, 40_000))
    files = list_files([folder], lambda _: pytest.fail("no such source")).files
    pieces = cut_all(files, lambda file: [int(share * file.size) for share in cuts])
    same_report([str(folder)], pieces, seed)


@pytest.mark.parametrize("shift", range(-3, 4))
def test_span_over_a_seam_is_found_once(tmp_path: Path, shift: int) -> None:
    trace = (
        b"Root Cause (first observed failure):\n[0]:\n"
        b"  time      : 2026-11-30_20:15:30\n  host      : node-1\n  rank      : 3 (local_rank: 3)\n"
        b"  exitcode  : 1 (pid: 4242)\n  error_file: <N/A>\n"
    )
    filler = b"".join(ORDINARY.format(i % 60, 0, 0, i).encode() + b"\n" for i in range(400))
    (tmp_path / "a.log").write_bytes(filler + trace + filler)
    files = list_files([tmp_path], lambda _: pytest.fail("no such source")).files
    spans = [
        hit for result in engine().read([tmp_path]) for hit in result.hits if hit.record.end_line > hit.record.line
    ]
    assert spans
    for line in range(1, 7):
        at = len(filler) + sum(len(each) for each in trace.splitlines(keepends=True)[:line]) + shift
        same_report([str(tmp_path)], cut_all(files, lambda _file, at=at: [at]))  # type: ignore[misc]


LARGE = b"".join(ORDINARY.format(i % 60, 0, 0, i).encode() + b"\n" for i in range(600))
OOM = b"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 1 GiB\n"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(LARGE + OOM + LARGE.removesuffix(b"\n"), id="no line feed at the end"),
        pytest.param(LARGE + b"x" * 50_000 + OOM + LARGE, id="a line longer than a block"),
        pytest.param(LARGE + b"\0" * 3_000 + OOM + LARGE, id="a hole"),
        pytest.param((LARGE + OOM + LARGE).decode().encode("utf-16"), id="two bytes a character"),
        pytest.param(b"\xef\xbb\xbf" + LARGE + OOM + LARGE, id="byte order mark"),
        pytest.param((LARGE + OOM + LARGE).replace(b"\n", b"\r\n"), id="carriage returns"),
        pytest.param(LARGE + b"10%\r20%\r" + OOM + b"\x1b[31mred\x1b[0m\n" + LARGE, id="terminal codes"),
        pytest.param(
            b"".join(b"2026-11-30T20:15:04.1Z stderr F " + line + b"\n" for line in (LARGE + OOM).splitlines())
            + b"2026-11-30T20:15:04.1Z stderr P torch.OutOfMemory\n2026-11-30T20:15:04.1Z stderr F Error: CUDA out\n"
            + b"2026-11-30T20:15:04.1Z stdout F done\n" * 400,
            id="records in pieces",
        ),
        pytest.param(
            b"".join(b'{"log":"%s\\n","stream":"stdout"}\n' % line for line in (LARGE + OOM + LARGE).splitlines()),
            id="JSON lines",
        ),
        pytest.param(gzip.compress(LARGE + OOM + random.Random(1).randbytes(40_000).hex().encode()), id="compressed"),
        pytest.param(
            b"==> /logs/rank-3/err.log <==\n" + LARGE + b"==> /logs/rank-4/err.log <==\n" + OOM, id="sections"
        ),
        pytest.param(b"".join((LARGE + OOM + LARGE).splitlines(keepends=True)[::-1]), id="newest line first"),
        pytest.param(b"", id="empty"),
    ],
)
def test_what_cannot_be_cut_is_read_whole(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.log").write_bytes(data)
    (tmp_path / "b.log").write_bytes(OOM)
    files = list_files([tmp_path], lambda _: pytest.fail("no such source")).files
    same_report([str(tmp_path)], cut_all(files, lambda file: [file.size * i // 7 for i in range(1, 7)]), 3)


def test_small_files_are_bundled_and_large_ones_cut() -> None:
    files = [Piece(i, f"{i}.log", 1_000) for i in range(100)] + [Piece(100, "large.log", 10_000_000)]
    parts = list(partition(files, 2, range_bytes=2_000_000))
    small = [part.pieces for part in parts if part.pieces[0].end is None]
    large = [piece for part in parts for piece in part.pieces if piece.end is not None]
    assert [piece.index for pieces in small for piece in pieces] == list(range(100))
    assert max(len(pieces) for pieces in small) > 4
    assert [(piece.begin, piece.end) for piece in large][:2] == [(0, 2_000_000), (2_000_000, 4_000_000)]
    assert large[-1].end == 10_000_000


def test_the_last_range_holds_the_last_steps() -> None:
    file = Piece(0, "a.log", 100_000)
    assert list(cut(file, [99_999])) == [file]


def test_plain_file_is_read_in_ranges(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(LARGE + OOM + LARGE)
    (file,) = list_files([tmp_path], lambda _: pytest.fail("no such source")).files
    pieces = list(cut(file, [20_000, 40_000]))
    results = Worker(engine().pack).scan_partition(Partition(tuple(pieces)))
    assert [result.state for result in results] == [State.RANGE] * 3
    assert sum(result.lines for result in results) == (LARGE + OOM + LARGE).count(b"\n")
    assert sum(result.bytes for result in results) == file.size


def test_the_more_files_the_fewer_hits_of_each_are_kept(tmp_path: Path) -> None:
    for rank in range(5):
        (tmp_path / f"rank{rank}.log").write_bytes(OOM * 9)
    files = list_files([tmp_path], lambda _: pytest.fail("no such source")).files
    assert {file.most for file in files} == {4}
    results = list(engine().read([tmp_path]))
    assert {max(result.counts.values()) for result in results} == {4}
    same_report([str(tmp_path)], [Partition(files)])
