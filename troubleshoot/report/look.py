"""How a text may look where it goes: with colour or not, how wide, and whether its encoding knows more than ASCII.

Colour never carries a meaning alone: every word that is painted also stands there.
"""

from __future__ import annotations

from dataclasses import dataclass

from troubleshoot.model import Severity

SGR = {
    "bold": "1",
    "dim": "2",
    "underline": "4",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
SEVERITY_STYLE = {
    Severity.CRITICAL: ("bold", "magenta"),
    Severity.HIGH: ("bold", "red"),
    Severity.MEDIUM: ("bold", "yellow"),
    Severity.LOW: ("bold", "blue"),
}
MATCH_STYLE = ("bold", "yellow")

MAX_WIDTH = 100
MIN_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Look:
    """What the place of output can show. The default suits a file."""

    colour: bool = False
    width: int = MAX_WIDTH
    unicode: bool = True

    def paint(self, text: str, *styles: str) -> str:
        """Return the text in these styles if colour is on; the text must be safe to print already."""
        if not self.colour or not text or not styles:
            return text
        codes = ";".join(SGR[style] for style in styles)
        return f"\x1b[{codes}m{text}\x1b[0m"

    @property
    def ellipsis(self) -> str:
        return "…" if self.unicode else "..."

    @property
    def dot(self) -> str:
        return " · " if self.unicode else " - "


PLAIN = Look()
