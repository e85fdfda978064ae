"""Progress: on a terminal, after a while, and nowhere else."""

from __future__ import annotations

import io
import sys
import time

import pytest

from troubleshoot.cli import progress
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
