"""Opens what the user names: files, folders, globs, standard input, text.

In: paths, a stream or text. Out: `OpenSource`s, each read once, as blocks. Nothing here knows of rules.
"""

from __future__ import annotations

import glob
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, cast

from troubleshoot import limits
from troubleshoot.errors import SourceError
from troubleshoot.ingest.blocks import Readable, read_blocks
from troubleshoot.model import Block, Identity, Normaliser, Note, Source, SourceInfo
from troubleshoot.normalise import Clock, LineNormaliser


class OpenSource:
    """A source that is ready to be read, once."""

    def __init__(self, source: Source, open_stream: Callable[[], Readable], *, written: datetime | None = None) -> None:
        self.source = source
        self._open = open_stream
        self._notes: list[Note] = []
        self._bytes = 0
        self._lines = 0
        self.normaliser: Normaliser = LineNormaliser(source.identity, Clock(written or datetime.now(UTC)))

    def blocks(self, size: int = limits.BLOCK_BYTES) -> Iterator[Block]:
        """Yield the source's blocks in order. A block is valid until the next one is asked for."""
        try:
            stream = self._open()
        except OSError as error:
            self.note("unreadable", f"cannot be opened: {error.strerror or error}")
            return
        try:
            yield from self._counted(read_blocks(stream, size))
        except OSError as error:
            self.note("unreadable", f"reading stopped: {error.strerror or error}")
        finally:
            close = getattr(stream, "close", None)
            if close is not None and self.source.kind == "file":
                close()

    def joined_blocks(self) -> Iterator[Block] | None:
        """Return the shadow text in which hard-wrapped lines are joined, or None when the source looks unwrapped.
        Ask after the blocks were read."""
        return None

    def note(self, code: str, text: str) -> None:
        self._notes.append(Note(code, text, self.source.name))

    def notes(self) -> tuple[Note, ...]:
        """Return what the reader should know of how the reading went, so far."""
        return tuple(self._notes)

    def info(self) -> SourceInfo:
        """Return what the source turned out to be. Complete once all blocks were read."""
        return SourceInfo(self.source.name, self._bytes, self._lines, identity=self.source.identity)

    def _counted(self, blocks: Iterable[Block]) -> Iterator[Block]:
        for block in blocks:
            yield block
            self._bytes = block.offset + len(block.data)
            if block.last:
                tail = bytes(block.data)
                unfinished = bool(tail) and not tail.endswith(b"\n")
                self._lines = block.first_line - 1 + tail.count(b"\n") + unfinished


def open_text(data: str | bytes, name: str = "paste") -> OpenSource:
    """Return a source over text that is already in memory."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return OpenSource(Source(name, "text"), lambda: cast(Readable, io.BytesIO(raw)))


def open_stream(stream: BinaryIO, name: str = "stdin") -> OpenSource:
    """Return a source over a stream that is read once, front to back, and not closed."""
    return OpenSource(Source(name, "stdin"), lambda: cast(Readable, stream))


def open_sources(paths: Sequence[str | Path], *, stdin: BinaryIO | None = None) -> Iterator[OpenSource]:
    """Yield a source for every file that `paths` name: files, folders (recursively, sorted), globs, `-` for stdin.

    Raises SourceError for a path that names nothing.
    """
    for path in paths:
        if str(path) == "-" and stdin is not None:
            yield open_stream(stdin)
            continue
        for file in _files(Path(path)):
            yield _open_file(file)


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                file = Path(folder, name)
                if file.is_file() and not file.is_symlink():
                    yield file
        return
    if path.exists():
        yield path
        return
    found = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 - the pattern may be absolute
    if not found:
        raise SourceError(f"no such file or folder: {path}", help="check the path")
    for name in found:
        yield from _files(Path(name))


def _open_file(path: Path) -> OpenSource:
    try:
        written: datetime | None = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        written = None
    return OpenSource(
        Source(str(path), "file", Identity()), lambda: cast(Readable, path.open("rb", buffering=0)), written=written
    )
