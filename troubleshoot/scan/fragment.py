r"""Finds the stretch of a pattern by which it is best searched for, when a literal will not do.

In: a pattern. Out: an expression over bytes that matches wherever the pattern does, and how often to expect that. It
serves patterns that have no literal, and takes the place of a literal that stands on too many lines:

    NCCL\s+WARN                         NCCL[\t\x0b-\r ]{1,}WARN       the word NCCL alone is on every third line
    ^\s*(?P<a>\d+)\|oom\b.*             [0-9]\|OOM                     ends that vary are cut off
    via NET/OFI/\d+(?!\S*/GDRDMA)       ...[0-9]{1,} and no "/GDRDMA"   on thousands of lines, and nearly never without
    os\.fork\(\)\n.*OSError             OS\.FORK\(\)                   one line of several

Ends that may be empty or vary are cut off, for Hyperscan reports every end it finds. Only what a pattern asks of the
text right behind it is kept, as expression.py writes it. A stretch holds no line feed.
"""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from troubleshoot import limits
from troubleshoot.model import Pattern
from troubleshoot.scan.charsets import DIGIT, LOWER, NEWLINE, UPPER, One, both_cases, mask_of
from troubleshoot.scan.expression import MAX_REPEAT, write, write_tail
from troubleshoot.scan.literals import literals_of
from troubleshoot.scan.syntax import Alt, End, Look, Node, NotAhead, Opaque, Repeat, Seq, parse, switches_case

MAX_EXPRESSION = 4_000  # bytes; a longer one costs more to compile than it saves

WITHOUT_WORD = 100  # times as many matches may be expected of a stretch that holds a word, for it is found far faster
_LETTERS = frozenset(both_cases(1 << ord(char)) for char in string.ascii_lowercase + string.digits + "_./-")

# Share of a log's bytes per character of a set, roughly; counted on a training log.
_SHARES = ((LOWER, 0.028), (DIGIT, 0.02), (mask_of(" "), 0.12), (mask_of("._-/:[]=,"), 0.012))
_OTHER_SHARE, _WIDE_SHARE = 0.002, 0.001


@dataclass(frozen=True, slots=True)
class Fragment:
    """An expression, whether to search it in exact case, and how many matches to expect in a million bytes of an
    ordinary log (letters taken as independent)."""

    expression: bytes
    exact: bool
    per_mb: float


@dataclass(frozen=True, slots=True)
class _Run:
    """A stretch of a pattern within one line. `share` is the chance that it matches at a given byte."""

    expression: bytes
    share: float


def fragment_of(pattern: Pattern) -> Fragment | None:
    """Return the pattern's fragment; None when nothing of it is certain enough to search for."""
    exact = pattern.exact_case and not switches_case(pattern.regex)
    run = _best_run(parse(pattern.regex, spans=pattern.lines > 1, exact=exact))
    if run is None:
        return None
    return Fragment(run.expression, exact, run.share * 1e6) if len(run.expression) <= MAX_EXPRESSION else None


def _best_run(node: Node) -> _Run | None:
    if isinstance(node, Alt):
        return _joined([_best_run(branch) for branch in node.branches])
    if isinstance(node, Look):
        return _best_run(node.item)
    if isinstance(node, Repeat):
        return _best_run(node.item) if node.low else None
    if isinstance(node, Seq):
        runs: list[list[Node]] = [[]]
        inner: list[_Run | None] = []
        for item in node.items:
            if isinstance(item, Look):
                inner.append(_best_run(item))
            elif _stays_in_line(item):
                runs[-1].append(item)
            else:
                inner.append(_best_run(item))
                runs.append([])
        found = [_run(items) for items in runs] + inner
        return min((run for run in found if run is not None), key=lambda run: run.share, default=None)
    return None if isinstance(node, Opaque) else _run([node])


def _joined(runs: list[_Run | None]) -> _Run | None:
    known = [run for run in runs if run is not None]
    if len(known) < len(runs):
        return None
    expression = b"(?:" + b"|".join(run.expression for run in known) + b")"
    return _Run(expression, min(1.0, sum(run.share for run in known)))


def _run(items: Sequence[Node]) -> _Run | None:
    length = len(items)
    while length and isinstance(items[length - 1], NotAhead | End):
        length -= 1
    body, tail = items[:length], items[length:]
    if body and _takes_the_rest(body[-1]):
        tail = ()
    hot = _hot_stretches(body)
    parts = [(part, () if part.stop < len(body) else tail) for part in _between(len(body), hot)]
    cool = [
        (run.share * (1 if literals_of(Seq(tuple(body[part.start : part.stop]))) else WITHOUT_WORD), run)
        for part, after in parts
        if (run := _stretch(body[part.start : part.stop], after)) is not None
    ]
    weight, best = min(cool, key=lambda pair: pair[0], default=(1.0, None))
    if weight * 1e6 <= limits.FRAGMENT_PER_MB:
        return best
    return _stretch(body[hot[-1].start :] if hot and tail else body, tail)


