"""A long report on a terminal goes through the reader's pager, as with git: $PAGER, else less; never into a pipe.

Left out with --no-pager, an empty PAGER or `cat`, on a dumb terminal, and where the text fits the screen anyway.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping

import click

META = "troubleshoot.no_pager"
DEFAULT = "less"
LESS = "FRX"  # leave at once what fits, colours as they are, keep the text on the screen; git's choice


def refuse_pager(ctx: click.Context, _param: click.Parameter, is_wanted: bool) -> None:
    """Remember that the caller wants no pager, for as long as the command runs."""
    if is_wanted:
        ctx.meta[META] = True


def pager_for(text: str, environment: Mapping[str, str]) -> list[str]:
    """Return the command of the pager that this text should go through, or nothing."""
    context = click.get_current_context(silent=True)
    if context is None or context.meta.get(META) or environment.get("TERM", "dumb") == "dumb":
        return []
    if sys.stdout is None or not sys.stdout.isatty():
        return []
    if text.count("\n") < shutil.get_terminal_size().lines:
        return []
    try:
        command = shlex.split(environment.get("PAGER", DEFAULT))
    except ValueError:  # a quote that is not closed
        return []
    if not command or command == ["cat"] or shutil.which(command[0]) is None:
        return []
    return command


def show(data: bytes, command: list[str]) -> bool:
    """Show bytes in the pager and wait until the reader leaves it; say whether that worked out."""
    environment = {"LESS": LESS, "LV": "-c", **os.environ}
    try:
        pager = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
    except OSError:
        return False
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a pager is the pager's
    try:
        with contextlib.suppress(BrokenPipeError):  # the reader left before the end
            pager.communicate(data)
        pager.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return True
