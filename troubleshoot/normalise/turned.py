"""Turns a text whose lines stand newest first, as viewers of logs export them, into the order of writing.

In: the text of a whole source, with its map. Out: the same lines, the last record first, each still placed where it
stood. A record is a line with a time and the lines without one below it; what stands above the first time stays there:

    "T3 c", "T2 b", "   more of b", "T1 a"   ->   "T1 a", "T2 b", "   more of b", "T3 c"

Source: knowledge/log-formats.md, section 14.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from troubleshoot import late
from troubleshoot.model import LineMap

PROBE_LINES = 400
MIN_FALLS = 5
HEAD_BYTES = 160  # of a line, in which its time stands
_CLOCK = late.compile(rb"\d\d:\d\d:\d\d(?:[.,]\d+)?|(?<!\d)\d{10}(?:\d{3}|\d{9})?(?!\d)")

_AS_ZERO = bytes.maketrans(b"123456789", b"0" * 9)


def may_run_backwards(sample: bytes) -> bool:
    """Tell, at little cost, whether the times at the lines' beginnings fall. A look at the wrappers must confirm it."""
    lines = sample.split(b"\n", PROBE_LINES)[:PROBE_LINES]
    falls = rises = 0
    before: bytes | None = None
    for left, line in zip(range(len(lines), 0, -1), lines, strict=True):
        if m := _CLOCK.search(line, 0, HEAD_BYTES):
            falls += before is not None and m[0] < before
            rises += before is not None and m[0] > before
            before = m[0]
            if rises > (falls + left) // 4:
                return False  # whatever comes
    return falls >= MIN_FALLS and rises <= falls // 4


def turn_text(
    data: bytes, places: LineMap, has_time: Callable[[str, int], bool], *, all_begin: bool = False
) -> tuple[bytes, LineMap]:
    """Return the records in the opposite order. `has_time` tells whether a line, with its number, has a time of its
    own; with `all_begin` each line begins a record that is not known to go on in one."""
    rows = data.split(b"\n")
    if not rows[-1]:
        rows.pop()
    continued = frozenset(places.continued)
    lines, offsets = list(places.lines), list(places.offsets)
    known: dict[bytes, bool] = {}

    def begins(i: int) -> bool:
        if all_begin or i in continued:
            return i not in continued
        near = _CLOCK.search(rows[i], 0, HEAD_BYTES)
        if near is None:
            return False
        shape = rows[i][: near.end()].translate(_AS_ZERO)  # lines that begin alike are asked for once
        if shape not in known:
            known[shape] = has_time(rows[i].decode("utf-8", "replace"), lines[i])
        return known[shape]

    heads = [i for i in range(len(rows)) if begins(i)]
    if not heads:
        return data, places
    groups = [range(a, b) for a, b in pairwise([*heads, len(rows)])]
    order = [*range(heads[0]), *(i for group in reversed(groups) for i in group)]
    turned = LineMap([lines[i] for i in order], [offsets[i] for i in order])
    return b"".join(rows[i] + b"\n" for i in order), turned
