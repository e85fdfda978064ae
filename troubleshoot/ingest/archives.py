"""Looks into compressed files and archives, as deep as limits allow, and gives what is in them as sources.

In: a stream whose first bytes were looked at. Out: sources, in the order of the archive. A member's stream is read
straight from the archive's, so a source must be read before the next one is asked for; nothing is written to disk.
What is not read is named: every member that is skipped is a source without blocks and with a note that says why.

    logs.tar.gz  ->  logs.tar.gz/node-0/stderr.log, logs.tar.gz/node-1/core.712 (skipped: a core file)

Source: knowledge/job-bundles.md, section 1.
"""

from __future__ import annotations

import functools
import io
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import IO, cast

from troubleshoot import limits
from troubleshoot.ingest.identity import identity_from_path
from troubleshoot.ingest.magic import HEAD_BYTES, Kind, kind_of
from troubleshoot.ingest.opened import OpenSource
from troubleshoot.ingest.streams import Purchased, Purse, Readable, Remarks, Replayed, Taken, read_head
from troubleshoot.ingest.tar import TarError, read_members
from troubleshoot.ingest.workflows import remark_of, repeated_steps
from troubleshoot.model import NOBODY, Identity, Source

NESTED_ZIP_BYTES = 64 * 1024 * 1024  # a zip within an archive cannot be read as a stream: so much is held in memory
ZIP_DIRECTORY_BYTES = 64 * 1024 * 1024  # some 600,000 members


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a heap of archives a stream stands."""

    name: str
    kind: str  # of source: file, member, stdin, upload
    purse: Purse
    identity: Identity = NOBODY
    written: datetime | None = None
    size: int | None = None
    depth: int = 0
    taken: Callable[[], int] = lambda: 0  # bytes of the file at the bottom that were read

    def member(self, name: str, size: int | None) -> Place:
        """Return the place of a member of this archive."""
        shown = "".join(c if c.isprintable() else "\ufffd" for c in name[:1024])
        full = f"{self.name}/{shown}"
        identity = identity_from_path(full).over(self.identity)
        return replace(self, name=full, kind="member", identity=identity, size=size, depth=self.depth + 1)


def open_found(stream: Readable, place: Place, remarks: Remarks) -> Iterator[OpenSource]:
    """Yield the sources in a stream: itself, or what is in it if it is compressed or an archive."""
    head = read_head(stream, HEAD_BYTES)
    kind = kind_of(head, place.name)
    whole = Replayed(head, stream)
    if kind.container is None:
        yield _source(whole, place, kind, remarks)
    elif place.depth >= limits.ARCHIVE_DEPTH:
        yield skipped(place, "depth", f"an archive {place.depth} deep within others: not looked into", remarks)
    elif kind.container == "tar":
        yield from _open_tar(whole, place, remarks)
    elif kind.container == "zip":
        yield from _open_zip(_seekable(stream, head), place, remarks)
    else:
        from troubleshoot.ingest.inflate import Inflated  # what is not compressed does not wait for the decompressors

        inflated = Inflated(whole, kind.container, place.taken, remarks)
        yield from open_found(inflated, replace(place, depth=place.depth + 1, size=None), remarks)


def inflate(stream: Readable, taken: Taken, remarks: Remarks) -> Readable:
    """Return what a stream holds, decompressed where it is. An archive is not looked into, and said so."""
    from troubleshoot.ingest.inflate import Inflated

    for _ in range(limits.ARCHIVE_DEPTH):
        head = read_head(stream, HEAD_BYTES)
        kind = kind_of(head, "")
        stream = Replayed(head, stream)
        if kind.skip is not None or kind.container in ("tar", "zip"):
            remarks.append((f"skipped-{kind.name}", kind.skip or "an archive: give it as a file"))
            return _nothing()
        if kind.container is None:
            break
        stream = Inflated(stream, kind.container, lambda: taken.count, remarks)
    return stream


def skipped(place: Place, code: str, reason: str, remarks: Remarks | None = None) -> OpenSource:
    """Return a source that is only named, with the reason why it is not read."""
    remarks = remarks if remarks is not None else []
    size = f" ({place.size} bytes)" if place.size is not None else ""
    remarks.append((code, reason + size))
    return OpenSource(_as_source(place), _nothing, size=place.size, remarks=remarks, skipped=True)


def _source(stream: Readable, place: Place, kind: Kind, remarks: Remarks) -> OpenSource:
    if kind.skip is not None:
        return skipped(place, f"skipped-{kind.name}", kind.skip, remarks)
    paid = Purchased(stream, place.purse, remarks)
    return OpenSource(_as_source(place), lambda: paid, written=place.written, size=place.size, remarks=remarks)


def _as_source(place: Place) -> Source:
    return Source(place.name, place.kind, place.identity)


def _open_tar(stream: Readable, place: Place, remarks: Remarks) -> Iterator[OpenSource]:
    other: Counter[str] = Counter()
    members = read_members(stream)
    while True:
        try:
            member = next(members, None)
        except TarError as error:
            yield skipped(place, "damaged", f"{error}: members behind it are not read", remarks)
            return
        if member is None:
            break
        if not place.purse.pay_member():
            text = f"more than {limits.ARCHIVE_MEMBERS} members: the rest is not read"
            yield skipped(place, "members", text, remarks)
            return
        if member.kind != "file":
            other[member.kind] += member.kind != "folder"
            continue
        yield from open_found(member.stream, place.member(member.name, member.size), [])
    yield from _name_others(other, place, remarks)


def _name_others(other: Counter[str], place: Place, remarks: Remarks) -> Iterator[OpenSource]:
    """Name the members that are no files, and pass on what the archive's own stream had to tell."""
    told = ", ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in sorted(other.items()) if count)
    if told:
        yield skipped(replace(place, size=None), "skipped-members", f"{told} in it: not followed", remarks)
    elif remarks:
        yield OpenSource(_as_source(place), _nothing, remarks=remarks, skipped=True)


