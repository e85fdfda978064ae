"""Remembers where the lines of a repaired text stood in the source as given.

In: steps that delete, split or join lines. Out: a `LineMap`, computed only when a hit asks for it, so that repairing a
block costs nothing but the repair. A step says for each of its output lines from which input line it comes and how
many bytes into that line it begins:

    "a\\rb\\nc\\n"  ->  "a\\nb\\nc\\n"   places [(0, 0), (0, 2), (1, 0)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeVar, overload

from troubleshoot.model import LineMap

Place = tuple[int, int]  # index of the input line, bytes into it
T = TypeVar("T")


class Later(Sequence[T], Generic[T]):
    """A sequence that is computed when first asked for."""

    __slots__ = ("_compute", "_values")

    def __init__(self, compute: Callable[[], Sequence[T]]) -> None:
        self._compute = compute
        self._values: Sequence[T] | None = None

    def _get(self) -> Sequence[T]:
        if self._values is None:
            self._values = self._compute()
        return self._values

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._get()[index]

    def __len__(self) -> int:
        return len(self._get())

    def __iter__(self) -> Iterator[T]:
        return iter(self._get())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # equal to lists, which have no hash either


@dataclass(frozen=True, slots=True)
class Text:
    """Whole lines on their way through the repairs, with where each of them stood.

    `exact`: the bytes within a line are still the source's own, so that a line broken in two keeps exact offsets. After
    a change within lines the pieces of a broken line are all placed at its start.
    """

    data: bytes
    map: LineMap
    exact: bool = True

    def with_data(self, data: bytes) -> Text:
        """Return other bytes in the same lines."""
        return self if data == self.data else Text(data, self.map, exact=False)

    def with_lines(self, data: bytes, places: Callable[[], Sequence[Place]]) -> Text:
        """Return other lines; `places` is asked only when needed."""
        found = Later(places)
        scale = 1 if self.exact else 0
        old = self.map
        lines = Later(lambda: pick(old.lines, [i for i, _ in found]))
        offsets = Later(
            lambda: [
                at + scale * shift
                for at, (_, shift) in zip(pick(old.offsets, [i for i, _ in found]), found, strict=True)
            ]
        )
        return Text(data, LineMap(lines, offsets, Later(lambda: _continued(old.continued, found))), self.exact)


def _continued(old: Sequence[int], places: Sequence[Place]) -> list[int]:
    """Return which of the new lines go on in a record: those of a line that did, and what another was broken into."""
    before = frozenset(old)
    first: dict[int, int] = {}
    for index, (line, _) in enumerate(places):
        first.setdefault(line, index)
    return [i for i, (line, _) in enumerate(places) if line in before or first[line] != i]


def pick(values: Sequence[int], indexes: Sequence[int]) -> list[int]:
    """Return the values at the indexes, without asking a `Later` for each of them anew."""
    known = list(values)
    return [known[i] for i in indexes]


def text_as_given(data: bytes, first_line: int, offset: int) -> Text:
    """Return the text of a block whose bytes are the source's own."""
    lines = Later(lambda: range(first_line, first_line + line_count(data)))
    return Text(data, LineMap(lines, Later(lambda: line_starts(data, offset))))


def line_count(data: bytes) -> int:
    """Return how many lines the text has; one without a line feed at the end counts."""
    return data.count(b"\n") + (not data.endswith(b"\n"))


def line_starts(data: bytes, offset: int = 0) -> list[int]:
    """Return the offset of each line's first byte."""
    sizes = [len(line) + 1 for line in data.split(b"\n")]
    starts = list(accumulate(sizes, initial=offset))
    return starts[: len(sizes) - data.endswith(b"\n")]
