"""Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are Markdown (see `cell`)."""
    lines = [_row(head), _row(["---"] * len(head)), *map(_row, rows)]
    return "\n".join(lines)


def cell(text: str) -> str:
    """Return text for a cell: on one line, without what would end it."""
    return " ".join(str(text).split()).replace("|", "\\|")


def code_cell(text: str) -> str:
    return f"`{cell(text)}`"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
