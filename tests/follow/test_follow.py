"""Following tells each finding once, as it comes, and ends with the report that a scan of the whole would give."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from troubleshoot.engine import Engine
from troubleshoot.follow import Follower, Tail

LOG = (
    "step 1 loss 2.3\n"
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 3 has a total capacity\n"
    "step 2 loss 2.2\n"
    "mpirun: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found\n"
    "(required by /opt/amazon-efa-ofi/openmpi/lib/libopen-rte.so.40)\n"
    "slurmstepd: error: *** JOB 4711 ON gpu-node-3 CANCELLED AT 2026-11-30T20:15:04 DUE TO TIME LIMIT ***\n"
    "Connection closed\n"
)
RULES = {"cuda/out-of-memory", "efa/glibc-too-old-for-auto-mount", "slurm/time-limit"}


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.default()


def test_each_finding_comes_once_when_its_line_comes(engine: Engine, tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("")
    follower = Follower(engine, [Tail(str(log))])
    assert follower.step() == []
    with log.open("a") as file:
        file.write(LOG[: LOG.index("step 2")])
    assert [finding.rule for finding in follower.step()] == ["cuda/out-of-memory"]
    with log.open("a") as file:
        file.write(LOG[LOG.index("step 2") :])
    told = [finding.rule for finding in follower.step()]
    assert "cuda/out-of-memory" not in told
    assert set(told) >= RULES - {"cuda/out-of-memory"}
    assert follower.step() == []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, len(LOG)), max_size=8))
def test_the_end_is_the_report_of_the_whole_however_it_grew(engine: Engine, tmp_path: Path, cuts: list[int]) -> None:
    log = tmp_path / "job.log"
    log.write_text("")
    follower = Follower(engine, [Tail(str(log))])
    for end in [*sorted(cuts), len(LOG)]:
        log.write_text(LOG[:end])
        follower.step()
    follower.step(last=True)
    grown, whole = follower.report(), engine.scan_paths([log])
    places = [[(finding.rule, each.line, each.offset) for each in finding.evidence] for finding in whole.findings]
    assert [
        [(finding.rule, each.line, each.offset) for each in finding.evidence] for finding in grown.findings
    ] == places
    assert (grown.stats.lines, grown.stats.bytes) == (whole.stats.lines, whole.stats.bytes)


def test_an_unfinished_line_waits_for_its_end(engine: Engine, tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("RuntimeError: No CUDA GPUs are avail")
    follower = Follower(engine, [Tail(str(log))])
    assert follower.step() == []
    with log.open("a") as file:
        file.write("able\n")
    assert [finding.rule for finding in follower.step()] == ["cuda/no-device"]


def test_a_file_written_anew_is_read_again_and_said(engine: Engine, tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("step 1\n" * 100)
    follower = Follower(engine, [Tail(str(log))])
    follower.step()
    log.write_text("RuntimeError: No CUDA GPUs are available\n")
    assert [finding.rule for finding in follower.step()] == ["cuda/no-device"]
    assert "truncated" in {note.code for note in follower.report().notes}


def test_a_missing_file_is_waited_for(engine: Engine, tmp_path: Path) -> None:
    log = tmp_path / "later.log"
    follower = Follower(engine, [Tail(str(log))])
    assert follower.step() == []
    log.write_text("RuntimeError: No CUDA GPUs are available\n")
    assert [finding.rule for finding in follower.step()] == ["cuda/no-device"]


def test_a_pipe_tells_before_it_ends(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "troubleshoot", "--follow", "-"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"RuntimeError: No CUDA GPUs are available\n")
    process.stdin.flush()
    assert b"No GPU is visible" in process.stdout.readline()
    process.stdin.close()
    rest = process.stdout.read()
    assert process.wait(timeout=60) == 0
    assert b"cuda/no-device" in rest


def test_ctrl_c_ends_with_the_report(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("RuntimeError: No CUDA GPUs are available\n")
    command = [sys.executable, "-m", "troubleshoot", "--follow", str(log)]

    def take_interrupts() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a test run in the background may have been told to ignore them

    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=take_interrupts)
    assert process.stdout is not None
    assert b"No GPU is visible" in process.stdout.readline()
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"severity high" in rest


def test_a_stream_without_line_ends_is_not_kept_for_ever() -> None:
    read, write = os.pipe()
    with os.fdopen(read, "rb", buffering=0) as reader, os.fdopen(write, "wb", buffering=0) as writer:
        tail = Tail("stdin", reader)
        kept = 0
        for _ in range(40):
            writer.write(b"x" * 60_000)
            kept += len(tail.read())
        assert kept > 0
    assert isinstance(reader, io.FileIO)
