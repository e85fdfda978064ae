"""Reads a source through, as a scan does, and shows each line with its place in the source as given."""

from __future__ import annotations

from troubleshoot import limits
from troubleshoot.ingest import OpenSource, open_text

Row = tuple[int, int, str]


def rows_of(source: OpenSource, size: int = limits.BLOCK_BYTES) -> list[Row]:
    """Return (line, offset, text) of every line of every block."""
    rows: list[Row] = []
    for block in source.blocks(size):
        data = bytes(block.data)
        lines = data.split(b"\n")
        offset = block.offset
        for i, line in enumerate(lines[:-1] if not lines[-1] else lines):
            text = line.decode("utf-8", "replace")
            if block.line_map is None:
                rows.append((block.first_line + i, offset, text))
            else:
                rows.append((block.line_map.lines[i], block.line_map.offsets[i], text))
            offset += len(line) + 1
    return rows


def rows(data: bytes | str, size: int = limits.BLOCK_BYTES) -> list[Row]:
    return rows_of(open_text(data), size)


def texts(data: bytes | str) -> list[str]:
    return [text for _, _, text in rows(data)]


def peeled(data: bytes | str) -> list[str]:
    """Return the text of each line without its wrappers."""
    source = open_text(data)
    found = rows_of(source)
    return [source.normaliser.peel(text, line).text for line, _, text in found]
