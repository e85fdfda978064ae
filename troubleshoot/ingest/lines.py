"""Lines of a source as they were given, with the numbers that reports show.

In: blocks, or what a person copies from a report (`job.log:812`, `bundle.tar.gz/pod-0.log:40-52`). Out: numbered lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from troubleshoot.errors import UsageError
from troubleshoot.ingest.sources import open_sources
from troubleshoot.model import Block

_PLACE = re.compile(r"(?P<path>.+?):(?P<first>[1-9]\d{0,11})(?:-(?P<last>[1-9]\d{0,11}))?")


def lines_of(block: Block) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a block with their numbers in the source."""
    lines = block.line_map.lines if block.line_map is not None else None
    rows = bytes(block.data).split(b"\n")
    for index, raw in enumerate(rows if rows[-1] else rows[:-1]):
        yield (lines[min(index, len(lines) - 1)] if lines else block.first_line + index), raw


def read_lines(place: str, most: int) -> str:
    """Return the lines at a place: a path, or a path with a line or a range of lines, in archives too.
    Raises UsageError where there is none, and where there are more than `most`."""
    match = _PLACE.fullmatch(place) if not Path(place).exists() else None
    path = match["path"] if match is not None else place
    first = int(match["first"]) if match is not None else 1
    last = int(match["last"] or first) if match is not None else None
    if last is not None and last - first >= most:
        raise UsageError(f"{place} is more than {most} lines", help="name the lines that show the fault")
    taken: dict[int, str] = {}
    for opened in open_sources([_existing(path)]):
        if opened.source.name != path and not Path(path).exists():
            continue  # another member of the archive
        for block in opened.blocks():
            for number, raw in lines_of(block):
                if number >= first and (last is None or number <= last):
                    taken.setdefault(number, raw.decode("utf-8", "replace"))
            if len(taken) > most:
                help = f"name the lines that show the fault: {path}:812, or see `troubleshoot rules suggest {path}`"
                raise UsageError(f"{path} has more than {most} lines", help=help)
            if last is not None and block.line_map is None and block.first_line > last:
                break
        break
    if not taken:
        raise UsageError(f"there is no such line: {place}" if match is not None else f"nothing can be read: {place}")
    return "".join(f"{taken[number]}\n" for number in sorted(taken))


def _existing(path: str) -> str:
    """Return the file that holds what a source's name names: the archive, for a member of it."""
    found = next((each for each in (Path(path), *Path(path).parents) if each.is_file()), None)
    return str(found) if found is not None else path
