"""Who failed first in made jobs of 8 to 64 ranks: each has a culprit that was put there before any log was read.

Of the 31 jobs 22 were right when they were first tried, 31 are since."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path

import made_jobs_cluster
import made_jobs_gpu
import pytest
from bundles import job_of
from made_lines import MadeJob

from troubleshoot.engine import Engine

JOBS: dict[str, Callable[[], MadeJob]] = {
    name: function
    for module in (made_jobs_gpu, made_jobs_cluster)
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
        assert first.rank == job.rank, first.because
    else:
        assert first.rank is None or first.rank in job.any_rank, first.because
        assert first.host == job.host, first.because


def test_ranks_and_hosts_of_a_made_job(engine: Engine, bundle: Callable[[Mapping[str, str]], Path]) -> None:
    """Folders that share the ranks out are hosts, though nothing calls them so."""
    job = job_of(engine.postmortem_paths([bundle(made_jobs_gpu.disk_full_on_one_host().files)]))
    assert job.hosts == ("trn-0", "trn-1", "trn-2", "trn-3")
    assert job.hosts_failed == ("trn-1",)
    assert job.ranks.failed == (8,)
