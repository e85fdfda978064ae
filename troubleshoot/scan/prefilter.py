"""Finds the places of a raw log at which a pattern may match.

In: blocks of bytes. Out: candidates: which entry of the plan ends where. One database holds the whole pack; it
over-reports, as confirmation is not its business, and never under-reports.

    Prefilter(patterns)              plan and database; immutable, shared by threads
      .search() -> Search            with the scratch space that belongs to one thread
      .without(off, avoid)           the same without patterns that have hit enough, and words that were too frequent

Compiling takes 20 ms for a thousand literals, so a pack's database is kept between runs where a store for it is given.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from troubleshoot import __version__, limits
from troubleshoot.model import Pattern
from troubleshoot.scan.choices import (
    MOST,
    Choice,
    CommonStore,
    read_choices,
    words_as_text,
    words_from_text,
    write_choices,
)
from troubleshoot.scan.plan import NO_WORDS, Entry, Plan, hyperscan

VARIANTS = 32  # databases kept per pack; a job's sources come to need the same few
FORMAT = 5  # of the stored database; raise it when plans come out otherwise

# A candidate is one number, so that a hundred thousand of them sort fast and take little room.
ENTRY_BITS = 20
ENTRY_MASK = (1 << ENTRY_BITS) - 1


class TooManyError(Exception):
    """A block holds more than limits.CANDIDATES_PER_SCAN candidates."""


class Store(CommonStore, Protocol):
    """Keeps bytes of one pack between runs, under a name; what it cannot keep it forgets without a word."""

    def read(self, name: str) -> bytes | None: ...

    def write(self, name: str, data: bytes) -> None: ...


class Search:
    """Searches blocks for one thread."""

    def __init__(self, matches: Callable[[bytes | memoryview, Callable[..., bool | None]], None]) -> None:
        self._matches = matches

    def candidates(self, data: bytes | memoryview) -> list[int]:
        """Return `end << ENTRY_BITS | entry` for each place where an entry ends, in order of the ends. The data must
        end with a line feed. Raises TooManyError."""
        found: list[int] = []
        append = found.append

        def take(entry: int, _start: int, end: int, _flags: int, _context: object) -> bool:
            append(end << ENTRY_BITS | entry)
            return len(found) > limits.CANDIDATES_PER_SCAN

        self._matches(data, take)
        if len(found) > limits.CANDIDATES_PER_SCAN:
            raise TooManyError
        found.sort()
        return found

    def present(self, data: bytes | memoryview) -> set[int]:
        """Return the entries that occur at all."""
        found: set[int] = set()

        def take(entry: int, _start: int, _end: int, _flags: int, _context: object) -> None:
            found.add(entry)

        self._matches(data, take)
        return found


class Prefilter:
    """A plan and its database, with variants that leave patterns out."""

    def __init__(self, patterns: tuple[Pattern, ...], store: Store | None = None) -> None:
        self._patterns = {pattern.id: pattern for pattern in patterns}
        self._lock = threading.Lock()
        self._variants: OrderedDict[tuple[frozenset[int], frozenset[bytes]], Prefilter] = OrderedDict()
        kept = _read_database(store) if store is not None else None
        if kept is not None:
            self.plan, self._database = kept
            return
        from troubleshoot.scan.planner import build_plan  # not needed where the database was stored

        known = read_choices(store) if store is not None else {}
        made: dict[str, Choice] = {}
        self.plan = build_plan(patterns, known, made)
        self._database = _compile(self.plan.entries)
        if store is None:
            return
        if hyperscan is not None:
            _write_database(store, self.plan, self._database)
        if not known.keys() >= made.keys():
            write_choices(store, {**known, **made} if len(known) < MOST else made)

    @functools.cached_property
    def entries_of(self) -> Mapping[int, Sequence[int]]:
        """For each pattern, the numbers of the entries that stand for it."""
        found: dict[int, list[int]] = {}
        for number, entry in enumerate(self.plan.entries):
            for pattern in entry.patterns:
                found.setdefault(pattern, []).append(number)
        return found

    @functools.cached_property
    def patterns_of(self) -> list[tuple[int, ...]]:
        """For each entry, the patterns that it stands for."""
        return [entry.patterns for entry in self.plan.entries]

    def search(self) -> Search:
        """Return a search that one thread at a time may use."""
        database = self._database
        if database is None:
            return Search(lambda data, take: None)
        if hyperscan is None:
            return Search(lambda data, take: _drain(database.matches(data), take))
        scratch = hyperscan.Scratch(database)
        return Search(lambda data, take: _scan(database, scratch, data, take))

    def scan(self, data: bytes | memoryview) -> list[tuple[int, int]]:
        """Return (pattern id, end offset) for each place at which a pattern may match. The data must end with a line
        feed. Raises TooManyError."""
        entries = self.plan.entries
        return [
            (pattern, candidate >> ENTRY_BITS)
            for candidate in self.search().candidates(data)
            for pattern in entries[candidate & ENTRY_MASK].patterns
        ]

    def without(self, off: frozenset[int], avoid: frozenset[bytes] = NO_WORDS) -> Prefilter:
        """Return the prefilter that does not look for the patterns in `off`, and for others not by the words in `avoid`
        if it can be helped."""
        key = off, avoid
        with self._lock:
            found = self._variants.get(key)
            if found is None:
                found = self._variants[key] = self._narrowed(off, avoid)
                if len(self._variants) > VARIANTS:
                    self._variants.popitem(last=False)
            self._variants.move_to_end(key)
            return found

    def _narrowed(self, off: frozenset[int], avoid: frozenset[bytes]) -> Prefilter:
        from troubleshoot.scan.planner import narrow_plan

        found = Prefilter.__new__(Prefilter)
        found._patterns, found._lock, found._variants = self._patterns, threading.Lock(), OrderedDict()
        found.plan = narrow_plan(self.plan, self._patterns, off, avoid)
        try:
            found._database = _compile(found.plan.entries)
        except ValueError:  # it does not take one of the expressions: go on by literals alone
            found.plan = narrow_plan(self.plan, self._patterns, off, NO_WORDS)
            found._database = _compile(found.plan.entries)
        return found


def _compile(entries: tuple[Entry, ...]) -> Any:
    """Return the database of the entries: None when there are none, a FallbackSearch when Hyperscan is not there.
    Raises ValueError when Hyperscan refuses an expression."""
    if not entries:
        return None
    if hyperscan is None:
        from troubleshoot.scan.fallback import FallbackSearch

        return FallbackSearch(entries)
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    try:
        database.compile(
            expressions=[entry.expression for entry in entries],
            ids=list(range(len(entries))),
            elements=len(entries),
            flags=[hyperscan.HS_FLAG_CASELESS] * len(entries),
        )
    except hyperscan.error as error:
        raise ValueError(str(error)) from error
    return database


def _scan(database: Any, scratch: Any, data: bytes | memoryview, take: Callable[..., bool | None]) -> None:
    with contextlib.suppress(hyperscan.ScanTerminated):  # `take` has had enough, and its owner knows
        database.scan(data, take, scratch=scratch)


def _drain(matches: Iterator[tuple[int, int]], take: Callable[..., bool | None]) -> None:
    for entry, end in matches:
        if take(entry, 0, end, 0, None):
            return


def _name() -> str:
    """Return the name of a stored database: it serves this version, of this library, on this kind of machine."""
    empty = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    empty.compile(expressions=[b"x"], ids=[0], elements=1, flags=[0])
    made_for = re.sub(r"\W+", "-", empty.info().decode("ascii", "replace")).strip("-")
    return f"scan-{__version__}-{FORMAT}-{hyperscan.__version__}-{made_for}"


def _write_database(store: Store, plan: Plan, database: Any) -> None:
    head = {
        "entries": [
            [each.expression.decode("latin-1"), each.patterns, each.literal and each.literal.hex()]
            for each in plan.entries
        ],
        "everywhere": plan.everywhere,
        "unsearchable": list(plan.unsearchable.items()),
        "needs": [(number, words_as_text(words)) for number, words in plan.needs.items()],
        "starts": [(number, words_as_text(words)) for number, words in plan.starts.items()],
    }
    body = hyperscan.dumpb(database) if database is not None else b""
    store.write(_name(), json.dumps(head).encode() + b"\n" + body)


def _read_database(store: Store) -> tuple[Plan, Any] | None:
    """Return the stored plan and database; None when there is none that this library can load."""
    if hyperscan is None:
        return None
    data = store.read(_name())
    if data is None:
        return None
    try:
        head_bytes, body = data.split(b"\n", 1)
        head = json.loads(head_bytes)
        entries = tuple(
            Entry(expression.encode("latin-1"), tuple(ids), literal and bytes.fromhex(literal))
            for expression, ids, literal in head["entries"]
        )
        needs, starts = (
            {number: words_from_text(words) for number, words in head[name]} for name in ("needs", "starts")
        )
        plan = Plan(entries, tuple(head["everywhere"]), dict(map(tuple, head["unsearchable"])), needs, starts)
        return plan, hyperscan.loadb(body, hyperscan.HS_MODE_BLOCK) if body else None
    except (ValueError, KeyError, TypeError, AttributeError, hyperscan.error, hyperscan.HyperscanError):
        return None  # another make or a torn file: it is built anew
