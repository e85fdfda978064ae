"""Logs of more than one job in one folder: told apart by what launchers and schedulers call a job.

In: scan results and signs. Out: `Jobs`: an id per source, and which job is the largest. A source is of the job that its
path names (slurm-4711.out, a torchrun run id, a pod of a job), else of the one that its content names; one that names
none belongs to whichever job is looked at.

    slurm-4711.out 2 MB, slurm-4712.out 3 kB, gpu-node-17.dmesg   4711 is looked at, with the dmesg; a note names 4712
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from troubleshoot import late
from troubleshoot.job.signs import Sign
from troubleshoot.model import Note, ScanResult

_PATHS = tuple(
    late.compile(pattern)
    for pattern in (
        r"(?:^|/)slurm-(?P<job>\d+(?:_\d+)?)(?:[-_.][^/]*)?\.(?:out|err|log)$",
        r"(?:^|/)(?!none_)(?P<job>[^/]+)_[a-z0-9_]{8}/attempt_\d+/\d+/(?:stdout|stderr|error)\.",
        r"(?:^|/)(?!describe-|events-|pod-|logs?-)(?P<job>[a-z0-9][a-z0-9-]*?)-(?:(?:master|worker)-\d+|launcher|node-\d+-\d+)(?:-[a-z0-9]{5})?(?=$|/|\.(?:log|txt|out|err))",
    )
)
NAMED = 5


@dataclass(frozen=True, slots=True)
class Jobs:
    """Which source is of which job. `chosen` is the one that the report speaks of, None where there is none or one."""

    of_source: Mapping[str, str]
    ids: tuple[str, ...] = ()
    chosen: str | None = None

    def others(self) -> tuple[str, ...]:
        return tuple(each for each in self.ids if each != self.chosen)


def tell_jobs_apart(results: Sequence[ScanResult], signs: Sequence[Sign], wanted: str | None = None) -> Jobs:
    """Return the jobs in the results, the largest (most lines) first."""
    said: dict[str, Counter[str]] = {}
    for sign in signs:
        job = sign.captures.get("job")
        if sign.kind in ("job", "stop") and job:
            said.setdefault(sign.source, Counter())[job.split(".")[0].split("+")[0]] += 1
    of_source: dict[str, str] = {}
    sizes: Counter[str] = Counter()
    kinds: dict[str, int] = {}
    for result in results:
        name = result.source.name
        kind, job = _from_path(name)
        if job is None and name in said:
            counts = said[name]
            if len(counts) == 1:  # a daemon's log speaks of many jobs and belongs to none
                kind, job = 0, next(iter(counts))
        if job is not None:
            of_source[name] = job
            kinds[job] = kind
            sizes[job] += result.info.lines if result.info is not None else len(result.hits)
    alike = Counter(kinds.values())
    if not alike:
        return Jobs({})
    kind = min(alike, key=lambda each: (-alike[each], each))
    ids = sorted((job for job in sizes if kinds[job] == kind), key=lambda job: (-sizes[job], job))
    chosen = wanted if wanted in ids else ids[0]
    return Jobs({name: job for name, job in of_source.items() if job in ids}, tuple(ids), chosen)


def keep_job(results: Sequence[ScanResult], jobs: Jobs) -> list[ScanResult]:
    """Return the results of the chosen job, and those of no job."""
    return [each for each in results if jobs.of_source.get(each.source.name, jobs.chosen) == jobs.chosen]


def several_jobs_note(jobs: Jobs, *, are_left_out: bool) -> Note | None:
    """Return what the reader must know where there is more than one job."""
    others = jobs.others()
    if not others or jobs.chosen is None:
        return None
    count = Counter(jobs.of_source.values())
    named = ", ".join(f"{job} ({count[job]} source{'s' * (count[job] != 1)})" for job in others[:NAMED])
    more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
    told = "are left out" if are_left_out else "are taken together with it"
    return Note(
        "several-jobs",
        f"logs of {len(jobs.ids)} jobs: this report is about {jobs.chosen} ({count[jobs.chosen]} "
        f"source{'s' * (count[jobs.chosen] != 1)}); those of {named}{more} {told}",
    )


def _from_path(name: str) -> tuple[int, str | None]:
    for kind, pattern in enumerate(_PATHS):
        m = pattern.search(name.replace("\\", "/"))
        if m is not None:
            return kind, m["job"]
    return 0, None
