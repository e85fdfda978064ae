"""Ranks that lag behind the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from bundles import job_of, logs_of, many_ranks

from troubleshoot.engine import Engine
from troubleshoot.job.stragglers import find_stragglers
from troubleshoot.model import Progress


def at_step(steps: Mapping[int, int]) -> dict[int, Progress]:
    return {rank: Progress(f"rank-{rank}.log", 1, f"step {step}", step) for rank, step in steps.items()}


def test_rank_some_steps_behind_lags() -> None:
    found = find_stragglers(at_step({**dict.fromkeys(range(16), 41), 9: 38}), {9: "gpu-node-01"})
    assert [(each.rank, each.host, each.behind_steps) for each in found] == [(9, "gpu-node-01", 3)]


def test_one_step_apart_is_nothing() -> None:
    assert find_stragglers(at_step({**dict.fromkeys(range(16), 41), 9: 40}), {}) == ()


def test_where_half_of_them_lag_there_are_no_others() -> None:
    assert find_stragglers(at_step({rank: 41 if rank < 8 else 30 for rank in range(16)}), {}) == ()


def test_straggler_of_a_bundle(engine: Engine, bundle: Callable[[Mapping[str, str]], Path]) -> None:
    job = job_of(engine.postmortem_paths([bundle(many_ranks(32, failed=3, steps={21: 15}))]))
    assert [(each.rank, each.behind_steps) for each in job.stragglers] == [(21, 5)]


def test_straggler_of_a_real_run(engine: Engine) -> None:
    job = job_of(engine.postmortem_paths(logs_of("gpu-ddp-straggler")))
    assert [each.rank for each in job.stragglers] == [1]
