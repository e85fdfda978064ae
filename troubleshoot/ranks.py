"""Ranks as people write them: `0-7,12` for 0, 1, ... 7 and 12."""

from __future__ import annotations

from collections.abc import Iterable


def compress_ranks(ranks: Iterable[int]) -> str:
    """Return the ranks in rising order, each once, runs joined: `"0-7,12"`; the empty string for none."""
    runs: list[tuple[int, int]] = []
    for rank in sorted(set(ranks)):
        if runs and runs[-1][1] == rank - 1:
            runs[-1] = (runs[-1][0], rank)
        else:
            runs.append((rank, rank))
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
