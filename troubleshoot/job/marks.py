"""Records that show a failure: a rank's own, or the echo of another's.

In: findings in order of triage, scan results, signs. Out: one `Mark` per record, the surest reading of it.

    RuntimeError: vocabulary has 50257            own: the generic rule for exceptions, and nothing says more
    RuntimeError: ... Connection closed by peer   echo: a symptom's rule knows this text, and goes before the generic

Readings, surest first: a known fault that is a cause; an echo (symptoms, faults that another finding explains, rules
tagged "exit", built-in echoes and timeouts); a catch-all, or a fault tagged "echo", which may be one. Context (what
stands at level info, NCCL's channel lines, what is no log) and what a launcher says of its workers is no mark of a
rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from troubleshoot import late
from troubleshoot.job.members import Members
from troubleshoot.job.signs import Sign
from troubleshoot.model import Finding, Hit, Kind, Record, Role, RulePack, ScanResult, Severity, Stamp

OWN, ECHO, VAGUE, SUSPECTED = range(4)  # surest first
SUSPECT_WEIGHT = 78  # of a suspect that counts as a failure where no rule knows any: crashes, exceptions, signals
_STATEMENTS = frozenset({"root", "entry", "exit", "stop", "told", "forced", "recorded"})
_HEAD = late.compile(r"Traceback \(most recent call last\)|^\s*File \"|^\s*traceback\s*: ")


@dataclass(frozen=True, slots=True)
class Mark:
    """A record that shows a failure, whose it is, and by which finding (its place among the findings)."""

    reading: int
    hit: Hit
    rank: int | None
    host: str | None
    rule: str = ""
    title: str = ""
    at: int = 1 << 30

    @property
    def is_own(self) -> bool:
        return self.reading != ECHO

    @property
    def stamp(self) -> Stamp | None:
        return self.hit.record.stamp

    @property
    def source(self) -> str:
        return self.hit.record.source.name

    @property
    def line(self) -> int:
        return self.hit.record.line

    @property
    def actor(self) -> tuple[int | None, str | None, str]:
        """Who it is: a rank, else a host, else a source."""
        if self.rank is not None:
            return (self.rank, None, "")
        return (None, self.host, "") if self.host is not None else (None, None, self.source)


def read_marks(
    pack: RulePack,
    results: Sequence[ScanResult],
    findings: Sequence[Finding],
    signs: Sequence[Sign],
    members: Members,
) -> list[Mark]:
    """Return the marks, in the order of sources and lines."""
    held: dict[tuple[str, int], Mark] = {}
    stated = {(sign.source, line) for sign in signs if sign.kind in _STATEMENTS for line in _lines(sign.hit.record)}

    def take(reading: int, hit: Hit, finding: Finding | None, at: int) -> None:
        place = (hit.record.source.name, hit.record.line)
        known = held.get(place)
        if known is None or (reading, at) < (known.reading, known.at):
            rank = members.rank_of(hit)
            host = members.host_of(hit, rank)
            rule, title = (finding.rule, finding.title) if finding is not None else ("", "")
            held[place] = Mark(reading, hit, rank, host, rule, title, at)

    for at, finding in enumerate(findings):
        if finding.kind is not Kind.FAULT or finding.severity < Severity.MEDIUM:
            continue
        reading = reading_of(pack, finding)
        for each in finding.outcome.hits if finding.outcome is not None else ():
            record = each.hit.record
            if is_context(record) or (reading != OWN and _HEAD.search(record.text[:200])):
                continue
            if (record.source.name, record.line) in stated and reading != OWN:
                continue
            take(reading, each.hit, finding, at)
    for sign in signs:
        if sign.kind in ("echo", "timeout", "first_timeout", "missing"):
            take(ECHO, sign.hit, None, 1 << 30)
    if not any(mark.is_own for mark in held.values()):
        for hit in _suspected(pack, results):
            if (hit.record.source.name, hit.record.line) not in stated:
                take(SUSPECTED, hit, None, 1 << 30)
    return [held[place] for place in sorted(held)]


def reading_of(pack: RulePack, finding: Finding) -> int:
    """Return how the records of a finding are to be read."""
    rule = pack.rules.get(finding.rule)
    tags = frozenset(rule.tags) if rule is not None else frozenset()
    if finding.symptom or finding.role is Role.SYMPTOM or "exit" in tags:
        return ECHO
    return VAGUE if finding.generic or "echo" in tags else OWN


def is_context(record: Record) -> bool:
    return record.level in ("info", "debug") or record.document != "log" or record.text.startswith("NCCL INFO")


def _lines(record: Record) -> Iterable[int]:
    return range(record.line, record.end_line + 1)


def _suspected(pack: RulePack, results: Sequence[ScanResult]) -> Iterable[Hit]:
    weights = pack.builtin.get("suspects", {})
    for result in results:
        for hit in result.hits:
            for use in pack.users[hit.pattern]:
                if use.rule != "~suspects" or is_context(hit.record) or _HEAD.search(hit.record.text[:200]):
                    continue
                entry = weights.get(use.signature, {})
                weight = entry.get("weight", "")
                if not entry.get("part") and weight.isdigit() and int(weight) >= SUSPECT_WEIGHT:
                    yield hit
