"""Faults of the command line that abuse has found: each test is named after one."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from troubleshoot.rulepack.cache import cache_dir

ROOT = Path(__file__).parents[1]
SAMPLE = str(ROOT / "corpus/glibc-too-old-efa-mount/stderr.log")
TITLE = "The image's C library is too old"


def sh(command: str, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a shell line in which `ts` is the program and $1 the first argument."""
    line = f'ts() {{ "{sys.executable}" -m troubleshoot "$@"; }}\n{command}'
    return subprocess.run(["sh", "-c", line, "sh", *arguments], cwd=cwd, capture_output=True, text=True, timeout=120)


def test_closed_standard_error_breaks_nothing_and_errors_do_not_go_to_standard_output(tmp_path: Path) -> None:
    done = sh('ts "$1" 2>&-', tmp_path, SAMPLE)
    assert (done.returncode, TITLE in done.stdout) == (0, True)
    done = sh("ts nothing-there 2>&-", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")


def test_a_file_named_like_an_option_is_told_how_to_be_given(tmp_path: Path) -> None:
    for name in ("-job.log", "-x.log"):
        (tmp_path / name).write_text("x\n")
        done = sh(f"ts {name}", tmp_path)
        assert (done.returncode, f"help: a file of that name is given as ./{name}" in done.stderr) == (2, True)
    assert sh("ts ./-job.log", tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("", "error: --output names no file\nhelp: - is standard output"),
        (".", "error: cannot write .: is a directory\nhelp: it is a folder: name a file in it"),
        ("none/x", "error: cannot write none/x: no such file or directory\nhelp: its folder must exist"),
        ("/dev/full", "error: cannot write /dev/full: no space left on device"),
    ],
)
def test_an_output_that_cannot_be_written_is_told_with_the_help_that_fits(
    tmp_path: Path, output: str, told: str
) -> None:
    done = sh('ts "$1" -o "$2"', tmp_path, SAMPLE, output)
    assert (done.returncode, done.stderr.strip()) == (2, told)


def test_an_empty_path_is_not_the_folder_one_stands_in(tmp_path: Path) -> None:
    done = sh('ts "$unset"', tmp_path)
    assert (done.returncode, done.stderr.partition("\n")[0]) == (2, "error: an empty path")


def test_an_empty_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for command in ("ts logs", "ts postmortem logs"):
        assert "error: there is no file to read in logs" in sh(command, tmp_path).stderr


def test_a_thousand_processes_for_one_small_file_are_not_started(tmp_path: Path) -> None:
    began = time.monotonic()
    done = sh('ts -j 1000 "$1"', tmp_path, SAMPLE)
    assert (TITLE in done.stdout, time.monotonic() - began < 30) == (True, True)
    assert sh('ts -j 100000 "$1"', tmp_path, SAMPLE).returncode == 2


def test_a_home_that_is_no_absolute_path_makes_no_folder_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "rel")
    assert cache_dir() is None


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file that opens and cannot be read")
def test_a_file_that_fails_while_it_is_read_does_not_hide_the_others(tmp_path: Path) -> None:
    done = sh('ts /proc/self/mem "$1"', tmp_path, SAMPLE)
    assert TITLE in done.stdout
    assert "note: /proc/self/mem: cannot be read: Input/output error" in done.stdout


def test_a_store_that_cannot_be_opened_is_told_without_a_traceback(tmp_path: Path) -> None:
    done = sh("ts serve --port 0 --store sqlite:///none/x.db", tmp_path)
    told = "error: the store sqlite:///none/x.db cannot be opened: unable to open database file"
    assert (done.returncode, done.stderr.partition("\n")[0]) == (2, told)


def test_a_kubernetes_service_of_our_name_is_not_taken_for_a_setting(tmp_path: Path) -> None:
    done = sh('TROUBLESHOOT_PORT=tcp://10.0.0.1:8080 ts "$1"', tmp_path, SAMPLE)
    assert (done.returncode, TITLE in done.stdout) == (0, True)
    assert "takes a whole number" in sh('TROUBLESHOOT_PORT=x ts "$1"', tmp_path, SAMPLE).stderr


def test_no_rule_is_made_of_what_is_no_text(tmp_path: Path) -> None:
    done = sh("printf 'a\\000b failed' | ts rules new a/b", tmp_path)
    assert (done.returncode, "error: the lines are not text" in done.stderr) == (2, True)
    assert not (tmp_path / "rules").exists()
