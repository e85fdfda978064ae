"""Lines of a block, found around a candidate, numbered only when asked.

In: a `Block`, and a position in it. Out: `Line`s. Counting the line feeds of a log takes a third as long as searching
it, so nothing here counts before a line's number is asked for, which is when a line is peeled for confirmation. It then
goes on from where the reader has counted.

A line longer than limits.MATCH_CHARS is matched in windows of that size which overlap by limits.LINE_OVERLAP_BYTES and
stand on a fixed grid from the line's start, so that it does not matter which candidate led to a window:

    window 0  |-----------|
    window 1          |-----------|
    window 2                  |-----------|
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from troubleshoot import limits
from troubleshoot.model import Block, Normaliser, Peeled, Record

LONG_STRETCH = 64 * 1024
STRIDE = limits.MATCH_CHARS - limits.LINE_OVERLAP_BYTES


class Chunk:
    """A block whose bytes are its own. `head`: where its first whole line starts, behind the rest of a line that was
    cut in the block before."""

    __slots__ = ("_counted", "_counted_to", "block", "data", "head", "serial")

    def __init__(self, block: Block, serial: int, *, continues: bool = False) -> None:
        self.block = block
        self.data = block.data if isinstance(block.data, bytes) else bytes(block.data)
        self.serial = serial
        self._counted, self._counted_to = 0, 0
        self.head = 0
        if continues:
            end = self.data.find(b"\n")
            self.head = len(self.data) if end < 0 else end + 1

    def line_at(self, position: int) -> Line:
        """Return the line that holds the byte at `position`."""
        start = self.data.rfind(b"\n", 0, position) + 1
        end = self.data.find(b"\n", position)
        return Line(self, start, end if end >= 0 else len(self.data))

    def lines(self, start: int = 0) -> Iterator[Line]:
        """Yield the lines from the one that begins at `start`."""
        data = self.data
        while start < len(data):
            end = data.find(b"\n", start)
            end = end if end >= 0 else len(data)
            yield Line(self, start, end)
            start = end + 1

    def lines_before(self, start: int, count: int) -> list[Line]:
        """Return up to `count` whole lines before the line that begins at `start`, in order."""
        found: list[Line] = []
        while start > self.head and len(found) < count:
            end = start - 1
            start = self.data.rfind(b"\n", 0, end) + 1
            if start < self.head:
                break
            found.append(Line(self, start, end))
        return found[::-1]

    def number_of(self, start: int) -> int:
        """Return the number of the line that begins at `start`."""
        index = self._index_of(start)
        line_map = self.block.line_map
        if line_map is None:
            return self.block.first_line + index
        return line_map.lines[min(index, len(line_map.lines) - 1)]

    def offset_of(self, start: int) -> int:
        """Return the offset in the source of the line that begins at `start`."""
        line_map = self.block.line_map
        if line_map is None:
            return self.block.offset + start
        return line_map.offsets[min(self._index_of(start), len(line_map.offsets) - 1)]

    def _index_of(self, start: int) -> int:
        feeds, place = self.block.feeds, start // limits.FEEDS_STRIDE
        if feeds and not place * limits.FEEDS_STRIDE <= self._counted_to <= start:
            self._counted, self._counted_to = feeds[place], place * limits.FEEDS_STRIDE
        if start >= self._counted_to:
            self._counted += _count_feeds(self.data, self._counted_to, start)
        else:
            self._counted -= self.data.count(b"\n", start, self._counted_to)
        self._counted_to = start
        return self._counted


class Line:
    """One line of a chunk, without its line feed."""

    __slots__ = ("_peeled", "_raw", "_words", "chunk", "end", "record", "start")

    def __init__(self, chunk: Chunk, start: int, end: int) -> None:
        self.chunk = chunk
        self.start = start
        self.end = end
        self._raw: str | None = None
        self._peeled: Peeled | None = None
        self._words: bytes | None = None
        self.record: Record | None = None

    @property
    def place(self) -> tuple[int, int]:
        """The line's place in the source, for comparison; cheaper than its number."""
        return self.chunk.serial, self.start

    @property
    def number(self) -> int:
        return self.chunk.number_of(self.start)

    @property
    def offset(self) -> int:
        return self.chunk.offset_of(self.start)

    @property
    def content(self) -> bytes:
        """The line's bytes."""
        return self.chunk.data[self.start : self.end]

    @property
    def is_long(self) -> bool:
        return self.end - self.start > limits.MATCH_CHARS

    @property
    def windows(self) -> int:
        """How many windows the line is matched in."""
        return 1 + max(0, -(-(self.end - self.start - limits.MATCH_CHARS) // STRIDE))

    def windows_with(self, end: int) -> range:
        """Return the windows that hold the byte before the chunk's position `end`."""
        at = end - 1 - self.start
        first = max(0, -(-(at + 1 - limits.MATCH_CHARS) // STRIDE))
        return range(first, min(at // STRIDE, self.windows - 1) + 1)

    def window(self, index: int) -> str:
        """Return the text of one window, as given."""
        start = self.start + index * STRIDE
        return _decode(self.chunk.data[start : min(start + limits.MATCH_CHARS, self.end)])

    @property
    def raw(self) -> str:
        """The text as given; of a long line, its first window."""
        if self._raw is None:
            self._raw = self.window(0)
        return self._raw

    def lacks(self, needs: Sequence[Sequence[bytes]]) -> bool:
        """Tell, without peeling it, that the line does not hold one word of each set."""
        words = self._words
        if words is None:
            words = self._words = lower_words(self.content)
        return lacks(words, needs)

    def peeled(self, normaliser: Normaliser) -> Peeled:
        if self._peeled is None:
            self._peeled = normaliser.peel(self.raw, self.number)
        return self._peeled


def _count_feeds(data: bytes, start: int, end: int) -> int:
    """Return the number of line feeds. Over a long stretch `replace` finds them faster than `count`, copy and all."""
    if end - start < LONG_STRETCH:
        return data.count(b"\n", start, end)
    stretch = data[start:end]
    return len(stretch) - len(stretch.replace(b"\n", b""))


def lower_words(data: bytes) -> bytes:
    """Return the text in which to look for words; nothing where peeling may bring up words that are not in there."""
    return b"" if b"\\" in data or b"&" in data else data.lower()


def lacks(words: bytes, needs: Sequence[Sequence[bytes]]) -> bool:
    """Tell that a text does not hold one word of each set. Of no text nothing is told."""
    if words:
        for each in needs:
            for word in each:
                if word in words:
                    break
            else:
                return True
    return False


def _decode(data: bytes) -> str:
    return data.removesuffix(b"\r").decode("utf-8", "replace")
