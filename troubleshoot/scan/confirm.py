"""Confirms candidates: does the pattern really match, and as evidence?

In: a pattern and the text of a record, peeled and raw. Out: a `Match` with its captures, or None. Patterns are compiled
when first needed and shared by threads; a search runs for limits.CONFIRM_TIMEOUT_S at most. What lies in advice or in
quoted code (advice.py) is passed over, and the next match is looked at:

    "try setting NCCL_DEBUG=INFO"    no match of NCCL_DEBUG=INFO, unless the signature says `advice: true`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import regex

from troubleshoot import late, limits
from troubleshoot.model import Pattern
from troubleshoot.scan.advice import is_advice, is_quoted_code

STRAIGHT_QUOTES = {**dict.fromkeys(map(ord, "‘’‚‛′"), "'"), **dict.fromkeys(map(ord, "“”„‟″"), '"')}
ROUND_QUOTES = late.compile("[" + "".join(map(chr, STRAIGHT_QUOTES)) + "]")
# Letting go of the interpreter lock costs more than the search of a short text.
CONCURRENT_CHARS = 4_096


@dataclass(frozen=True, slots=True)
class Match:
    """Where a pattern matched, in the peeled text or, where that had nothing, in the raw one."""

    start: int
    end: int
    captures: Mapping[str, str] = field(default_factory=dict)
    in_raw: bool = False


class Confirmer:
    """The compiled patterns of a pack. Safe to share between threads."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._patterns = {pattern.id: pattern for pattern in patterns}
        self._compiled: dict[int, regex.Pattern[str]] = {}

    def _regex(self, pattern_id: int) -> regex.Pattern[str]:
        compiled = self._compiled.get(pattern_id)
        if compiled is None:  # two threads may both compile it, and both get the same
            compiled = self._compiled[pattern_id] = compile_pattern(self._patterns[pattern_id])
        return compiled

    def is_entry(self, pattern_id: int) -> bool:
        """Tell whether the pattern's matches keep to one log entry."""
        return self._patterns[pattern_id].entry

    def confirm(self, pattern_id: int, text: str, raw: Callable[[], str], *, first_line: bool = False) -> Match | None:
        """Return the first match that is evidence. `raw` gives the text to try when `text` has no match at all; with
        `first_line` a match must begin in the first line. Raises TimeoutError."""
        pattern = self._patterns[pattern_id]
        compiled = self._regex(pattern_id)
        for in_raw in (False, True):
            if in_raw and (given := raw()) == text:
                break
            for each in _readings(given if in_raw else text):
                found, matched = _first_evidence(compiled, pattern, each, first_line)
                if matched:
                    return _match(found, in_raw=in_raw)
        return None


def _readings(text: str) -> Iterator[str]:
    """Yield a text, and where a chat or word processor made its quotes round, the same with straight ones. Both are of
    one length, so a match stands at the same columns."""
    yield text
    if not text.isascii() and ROUND_QUOTES.search(text) is not None:
        yield text.translate(STRAIGHT_QUOTES)


def compile_pattern(pattern: Pattern) -> regex.Pattern[str]:
    """Return the compiled pattern. ASCII, so that "caseless" means the same here and in the prefilter."""
    flags = regex.V0 | regex.ASCII | regex.MULTILINE
    return regex.compile(pattern.regex, flags if pattern.exact_case else flags | regex.IGNORECASE)


def _first_evidence(
    compiled: regex.Pattern[str], pattern: Pattern, text: str, first_line: bool
) -> tuple[regex.Match[str] | None, bool]:
    """Return the first match that is evidence, and whether there was any match."""
    last_start = len(text)
    if first_line:
        line_end = text.find("\n")
        last_start = line_end if line_end >= 0 else last_start
    concurrent = len(text) > CONCURRENT_CHARS
    found = compiled.search(text, timeout=limits.CONFIRM_TIMEOUT_S, concurrent=concurrent)
    if found is None or found.start() > last_start:
        return None, False
    if _is_evidence(pattern, text, found.start()):
        return found, True
    for other in compiled.finditer(text, found.end(), timeout=limits.CONFIRM_TIMEOUT_S, concurrent=concurrent):
        if other.start() > last_start:
            break
        if _is_evidence(pattern, text, other.start()):
            return other, True
    return None, True


def _is_evidence(pattern: Pattern, text: str, start: int) -> bool:
    return pattern.advice or not (is_advice(text, start) or is_quoted_code(text, start))


def _match(found: regex.Match[str] | None, *, in_raw: bool) -> Match | None:
    if found is None:
        return None
    captures = {}
    if found.re.groupindex:
        captures = {name: value for name, value in found.groupdict().items() if value is not None}
    return Match(found.start(), found.end(), captures, in_raw)
