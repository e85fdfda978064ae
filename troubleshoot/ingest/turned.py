"""A source whose lines stand newest first, put into the order in which they were written.

In: the repaired blocks of the whole source. Out: one block, oldest record first, whose lines are still placed where
they stood; and hits whose records know their place in time. Rules about order and time then hold as in any other log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from troubleshoot.model import Block, Hit, LineMap
from troubleshoot.normalise import LineNormaliser, turn_text


class Turned:
    """What was turned. `all_begin`: each line begins a record, for a repair made it of one."""

    def __init__(self, blocks: Sequence[Block], normaliser: LineNormaliser, *, all_begin: bool) -> None:
        data, places = turn_text(
            b"".join(bytes(block.data) for block in blocks),
            _one_map(blocks),
            lambda row, line: normaliser.peel(row, line).stamp is not None,
            all_begin=all_begin,
        )
        self._places = places
        first = (places.lines[0], places.offsets[0]) if places.lines else (1, 0)
        self.block = Block(data, *first, places, last=True)

    def in_order(self, hits: Sequence[Hit]) -> tuple[Hit, ...]:
        """Return the hits with their records' places in time, earliest first."""
        order: dict[tuple[int, int], int] = {}
        for number, place in enumerate(zip(self._places.lines, self._places.offsets, strict=True), 1):
            order.setdefault(place, number)
        records = {id(hit.record): hit.record for hit in hits}
        placed = {
            key: replace(each, end_line=max(each.line, each.end_line), order=order.get((each.line, each.offset)))
            for key, each in records.items()
        }
        moved = [replace(hit, record=placed[id(hit.record)]) for hit in hits]
        return tuple(sorted(moved, key=lambda hit: (hit.record.position, hit.pattern)))


def _one_map(blocks: Sequence[Block]) -> LineMap:
    """Return the map of blocks that follow one another, as of one."""
    lines: list[int] = []
    offsets: list[int] = []
    continued: list[int] = []
    for block in blocks:
        assert block.line_map is not None, "whoever keeps blocks gives them one"
        count = bytes(block.data).count(b"\n") + (bool(block.data) and bytes(block.data[-1:]) != b"\n")
        continued += [len(lines) + i for i in block.line_map.continued]
        lines += block.line_map.lines[:count]
        offsets += block.line_map.offsets[:count]
    return LineMap(lines, offsets, continued)
