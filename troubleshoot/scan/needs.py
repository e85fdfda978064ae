r"""Lists the words of which a line must hold every one for a pattern to match it.

In: a pattern. Out: sets of lower-case words; a match holds at least one of each set. The prefilter searches for one of
them, the rarest; the others tell at once that most of the lines it stands on are no match, before the line is peeled:

    Failed to CUDA calloc {bytes:int} bytes     {failed} {cuda} {calloc} {bytes}
    (?:exit|status) code \d+                    {exit, status} {code}

Of a pattern that spans lines, the first line must hold some of them, which tells at which lines it need not be tried:

    ^metadata:[ \t]*\n(?:.*\n){1,9}?\s+name    {metadata}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from troubleshoot.model import Pattern
from troubleshoot.scan.charsets import NEWLINE, One
from troubleshoot.scan.frequencies import cost
from troubleshoot.scan.literals import Derivation, joined_texts
from troubleshoot.scan.pieces import is_word, words_of
from troubleshoot.scan.plan import Words
from troubleshoot.scan.syntax import Alt, End, Look, Node, NotAhead, Repeat, Seq, parse

MOST_SETS = 4
LEAST_BYTES = 3
FREQUENT = 1e6


def needed_words(pattern: Pattern) -> Words:
    """Return the sets of words, the rarest first; nothing where no word must be there."""
    return _rarest(parse(pattern.regex, spans=pattern.lines > 1))


def words_of_first_line(pattern: Pattern) -> Words:
    """Return the sets of words of which the line in which a match begins must hold every one."""
    return _rarest(_before_line_feed(parse(pattern.regex, spans=pattern.lines > 1)))


def _rarest(node: Node) -> Words:
    found = dict.fromkeys(_sets(node, Derivation()))
    return tuple(sorted(found, key=lambda words: (_cost(words), words))[:MOST_SETS])


def _before_line_feed(node: Node) -> Seq:
    """Return what of a node is matched before it can have taken a line feed."""
    if isinstance(node, Alt):
        return Seq((Alt(tuple(map(_before_line_feed, node.branches))),))
    if not isinstance(node, Seq):
        return Seq() if _takes_line_feed(node) else Seq((node,))
    items: list[Node] = []
    for item in node.items:
        if _takes_line_feed(item):
            if isinstance(item, Look):
                continue  # it looks beyond, and what follows is still here
            if isinstance(item, Seq | Alt):
                items += _before_line_feed(item).items
            break
        items.append(item)
    return Seq(tuple(items))


def _takes_line_feed(node: Node) -> bool:
    if isinstance(node, One):
        return node.ascii & NEWLINE != 0
    if isinstance(node, Seq):
        return any(map(_takes_line_feed, node.items))
    if isinstance(node, Alt):
        return any(map(_takes_line_feed, node.branches))
    if isinstance(node, Repeat | Look):
        return _takes_line_feed(node.item)
    return not isinstance(node, NotAhead | End)


def _sets(node: Node, derivation: Derivation) -> Iterator[tuple[bytes, ...]]:
    if isinstance(node, Seq):
        yield from _sets_of_seq(node, derivation)
    elif isinstance(node, Alt):
        found = derivation.literals(node)
        if found is not None and all(map(is_word, found.words)):
            yield found.words
    elif (isinstance(node, Repeat) and node.low > 0) or isinstance(node, Look):
        yield from _sets(Seq((node.item,)), derivation)


def _sets_of_seq(seq: Seq, derivation: Derivation) -> Iterator[tuple[bytes, ...]]:
    run: tuple[str, ...] = ("",)
    for item in seq.items:
        if isinstance(item, Look):
            yield from _sets(item, derivation)
        texts = derivation.facts(item).texts
        joined = joined_texts(run, texts)
        if joined is not None:
            run = joined
            continue
        yield from _sets_of_run(run)
        run = texts or ("",)
        if texts is None:
            yield from _sets(item, derivation)
    yield from _sets_of_run(run)


def _sets_of_run(run: Sequence[str]) -> Iterator[tuple[bytes, ...]]:
    """Yield what must be there where one of these texts is: each word that all of them hold, and one of the others."""
    by_text = [[word for word in words_of(text) if len(word) >= LEAST_BYTES] for text in run]
    if not all(by_text):
        return
    common = [word for word in by_text[0] if all(word in words for words in by_text)]
    for word in common:
        yield (word,)
    others = [[word for word in words if word not in common] for words in by_text]
    if all(others):
        yield tuple(sorted({min(words, key=lambda word: cost(word.decode())) for words in others}))


def _cost(words: Sequence[bytes]) -> float:
    return min(FREQUENT, sum(cost(word.decode()) for word in words))
