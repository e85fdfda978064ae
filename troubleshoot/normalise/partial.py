r"""Joins what collectors cut: CRI and Docker partial lines, GitLab continuations, stamps that kubelet put into lines.

In: a `Text` of a source that has such a wrapper. Out: the text with each record on one line again, placed where its
first piece stood. A joiner keeps what is unfinished at the end of a block until the next one:

    "T1 stdout P NCCL WA\nT2 stderr F x\nT3 stdout F RN\n"  ->  "T1 stdout F NCCL WARN\nT2 stderr F x\n"

Pieces are joined per stream: stdout and stderr interleave. Source: knowledge/log-formats.md, sections 1, 2 and 17.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from troubleshoot import limits
from troubleshoot.model import LineMap
from troubleshoot.normalise.origins import Text

_STAMP = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)"
_CRI = re.compile(rb"(" + _STAMP + rb" (stdout|stderr)) ([PF])(?::\S+)*(?: |$)")
_PARTIAL = re.compile(rb" P(?::\S+)* ")
_GITLAB = re.compile(_STAMP + rb" ([0-9a-f]{2}[OE])([ +])")
_CONTINUED = re.compile(rb"Z [0-9a-f]{2}[OE]\+")
_SEAM = re.compile(_STAMP + rb" ")
SEAM_BYTES = 3500  # kubelet writes a stamp before each chunk; chunks are 4, 8 or 16 KiB


@dataclass(slots=True)
class _Open:
    """A record whose end has not come yet."""

    pieces: list[bytes]
    line: int
    offset: int
    size: int = 0


@dataclass(slots=True)
class PartialJoiner:
    """Joins the `P` records of a CRI log to the `F` record that ends them."""

    unfinished: int = 0  # records whose end never came
    _open: dict[bytes, _Open] = field(default_factory=dict)

    def needed(self, data: bytes | bytearray, end: int) -> bool:
        return bool(self._open) or _PARTIAL.search(data, 0, end) is not None

    def __call__(self, text: Text, last: bool) -> Text:
        if not self.needed(text.data, len(text.data)):
            return text
        rows: list[tuple[bytes | _Open, int, int]] = [(each, each.line, each.offset) for each in self._open.values()]
        lines = text.data.split(b"\n")
        ends_whole = not lines[-1]
        for i, line in enumerate(lines[:-1] if ends_whole else lines):
            m = _CRI.match(line)
            if m is None:
                rows.append((line, text.map.lines[i], text.map.offsets[i]))
                continue
            stream, content = m[2], line[m.end() :]
            part = self._open.get(stream)
            if part is not None:
                part.pieces.append(content.removesuffix(b"\r"))
                part.size += len(content)
            elif m[3] == b"P":
                part = _Open([m[1] + b" F " + content.removesuffix(b"\r")], text.map.lines[i], text.map.offsets[i])
                self._open[stream] = part
                rows.append((part, part.line, part.offset))
            else:
                rows.append((line, text.map.lines[i], text.map.offsets[i]))
            if part is not None and (m[3] == b"F" or part.size > limits.LINE_BYTES):
                del self._open[stream]
        return self._finish(rows, last, ends_whole)

    def _finish(self, rows: list[tuple[bytes | _Open, int, int]], last: bool, ends_whole: bool) -> Text:
        waiting = set() if last else {id(part) for part in self._open.values()}
        if last:
            self.unfinished = len(self._open)
            self._open.clear()
        done = [row for row in rows if id(row[0]) not in waiting]
        data = b"\n".join(b"".join(row[0].pieces) if isinstance(row[0], _Open) else row[0] for row in done)
        whole = data + b"\n" if done and (ends_whole or not last) else data
        return Text(whole, LineMap([line for _, line, _ in done], [offset for _, _, offset in done]), exact=False)


def has_continued(data: bytes | bytearray, end: int) -> bool:
    """Tell whether there are GitLab records that go on from the one before."""
    return _CONTINUED.search(data, 0, end) is not None


def join_continued(text: Text, last: bool) -> Text:
    """Append GitLab's `+` records to the line of their stream before them, within one block."""
    if not has_continued(text.data, len(text.data)):
        return text
    lines = text.data.split(b"\n")
    ends_whole = not lines[-1]
    rows: list[list[bytes]] = []
    kept: list[int] = []
    latest: dict[bytes, int] = {}
    for i, line in enumerate(lines[:-1] if ends_whole else lines):
        m = _GITLAB.match(line)
        if m and m[2] == b"+" and m[1] in latest:
            rows[latest[m[1]]].append(line[m.end() :])
            continue
        if m:
            latest[m[1]] = len(rows)
        rows.append([line.removesuffix(b"\r")])
        kept.append(i)
    data = b"\n".join(b"".join(row) for row in rows) + (b"\n" if ends_whole else b"")
    old = text.map
    return Text(data, LineMap([old.lines[i] for i in kept], [old.offsets[i] for i in kept]), exact=False)


def has_long_line(data: bytes | bytearray, end: int) -> bool:
    """Tell whether some line is long enough to hold a seam; looks at one stretch in SEAM_BYTES."""
    half = SEAM_BYTES // 2
    return any(data.find(b"\n", at, at + half) < 0 for at in range(0, end - half, half))


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
