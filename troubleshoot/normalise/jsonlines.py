r"""Undoes JSON lines: one record a line, as Docker, journald, Fluent Bit, Vector and many exporters write them.

In: a `Text` of JSON lines. Out: the messages as lines of their own, with the prefixes of `jsonrecords`. Docker's form
is common and large, so a block of it without odd escapes is turned by a handful of calls over the whole block; anything
else goes line by line through the JSON parser. What does not parse stays as it is.

    '{"log":"a\\nb\\n","stream":"stdout","time":"T"}'  ->  "T stdout F a", "T stdout F b"

The second line's offset is that of the `b` within the record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import chain, repeat

from troubleshoot import late
from troubleshoot.model import LineMap
from troubleshoot.normalise.jsonrecords import Shown, is_collected, show_record
from troubleshoot.normalise.origins import Text

JSON_SHARE = 0.9  # of a sample's lines must be JSON objects

_DOCKER = late.compile(
    rb'\{"log":"([^"\\\n]*(?:\\[^n\n][^"\\\n]*)*)\\n","stream":"(stdout|stderr)"(?:,"attrs":\{[^{}\n]*\})?,'
    rb'"time":"(\d{4}-\d\d-\d\dT[\d:.]{8,18}Z)"\}\n'
)
_BLANK, _FULL, _END = repeat(b" "), repeat(b" F "), repeat(b"\n")
_UNICODE = late.compile(rb"(?:\\u[0-9a-fA-F]{4})+")
_ESCAPE = late.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)


def is_json_lines(lines: Sequence[bytes]) -> bool:
    """Tell whether a sample's lines are JSON objects that hold messages."""
    rows = [line for line in lines if line.strip()]
    if not rows or not rows[0].lstrip().startswith(b"{"):
        return False
    records = [record for row in rows if isinstance(record := parse_line(row), dict)]
    shown = sum(show_record(record) is not None for record in records)
    return len(records) >= JSON_SHARE * len(rows) and shown >= 0.5 * len(records)


def show_json_lines(text: Text, last: bool) -> Text:
    """Return the messages of a text of JSON lines."""
    quick = _docker_at_once(text.data)
    if quick is not None:
        return text.with_data(quick)
    lines = text.data.split(b"\n")
    ends_whole = not lines[-1]
    out: list[bytes] = []
    numbers: list[int] = []
    offsets: list[int] = []
    continued: list[int] = []
    old = text.map
    for i, line in enumerate(lines[:-1] if ends_whole else lines):
        shown, starts = _show_line(line)
        continued.extend(range(len(out) + 1, len(out) + len(shown)))
        out.extend(shown)
        numbers.extend([old.lines[i]] * len(shown))
        offsets.extend(old.offsets[i] + (start if text.exact else 0) for start in starts)
    places = LineMap(numbers, offsets, continued)
    return Text(b"\n".join(out) + (b"\n" if ends_whole else b""), places, exact=False)


def _docker_at_once(data: bytes) -> bytes | None:
    """Return a whole block of Docker's lines shown, or None where some line needs a closer look."""
    if not data.startswith(b'{"log":"') or b"\\\\" in data:
        return None
    parts = _DOCKER.split(data)
    if any(parts[0::4]):
        return None  # not all Docker's, or with records that are partial or of several lines
    out = b"".join(chain.from_iterable(zip(parts[3::4], _BLANK, parts[2::4], _FULL, parts[1::4], _END, strict=False)))
    if b"\\" not in out:
        return out
    out = out.replace(b'\\"', b'"').replace(b"\\t", b"\t").replace(b"\\r", b"\r").replace(b"\\/", b"/")
    return _UNICODE.sub(_unicode_text, out)


def _unicode_text(m: re.Match[bytes]) -> bytes:
    return json.loads(b'"' + m[0] + b'"').encode("utf-8", "replace")  # type: ignore[no-any-return] # a JSON string


def _show_line(line: bytes) -> tuple[list[bytes], list[int]]:
    """Return the lines that a JSON line holds, and where in it each begins."""
    record = parse_line(line) if line.lstrip()[:1] == b"{" else None
    shown = show_record(record) if isinstance(record, dict) else None
    if shown is None or not isinstance(record, dict) or not (is_collected(record) or b"\\" in line):
        return [line], [0]
    return render(shown), starts_of(line, shown)


def render(shown: Shown) -> list[bytes]:
    """Return a record's lines as bytes, each with its prefix."""
    prefix = shown.prefix.replace(" F ", " P ", 1) if shown.partial and len(shown.lines) == 1 else shown.prefix
    texts = [prefix + line for line in shown.lines]
    if shown.rest:
        texts.append(prefix + shown.rest)
    return [text.encode("utf-8", "replace").replace(b"\n", b" ") for text in texts]


def starts_of(line: bytes, shown: Shown) -> list[int]:
    """Return where in the JSON text each of the shown lines begins; the first one at the record's own start."""
    count = len(shown.lines) + bool(shown.rest)
    if count == 1:
        return [0]
    literal = re.search(rb'"' + re.escape(shown.key.encode()) + rb'"(?:\s*,\s*"value")?\s*:\s*"', line)
    if literal is None:
        return [0] * count
    starts = [0]
    for m in _ESCAPE.finditer(line, literal.end()):
        if len(starts) == len(shown.lines):
            break
        if m[0] == b"\\n":
            starts.append(m.end())
    return [*starts, *[0] * (count - len(starts))]


def parse_line(line: bytes) -> object:
    """Return the JSON value of a line, or None."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
