"""The lines that almost matched a signature, and the character at which they part from it.

    signature   version 'GLIBC_{needed:version}' not found (required by {library:path})
    line        version `GLIBC_2.34' not found (requested by x)
                                                     ^ parted here, expected: (required

While a source is read for the scan, lines that share rare words with a signature are kept, most words first, of lines
alike one (`Gatherer`). Afterwards, for a signature that had no hit, each kept line is tried: a text word by word from
its beginning and from its end, whichever holds longer; a regex character by character, by `regex`'s partial matching.
So a log is read once, and the costly trying is bounded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import regex

from troubleshoot.errors import TroubleshootError
from troubleshoot.model import Block, Pattern, Signature
from troubleshoot.rulepack.text import regex_from_text
from troubleshoot.suspects import template_of

if TYPE_CHECKING:
    from troubleshoot.ingest.opened import OpenSource

NEAREST = 3  # lines shown per signature
KEPT = 100  # lines kept per signature, each unlike the others
TRIED_AS_REGEX = 40  # of these: character by character is costly
OCCURRENCES = 20_000  # of a word in one source; a word more frequent than that tells nothing
LINE_CHARS = 600
LEAST, LEAST_OF_REGEX = 4, 6  # characters that must hold, else a line is not near
SHARE = 0.2  # of a text's fixed characters that must hold
TIMEOUT_S = 0.5
FLAGS = regex.V0 | regex.ASCII | regex.IGNORECASE | regex.MULTILINE
_HOLE = re.compile(r"\{(?!\{)[^{}]*\}")
_OPEN = re.compile(r"\{(?:_|[a-z][a-z0-9_]*)\}")
_OPEN_END = re.compile(r"\{(?:_|[a-z][a-z0-9_]*)\}\W*")


@dataclass(frozen=True, slots=True)
class NearLine:
    """A line that matched a part of a signature. `parted` is the 1-based column at which they part; the part that
    `held` ends there, or with `backwards` begins right behind it. `count`: lines alike. Without `expected` all held."""

    source: str
    line: int
    text: str
    held: str
    expected: str
    parted: int
    count: int = 1
    backwards: bool = False
    anywhere: bool = False  # `expected` may stand anywhere from there on, and does not


@dataclass(slots=True)
class _Kept:
    words: int
    source: str
    line: int
    text: str
    count: int = 1


class Gatherer:
    """Keeps, while sources pass by, the lines that may be near to some signatures."""

    def __init__(self, signatures: Iterable[Signature]) -> None:
        self._words = {signature.name: _words_of(signature) for signature in signatures}
        self._kept: dict[str, dict[str, _Kept]] = {name: {} for name in self._words}

    def watch(self, opened: OpenSource, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks as they are."""
        left = dict.fromkeys((word for words in self._words.values() for word in words), OCCURRENCES)
        for block in blocks:
            self._look(opened, block, left)
            yield block

    def _look(self, opened: OpenSource, block: Block, left: dict[bytes, int]) -> None:
        data = bytes(block.data)
        lowered = data.lower()
        places = {word: _lines_with(word, lowered, left) for word in left}
        shared: dict[str, dict[int, int]] = {}
        for name, words in self._words.items():
            counts = Counter(start for word in words for start in places[word])
            best = sorted(counts, key=lambda start: (-counts[start], start))[: KEPT * 4]
            shared[name] = {start: counts[start] for start in best}
        numbers = _line_numbers(block, data, sorted({start for starts in shared.values() for start in starts}))
        for name, starts in shared.items():
            kept = self._kept[name]
            for start, words_shared in starts.items():
                end = data.find(b"\n", start)
                raw = data[start : end if end >= 0 else len(data)].decode("utf-8", "replace")
                line = numbers[start]
                text = opened.normaliser.peel(raw, line).text[:LINE_CHARS]
                template = template_of(text)
                alike = kept.get(template)
                if alike is None:
                    kept[template] = _Kept(words_shared, opened.source.name, line, text)
                elif (alike.source, alike.line) != (opened.source.name, line):
                    alike.count += 1
            if len(kept) > KEPT:
                self._kept[name] = dict(sorted(kept.items(), key=lambda item: -item[1].words)[:KEPT])

    def nearest(self, signature: Signature) -> tuple[NearLine, ...]:
        """Return the lines that hold most of the signature, best first, at most NEAREST."""
        probes = [probe for probe in map(_probe, signature.patterns) if probe is not None]
        found: list[tuple[float, NearLine]] = []
        lines = sorted(self._kept[signature.name].values(), key=lambda kept: (-kept.words, kept.line))
        for kept in lines:
            tried = [pair for probe in probes if (pair := probe.nearest(kept)) is not None]
            if tried:
                score, near = max(tried, key=lambda pair: pair[0])
                found.append((score, replace(near, count=kept.count)))
        found.sort(key=lambda pair: -pair[0])
        return tuple(_with_rest(near, signature) for _score, near in found[:NEAREST])


