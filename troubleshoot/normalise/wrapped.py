r"""Guesses which lines of a pasted text were broken by a terminal, a mail program or a chat, and joins them.

In: the lines of a small source. Out: a shadow text of the joined lines alone, each placed at the first of its lines; it
is searched beside the text as it stands, so a wrong guess can add a hit and never lose one. A break between two lines
is taken for a wrap when

* the text has a width N: no line is longer (long words aside), several breaks fit it, and this line is full: it has N
  columns (a terminal breaks anywhere), or the next line's first word would not have fitted (mail breaks at blanks);
* or several different lines are as long as the longest, to the column: a terminal broke them, whatever comes next;
* or the text has few lines, and the next one goes on in mid-sentence behind the longest;
* or the next line begins with what no line begins with: "(required by", the loader's continuation;
* or a string literal ends here and another begins there, as Python shows long strings;

and the next line is no beginning of its own: not empty, no timestamp or other wrapper, no traceback's or log's start,
no word with which this line began, too.

    width 72:  "... error while loading shared libr" + "aries: libmpi.so.40"  ->  joined without a blank, and with one

Each chain of lines gives the likeliest reading (a blank where the line was not full to the last column), one with
blanks everywhere, one with none. Source: knowledge/log-formats.md, section 30.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from troubleshoot import late
from troubleshoot.model import LineMap
from troubleshoot.normalise.origins import Text
from troubleshoot.normalise.ways import first_strong

NARROWEST, WIDEST = 56, 240  # columns; phones wrap at fewer, but hide it when copied
FULL_SHARE = 0.3  # of lines end near the width, in a text of which most is wrapped
USUAL_WIDTHS = frozenset({80, 100, 120, 132, 160})  # of terminals: one line of just so many columns is enough
FULL_LINES = 2  # or so many breaks fit it exactly
FEW_LINES = 20  # of a paste: one break may be enough
LONGER_SHARE = 0.02  # of lines may be longer: words that could not be broken
SLACK = 10
WORD_CHARS = 80  # of a word that is remembered without its numbers
MOST_ROWS = 40  # of one line: 3,200 characters at 80 columns

_CONTINUATION = late.compile(r"\s*\(required by ")
_BEGINNING = late.compile(
    r"\s*$|\s*(?:File \"|Traceback \(|During handling|The above exception|raise |return |at \S+\()|[-=*#~_]{4,}|```"
    r"|\s*[A-Z]\w*(?:Error|Exception|Warning|Interrupt)\b|\s*(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL)\b"
    r"|\s*[-*•+|$>] |[|+]|\s*\d+[.)] |\s*[\w.-]+@[\w.-]+[:$#]|[+$#] "
)


_QUOTES = ("'", '"')
_STRING = late.compile(r"\s+[bru]{0,2}['\"]")
_MIDDLE = late.compile(r" ?[a-z(](?![\w.-]*:(?: |$))")
_TABLE = late.compile(r"[|+]|[-=*#~_+|. ]*$")
_RULE = late.compile(r"[-=*#~_+|. ]*$")
_DIGITS = late.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Joined:
    """The shadow text, and for each first line of a chain its last one, both as lines of the source."""

    text: Text
    ends: dict[int, int]

    def and_also(self, other: Joined | None) -> Joined:
        """Return both shadows, one behind the other."""
        if other is None or other.text.data == self.text.data:
            return self
        one, two = self.text, other.text
        places = LineMap([*one.map.lines, *two.map.lines], [*one.map.offsets, *two.map.offsets])
        ends = {line: max(self.ends.get(line, 0), other.ends.get(line, 0)) for line in self.ends | other.ends}
        return Joined(Text(one.data + two.data, places, exact=False), ends)


def join_wrapped(
    rows: Sequence[str], places: LineMap, bare: Callable[[str], str] | None = None, *, pasted: bool = True
) -> Joined | None:
    """Return the joined lines of a text, or None when nothing looks wrapped.

    `bare` takes off what was put before every line, such as a mail's quote marks. A text that was not `pasted` needs
    more than one break.
    """
    texts = [bare(row).rstrip("\r\n") for row in rows] if bare is not None else rows
    changes = _changes(texts)
    width, terminal = _width(texts, changes, pasted), _terminal_width(texts, changes)
    literals = [*_chains(texts, lambda i: _is_literal(texts, i))]
    if width is None and terminal is None and not literals and not any("(required by " in text for text in texts):
        return None
    chains = {*_chains(texts, lambda i: _is_wrap(texts, i, width))}
    if terminal is not None:
        chains |= {*_chains(texts, lambda i: _is_cut(texts, i, terminal))}
    out: list[bytes] = []
    lines: list[int] = []
    offsets: list[int] = []
    ends: dict[int, int] = {}
    for start, end in sorted({*chains, *literals}):
        first = [rows[start].rstrip("\r\n"), *texts[start + 1 : end + 1]]
        readings = [] if (start, end) in chains else [_one_literal(first)]
        readings += [*_readings(first, width), *_readings(first, terminal)] if not readings else []
        for reading in dict.fromkeys(readings):
            out.append(reading.encode("utf-8", "replace"))
            lines.append(places.lines[start])
            offsets.append(places.offsets[start])
        ends[places.lines[start]] = places.lines[end]
    if not out:
        return None
    return Joined(Text(b"".join(line + b"\n" for line in out), LineMap(lines, offsets), exact=False), ends)


def _changes(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return the lines that begin in another way than the next one does, each with that: most logs have few."""
    starts = [_start(text) for text in texts]
    return [(texts[i], texts[i + 1]) for i, (a, b) in enumerate(pairwise(starts)) if a != b]


