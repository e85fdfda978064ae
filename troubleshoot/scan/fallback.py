"""Searches for a plan's expressions where Hyperscan cannot be had.

Same contract as the Hyperscan search in prefilter.py, a hundred times slower. All literals become one pattern for `re`,
folded into a tree of their common beginnings, so that each byte of the log is looked at a few times and not once per
literal:

    allocate, allow, oserror   ->   (?=((?:allo(?:cate|w)|oserror)))

The look-ahead finds literals that overlap; a literal that begins another one is reported along with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from troubleshoot import late
from troubleshoot.scan.plan import Entry


class FallbackSearch:
    """Finds the entries in a block of bytes. Immutable, so threads may share it."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        words = {entry.literal: index for index, entry in enumerate(entries) if entry.literal is not None}
        self._literals = late.compile(b"(?=(%b))" % _write_tree(words)) if words else None
        self._ends = {
            word: tuple((length, words[word[:length]]) for length in range(1, len(word) + 1) if word[:length] in words)
            for word in words
        }
        self._others = [
            (index, late.compile(b"(?=(%b))" % entry.expression, re.IGNORECASE))
            for index, entry in enumerate(entries)
            if entry.literal is None
        ]

    def matches(self, data: bytes | memoryview) -> Iterator[tuple[int, int]]:
        """Yield the index of each entry found and the offset behind it, in no particular order."""
        if self._literals is not None:
            for match in self._literals.finditer(bytes(data).lower()):
                for length, index in self._ends[match[1]]:
                    yield index, match.start() + length
        for index, pattern in self._others:
            for match in pattern.finditer(data):
                yield index, match.end(1)


def _write_tree(words: dict[bytes, int]) -> bytes:
    tree: dict[int, Any] = {}
    for word in words:
        node = tree
        for byte in word:
            node = node.setdefault(byte, {})
        node[-1] = True
    return _write_node(tree)


def _write_node(node: dict[int, Any]) -> bytes:
    """Write one node: the longest literal is tried first, and its end is optional where a shorter one ends here."""
    branches = []
    for byte, below in node.items():
        if byte < 0:
            continue
        run = bytes([byte])
        while len(below) == 1 and -1 not in below:
            ((byte, below),) = below.items()
            run += bytes([byte])
        branches.append(re.escape(run) + (_write_node(below) if set(below) != {-1} else b""))
    written = b"(?:%b)" % b"|".join(branches)
    return written + b"?" if -1 in node else written
