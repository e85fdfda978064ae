"""The collect script runs anywhere, ends soon, shows no secret, and what it prints is read as evidence."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from troubleshoot.cli.collect import collect_command
from troubleshoot.collect import collect_script, part_for, parts
from troubleshoot.engine import Engine

SHELLS = [["dash"], ["busybox", "sh"], ["bash", "--posix"]]
SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzzzzz",
    "HF_TOKEN": "hf_abcdefghijklmnopqrstuvwxyz0123456789",
    "DB_URL": "postgresql://user:hunter2hunter2@db.example/x",
    "MY_API_KEY": "0123456789abcdef0123",
}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "collect.sh"
    path.write_text(collect_script())
    return path


def run(shell: list[str], script: Path, *parts: str, **env: str) -> subprocess.CompletedProcess[str]:
    found = shutil.which(shell[0])
    if found is None:
        pytest.skip(f"{shell[0]} is not installed (.ci/packages installs it)")
    environment = {"PATH": os.environ["PATH"], "HOME": "/nowhere", **env}
    command = [found, *shell[1:], str(script), *parts]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_every_part_is_printed_by_every_shell(shell: list[str], script: Path) -> None:
    done = run(shell, script, COLLECT_SECONDS="3")
    assert done.returncode == 0
    printed = re.findall(r"^===== troubleshoot collect: ([a-z]+) \(", done.stdout, re.MULTILINE)
    assert tuple(printed) == parts()
    assert done.stdout.rstrip().endswith("===== troubleshoot collect: end =====")


def test_listed_parts_are_those_that_run(script: Path) -> None:
    assert tuple(run(["dash"], script, "--list").stdout.split()) == parts()
    assert CliRunner().invoke(collect_command, ["--list"]).output.split() == list(parts())


def test_only_what_is_asked_for_runs(script: Path) -> None:
    printed = run(["dash"], script, "loader").stdout
    assert "collect: loader" in printed
    assert "collect: env" not in printed


def test_no_secret_of_the_environment_is_printed(script: Path) -> None:
    printed = run(["dash"], script, "env", WORLD_SIZE="16", **SECRETS).stdout
    assert "WORLD_SIZE=16" in printed
    for name, value in SECRETS.items():
        assert name in printed
        assert value not in printed
    assert "hunter2hunter2" not in printed


@pytest.mark.parametrize("tool", ["nvidia-smi", "fi_info"])
def test_a_tool_that_hangs_is_left_behind(tool: str, script: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    hanging = tmp_path / "bin" / tool
    hanging.write_text("#!/bin/sh\nsleep 60\n")
    hanging.chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    began = time.monotonic()
    done = run(["dash"], script, "gpu", "efa", COLLECT_SECONDS="1", PATH=path)
    assert done.returncode == 0
    assert "exit status" in done.stdout
    assert time.monotonic() - began < 30


def test_no_tools_at_all_is_no_failure(script: Path, tmp_path: Path) -> None:
    for name in ("sed", "grep", "cat", "env", "sort", "tr", "date", "ls", "tail", "sleep", "hostname", "uname"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    done = run(["dash"], script, COLLECT_SECONDS="2", PATH=str(tmp_path))
    assert done.returncode == 0
    assert "(not installed: " in done.stdout


def test_shellcheck_has_nothing_to_say(script: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed (.ci/packages installs it)")
    done = subprocess.run(["shellcheck", "-s", "sh", str(script)], capture_output=True, text=True, check=False)
    assert done.stdout == ""


def test_what_it_prints_is_read_as_evidence() -> None:
    printed = (
        "===== troubleshoot collect 1: 2026-11-30T22:54:14Z =====\n\n"
        "===== troubleshoot collect: loader (C library, loader, mpirun) =====\n"
        "$ ldd --version\nldd (Ubuntu GLIBC 2.31-0ubuntu9.16) 2.31\n"
        "OPAL_PREFIX=/opt/amazon-efa-ofi/openmpi\n\n"
        "===== troubleshoot collect: efa (EFA devices and libfabric) =====\n"
        "$ fi_info -p efa\nfi_getinfo: -61 (No data available)\n"
    )
    rules = {finding.rule for finding in Engine.default().scan_text(printed).findings}
    assert {"efa/image-glibc-too-old", "efa/provider-missing"} <= rules


def test_what_cannot_be_told_names_the_part_that_would() -> None:
    report = Engine.default().scan_text("NCCL version 2.21.5+cuda12.4\nWORLD_SIZE=16\ntraining starts\n")
    asked = {each.rule: each.collect for each in report.undecided}
    assert asked
    assert set(asked.values()) <= set(parts())


def test_every_part_named_for_a_system_is_in_the_script() -> None:
    from troubleshoot.collect import _PART_OF

    assert set(_PART_OF.values()) <= set(parts())
    assert part_for(("nothing-known",)) == ""
