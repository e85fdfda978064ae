"""Keeps the hits of one source within bounds, and says what was left out.

In: hits, in record order per pattern. Out: a `ScanResult`. A pattern keeps as many hits as are enough (enough.py) and
is then saturated; all patterns together keep limits.HITS_PER_SOURCE, past which each keeps a few more. A pattern that
runs past its time too often is given up for the source. Each of these is a note.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from troubleshoot import limits
from troubleshoot.model import Hit, Note, PatternUse, ScanResult, Source
from troubleshoot.scan.enough import Enough

NAMED = 6  # signatures named in one note


class Tally:
    """The hits of one source. `most`: hits kept per pattern, where it is not limits.HITS_PER_PATTERN."""

    def __init__(self, source: Source, enough: Enough, most: int = 0) -> None:
        self._source = source
        self._users = enough.pack.users
        self._enough = enough
        self._most = most or limits.HITS_PER_PATTERN
        self._hits: list[Hit] = []
        self._last_line: dict[int, int] = {}
        self._full_line = 0  # up to it hits were there when all were as many as are kept
        self._timeouts: Counter[int] = Counter()
        self._overran: list[tuple[int, int]] = []
        self._roughly: set[int] = set()
        self.counts: Counter[int] = Counter()
        self.saturated: set[int] = set()
        self.given_up: set[int] = set()

    @property
    def closed(self) -> set[int]:
        """The patterns of which no more hits are wanted."""
        return self.saturated | self.given_up

    def is_open(self, pattern: int) -> bool:
        """Tell whether more hits of the pattern are wanted."""
        return pattern not in self.saturated and pattern not in self.given_up

    def add(self, hit: Hit) -> None:
        """Take a hit, unless its pattern has one on that line already (the line was cut, or its windows overlap)."""
        pattern, line = hit.pattern, hit.record.line
        if self._last_line.get(pattern) == line:
            return
        self._last_line[pattern] = line
        self._hits.append(hit)
        self.counts[pattern] += 1
        if len(self._hits) == limits.HITS_PER_SOURCE + 1:
            self._full_line = max(each.record.line for each in self._hits)
        full = len(self._hits) > limits.HITS_PER_SOURCE and line >= self._full_line
        if self.counts[pattern] >= self._cap(pattern, full):
            self.saturated.add(pattern)

    def _cap(self, pattern: int, full: bool) -> int:
        """Return how many hits of the pattern are kept."""
        cap = self._enough.hits_of(pattern, self._most)
        return min(cap, limits.HITS_PER_PATTERN_WHEN_FULL) if full else cap

    def count(self, pattern: int) -> None:
        """Count a line on which a saturated pattern's literal stands."""
        self.counts[pattern] += 1
        self._roughly.add(pattern)

    def overran(self, pattern: int, line: int) -> None:
        """Note that the pattern ran past its time on a line."""
        self._timeouts[pattern] += 1
        self._overran.append((line, pattern))
        if self._timeouts[pattern] >= limits.TIMEOUTS_PER_PATTERN:
            self.given_up.add(pattern)

    def result(self, extra: Iterable[Note] = ()) -> ScanResult:
        hits = sorted(self._hits, key=lambda hit: (hit.record.line, hit.record.offset, hit.pattern))
        if len(hits) > limits.HITS_PER_SOURCE:
            hits = self._settle(hits)
        return ScanResult(
            self._source,
            tuple(hits),
            dict(self.counts),
            frozenset(self.saturated),
            (*self._notes(), *extra),
            overran=tuple(self._overran),
        )

    def _settle(self, hits: Sequence[Hit]) -> list[Hit]:
        """Return those of too many hits that are kept when they come in the order of their lines. A pattern over lines
        hits later than others on these lines, and how much later depends on where blocks end: what is kept must not."""
        kept: list[Hit] = []
        counts: Counter[int] = Counter()
        closed: set[int] = set()
        for hit in hits:
            if hit.pattern in closed:
                continue
            kept.append(hit)
            counts[hit.pattern] += 1
            full = len(kept) > limits.HITS_PER_SOURCE
            if counts[hit.pattern] >= self._cap(hit.pattern, full):
                closed.add(hit.pattern)
        self.saturated |= closed
        for pattern in counts.keys() - self._roughly:
            self.counts[pattern] = counts[pattern]
        return kept

    def _notes(self) -> list[Note]:
        notes = []
        uncounted = {pattern for pattern in self.saturated - self._roughly if self._enough.is_counted(pattern)}
        if uncounted:
            notes.append(
                Note(
                    "saturated",
                    f"so many hits that the rest was neither kept nor counted: {self.names(uncounted)}",
                    self._source.name,
                )
            )
        if self._roughly:
            notes.append(
                Note(
                    "counted-roughly",
                    f"so many hits that only lines with its literal were counted: {self.names(self._roughly)}",
                    self._source.name,
                )
            )
        for pattern, times in sorted(self._timeouts.items()):
            first = min(line for line, each in self._overran if each == pattern)
            gave_up = ", then was given up" if pattern in self.given_up else ""
            notes.append(
                Note(
                    "pattern-timeout",
                    f"{self.names([pattern])} ran past {limits.CONFIRM_TIMEOUT_S} s on {times} "
                    f"line{'s' * (times != 1)}, first on line {first}{gave_up}",
                    self._source.name,
                )
            )
        return notes

    def names(self, patterns: Iterable[int]) -> str:
        """Return the names of the signatures that patterns serve, for a note."""
        uses = sorted({f"{use.rule}: {use.signature}" for pattern in patterns for use in self._uses(pattern)})
        more = f" and {len(uses) - NAMED} more" if len(uses) > NAMED else ""
        return ", ".join(uses[:NAMED]) + more

    def _uses(self, pattern: int) -> Sequence[PatternUse]:
        found = self._users[pattern] if pattern < len(self._users) else ()
        return found or (PatternUse("pattern", str(pattern)),)


def merge_hits(one: ScanResult, other: ScanResult, last_line: Callable[[int], int] = lambda line: line) -> ScanResult:
    """Return the hits of two passes over one source (its lines as they are, and joined where they were hard-wrapped).
    A pattern's hit on the same line counts once, as the first pass has it. `last_line` tells up to which line a line of
    the second pass goes: what the first pass found on any of these is not found again in all of them together."""
    seen: dict[int, list[int]] = {}
    for hit in one.hits:
        seen.setdefault(hit.pattern, []).append(hit.record.line)
    for lines in seen.values():
        lines.sort()  # in a source newest first they fall

    def is_fresh(hit: Hit) -> bool:
        lines = seen.get(hit.pattern, [])
        at = bisect_left(lines, hit.record.line)
        return at == len(lines) or lines[at] > last_line(hit.record.line)

    fresh = [hit for hit in other.hits if is_fresh(hit)]
    hits = sorted((*one.hits, *fresh), key=lambda hit: (hit.record.line, hit.record.offset, hit.pattern))
    counts = Counter(one.counts)
    counts.update(hit.pattern for hit in fresh)
    for pattern in other.saturated:
        counts[pattern] = max(counts[pattern], other.counts.get(pattern, 0))
    notes = tuple(dict.fromkeys((*one.notes, *other.notes)))
    return ScanResult(
        one.source, tuple(hits), dict(counts), one.saturated | other.saturated, notes, one.info or other.info
    )
