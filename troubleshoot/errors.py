"""The exception tree and `Problem`, the one shape in which anything refused is told.

An error says whose fault it is. Codes are permanent: one is never given a second meaning. A code is listed in `CODES`
with its title; the place, the reason and the help come with each problem.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import ClassVar

from troubleshoot.model import Place

CODES: dict[str, str] = {
    # rule files: what keeps a rule from loading
    "R001": "not valid YAML",
    "R002": "unknown key",
    "R003": "missing key",
    "R004": "wrong type or value",
    "R005": "duplicate key",
    "R006": "unknown signature in a condition",
    "R007": "no condition over several signatures",
    "R008": "pattern does not compile",
    "R009": "wrong hole in a text signature",
    "R010": "wrong expression in where",
    "R011": "wrong condition",
    "R012": "unknown table or column",
    "R013": "file cannot be read",
    "R014": "pattern has no literal to search for",
    "R015": "missing without given",
    "R016": "bad rule id",
    "R017": "unknown shared signature",
    "R018": "unknown capture",
    "R019": "name that a capture cannot have",
    "R020": "folded log text",
    # packs beside each other, and overrides
    "P001": "pack needs a newer engine",
    "P002": "two packs of one name",
    "P003": "rule of one pack stands in for that of another",
    "P004": "override means no rule",
    "P005": "no rules in a pack",
    "P006": "drafts of a pack are left out",
    # lints: the rule loads, and would disappoint
    "L001": "keys out of order",
    "L002": "signature never used",
    "L003": "no example that matches",
    "L004": "no near-miss",
    "L005": "example does not come out as stated",
    "L006": "example fires another rule",
    "L007": "text names an unknown capture",
    "L008": "reference to an unknown rule or tag",
    "L009": "causes go round in a circle",
    "L010": "same signature as another rule",
    "L011": "no reference",
    "L012": "no fix",
    "L013": "signature without an example",
    "L014": "unknown platform in a variant",
    "L015": "pattern can run long",
    "L016": "fix without verification",
    "L017": "pattern too wide to be searched fast",
    "L018": "placeholder left to fill in",
    # translations of rules: English stands in for what is wrong
    "T001": "translation of an older text",
    "T002": "translation of no rule",
    "T003": "translation with another number of fixes",
    "T004": "translation names an unknown capture",
    "T005": "translation has lost a name or command",
    "T006": "translation of what is not there",
    "T007": "file name holds no language tag",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: what, where, the excerpt, why, and what to do next.

    Rendered as `error[R014]: pattern has no literal ...` with place, excerpt and help below (see `str`). `caret` is the
    0-based character of the excerpt that is meant, or negative where none is.
    """

    code: str
    text: str
    place: Place | None = None
    excerpt: str = ""
    help: str = ""
    severity: str = "error"  # or "warning"
    caret: int = -1

    def __str__(self) -> str:
        lines = [f"{self.severity}[{self.code}]: {self.text}"]
        if self.place is not None:
            lines.append(f"  {self.place}" + (f"   {self.excerpt}" if self.excerpt else ""))
            if 0 <= self.caret <= len(self.excerpt):
                lines.append(" " * _cells(f"  {self.place}   {self.excerpt[: self.caret]}") + "^")
        elif self.excerpt:
            lines.append(f"  {self.excerpt}")
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(lines)


def _cells(text: str) -> int:
    """Return how many cells of a terminal the text takes: a Chinese character two."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF") for char in text)


class TroubleshootError(Exception):
    """Whatever this package raises on purpose."""

    exit_code: ClassVar[int] = 2

    def __init__(self, text: str, *, help: str = "", problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.help = help
        self.problems = problems


class RuleError(TroubleshootError):
    """A rule author's fault: one error for all problems of all files."""


NOTHING_READ = "nothing could be read"


class SourceError(TroubleshootError):
    """The input's fault: it cannot be read at all."""


class UsageError(TroubleshootError):
    """The caller's fault: a wrong argument or request."""


class LimitError(TroubleshootError):
    """A budget was spent: size, time, depth."""


class StoreFullError(LimitError):
    """The service keeps as much as it may."""


class InternalError(TroubleshootError):
    """Ours."""
