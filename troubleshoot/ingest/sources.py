"""Opens what the user names: files, folders, globs, standard input, text, uploads.

In: paths, a stream or text. Out: `OpenSource`s, each read once, front to back, before the next is asked for. Folders
are walked sorted; links in them are not followed (what they point to within the folder is read where it stands),
devices and pipes are not opened. Nothing here knows of rules.
"""

from __future__ import annotations

import glob
import io
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, BinaryIO, cast

from troubleshoot.errors import SourceError
from troubleshoot.ingest.archives import Place, SeekableFile, inflate, open_found, skipped
from troubleshoot.ingest.identity import identity_from_path
from troubleshoot.ingest.magic import COMPRESSED, HEAD_BYTES, kind_of
from troubleshoot.ingest.opened import OpenSource
from troubleshoot.ingest.streams import (
    Ahead,
    Purchased,
    Purse,
    Readable,
    Remarks,
    Taken,
    read_head,
)
from troubleshoot.ingest.workflows import remark_of, repeated_steps
from troubleshoot.model import Source

__all__ = ["OpenSource", "find_files", "open_file", "open_sources", "open_stream", "open_text", "open_upload"]

SKIPPED_FOLDERS = frozenset({".git", "__pycache__", "node_modules"})  # never logs, often very many files


def open_text(data: str | bytes, name: str = "paste") -> OpenSource:
    """Return a source over text that is already in memory."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    source = Source(name, "text", identity_from_path(name))
    return OpenSource(
        source,
        lambda: cast(Readable, io.BytesIO(raw)),
        size=len(raw),
        peek=lambda offset, size: raw[offset : offset + size],
    )


def open_stream(stream: BinaryIO, name: str = "stdin") -> OpenSource:
    """Return a source over a stream that is read once, front to back, and not closed. A compressed file in it is
    decompressed; for an archive use `open_upload`."""
    remarks: Remarks = []
    purse = Purse()
    taken = Taken(cast(Readable, stream), remarks)
    source = Source(name, "stdin")
    return OpenSource(source, lambda: Purchased(inflate(taken, taken, remarks), purse, remarks), remarks=remarks)


def open_upload(stream: BinaryIO, name: str = "upload", kind: str = "upload") -> Iterator[OpenSource]:
    """Yield the sources in a stream: itself, or what is in it if it is compressed or an archive."""
    remarks: Remarks = []
    taken = SeekableFile(stream, remarks) if stream.seekable() else Taken(cast(Readable, stream), remarks)
    place = Place(name, kind, Purse(), identity_from_path(name), taken=lambda: taken.count)
    yield from open_found(taken, place, remarks)


def open_sources(paths: Sequence[str | Path], *, stdin: BinaryIO | None = None) -> Iterator[OpenSource]:
    """Yield a source for every file that `paths` name: files, folders (recursively, sorted), globs, archives, and `-`
    for `stdin`. Each must be read before the next is asked for.

    Raises SourceError for a path that names nothing.
    """
    purse = Purse()
    for found in find_files(paths, stdin=stdin, purse=purse):
        if isinstance(found, Path):
            yield from open_file(found, purse)
        else:
            yield found


def find_files(
    paths: Sequence[str | Path], *, stdin: BinaryIO | None = None, purse: Purse | None = None
) -> Iterator[Path | OpenSource]:
    """Yield every file that `paths` name, not opened yet, and as sources what is no file: standard input, and what was
    passed over in a folder. Raises SourceError for a path that names nothing."""
    purse = purse or Purse()
    for path in paths:
        if str(path) == "-" and stdin is not None:
            yield from open_upload(stdin, "stdin", "stdin")
            continue
        for found in _expand(Path(path)):
            if found.is_dir():
                yield from _walk_folder(found, purse)
            else:
                yield found


def _expand(path: Path) -> list[Path]:
    """Return the path, or what it matches as a glob."""
    if path.exists() or path.is_symlink():
        return [path]
    found = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 - the pattern may be absolute
    if not found:
        raise SourceError(f"no such file or folder: {path}", help="check the path")
    return [Path(name) for name in found]


def _walk_folder(top: Path, purse: Purse) -> Iterator[Path | OpenSource]:
    left_out: Counter[str] = Counter()
    unreadable: list[str] = []
    twice: frozenset[str] = frozenset()
    for folder, folders, names in os.walk(top, onerror=lambda error: unreadable.append(str(error))):
        left_out["folders of tools"] += len(SKIPPED_FOLDERS.intersection(folders))
        links = [name for name in folders if Path(folder, name).is_symlink()]
        left_out["links"] += len(links)
        folders[:] = sorted(set(folders) - SKIPPED_FOLDERS - set(links))
        twice |= _repeated(folder, folders, names)
        for name in sorted(names):
            path = Path(folder, name)
            try:
                mode = path.lstat().st_mode
            except OSError as error:
                unreadable.append(str(error))
                continue
            if str(path) in twice:
                continue
            if stat.S_ISREG(mode):
                yield path
            else:
                left_out["links" if stat.S_ISLNK(mode) else "pipes and devices"] += 1
    told = ", ".join(f"{count} {what}" for what, count in sorted(left_out.items()) if count)
    place = Place(str(top), "file", purse)
    if told:
        yield skipped(place, "skipped-members", f"not followed or opened in this folder: {told}")
    if twice:
        yield skipped(place, "repeated", remark_of(twice))
    if unreadable:
        yield skipped(place, "unreadable", f"{len(unreadable)} entries cannot be read: {unreadable[0]}")


def _repeated(folder: str, folders: Sequence[str], names: Sequence[str]) -> frozenset[str]:
    """Return the files in the folders of this one that need not be read."""
    jobs = [name for name in folders if any(each.endswith(f"_{name}.txt") for each in names)]
    if not jobs:
        return frozenset()
    try:
        files = [Path(folder, name) for name in names]
        files += [each for job in jobs for each in Path(folder, job).iterdir()]
        return repeated_steps({str(file): file.lstat().st_size for file in files})
    except OSError:
        return frozenset()  # all of them are read, then


def open_file(path: Path, purse: Purse | None = None) -> Iterator[OpenSource]:
    """Yield the sources in a file: itself, or what is in it if it is compressed or an archive.

    A plain or merely compressed file is opened when its blocks are asked for, so such sources may be collected first
    and read later; the members of an archive must each be read before the next.
    """
    remarks: Remarks = []
    place = Place(str(path), "file", purse or Purse(), identity_from_path(str(path)))
    try:
        file = path.open("rb", buffering=0)
    except OSError as error:
        yield skipped(place, "unreadable", f"cannot be opened: {error.strerror or error}", remarks)
        return
    with file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            piped = Taken(cast(Readable, file), remarks)
            yield from open_found(piped, replace(place, taken=lambda: piped.count), remarks)
            return
        written = datetime.fromtimestamp(status.st_mtime, UTC)
        place = replace(place, written=written, size=status.st_size or None)  # files of /proc say 0 and have content
        try:
            head = read_head(cast(Readable, file), HEAD_BYTES)
        except OSError as error:  # a broken disk, a stale mount: the other files are read all the same
            yield skipped(place, "unreadable", f"cannot be read: {error.strerror or error}", remarks)
            return
        kind = kind_of(head, place.name)
        file.seek(0)
        if kind.container in COMPRESSED and _is_plain(_inflated(Taken(file, []), kind.container, lambda: 1 << 30, [])):
            yield _lazy(path, place, remarks, kind.container)
            return
        if kind.container is not None or kind.skip is not None:
            file.seek(0)
            given = SeekableFile(cast(IO[bytes], file), remarks, limit=place.size)
            yield from open_found(given, replace(place, taken=lambda: given.count), remarks)
            return
    yield _lazy(path, place, remarks, None)


def _is_plain(stream: Readable) -> bool:
    """Tell whether a decompressed stream is text, and no further archive."""
    kind = kind_of(read_head(stream, HEAD_BYTES), "")
    return kind.container is None and kind.skip is None


def _lazy(path: Path, place: Place, remarks: Remarks, container: str | None) -> OpenSource:
    """Return a source over a file that is opened when it is read."""

    def peek(offset: int, size: int) -> bytes:
        try:
            with path.open("rb", buffering=0) as file:
                file.seek(offset)
                return file.read(size) or b""
        except OSError:
            return b""

    def open_now() -> Readable:
        return _Closing(path.open("rb", buffering=0), place, remarks, container)

    def open_range(begin: int, end: int) -> Readable:
        file = path.open("rb", buffering=0)
        file.seek(begin)
        return _Closing(file, replace(place, size=end - begin), remarks, None)

    return OpenSource(
        Source(place.name, place.kind, place.identity),
        open_now,
        written=place.written,
        size=place.size if container is None else None,
        peek=peek if container is None else None,
        remarks=remarks,
        open_range=open_range if container is None else None,
    )


class _Closing(Purchased):
    """A file's bytes, decompressed where it is, paid for, that can be closed."""

    def __init__(self, file: io.FileIO, place: Place, remarks: Remarks, container: str | None) -> None:
        taken = Taken(cast(Readable, file), remarks, limit=place.size)
        self._file = file
        self._ahead = Ahead(_inflated(taken, container, lambda: taken.count, remarks)) if container else None
        super().__init__(self._ahead or taken, place.purse, remarks)

    def close(self) -> None:
        if self._ahead is not None:
            self._ahead.close()
        self._file.close()


def _inflated(stream: Taken, container: str, taken: Callable[[], int], remarks: Remarks) -> Readable:
    from troubleshoot.ingest.inflate import Inflated  # a log as it stands does not wait for the decompressors

    return Inflated(stream, container, taken, remarks)
