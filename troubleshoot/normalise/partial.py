r"""Joins what collectors cut: CRI and Docker partial lines, GitLab continuations, stamps that kubelet put into lines.

In: a `Text` of a source that has such a wrapper. Out: the text with each record on one line again, placed where its
first piece stood. A joiner keeps what is unfinished at the end of a block until the next one:

    "T1 stdout P NCCL WA\nT2 stderr F x\nT3 stdout F RN\n"  ->  "T1 stdout F NCCL WARN\nT2 stderr F x\n"

Pieces are joined per stream: stdout and stderr interleave. Source: knowledge/log-formats.md, sections 1, 2 and 17.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from troubleshoot import late, limits
from troubleshoot.model import LineMap
from troubleshoot.normalise.origins import Later, Text, line_count, pick

_STAMP = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)"
_CRI = late.compile(rb"(" + _STAMP + rb" (stdout|stderr)) ([PF])(?::\S+)*(?: |$)")
_PARTIAL = late.compile(rb"P(?<= P)(?::\S+)* ")  # begins with a byte that memchr can look for
_GITLAB = late.compile(_STAMP + rb" ([0-9a-f]{2}[OE])([ +])")
_SEAM = late.compile(_STAMP + rb" ")
WAITING_ROWS = 16  # of the end of a block, in which a stream must have spoken to go on in the next
SEAM_BYTES = 3500  # kubelet writes a stamp before each chunk; chunks are 4, 8 or 16 KiB


@dataclass(slots=True)
class _Open:
    """A record whose end has not come yet: its pieces, and the line and offset of the first."""

    pieces: list[bytes]
    line: int
    offset: int
    size: int = 0


@dataclass(slots=True)
class _Edit:
    """Bytes to be replaced. One that stands for a record whose end came has that record."""

    start: int
    end: int
    by: bytes = b""


@dataclass(slots=True)
class PartialJoiner:
    """Joins the `P` records of a CRI log to the `F` record that ends them. Lines in between are not looked at."""

    unfinished: int = 0  # records whose end never came
    used: bool = False  # there were such records
    _open: dict[bytes, _Open] = field(default_factory=dict)

    def needed(self, data: bytes | bytearray, end: int) -> bool:
        return bool(self._open) or _PARTIAL.search(data, 0, end) is not None

    def __call__(self, text: Text, last: bool) -> Text:
        data = text.data
        edits: dict[int, _Edit] = {}
        finished = [
            part for stream, part in list(self._open.items()) if self._follow(data, 0, stream, part, edits, last)
        ]
        at = 0
        while (m := _PARTIAL.search(data, at)) is not None:
            at = m.end()
            start = data.rfind(b"\n", 0, m.start()) + 1
            head = _CRI.match(data, start)
            if start in edits or head is None or head.end() != m.end() or head[3] != b"P":
                continue
            end = _line_end(data, start)
            part = _Open([head[1] + b" F " + data[m.end() : end].removesuffix(b"\r")], 0, start)
            edits[start] = edit = _Edit(start, end + 1)
            if self._follow(data, end + 1, head[2], part, edits, last):
                edit.by = b"".join(part.pieces) + (b"\n" if edit.end <= len(data) or not last else b"")
            else:
                index = data.count(b"\n", 0, start)
                part.line, part.offset = text.map.lines[index], text.map.offsets[index]
        self.used = self.used or bool(edits or finished or self._open)
        return _rewritten(text, sorted(edits.values(), key=lambda each: each.start), finished)

    def _follow(self, data: bytes, at: int, stream: bytes, part: _Open, edits: dict[int, _Edit], last: bool) -> bool:
        """Take the pieces of a record from the lines at `at` and on; tell whether its end was among them."""
        while at < len(data):
            end = _line_end(data, at)
            m = _CRI.match(data, at, end)
            if m is not None and m[2] == stream:
                content = data[m.end() : end].removesuffix(b"\r")
                part.pieces.append(content)
                part.size += len(content)
                edits[at] = _Edit(at, end + 1)
                if m[3] == b"F" or part.size > limits.LINE_BYTES:
                    self._open.pop(stream, None)
                    return True
            at = end + 1
        if last:
            self.unfinished += 1
            self._open.pop(stream, None)
            return True
        self._open[stream] = part
        return False


def _line_end(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return end if end >= 0 else len(data)


def _rewritten(text: Text, edits: list[_Edit], finished: list[_Open]) -> Text:
    """Return the text with the edits made, behind the records that began in blocks before and are whole now."""
    data, old = text.data, text.map
    first = b"".join(b"".join(part.pieces) + b"\n" for part in finished)
    pieces, at = [first], 0
    for edit in edits:
        pieces += [data[at : edit.start], edit.by]
        at = edit.end
    pieces.append(data[at:])

    def kept() -> list[int]:
        gone, index, at = set(), 0, 0
        for edit in edits:
            index, at = index + data.count(b"\n", at, edit.start), edit.start
            if not edit.by:
                gone.add(index)
        return [i for i in range(line_count(data)) if i not in gone] if data else []

    indexes = Later(kept)
    lines = Later(lambda: [*(part.line for part in finished), *pick(old.lines, indexes)])
    offsets = Later(lambda: [*(part.offset for part in finished), *pick(old.offsets, indexes)])
    before = len(finished)
    continued = Later(lambda: [before + at for at, i in enumerate(indexes) if i in frozenset(old.continued)])
    return Text(b"".join(pieces), LineMap(lines, offsets, continued), exact=False)


@dataclass(slots=True)
class ContinuedJoiner:
    """Appends GitLab's `+` records to the line of their stream before them. The last lines of a block wait for the next
    one, from the earliest that is its stream's last: a `+` of that may be the first thing that comes."""

    _kept: Text | None = None

    def __call__(self, text: Text, last: bool) -> Text:
        if self._kept is not None:
            text = _behind(self._kept, text)
            self._kept = None
        lines = text.data.split(b"\n")
        ends_whole = not lines[-1]
        rows: list[list[bytes]] = []
        first: list[int] = []  # of each row: its line
        latest: dict[bytes, int] = {}
        for i, line in enumerate(lines[:-1] if ends_whole else lines):
            m = _GITLAB.match(line)
            if m and m[2] == b"+" and m[1] in latest:
                rows[latest[m[1]]].append(line[m.end() :])
                continue
            if m:
                latest[m[1]] = len(rows)
            rows.append([line.removesuffix(b"\r")])
            first.append(i)
        recent = [row for row in latest.values() if row >= len(rows) - WAITING_ROWS]
        waits = min((row for row in recent if sum(map(len, rows[row])) < limits.LINE_BYTES), default=len(rows))
        waits = len(rows) if last or not ends_whole else waits
        whole = _rows_as_text(text, rows, first, 0, waits, ends_whole or waits < len(rows))
        if waits < len(rows):
            self._kept = _rows_as_text(text, rows, first, waits, len(rows), True)
        return whole


