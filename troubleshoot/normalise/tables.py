r"""Undoes exports that are a table: CSV and TSV of CloudWatch, Logs Insights, Grafana, Kibana, Datadog, Splunk.

In: the blocks of such a source. Out: one line per line of each message, placed where it stands, with time, stream, pod
and level in front as the wrappers know them. A quoted cell may hold line breaks and doubled quotes:

    @timestamp,@message                                    T a "b"
    2026-11-30 20:15:04.123,"a ""b""\n  c"          ->     T   c

A table is known by its first line: it names a column of messages and one of times. What other columns say in words is
put behind the message. Source: knowledge/log-formats.md, sections 12 and 14.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from troubleshoot import late, limits
from troubleshoot.model import Block, LineMap
from troubleshoot.normalise.jsonrecords import prefix_of
from troubleshoot.normalise.timestamps import stamp_from_number

RECORD_BYTES = 2 * limits.LINE_BYTES  # a quote that is not closed within this is no cell's
HEADER_BYTES = 4096

_MESSAGE = ("@message", "message", "line", "_raw", "log", "msg", "content", "body", "textpayload", "log message")
_TIME = ("@timestamp", "timestamp", "time", "_time", "date", "datetime", "ts", "receivetimestamp", "log time")
_SEPARATOR = late.compile(rb"\s*sep=(.)\r?\n")
_BREAK = late.compile(rb"\n")
_FIELDS = {  # columns of collectors, under the names that records of JSON have
    "@logstream": "@logStream", "logstreamname": "logStreamName", "log stream name": "logStreamName",
    "stream": "stream", "level": "level", "status": "level", "severity": "level", "loglevel": "level",
    "detected_level": "level", "host": "host", "hostname": "host", "host.name": "host", "host.hostname": "host",
    "kubernetes.node.name": "host", "kubernetes.host": "host", "node": "host", "pod": "pod", "pod_name": "pod",
    "kubernetes.pod.name": "pod", "kubernetes.pod_name": "pod", "container": "container",
    "kubernetes.container.name": "container", "kubernetes.container_name": "container", "container_name": "container",
    "labels": "labels",
}  # fmt: skip
_DULL = frozenset({"@ptr", "@log", "@ingestiontime", "ingestiontime", "eventid", "id", "_id", "tsns", "service"})
_ISO = late.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:[.,]\d{1,9})?) ?(Z|[+-]\d\d:?\d\d)?")
_KIBANA = late.compile(r"[A-Z][a-z]{2} \d{1,2}, \d{4} @ \d\d:\d\d:\d\d\.\d{3}")
_NUMBER = late.compile(r"\d{10,19}(?:\.\d{1,9})?")


@dataclass(frozen=True, slots=True)
class Table:
    """A table's form: its separator, the names of its columns, and where these and its first record begin."""

    separator: bytes
    names: tuple[str, ...]
    header: int
    begin: int
    message: int
    time: int


def table_of(head: bytes) -> Table | None:
    """Return the form of the table that a source begins with, or None."""
    begin = 0
    if m := _SEPARATOR.match(head):
        begin = m.end()
    end = head.find(b"\n", begin, begin + HEADER_BYTES)
    if end < 0:
        return None
    line = head[begin:end].removesuffix(b"\r")
    for separator in (m[1],) if m else (b",", b"\t", b";"):
        cells = _cells(line + b"\n", 0, separator) if separator in line else None
        if cells is None:
            continue
        names = tuple(each.text.decode("utf-8", "replace").strip().lower() for each in cells[0])
        message = next((names.index(each) for each in _MESSAGE if each in names), None)
        time = next((names.index(each) for each in _TIME if each in names), None)
        if message is not None and time is not None:
            return Table(separator, names, begin, end + 1, message, time)
    return None


@dataclass(frozen=True, slots=True)
class _Cell:
    """A cell's place in the data, without its quotes, and its text with doubled quotes undone."""

    start: int
    end: int
    text: bytes


def _cells(data: bytes, at: int, separator: bytes) -> tuple[list[_Cell], int] | None:
    """Return the cells of the record at `at` and where the next one begins; None when its end is not there."""
    cells: list[_Cell] = []
    while True:
        if data[at : at + 1] == b'"':
            start = end = at + 1
            while (end := data.find(b'"', end)) >= 0 and data[end + 1 : end + 2] == b'"':
                end += 2
            if end < 0:
                return None
            cells.append(_Cell(start, end, data[start:end].replace(b'""', b'"')))
            at = end + 1
        else:
            stop = data.find(b"\n", at)
            if stop < 0:
                return None
            end = data.find(separator, at, stop)
            end = end if end >= 0 else stop
            cells.append(_Cell(at, end, data[at:end].removesuffix(b"\r")))
            at = end
        if data[at : at + 1] == separator:
            at += 1
            continue
        end = data.find(b"\n", at)
        return None if end < 0 else (cells, end + 1)


