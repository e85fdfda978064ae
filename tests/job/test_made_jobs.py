"""Who failed first in made jobs of 8 to 64 ranks: each has a culprit that was put there before any log was read.

Of the 31 first jobs 22 were right when they were first tried; of the 9 later ones, which nothing was changed for, 8."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import made_jobs_cluster
import made_jobs_gpu
import made_jobs_later
import pytest
from bundles import job_of
from made_lines import MadeJob

from troubleshoot.engine import Engine
from troubleshoot.model import Moment
from troubleshoot.report.picture import draw_timeline

JOBS: dict[str, Callable[[], MadeJob]] = {
    name: function
    for module in (made_jobs_gpu, made_jobs_cluster, made_jobs_later)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__
}


@pytest.mark.parametrize("name", JOBS)
def test_culprit_of_a_made_job_is_named(engine: Engine, bundle: Callable[[Mapping[str, str]], Path], name: str) -> None:
    job = JOBS[name]()
    first = job_of(engine.postmortem_paths([bundle(job.files)])).first_failure
    assert first is not None
    if job.rank is None and job.host is None:
        assert first.rank is None, first.because
        assert job.words in first.because
    elif job.rank is not None:
        assert first.rank == job.rank or (first.rank is None and first.host == job.host is not None), first.because
    else:
        assert first.rank is None or first.rank in job.any_rank, first.because
        assert first.host == job.host, first.because


def test_ranks_and_hosts_of_a_made_job(engine: Engine, bundle: Callable[[Mapping[str, str]], Path]) -> None:
    """Folders that share the ranks out are hosts, though nothing calls them so."""
    job = job_of(engine.postmortem_paths([bundle(made_jobs_gpu.disk_full_on_one_host().files)]))
    assert job.hosts == ("trn-0", "trn-1", "trn-2", "trn-3")
    assert job.hosts_failed == ("trn-1",)
    assert job.ranks.failed == (8,)


def test_end_of_a_long_log_is_not_that_of_its_sample(
    engine: Engine, bundle: Callable[[Mapping[str, str]], Path]
) -> None:
    """Of a log of 130 kB some lines are looked at for times; the last line with one is later than all of them."""
    job = job_of(engine.postmortem_paths([bundle(made_jobs_gpu.oom_on_one_of_16_watchdogs_elsewhere().files)]))
    entries = {entry.kind: entry for entry in job.timeline}
    end, first = entries[Moment.END].time, entries[Moment.FIRST_FAILURE].time
    assert end is not None and first is not None and end > first


def test_hosts_of_ranks_follow_from_the_one_that_is_named(
    engine: Engine, bundle: Callable[[Mapping[str, str]], Path]
) -> None:
    """torchelastic's table names the host of one rank; the others that write in the same file run there, too."""
    job = job_of(engine.postmortem_paths([bundle(made_jobs_gpu.oom_on_one_of_16_watchdogs_elsewhere().files)]))
    assert [track.host for track in job.tracks] == ["gpu-a1"] * 8 + ["gpu-a2"] * 8


def test_rank_whose_failure_has_no_time_is_drawn_where_it_was_last_seen(
    engine: Engine, bundle: Callable[[Mapping[str, str]], Path]
) -> None:
    report = engine.postmortem_paths([bundle(made_jobs_gpu.ecc_error_under_rank_30().files)])
    job = replace(job_of(report), first_failure=replace(job_of(report).first_failure, time=None))  # type: ignore[type-var]
    assert "rank 30 fails first, after 20:0" in draw_timeline(job)
