"""Keeps a pack's search database beside the cached pack, so that a second start compiles nothing, and for all packs
together how their patterns are searched for.

The name holds all that the database depends on besides the pack: the make of this package's scan modules. What cannot
be kept is built anew, without a word.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from troubleshoot.model import RulePack
from troubleshoot.rulepack import cache


class PackStore:
    """The `Store` of one pack, for `Scanner(store=...)`."""

    def __init__(self, pack: RulePack) -> None:
        self._key = hashlib.sha256(f"{pack.hash} {len(pack.patterns)} {_make_of_scan()}".encode()).hexdigest()[:32]

    def read(self, name: str) -> bytes | None:
        return cache.read_blob(self._key, name)

    def write(self, name: str, data: bytes) -> None:
        cache.write_blob(self._key, name, data)

    def read_common(self, name: str) -> bytes | None:
        return cache.read_blob(_common_key(), name)

    def write_common(self, name: str, data: bytes) -> None:
        cache.write_blob(_common_key(), name, data)


def _common_key() -> str:
    return hashlib.sha256(_make_of_scan().encode()).hexdigest()[:32]


@functools.cache
def _make_of_scan() -> str:
    """Return what tells one make of the scan's modules from another, as they were when this process first asked."""
    folder = Path(__file__).parent / "scan"
    stats = sorted(
        (path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in folder.iterdir() if path.is_file()
    )
    return str(stats)