def _hot_stretches(items: Sequence[Node]) -> list[range]:
    """Return what a search should not have to look at: words that are on many lines, for Hyperscan starts the search
    for an expression at a word of it, and each start costs 0.1 microseconds, hit or not; and "any text", in which it
    then has to go on."""
    found = []
    start = 0
    while start < len(items):
        end = start + 1
        while end < len(items) and _is_letter(items[start]) and _is_letter(items[end]):
            end += 1
        if _is_hot(Seq(tuple(items[start:end]))) or _takes_the_rest(items[start]):
            found.append(range(start, end))
        start = end
    return found


def _is_hot(node: Node) -> bool:
    if isinstance(node, Seq) and len(node.items) == 1:
        node = node.items[0]
    if isinstance(node, Alt):
        return any(map(_is_hot, node.branches))
    literals = literals_of(node)
    return literals is not None and literals.cost > limits.HOT_LITERAL_LINES


def _is_letter(node: Node) -> bool:
    """Tell whether the node is one given letter, digit, or other character of words."""
    return isinstance(node, One) and not node.wide and not node.others and node.ascii in _LETTERS


def _between(length: int, stretches: Sequence[range]) -> Iterator[range]:
    start = 0
    for stretch in stretches:
        yield range(start, stretch.start)
        start = stretch.stop
    yield range(start, length)


def _stretch(items: Sequence[Node], tail: Sequence[Node]) -> _Run | None:
    body = Seq(tuple(items))
    if tail:
        node = _cut(body, last=False)
        if node.items:
            share = 0.02 if any(isinstance(each, End) for each in tail) else 0.5
            return _Run(write(node) + write_tail(tail), share * _share(node))
    node = _cut(_cut(body, last=True), last=False)
    return _Run(write(node), _share(node)) if node.items else None


def _takes_the_rest(node: Node) -> bool:
    """Tell whether the node takes nearly any text to the end of the line, so that an anchor behind it says nothing."""
    return (
        isinstance(node, Repeat)
        and isinstance(node.item, One)
        and (node.high is None or node.high > MAX_REPEAT)
        and node.item.ascii.bit_count() > 64
    )


def _stays_in_line(node: Node) -> bool:
    """Tell whether the node is understood and matches no line feed."""
    if isinstance(node, One):
        return not node.ascii & NEWLINE
    if isinstance(node, Seq):
        return all(map(_stays_in_line, node.items))
    if isinstance(node, Alt):
        return all(map(_stays_in_line, node.branches))
    return isinstance(node, NotAhead | End) or (isinstance(node, Repeat) and _stays_in_line(node.item))


def _cut(node: Node, *, last: bool) -> Seq:
    """Return the node without what varies at one end. Empty when nothing certain is left."""
    if isinstance(node, Seq):
        items = node.items
        while items:
            end = _cut(items[-1 if last else 0], last=last)
            if end.items:
                return Seq((*items[:-1], *end.items)) if last else Seq((*end.items, *items[1:]))
            items = items[:-1] if last else items[1:]
        return Seq()
    if isinstance(node, Alt):
        branches = tuple(_cut(branch, last=last) for branch in node.branches)
        return Seq((Alt(branches),)) if all(branch.items for branch in branches) else Seq()
    if isinstance(node, Repeat):
        if not node.low:
            return Seq()
        item = _cut(node.item, last=last)
        before = min(node.low, MAX_REPEAT) - 1
        if not item.items or not before:
            return item
        rest = Repeat(node.item, before, before)
        return Seq((rest, *item.items)) if last else Seq((*item.items, rest))
    return Seq() if isinstance(node, NotAhead | End) else Seq((node,))


def _share(node: Node) -> float:
    if isinstance(node, One):
        return _share_of_one(node)
    if isinstance(node, Seq):
        product = 1.0
        for item in node.items:
            product *= _share(item)
        return product
    if isinstance(node, Alt):
        return min(1.0, sum(map(_share, node.branches)))
    if isinstance(node, Repeat):
        # many places to begin make a long variable stretch no less likely; so only what must be there counts
        return _share(node.item) ** node.low if node.high == node.low else min(1.0, 20 * _share(node.item) ** node.low)
    return 1.0


def _share_of_one(one: One) -> float:
    mask = (one.ascii | (one.ascii & UPPER) << 32) & ~UPPER
    share, rest = 0.0, mask
    for chars, each in _SHARES:
        share += (mask & chars).bit_count() * each
        rest &= ~chars
    return min(1.0, share + rest.bit_count() * _OTHER_SHARE + _WIDE_SHARE * (one.wide + 0.1 * len(one.others)))
