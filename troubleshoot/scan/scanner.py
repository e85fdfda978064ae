"""Scans a source: searches its raw blocks for literals, and works only where one stands.

In: blocks of a source and what peels its lines. Out: a `ScanResult`, equal to the plain matcher's (plain.py).

    block --prefilter--> candidates --lines--> line --peel, confirm--> hit

What a candidate costs (finding its line, peeling it, a `regex` search) is a thousand times what a byte costs, so the
scan watches what its candidates are worth. A pattern with limits.HITS_PER_PATTERN hits is saturated: its literal leaves
the database once the calls it still causes have cost as much as the new database. A literal whose candidates confirm
nothing is avoided: its patterns are searched by another one, or by an expression. Neither changes what is found.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence

from troubleshoot import limits
from troubleshoot.model import Block, Hit, Normaliser, Note, Pattern, Period, RulePack, ScanResult, Source
from troubleshoot.scan.ahead import read_ahead
from troubleshoot.scan.confirm import Confirmer
from troubleshoot.scan.enough import Enough
from troubleshoot.scan.entries import extent
from troubleshoot.scan.lines import STRIDE, Chunk, Line
from troubleshoot.scan.match import Matcher
from troubleshoot.scan.prefilter import ENTRY_BITS, ENTRY_MASK, Prefilter, Search, Store, TooManyError
from troubleshoot.scan.same import SameLines
from troubleshoot.scan.spans import Spans
from troubleshoot.scan.tally import Tally, merge_hits
from troubleshoot.scan.timekeeper import Timekeeper

__all__ = ["Scanner", "merge_hits"]

PACKS_KEPT = 8
MOST = 40  # a literal with this part of all candidates in vain is avoided from then on


class CompiledPack:
    """What a pack's scanners share: prefilter and compiled patterns. Safe to share between threads."""

    def __init__(self, patterns: tuple[Pattern, ...], store: Store | None) -> None:
        self.patterns = patterns
        self.prefilter = Prefilter(patterns, store)
        self.confirmer = Confirmer(patterns)
        self._enough: Enough | None = None
        self.heights = {pattern.id: pattern.lines for pattern in patterns if pattern.lines > 1}

    def enough_for(self, pack: RulePack) -> Enough:
        """Return what is enough for the rules of a pack with these patterns; the last pack's is kept."""
        enough = self._enough
        if enough is None or enough.pack is not pack:
            enough = self._enough = Enough(pack)
        return enough


_compiled: OrderedDict[tuple[int, frozenset[int] | None], tuple[tuple[Pattern, ...], CompiledPack]] = OrderedDict()
_lock = threading.Lock()


def compile_pack(pack: RulePack, only: frozenset[int] | None = None, store: Store | None = None) -> CompiledPack:
    """Return the compiled pack (of the patterns in `only`), the same one for the same pack while it is in use."""
    key = id(pack.patterns), only
    with _lock:
        kept = _compiled.get(key)
        if kept is None:
            chosen = pack.patterns if only is None else tuple(each for each in pack.patterns if each.id in only)
            # the pack's own tuple is kept as well, so that its id is not given to another one
            kept = _compiled[key] = pack.patterns, CompiledPack(chosen, store if only is None else None)
            if len(_compiled) > PACKS_KEPT:
                _compiled.popitem(last=False)
        _compiled.move_to_end(key)
        return kept[1]


