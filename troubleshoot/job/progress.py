"""The last steps that each rank counted, read from the end of a source.

In: the blocks of a source, watched on their way to the scan, and what peels its lines. Out: `Progress`, in the order of
the lines, up to limits.PROGRESS_PER_RANK per rank.

Lines of progress are the commonest of all, and only the last ones tell anything. So they are no signatures, which would
cost a search for each: the last limits.TAIL_BYTES are kept, and read backwards until every rank has shown its steps.

    [rank 0] step 41 loss 2.1     <- kept, rank 0
    [rank 1] step 41 loss 2.1     <- kept, rank 1
    [rank 1] Traceback ...        <- no hint of a step: passed over

What is found depends on the bytes of the source alone, not on how it was cut into blocks. Where the end shows no step,
though a sample of the source does, a file that can be sought in is read further back, up to limits.FAR_TAIL_BYTES.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from troubleshoot import late, limits
from troubleshoot.model import Block, Identity, LineMap, Normaliser, Progress, Source
from troubleshoot.shapes import ByShape

VAIN_LINES = 64  # of progress in a row that tell nothing new, and the walk ends
LINE_BYTES = 2_000  # of a line that are looked at

_HINT = late.compile(rb"(?:step|iter|epoch|update|batch|it/s|s/it)", re.IGNORECASE)
_HINTS = (b"step", b"Step", b"iter", b"Iter", b"poch", b"pdate", b"atch", b"it/s", b"s/it", b"STEP", b"ITER", b"EPOCH")
Behind = Callable[[], Iterator[bytes]]  # pieces of the file that was watched, whole or cut anywhere, last first
_OTHER = r"error|exception|traceback|sav(?:ed|ing)|load|resum|restor|checkpoint|fetching|generating|tokeniz|map\b"
_STEPS = (
    r"\bepoch:?\s?\[(?P<epoch>\d{1,9})\]\s*\[\s*(?P<step>\d{1,12})\s*/",
    r"(?:\bepoch\s(?P<epoch>\d{1,9}):\s*)?\d{1,3}%\|[^|]*\|\s*(?P<step>\d{1,12})/\d+\s\[",
    r"(?:\bepoch[\"']?\s*[:=#]?\s*\[?(?P<epoch>\d{1,9}).{0,60}?)?"
    r"(?<![\w/.-])(?:(?:global|train|optimi[sz]er|num)[_ ]?)?(?:step|iteration|iter|update|batch)(?:s|es|_idx)?"
    r"[\"']?\s*[:=#]?\s*\[?\s*(?P<step>\d{1,12})(?![\w-]|\.\d)",
    r"\bepoch[\"']?\s*[:=#]?\s*\[?(?P<epoch>\d{1,9})\b",
)
_RANK = r"\brank[ =:#]{0,2}(?P<rank>\d{1,7})(?:\s?/\s?(?P<world>\d{1,7})|\sof\s(?P<of>\d{1,7}))?"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile when first needed: a paste without a step pays nothing."""
    return re.compile(pattern, re.IGNORECASE)


@dataclass(slots=True)
class _Piece:
    """The end of a block. `end_line` is the number of the line after it; with a line map, its last line's entry."""

    data: bytes
    end_line: int
    line_map: LineMap | None

    def line(self, from_end: int) -> int:
        """Return the number of the line that so many lines stand after, within the block."""
        if self.line_map is not None:
            return self.line_map.lines[len(self.line_map.lines) - 1 - from_end]
        return self.end_line - 1 - from_end


