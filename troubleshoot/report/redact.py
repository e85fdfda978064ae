"""Report -> the same report without secrets; text -> the same text without secrets.

    >>> redact_text("wget https://bob:hunter2@example.com/x")
    'wget https://bob:[redacted:url-password]@example.com/x'

The engine passes every report through `redact` before anyone sees it, so evidence, suspects, captures, titles, fixes
and the outcome tree behind a finding are clean in every format. Lines stay lines, and `start`/`end` still point at
the match. A capture may hold a secret without the name that gives it away (`password={p}`), so what was found in a
finding's evidence is taken out of its other texts as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from troubleshoot.model import (
    Evidence,
    Finding,
    Fix,
    Hit,
    Note,
    Outcome,
    Report,
    SignatureHit,
    SourceInfo,
    Suspect,
    Undecided,
)
from troubleshoot.report.secrets import Secret, find_secrets

SHORTEST_TRACED = 6  # a shorter secret is not searched for in other texts: `root` stands in too many innocent places
OUTCOME_HITS = 32  # kept per node: enough to show why; the hits of ten thousand ranks would cost seconds to clean

Cleaner = Callable[[str], str]


def redact_text(text: str, *, emails: bool = False, ips: bool = False) -> str:
    """Return the text with each secret replaced by `[redacted:kind]`; the number of lines stays the same."""
    return _without(text, find_secrets(text, emails=emails, ips=ips))


def redact(report: Report, *, emails: bool = False, ips: bool = False) -> Report:
    """Return the report without secrets. E-mail and IP addresses go only when asked for."""
    cleaner = _Redactor(emails, ips)
    return replace(
        report,
        findings=tuple(cleaner.finding(each) for each in report.findings),
        confirmations=tuple(cleaner.finding(each) for each in report.confirmations),
        undecided=tuple(cleaner.undecided(each) for each in report.undecided),
        suspects=tuple(cleaner.suspect(each) for each in report.suspects),
        sources=tuple(cleaner.source(each) for each in report.sources),
        notes=tuple(cleaner.note(each) for each in report.notes),
        job=cleaner.anything(report.job),
    )


def anonymize(report: Report) -> Report:
    """Return the report without e-mail and IP addresses, for readers outside."""
    return redact(report, emails=True, ips=True)


class _Redactor:
    """Redacts the parts of one report. Remembers texts: ten thousand ranks say the same things."""

    def __init__(self, emails: bool, ips: bool) -> None:
        self._emails = emails
        self._ips = ips
        self._known: dict[str, list[Secret]] = {}

    def secrets(self, text: str) -> list[Secret]:
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = find_secrets(text, emails=self._emails, ips=self._ips)
        return found

    def text(self, text: str) -> str:
        return _without(text, self.secrets(text))

    def lines(self, lines: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(self.text, lines))

    def anything(self, value: Any) -> Any:
        """Return a nest of values with every text in it cleaned: the job part brings its own types."""
        if isinstance(value, str):
            return self.text(value)
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{each.name: self.anything(getattr(value, each.name)) for each in fields(value)})
        if isinstance(value, Mapping):
            return {key: self.anything(each) for key, each in value.items()}
        if isinstance(value, tuple | list):
            return type(value)(self.anything(each) for each in value)
        return value

    def finding(self, finding: Finding) -> Finding:
        traced: dict[str, str] = {}
        for each in finding.evidence:
            for secret in self.secrets(each.text):
                traced.setdefault(each.text[secret.start : secret.end], secret.kind)

        def clean(text: str) -> str:
            for value, kind in traced.items():
                if text == value or (len(value) >= SHORTEST_TRACED and value in text):
                    text = text.replace(value, f"[redacted:{kind}]")
            return self.text(text)

        return replace(
            finding,
            title=clean(finding.title),
            evidence=tuple(self.evidence(each) for each in finding.evidence),
            captures=_values(finding.captures, clean),
            explanation=clean(finding.explanation),
            fixes=tuple(_fix(each, clean) for each in finding.fixes),
            because=tuple(clean(each) for each in finding.because),
            outcome=self.outcome(finding.outcome, clean) if finding.outcome else None,
        )

    def evidence(self, evidence: Evidence) -> Evidence:
        text, start, end = self._span(evidence.text, evidence.start, evidence.end)
        evidence = replace(evidence, before=self.lines(evidence.before), after=self.lines(evidence.after))
        return replace(evidence, source=self.text(evidence.source), text=text, start=start, end=end)

    def suspect(self, suspect: Suspect) -> Suspect:
        suspect = replace(suspect, before=self.lines(suspect.before), after=self.lines(suspect.after))
        return replace(suspect, source=self.text(suspect.source), text=self.text(suspect.text))

    def source(self, source: SourceInfo) -> SourceInfo:
        return replace(source, name=self.text(source.name))

    def note(self, note: Note) -> Note:
        return replace(note, text=self.text(note.text), source=note.source and self.text(note.source))

    def undecided(self, undecided: Undecided) -> Undecided:
        return replace(
            undecided, title=self.text(undecided.title), why=self.text(undecided.why), next=self.text(undecided.next)
        )

    def outcome(self, outcome: Outcome, clean: Cleaner) -> Outcome:
        return replace(
            outcome,
            hits=tuple(SignatureHit(each.signature, self.hit(each.hit, clean)) for each in outcome.hits[:OUTCOME_HITS]),
            children=tuple(self.outcome(each, clean) for each in outcome.children),
            why=clean(outcome.why),
            doubts=tuple(clean(each) for each in outcome.doubts),
            captures=_values(outcome.captures, clean),
        )

    def hit(self, hit: Hit, clean: Cleaner) -> Hit:
        if not self.secrets(hit.record.raw) and not self.secrets(hit.record.text):
            return hit
        text, start, end = self._span(hit.record.text, hit.start, hit.end)
        record = replace(hit.record, raw=self.text(hit.record.raw), text=text)
        return replace(hit, record=record, captures=_values(hit.captures, clean), start=start, end=end)

    def _span(self, text: str, start: int, end: int) -> tuple[str, int, int]:
        secrets = self.secrets(text)
        if not secrets:
            return text, start, end
        return _without(text, secrets), _moved(start, secrets, at_end=False), _moved(end, secrets, at_end=True)


def _mask(secret: Secret) -> str:
    return f"[redacted:{secret.kind}]"


def _without(text: str, secrets: Iterable[Secret]) -> str:
    parts: list[str] = []
    done = 0
    for secret in secrets:
        breaks = text.count("\n", secret.start, secret.end)
        parts += (text[done : secret.start], _mask(secret), "\n" * breaks)
        done = secret.end
    return "".join((*parts, text[done:])) if parts else text


def _moved(column: int, secrets: Iterable[Secret], *, at_end: bool) -> int:
    """Return where a column of the text stands once secrets are masked; within one, at the mask's near end."""
    shift = 0
    for secret in secrets:
        if column <= secret.start:
            break
        width = len(_mask(secret))
        if column < secret.end:
            return secret.start + shift + (width if at_end else 0)
        shift += width - (secret.end - secret.start)
    return column + shift


def _values(captures: Mapping[str, str], clean: Cleaner) -> dict[str, str]:
    return {name: clean(value) for name, value in captures.items()}


def _fix(fix: Fix, clean: Cleaner) -> Fix:
    changes: dict[str, Any] = {
        "title": clean(fix.title),
        "do": clean(fix.do),
        "run": tuple(clean(each) for each in fix.run),
        "variants": _values(fix.variants, clean),
    }
    if fix.verify:
        changes["verify"] = replace(fix.verify, run=clean(fix.verify.run), expect=clean(fix.verify.expect))
    return replace(fix, **changes)
