"""How far the log entry around a candidate may go, so that a pattern over an entry is tried at few lines.

An entry is a line with a time and the lines after it without one, or a line and the indented ones after it, or the
parts into which one line of the source was taken apart (match.py decides; this only leaves out what cannot be):

    12:00:01 started
    12:00:02 panic            <- from here
      at main.go:7            the candidate
    12:00:03 restarted        up to here
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from troubleshoot.model import Peeled
from troubleshoot.scan.lines import Line

_INDENTED = ("", " ", "\t")


def extent(lines: Sequence[Line], at: int, peel: Callable[[Line], Peeled]) -> tuple[int, int]:
    """Return the first line, and the end, of what may be one entry with the line at `at`; never too little."""
    first = at
    while first > 0 and not _begins(lines, first, peel):
        first -= 1
    is_stamped = peel(lines[first]).stamp is not None
    if not is_stamped:  # then what is not indented goes on with nothing
        first = next((each for each in range(at, first, -1) if not _is_more(lines, each)), first)
    end = at + 1
    while end < len(lines) and not _begins(lines, end, peel) and (is_stamped or _is_more(lines, end)):
        end += 1
    return first, end


def _begins(lines: Sequence[Line], at: int, peel: Callable[[Line], Peeled]) -> bool:
    """Tell whether a line begins an entry by its own time."""
    return peel(lines[at]).stamp is not None and lines[at].number != lines[at - 1].number


def _is_more(lines: Sequence[Line], at: int) -> bool:
    """Tell whether a line without a time may go on with the one before it."""
    return lines[at].raw[:1] in _INDENTED or lines[at].number == lines[at - 1].number
