"""A report and its sources, read once more -> the report with the lines around its evidence, as grep -C shows them, and
around the lines that look like an unknown failure.

Which lines these are is known when the scan is over, so the sources are read again, up to the last line that is
wanted and no further. Secrets are taken out of the lines before they come into the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from troubleshoot.ingest.lines import lines_of
from troubleshoot.ingest.sources import OpenSource
from troubleshoot.model import Block, Evidence, Finding, Note, Report, Suspect
from troubleshoot.report.redact import redact_text

LINE_CHARS = 500  # shown of a line that is no evidence
CUT = " [...]"

Lines = dict[int, str]
Shown = TypeVar("Shown", Evidence, Suspect)


def with_surroundings(report: Report, sources: Iterable[OpenSource], number: int) -> Report:
    """Return the report whose evidence has up to `number` lines `before` and `after` it. Evidence in sources that
    cannot be read again stays alone, and a note says so."""
    wanted: dict[str, set[int]] = {}
    shown: list[Evidence | Suspect] = [*_all_evidence(report), *report.suspects]
    for each in shown:
        before, after = _around(each, number)
        wanted.setdefault(each.source, set()).update(before, after)
    found: dict[str, Lines] = {}
    for opened in sources if wanted else ():
        name = opened.source.name
        if name in wanted and name not in found:
            found[name] = _read(opened, wanted[name])
            if len(found) == len(wanted):
                break

    def show(shown: Shown) -> Shown:
        return _with_lines(shown, found.get(shown.source, {}), number)

    def add(finding: Finding) -> Finding:
        return replace(finding, evidence=tuple(map(show, finding.evidence)))

    lost = tuple(
        Note("no-context", "could not be read again for the lines around its evidence", name)
        for name in sorted(wanted.keys() - found.keys())
    )
    return replace(
        report,
        findings=tuple(map(add, report.findings)),
        confirmations=tuple(map(add, report.confirmations)),
        suspects=tuple(map(show, report.suspects)),
        notes=(*report.notes, *lost),
    )


def _all_evidence(report: Report) -> Iterator[Evidence]:
    for finding in (*report.findings, *report.confirmations):
        yield from finding.evidence


def _around(shown: Evidence | Suspect, number: int) -> tuple[range, range]:
    """Return the numbers of the lines before and after the one that is shown, or those."""
    last = shown.line + shown.text.count("\n")
    if isinstance(shown, Evidence) and shown.end_line is not None:
        last = max(last, shown.end_line)
    return range(max(1, shown.line - number), shown.line), range(last + 1, last + number + 1)


def _read(opened: OpenSource, wanted: set[int]) -> Lines:
    lines: Lines = {}
    last = max(wanted)
    for block in opened.blocks():
        if block.line_map is None and not wanted.intersection(_numbers_of(block)):
            if block.first_line > last:
                break
            continue
        for number, raw in lines_of(block):
            if number in wanted:
                lines.setdefault(number, _shown(raw))
    return lines


def _numbers_of(block: Block) -> range:
    return range(block.first_line, block.first_line + bytes(block.data).count(b"\n") + 1)


def _shown(raw: bytes) -> str:
    text = raw[: LINE_CHARS * 4].decode("utf-8", "replace").rstrip("\r")
    return text if len(text) <= LINE_CHARS and len(raw) <= LINE_CHARS * 4 else text[:LINE_CHARS] + CUT


def _with_lines(shown: Shown, lines: Lines, number: int) -> Shown:
    before, after = _redacted(shown, lines, number)
    return replace(shown, before=before, after=after)


def _redacted(shown: Evidence | Suspect, lines: Lines, number: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines before and after. They are redacted together with what is shown: a key may span lines."""
    above, below = ([lines[each] for each in numbers if each in lines] for numbers in _around(shown, number))
    whole = redact_text("\n".join([*above, shown.text, *below])).split("\n")
    return tuple(whole[: len(above)]), tuple(whole[len(whole) - len(below) :])
