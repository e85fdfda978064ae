"""The pool of processes: same report, workers that die, interrupts."""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import replace
from pathlib import Path

import inline
import pytest

from troubleshoot import limits
from troubleshoot.engine import Engine
from troubleshoot.model import ScanResult
from troubleshoot.parallel import partitions, pool
from troubleshoot.parallel.drive import run_partitions
from troubleshoot.parallel.partitions import Partition, default_workers, list_files
from troubleshoot.parallel.worker import PieceResult, Worker
from troubleshoot.report.json import render_json
from troubleshoot.watching import never

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 1 GiB\n"
STEP = "[2026-11-30 20:15:04,001] [INFO] step {} loss 2.1\n"


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.default()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for rank in range(30):
        text = "".join(STEP.format(i) for i in range(50)) + (OOM if rank == 7 else "")
        (tmp_path / f"rank{rank}.log").write_text(text)
    return tmp_path


def test_processes_give_the_serial_report(engine: Engine, folder: Path) -> None:
    serial, parallel = (inline.timeless(engine.scan_paths([folder], workers=n)) for n in (1, 2))
    assert serial.findings[0].rule == "cuda/out-of-memory"
    assert render_json(parallel) == render_json(serial)


class DyingWorker(Worker):
    """A worker that dies over some files; over others, once."""

    def scan_partition(self, partition: Partition, stop: object = None) -> tuple[PieceResult, ...]:
        for piece in partition.pieces:
            mark = Path(piece.path + ".seen")
            if piece.path.endswith("rank3.log") or (piece.path.endswith("rank5.log") and not mark.exists()):
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return super().scan_partition(partition)


