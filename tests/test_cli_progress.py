"""Progress: on a terminal, after a while, and nowhere else."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

import pytest

from troubleshoot.cli import main, preparing, progress
from troubleshoot.cli.preparing import Preparing
from troubleshoot.cli.progress import ReadProgress
from troubleshoot.model import ScanResult, Source


class Stderr(io.StringIO):
    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def shown(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool, quiet: bool, after_s: float, work_s: float) -> str:
    stderr = Stderr(is_terminal)
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(progress, "SHOW_AFTER_S", after_s)
    monkeypatch.setenv("TERM", "xterm")
    with ReadProgress(quiet=quiet, judge=len) as reading:
        reading.expect(3, 4_500_000)
        reading.advance(1_500_000)
        reading.done(ScanResult(Source("a.log"), (), {}))
        time.sleep(work_s)
        reading.advance(1_500_000)
        reading.done(ScanResult(Source("b.log"), (), {}))
        time.sleep(work_s / 2)
    return stderr.getvalue()


def test_long_work_at_a_terminal_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, is_terminal=True, quiet=False, after_s=0.0, work_s=0.6)
    assert "2 sources of 3 read, 3.0 MB" in text
    assert "2 findings so far" in text
    assert "left:" in text


@pytest.mark.parametrize(
    ("is_terminal", "quiet", "after_s"), [(False, False, 0.0), (True, True, 0.0), (True, False, 60.0)]
)
def test_otherwise_nothing_is(monkeypatch: pytest.MonkeyPatch, is_terminal: bool, quiet: bool, after_s: float) -> None:
    assert shown(monkeypatch, is_terminal=is_terminal, quiet=quiet, after_s=after_s, work_s=0.1) == ""


def prepared(
    monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool = True, quiet: bool = False, term: str = "xterm"
) -> str:
    stderr = Stderr(is_terminal)
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(preparing, "SHOW_AFTER_S", 0.0)
    monkeypatch.setenv("TERM", term)
    with Preparing(quiet=quiet):
        time.sleep(0.1)
    return stderr.getvalue()


def test_the_first_start_says_what_takes_so_long_and_wipes_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prepared(monkeypatch) == f"{preparing.TEXT}\r\x1b[K"
    assert prepared(monkeypatch, term="dumb") == f"{preparing.TEXT}\n"


def test_the_first_start_is_silent_in_a_pipe_and_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prepared(monkeypatch, is_terminal=False) == prepared(monkeypatch, quiet=True) == ""


def test_a_cache_that_cannot_be_written_is_told_where_the_start_was_slow(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    told = prepared(monkeypatch).partition("\x1b[K")[2]
    assert told.startswith("Prepared rules cannot be kept (")
    assert "file/troubleshoot: not a directory)" in told
    assert "XDG_CACHE_HOME" in told


def test_config_show_tells_where_prepared_rules_are_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def shown_line() -> str:
        with pytest.raises(SystemExit):
            main(["config", "show"])
        return capsys.readouterr().out.splitlines()[-1]

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert shown_line() == f"Prepared rules: {tmp_path}/troubleshoot"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert shown_line().startswith("Prepared rules: not kept (")
