"""Report -> workflow commands that GitHub Actions turns into annotations: `::error title=...::...`.

GitHub shows ten of a kind per step, so at most ten lines are printed, worst first, and the last one counts the rest.
Source: actions/toolkit, packages/core/src/command.ts (escapes).
"""

from __future__ import annotations

from troubleshoot.language import say
from troubleshoot.model import Finding, Report, Role, Severity, Verdict
from troubleshoot.report import job_words, words
from troubleshoot.report.printable import visible

SHOWN = 10
COMMANDS = {Severity.CRITICAL: "error", Severity.HIGH: "error", Severity.MEDIUM: "warning", Severity.LOW: "notice"}


def render_github(report: Report) -> str:
    """Return one workflow command per line; a clean report has none but what was read."""
    causes = [each for each in report.findings if each.role is Role.CAUSE] or list(report.findings)
    lines = [_finding(each) for each in causes]
    if report.verdict is Verdict.UNKNOWN_FAULT:
        lines += [
            _command("warning", say("No known fault"), each.source, each.line, each.text)
            for each in report.suspects[:3]
        ]
    if report.job is not None and report.job.first_failure is not None:
        first = report.job.first_failure
        lines.insert(1, _command("notice", job_words.name_of(first), first.source, first.line, first.because))
    if len(lines) > SHOWN:
        lines[SHOWN - 1 :] = [
            "::notice::" + say("{number} more findings in the full report", number=len(lines) - SHOWN + 1)
        ]
    return "\n".join([*lines, f"::notice::{_data(words.what_was_read(report))}"]) + "\n"


def _finding(finding: Finding) -> str:
    first = finding.evidence[0]
    fix = "\n" + say("Fix: {title}", title=finding.fixes[0].title) if finding.fixes else ""
    text = f"{finding.explanation}{fix}\n{words.place(first)}: {first.text}"
    return _command(COMMANDS[finding.severity], finding.title, first.source, first.line, text)


def _command(name: str, title: str, source: str, line: int, text: str) -> str:
    return f"::{name} title={_property(title)},file={_property(source)},line={line}::{_data(text)}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
