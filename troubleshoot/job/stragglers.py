"""Ranks that lag: their last progress lies behind that of the others.

In: the last progress of each rank. Out: `Straggler`s, worst first. Ranks of one job step together, so the step that
most of them show is where the job was; a rank two steps behind it, or one whose last step is older by
limits.STRAGGLER_S, lags. Where many lag there is no "others", and nothing is said.

    ranks 0-62 at step 41, rank 63 at step 38      rank 63 is 3 steps behind
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from troubleshoot import limits
from troubleshoot.model import Progress, Straggler

BEHIND_STEPS = 2  # one step apart is a matter of who prints first
FEWEST_RANKS = 2
FEW = 4  # at most one rank in so many lags


def find_stragglers(progress: Mapping[int, Progress], hosts: Mapping[int, str]) -> tuple[Straggler, ...]:
    """Return the ranks that lag, worst first, at most limits.STRAGGLERS of them."""
    if len(progress) < FEWEST_RANKS:
        return ()
    steps = Counter((each.epoch or 0, each.step) for each in progress.values())
    most = max(steps, key=lambda step: (steps[step], step))
    times = {rank: each.stamp.time.timestamp() for rank, each in progress.items() if each.stamp is not None}
    zones = {each.stamp.zone for each in progress.values() if each.stamp is not None}
    middle = sorted(times.values())[len(times) // 2] if times and len(zones) == 1 else None
    lagging = []
    for rank, each in progress.items():
        is_same_epoch = (each.epoch or 0) == most[0]
        behind = most[1] - each.step if is_same_epoch else 0
        late_s = middle - times[rank] if middle is not None and rank in times else None
        is_earlier = (each.epoch or 0, each.step) < most
        if is_earlier and (behind >= BEHIND_STEPS or not is_same_epoch or (late_s or 0) >= limits.STRAGGLER_S):
            lagging.append(_straggler(rank, each, hosts.get(rank), max(behind, 0), late_s))
    if len(lagging) * FEW > len(progress) and not (len(progress) == FEWEST_RANKS and len(lagging) == 1):
        return ()
    lagging.sort(key=lambda each: (-each.behind_steps, -(each.behind_s or 0), each.rank))
    return tuple(lagging[: limits.STRAGGLERS])


def _straggler(rank: int, each: Progress, host: str | None, behind: int, late_s: float | None) -> Straggler:
    return Straggler(
        rank=rank,
        host=host or each.identity.host or each.identity.pod,
        source=each.source,
        line=each.line,
        text=each.text,
        step=each.step,
        behind_steps=behind,
        behind_s=round(late_s, 3) if late_s is not None and late_s > 0 else None,
    )
