"""Finds hits of patterns that span lines, also where a block ends between these lines.

In: a candidate line in a chunk. A match of n lines may begin up to n - 1 lines before it and end as far behind, so all
these lines are needed. Those before the chunk are kept from the chunks before; a candidate whose lines are not all
there yet waits for the next chunk:

    chunk 1   ... k k k C        C waits: its match may go on
    chunk 2   l l l ...          now the lines k k k C l l l are tried as starts, up to C

A pattern's candidates come in order, so how far its starts have been tried is one place per pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from troubleshoot import limits
from troubleshoot.scan.lines import Chunk, Line, lacks, lower_words
from troubleshoot.scan.plan import Words

NOTHING: Mapping[int, Words] = {}

Try = Callable[[int, Sequence[Line]], bool]
Extent = Callable[[int, Sequence[Line], int], tuple[int, int]]


class Spans:
    """The candidates of one source's patterns that span lines. `heights`: how many lines each may span; `attempt` tries
    a pattern at the first of the lines given and tells whether it hit; `extent` says which of the lines around a
    candidate can be part of a match at all; `starts`: words that the first line of a match must hold."""

    def __init__(
        self,
        heights: Mapping[int, int],
        attempt: Try,
        extent: Extent | None = None,
        starts: Mapping[int, Words] = NOTHING,
    ) -> None:
        self._heights = heights
        self._starts = starts
        self._attempt = attempt
        self._extent = extent or (lambda pattern, lines, at: (0, len(lines)))
        self._reach = max(heights.values(), default=1) - 1
        self._tail: list[Line] = []
        self._pending: list[tuple[Line, int]] = []
        self._tried: dict[int, tuple[int, int]] = {}

    def begin(self, chunk: Chunk) -> None:
        """Try the candidates that waited for this chunk. Call before its own candidates come."""
        if not self._pending:
            return
        following: list[Line] = []
        for line in chunk.lines(chunk.head):
            if len(following) == self._reach:
                break
            following.append(line)
        self._resolve([*self._tail, *following], complete=chunk.block.last)

    def candidate(self, pattern: int, line: Line) -> bool:
        """Try the pattern at the lines from which it may reach `line`; tell whether one hit, or may yet. The rest of a
        line that was cut takes no part."""
        chunk = line.chunk
        if line.start < chunk.head:
            return False
        reach = self._heights[pattern] - 1
        after: list[Line] = []
        for each in chunk.lines(line.end + 1):
            if len(after) == reach:
                break
            after.append(each)
        if len(after) < reach and not chunk.block.last:
            self._pending.append((line, pattern))
            return True
        before = chunk.lines_before(line.start, reach)
        if len(before) < reach:
            missing = reach - len(before)
            before = [*self._tail[-missing:], *before]
        return self._try(pattern, [*before, line, *after], len(before))

    def lacks(self, pattern: int, line: Line, needs: Sequence[Sequence[bytes]]) -> bool:
        """Tell, without peeling them, that the lines around a candidate do not hold one word of each set."""
        chunk = line.chunk
        reach = self._heights[pattern] - 1
        start, end = line.start, line.end
        for _ in range(reach):
            if start <= chunk.head:
                return False  # some of the lines are in the chunk before
            start = chunk.data.rfind(b"\n", 0, start - 1) + 1
            if end < len(chunk.data):
                end = chunk.data.find(b"\n", end + 1)
                end = end if end >= 0 else len(chunk.data)
        if start < chunk.head or (end >= len(chunk.data) and not chunk.block.last) or end - start > limits.MATCH_CHARS:
            return False
        return lacks(lower_words(chunk.data[start:end]), needs)

    def end(self, chunk: Chunk) -> None:
        """Keep the chunk's last lines for the next one. Call after its candidates."""
        wanted = 2 * self._reach
        last = chunk.lines_before(len(chunk.data) + (not chunk.data.endswith(b"\n")), wanted) if chunk.data else []
        self._tail = [*self._tail, *last][-wanted:]

    def finish(self) -> None:
        """Try what still waits: no more lines will come."""
        self._resolve(self._tail, complete=True)

    def _resolve(self, lines: list[Line], *, complete: bool) -> None:
        places = {line.place: index for index, line in enumerate(lines)}
        waiting, self._pending = self._pending, []
        for line, pattern in waiting:
            index = places[line.place]
            reach = self._heights[pattern] - 1
            if index + reach < len(lines) or complete:
                self._try(pattern, lines[max(0, index - reach) : index + reach + 1], min(index, reach))
            else:
                self._pending.append((line, pattern))

    def _try(self, pattern: int, lines: Sequence[Line], last_start: int) -> bool:
        """Try the pattern at each of the lines up to `last_start` at which it was not tried before."""
        height = self._heights[pattern]
        tried = self._tried.get(pattern, (-1, -1))
        needs = self._starts.get(pattern, ())
        starts = [at for at in range(last_start + 1) if lines[at].place > tried and not lines[at].lacks(needs)]
        hit = False
        if starts:
            first, end = self._extent(pattern, lines, last_start)
            for index in starts:
                if index >= first:
                    hit = self._attempt(pattern, lines[index : min(index + height, end)]) or hit
        self._tried[pattern] = max(tried, lines[last_start].place)
        return hit
