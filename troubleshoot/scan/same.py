"""Remembers what lines of one content did not match.

In: the bytes of a line. Out: what need not be tried on it again. A job that fails in a loop prints one line a million
times; trying it once is enough. Of patterns that span lines nothing is remembered: what they match depends on the lines
around.
"""

from __future__ import annotations

from troubleshoot import limits


class SameLines:
    """What is known of the contents seen last, limits.SAME_LINES of them."""

    def __init__(self) -> None:
        self._vain: dict[bytes, set[int]] = {}
        self._dull: dict[bytes, int] = {}

    def vain_on(self, content: bytes) -> set[int]:
        """Return the patterns that do not match a line of this content, to be added to."""
        if len(content) > limits.SAME_LINE_BYTES:
            return set()
        known = self._vain.get(content)
        if known is None:
            if len(self._vain) >= limits.SAME_LINES:
                self._vain.clear()
                self._dull.clear()
            known = self._vain[content] = set()
        return known

    def is_dull(self, content: bytes, candidates: int) -> bool:
        """Tell that none of the patterns of a line's candidates, of which there are so many, matches it."""
        return self._dull.get(content) == candidates

    def note_dull(self, content: bytes, candidates: int) -> None:
        """Remember it. A line has the same candidates each time, but for those of patterns that span lines."""
        if content in self._vain:
            self._dull[content] = candidates

    def forget_dull(self) -> None:
        """Take it that other patterns are searched for from now on."""
        self._dull.clear()
