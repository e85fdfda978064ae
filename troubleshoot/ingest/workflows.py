"""Finds the logs that GitHub Actions delivers twice: a file per job, and a folder with a file per step of it.

In: names and sizes of an archive's members, or of a folder's files. Out: the names that need not be read, for their
text stands in the job's file, too:

    0_build.txt (90 kB), build/1_Set up job.txt (10 kB), build/2_Run tests.txt (80 kB)   ->   both files in build/

A job's file that is shorter than its steps are together was cut, and then all are read.
Source: knowledge/log-formats.md, section 16.
"""

from __future__ import annotations

from collections.abc import Mapping

from troubleshoot import late

SAME_SHARE = 0.98  # each step's file begins with a byte order mark of its own
_JOB = late.compile(r"(?:.*/)?-?\d+_([^/]+)\.txt")
_STEP = late.compile(r"(.*/)?([^/]+)/-?\d+_[^/]+\.txt")


def repeated_steps(sizes: Mapping[str, int]) -> frozenset[str]:
    """Return the names of the steps' files whose text stands in their job's file as well."""
    jobs: dict[str, int] = {}
    for name, size in sizes.items():
        if m := _JOB.fullmatch(name):
            folder = name[: len(name) - len(name.rpartition("/")[2])]
            jobs[folder + m[1]] = max(size, jobs.get(folder + m[1], 0))
    steps: dict[str, list[str]] = {}
    for name in sizes:
        if (m := _STEP.fullmatch(name)) and (m[1] or "") + m[2] in jobs:
            steps.setdefault((m[1] or "") + m[2], []).append(name)
    return frozenset(
        name
        for job, names in steps.items()
        if jobs[job] >= SAME_SHARE * sum(sizes[each] for each in names)
        for name in names
    )


def remark_of(names: frozenset[str]) -> str:
    """Return what a reader is told of files that were passed over."""
    return f"{len(names)} files of single steps not read: their jobs' files have the same text"
