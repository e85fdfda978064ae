"""Why a rule did or did not fire on a log: its outcome tree, and the lines that almost matched.

For a signature without a hit, the nearest lines are those that match the longest beginning of one of its wordings:

    signature   version 'GLIBC_{needed:version}' not found (required by {library:path})
    line        version `GLIBC_2.34' not found, giving up
                held: version 'GLIBC_{needed:version}' not found     parted at column 33, expected: (required

A text signature is tried word by word; a regex by `regex`'s partial matching, character by character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import regex

from troubleshoot.engine import Engine
from troubleshoot.errors import TroubleshootError, UsageError
from troubleshoot.evaluate.evaluator import explain_rule
from troubleshoot.ingest.sources import OpenSource, open_sources
from troubleshoot.model import Block, Outcome, Pattern, Rule, ScanResult, Signature, SignatureHit
from troubleshoot.rulepack.text import regex_from_text

NEAREST = 3  # lines shown per signature
LINES_READ = 200_000  # of each log; enough for a person's question, and bounded
LINE_CHARS = 600
FLAGS = regex.V0 | regex.ASCII | regex.IGNORECASE


@dataclass(frozen=True, slots=True)
class NearLine:
    """A line that matched the beginning of a signature. `parted` is the 1-based column where they part."""

    source: str
    line: int
    text: str
    held: str
    expected: str
    parted: int


@dataclass(frozen=True, slots=True)
class SignatureAnswer:
    """One signature on this log: its hits, or else the nearest lines."""

    signature: Signature
    hits: tuple[SignatureHit, ...]
    nearest: tuple[NearLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a rule did or did not fire. `outcome` is None when nothing of the rule was seen at all."""

    rule: Rule
    fired: bool
    outcome: Outcome | None
    signatures: tuple[SignatureAnswer, ...]


def explain(engine: Engine, rule_id: str, paths: Sequence[Path | str]) -> Explanation:
    """Return why the rule fired or not on these files, taken as one job. Raises UsageError for no such rule."""
    rule = engine.pack.rules.get(rule_id)
    if rule is None:
        raise UsageError(f"no rule {rule_id!r}", help="`troubleshoot rules list` names them all")
    results = tuple(engine.results(open_sources(paths)))
    outcome = explain_rule(engine.pack, results, rule_id)
    answers = []
    for signature in rule.signatures.values():
        hits = tuple(_hits(signature, results))
        nearest = () if hits else nearest_lines(signature, open_sources(paths))
        answers.append(SignatureAnswer(signature, hits, nearest))
    fired = outcome is not None and outcome.truth.value == "true"
    return Explanation(rule, fired, outcome, tuple(answers))


def _hits(signature: Signature, results: Sequence[ScanResult]) -> Iterator[SignatureHit]:
    wanted = {pattern.id for pattern in signature.patterns}
    for result in results:
        for hit in result.hits:
            if hit.pattern in wanted:
                yield SignatureHit(signature.name, hit)


def nearest_lines(signature: Signature, sources: Iterator[OpenSource]) -> tuple[NearLine, ...]:
    """Return the lines that match the longest beginnings of the signature, best first, at most NEAREST."""
    probes = [probe for pattern in signature.patterns for probe in [_probe(pattern)] if probe is not None]
    found: list[tuple[float, NearLine]] = []
    for opened in sources:
        for line, raw in _lines(opened):
            lowered = raw.lower()
            for probe in probes:
                if probe.may_match(lowered):
                    text = opened.normaliser.peel(raw, line).text[:LINE_CHARS]
                    near = probe.nearest(text, opened.source.name, line)
                    if near is not None:
                        found.append(near)
        found.sort(key=lambda pair: -pair[0])
        del found[NEAREST * 4 :]
    chosen: dict[tuple[str, int], NearLine] = {}
    for _score, near_line in found:
        chosen.setdefault((near_line.source, near_line.line), near_line)
    return tuple(chosen.values())[:NEAREST]


def _lines(opened: OpenSource) -> Iterator[tuple[int, str]]:
    read = 0
    for block in opened.blocks():
        for index, raw in enumerate(bytes(block.data).split(b"\n")):
            if raw:
                yield _line_number(block, index), raw.decode("utf-8", "replace")
            read += 1
        if read >= LINES_READ:
            return


def _line_number(block: Block, index: int) -> int:
    if block.line_map is None:
        return block.first_line + index
    return block.line_map.lines[min(index, len(block.line_map.lines) - 1)]


class _Words:
    """Tries a text signature word by word."""

    def __init__(self, pattern: Pattern) -> None:
        self._words = pattern.source.split()
        self._beginnings: dict[int, regex.Pattern[str]] = {}
        self._rare = [
            word.lower()
            for piece in self._words
            for word in re.findall(r"[A-Za-z0-9_./-]{4,}", re.sub(r"\{[^}]*\}", " ", piece))
        ]

    def may_match(self, lowered: str) -> bool:
        return any(word in lowered for word in self._rare)

    def nearest(self, text: str, source: str, line: int) -> tuple[float, NearLine] | None:
        low, high, best = 0, len(self._words), None
        while low < high:  # a longer beginning never matches where a shorter one does not
            middle = (low + high + 1) // 2
            match = self._beginning(middle).search(text, timeout=1)
            if match is None:
                high = middle - 1
            else:
                low, best = middle, match
        if best is None:
            return None
        held, expected = " ".join(self._words[:low]), " ".join(self._words[low : low + 3])
        return low / len(self._words), NearLine(source, line, text, held, expected, best.end() + 1)

    def _beginning(self, words: int) -> regex.Pattern[str]:
        if words not in self._beginnings:
            try:
                source, _holes = regex_from_text(" ".join(self._words[:words]))
            except TroubleshootError:  # a beginning of holes alone says nothing
                source = r"(?!)" if words > 1 else r""
            self._beginnings[words] = regex.compile(source, FLAGS)
        return self._beginnings[words]


class _Characters:
    """Tries a regex signature by partial matching: how far into a line can it still come true?"""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = regex.compile(pattern.regex, FLAGS | regex.MULTILINE)
        self._source = pattern.source
        self._rare = [
            word.lower() for word in re.findall(r"[A-Za-z0-9_]{5,}", re.sub(r"\\.|\?P<\w+>", " ", pattern.regex))
        ]

    def may_match(self, lowered: str) -> bool:
        return any(word in lowered for word in self._rare)

    def nearest(self, text: str, source: str, line: int) -> tuple[float, NearLine] | None:
        best: tuple[int, int] | None = None
        for start in range(len(text)):
            low, high = start, len(text)
            while low < high:
                middle = (low + high + 1) // 2
                if self._pattern.match(text, start, middle, partial=True, timeout=1):
                    low = middle
                else:
                    high = middle - 1
            if low - start > 3 and (best is None or low - start > best[1] - best[0]):
                best = (start, low)
        if best is None:
            return None
        return (best[1] - best[0]) / 200, NearLine(
            source, line, text, text[best[0] : best[1]], self._source, best[1] + 1
        )


def _probe(pattern: Pattern) -> _Words | _Characters | None:
    try:
        return _Words(pattern) if pattern.kind == "text" else _Characters(pattern)
    except regex.error:
        return None
