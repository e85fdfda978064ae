"""Decides what to search the raw log for, so that every pattern is found.

In: patterns. Out: a `Plan`: expressions, and for each the patterns it stands for. A pattern is searched for by

    its literals                 the rule: fastest by far
    its fragment                 no literal, or one that is on many ordinary lines (`sharp`: seen to be on many here)
    nothing, so on every line    neither; a rule says `slow:` to have that, and a lint tells those that do not say so

A pattern may be left out (`off`): it has hit so often that more hits tell nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

from troubleshoot import limits
from troubleshoot.model import Pattern
from troubleshoot.scan.fragment import Fragment, fragment_of
from troubleshoot.scan.literals import Literals, required_literals
from troubleshoot.scan.plan import NO_IDS, Entry, Plan, hyperscan, hyperscan_flags


def build_plan(patterns: Iterable[Pattern], off: frozenset[int] = NO_IDS, sharp: frozenset[int] = NO_IDS) -> Plan:
    """Return what to search for. `sharp`: ids of patterns to be searched by their fragment."""
    literals: dict[bytes, list[int]] = {}
    fragments: dict[tuple[bytes, bool], list[int]] = {}
    everywhere: list[int] = []
    reasons: dict[int, str] = {}
    for pattern in patterns:
        if pattern.id in off:
            continue
        way = choose(pattern, sharp=pattern.id in sharp)
        if isinstance(way, Literals):
            for word in way.words:
                literals.setdefault(word, []).append(pattern.id)
        elif isinstance(way, Fragment):
            fragments.setdefault((way.expression, way.exact), []).append(pattern.id)
        else:
            everywhere.append(pattern.id)
            if pattern.slow is None:
                reasons[pattern.id] = way
    return Plan(
        (
            *(Entry(escape(word), False, tuple(ids), word) for word, ids in literals.items()),
            *(Entry(expression, exact, tuple(ids)) for (expression, exact), ids in fragments.items()),
        ),
        tuple(everywhere),
        reasons,
    )


@functools.lru_cache(maxsize=8192)
def choose(pattern: Pattern, *, sharp: bool = False) -> Literals | Fragment | str:
    """Return how to search for a pattern; or why it can only be tried on every line."""
    literals = required_literals(pattern)
    if literals is not None and not sharp:
        return literals
    fragment = fragment_of(pattern)
    if fragment is not None and fragment.per_mb <= limits.FRAGMENT_PER_MB:
        refusal = _refusal(fragment)
        if refusal is None and not (literals is not None and _is_word(fragment, literals)):
            return fragment
    else:
        refusal = "what it must hold is too short or too common to search for"
    return literals or refusal or "it holds no fixed text"


def unsearchable(patterns: Iterable[Pattern]) -> list[tuple[Pattern, str]]:
    """Return the patterns that can only be tried on every line without having asked for it, and why."""
    by_id = {pattern.id: pattern for pattern in patterns}
    return [(by_id[each], reason) for each, reason in build_plan(by_id.values()).unsearchable.items()]


def escape(word: bytes) -> bytes:
    """Write bytes as an expression that matches just them."""
    return b"".join(b"%c" % byte if chr(byte).isascii() and chr(byte).isalnum() else b"\\x%02x" % byte for byte in word)


def _is_word(fragment: Fragment, literals: Literals) -> bool:
    """Tell whether the fragment is no more than the literal."""
    return fragment.expression.lower() in map(escape, literals.words)


def _refusal(fragment: Fragment) -> str | None:
    """Return why the fragment cannot be searched for; None when it can."""
    if hyperscan is None:
        return None
    try:
        hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK).compile(
            expressions=[fragment.expression], ids=[0], elements=1, flags=[hyperscan_flags(fragment.exact)]
        )
    except hyperscan.error as error:
        return f"the prefilter refuses it: {str(error).rstrip('.').lower()}"
    return None
