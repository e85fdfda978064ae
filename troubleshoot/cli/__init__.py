"""The command line: arguments -> Engine -> report -> exit code. No logic of its own.

Exit codes, fixed for ever:

    0    it ran, whatever it found
    1    what --fail-on names was found
    2    it could not run: wrong usage, nothing readable, a broken rule in `rules check`
    130  interrupted        141  the reader closed the pipe
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line with these arguments (those of the process if None) and exit."""
    from troubleshoot.cli.app import cli

    raise SystemExit(cli.main(args))