def _open_zip(file: IO[bytes] | None, place: Place, remarks: Remarks) -> Iterator[OpenSource]:
    if file is None:
        text = f"a zip file larger than {NESTED_ZIP_BYTES} bytes that cannot be sought in: unpack it first"
        yield skipped(place, "nested-zip", text, remarks)
        return
    given = file.seek(0, io.SEEK_END)
    try:
        if _directory_bytes(file) > ZIP_DIRECTORY_BYTES:
            yield skipped(place, "members", "a zip file with too many members: not looked into", remarks)
            return
        import zipfile

        archive = zipfile.ZipFile(file)
    except _zip_damage() as error:
        yield skipped(place, "damaged", f"zip file is damaged: {error}", remarks)
        return
    spent = Taken(cast(Readable, io.BytesIO()), remarks)  # counts what came out of all members
    other: Counter[str] = Counter()
    with archive:
        twice = repeated_steps({info.filename: info.file_size for info in archive.infolist() if not info.is_dir()})
        if twice:
            yield skipped(replace(place, size=None), "repeated", remark_of(twice), [])
        for info in archive.infolist():
            if not place.purse.pay_member():
                text = f"more than {limits.ARCHIVE_MEMBERS} members: the rest is not read"
                yield skipped(place, "members", text, remarks)
                return
            if info.is_dir() or info.filename in twice:
                continue
            if info.external_attr >> 28 not in (0, 8):  # the type bits of a Unix mode: 8 is a regular file
                other["link or device"] += 1
                continue
            where = place.member(info.filename, info.file_size)
            try:
                opened = archive.open(info)
            except _zip_damage() as error:
                yield skipped(where, "damaged", f"cannot be opened: {error}")
                continue
            with opened:
                member_remarks: Remarks = []
                stream = _ZipMember(opened, spent, given, member_remarks)
                yield from open_found(stream, replace(where, taken=lambda: given), member_remarks)
    yield from _name_others(other, place, remarks)


@functools.cache
def _zip_damage() -> tuple[type[Exception], ...]:
    """Return what reading a damaged zip file raises."""
    import zipfile

    return (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError, zlib.error)


def _directory_bytes(file: IO[bytes]) -> int:
    """Return the size of a zip file's directory, which is read at once and held in memory."""
    end = file.seek(0, io.SEEK_END)
    file.seek(max(0, end - 66_000))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    size = int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0
    if size == 0xFFFFFFFF and (at := tail.rfind(b"PK\x06\x06")) >= 0:
        size = int.from_bytes(tail[at + 40 : at + 48], "little")
    return size


class _ZipMember:
    """A member's bytes, as long as all members together stay within the ratio to the file's size."""

    def __init__(self, stream: IO[bytes], spent: Taken, given: int, remarks: Remarks) -> None:
        self._stream = stream
        self._spent = spent
        self._given = given
        self._remarks = remarks
        self._ended = False

    def readinto(self, buffer: memoryview) -> int:
        if self._ended:
            return 0
        total = self._spent.count
        if total > limits.RATIO_FLOOR_BYTES and total > limits.ARCHIVE_RATIO * self._given:
            return self._end("bomb", f"the zip file gives more than {limits.ARCHIVE_RATIO} bytes for each of its own")
        try:
            data = self._stream.read(min(len(buffer), 1 << 20))
        except _zip_damage() as error:
            return self._end("damaged", f"zip data is damaged: {error}")
        buffer[: len(data)] = data
        self._spent.count += len(data)
        return len(data)

    def _end(self, code: str, text: str) -> int:
        self._ended = True
        self._remarks.append((code, text))
        return 0


def _seekable(stream: Readable, head: bytes) -> IO[bytes] | None:
    """Return the stream as a file to seek in: itself if it can, else its bytes in memory if they are few."""
    if isinstance(stream, SeekableFile):
        stream.file.seek(0)
        return stream.file
    data = head + read_head(stream, NESTED_ZIP_BYTES + 1 - len(head))
    return io.BytesIO(data) if len(data) <= NESTED_ZIP_BYTES else None


class SeekableFile(Taken):
    """A file's bytes as given, for what must be sought in."""

    def __init__(self, file: IO[bytes], remarks: Remarks, *, limit: int | None = None) -> None:
        super().__init__(cast(Readable, file), remarks, limit=limit)
        self.file = file


def _nothing() -> Readable:
    return cast(Readable, io.BytesIO())
