"""Remembers by the shape of a line what asking many expressions about it gave.

In: a text, and what asks. Out: the answer for that text. The lines of a job are alike but for their numbers, within a
file and from file to file, so that what one line taught serves thousands:

    "step 41 loss 2.1034"   and   "step 57 loss 1.9980"   are both   "step 00 loss 0.0000"

That is exact for expressions that treat all digits alike, as `\\d` and `[0-9a-f]` do. Of another, such as `>1 `,
`blurred` makes one that does and matches more; what it finds must be asked again about the text itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Generic, TypeVar

from troubleshoot import late

Answer = TypeVar("Answer")

SHAPES = 4096  # remembered at a time, of up to SHAPE_CHARS: 2 MB at most
SHAPE_CHARS = 400  # longer lines are rarely alike
_DIGITS = str.maketrans("123456789", "000000000")
_TOKEN = late.compile(r"\{\d*,?\d*\}|0-9|\\d|\d")


def shape_of(text: str) -> str:
    """Return the text with a zero for each digit."""
    return text.translate(_DIGITS)


class ByShape(Generic[Answer]):
    """Answers of `ask` by shape. It is asked about the shape, or about a text too long to be remembered."""

    def __init__(self, ask: Callable[[str], Answer]) -> None:
        self._ask = ask
        self._known: dict[str, Answer] = {}

    def __call__(self, text: str) -> Answer:
        shape = text.translate(_DIGITS)
        if shape in self._known:
            return self._known[shape]
        answer = self._ask(shape)
        if len(text) <= SHAPE_CHARS:
            if len(self._known) >= SHAPES:
                self._known = {}
            self._known[shape] = answer
        return answer


@cache
def blurred(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """Return the expression with any digit in the place of each one that it names; itself, if it names none."""
    source = pattern.pattern
    blunt = _TOKEN.sub(lambda m: r"\d" if m[0].isdigit() else m[0], source)
    return pattern if blunt == source else re.compile(blunt, re.DOTALL)
