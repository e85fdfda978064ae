"""A rule together with the places of its file: what a lint speaks of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from troubleshoot import limits
from troubleshoot.errors import Problem
from troubleshoot.model import Place, Rule, Status
from troubleshoot.rulepack.positions import Document, read_document
from troubleshoot.rulepack.positions import Path as Where


@dataclass(frozen=True, slots=True)
class Subject:
    rule: Rule
    document: Document

    @property
    def severity(self) -> str:
        """How bad a part is that is not there yet: a draft may still want some."""
        return "warning" if self.rule.status is Status.DRAFT else "error"

    @property
    def is_imported(self) -> bool:
        """Say whether the rule comes from a format that has no near-misses, fixes with a check, or sources."""
        return self.rule.status is Status.IMPORTED

    def top_keys(self) -> list[str]:
        """The keys of the file in the order in which they stand there."""
        return list(self.document.data) if isinstance(self.document.data, dict) else []

    def problem(
        self, code: str, text: str, where: Where, help: str = "", severity: str = "error", *, key: bool = False
    ) -> Problem:
        """Build a problem at a path of the file; with `key` at its key rather than its value."""
        return self.problem_at(code, text, self.document.place(where, key=key), help, severity)

    def problem_at(self, code: str, text: str, place: Place | None, help: str = "", severity: str = "error") -> Problem:
        return self.document.problem(code, text, place or Place(self.rule.path), help, severity)


def read_subject(rule: Rule) -> Subject:
    """Return the rule with its file's places; where the file cannot be read, with its path alone."""
    try:
        data = Path(rule.path).read_bytes()[: limits.RULE_FILE_BYTES]
        return Subject(rule, read_document(data.decode("utf-8-sig"), rule.path))
    except (OSError, UnicodeDecodeError):
        return Subject(rule, Document(rule.path, []))