def _line_numbers(block: Block, data: bytes, starts: Sequence[int]) -> dict[int, int]:
    """Return the line numbers of places in a block, given in order."""
    lines = block.line_map.lines if block.line_map is not None else None
    numbers: dict[int, int] = {}
    index = at = 0
    for start in starts:
        index += data.count(b"\n", at, start)
        at = start
        numbers[start] = lines[min(index, len(lines) - 1)] if lines else block.first_line + index
    return numbers


def _lines_with(word: bytes, lowered: bytes, left: dict[bytes, int]) -> list[int]:
    """Return where the lines begin that hold a word."""
    starts: list[int] = []
    at = 0
    while left[word] > 0 and (found := lowered.find(word, at)) >= 0:
        starts.append(lowered.rfind(b"\n", 0, found) + 1)
        left[word] -= 1
        end = lowered.find(b"\n", found)
        if end < 0:
            break
        at = end + 1
    return starts


def _words_of(signature: Signature) -> list[bytes]:
    """Return the fixed words of a signature's wordings, longest first."""
    words: dict[str, None] = {}
    for pattern in signature.patterns:
        if pattern.kind == "text":
            source = _HOLE.sub(" ", pattern.source)
        else:
            source = re.sub(r"\\[A-Za-z]|\(\?P<\w+>|\(\?[^)]|\[[^\]]*\]", " ", pattern.source).replace("\\", "")
        words |= dict.fromkeys(word.lower() for word in re.findall(r"[^\W_][\w-]{2,}", source))
    return [word.encode() for word in sorted(words, key=len, reverse=True)[:40]]


# --- trying ----------------------------------------------------------------------------------------------------------


class _Words:
    """Tries a text signature word by word."""

    def __init__(self, pattern: Pattern) -> None:
        self._words = pattern.source.split()
        self._weights = [len(_HOLE.sub("", word)) for word in self._words]
        self._compiled: dict[tuple[int, int], regex.Pattern[str] | None] = {}

    def nearest(self, kept: _Kept) -> tuple[float, NearLine] | None:
        forwards, backwards = self._forwards(kept), self._backwards(kept)
        tried = [each for each in (forwards, backwards) if each is not None and each[0] >= SHARE]
        return max(tried, key=lambda each: each[0]) if tried else None

    def _forwards(self, kept: _Kept) -> tuple[float, NearLine] | None:
        most = len(self._words)
        held, match = self._longest([(0, count) for count in range(1, most + 1)], kept.text)
        if match is None or (weight := self._weight(0, held)) < LEAST:
            return None
        parted, anywhere = match.end(), False
        if held < most:
            floor = next((count for count in range(held, 0, -1) if not _OPEN_END.fullmatch(self._words[count - 1])), 0)
            shorter = self._search((0, floor), kept.text) if 0 < floor < held else None
            if shorter is not None:  # a hole takes the rest of the line: what follows it stands nowhere in that
                parted, anywhere = shorter.end(), True
            else:
                parted = self._into(held, kept.text, match)
        expected = " ".join(self._words[held : held + 3])
        near = NearLine(
            kept.source, kept.line, kept.text, kept.text[match.start() : parted], expected, parted + 1,
            anywhere=anywhere,
        )  # fmt: skip
        return weight / max(self._weight(0, most), 1), near

    def _backwards(self, kept: _Kept) -> tuple[float, NearLine] | None:
        most = len(self._words)
        held, match = self._longest([(most - count, most) for count in range(1, most)], kept.text)
        if match is None or (weight := self._weight(most - held, most)) < LEAST or match.start() == 0:
            return None
        expected = " ".join(self._words[max(most - held - 3, 0) : most - held])
        start = match.start()
        while start > 1 and kept.text[start - 1].isspace():
            start -= 1
        near = NearLine(kept.source, kept.line, kept.text, match[0], expected, start, backwards=True)
        return 0.9 * weight / max(self._weight(0, most), 1), near  # of two as good, where it parts is clearer forwards

    def _weight(self, first: int, last: int) -> int:
        """Return how many fixed characters some words have."""
        return sum(self._weights[first:last])

    def _longest(self, spans: Sequence[tuple[int, int]], text: str) -> tuple[int, regex.Match[str] | None]:
        """Return how many words of the longest span that stands in the text, and its match: where a span does not
        stand, no longer one does."""
        low, high, best = 0, len(spans), None
        while low < high:
            middle = (low + high + 1) // 2
            match = self._search(spans[middle - 1], text)
            if match is None:
                high = middle - 1
            else:
                low, best = middle, match
        return low, best

    def _into(self, held: int, text: str, match: regex.Match[str]) -> int:
        """Return how far into the text the word after the first `held` still holds, whose match is given."""
        first = next((at for at in range(held, 0, -1) if _OPEN.search(self._words[at - 1])), 0)
        start = match.start()
        if first:  # such a hole would take all that follows, so it is looked at from behind the last one
            behind = self._pattern((first, held))
            starts = _starts(behind, text, start) if behind is not None else []
            start = max((at for at in starts if at <= match.end()), default=match.end())
        pattern = self._pattern((first, held + 1))
        return max(_reach(pattern, text, start, match.end()), match.end()) if pattern is not None else match.end()

    def _search(self, span: tuple[int, int], text: str) -> regex.Match[str] | None:
        pattern = self._pattern(span)
        try:
            return pattern.search(text, timeout=TIMEOUT_S) if pattern is not None else None
        except TimeoutError:
            return None

    def _pattern(self, span: tuple[int, int]) -> regex.Pattern[str] | None:
        if span not in self._compiled:
            try:
                source, _holes = regex_from_text(" ".join(self._words[slice(*span)]))
                self._compiled[span] = regex.compile(source, FLAGS)
            except (TroubleshootError, regex.error):  # holes alone hold anything
                count = span[1] - span[0]
                self._compiled[span] = regex.compile("", FLAGS) if span[0] == 0 and count < len(self._words) else None
        return self._compiled[span]


