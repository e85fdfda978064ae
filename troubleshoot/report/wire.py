"""Report -> plain dicts and lists in the shape of the wire format, version 1 (DESIGN.md section 5).

JSON, NDJSON and whatever else carries a report to a program use these, so one fact has one name everywhere. Within
version 1 keys are added and never renamed or removed. Keys come in the order in which they are written here and
mappings of captures sorted by name, so equal reports give equal bytes.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from troubleshoot.model import (
    Evidence,
    Finding,
    FirstFailure,
    Fix,
    Job,
    Note,
    Report,
    SourceInfo,
    Suspect,
    TimelineEntry,
    Undecided,
)
from troubleshoot.ranks import compress_ranks

SCHEMA = "troubleshoot.report/1"

Wire = dict[str, Any]


def wire_report(report: Report) -> Wire:
    """Return the report as JSON-ready values. `job` is there only for a report that has one."""
    wire: Wire = {
        "schema": SCHEMA,
        "verdict": report.verdict.value,
        "findings": [wire_finding(each) for each in report.findings],
        "confirmations": [wire_finding(each) for each in report.confirmations],
        "undecided": [wire_undecided(each) for each in report.undecided],
        "suspects": [wire_suspect(each) for each in report.suspects],
        "sources": [wire_source(each) for each in report.sources],
        "notes": [wire_note(each) for each in report.notes],
        **wire_context(report),
    }
    return wire


def wire_context(report: Report) -> Wire:
    """Return what a report says of the run as a whole: pack, stats, platform, job."""
    context: Wire = {
        "pack": {"name": report.pack.name, "version": report.pack.version, "hash": report.pack.hash},
        "stats": {
            "bytes": report.stats.bytes,
            "lines": report.stats.lines,
            "seconds": report.stats.seconds,
            "rules": report.stats.rules,
        },
        "platform": report.platform,
    }
    if report.job is not None:
        context["job"] = wire_job(report.job)
    return context


def wire_job(job: Job) -> Wire:
    """Return what the logs of a job tell together. The tracks of single ranks are for pictures and stay out: of ten
    thousand ranks they would be the largest part of a report."""
    ranks, first = job.ranks, job.first_failure
    return {
        "id": job.id,
        "other_ids": list(job.other_ids),
        "first_failure": None if first is None else wire_first_failure(first),
        "ranks": {
            "total": ranks.total,
            "seen": ranks.seen,
            "failed": compress_ranks(ranks.failed),
            "echoing": compress_ranks(ranks.echoing),
            "silent": compress_ranks(ranks.silent),
        },
        "hosts": {"all": list(job.hosts), "failed": list(job.hosts_failed)},
        "timeline": [wire_moment(each) for each in job.timeline],
        "stragglers": [plain(each) for each in job.stragglers],
        "partial": job.partial,
    }


def wire_first_failure(first: FirstFailure) -> Wire:
    return {
        "rank": first.rank,
        "host": first.host,
        "source": first.source,
        "line": first.line,
        "time": wire_time(first.time),
        "text": first.text,
        "because": first.because,
        "confidence": first.confidence.word,
        "runner_up": first.runner_up,
        "rule": first.rule,
    }


def wire_moment(entry: TimelineEntry) -> Wire:
    return {
        "kind": entry.kind.value,
        "time": wire_time(entry.time),
        "until": wire_time(entry.until),
        "rank": entry.rank,
        "ranks": compress_ranks(entry.ranks),
        "host": entry.host,
        "source": entry.source,
        "line": entry.line,
        "count": entry.count,
        "text": entry.text,
    }


def wire_finding(finding: Finding) -> Wire:
    return {
        "rule": finding.rule,
        "kind": finding.kind.value,
        "title": finding.title,
        "severity": finding.severity.word,
        "confidence": finding.confidence.word,
        "role": finding.role.value,
        "explained_by": list(finding.explained_by),
        "count": finding.count,
        "ranks": compress_ranks(finding.ranks),
        "hosts": list(finding.hosts),
        "first_seen": wire_time(finding.first_seen.time if finding.first_seen else None),
        "captures": dict(sorted(finding.captures.items())),
        "evidence": [wire_evidence(each) for each in finding.evidence],
        "explanation": finding.explanation,
        "fixes": [wire_fix(each) for each in finding.fixes],
        "owner": finding.owner,
        "retry": finding.retry,
        "fingerprint": finding.fingerprint,
        "references": list(finding.references),
        "because": list(finding.because),
        "generic": finding.generic,
        "symptom": finding.symptom,
    }


def wire_evidence(evidence: Evidence) -> Wire:
    return {
        "source": evidence.source,
        "line": evidence.line,
        "end_line": evidence.end_line or evidence.line,
        "offset": evidence.offset,
        "signature": evidence.signature,
        "text": evidence.text,
        "start": evidence.start,
        "end": evidence.end,
        "rank": evidence.rank,
        "host": evidence.host,
        "time": wire_time(evidence.time),
        **_around(evidence),
    }


def wire_fix(fix: Fix) -> Wire:
    return {
        "title": fix.title,
        "do": fix.do,
        "run": list(fix.run),
        "variants": dict(fix.variants),
        "safe": fix.safe,
        "verify": {"run": fix.verify.run, "expect": fix.verify.expect} if fix.verify else None,
    }


def wire_undecided(undecided: Undecided) -> Wire:
    return {
        "rule": undecided.rule,
        "title": undecided.title,
        "why": undecided.why,
        "next": undecided.next,
        "collect": undecided.collect,
    }


def wire_suspect(suspect: Suspect) -> Wire:
    return {
        "source": suspect.source,
        "line": suspect.line,
        "text": suspect.text,
        "count": suspect.count,
        "reason": suspect.reason,
        "rank": suspect.rank,
        "weight": suspect.weight,
        **_around(suspect),
    }


def _around(shown: Evidence | Suspect) -> Wire:
    """Return the lines around one, where they were asked for."""
    if not shown.before and not shown.after:
        return {}
    return {"before": list(shown.before), "after": list(shown.after)}


def wire_source(source: SourceInfo) -> Wire:
    return {
        "name": source.name,
        "bytes": source.bytes,
        "lines": source.lines,
        "encoding": source.encoding,
        "wrapper": source.wrapper,
        "host": source.identity.host,
        "rank": source.identity.rank,
        "pod": source.identity.pod,
        "container": source.identity.container,
        "documents": list(source.documents),
        "first_time": wire_time(source.first_time),
        "last_time": wire_time(source.last_time),
    }


def wire_note(note: Note) -> Wire:
    return {"code": note.code, "text": note.text, "source": note.source}


def wire_time(time: datetime | None) -> str | None:
    """Return RFC 3339 in UTC with milliseconds and `Z`: `2026-11-30T20:33:06.432Z`."""
    if time is None:
        return None
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def plain(value: Any) -> Any:
    """Return JSON-ready values for a nest of dataclasses, mappings, sequences, enums and times.

    A value that has a `wire()` method is asked for its own form.
    """
    if value is None or isinstance(value, str | bool | float):
        return value
    if isinstance(value, enum.IntEnum):
        return value.name.lower()
    if isinstance(value, int):
        return value
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime):
        return wire_time(value)
    if hasattr(value, "wire"):
        return value.wire()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    return [plain(each) for each in value]
