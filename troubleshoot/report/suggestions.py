"""Suggestions -> text for a rule author, or JSON: lines worth a rule, each with the command that starts it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from troubleshoot.report.look import PLAIN, Look
from troubleshoot.report.printable import cut_end, one_line, visible, wrap
from troubleshoot.report.redact import redact_text

if TYPE_CHECKING:
    from troubleshoot.suggest import Candidate, Suggestions

SAMPLE_CHARS = 1_000


def command_for(candidate: Candidate, id: str) -> str:
    """Return what starts a rule on a candidate: from its place, where that can be read again, else from the text."""
    if candidate.can_be_read_again:
        return f"troubleshoot rules new {id} {shlex.quote(f'{candidate.source}:{candidate.line}')}"
    return f"troubleshoot rules new {id} <<'LINE'\n{sample_of(candidate)}\nLINE"


def sample_of(candidate: Candidate) -> str:
    """Return the candidate's line as it may be shown: without secrets, in one line."""
    return one_line(redact_text(candidate.sample[:SAMPLE_CHARS]))


def render_suggestions(
    told: Suggestions, named: Sequence[tuple[Candidate, str]], look: Look = PLAIN, *, commands: bool = True
) -> str:
    """Return the candidates that were given an id, and what became of the rest, as text that ends in a newline."""
    lines: list[str] = []
    for number, (candidate, id) in enumerate(named, 1):
        lines += [*_candidate(number, candidate, look), *(_command(candidate, id) if commands else ()), ""]
    if not named:
        lines += ["No line looks like a fault that no rule knows.", ""]
    lines += wrap(_rest(told, len(told.candidates) - len(named)), look.width)
    return "\n".join(lines) + "\n"


def _candidate(number: int, candidate: Candidate, look: Look) -> Iterator[str]:
    where = f"{candidate.source}:{candidate.line}" if candidate.line else candidate.source
    facts = [_counted(candidate.count, "time")]
    facts += [f"in {candidate.sources} sources"] if candidate.sources > 1 else []
    facts += [candidate.reason] if candidate.reason else []
    yield f"{number}. {look.paint(one_line(where), 'cyan')}  {one_line(', '.join(facts))}"
    yield f"   {look.paint(cut_end(sample_of(candidate), look.width - 3, look.ellipsis), 'bold')}"


def _command(candidate: Candidate, id: str) -> Iterator[str]:
    text = visible(command_for(candidate, id))
    if "\n" in text:
        yield from text.split("\n")  # from the first column, so that it can be copied as it is
    else:
        yield f"   {text}"


def _rest(told: Suggestions, more: int) -> str:
    parts = [f"{_counted(told.lines, 'line')} read"]
    if told.findings:
        parts.append(f"rules fire: {', '.join(told.findings[:6])}" + (" ..." if told.findings[6:] else ""))
    parts.append(f"{_counted(told.taken, 'kind')} of line taken by rules, {told.ordinary} ordinary")
    if more:
        parts.append(f"{more} more candidates (--top)")
    if told.dropped:
        parts.append(f"{told.dropped} lines that tell little were dropped for want of room")
    return one_line("; ".join(parts)) + "."


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def suggestions_document(told: Suggestions, named: Sequence[tuple[Candidate, str]]) -> dict[str, Any]:
    """Return suggestions as JSON values."""
    return {
        "candidates": [
            {
                "id": id,
                "score": candidate.score,
                "count": candidate.count,
                "sources": candidate.sources,
                "source": candidate.source,
                "line": candidate.line or None,
                "sample": redact_text(candidate.sample[:SAMPLE_CHARS]),
                "template": redact_text(candidate.template),
                "reason": candidate.reason or None,
                "command": command_for(candidate, id),
            }
            for candidate, id in named
        ],
        "more": len(told.candidates) - len(named),
        "taken": told.taken,
        "ordinary": told.ordinary,
        "lines": told.lines,
        "dropped": told.dropped,
        "findings": list(told.findings),
    }
