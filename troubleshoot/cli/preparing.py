"""The first start after an install or a change of rules: seconds of work, told on a terminal while they last.

    Preparing the rules for the first scan ...        after one second; wiped away once it is done

What was prepared is kept for the next start. Where it cannot be kept, each start takes as long, and that is told too.
"""

from __future__ import annotations

import os
import sys
import threading
from types import TracebackType

from troubleshoot.report.printable import visible

SHOW_AFTER_S = 1.0
TEXT = "Preparing the rules: some seconds, once ..."
NOT_KEPT = "Prepared rules cannot be kept ({why}): each start takes as long. XDG_CACHE_HOME names a folder for them."


class Preparing:
    """Tells of work before the first scan that takes longer than a second; on a terminal, unless `quiet`."""

    def __init__(self, *, quiet: bool) -> None:
        self._is_wanted = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._is_shown = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(SHOW_AFTER_S, self._show)
        self._timer.daemon = True

    def __enter__(self) -> Preparing:
        if self._is_wanted:
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._is_wanted = False
            self._timer.cancel()
            if not self._is_shown:
                return
            is_plain = os.environ.get("TERM", "dumb") == "dumb"
            sys.stderr.write("\n" if is_plain else "\r\x1b[K")
            if error is None:
                self._tell_if_not_kept()
            sys.stderr.flush()

    def _show(self) -> None:
        with self._lock:
            if self._is_wanted:
                self._is_shown = True
                sys.stderr.write(TEXT)
                sys.stderr.flush()

    def _tell_if_not_kept(self) -> None:
        from troubleshoot.rulepack.cache import why_not_kept

        why = why_not_kept()
        if why:
            sys.stderr.write(visible(NOT_KEPT.format(why=why) + "\n"))
