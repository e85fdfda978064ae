"""Keeps how each pattern is searched for, so that a pack in which one rule changed costs the planning of that rule.

In: a store. Out: choices by what they depend on of a pattern. Planning is two thirds of a first start.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from troubleshoot.model import Pattern
from troubleshoot.scan.plan import Words

NAME = "choices"
MOST = 20_000  # patterns remembered; past it those of other packs are forgotten


class CommonStore(Protocol):
    """Keeps bytes for all packs; what it cannot keep it forgets without a word."""

    def read_common(self, name: str) -> bytes | None: ...

    def write_common(self, name: str, data: bytes) -> None: ...


@dataclass(frozen=True, slots=True)
class Choice:
    """Expressions of which one is in every match, and for each its literal if it is one; and the words of Plan."""

    expressions: tuple[tuple[bytes, bytes | None], ...]
    needs: Words
    starts: Words


def key_of(pattern: Pattern) -> str:
    """Return what the choice for a pattern depends on."""
    return f"{int(pattern.lines > 1)}{int(pattern.exact_case)} {pattern.regex}"


def read_choices(store: CommonStore) -> dict[str, Choice]:
    """Return the kept choices; none where they cannot be read."""
    data = store.read_common(NAME)
    if data is None:
        return {}
    try:
        return {
            key: Choice(
                tuple(
                    (expression.encode("latin-1"), literal and literal.encode("latin-1"))
                    for expression, literal in ways
                ),
                words_from_text(needs),
                words_from_text(starts),
            )
            for key, (ways, needs, starts) in json.loads(data).items()
        }
    except (ValueError, TypeError, AttributeError):
        return {}  # of another make, or a torn file


def write_choices(store: CommonStore, choices: Mapping[str, Choice]) -> None:
    shown = {
        key: (
            [
                (expression.decode("latin-1"), literal and literal.decode("latin-1"))
                for expression, literal in each.expressions
            ],
            words_as_text(each.needs),
            words_as_text(each.starts),
        )
        for key, each in choices.items()
    }
    store.write_common(NAME, json.dumps(shown, separators=(",", ":")).encode())


def words_as_text(words: Words) -> list[list[str]]:
    return [[word.decode("latin-1") for word in each] for each in words]


def words_from_text(words: list[list[str]]) -> Words:
    return tuple([tuple([word.encode("latin-1") for word in each]) for each in words])
