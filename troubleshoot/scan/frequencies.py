"""How often a piece of text stands in ordinary logs.

In: a lower-case literal. Out: about how many lines of a million hold it. The table lists the words of a healthy training
job's log with their counts; it is made by `python benchmarks/reference.py` and never edited. A word that is not in it is
taken to be rare, the rarer the longer:

    cost("channel")       200,000   on every NCCL channel line
    cost("libfabric")      90,000
    cost("uncorrectable")       1
"""

from __future__ import annotations

import functools
from importlib import resources

TABLE = "frequencies.txt"
# Lines per million for a piece that the table does not hold, by its length: short ones stand inside other words.
UNKNOWN = {4: 60.0, 5: 15.0, 6: 4.0, 7: 2.0}
LONG = 1.0
NUMBERS_ONLY = 2_000.0  # a piece without two letters: a version, a date, a size


@functools.cache
def _table() -> tuple[str, dict[str, int]]:
    counts: dict[str, int] = {}
    for line in resources.files(__package__).joinpath(TABLE).read_text("utf-8").splitlines():
        if not line.startswith("#"):
            word, count = line.rsplit(" ", 1)
            counts[word] = int(count)
    return "\n".join(counts), counts


@functools.lru_cache(maxsize=8192)
def cost(piece: str) -> float:
    """Return about how many lines of a million of an ordinary log hold `piece`, caselessly."""
    piece = piece.lower()
    found = UNKNOWN.get(len(piece.encode()), LONG) + 1 / (1 + len(piece))
    if sum(char.isalpha() for char in piece) < 2:
        found += NUMBERS_ONLY
    joined, counts = _table()
    if piece in joined:
        found += sum(count for word, count in counts.items() if piece in word)
    return found
