"""Matches a pattern against one line, or against lines in a row, and writes down the hit.

In: a pattern's id and lines. Out: a `Hit` whose record holds the text matched and what its wrappers told. The peeled
text is tried first; where it has no match, the text as given. A pattern over an `entry` sees no further than the entry
goes: a line with a time and the lines after it without one, a line and the indented ones after it, or the parts into
which one line of the source was taken apart. Both matchers, plain and fast, end here, so that they
differ in nothing but which lines they look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from troubleshoot import limits
from troubleshoot.model import Hit, Normaliser, Peeled, Record, Source
from troubleshoot.scan.confirm import Confirmer, Match
from troubleshoot.scan.lines import Line


class Matcher:
    """Matches the lines of one source."""

    def __init__(self, source: Source, normaliser: Normaliser, confirmer: Confirmer) -> None:
        self._source = source
        self._normaliser = normaliser
        self._confirmer = confirmer

    def match_line(self, pattern: int, line: Line, windows: Iterable[int] | None = None) -> Hit | None:
        """Return the pattern's first hit in a line; of a long one, in the given windows (all if None).
        Raises TimeoutError."""
        if not line.is_long:
            peeled = line.peeled(self._normaliser)
            match = self._confirmer.confirm(pattern, peeled.text, lambda: line.raw)
            if match is None:
                return None
            if match.in_raw or len(peeled.text) > limits.RECORD_CHARS:
                return self._hit(pattern, [line], [peeled], match, line.raw)
            if line.record is None:  # the hits of a line share it
                line.record = self._record([line], peeled, line.raw, peeled.text)
            return Hit(pattern, line.record, match.captures, match.start, match.end)
        for index in range(line.windows) if windows is None else sorted(windows):
            raw = line.window(index)
            peeled = line.peeled(self._normaliser) if index == 0 else Peeled(raw, identity=self._source.identity)
            match = self._confirmer.confirm(pattern, peeled.text, lambda raw=raw: raw)  # type: ignore[misc]
            if match is not None:
                return self._hit(pattern, [line], [peeled], match, raw)
        return None

    def match_lines(self, pattern: int, lines: Sequence[Line]) -> Hit | None:
        """Return the pattern's hit over lines in a row, if it begins in the first of them. Raises TimeoutError."""
        peeled = [line.peeled(self._normaliser) for line in lines]
        if self._confirmer.is_entry(pattern):
            height = _entry_height(lines, peeled)
            lines, peeled = lines[:height], peeled[:height]
        text = "\n".join(each.text for each in peeled)
        match = self._confirmer.confirm(pattern, text, lambda: "\n".join(line.raw for line in lines), first_line=True)
        if match is None:
            return None
        texts = [line.raw for line in lines] if match.in_raw else [each.text for each in peeled]
        height = 1 + "\n".join(texts).count("\n", 0, max(match.start, match.end - 1))
        raw = "\n".join(line.raw for line in lines[:height])
        return self._hit(pattern, lines[:height], peeled[:height], match, raw)

    def _hit(self, pattern: int, lines: Sequence[Line], peeled: Sequence[Peeled], match: Match, raw: str) -> Hit:
        text = raw if match.in_raw else "\n".join(each.text for each in peeled)
        start, end = match.start, match.end
        if len(text) > limits.RECORD_CHARS:
            cut = max(0, start - limits.RECORD_CHARS // 4)
            text = text[cut : cut + limits.RECORD_CHARS]
            raw, start, end = text, start - cut, min(end - cut, len(text))
        return Hit(pattern, self._record(lines, peeled[0], raw, text), match.captures, start, end)

    def _record(self, lines: Sequence[Line], first: Peeled, raw: str, text: str) -> Record:
        return Record(
            self._source,
            lines[0].number,
            lines[-1].number,
            lines[0].offset,
            raw,
            text,
            first.stamp,
            first.identity,
            first.level,
            first.document,
        )


def _entry_height(lines: Sequence[Line], peeled: Sequence[Peeled]) -> int:
    """Return how many of the lines belong to the entry of the first one."""
    first = lines[0].number
    height = 1
    for line, told in zip(lines[1:], peeled[1:], strict=True):
        is_loose = peeled[0].stamp is not None or line.raw[:1] in ("", " ", "\t")
        if line.number != first and (told.stamp is not None or not is_loose):
            break
        height += 1
    return height