@pytest.mark.skipif(sys.platform != "linux", reason="the worker that dies is put in place by forking")
def test_dead_worker_costs_the_one_file_it_dies_of(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = {result.source.name: result for result in engine.read([folder])}
    monkeypatch.setattr(pool, "Worker", DyingWorker)
    found = {result.source.name: result for result in engine.read([folder], workers=2)}
    assert list(found) == list(expected)
    notes = [note for result in found.values() for note in result.notes]
    assert "worker-died" in [note.code for note in notes]
    assert [note.source for note in notes if note.code == "worker-lost"] == [str(folder / "rank3.log")]
    for name, result in found.items():
        if not name.endswith("rank3.log"):
            assert replace(result, notes=()) == expected[name]


def test_stopped_reading_gives_what_was_read(engine: Engine, folder: Path) -> None:
    class AfterFive:
        count = 0

        def expect(self, sources: int, bytes: int) -> None:
            assert (sources, bytes) == (30, sum(each.stat().st_size for each in folder.iterdir()))

        def advance(self, bytes: int) -> None: ...

        def done(self, result: ScanResult) -> None:
            self.count += 1

    for workers in (1, 2):
        watcher = AfterFive()
        report = engine.scan_paths([folder], workers=workers, watcher=watcher, stop=lambda: watcher.count >= 5)  # noqa: B023
        assert 5 <= len(report.sources) < 30
        assert [note.code for note in report.notes].count("interrupted") == 1
        assert report.job is not None and report.job.partial


def test_large_source_is_stopped_within(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(OOM + "".join(STEP.format(i) for i in range(100_000)) * 12)
    began = time.monotonic()
    asked = iter(range(10**9))
    report = engine.scan_paths([tmp_path], stop=lambda: next(asked) > 3)
    assert time.monotonic() - began < 60
    assert 0 < report.sources[0].bytes < (tmp_path / "a.log").stat().st_size
    assert report.findings[0].rule == "cuda/out-of-memory"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="signals")
def test_interrupt_gives_the_partial_report_and_130(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(OOM)
    pipe = tmp_path / "b.log"
    with (tmp_path / "c.log").open("w") as stream:
        for _ in range(60):
            stream.write("".join(STEP.format(i) for i in range(100_000)))
    os.mkfifo(pipe)
    command = [
        sys.executable,
        "-m",
        "troubleshoot",
        "--isolated",
        "-j",
        "2",
        str(tmp_path / "a.log"),
        str(tmp_path / "c.log"),
    ]
    run = subprocess.Popen([*command, str(pipe)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    writer = os.open(pipe, os.O_WRONLY)  # it is being read now
    os.write(writer, OOM.encode())
    run.send_signal(signal.SIGINT)
    os.close(writer)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert "interrupted" in out
    assert "once more ends at once" in err


def test_few_small_files_are_worth_one_process(folder: Path) -> None:
    assert default_workers(list_files([folder], lambda _: pytest.fail("no such source"))) == 1


def test_spawned_processes_give_the_serial_report(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS and Windows: nothing is inherited, the pack is sent to each process."""
    monkeypatch.setattr(pool, "can_fork", lambda: False)
    serial = engine.scan_paths([folder], workers=1)
    spawned = engine.scan_paths([folder], workers=2)
    assert serial.findings[0].rule == "cuda/out-of-memory"
    assert render_json(inline.timeless(spawned)) == render_json(inline.timeless(serial))


@pytest.mark.skipif(sys.platform != "linux", reason="processes are forked")
@pytest.mark.parametrize("noisy", [False, True])
def test_beginning_of_a_large_file_is_read_before_processes_are_forked(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noisy: bool
) -> None:
    monkeypatch.setattr(partitions, "LEARN_BYTES", 200_000)
    steps = "".join(STEP.format(i) + "node-0:10:12 [0] NCCL INFO Connected all rings\n" * noisy for i in range(2_000))
    (tmp_path / "large.log").write_text(steps * 30 + OOM + steps)
    listing = list_files([tmp_path], lambda _: pytest.fail("no such source"))
    cut = partitions.partition(listing.files, 2, range_bytes=800_000)
    runner = pool.LocalPool(2)
    rest, begun = runner.begin(engine.pack, cut, never)
    assert [each.piece.end for each in begun] == [200_000]
    assert rest[0].pieces[0].begin == 200_000
    found = list(run_partitions(engine.pack, listing, rest, runner, begun=begun))
    assert found == list(engine.read([tmp_path], workers=1))


def test_what_cannot_be_cut_is_not_begun(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "LEARN_BYTES", 200_000)
    line = '{"time": "2026-11-30T20:15:04Z", "level": "info", "msg": "step 1"}\n'
    (tmp_path / "large.log").write_text(line * 40_000)
    listing = list_files([tmp_path], lambda _: pytest.fail("no such source"))
    cut = partitions.partition(listing.files, 2, range_bytes=800_000)
    assert pool.LocalPool(2).begin(engine.pack, cut, never) == (cut, ())


def tar_with(folder: Path, name: str, members: int) -> None:
    with tarfile.open(folder / name, "w") as archive:
        for i in range(members):
            info = tarfile.TarInfo(f"rank-{i}.log")
            info.size = len(OOM)
            archive.addfile(info, io.BytesIO(OOM.encode()))


def test_members_of_all_archives_together_are_limited(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ARCHIVE_MEMBERS", 25)
    for i in range(5):
        tar_with(tmp_path, f"{i}.tar", 9)
    results = list(engine.read([tmp_path], workers=2))
    assert sum(len(result.hits) > 0 for result in results) == 25
    assert {note.code for result in results for note in result.notes} == {"members"}


def test_bytes_of_all_files_together_are_limited(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "TOTAL_BYTES", 10_000)
    for i in range(5):
        (tmp_path / f"{i}.log").write_text(STEP * 80)
    results = list(engine.read([tmp_path], workers=2))
    assert sum(result.info.bytes for result in results if result.info) <= 10_000
    assert [note.code for result in results for note in result.notes] == ["total-size"]


def test_ratio_of_an_archive_is_limited_in_a_process_too(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RATIO_FLOOR_BYTES", 100_000)
    monkeypatch.setattr(limits, "ARCHIVE_RATIO", 20)
    for i in range(3):
        (tmp_path / f"{i}.log.gz").write_bytes(gzip.compress(b"step 1\n" * 1_000_000))
    serial, parallel = ([*engine.read([tmp_path], workers=n)] for n in (1, 2))
    codes = [note.code for result in parallel for note in result.notes]
    assert codes == [note.code for result in serial for note in result.notes]
    assert "bomb" in codes


@pytest.mark.skipif(sys.platform != "linux", reason="signals")
def test_interrupt_ends_a_silent_standard_input(tmp_path: Path) -> None:
    """Whoever writes into the pipe says nothing more, and does not go away."""
    command = [sys.executable, "-m", "troubleshoot", "--isolated"]
    run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.stdin is not None and run.stdout is not None and run.stderr is not None
    run.stdin.write(OOM.encode())
    run.stdin.flush()
    time.sleep(1.5)
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=30) == 130, run.stderr.read()
    out = run.stdout.read().decode()
    run.stdin.close()
    assert "GPU memory ran out" in out
    assert "interrupted" in out


def test_steps_far_from_the_end_are_found_by_ranges_too(engine: Engine, tmp_path: Path) -> None:
    steps = "".join(STEP.format(i) for i in range(60_000))
    (tmp_path / "rank-3.log").write_text(steps + "2026-11-30 20:16:00,000 WARNING peer is silent\n" * 60_000)
    listing = list_files([tmp_path], lambda _: pytest.fail("no such source"))
    cut = partitions.partition(listing.files, 2, range_bytes=1_000_000)
    assert len(cut) > 3
    found = list(run_partitions(engine.pack, listing, cut, pool.LocalPool(2)))
    assert found == list(engine.read([tmp_path], workers=1))
    assert [each.step for each in found[0].progress] == [59_997, 59_998, 59_999]