class Scanner:
    """Scans sources, one after another, for one worker.

    `only`: ids of the patterns to look for. `count_all`: ids of patterns that are counted on when saturated, by the
    lines on which their literal stands. `store` keeps the pack's database between runs. `ahead`: read the next block in
    a second thread while this one is searched.
    """

    def __init__(
        self,
        pack: RulePack,
        only: frozenset[int] | None = None,
        *,
        count_all: frozenset[int] = frozenset(),
        store: Store | None = None,
        ahead: bool = True,
    ) -> None:
        self._pack = pack
        self._compiled = compile_pack(pack, only, store)
        self._enough = self._compiled.enough_for(pack)
        self._count_all = count_all
        self._ahead = ahead
        self._search: tuple[Prefilter, Search] | None = None
        self._avoid: frozenset[bytes] = frozenset()

    def scan(
        self,
        source: Source,
        blocks: Iterable[Block],
        normaliser: Normaliser,
        closed: frozenset[int] = frozenset(),
        most: int = 0,
        period: Period | None = None,
    ) -> ScanResult:
        """Return the hits of one source, in record order, at most one per pattern and line. `closed`: ids of patterns
        that are saturated before the source, or this part of it, begins. `most`: see Tally. `period`: hits of another
        time do not count."""
        tally = Tally(source, self._enough, most)
        tally.saturated |= closed
        matcher = Matcher(source, normaliser, self._compiled.confirmer)
        run = _Run(self, tally, matcher, normaliser, Timekeeper(period, normaliser) if period else None)
        cut = False
        for serial, block in enumerate(read_ahead(blocks) if self._ahead else blocks):
            run.take(Chunk(block, serial, continues=cut))
            cut = block.cut
        self._avoid = run.avoid  # a job's sources are alike: the next one begins with what this one learned
        return run.finish()

    def expect(self, closed: frozenset[int]) -> None:
        """Make ready what a scan with these patterns closed needs, before processes are forked that all will."""
        self._compiled.prefilter.without(closed, self._avoid)

    def search_for(self, prefilter: Prefilter) -> Search:
        """Return this worker's search of a prefilter; the last one is kept."""
        if self._search is None or self._search[0] is not prefilter:
            self._search = prefilter, prefilter.search()
        return self._search[1]

    @property
    def compiled(self) -> CompiledPack:
        return self._compiled

    @property
    def count_all(self) -> frozenset[int]:
        return self._count_all

    @property
    def avoid(self) -> frozenset[bytes]:
        """Literals that were on too many lines of the sources so far."""
        return self._avoid


