"""Where text goes: standard output or a file, and how it may look there."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from troubleshoot.cli.pager import pager_for, show
from troubleshoot.errors import UsageError
from troubleshoot.report.look import MAX_WIDTH, MIN_WIDTH, PLAIN, Look

STDOUT = "-"


_WRITE_HELP = {
    errno.ENOENT: "its folder must exist",
    errno.EISDIR: "it is a folder: name a file in it",
    errno.EACCES: "its folder must be yours to write",
}


def look_of(stream: TextIO, color: str, environment: Mapping[str, str]) -> Look:
    """Return how text may look on a stream. `color` is auto, always or never."""
    is_terminal = stream.isatty()
    width = shutil.get_terminal_size((MAX_WIDTH, 24)).columns if is_terminal else MAX_WIDTH
    encoding = (stream.encoding or "ascii").lower().replace("_", "-")
    return Look(
        colour=_has_colour(is_terminal, color, environment),
        width=max(MIN_WIDTH, min(width, MAX_WIDTH)),
        unicode=encoding.startswith("utf"),
    )


def _has_colour(is_terminal: bool, color: str, environment: Mapping[str, str]) -> bool:
    """A flag decides over the environment, and there a no over a yes. See no-color.org and force-color.org."""
    if color != "auto":
        return color == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return environment["FORCE_COLOR"] != "0"
    return is_terminal and environment.get("TERM") != "dumb"


def look_for(output: str, color: str) -> Look:
    """Return how text may look in a file or on standard output."""
    if output == STDOUT and sys.stdout is not None:
        return look_of(sys.stdout, color, os.environ)
    return Look(colour=True) if color == "always" else PLAIN


def emit(text: str, output: str = STDOUT, *, for_people: bool = True, paged: bool = False) -> None:
    """Write text to standard output or, whole or not at all, to a file. Raises UsageError for a file that cannot be.

    What is for people is put into the terminal's encoding; what is for programs is UTF-8 everywhere. `paged`: a long
    text goes through the reader's pager."""
    if not output:
        raise UsageError("--output names no file", help="- is standard output")
    if output != STDOUT:
        _write_file(Path(output), text)
        return
    if sys.stdout is None:
        raise UsageError("standard output is closed", help="--output FILE writes to a file")
    encoding = (sys.stdout.encoding or "utf-8") if for_people else "utf-8"
    data = text.encode(encoding, "backslashreplace")
    sys.stdout.flush()
    if paged and (pager := pager_for(text, os.environ)) and show(data, pager):
        return
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def flush() -> None:
    """Flush standard output now: a closed pipe must show while somebody can still handle it."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _write_file(path: Path, text: str) -> None:
    data = text.encode("utf-8", "backslashreplace")
    try:
        if path.exists() and not path.is_file():  # a pipe or a device: there is nothing to replace
            with path.open("wb") as stream:
                stream.write(data)
            return
        _replace_file(Path(os.path.realpath(path)), data)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f"cannot write {path}: {why}", help=_WRITE_HELP.get(error.errno or 0, "")) from error


def _replace_file(path: Path, data: bytes) -> None:
    """Write beside the file and rename over it, so that no reader ever sees half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            shutil.copymode(path, beside)
        beside.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
