"""Report -> text for a reader or a program. One module per format; nothing here looks at a log again.

`RENDERERS[format](report)` gives the whole document. A format is one line in the table; its module loads when it is
first asked for, so that a scan for the terminal pays for no other.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from troubleshoot.language import speaking
from troubleshoot.model import Report

Renderer = Callable[[Report], str]


@dataclass(frozen=True, slots=True)
class Format:
    """Where a format's renderer lives, and what to call its output. Calling it renders."""

    module: str
    function: str
    media_type: str

    def __call__(self, report: Report) -> str:
        module = importlib.import_module(f"troubleshoot.report.{self.module}")
        with speaking(report.language):
            rendered: str = getattr(module, self.function)(report)
        return rendered


FORMATS: dict[str, Format] = {
    "text": Format("text", "render_text", "text/plain; charset=utf-8"),
    "json": Format("json", "render_json", "application/json"),
    "ndjson": Format("ndjson", "render_ndjson", "application/x-ndjson"),
    "markdown": Format("markdown", "render_markdown", "text/markdown; charset=utf-8"),
    "html": Format("html", "render_html", "text/html; charset=utf-8"),
    "sarif": Format("sarif", "render_sarif", "application/sarif+json"),
    "junit": Format("junit", "render_junit", "application/xml"),
    "slack": Format("slack", "render_slack", "application/json"),
    "github": Format("github", "render_github", "text/plain; charset=utf-8"),
}

RENDERERS: dict[str, Renderer] = dict(FORMATS)


def media_type_of(format: str) -> str:
    """Return the media type of a format's output."""
    return FORMATS[format].media_type