class Tail:
    """Keeps the end of one source while its blocks pass by."""

    def __init__(self) -> None:
        self._pieces: deque[_Piece] = deque()
        self._bytes = 0

    def watch(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks as they are."""
        for block in blocks:
            self._keep(block)
            yield block

    def _keep(self, block: Block) -> None:
        if self._pieces and self._pieces[-1].line_map is None:
            self._pieces[-1].end_line = block.first_line
        kept = bytes(block.data[-limits.TAIL_BYTES - 1 :])  # a line cut at its start is then longer than there is room
        end_line = 0
        if block.last and block.line_map is None:
            whole = kept if len(kept) == len(block.data) else bytes(block.data)
            end_line = block.first_line + whole.count(b"\n") + (not whole.endswith(b"\n"))
        self._pieces.append(_Piece(kept, end_line, block.line_map))
        self._bytes += len(kept)
        while len(self._pieces) > 1 and self._bytes - len(self._pieces[0].data) > limits.TAIL_BYTES:
            self._bytes -= len(self._pieces.popleft().data)

    def last_progress(
        self, source: Source, normaliser: Normaliser, behind: Behind | None = None
    ) -> tuple[Progress, ...]:
        """Return the last steps of each rank, in the order of their lines. `behind` reads on from the end of what was
        watched, where that can be."""
        walk = _Walk(source, normaliser)
        for line, raw in self._lines_backwards():
            if _HINT.search(raw) is not None and walk.take(line, raw):
                break
        else:
            if behind is not None and not walk.found() and self._is_plain:
                self._walk_on(walk, behind)
        return walk.found()

    @property
    def _is_plain(self) -> bool:
        """Whether lines are those of the file, and more of them than were kept."""
        return bool(self._pieces) and self._pieces[-1].line_map is None and self._bytes >= limits.TAIL_BYTES

    def _walk_on(self, walk: _Walk, behind: Behind) -> None:
        """Look through pieces of the file, last first, of which few have a step in them."""
        line = self._pieces[-1].end_line - 1
        rest = b""  # of a line whose beginning is in the piece before
        for piece in behind():
            data = piece + rest
            cut = data.find(b"\n") + 1
            rest, body = data[:cut], data[cut:]
            if not cut:
                rest = data[-limits.LINE_BYTES :]
                continue
            if not any(hint in body for hint in _HINTS):
                line -= body.count(b"\n") + (not body.endswith(b"\n") and bool(body))
                continue
            for raw in _rows_backwards(body.removesuffix(b"\n")):
                if _HINT.search(raw) is not None and walk.take(line, raw[:LINE_BYTES]):
                    return
                line -= 1
            if walk.found():
                return

    def _lines_backwards(self) -> Iterator[tuple[int, bytes]]:
        """Yield number and bytes of the lines that lie wholly within the last limits.TAIL_BYTES, last first."""
        room = limits.TAIL_BYTES
        for piece in reversed(self._pieces):
            for number, raw in enumerate(_rows_backwards(piece.data.removesuffix(b"\n"))):
                room -= len(raw) + 1
                if room < -1:  # the last line may have no line feed
                    return
                if raw:
                    yield piece.line(number), raw[:LINE_BYTES]


def _rows_backwards(data: bytes) -> Iterator[bytes]:
    """Yield the lines, last first; most walks end soon, so the far part is cut into lines only when they get there."""
    cut = data.rfind(b"\n", 0, max(len(data) - limits.NEAR_TAIL_BYTES, 0)) + 1
    yield from reversed(data[cut:].split(b"\n"))
    if cut:
        yield from reversed(data[: cut - 1].split(b"\n"))


class _Walk:
    """What a walk from the end of a source has found so far."""

    def __init__(self, source: Source, normaliser: Normaliser) -> None:
        self._source = source
        self._normaliser = normaliser
        self._held: Counter[int | None] = Counter()
        self._seen: set[tuple[int | None, int | None, int]] = set()
        self._vain = 0
        self._looked = 0
        self._found: list[Progress] = []

    def take(self, line: int, raw: bytes) -> bool:
        """Look at a line; tell whether there is no need of more."""
        text = raw.decode("utf-8", "replace")
        steps = steps_in(text)
        if steps is None:
            return False
        self._looked += 1
        epoch, step = steps
        peeled = self._normaliser.peel(text, line)
        named = _compiled(_RANK).search(peeled.text)
        identity = peeled.identity.over(self._source.identity)
        if identity.rank is None and named is not None:
            identity = Identity(rank=int(named["rank"])).over(identity)
        key, mark = identity.rank, (identity.rank, epoch, step)
        if mark in self._seen or self._held[key] >= limits.PROGRESS_PER_RANK:
            self._vain += 1
        else:
            self._vain = 0
            self._seen.add(mark)
            self._held[key] += 1
            world = (named["world"] or named["of"]) if named is not None else None
            self._found.append(
                Progress(
                    source=self._source.name,
                    line=line,
                    text=peeled.text.strip()[: limits.EVIDENCE_CHARS],
                    step=step,
                    epoch=epoch,
                    stamp=peeled.stamp,
                    identity=identity,
                    world=int(world) if world else None,
                )
            )
        is_alone = key is None or self._source.identity.rank is not None
        return (
            (is_alone and self._held[key] >= limits.PROGRESS_PER_RANK)
            or self._vain >= VAIN_LINES
            or self._looked >= limits.PROGRESS_LINES
        )

    def found(self) -> tuple[Progress, ...]:
        return tuple(reversed(self._found))


def shows_steps(sample: bytes) -> bool:
    """Tell whether lines of a sample count steps."""
    lines = (line for line in sample.split(b"\n") if _HINT.search(line) is not None)
    return any(steps_in(line[:LINE_BYTES].decode("utf-8", "replace")) is not None for line in lines)


def steps_in(text: str) -> tuple[int | None, int] | None:
    """Return epoch and step that a line counts; None for a line that counts none."""
    places = _places_of(text)
    if places is None:
        return None
    epoch, step = (text[begin:end] for begin, end in places)
    return int(epoch) if epoch else None, int(step) if step else 0


def _find_places(shape: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return where epoch and step stand in lines of a shape, (0, 0) for one that does not; None where no step does."""
    for pattern in _STEPS:
        m = _compiled(pattern).search(shape)
        if m is not None and not _compiled(_OTHER).search(shape):
            epoch, step = (m.span(name) if m.groupdict().get(name) else (0, 0) for name in ("epoch", "step"))
            return epoch, step
    return None


_places_of = ByShape(_find_places)


def last_of_ranks(progress: Sequence[Progress]) -> dict[int, Progress]:
    """Return the last progress of each rank that is known."""
    last: dict[int, Progress] = {}
    for each in progress:
        if each.identity.rank is not None:
            last[each.identity.rank] = each
    return last
