"""Progress on standard error for long work: what has been read so far, after two seconds, on a terminal only."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from troubleshoot.model import ScanResult

SHOW_AFTER_S = 2.0
JUDGING_SHARE = 20  # counting the findings so far takes at most so small a part of the time

Judge = Callable[[Sequence["ScanResult"]], int]


class ReadProgress:
    """A bar of bytes, with sources, findings so far and the time left; a watcher of the scan. Nothing is shown or
    imported before two seconds are over, nor when standard error is no terminal or `quiet` is set.

    `judge` counts the findings in the results so far."""

    def __init__(self, *, quiet: bool, judge: Judge | None = None) -> None:
        self._is_wanted = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._judge = judge
        self._results: list[ScanResult] = []
        self._findings = 0
        self._judge_at = 0.0
        self._sources = self._sources_expected = 0
        self._bytes = self._bytes_expected = 0
        self._lock = threading.Lock()
        self._shown: RichProgress | None = None
        self._timer = threading.Timer(SHOW_AFTER_S, self._show)
        self._timer.daemon = True

    def __enter__(self) -> ReadProgress:
        if self._is_wanted:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._is_wanted = False
            self._timer.cancel()
            if self._shown is not None:
                self._shown.stop()

    def expect(self, sources: int, bytes: int) -> None:
        self._sources_expected, self._bytes_expected = sources, bytes

    def advance(self, bytes: int) -> None:
        self._bytes += bytes
        self._update()

    def done(self, result: ScanResult) -> None:
        self._sources += 1
        if self._judge is not None and self._is_wanted:
            self._results.append(result)
            self._count_findings(self._judge)
        self._update()

    def _count_findings(self, judge: Judge) -> None:
        began = time.monotonic()
        if self._shown is None or began < self._judge_at:
            return
        self._findings = judge(self._results)
        ended = time.monotonic()
        self._judge_at = ended + JUDGING_SHARE * (ended - began)

    def _update(self) -> None:
        if self._shown is not None:
            done = min(self._bytes, self._bytes_expected)  # archives give more bytes than they have
            total = self._bytes_expected or None
            self._shown.update(self._shown.task_ids[0], description=self._text(), completed=done, total=total)

    def _text(self) -> str:
        from troubleshoot.report import words

        of = f" of {self._sources_expected}" if self._sources_expected > self._sources else ""
        found = f", {words.count(self._findings, 'finding')} so far" if self._judge is not None else ""
        return f"{words.count(self._sources, 'source')}{of} read, {words.size(self._bytes)}{found}"

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        with self._lock:
            if not self._is_wanted:
                return
            columns = (
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=20),
                TimeElapsedColumn(),
                TextColumn("left:"),
                TimeRemainingColumn(),
            )
            self._shown = Progress(*columns, console=Console(stderr=True), transient=True)
            self._shown.add_task(self._text(), total=self._bytes_expected or None)
            self._shown.start()
