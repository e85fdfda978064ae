"""The command line: arguments -> Engine -> report -> exit code. No logic of its own.

Exit codes, fixed for ever:

    0    it ran, whatever it found
    1    what --fail-on names was found
    2    it could not run: wrong usage, nothing readable, a broken rule in `rules check`
    130  interrupted        141  the reader closed the pipe
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

INTERRUPTED = 130
YOUNG_OBJECTS = 50_000  # before the collector looks for cycles: a scan makes few, and each look costs a start 1 ms


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line with these arguments and exit. With those of the process (None) the process ends with it."""
    from_process = args is None
    if from_process:
        gc.set_threshold(YOUNG_OBJECTS, 20, 100)
    try:
        from troubleshoot.cli.app import cli

        code = cli.main(args)
    except SystemExit as exit:
        code = exit.code
    except KeyboardInterrupt:  # while the modules are loaded, before the guard of commands stands
        sys.stderr.write("interrupted\n")
        code = INTERRUPTED
    if from_process:
        _leave(code)
    sys.exit(code)


def _leave(code: object) -> NoReturn:
    """End the process without taking a hundred modules apart one by one, which took a tenth of a short scan. What was
    asked for at exit is done; where a thread still runs, the interpreter ends in its own way."""
    if not isinstance(code, int) or threading.active_count() > 1 or sys.gettrace() is not None:
        sys.exit(code)  # type: ignore[arg-type]  # whatever SystemExit was given
    atexit._run_exitfuncs()  # the only way to run them before os._exit; multiprocessing does the same
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or its reader is gone: said already
            stream.flush()
    os._exit(code)