class _Characters:
    """Tries a regex signature: how far into a line can it still come true?"""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = regex.compile(pattern.regex, FLAGS)
        self._source = pattern.source
        self._left = TRIED_AS_REGEX

    def nearest(self, kept: _Kept) -> tuple[float, NearLine] | None:
        self._left -= 1
        if self._left < 0:
            return None
        best = (0, 0)
        for start in range(len(kept.text)):
            end = _reach(self._pattern, kept.text, start, start)
            if end - start > best[1] - best[0]:
                best = (start, end)
        if best[1] - best[0] < LEAST_OF_REGEX:
            return None
        near = NearLine(kept.source, kept.line, kept.text, kept.text[slice(*best)], self._source, best[1] + 1)
        return min((best[1] - best[0]) / max(len(self._source), 1), 1.0), near


def _with_rest(near: NearLine, signature: Signature) -> NearLine:
    """Return the line with only what of a regex is still to come: without the longest beginning that holds."""
    if not any(pattern.kind == "regex" and pattern.source == near.expected for pattern in signature.patterns):
        return near
    end = near.parted - 1
    start = end - len(near.held)
    for length in range(len(near.expected) - 1, 0, -1):
        try:
            begun = regex.compile(near.expected[:length], FLAGS)
            if begun.fullmatch(near.text, start, end, timeout=TIMEOUT_S):
                return replace(near, expected=near.expected[length:])
        except (regex.error, TimeoutError):
            continue  # cut in the middle of a group, a class, an escape
    return near


def _starts(pattern: regex.Pattern[str], text: str, start: int) -> list[int]:
    try:
        return [each.start() for each in pattern.finditer(text, start, timeout=TIMEOUT_S)]
    except TimeoutError:
        return []


def _reach(pattern: regex.Pattern[str], text: str, start: int, least: int) -> int:
    """Return up to where the text from `start` may still become a match of the pattern."""
    low, high = least, len(text)
    try:
        if not pattern.match(text, start, min(low + 2, high), partial=True, timeout=TIMEOUT_S):
            high = min(low + 2, high) - 1  # most places fail at once
        while low < high:
            middle = (low + high + 1) // 2
            if pattern.match(text, start, middle, partial=True, timeout=TIMEOUT_S):
                low = middle
            else:
                high = middle - 1
    except TimeoutError:
        pass
    return max(low, least)


def _probe(pattern: Pattern) -> _Words | _Characters | None:
    try:
        return _Words(pattern) if pattern.kind == "text" else _Characters(pattern)
    except regex.error:
        return None
