"""Packs kept on disk between runs: a key of the files' names, sizes and times -> the pack as JSON, and blobs beside it.

    ~/.cache/troubleshoot/pack-<key>.json       a mark and a checksum, then the pack
    ~/.cache/troubleshoot/<pack hash>.<suffix>  bytes that belong to a pack: the scanner's compiled database

The key also holds the times of our own modules, so a changed rule language never meets an old pack. A file is written
beside its place and moved there whole, so several processes may share the folder. A cache that cannot be read, written
or trusted to be whole costs time and nothing else: no function here raises for it.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from troubleshoot import __version__
from troubleshoot.model import RulePack
from troubleshoot.rulepack.codec import json_from_pack, pack_from_json
from troubleshoot.rulepack.files import Layer, fingerprint

FILES_KEPT = 24  # newest first; a pack under work leaves one or two behind at every save
_MARK = b"troubleshoot cache\n"  # known to ingest: who scans a home folder does not want every rule's text found in it
_DIGEST_BYTES = 16
_HEAD_BYTES = len(_MARK) + _DIGEST_BYTES
_TRIAL_BYTES = 4096  # a full disk takes the name of a file and none of its bytes
_PACKAGE = Path(__file__).parent.parent
_OWN_MODULES = (_PACKAGE / "rulepack", _PACKAGE / "model", _PACKAGE)  # and where, values, reach in the last


def cache_dir() -> Path | None:
    """Return the folder of the cache, or None where this user has no home."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base and os.path.isabs(base):  # noqa: PTH117  # the XDG rules: a relative path counts as unset
        return Path(base) / "troubleshoot"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / ".cache" / "troubleshoot" if home.is_absolute() else None


def why_not_kept() -> str:
    """Return why nothing can be kept between runs, or "" where it can: the folder is tried with a file."""
    folder = cache_dir()
    if folder is None:
        return "this user has no home folder"
    import tempfile  # not needed for a warm start

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as trial:
            trial.write(b"\0" * _TRIAL_BYTES)
            trial.flush()
    except OSError as error:
        return f"{folder}: {(error.strerror or type(error).__name__).lower()}"
    return ""


def key_of(layers: Iterable[Layer], options: str) -> str:
    """Return the key under which a pack of these files, read with these options, is kept."""
    digest = hashlib.blake2b(f"{__version__} {options}".encode(), digest_size=16)
    for line in (*_own_fingerprint(), *fingerprint(layers)):
        digest.update(line.encode("utf-8", "surrogateescape") + b"\n")
    return digest.hexdigest()


def _own_fingerprint() -> list[str]:
    lines = []
    for folder in _OWN_MODULES:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    stat = entry.stat()
                    lines.append(f"{entry.name} {stat.st_size} {stat.st_mtime_ns}")
    return sorted(lines)


def read_pack(key: str) -> RulePack | None:
    """Return the pack kept under a key, or None when there is none, or none that is whole."""
    data = _read(f"pack-{key}.json")
    if data is None:
        return None
    try:
        with _without_collector():
            return pack_from_json(json.loads(data))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None  # of another make; it is written anew


def write_pack(key: str, pack: RulePack) -> None:
    """Keep a pack under a key, unless a file could not be read: its rights may change and leave its time as it is."""
    if all(problem.code != "R013" for problem in pack.problems):
        _write(f"pack-{key}.json", json.dumps(json_from_pack(pack), ensure_ascii=False, separators=(",", ":")).encode())
        _drop_old()


def read_blob(pack_hash: str, suffix: str) -> bytes | None:
    """Return the bytes kept for a pack, or None."""
    return _read(f"{pack_hash}.{suffix}")


def write_blob(pack_hash: str, suffix: str, data: bytes) -> None:
    """Keep bytes for a pack. Put into `suffix` what else they depend on (a library's version)."""
    _write(f"{pack_hash}.{suffix}", data)


def _read(name: str) -> bytes | None:
    folder = cache_dir()
    if folder is None:
        return None
    try:
        kept = (folder / name).read_bytes()
    except OSError:
        return None
    mark, digest, data = kept[: len(_MARK)], kept[len(_MARK) : _HEAD_BYTES], kept[_HEAD_BYTES:]
    return data if mark == _MARK and _digest(data) == digest else None


def _write(name: str, data: bytes) -> None:
    folder = cache_dir()
    if folder is None:
        return
    try:
        import tempfile  # not needed for a warm start

        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".new-")
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(_MARK + _digest(data) + data)
        os.replace(temporary, folder / name)  # noqa: PTH105  # atomic, also over an older file
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)  # noqa: PTH108  # a name, not a Path


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """Hold the cyclic garbage collector off: of 100,000 new values none is garbage, and looking costs a third."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def _drop_old() -> None:
    folder = cache_dir()
    if folder is None:
        return
    with contextlib.suppress(OSError):
        files = [(entry.stat().st_mtime, entry.path) for entry in os.scandir(folder) if entry.is_file()]
        for _time, path in sorted(files, reverse=True)[FILES_KEPT:]:
            os.unlink(path)  # noqa: PTH108  # as above