class _Run:
    """The scan of one source."""

    def __init__(
        self,
        scanner: Scanner,
        tally: Tally,
        matcher: Matcher,
        normaliser: Normaliser,
        timekeeper: Timekeeper | None = None,
    ) -> None:
        self._scanner = scanner
        self._tally = tally
        self._matcher = matcher
        self._heights = scanner.compiled.heights
        self._normaliser = normaliser
        self._timekeeper = timekeeper
        self._spans = Spans(self._heights, self._match_lines, self._extent, scanner.compiled.prefilter.plan.starts)
        self._off = frozenset(pattern for pattern in tally.saturated if not self._is_wanted(pattern))
        self.avoid = scanner.avoid
        self._false: Counter[int] = Counter()
        self._hopeless: set[bytes] = set()  # expressions in vain for which there is no better one
        self._reach = limits.FIRST_SCAN_BYTES
        # a new database costs by its entries, and the first changes bring the most
        self._patience = max(1, len(scanner.compiled.prefilter.plan.entries) // limits.ENTRIES)
        self._most_idle = self._patience * limits.IDLE_CANDIDATES
        self._same = SameLines()
        prefilter = scanner.compiled.prefilter
        self._use(prefilter.without(self._off, self.avoid) if self.avoid or self._off else prefilter)

    def _use(self, prefilter: Prefilter) -> None:
        self._prefilter = prefilter
        self._search = self._scanner.search_for(prefilter)
        self._idle = self._vain = 0
        self._false.clear()
        self._select()

    def _select(self) -> None:
        """Note which patterns each entry is still wanted for."""
        self._same.forget_dull()
        plan = self._prefilter.plan
        self._needs = plan.needs
        if self._tally.saturated or self._tally.given_up:
            self._wanted = [tuple(filter(self._is_wanted, entry.patterns)) for entry in plan.entries]
        else:  # all of them; asking for each took a quarter of the time of a small file
            self._wanted = self._prefilter.patterns_of.copy()
        self._everywhere = [pattern for pattern in plan.everywhere if self._tally.is_open(pattern)]
        self._closed = self._tally.closed

    def _close(self) -> None:
        """Take the patterns that have been closed since from the entries that stand for them."""
        closed = self._tally.closed
        fresh = closed - self._closed
        self._closed = closed
        entries_of = self._prefilter.entries_of
        for entry in {entry for pattern in fresh for entry in entries_of.get(pattern, ())}:
            self._wanted[entry] = tuple(filter(self._is_wanted, self._wanted[entry]))
        self._everywhere = [pattern for pattern in self._everywhere if pattern not in fresh]

    def _is_wanted(self, pattern: int) -> bool:
        return self._tally.is_open(pattern) or (
            pattern in self._scanner.count_all and pattern not in self._tally.given_up
        )

    def take(self, chunk: Chunk) -> None:
        """Find the hits of a chunk."""
        if self._heights:
            self._spans.begin(chunk)
        start = 0
        data = chunk.data
        with memoryview(data if data.endswith(b"\n") else data + b"\n") as view:
            while start < len(view):
                start = self._scan_from(chunk, view, start)
                self._adapt()
        if self._everywhere:
            self._try_everywhere(chunk)
        if self._heights:
            self._spans.end(chunk)

    def finish(self) -> ScanResult:
        self._spans.finish()
        del self._spans  # it knows this run, and in that circle its last chunk's 8 MiB would wait for the collector
        notes = list(self._timekeeper.notes()) if self._timekeeper is not None else []
        unsearchable = self._prefilter.plan.unsearchable
        if unsearchable:
            text = f"cannot be searched for and were tried on every line: {self._tally.names(unsearchable)}"
            notes.append(Note("slow-pattern", text))
        return self._tally.result(notes)

    def _scan_from(self, chunk: Chunk, view: memoryview, start: int) -> int:
        """Search on from `start`; return how far that went."""
        end = len(view)
        if end - start > self._reach:
            end = chunk.data.rfind(b"\n", start, start + self._reach) + 1 or end
        self._reach = min(2 * self._reach, limits.BLOCK_BYTES)
        try:
            found = self._search.candidates(view[start:end])
        except TooManyError:
            self._walk_lines(chunk, start, end)
            return end
        return self._walk(chunk, found, start, end)

    def _walk(self, chunk: Chunk, found: Sequence[int], start: int, end: int) -> int:
        """Go through the candidates from `start` to `end` in order and treat those of one line together. Return `end`,
        or the end of the line up to which too many of them were in vain."""
        line: Line | None = None
        group: list[int] = []
        for candidate in found:
            if not self._wanted[candidate & ENTRY_MASK]:
                self._idle += 1
                continue
            at = start + (candidate >> ENTRY_BITS)
            candidate = at << ENTRY_BITS | candidate & ENTRY_MASK
            if line is not None and at <= line.end + 1:
                group.append(candidate)
                continue
            if line is not None:
                self._take_line(line, group)
                if self._vain >= self._patience * limits.VAIN_COST:
                    return line.end + 1
            line, group = chunk.line_at(at - 1), [candidate]
        if line is not None:
            self._take_line(line, group)
        return end

    def _walk_lines(self, chunk: Chunk, start: int, end: int) -> None:
        """Search line by line, window by window: slower, and in bounded memory however many candidates there are."""
        for line in chunk.lines(start):
            if line.start >= end:
                break
            group = []
            for first in range(line.start, line.start + line.windows * STRIDE, STRIDE):
                last = min(first + limits.MATCH_CHARS, line.end)
                group += [last << ENTRY_BITS | entry for entry in self._search.present(chunk.data[first:last] + b"\n")]
            if group:
                self._take_line(line, group)

    def _take_line(self, line: Line, candidates: Sequence[int]) -> None:
        """Try on a line the patterns whose entries stand on it."""
        content = line.content
        if self._same.is_dull(content, len(candidates)):
            return
        found: dict[int, list[int]] = {}
        for candidate in candidates:
            for pattern in self._wanted[candidate & ENTRY_MASK]:
                found.setdefault(pattern, []).append(candidate)
        vain_on = self._same.vain_on(content)
        for pattern in sorted(found):
            if not self._tally.is_open(pattern):
                if self._is_wanted(pattern):
                    self._tally.count(pattern)
                continue
            if pattern in vain_on:
                continue
            windows = None
            if line.is_long:
                windows = {index for each in found[pattern] for index in line.windows_with(each >> ENTRY_BITS)}
            lacks = self._lacks(pattern, line)
            if lacks or not self._try(pattern, line, windows):
                self._note_vain(found[pattern], 1 if lacks else limits.VAIN_TRIED)
                if pattern not in self._heights:
                    vain_on.add(pattern)
        if vain_on.issuperset(found):
            self._same.note_dull(content, len(candidates))
        if len(self._closed) != len(self._tally.saturated) + len(self._tally.given_up):
            self._close()

    def _lacks(self, pattern: int, line: Line) -> bool:
        """Tell, at little cost, that the pattern cannot match around this line."""
        needs = self._needs.get(pattern)
        if not needs or line.is_long:
            return False
        return self._spans.lacks(pattern, line, needs) if pattern in self._heights else line.lacks(needs)

    def _try_everywhere(self, chunk: Chunk) -> None:
        for line in chunk.lines():
            for pattern in self._everywhere:
                if self._tally.is_open(pattern) and (line.end > line.start or pattern in self._heights):
                    self._try(pattern, line, None)

    def _try(self, pattern: int, line: Line, windows: set[int] | None) -> bool:
        """Try one pattern on a line; tell whether the candidate was worth it."""
        if pattern in self._heights:
            return self._spans.candidate(pattern, line)
        try:
            hit = self._matcher.match_line(pattern, line, windows)
        except TimeoutError:
            self._tally.overran(pattern, line.number)
            return False
        return self._add(hit, line)

    def _extent(self, pattern: int, lines: Sequence[Line], at: int) -> tuple[int, int]:
        """Return which of the lines around a candidate a match of the pattern may take."""
        if not self._scanner.compiled.confirmer.is_entry(pattern):
            return 0, len(lines)
        return extent(lines, at, lambda line: line.peeled(self._normaliser))

    def _match_lines(self, pattern: int, lines: Sequence[Line]) -> bool:
        if not self._tally.is_open(pattern):
            return False
        try:
            hit = self._matcher.match_lines(pattern, lines)
        except TimeoutError:
            self._tally.overran(pattern, lines[0].number)
            return False
        return self._add(hit, lines[0])

    def _add(self, hit: Hit | None, line: Line) -> bool:
        if hit is None:
            return False
        if self._timekeeper is None or self._timekeeper.counts(hit, line):
            self._tally.add(hit)
        return True

    def _adapt(self) -> None:
        """Change over to another database where the present one has wasted as much as that costs."""
        if self._idle < self._most_idle and self._vain < self._patience * limits.VAIN_COST:
            return
        closed = self._tally.closed
        off = frozenset(pattern for pattern in closed if not self._is_wanted(pattern))
        avoid = self.avoid | self._words_in_vain()
        self._idle = self._vain = 0
        self._false.clear()
        if (off, avoid) == (self._off, self.avoid):
            return
        if avoid != self.avoid:  # better words may bring worse ones; without saturated patterns it can only get better
            self._patience *= 2
        self._off, self.avoid = off, avoid
        self._use(self._scanner.compiled.prefilter.without(off, avoid))

    def _note_vain(self, candidates: Sequence[int], cost: int) -> None:
        """Count candidates that confirmed nothing, unless nothing can be done about their expression."""
        entries = self._prefilter.plan.entries
        found = {each & ENTRY_MASK for each in candidates}
        if any(entries[entry].expression not in self._hopeless for entry in found):
            for entry in found:
                self._false[entry] += cost
            self._vain += cost

    def _words_in_vain(self) -> set[bytes]:
        """Return the literals that most candidates in vain come from, and no other: a better one may not be found."""
        entries = self._prefilter.plan.entries
        least = max(self._vain, self._patience * limits.VAIN_COST) // MOST
        often = [entries[entry] for entry, times in self._false.items() if times >= least]
        self._hopeless.update(
            entry.expression for entry in often if entry.literal is None or entry.literal in self.avoid
        )
        return {entry.literal for entry in often if entry.literal is not None}
