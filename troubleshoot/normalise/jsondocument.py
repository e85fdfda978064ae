r"""Undoes exports that are one JSON document: CloudWatch events, Elasticsearch hits, Loki streams, OTLP, plain arrays.

In: the blocks of such a source. Out: one line per message, placed at the line and offset where its text stands in the
document. The document is never held whole: records are decoded one after another from a window that moves along.

    {"events": [{"timestamp": 1796069704123, "message": "boom"}]}  ->  "2026-11-30T20:15:04.123Z boom"

The window is read as Latin-1, in which a character is a byte, so the decoder's positions are byte offsets; its strings
are turned back into bytes and read as UTF-8. Source: knowledge/log-formats.md, sections 12, 14 and 15.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from troubleshoot import late, limits
from troubleshoot.model import Block, LineMap
from troubleshoot.normalise.jsonlines import render, starts_of
from troubleshoot.normalise.jsonrecords import show_record

RECORD_BYTES = 16 * limits.LINE_BYTES  # a longer record is given up, and the rest of the document scanned as it is

# The array whose elements are the records, or "values" of [time, line] pairs.
KEY_BYTES = 256  # at the end of a window that may hold the beginning of the next array
_ARRAY = late.compile(r'"(events|hits|logRecords|values|results|entries|logs|records|items)"\s*:\s*\[\s*(?=[{\[])')
_HEAD = late.compile(
    r'\s*(?:\[\s*\{|\{[^\x00]*?"(?:events|hits|logRecords|values|entries)"\s*:\s*\[\s*[{\[]'
    r'|\{\s*"results"\s*:\s*\[\s*\[)'
)
_BETWEEN = late.compile(r"\s*,?\s*")
_STREAM = late.compile(r'"stream"\s*:\s*(?=\{)')
_DECODER = json.JSONDecoder()


def is_json_document(head: bytes) -> bool:
    """Tell whether a source that begins so is one JSON document with log records in it."""
    text = head.decode("latin-1")
    m = _HEAD.match(text)
    if m is None or re.search(r'"(?:apiVersion|kind)"\s*:', text):
        return False
    record = _decode(text, m.end() - 1)
    if record is None:
        return '"message"' in text or '"log"' in text  # the first record is longer than the look
    value = record[0]
    return isinstance(value, list) or (isinstance(value, dict) and _shows(value))


def name_of_document(head: bytes) -> str:
    """Return what exported the document, as far as its keys tell."""
    for name, key in (("otlp-json", b'"logRecords"'), ("loki-json", b'"values"'), ("elasticsearch-json", b'"hits"')):
        if key in head:
            return name
    return "cloudwatch-json" if b'"events"' in head else "json"


def _shows(record: dict[str, Any]) -> bool:
    inner = record.get("values") or record.get("hits")
    return isinstance(inner, list) or show_record(_utf8(record)) is not None


@dataclass(slots=True)
class _Window:
    """The part of the document that is being looked at."""

    text: str = ""
    offset: int = 0
    line: int = 1

    def drop(self, count: int) -> None:
        self.line += self.text.count("\n", 0, count)
        self.offset += count
        self.text = self.text[count:]


def show_document(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the document's messages as blocks. What cannot be read as records is yielded as it stands."""
    window = _Window()
    context: dict[str, Any] = {}
    inside = False
    for block in blocks:
        window.text += bytes(block.data).decode("latin-1")
        out = _Out()
        at = 0
        if window.offset == 0 and not inside and (m := re.match(r"\s*\[\s*(?=\{)", window.text)):
            at, inside = m.end(), True
        while True:
            if not inside:
                m = _ARRAY.search(window.text, at)
                if m is None:
                    kept = _keep_from(window.text, at)
                    out.add_raw(window, at, kept)
                    at = kept
                    break
                out.add_raw(window, at, m.start())
                context = _context(window.text[at : m.start()]) if m[1] == "values" else {}
                at, inside = m.end(), True
            at = _BETWEEN.match(window.text, at).end()  # type: ignore[union-attr] # it matches the empty text, too
            if at == len(window.text):
                break
            if window.text[at] not in "{[":
                inside = False
                continue
            found = _decode(window.text, at)
            if found is None:
                break
            out.add(window, at, found[1], found[0], context)
            at = found[1]
        given_up = inside and len(window.text) - at > RECORD_BYTES
        if given_up or block.last:
            out.add_raw(window, at, len(window.text))
            at, inside = len(window.text), False
        window.drop(at)
        yield out.block(last=block.last)


