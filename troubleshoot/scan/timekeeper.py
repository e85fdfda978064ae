"""Says whether a hit belongs to the period that the caller asked for.

In: hits, each with its line. Out: whether it counts. A line without a time of its own (a traceback's, a message's
second) has that of the last line before it that has one, if it is near:

    --since 20:00      19:59:58 Traceback (most recent call last):       does not count
                       RuntimeError: ...                                 nor does this
    no time near                                                          counts, and a note says so
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from troubleshoot.model import Hit, Normaliser, Note, Period
from troubleshoot.scan.lines import Line

NEAR_LINES = 60  # looked at before a hit for a time: the length of a long traceback


class Timekeeper:
    """Keeps the time of one source. It looks for one within a block: the first lines of one may have none."""

    def __init__(self, period: Period, normaliser: Normaliser) -> None:
        self._period = period
        self._normaliser = normaliser
        self._has_outside = self._has_timeless = False

    def counts(self, hit: Hit, line: Line) -> bool:
        """Tell whether a hit that begins on this line counts."""
        time = hit.record.stamp.time if hit.record.stamp is not None else self._time_before(line)
        if time is None:
            self._has_timeless = True
            return True
        if self._period.holds(time):
            return True
        self._has_outside = True
        return False

    def notes(self) -> Iterator[Note]:
        """Yield what a reader should know of the choice."""
        if self._has_outside:
            yield Note("outside-period", "lines of another time than the one asked for were left out")
        if self._has_timeless:
            yield Note("no-time", "lines without a time were found, and count all the same")

    def _time_before(self, line: Line) -> datetime | None:
        for before in reversed(line.chunk.lines_before(line.start, NEAR_LINES)):
            stamp = before.peeled(self._normaliser).stamp
            if stamp is not None:
                return stamp.time
        return None
