"""An archive, by URL or path -> its bytes in a file, checked against a digest, and from them the files of a pack.

    fetch -> check_digest -> (pull_signature) -> unpack -> {"gpu/hot.yaml": b"..."}

Nothing is opened before its digest is known to be the pinned one. Members are read into memory within limits and never
written by their own names: a name that leads out of the archive refuses the whole of it; links and devices are passed
over, and so is everything that is neither a rule file nor a text on the pack.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from troubleshoot import __version__, limits
from troubleshoot.errors import LimitError, SourceError, UsageError

Files = dict[str, bytes]
_DIGEST = re.compile(r"sha256:([0-9a-fA-F]{64})")
_SCHEMES = ("https", "http", "file")
_TEXTS = ("README", "LICENSE", "LICENCE", "NOTICE", "CHANGELOG", "COPYING")
_CHUNK = 1024 * 1024


def is_url(source: str) -> bool:
    """Say whether a source is fetched, and not a path."""
    return urlsplit(source).scheme in _SCHEMES


def fetch(source: str, place: Path) -> str:
    """Copy an archive to a file and return its digest as `sha256:...`. Raises UsageError, SourceError or LimitError."""
    if not is_url(source) and not Path(source).is_file():
        raise UsageError(f"no such file: {source}", help="give an archive's path or URL, or a git URL with --commit")
    digest = hashlib.sha256()
    size = 0
    try:
        with _open(source) as stream, place.open("wb") as copy:
            while chunk := stream.read(_CHUNK):
                size += len(chunk)
                if size > limits.PACK_ARCHIVE_BYTES:
                    raise LimitError(f"{source}: larger than {limits.PACK_ARCHIVE_BYTES // 2**20} MiB")
                digest.update(chunk)
                copy.write(chunk)
    except URLError as error:
        raise SourceError(f"{source}: cannot be fetched: {error.reason}") from error
    except OSError as error:
        raise SourceError(f"{source}: cannot be read: {error.strerror or error}") from error
    return f"sha256:{digest.hexdigest()}"


def check_digest(found: str, wanted: str | None) -> None:
    """Raise UsageError unless a digest is the pinned one."""
    if wanted is None:
        help = f"this one is {found}: compare that with what its author says, and give it as --digest"
        raise UsageError("no --digest: nothing is unpacked that is not known to be the right archive", help=help)
    match = _DIGEST.fullmatch(wanted.strip())
    if match is None:
        raise UsageError(f"no digest: {wanted}", help="write sha256: and 64 hexadecimal digits")
    if not hmac.compare_digest(found, f"sha256:{match[1].lower()}"):
        raise UsageError(f"not the pinned archive: it is {found}", help="nothing was unpacked; ask its author")


def unpack(archive: Path) -> Files:
    """Return the files of a tar (also compressed) or zip archive that belong to a pack.
    Raises SourceError for one that cannot be read or leads out of itself, LimitError for one that is too large."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as members:
                return take(_zip_members(members))
        with tarfile.open(archive) as tar:
            return take(_tar_members(tar))
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise SourceError(f"the archive cannot be read: {error}", help="a tar or zip archive is wanted") from error


def take(members: Iterable[tuple[str, int, Callable[[int], bytes]]]) -> Files:
    """Return the contents of the members (name, size, how to read so many bytes) that belong to a pack."""
    files: Files = {}
    total = 0
    for count, (name, size, read) in enumerate(members, 1):
        if count > limits.PACK_FILES:
            raise LimitError(f"more than {limits.PACK_FILES} files")
        parts = safe_parts(name)
        if not parts or not _belongs(parts):
            continue
        if size > limits.RULE_FILE_BYTES:
            raise LimitError(f"{name}: larger than {limits.RULE_FILE_BYTES // 1024} KiB")
        data = read(limits.RULE_FILE_BYTES + 1)
        total += len(data)
        if len(data) > limits.RULE_FILE_BYTES or total > limits.PACK_BYTES:
            raise LimitError(f"{name}: larger than a pack may be")
        files["/".join(parts)] = data
    return files


def safe_parts(name: str) -> tuple[str, ...]:
    """Return the parts of a member's name. Raises SourceError for one that leads out of the archive."""
    path = PurePosixPath(name.replace("\\", "/"))
    unsafe = path.is_absolute() or ".." in path.parts or "\0" in name or re.match(r"[A-Za-z]:", name)
    if unsafe:
        raise SourceError(f"the archive leads out of itself: {name!r}", help="nothing was unpacked")
    return path.parts


def _belongs(parts: tuple[str, ...]) -> bool:
    if any(part.startswith(".") for part in parts):
        return False
    return parts[-1].endswith((".yaml", ".yml")) or parts[-1].split(".")[0].upper() in _TEXTS


def _tar_members(tar: tarfile.TarFile) -> Iterator[tuple[str, int, Callable[[int], bytes]]]:
    for member in tar:
        safe_parts(member.name)  # also of what is passed over: such an archive is not to be trusted at all
        if member.isreg():

            def read(most: int, member: tarfile.TarInfo = member) -> bytes:
                stream = tar.extractfile(member)
                return stream.read(most) if stream is not None else b""

            yield member.name, member.size, read


def _zip_members(archive: zipfile.ZipFile) -> Iterator[tuple[str, int, Callable[[int], bytes]]]:
    for info in archive.infolist():
        safe_parts(info.filename)
        is_link = (info.external_attr >> 16) & 0o170000 == 0o120000
        if not info.is_dir() and not is_link:

            def read(most: int, info: zipfile.ZipInfo = info) -> bytes:
                with archive.open(info) as stream:
                    return stream.read(most)

            yield info.filename, info.file_size, read


def _open(source: str) -> IO[bytes]:
    if not is_url(source):
        return Path(source).open("rb")
    request = Request(source, headers={"User-Agent": f"troubleshoot/{__version__}"})
    stream: IO[bytes] = urlopen(request, timeout=limits.PULL_S)  # only the schemes of is_url
    return stream


def remove_folder(folder: Path) -> None:
    """Remove a folder that was made here, whatever it holds."""
    shutil.rmtree(folder, ignore_errors=True)
