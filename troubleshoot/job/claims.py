"""A claim: somebody's word on who failed first, and the words and times that all claims share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from troubleshoot.clocks import stamp_before
from troubleshoot.job.facts import Facts
from troubleshoot.job.marks import Mark
from troubleshoot.job.signs import Sign
from troubleshoot.model import Confidence, Stamp
from troubleshoot.ranks import compress_ranks


@dataclass(frozen=True, slots=True)
class Claim:
    """Somebody's word on who failed first. `way` names how it is known, for a sentence that only supports another;
    `origin` who is behind it, for one witness in two places is one witness."""

    rank: int | None
    host: str | None
    sign_or_mark: Sign | Mark
    because: str
    confidence: Confidence
    way: str
    stamp: Stamp | None = None
    runner_up: str = ""
    origin: str = ""

    @property
    def witness(self) -> str:
        return self.origin or self.way


def stamp_of(facts: Facts, mark: Mark) -> Stamp | None:
    """Return when a mark was made; a traceback without a stamp has the time that its error file or its end tells."""
    return mark.stamp or (facts.failed_at.get(mark.rank) if mark.rank is not None else None)


def is_before(a: Stamp | None, b: Stamp | None) -> bool:
    """Tell whether a time surely lies before another."""
    return stamp_before(a, b) is True


def name_of(rank: int | None, host: str | None, source: str) -> str:
    """Return who it is: the rank, else the host, else the source."""
    if rank is not None:
        return f"rank {rank}"
    return host or source


def ranks_in_words(ranks: Sequence[int]) -> str:
    """`rank 3`, `ranks 0-2,4`."""
    return f"rank{'s' if len(ranks) > 1 else ''} {compress_ranks(ranks)}"


def gap_in_words(seconds: float) -> str:
    """`12 ms`, `1.2 s`, `3 min`."""
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def listed(words: Sequence[str]) -> str:
    """`a, b and c`, each once."""
    unique = list(dict.fromkeys(words))
    return ", ".join(unique[:-1]) + f" and {unique[-1]}" if len(unique) > 1 else unique[0]
