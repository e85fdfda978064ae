"""`--context N`: the lines around the evidence. The logs are read again for them; standard input is kept meanwhile."""

from __future__ import annotations

import contextlib
import io
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

import click

from troubleshoot.cli.failing import say
from troubleshoot.cli.options import stdin_stream

if TYPE_CHECKING:
    from troubleshoot.ingest.sources import OpenSource
    from troubleshoot.model import Report

Command = TypeVar("Command", bound=Callable[..., Any])

MOST_LINES = 100  # before and after each
IN_MEMORY_BYTES = 32 * 1024 * 1024
MOST_KEPT_BYTES = 1024 * 1024 * 1024  # on disk; of what comes later no surroundings are shown


def context_option(command: Command) -> Command:
    """Add the option that shows more of the logs than the evidence."""
    return click.option(
        "-C",
        "--context",
        type=click.IntRange(0, MOST_LINES),
        default=0,
        metavar="N",
        help="Show so many lines around each line of evidence (text, json, ndjson).",
    )(command)


class KeptStream(io.RawIOBase):
    """A stream that keeps what is read from it, so that it can be read a second time."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._kept = tempfile.SpooledTemporaryFile(IN_MEMORY_BYTES)  # noqa: SIM115  # lives as long as the command
        self._room = MOST_KEPT_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        got: int = self._stream.readinto(buffer) or 0  # type: ignore[attr-defined]  # standard input has it
        kept = min(got, self._room)
        with contextlib.suppress(OSError):  # a full disk costs surroundings, not the report
            self._kept.write(memoryview(buffer)[:kept])
        self._room -= kept
        return got

    def again(self) -> BinaryIO:
        """Return what was kept, from its beginning."""
        self._kept.seek(0)
        return cast(BinaryIO, self._kept)


def stdin_to_read(paths: Sequence[str], *, again: bool) -> BinaryIO | None:
    """Return standard input where the paths name it; `again`: in a way that lets it be read twice."""
    if "-" not in paths:
        return None
    stream = stdin_stream()
    if stream.isatty():
        say("Paste the log, then press Ctrl-D on a line of its own.")
    return cast(BinaryIO, KeptStream(stream)) if again else stream


def with_context(report: Report, paths: Sequence[str], stdin: BinaryIO | None, number: int) -> Report:
    """Return the report with the lines around its evidence. Pipes and devices among the paths are not read again."""
    from troubleshoot.surroundings import with_surroundings

    return with_surroundings(report, _sources(paths, stdin), number)


def _sources(paths: Sequence[str], stdin: BinaryIO | None) -> Iterator[OpenSource]:
    from troubleshoot.ingest.sources import open_sources

    again = [path for path in paths if path != "-" and not _is_stream(path)]
    kept = stdin.again() if isinstance(stdin, KeptStream) else None
    yield from open_sources([*again, "-"] if kept is not None else again, stdin=kept)


def _is_stream(path: str) -> bool:
    try:
        mode = Path(path).stat().st_mode
    except OSError:  # a glob, or gone meanwhile
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)
