"""Strings the questions about a job together.

prepare(results)                 hosts and clocks set right, other jobs' logs told apart    before rules are evaluated
build_job(pack, results, ...)    who failed first, whom it reached, what happened     after triage
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from troubleshoot.job.blast import draw_tracks, hosts_of_job, hosts_that_failed, sum_up_ranks
from troubleshoot.job.facts import gather_facts
from troubleshoot.job.first_failure import find_first_failure
from troubleshoot.job.places import settle_places
from troubleshoot.job.several_jobs import Jobs, keep_job, several_jobs_note, tell_jobs_apart
from troubleshoot.job.signs import read_signs
from troubleshoot.job.skew import level_clocks
from troubleshoot.job.stragglers import find_stragglers
from troubleshoot.job.timeline import build_timeline
from troubleshoot.model import Finding, Job, Note, RulePack, ScanResult, Suspect


@dataclass(frozen=True, slots=True)
class Assembly:
    """The results to evaluate, and what was decided about them."""

    results: tuple[ScanResult, ...]
    notes: tuple[Note, ...] = ()
    jobs: Jobs = Jobs({})  # noqa: RUF009 - a frozen value
    are_apart: bool = False


def prepare(
    pack: RulePack, results: Sequence[ScanResult], *, only_one_job: bool = False, wanted: str | None = None
) -> Assembly:
    """Return the results, each at its host and all on one clock; with `only_one_job`, those of one job: `wanted`, or
    else the largest."""
    jobs = tell_jobs_apart(results, read_signs(pack, results), wanted)
    note = several_jobs_note(jobs, are_left_out=only_one_job)
    kept = keep_job(results, jobs) if only_one_job and len(jobs.ids) > 1 else list(results)
    levelled = level_clocks(settle_places(kept))
    notes = (*((note,) if note is not None else ()), *levelled.notes)
    return Assembly(levelled.results, notes, jobs, levelled.are_apart)


def build_job(
    pack: RulePack,
    assembly: Assembly,
    findings: Sequence[Finding],
    suspects: Sequence[Suspect],
    *,
    partial: bool = False,
) -> Job:
    """Return what the logs of the job tell together."""
    facts = gather_facts(pack, assembly.results, findings, suspects, are_apart=assembly.are_apart)
    first = find_first_failure(facts)
    ranks = sum_up_ranks(facts, first)
    return Job(
        first_failure=first,
        ranks=ranks,
        hosts=hosts_of_job(facts),
        hosts_failed=hosts_that_failed(facts, ranks, first),
        timeline=build_timeline(facts, first),
        stragglers=find_stragglers(facts.progress, facts.members.hosts),
        tracks=draw_tracks(facts, ranks, first),
        id=assembly.jobs.chosen,
        other_ids=assembly.jobs.others(),
        partial=partial,
    )
