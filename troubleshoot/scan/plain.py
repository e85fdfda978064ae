"""The plain matcher: every pattern on every line. It is the definition of what the fast one must find.

In: what `Scanner.scan` takes. Out: the same hits, saturated patterns and notes. The counts of saturated patterns may
differ, and so may hits past limits.HITS_PER_SOURCE, for this goes by pattern and the scanner by line.

A pattern over n lines is tried at each line, on that line and the n - 1 that follow, and must begin in the first. Empty
lines are tried only as part of several.
"""

from __future__ import annotations

from collections.abc import Iterable

from troubleshoot.model import Block, Normaliser, RulePack, ScanResult, Source
from troubleshoot.scan.confirm import Confirmer
from troubleshoot.scan.enough import Enough
from troubleshoot.scan.lines import Chunk, Line
from troubleshoot.scan.match import Matcher
from troubleshoot.scan.tally import Tally


def scan_plainly(pack: RulePack, source: Source, blocks: Iterable[Block], normaliser: Normaliser) -> ScanResult:
    """Return the hits of every pattern of the pack. Holds the whole source in memory."""
    tally = Tally(source, Enough(pack))
    matcher = Matcher(source, normaliser, Confirmer(pack.patterns))
    pieces, whole = _lines(blocks)
    for pattern in pack.patterns:
        for index, line in enumerate(whole if pattern.lines > 1 else pieces):
            if not tally.is_open(pattern.id):
                break
            try:
                if pattern.lines > 1:
                    hit = matcher.match_lines(pattern.id, whole[index : index + pattern.lines])
                else:
                    hit = matcher.match_line(pattern.id, line) if line.end > line.start else None
            except TimeoutError:
                tally.overran(pattern.id, line.number)
            else:
                if hit is not None:
                    tally.add(hit)
    return tally.result()


def _lines(blocks: Iterable[Block]) -> tuple[list[Line], list[Line]]:
    """Return all pieces of lines, and of those the ones that begin a line."""
    pieces: list[Line] = []
    whole: list[Line] = []
    cut = False
    for serial, block in enumerate(blocks):
        chunk = Chunk(block, serial, continues=cut)
        for line in chunk.lines():
            pieces.append(line)
            if line.start >= chunk.head:
                whole.append(line)
        cut = block.cut
    return pieces, whole
