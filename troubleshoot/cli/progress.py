"""Progress on standard error for long work: what has been read so far, after two seconds, on a terminal only."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

    from troubleshoot.model import SourceInfo

SHOW_AFTER_S = 2.0


class ReadProgress:
    """A line that counts sources and bytes; `tick` is the engine's callback. Nothing is shown or imported before two
    seconds are over, nor when standard error is no terminal or `quiet` is set."""

    def __init__(self, *, quiet: bool) -> None:
        self._is_wanted = not quiet and sys.stderr.isatty()
        self._sources = 0
        self._bytes = 0
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

    def tick(self, info: SourceInfo) -> None:
        self._sources += 1
        self._bytes += info.bytes
        if self._shown is not None:
            self._shown.update(self._shown.task_ids[0], description=self._text())

    def _text(self) -> str:
        from troubleshoot.report import words

        return f"{words.count(self._sources, 'source')} read, {words.size(self._bytes)}"

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            if not self._is_wanted:
                return
            columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
            self._shown = Progress(*columns, console=Console(stderr=True), transient=True)
            self._shown.add_task(self._text(), total=None)
            self._shown.start()