def _keep_from(text: str, at: int) -> int:
    """Return where the part begins that must wait for the next window: a key may be cut, and so may a line."""
    end = max(at, len(text) - KEY_BYTES)
    line = text.rfind("\n", at, end) + 1
    return line or (at if len(text) - at <= limits.LINE_BYTES else end)


class _Out:
    """Lines of one block to be yielded, with their places."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.numbers: list[int] = []
        self.offsets: list[int] = []
        self.continued: list[int] = []
        self._counted = (0, 0)

    def add(self, window: _Window, at: int, end: int, value: Any, context: dict[str, Any]) -> None:
        raw = window.text[at:end]
        record = _utf8(value)
        if isinstance(record, list) and len(record) >= 2 and isinstance(record[1], str):
            record = {"timestamp": record[0], "line": record[1], "labels": _utf8(context)}
        if isinstance(record, list) and all(isinstance(each, dict) and "field" in each for each in record):
            record = _insight(record)
        if not isinstance(record, dict):
            self._put(window, at, " ".join(raw.split()).encode("latin-1"))
            return
        nested = record.get("values")
        if isinstance(nested, list) and isinstance(record.get("stream"), dict):
            for pair in nested:
                if isinstance(pair, list) and len(pair) >= 2:
                    self._show(window, at, raw, {"timestamp": pair[0], "line": pair[1], "labels": record["stream"]})
            return
        self._show(window, at, raw, record)

    def _show(self, window: _Window, at: int, raw: str, record: dict[str, Any]) -> None:
        shown = show_record(record)
        if shown is None:
            self._put(window, at, " ".join(raw.split()).encode("latin-1"))
            return
        data = raw.encode("latin-1")
        key = re.search(rb'"' + re.escape(shown.key.encode()) + rb'"(?:\s*,\s*"value")?\s*:\s*', data)
        first = key.start() if key else 0
        for i, (line, start) in enumerate(zip(render(shown), starts_of(data, shown), strict=True)):
            if i:
                self.continued.append(len(self.lines))
            self._put(window, at + (start or first), line)

    def add_raw(self, window: _Window, at: int, end: int) -> None:
        """Add what is no record, line by line, as it stands: nothing is lost because it is not understood."""
        for line in window.text[at:end].split("\n"):
            if line.strip(" \t\r{}[],:"):
                self._put(window, at, line.encode("latin-1"))
            at += len(line) + 1

    def _put(self, window: _Window, at: int, line: bytes) -> None:
        counted, number = self._counted if self._counted[0] <= at and self.lines else (0, window.line)
        number += window.text.count("\n", counted, at)
        self._counted = (at, number)
        self.lines.append(line)
        self.numbers.append(number)
        self.offsets.append(window.offset + at)

    def block(self, *, last: bool) -> Block:
        data = b"".join(line + b"\n" for line in self.lines)
        first = (self.numbers[0], self.offsets[0]) if self.numbers else (1, 0)
        return Block(data, *first, LineMap(self.numbers, self.offsets, self.continued), last=last)


def _insight(fields: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a row of CloudWatch Logs Insights, which has pairs of field and value, as a record. Its times are UTC."""
    record = {str(each["field"]): each.get("value") for each in fields}
    time = record.get("@timestamp")
    return record | ({"@timestamp": f"{time.replace(' ', 'T', 1)}Z"} if isinstance(time, str) and " " in time else {})


def _context(text: str) -> dict[str, Any]:
    """Return the labels of the Loki stream whose values follow."""
    found = [m.end() for m in _STREAM.finditer(text)]
    decoded = _decode(text, found[-1]) if found else None
    return decoded[0] if decoded and isinstance(decoded[0], dict) else {}


def _decode(text: str, at: int) -> tuple[Any, int] | None:
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None


def _utf8(value: Any) -> Any:
    """Return the value with its strings read as UTF-8 instead of Latin-1."""
    if isinstance(value, str):
        try:
            return value.encode("latin-1").decode("utf-8", "replace")
        except UnicodeEncodeError:
            return value  # has characters that were written as \u escapes
    if isinstance(value, list):
        return [_utf8(each) for each in value]
    if isinstance(value, dict):
        return {_utf8(k): _utf8(v) for k, v in value.items()}
    return value
