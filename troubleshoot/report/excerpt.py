"""Lines of a log behind their places, as a terminal shows them: cut around the match, the match painted.

launcher.log:12          mpirun: /lib/...: version `GLIBC_2.34' not found (required by
                         /opt/amazon-efa-ofi/openmpi/lib/libopen-rte.so.40)
worker-3.log:8 rank 3    ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from troubleshoot.language import say
from troubleshoot.model import Evidence
from troubleshoot.report.look import MATCH_STYLE, Look
from troubleshoot.report.printable import cells, cut_around, one_line, take_head

PLACE_COLUMNS = 36  # a longer source:line has the line below it
LONGEST_ESCAPE = 10  # characters that may stand for one: \U000e0001
ROWS = 2  # of the terminal for one line of log; then it is cut around the match


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One line of a log, where it stands, and the columns of what matched in it."""

    place: str
    text: str
    start: int = 0
    end: int = 0
    is_context: bool = False


def excerpts(evidence: Evidence) -> Iterator[Excerpt]:
    """Yield each line of the evidence: a traceback is shown as the lines it is."""
    rank = " " + say("rank {numbers}", numbers=evidence.rank) if evidence.rank is not None else ""
    at = 0
    for index, line in enumerate(evidence.text.split("\n")):
        start, end = (min(max(column - at, 0), len(line)) for column in (evidence.start, evidence.end))
        yield Excerpt(f"{evidence.source}:{evidence.line + index}{rank}", line, start, end)
        at += len(line) + 1


def in_context(evidence: Sequence[Evidence]) -> list[list[Excerpt]]:
    """Return the evidence among the lines around it, as grep -C has them: in the order of the lines, each once, in a
    group for every stretch of a source."""
    sources: dict[str, dict[int, Excerpt]] = {}
    for each in evidence:
        lines = sources.setdefault(each.source, {})
        last = each.line + each.text.count("\n")
        lines.update({each.line + index: excerpt for index, excerpt in enumerate(excerpts(each))})
        around = (*zip(range(each.line - len(each.before), each.line), each.before, strict=True),
                  *zip(range(last + 1, last + 1 + len(each.after)), each.after, strict=True))  # fmt: skip
        for line, text in around:
            lines.setdefault(line, Excerpt(f"{each.source}-{line}", text, is_context=True))
    groups: list[list[Excerpt]] = []
    for lines in sources.values():
        above = None
        for line in sorted(lines):
            if above is None or line > above + 1:
                groups.append([])
            groups[-1].append(lines[line])
            above = line
    return groups


def show_excerpts(shown: Sequence[Excerpt], look: Look) -> list[str]:
    """Return the lines in columns if the places are short, else each line of log below its place."""
    places = [one_line(each.place) for each in shown]
    widest = max(map(cells, places), default=0)
    column = widest + 2 if widest <= min(PLACE_COLUMNS, look.width // 3) else 0
    indent = " " * (2 + (column or 2))
    lines: list[str] = []
    for place, each in zip(places, shown, strict=True):
        painted = look.paint(place, "cyan")
        rows = _rows(each, look, look.width - len(indent))
        if each.is_context:
            rows = [look.paint(row, "dim") for row in rows]
        if column:
            lines.append(f"  {painted}{' ' * (column - cells(place))}{rows[0]}".rstrip())
            lines += [(indent + row).rstrip(" ") for row in rows[1:]]
        else:
            lines += [f"  {painted}", *((indent + row).rstrip(" ") for row in rows)]
    return lines


def _rows(excerpt: Excerpt, look: Look, width: int) -> list[str]:
    """Return the line of log over at most ROWS rows, cut around the match only if it does not fit whole."""
    parts = cut_around(excerpt.text, excerpt.start, excerpt.end, cells(excerpt.text) * LONGEST_ESCAPE, look.ellipsis)
    ends = _row_ends("".join(parts), width)
    if len(ends) > ROWS:
        room = width * ROWS - (ROWS - 1) * (width // 4)  # a row that breaks at a blank may leave a quarter unused
        parts = cut_around(excerpt.text, excerpt.start, excerpt.end, room, look.ellipsis)
        ends = _row_ends("".join(parts), width)
    text, start, end = "".join(parts), len(parts[0]), len(parts[0]) + len(parts[1])
    starts = [0, *ends][: len(ends)]
    rows = [_painted(text[a:b].rstrip(" "), start - a, end - a, look) for a, b in zip(starts, ends, strict=True)]
    return rows or [""]


def _row_ends(text: str, width: int) -> list[int]:
    ends: list[int] = []
    at = 0
    while at < len(text):
        at += _break_at(text[at:], width)
        ends.append(at)
    return ends


def _break_at(text: str, width: int) -> int:
    head = take_head(text, width) or text[:1]
    if len(head) == len(text):
        return len(text)
    blank = head.rfind(" ")
    return blank + 1 if blank >= len(head) * 3 // 4 else len(head)


def _painted(row: str, start: int, end: int, look: Look) -> str:
    start, end = (min(max(column, 0), len(row)) for column in (start, end))
    return row[:start] + look.paint(row[start:end], *MATCH_STYLE) + row[end:]
