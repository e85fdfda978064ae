"""The hook for Run:ai: what is put before a workload's command."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

WRAP = Path(__file__).parents[1] / "troubleshoot" / "hooks" / "runai" / "wrap.sh"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A stand-in for our command that notes how it was called."""
    stand_ins = tmp_path / "bin"
    stand_ins.mkdir()
    (stand_ins / "troubleshoot").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\n')
    (stand_ins / "troubleshoot").chmod(0o755)
    return {
        "PATH": f"{stand_ins}:{os.environ['PATH']}",
        "TROUBLESHOOT_LOGS": str(tmp_path / "logs"),
        "TROUBLESHOOT_SETTLE_S": "0",
    }


def wrap(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(WRAP), *command], env=environment, capture_output=True, text=True, timeout=30, check=False
    )


def test_failure_is_reported_and_the_code_stays(environment: dict[str, str], tmp_path: Path) -> None:
    done = wrap(environment, "sh", "-c", "echo out of memory; echo more >&2; exit 7")
    assert done.returncode == 7
    assert done.stdout == "out of memory\nmore\n"
    [log] = (tmp_path / "logs").glob("*.log")
    assert log.read_text() == "out of memory\nmore\n"
    called = (tmp_path / "called").read_text().splitlines()
    assert called[0].startswith(f"postmortem {tmp_path}/logs --on runai-cli")
    assert f"--output {tmp_path}/logs-postmortem.html" in called[0]
    assert len(called) == 2


def test_success_makes_no_report(environment: dict[str, str], tmp_path: Path) -> None:
    assert wrap(environment, "echo", "a  b").stdout == "a  b\n"
    assert not (tmp_path / "called").exists()


def test_only_one_pod_reports(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "logs" / "reporting").mkdir(parents=True)
    assert wrap(environment, "false").returncode == 1
    assert not (tmp_path / "called").exists()


def test_command_runs_where_no_log_can_be_kept(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file is in the way")
    done = wrap(environment, "sh", "-c", "echo well; exit 3")
    assert (done.returncode, done.stdout) == (3, "well\n")
    assert "no report" in done.stderr


def test_signal_reaches_the_command(environment: dict[str, str], tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    command = f"trap 'echo saving; exit 9' TERM; touch {ready}; while :; do sleep 0.1; done"
    run = subprocess.Popen(["sh", str(WRAP), "sh", "-c", command], env=environment, stdout=subprocess.PIPE, text=True)
    until = time.monotonic() + 20
    while not ready.exists() and time.monotonic() < until:
        time.sleep(0.05)
    run.send_signal(signal.SIGTERM)
    out, _ = run.communicate(timeout=20)
    assert (run.returncode, out) == (9, "saving\n")


def test_a_missing_command_of_ours_is_told(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bin" / "troubleshoot").unlink()
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("sh", "mkdir", "rmdir", "mkfifo", "mktemp", "tee", "rm", "hostname", "sed", "false"):
        (bare / name).symlink_to(Path("/usr/bin") / name)
    done = wrap({**environment, "PATH": str(bare)}, "false")
    assert done.returncode == 1
    assert "the image has no troubleshoot" in done.stderr
