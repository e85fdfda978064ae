"""Finds the places in a text where another log begins, and tells whose it is.

In: the lines of a source that is several logs one after another: `kubectl cluster-info dump` puts START and END lines
around each container's log, `tail` and `head` of several files print their names. Out: an `Identity` per line.

    ==== START logs for container pytorch of pod team-a/bert-0 ====     from here on: pod bert-0, container pytorch
    ==> /logs/rank-3/stderr.log <==                                     from here on: rank 3, stderr
"""

from __future__ import annotations

import re
from bisect import bisect_right

from troubleshoot import late
from troubleshoot.ingest.identity import identity_from_path
from troubleshoot.model import NOBODY, Block, Identity

_MARK = late.compile(
    rb"^(?:==== (START|END) logs for container (\S+) of pod [\w.-]+/(\S+) ====|==> (\S[^\n]*?) <==)\r?$", re.MULTILINE
)
_SIGNS = (b"==== START logs", b"==> ")


def has_sections(sample: bytes) -> bool:
    """Tell whether a sample of a source has such a place."""
    return any(sign in sample for sign in _SIGNS) and _MARK.search(sample) is not None


class Sections:
    """Whose log each line of a source belongs to, learnt block by block."""

    def __init__(self) -> None:
        self._lines: list[int] = []
        self._identities: list[Identity] = []

    def learn(self, block: Block) -> None:
        """Take in the marks of the next block as read."""
        data = bytes(block.data)
        line, at = block.first_line, 0
        for m in _MARK.finditer(data):
            line, at = line + data.count(b"\n", at, m.start()), m.start()
            self._lines.append(line)
            self._identities.append(_identity(m))

    def at(self, line: int) -> Identity:
        """Return what the mark above a line tells."""
        i = bisect_right(self._lines, line) - 1
        return self._identities[i] if i >= 0 else NOBODY


def _identity(m: re.Match[bytes]) -> Identity:
    if m[4] is not None:
        return identity_from_path(m[4].decode("utf-8", "replace"))
    if m[1] == b"END":
        return NOBODY
    return Identity(pod=m[3].decode("utf-8", "replace"), container=m[2].decode("utf-8", "replace"))
