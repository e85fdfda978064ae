"""What is known of one job, gathered once for all that ask: marks, ends, members, progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from troubleshoot.job.exits import Exit, read_exits
from troubleshoot.job.marks import Mark, read_marks
from troubleshoot.job.members import Members
from troubleshoot.job.progress import last_of_ranks
from troubleshoot.job.signs import Sign, read_signs
from troubleshoot.model import Finding, Progress, RulePack, ScanResult, Stamp, Suspect

STRONG = frozenset({4, 7, 8, 9, 11})  # signals that no rank gets for another's failure


@dataclass(frozen=True, slots=True)
class Facts:
    """`echoing` are ranks with marks, all of them echoes; `are_apart`: clocks of hosts that cannot be compared."""

    findings: tuple[Finding, ...]
    suspects: tuple[Suspect, ...]
    results: tuple[ScanResult, ...]
    signs: tuple[Sign, ...]
    members: Members
    marks: tuple[Mark, ...]
    exits: tuple[Exit, ...]
    progress: dict[int, Progress]
    owning: frozenset[int]
    echoing: frozenset[int]
    failed_at: dict[int, Stamp]  # by rank, what its error file or its launcher's table says
    are_apart: bool = False

    def own_exits(self) -> list[Exit]:
        """Return the ends that nothing else accounts for: an exit code, or SIGABRT, of a rank that echoes is none."""
        return [
            each
            for each in self.exits
            if each.is_own and (each.rank not in self.echoing or each.rank is None or each.signal in STRONG)
        ]


def gather_facts(
    pack: RulePack,
    results: Sequence[ScanResult],
    findings: Sequence[Finding],
    suspects: Sequence[Suspect],
    *,
    are_apart: bool = False,
) -> Facts:
    signs = read_signs(pack, results)
    members = Members(results, signs)
    marks = read_marks(pack, results, findings, signs, members)
    owning = frozenset(mark.rank for mark in marks if mark.is_own and mark.rank is not None)
    echoing = frozenset(mark.rank for mark in marks if not mark.is_own and mark.rank is not None) - owning
    return Facts(
        findings=tuple(findings),
        suspects=tuple(suspects),
        results=tuple(results),
        signs=tuple(signs),
        members=members,
        marks=tuple(marks),
        exits=tuple(read_exits(signs, members)),
        progress=last_of_ranks([each for result in results for each in result.progress]),
        owning=owning,
        echoing=echoing,
        failed_at=_failed_at(signs, members),
        are_apart=are_apart,
    )


def _failed_at(signs: Sequence[Sign], members: Members) -> dict[int, Stamp]:
    at: dict[int, Stamp] = {}
    for kind in ("recorded", "entry"):
        for sign in signs:
            stamp = sign.stamp if sign.kind == kind else None
            rank = members.rank_of(sign.hit) if kind == "recorded" else sign.number("rank")
            if rank is not None and stamp is not None:
                at.setdefault(rank, stamp)
    return at
