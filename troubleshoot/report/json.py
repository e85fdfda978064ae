"""Report -> the JSON document of the wire format: two-space indent, one final newline, readable by eye and diff."""

from __future__ import annotations

import json
from typing import Any

from troubleshoot import late
from troubleshoot.model import Report
from troubleshoot.report.wire import wire_report

# Written as themselves by json.dumps, and not safe to show: DEL, C1 controls, bidi controls, line separators, tags.
# They can only stand inside a JSON string, where the escape means the same.
UNSHOWN = late.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def render_json(report: Report) -> str:
    """Return the report as a JSON document that ends in a newline."""
    return dump(wire_report(report), indent=2) + "\n"


def dump(value: Any, indent: int | None = None) -> str:
    """Return JSON in which no character can steer a terminal and none is a lone surrogate."""
    separators = (",", ": ") if indent else (",", ":")
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=False, allow_nan=False)
    return UNSHOWN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
