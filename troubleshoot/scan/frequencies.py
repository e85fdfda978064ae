"""How often a piece of text stands in ordinary logs.

In: a literal. Out: about how many lines of a million hold it. The table lists the words of a healthy training job's log
with their counts; it is made by `python benchmarks/reference.py` and never edited. A word that is not in it is taken to
be rare, the rarer the longer:

    cost("channel")         299,875   on every NCCL channel line
    cost("uncorrectable")         1.1
    cost_of_phrase("nccl", "info")   what the table has; of a pair that it does not have, a share of the rarer word
"""

from __future__ import annotations

import functools
import itertools
from importlib import resources

TABLE = "frequencies.txt"
# Lines per million for a piece that the table does not hold, by its length: short ones stand inside other words.
UNKNOWN = {4: 60.0, 5: 15.0, 6: 4.0, 7: 2.0}
LONG = 1.0
NUMBERS_ONLY = 2_000.0  # a piece without two letters: a version, a date, a size
TOGETHER = 0.02  # share of the rarer word's lines in which it follows another given word


@functools.cache
def _table(words: int) -> tuple[str, dict[str, int]]:
    """Return the table's rows of one word, or of two: all of them as one text to look into, and their counts."""
    counts: dict[str, int] = {}
    for line in resources.files(__package__).joinpath(TABLE).read_text("utf-8").splitlines():
        row, count = line.rsplit(" ", 1)
        if not line.startswith("#") and row.count(" ") == words - 1:
            counts[row] = int(count)
    return "\n".join(counts), counts


def _look_up(piece: str, words: int) -> int:
    joined, counts = _table(words)
    return sum(count for row, count in counts.items() if piece in row) if piece in joined else 0


@functools.lru_cache(maxsize=8192)
def cost(piece: str) -> float:
    """Return about how many lines of a million of an ordinary log hold `piece`, caselessly."""
    piece = piece.lower()
    found = UNKNOWN.get(len(piece.encode()), LONG) + 1 / (1 + len(piece))
    if sum(char.isalpha() for char in piece) < 2:
        found += NUMBERS_ONLY
    return found + _look_up(piece, 1)


@functools.lru_cache(maxsize=8192)
def cost_of_phrase(words: tuple[str, ...]) -> float:
    """Return about how many lines of a million hold these words in a row, one blank between."""
    words = tuple(word.lower() for word in words)
    pairs = [_look_up(" ".join(pair), 2) for pair in itertools.pairwise(words)]
    rarest = min(map(cost, words))
    return 1 + min([pair or rarest * TOGETHER for pair in pairs] or [rarest])
