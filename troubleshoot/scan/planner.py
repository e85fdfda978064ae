"""Decides what to search the raw log for, so that every pattern is found.

In: patterns. Out: a `Plan`: expressions, and for each the patterns it stands for. A pattern is searched for by

    its literals                 the rule: fastest by far
    its fragment                 where its literals were seen to be on many lines of this log (`avoid`)
    nothing, so on every line    it holds no literal; a rule says `slow:` to have that, and a lint tells of the others

Patterns that have hit so often that more hits tell nothing are left out.
"""

from __future__ import annotations

import functools
from collections.abc import Container, Iterable, Mapping, MutableMapping
from dataclasses import replace

from troubleshoot.model import Pattern
from troubleshoot.scan.choices import Choice, key_of
from troubleshoot.scan.fragment import Fragment, escape, fragment_of
from troubleshoot.scan.literals import required_literals
from troubleshoot.scan.needs import needed_words, words_of_first_line
from troubleshoot.scan.pieces import Literals
from troubleshoot.scan.plan import NO_WORDS, Entry, Plan, Words

GOOD_COST = 20_000.0  # lines of a million: literals on more are no better than an expression
NOTHING: Mapping[str, Choice] = {}
NO_LITERAL = "it holds no fixed text that is long and rare enough to search for"


def build_plan(
    patterns: Iterable[Pattern],
    known: Mapping[str, Choice] = NOTHING,
    made: MutableMapping[str, Choice] | None = None,
) -> Plan:
    """Return what to search for. `known`: choices that were made before; those of all the patterns are put into
    `made`."""
    found: dict[tuple[bytes, bytes | None], list[int]] = {}
    everywhere: list[int] = []
    reasons: dict[int, str] = {}
    needs: dict[int, Words] = {}
    starts: dict[int, Words] = {}
    for pattern in patterns:
        key = key_of(pattern)
        choice = known.get(key) or _make_choice(pattern)
        if made is not None:
            made[key] = choice
        for way in choice.expressions:
            found.setdefault(way, []).append(pattern.id)
        if not choice.expressions:
            everywhere.append(pattern.id)
            if pattern.slow is None:
                reasons[pattern.id] = NO_LITERAL
        needs[pattern.id] = choice.needs
        if pattern.lines > 1:
            starts[pattern.id] = choice.starts
    entries = tuple(Entry(expression, tuple(ids), literal) for (expression, literal), ids in found.items())
    return Plan(entries, tuple(everywhere), reasons, needs, starts)


def _make_choice(pattern: Pattern) -> Choice:
    starts = words_of_first_line(pattern) if pattern.lines > 1 else ()
    return Choice(tuple(_expressions(pattern, NO_WORDS)), needed_words(pattern), starts)


def narrow_plan(plan: Plan, patterns: Mapping[int, Pattern], off: frozenset[int], avoid: frozenset[bytes]) -> Plan:
    """Return the plan without the patterns in `off`, and with another way to search for those that it searches by a
    word in `avoid`, where there is one."""
    again = {each for entry in plan.entries if entry.literal in avoid for each in entry.patterns} - off
    found = {
        (entry.expression, entry.literal): [each for each in entry.patterns if each not in off and each not in again]
        for entry in plan.entries
    }
    for each in sorted(again):
        for key in _expressions(patterns[each], avoid):
            found.setdefault(key, []).append(each)
    entries = tuple(Entry(expression, tuple(ids), literal) for (expression, literal), ids in found.items() if ids)
    return replace(plan, entries=entries, everywhere=tuple(each for each in plan.everywhere if each not in off))


def _expressions(pattern: Pattern, avoid: frozenset[bytes]) -> list[tuple[bytes, bytes | None]]:
    """Return expressions, of which one is in every match, and for each its literal if it is one."""
    way = choose(pattern, avoid)
    if isinstance(way, Fragment):
        return [(way.expression, None)]
    return [] if way is None else [(escape(word), word) for word in way.words]


def choose(pattern: Pattern, avoid: frozenset[bytes] = NO_WORDS) -> Literals | Fragment | None:
    """Return how to search for a pattern; None when it can only be tried on every line."""
    made = _made_choices(pattern)
    for asked, refused, way in made:
        if avoid & asked == refused:  # of the words to avoid, those that matter to this pattern are the same
            return way
    words = _Asked(avoid)
    way = _choose(pattern, words)
    made.append((frozenset(words.asked), avoid & words.asked, way))
    return way


@functools.lru_cache(maxsize=8192)
def _made_choices(pattern: Pattern) -> list[tuple[frozenset[bytes], frozenset[bytes], Literals | Fragment | None]]:
    """Return the list of choices made for a pattern, to be added to: words asked about, those of them that were to be
    avoided, and the choice."""
    return []


class _Asked:
    """A set of words that remembers which words it was asked about."""

    def __init__(self, words: frozenset[bytes]) -> None:
        self._words = words
        self.asked: set[bytes] = set()

    def __contains__(self, word: object) -> bool:
        if isinstance(word, bytes):
            self.asked.add(word)
        return word in self._words


def _choose(pattern: Pattern, avoid: Container[bytes]) -> Literals | Fragment | None:
    literals = required_literals(pattern)
    if literals is None:
        return None
    hot = {word for word in literals.words if word in avoid}
    if not hot:
        return literals
    other = required_literals(pattern, avoid)
    if other is not None and other.cost <= GOOD_COST and not _only_longer(other, hot):
        return other
    return fragment_of(pattern) or other


def unsearchable(patterns: Iterable[Pattern]) -> list[tuple[Pattern, str]]:
    """Return the patterns that can only be tried on every line without having asked for it, and why."""
    by_id = {pattern.id: pattern for pattern in patterns}
    return [(by_id[each], reason) for each, reason in build_plan(by_id.values()).unsearchable.items()]


def _only_longer(literals: Literals, hot: Iterable[bytes]) -> bool:
    """Tell whether each literal is one of the words to avoid with something added."""
    return all(any(word in longer for word in hot) for longer in literals.words)
