"""Long text on a terminal goes through $PAGER, and nowhere else."""

from __future__ import annotations

import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from fcntl import ioctl
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAMPLE = str(ROOT / "corpus/glibc-too-old-efa-mount/stderr.log")


@pytest.fixture
def pager(tmp_path: Path) -> Path:
    path = tmp_path / "pager"
    path.write_text(f'#!/bin/sh\necho "LESS=$LESS" > {tmp_path}/seen\ncat >> {tmp_path}/seen\necho PAGED\n')
    path.chmod(0o755)
    return path


def at_terminal(*arguments: str, environment: Mapping[str, str], rows: int = 20) -> tuple[str, int]:
    """Run the program at a terminal; return what the terminal shows and the exit code."""
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
    base = {key: value for key, value in os.environ.items() if key not in ("PAGER", "LESS", "TERM", "LINES", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-m", "troubleshoot", "--quiet", *arguments],
        stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env={**base, "TERM": "xterm", **environment},
    )  # fmt: skip
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    return shown.decode(), process.wait()


def test_long_report_is_paged_as_git_does_it(pager: Path) -> None:
    shown, code = at_terminal(SAMPLE, environment={"PAGER": str(pager)})
    assert (shown.strip().splitlines()[-1], code) == ("PAGED", 0)
    seen = (pager.parent / "seen").read_text()
    assert seen.startswith("LESS=FRX\n")
    assert "\x1b[1;31mThe image's C library is too old" in seen


def test_exit_code_is_kept_and_so_is_the_readers_own_less(pager: Path) -> None:
    _shown, code = at_terminal("--fail-on", "high", SAMPLE, environment={"PAGER": f"{pager} -x", "LESS": "M"})
    assert code == 1
    assert (pager.parent / "seen").read_text().startswith("LESS=M\n")


@pytest.mark.parametrize(
    ("arguments", "changes"),
    [
        (("--no-pager", SAMPLE), {}),
        ((SAMPLE,), {"PAGER": ""}),
        ((SAMPLE,), {"PAGER": "cat"}),
        ((SAMPLE,), {"PAGER": "no-such-program-anywhere"}),
        ((SAMPLE,), {"PAGER": "'"}),
        ((SAMPLE,), {"TERM": "dumb"}),
        ((SAMPLE, "--format", "json"), {}),
    ],
)
def test_otherwise_the_text_is_printed(pager: Path, arguments: tuple[str, ...], changes: dict[str, str]) -> None:
    shown, code = at_terminal(*arguments, environment={"PAGER": str(pager), **changes})
    assert ("PAGED" in shown, "efa/glibc-too-old-for-auto-mount" in shown, code) == (False, True, 0)


def test_what_fits_the_screen_is_printed(pager: Path) -> None:
    assert "PAGED" not in at_terminal(SAMPLE, environment={"PAGER": str(pager)}, rows=200)[0]


def test_a_pager_that_is_left_early_is_no_error(tmp_path: Path) -> None:
    early = tmp_path / "early"
    early.write_text("#!/bin/sh\nexit 3\n")
    early.chmod(0o755)
    assert at_terminal("rules", "list", environment={"PAGER": str(early)}) == ("", 0)


def test_a_pipe_sees_no_pager(pager: Path) -> None:
    environment = {**os.environ, "PAGER": str(pager), "TERM": "xterm"}
    done = subprocess.run(
        [sys.executable, "-m", "troubleshoot", SAMPLE], env=environment, capture_output=True, text=True, check=True
    )
    assert "PAGED" not in done.stdout
