"""Report -> one JSON object per line, for `jq`, log shippers and databases.

Each line has a `type`: `source`, `finding`, `confirmation`, `undecided`, `suspect`, `note`, in this order, findings
in order of priority. The last line is the `summary`: schema, verdict, how many of each, pack, stats. A reader that
does not see it knows that the stream was cut.
"""

from __future__ import annotations

from collections.abc import Iterator

from troubleshoot.model import Finding, Report
from troubleshoot.report.json import dump
from troubleshoot.report.wire import (
    SCHEMA,
    Wire,
    wire_context,
    wire_finding,
    wire_note,
    wire_source,
    wire_suspect,
    wire_undecided,
)


def render_ndjson(report: Report) -> str:
    """Return the report as newline-delimited JSON."""
    return "".join(dump(line) + "\n" for line in ndjson_lines(report))


def render_seen(finding: Finding) -> str:
    """Return one finding as a line of `type` seen: told while a log is still followed, before the report."""
    return dump({"type": "seen", **wire_finding(finding)}) + "\n"


def ndjson_lines(report: Report) -> Iterator[Wire]:
    """Yield the objects of the lines."""
    for source in report.sources:
        yield {"type": "source", **wire_source(source)}
    for finding in report.findings:
        yield {"type": "finding", **wire_finding(finding)}
    for confirmation in report.confirmations:
        yield {"type": "confirmation", **wire_finding(confirmation)}
    for undecided in report.undecided:
        yield {"type": "undecided", **wire_undecided(undecided)}
    for suspect in report.suspects:
        yield {"type": "suspect", **wire_suspect(suspect)}
    for note in report.notes:
        yield {"type": "note", **wire_note(note)}
    yield {
        "type": "summary",
        "schema": SCHEMA,
        "verdict": report.verdict.value,
        "findings": len(report.findings),
        "confirmations": len(report.confirmations),
        "undecided": len(report.undecided),
        "suspects": len(report.suspects),
        "sources": len(report.sources),
        "notes": len(report.notes),
        **wire_context(report),
    }