def _rows_as_text(
    text: Text, rows: list[list[bytes]], first: list[int], begin: int, end: int, ends_whole: bool
) -> Text:
    data = b"\n".join(b"".join(row) for row in rows[begin:end]) + (b"\n" if ends_whole and end > begin else b"")
    old = text.map
    lines, offsets = pick(old.lines, first[begin:end]), pick(old.offsets, first[begin:end])
    return Text(data, LineMap(lines, offsets), exact=False)


def _behind(one: Text, other: Text) -> Text:
    """Return a text with another behind it. A joined line's rest is what follows its first piece, so none is split."""
    places = LineMap([*one.map.lines, *other.map.lines], [*one.map.offsets, *other.map.offsets])
    return Text(one.data + other.data, places, exact=False)


def has_long_line(data: bytes | bytearray, end: int) -> bool:
    """Tell whether some line is longer than SEAM_BYTES, and so may hold a seam. From one line's start it looks for the
    last line feed in reach, so that it touches a few bytes of each stretch."""
    start = 0
    while end - start > SEAM_BYTES:
        feed = data.rfind(b"\n", start, start + SEAM_BYTES + 1)
        if feed < 0:
            return True
        start = feed + 1
    return False


def remove_seams(text: Text, last: bool) -> Text:
    """Take out the stamps that `kubectl logs --timestamps` put into the middle of long lines."""
    if not has_long_line(text.data, len(text.data)):
        return text
    lines = text.data.split(b"\n")
    return text.with_data(b"\n".join(_without_seams(line) if len(line) > SEAM_BYTES else line for line in lines))


def _without_seams(line: bytes) -> bytes:
    m = _SEAM.match(line)
    if m is None:
        return line
    pieces, start, end = [], 0, m.end()
    for seam in _SEAM.finditer(line, m.end()):
        if seam.start() - end >= SEAM_BYTES:
            pieces.append(line[start : seam.start()])
            start = end = seam.end()
    return b"".join([*pieces, line[start:]])
