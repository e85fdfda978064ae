"""What to search a raw log for: expressions, and for each the patterns that cannot match without it.

Made by planner.py, kept on disk by prefilter.py, which is why the making is not in here: a warm start does without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

hyperscan: Any
try:
    import hyperscan
except ImportError:  # no wheel for this machine: fallback.py searches instead
    hyperscan = None

Words = tuple[tuple[bytes, ...], ...]

NO_IDS: frozenset[int] = frozenset()
NO_WORDS: frozenset[bytes] = frozenset()


@dataclass(frozen=True, slots=True)
class Entry:
    """One expression to search for, caselessly. `patterns`: ids of those that cannot match without it. `literal`: its
    lower-case bytes, where it is a literal."""

    expression: bytes
    patterns: tuple[int, ...]
    literal: bytes | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """`everywhere`: patterns to be tried on every line; `unsearchable`: why, for those that did not ask. `needs`:
    of a pattern, sets of lower-case words of which each match holds one (needs.py); `starts`: the same for its first
    line alone, of patterns that span lines."""

    entries: tuple[Entry, ...]
    everywhere: tuple[int, ...] = ()
    unsearchable: Mapping[int, str] = field(default_factory=dict)
    needs: Mapping[int, Words] = field(default_factory=dict)
    starts: Mapping[int, Words] = field(default_factory=dict)