def show_table(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the table's messages as blocks. What is no record of it stays as it stands."""
    table: Table | None = None
    carry, line, offset = b"", 1, 0
    starts: list[int] = []  # of the lines, in a wide encoding
    for block in blocks:
        data = carry + bytes(block.data)
        if not carry:
            line, offset, starts = block.first_line, block.offset, []
        if block.line_map is not None:
            starts += block.line_map.offsets
        if block.last and data and not data.endswith(b"\n"):
            data += b"\n"
        out = _Out(line, offset, data, starts)
        at = 0
        if table is None:
            table = table_of(data)
            if table is None:
                yield block
                yield from blocks
                return
            out.add(table.header, data[table.header : table.begin].rstrip(b"\r\n"))  # tells a reader what he sees
            at = table.begin
        while at < len(data):
            found = _cells(data, at, table.separator)
            if found is not None and len(found[0]) == len(table.names) and found[1] - at <= RECORD_BYTES:
                _show(table, found[0], data, out)
                at = found[1]
            elif found is None and not block.last and len(data) - at <= RECORD_BYTES:
                break
            else:  # no record of this table: its line stands as it is
                end = data.find(b"\n", at)
                if end < 0:
                    break
                out.add(at, data[at:end])
                at = end + 1
        carry = data[at:]
        line, offset, starts = line + data.count(b"\n", 0, at), offset + at, starts[data.count(b"\n", 0, at) :]
        yield out.block(last=block.last)


class _Out:
    """Lines of one block to be yielded, with their places."""

    def __init__(self, line: int, offset: int, data: bytes, starts: Sequence[int]) -> None:
        self._first, self._line, self._offset, self._data = line, line, offset, data
        self._starts = starts
        self._counted = 0
        self.rows: list[bytes] = []
        self.lines: list[int] = []
        self.offsets: list[int] = []
        self.continued: list[int] = []

    def add(self, at: int, row: bytes, *, goes_on: bool = False) -> None:
        self._line += self._data.count(b"\n", self._counted, at)
        self._counted = max(self._counted, at)
        if goes_on:
            self.continued.append(len(self.rows))
        self.rows.append(row)
        self.lines.append(self._line)
        index = self._line - self._first
        self.offsets.append(self._starts[index] if index < len(self._starts) else self._offset + at)

    def block(self, *, last: bool) -> Block:
        first = (self.lines[0], self.offsets[0]) if self.rows else (self._line, self._offset)
        data = b"".join(row + b"\n" for row in self.rows)
        return Block(data, *first, LineMap(self.lines, self.offsets, self.continued), last=last)


def _show(table: Table, cells: Sequence[_Cell], data: bytes, out: _Out) -> None:
    """Add the lines of one record's message, and what its other columns say in words."""
    texts = {name: each.text.decode("utf-8", "replace") for name, each in zip(table.names, cells, strict=True)}
    cell = cells[table.message]
    prefix = _prefix(texts, texts[table.names[table.time]]).encode("utf-8", "replace")
    rows = cell.text.removesuffix(b"\n").split(b"\n")
    starts = [0, *(m.end() for m in _BREAK.finditer(data, cell.start, cell.end))]
    for i, row in enumerate(rows):
        out.add(starts[i] if i else cell.start, prefix + row.removesuffix(b"\r"), goes_on=i > 0)
    known = {table.names[table.message], table.names[table.time], *_FIELDS, *_DULL}
    words = {k: v for k, v in texts.items() if k not in known and " " in v.strip()}
    if words:
        out.add(cell.start, prefix + json.dumps(words, ensure_ascii=False).encode("utf-8", "replace"), goes_on=True)


def _prefix(texts: Mapping[str, str], time: str) -> str:
    fields = {_FIELDS[name]: text for name, text in texts.items() if name in _FIELDS and text}
    labels = _labels(fields.pop("labels", ""))
    level = fields.pop("level", None)
    own = {"pod": fields.get("pod"), "container": fields.get("container"), "node": fields.get("host"), "level": level}
    record: dict[str, Any] = {
        "@logStream": fields.get("@logStream") or fields.get("logStreamName"),
        "stream": fields.get("stream"),
        "labels": labels | {key: value for key, value in own.items() if value},
    }
    return prefix_of(_stamp(time.strip(), is_utc="@timestamp" in texts), record)


def _labels(text: str) -> dict[str, str]:
    """Return the labels of a cell as Grafana writes it."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _stamp(text: str, *, is_utc: bool) -> str:
    """Return a cell's time as the wrappers know it, or "". CloudWatch writes UTC without saying so."""
    if m := _ISO.fullmatch(text):
        zone = m[3] or ("Z" if is_utc else "")
        return f"{m[1]}{'T' if zone else ' '}{m[2].replace(',', '.')}{zone}"
    if _KIBANA.fullmatch(text):
        return text
    stamp = stamp_from_number(text) if _NUMBER.fullmatch(text) else None
    return stamp.time.strftime("%Y-%m-%dT%H:%M:%S.%f") + "Z" if stamp is not None else ""
