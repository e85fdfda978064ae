"""Report -> the part of it that the reader asked for, and whether it is bad enough to fail.

What is left out is a choice, not a judgement: a note says how much was left out and by what, and the verdict is that
of what remains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from troubleshoot.model import Confidence, Finding, Note, Report, Severity, Verdict

FAIL_ON = ("low", "medium", "high", "critical", "any", "unknown")

NamesOf = Callable[[str], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which findings to show. Names are rule ids, `domain/*`, domains, tags, systems; none selected means all."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_severity: Severity = Severity.LOW
    min_confidence: Confidence = Confidence.LOW


def select_findings(report: Report, selection: Selection, names_of: NamesOf) -> Report:
    """Return the report with the selected findings and confirmations. `names_of` gives a rule's names."""

    def is_named_so(finding: Finding) -> bool:
        names = (finding.rule, *names_of(finding.rule))
        is_selected = not selection.select or _is_named(names, selection.select)
        return is_selected and not _is_named(names, selection.ignore)

    def is_grave_enough(finding: Finding) -> bool:
        return finding.severity >= selection.min_severity and finding.confidence >= selection.min_confidence

    findings = tuple(each for each in report.findings if is_named_so(each) and is_grave_enough(each))
    confirmations = tuple(each for each in report.confirmations if is_named_so(each))
    left_out = len(report.findings) - len(findings)
    if not left_out and len(confirmations) == len(report.confirmations):
        return report
    notes = (
        (Note("not-selected", f"{left_out} of {len(report.findings)} findings left out as asked"),) if left_out else ()
    )
    return replace(
        report,
        verdict=_verdict(report, findings),
        findings=findings,
        confirmations=confirmations,
        notes=(*report.notes, *notes),
    )


def cut_findings(report: Report, most: int) -> Report:
    """Return the report with at most so many findings; a note counts the rest. Zero is no limit."""
    left_out = len(report.findings) - most
    if most <= 0 or left_out <= 0:
        return report
    note = Note("findings-cut", f"{left_out} more findings not shown, as asked by --max-findings")
    return replace(report, findings=report.findings[:most], notes=(*report.notes, note))


def is_failing(report: Report, fail_on: Sequence[str]) -> bool:
    """Say whether the report meets one of the conditions: a severity at least, `any` fault, an `unknown` one."""
    return any(_meets(report, each) for each in fail_on)


def _meets(report: Report, condition: str) -> bool:
    if condition == "any":
        return report.verdict is not Verdict.CLEAN
    if condition == "unknown":
        return report.verdict is Verdict.UNKNOWN_FAULT
    return any(each.severity >= Severity[condition.upper()] for each in report.findings)


def _is_named(names: Iterable[str], wanted: Iterable[str]) -> bool:
    known = tuple(names)
    return any(fnmatchcase(name, each.removeprefix("#")) for each in wanted for name in known)


def _verdict(report: Report, findings: Sequence[Finding]) -> Verdict:
    if any(not each.generic for each in findings):
        return Verdict.FAULT
    if report.verdict is not Verdict.CLEAN and (findings or report.suspects):
        return Verdict.UNKNOWN_FAULT
    return Verdict.CLEAN
