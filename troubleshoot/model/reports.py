"""The report that every renderer takes."""

from __future__ import annotations

from dataclasses import dataclass, field

from troubleshoot.model.jobs import Job
from troubleshoot.model.logs import Note, SourceInfo
from troubleshoot.model.results import Finding, PackInfo, Stats, Suspect, Undecided
from troubleshoot.model.rules import Verdict


@dataclass(frozen=True, slots=True)
class Report:
    """The answer to a scan. `findings[0]` is the likeliest cause."""

    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    confirmations: tuple[Finding, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    sources: tuple[SourceInfo, ...] = ()
    notes: tuple[Note, ...] = ()
    pack: PackInfo = field(default_factory=lambda: PackInfo("", "", ""))
    stats: Stats = field(default_factory=lambda: Stats(0, 0, 0.0, 0))
    platform: str | None = None
    job: Job | None = None  # of more than one source, or where it was asked for
    language: str = "en"  # of its texts, as a BCP 47 tag
