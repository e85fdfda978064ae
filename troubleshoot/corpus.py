"""Incidents with known answers -> what the pack says of them: recall, first place, false alarms.

An incident is a folder with logs, `expected.yaml` and `README.md` (see corpus/README.md). All in it but those two
files is a source. `check_incident` compares a report with what is expected and gives one sentence per difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from troubleshoot.engine import Engine
from troubleshoot.errors import UsageError
from troubleshoot.model import Finding, Kind, Report, Severity

NOT_SOURCES = frozenset({"expected.yaml", "README.md"})
NOT_INCIDENTS = frozenset({"recipes"})


@dataclass(frozen=True, slots=True)
class Expected:
    """What a correct report says of an incident."""

    first: str | None
    also: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    healthy: bool = False
    verdict: str = "fault"
    made: str = ""


@dataclass(frozen=True, slots=True)
class IncidentResult:
    """An incident's differences, and the rules that were found. No differences: it is as it should be."""

    name: str
    expected: Expected
    found: tuple[str, ...]
    differences: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return not self.differences


@dataclass(frozen=True, slots=True)
class DomainFigures:
    """Counts of one domain: incidents whose first finding belongs there."""

    incidents: int = 0
    found: int = 0
    first: int = 0


@dataclass(frozen=True, slots=True)
class CorpusResult:
    """The whole corpus checked. `unused` are rules that no incident exercises."""

    incidents: tuple[IncidentResult, ...]
    unused: tuple[str, ...]
    domains: dict[str, DomainFigures] = field(default_factory=dict)

    @property
    def wrong(self) -> tuple[IncidentResult, ...]:
        return tuple(each for each in self.incidents if not each.is_right)

    @property
    def false_alarms(self) -> int:
        """Healthy incidents with a finding of severity medium or above."""
        return sum(1 for each in self.incidents if each.expected.healthy and not each.is_right)


def find_incidents(folder: Path) -> Iterator[Path]:
    """Yield the incident folders below `folder`, by name."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in NOT_INCIDENTS and (path / "expected.yaml").is_file():
            yield path


def read_expected(incident: Path) -> Expected:
    """Return what `expected.yaml` states. Raises UsageError for a file that is not of that form."""
    import yaml

    path = incident / "expected.yaml"
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    if not isinstance(document, dict) or "first" not in document:
        raise UsageError(f"{path}: needs at least `first`", help="see corpus/README.md")
    unknown = set(document) - {*Expected.__slots__, "entry", "note"}
    if unknown:
        raise UsageError(f"{path}: unknown keys: {', '.join(sorted(unknown))}", help="see corpus/README.md")
    return Expected(
        first=document["first"],
        also=tuple(document.get("also") or ()),
        never=tuple(document.get("never") or ()),
        confirmed=tuple(document.get("confirmed") or ()),
        undecided=tuple(document.get("undecided") or ()),
        healthy=bool(document.get("healthy", False)),
        verdict=str(document.get("verdict", "clean" if document.get("healthy") else "fault")),
        made=str(document.get("made", "")),
    )


def incident_sources(incident: Path) -> list[Path]:
    return [path for path in sorted(incident.iterdir()) if path.name not in NOT_SOURCES]


def check_incident(engine: Engine, incident: Path) -> IncidentResult:
    """Scan one incident as one job and compare."""
    expected = read_expected(incident)
    report = engine.scan_paths(incident_sources(incident))
    found = tuple(finding.rule for finding in (*report.findings, *report.confirmations))
    return IncidentResult(incident.name, expected, found, tuple(_differences(expected, report)))


def _differences(expected: Expected, report: Report) -> Iterator[str]:
    rules = [finding.rule for finding in report.findings]
    first = rules[0] if rules else None
    if expected.first is not None and first != expected.first:
        place = rules.index(expected.first) + 1 if expected.first in rules else 0
        yield f"first is {first}, expected {expected.first}" + (f", which is at {place}" if place else ", not found")
    if report.verdict.value != expected.verdict:
        yield f"verdict is {report.verdict.value}, expected {expected.verdict}"
    for finding in report.findings:
        allowed = finding.rule == expected.first or finding.rule in expected.also
        forbidden = any(finding.rule == each or finding.rule.split("/")[0] == each for each in expected.never)
        loud = expected.healthy and finding.severity >= Severity.MEDIUM
        if loud:
            yield f"false alarm: {finding.rule} ({finding.severity.word})"
        elif forbidden and not allowed:
            yield f"forbidden: {finding.rule}"
        elif not allowed and not expected.healthy and not _is_echo(finding):
            yield f"unlisted: {finding.rule}"
    confirmed = {finding.rule for finding in report.confirmations if finding.kind is Kind.CONFIRMATION}
    for rule in expected.confirmed:
        if rule not in confirmed:
            yield f"not confirmed: {rule}"
    undecided = {each.rule for each in report.undecided}
    for rule in expected.undecided:
        if rule not in undecided:
            yield f"not undecided: {rule}"


def _is_echo(finding: Finding) -> bool:
    """A catch-all or symptom below its cause need not be listed one by one; a second fault does."""
    return bool(finding.explained_by) and (finding.symptom or finding.generic)


def check_corpus(engine: Engine, folder: Path, only: Sequence[str] = ()) -> CorpusResult:
    """Check every incident below `folder`, or those named in `only`."""
    incidents = [path for path in find_incidents(folder) if not only or path.name in only]
    results = tuple(check_incident(engine, path) for path in incidents)
    exercised = {rule for result in results for rule in result.found}
    exercised |= {rule for result in results for rule in result.expected.undecided}
    return CorpusResult(
        incidents=results,
        unused=tuple(sorted(set(engine.pack.rules) - exercised)),
        domains=_figures(results),
    )


def _figures(results: Sequence[IncidentResult]) -> dict[str, DomainFigures]:
    total: Counter[str] = Counter()
    found: Counter[str] = Counter()
    first: Counter[str] = Counter()
    for result in results:
        wanted = result.expected.first
        if wanted is None:
            continue
        domain = wanted.split("/")[0]
        total[domain] += 1
        found[domain] += wanted in result.found
        first[domain] += bool(result.found) and result.found[0] == wanted
    return {domain: DomainFigures(total[domain], found[domain], first[domain]) for domain in sorted(total)}
