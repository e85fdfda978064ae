"""Report -> SARIF 2.1.0, for viewers and dashboards that take it.

One run; a rule per finding's rule, a result per finding with its evidence as locations. Symptoms are results of kind
"informational" below the cause that explains them; an unknown fault has its suspects as results of the rule
`troubleshoot/unknown-fault`. Notes are the invocation's notifications. What GitHub caps is kept below its caps.
Source: OASIS sarif-v2.1.0; docs.github.com, SARIF support for code scanning (limits).
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from troubleshoot.model import Evidence, Finding, Note, Report, Role, Severity, Suspect, Verdict
from troubleshoot.report.job_words import who_failed
from troubleshoot.report.json import dump
from troubleshoot.report.printable import visible
from troubleshoot.report.wire import wire_job

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
VERSION = "2.1.0"
LEVELS = {Severity.CRITICAL: "error", Severity.HIGH: "error", Severity.MEDIUM: "warning", Severity.LOW: "note"}

LOCATIONS = 100  # and a hundred of a result's locations
NOTES = 1_000
UNKNOWN = "troubleshoot/unknown-fault"

Sarif = dict[str, Any]


def render_sarif(report: Report) -> str:
    """Return the report as a SARIF log that ends in a newline."""
    return dump({"$schema": SCHEMA, "version": VERSION, "runs": [_run(report)]}, indent=2) + "\n"


def _run(report: Report) -> Sarif:
    rules = _rules(report)
    places = {rule["id"]: at for at, rule in enumerate(rules)}
    results = [_result(each, places) for each in report.findings]
    if report.verdict is Verdict.UNKNOWN_FAULT:
        results += [_suspicion(each, places) for each in report.suspects]
    run: Sarif = {
        "tool": {
            "driver": {
                "name": "troubleshoot",
                "semanticVersion": _version(),
                "properties": {"pack": report.pack.name, "packVersion": report.pack.version},
                "rules": rules,
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not (report.job is not None and report.job.partial),
                "toolExecutionNotifications": [_notification(each) for each in report.notes[:NOTES]],
            }
        ],
        "results": results,
        "properties": {"verdict": report.verdict.value},
    }
    if report.job is not None:
        run["properties"]["summary"] = visible(who_failed(report.job))
        run["properties"]["job"] = wire_job(report.job)
    return run


def _version() -> str:
    from troubleshoot import __version__

    return __version__


def _rules(report: Report) -> list[Sarif]:
    rules: dict[str, Sarif] = {}
    for each in report.findings:
        if each.rule not in rules:
            rules[each.rule] = _rule(each)
    if report.verdict is Verdict.UNKNOWN_FAULT and report.suspects:
        text = "A line that looks like the failure, and that no rule knows"
        rules[UNKNOWN] = {
            "id": UNKNOWN,
            "shortDescription": {"text": text},
            "defaultConfiguration": {"level": "warning"},
        }
    return list(rules.values())


def _rule(finding: Finding) -> Sarif:
    rule: Sarif = {
        "id": finding.rule,
        "shortDescription": {"text": _words(finding.title)},
        "fullDescription": {"text": _words(finding.explanation or finding.title)},
        "help": {"text": _help(finding)},
        "defaultConfiguration": {"level": LEVELS[finding.severity]},
        "properties": {
            "precision": {1: "low", 2: "medium", 3: "high"}[int(finding.confidence)],
            "tags": [finding.rule.partition("/")[0]],
        },
    }
    link = next((each for each in finding.references if each.startswith("https://")), None)
    if link:
        rule["helpUri"] = quote(link, safe=":/?#[]@!$&'()*+,;=%~")
    return rule


def _help(finding: Finding) -> str:
    lines = []
    for number, fix in enumerate(finding.fixes, 1):
        lines.append(f"{number}. {fix.title}" + (f": {fix.do}" if fix.do else ""))
        lines += [f"   $ {command}" for command in fix.run]
    return _words("\n".join(lines) or "See the evidence.")


def _result(finding: Finding, places: dict[str, int]) -> Sarif:
    is_symptom = finding.role is Role.SYMPTOM
    locations = [_location(each) for each in finding.evidence[:LOCATIONS]]
    result: Sarif = {
        "ruleId": finding.rule,
        "ruleIndex": places[finding.rule],
        "level": "note" if is_symptom else LEVELS[finding.severity],
        "kind": "fail",
        "message": {"text": _message(finding)},
        "locations": locations[:1],
        "partialFingerprints": {"troubleshoot/v1": finding.fingerprint or finding.rule},
        "occurrenceCount": max(finding.count, 1),
        "properties": {
            "role": finding.role.value,
            "confidence": finding.confidence.word,
            "ranks": list(finding.ranks[:LOCATIONS]),
            "hosts": list(finding.hosts[:LOCATIONS]),
            "explainedBy": list(finding.explained_by),
        },
    }
    if len(locations) > 1:
        result["relatedLocations"] = [{"id": at, **each} for at, each in enumerate(locations[1:], 1)]
    return result


def _message(finding: Finding) -> str:
    text = finding.title
    if finding.explained_by:
        text += f" (an effect of {', '.join(finding.explained_by)})"
    if finding.fixes:
        text += f". Fix: {finding.fixes[0].title}"
    return _words(text)


def _suspicion(suspect: Suspect, places: dict[str, int]) -> Sarif:
    region = {"startLine": suspect.line, "snippet": {"text": visible(suspect.text)}}
    return {
        "ruleId": UNKNOWN,
        "ruleIndex": places[UNKNOWN],
        "level": "warning",
        "kind": "fail",
        "message": {"text": _words(f"{suspect.reason}: {suspect.text}")},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri_of(suspect.source)}, "region": region}}],
        "occurrenceCount": max(suspect.count, 1),
    }


def _location(evidence: Evidence) -> Sarif:
    region: Sarif = {
        "startLine": evidence.line,
        "endLine": max(evidence.end_line or evidence.line, evidence.line),
        "snippet": {"text": visible(evidence.text)},
    }
    return {"physicalLocation": {"artifactLocation": {"uri": uri_of(evidence.source)}, "region": region}}


def uri_of(source: str) -> str:
    """Return a source's name as a relative or absolute URI reference: `a b/c!d.log` is `a%20b/c!d.log`."""
    path = quote(source.replace("\\", "/").lstrip("/"), safe="/!~+-_.()@=,", errors="replace")
    return f"file:///{path}" if source.startswith("/") else path or "unnamed"


def _notification(note: Note) -> Sarif:
    notification: Sarif = {
        "level": "warning",
        "message": {"text": _words(note.text)},
        "descriptor": {"id": note.code},
    }
    if note.source:
        notification["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": uri_of(note.source)}}}]
    return notification


def _words(text: str) -> str:
    return visible(text).strip() or "(no text)"