def _chains(texts: Sequence[str], goes_on: Callable[[int], bool]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of lines in a row that each go on in the next."""
    start = 0
    while start < len(texts):
        end = start
        while end + 1 < len(texts) and end - start < MOST_ROWS and goes_on(end):
            end += 1
        if end > start:
            yield start, end
        start = end + 1


def _is_literal(texts: Sequence[str], i: int) -> bool:
    """Tell whether the line ends with a string's quote and the next begins with one: Python and C take them for one."""
    end = texts[i][-1:]
    return end in _QUOTES and _STRING.match(texts[i + 1]) is not None and texts[i + 1].lstrip(" \tbru")[:1] == end


def _one_literal(lines: Sequence[str]) -> str:
    """Return the string that string literals in a row are."""
    return "".join([lines[0][:-1], *(_STRING.sub("", line)[:-1] for line in lines[1:-1]), _STRING.sub("", lines[-1])])


def _is_cut(texts: Sequence[str], i: int, terminal: int) -> bool:
    """Tell whether a terminal broke the line at its last column."""
    line, following = texts[i], texts[i + 1]
    if len(line) != terminal or _TABLE.match(line):
        return _CONTINUATION.match(following) is not None and bool(line.strip())
    return bool(following.strip()) and not _are_alike(line, following)


def _is_wrap(texts: Sequence[str], i: int, width: int | None) -> bool:
    line, following = texts[i], texts[i + 1]
    if _CONTINUATION.match(following):
        return bool(line.strip())
    if width is None or _begins(following) or not line.strip():
        return False
    return _is_full(line, following, width)


def _is_full(line: str, following: str, width: int) -> bool:
    """Tell whether `line` can have been broken before `following`. Lines that begin alike are records of one kind."""
    if len(line) > width or len(line) <= width // 2:
        return False
    if len(line) < width and len(line.rstrip()) + 1 + len(following.split(" ", 1)[0]) <= width:
        return False
    return not _RULE.match(line) and _start(line) != _start(following)


def _are_alike(line: str, following: str) -> bool:
    """Tell whether both lines begin as records of one kind do."""
    if _start(line) == _start(following):
        return True
    return all(first_strong(each, None, set()) is not None for each in (line, following))


def _start(line: str) -> str:
    word = line.lstrip().split(" ", 1)[0]
    return _without_numbers(word) if len(word) <= WORD_CHARS else _DIGITS.sub("#", word)


@lru_cache(4096)  # the lines of a job begin with the same few words
def _without_numbers(word: str) -> str:
    return _DIGITS.sub("#", word)


def _begins(text: str) -> bool:
    return _BEGINNING.match(text) is not None or first_strong(text, None, set()) is not None


def _terminal_width(texts: Sequence[str], changes: Sequence[tuple[str, str]]) -> int | None:
    """Return the column at which a terminal broke lines of any kind: that of the longest line, if several have it or it
    is one that terminals have."""
    longest = max(map(len, texts), default=0)
    if not NARROWEST <= longest <= WIDEST:
        return None
    full = {
        text
        for text, following in changes
        if len(text) == longest and not _TABLE.match(text) and not _are_alike(text, following)
    }
    return longest if len(full) >= (1 if longest in USUAL_WIDTHS else FULL_LINES) else None


def _width(texts: Sequence[str], changes: Sequence[tuple[str, str]], pasted: bool) -> int | None:
    """Return the column at which the text was wrapped, or None."""
    lengths = Counter(len(text) for text in texts if text.strip())
    total = lengths.total()
    best: tuple[int, int] | None = None
    longer = 0
    for width in sorted(lengths, reverse=True):
        if longer > LONGER_SHARE * total:
            break
        near = sum(lengths[length] for length in range(width - SLACK, width + 1))
        exact = lengths[width]
        if NARROWEST <= width <= WIDEST and (near >= FULL_SHARE * total or FULL_LINES <= exact == near):
            breaks = _breaks(changes, width)
            if breaks >= FULL_LINES and (best is None or breaks > best[0]):
                best = breaks, width
        longer += exact
    if best is not None:
        return best[1]
    return _lone_width(texts, lengths) if pasted else None


def _lone_width(texts: Sequence[str], lengths: Counter[int]) -> int | None:
    """Return the column of the one break in a few lines: behind the longest, before one that begins in mid-sentence."""
    width = max(lengths, default=0)
    if lengths.total() > FEW_LINES or not NARROWEST <= width <= WIDEST or lengths[width] > 1:
        return None
    return width if any(len(a) == width and _MIDDLE.match(b) and not _begins(b) for a, b in pairwise(texts)) else None


def _breaks(changes: Sequence[tuple[str, str]], width: int) -> int:
    """Return how many different lines can have been broken at this width."""
    return len({a for a, b in changes if _is_full(a, b, width) and not _begins(b)})


def _readings(lines: Sequence[str], width: int | None) -> list[str]:
    likely = lines[0]
    for before, after in pairwise(lines):
        full = width is not None and len(before) == width and not _CONTINUATION.match(after)
        likely += after if full else " " + after.lstrip()
    blank = " ".join([lines[0].rstrip(), *(line.strip() for line in lines[1:])])
    return list(dict.fromkeys([likely, blank, "".join(lines)]))
