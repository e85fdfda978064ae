r"""Undoes `journalctl -o export`: entries of `KEY=VALUE` lines with a blank line between them.

In: the blocks of such a source. Out: one line per line of each entry's message, as syslog would have written it, placed
where it stands. A field that is no plain text has its name alone on a line, then its length in eight bytes:

    __REALTIME_TIMESTAMP=1796069704123456
    _HOSTNAME=gpu-17
    MESSAGE=NVRM: Xid 79                      ->   2026-11-30T20:15:04.123456Z gpu-17 kernel: NVRM: Xid 79

Source: systemd, "Journal Export Formats"; knowledge/log-formats.md, section 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from troubleshoot import limits
from troubleshoot.model import Block, LineMap
from troubleshoot.normalise.jsonlines import render
from troubleshoot.normalise.jsonrecords import show_record

ENTRY_BYTES = 4 * limits.LINE_BYTES  # a longer entry is shown as it stands
_SHOWN = frozenset({
    b"__REALTIME_TIMESTAMP", b"_HOSTNAME", b"SYSLOG_IDENTIFIER", b"_COMM", b"_PID", b"SYSLOG_PID", b"PRIORITY",
    b"MESSAGE",
})  # fmt: skip


def is_journal(head: bytes) -> bool:
    """Tell whether a source begins as the export of a journal."""
    return (
        head.startswith((b"__CURSOR=", b"__REALTIME_TIMESTAMP=")) and b"\n__REALTIME_TIMESTAMP=" in b"\n" + head[:4096]
    )


@dataclass(slots=True)
class _Entry:
    """The fields of one entry that are shown, and where its message begins."""

    fields: dict[str, str] = field(default_factory=dict)
    line: int = 0
    at: int = 0


def show_journal(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the messages as blocks. What is no entry stays as it stands."""
    carry, line, offset = b"", 1, 0
    for block in blocks:
        data = carry + bytes(block.data)
        if not carry:
            line, offset = block.first_line, block.offset
        rows: list[bytes] = []
        lines: list[int] = []
        offsets: list[int] = []
        continued: list[int] = []
        at = 0
        while at < len(data):
            found = _entry_at(data, at, ended=block.last)
            if found is None and not block.last and len(data) - at <= ENTRY_BYTES:
                break
            entry, end = found if found is not None else (_Entry(), len(data) if block.last else data.rfind(b"\n") + 1)
            shown = show_record(entry.fields) if "MESSAGE" in entry.fields else None
            if shown is not None:
                begin = line + data.count(b"\n", 0, entry.at)
                continued += range(len(rows) + 1, len(rows) + len(shown.lines))
                place = entry.at
                for i, row in enumerate(render(shown)):
                    rows.append(row)
                    lines.append(begin + i)
                    offsets.append(offset + place)
                    place = data.find(b"\n", place) + 1 or place
            else:
                for text in data[at:end].split(b"\n"):
                    if text.strip():
                        rows.append(text)
                        lines.append(line + data.count(b"\n", 0, at))
                        offsets.append(offset + at)
                    at += len(text) + 1
            at = end
        carry = data[at:]
        first = (lines[0], offsets[0]) if rows else (line, offset)
        line, offset = line + data.count(b"\n", 0, at), offset + at
        shown_data = b"".join(row + b"\n" for row in rows)
        yield Block(shown_data, *first, LineMap(lines, offsets, continued), last=block.last)


def _entry_at(data: bytes, at: int, *, ended: bool) -> tuple[_Entry, int] | None:
    """Return the entry at `at` and where it ends; None when its end is not there, or it is none."""
    entry = _Entry()
    while True:
        end = data.find(b"\n", at)
        if end < 0:
            if not ended:
                return None
            end = len(data)
        if end == at:
            return entry, min(end + 1, len(data))
        name, equals, value = data[at:end].partition(b"=")
        start = at + len(name) + 1
        if not equals:
            size = int.from_bytes(data[end + 1 : end + 9], "little")
            start, end = end + 9, end + 9 + size
            if size > ENTRY_BYTES:
                return _Entry(), start - 8
            if end > len(data):
                return None if not ended else (_Entry(), len(data))
            value = data[start:end]
        if not name.replace(b"_", b"").isalnum():
            return _Entry(), min(end + 1, len(data))
        if name in _SHOWN and name.decode() not in entry.fields:
            entry.fields[name.decode()] = value.decode("utf-8", "replace")
            if name == b"MESSAGE":
                entry.at = start if not equals else at
        at = end + 1
        if at >= len(data):
            return (entry, len(data)) if ended else None
