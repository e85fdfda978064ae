r"""Writes the stretch of a pattern by which it is searched where each of its words is on too many lines.

In: a pattern. Out: an expression over bytes that matches in the raw line wherever the pattern matches in its peeled
text: a fixed text, and what must follow it.

    via NET/OFI/\d+(?!\S*/GDRDMA)     via NET/OFI/ and digits, and then no "/GDRDMA"
    NCCL_DEBUG\s{0,3}[=:]\s{0,3}ON    NCCL_DEBUG and blanks, and then "=" or ":", and so on

The expression begins with a fixed text and has no loops: a repeat is written out a few times, and what follows a longer
one is not looked at. Vectorscan 5.4.12, as in the wheels of `hyperscan` 0.7.30 to 0.9.1, misses matches of expressions
that begin otherwise or loop (`" [0-9]+: (?:KILLED|FLOATING POINT EXCEPTION)"` is not found behind 50 bytes of text;
VectorCamp/vectorscan issues 317 and 382). Fixed texts and these expressions are found: tests/scan/test_prefilter.py.

Peeling changes a line in few ways, for which the expression allows: mpirun's XML output writes quotes, brackets and &
as entities and ends in a tag; Fluent Bit's writes quotes and backslashes behind a backslash and ends in a quote; and
the process number in `slurmstepd[123]: error` is taken out.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from troubleshoot.model import Pattern
from troubleshoot.scan.charsets import ASCII_ALL, LOWER, NEWLINE, One, mask_of
from troubleshoot.scan.literals import Derivation, joined_texts
from troubleshoot.scan.pieces import GAPS, share_of
from troubleshoot.scan.syntax import Alt, End, Node, NotAhead, Repeat, Seq, parse

MAX_EXPRESSION = 1_500  # bytes; what would make it longer is left out
MAX_TAIL = 16  # characters looked at behind the fixed text
MAX_HEAD = 24  # of the fixed text
LEAST_HEAD = 4
UNROLLED = 6  # times that a repeat is written out beyond its least
ANYTHING = 64  # a repeated set of so many ASCII characters takes any text, and nothing is asked behind it
MAX_WORD = 32  # of a look-ahead that is spelt out
MAX_SHARE = 0.6  # chance that the tail follows the text by accident, at most; else it is not worth its cost
MAX_COUNT = 8  # of a repeat that is written out

ESCAPED = mask_of("<>&\"'`\\")
QUOTES = mask_of("\"'`")
COLON = mask_of(":")
MARKUP = mask_of('<"\\')  # may begin the closing tag or quote that is no part of the text
LINE_END = rb"(?:\x0d\x0a|\x0a|</std|\x22|\x5c)"
NOT_AHEAD_SHARE, LINE_END_SHARE = 0.05, 0.02


@dataclass(frozen=True, slots=True)
class Fragment:
    expression: bytes


@dataclass(frozen=True, slots=True)
class _Tail:
    """An expression for what follows, and the chance that it does so by accident. Empty: nothing is asked."""

    expression: bytes = b""
    share: float = 1.0


def fragment_of(pattern: Pattern) -> Fragment | None:
    """Return the pattern's fragment; None when no fixed text in it is followed by anything telling."""
    tree = parse(pattern.regex, spans=pattern.lines > 1, exact_case=pattern.exact_case)
    if isinstance(tree, Alt):
        expression = _of_alternatives(tree)
    else:
        expression = _of_sequence(tree) if isinstance(tree, Seq) else b""
    return Fragment(expression) if expression else None


def _of_alternatives(alt: Alt) -> bytes:
    """Return an expression for each alternative, its fragment or else its literals, if any has a fragment."""
    found = [_of_sequence(branch) for branch in alt.branches]
    if not any(found):
        return b""
    for index, branch in enumerate(alt.branches):
        if not found[index]:
            literals = Derivation().literals(branch)
            if literals is None:
                return b""
            found[index] = _either([escape(word) for word in literals.words])
    expression = _either(found)
    return expression if len(expression) <= MAX_EXPRESSION else b""


def _of_sequence(tree: Seq) -> bytes:
    """Return the best fixed text of a sequence with what must follow it; nothing when nothing telling does."""
    best = _Tail(b"", MAX_SHARE)
    derive = Derivation()
    run: tuple[str, ...] = ("",)
    for index, item in enumerate(tree.items):
        texts = None if _is_changed(item) or isinstance(item, NotAhead | End) else derive.facts(item).texts
        joined = joined_texts(run, texts)
        if joined is None or _has_gap(joined):
            heads = _heads(run)
            tail = _tail(tree.items[index:], MAX_TAIL) if heads else _Tail()
            if tail.expression and tail.share < best.share:
                best = _Tail(_either(heads) + tail.expression, tail.share)
            run = texts if texts is not None and not _has_gap(texts) else ("",)
        else:
            run = joined
    return best.expression if len(best.expression) <= MAX_EXPRESSION else b""


def _has_gap(texts: Sequence[str]) -> bool:
    return any(sign in text for text in texts for sign in GAPS)


def _is_changed(node: Node) -> bool:
    """Tell whether the node holds a character that may be written otherwise in the raw line."""
    if isinstance(node, One):
        return node.ascii & ESCAPED != 0 or node.ascii == COLON
    if isinstance(node, Seq):
        return any(map(_is_changed, node.items))
    if isinstance(node, Alt):
        return any(map(_is_changed, node.branches))
    return isinstance(node, Repeat) and _is_changed(node.item)


def _heads(texts: Sequence[str]) -> list[bytes]:
    """Return the fixed texts with which the expression begins; none if one is too short."""
    heads = [text[-MAX_HEAD:] for text in texts]
    if any(len(head.encode()) < LEAST_HEAD or set(head) & set("<>&\"'\\:\n") for head in heads):
        return []
    return [escape(head.encode()) for head in heads]


@functools.lru_cache(maxsize=4096)  # alternatives and repeats lead to the same rests many times over
def _tail(items: tuple[Node, ...], room: int) -> _Tail:
    """Return an expression for a sequence behind the fixed text, as far as it is certain."""
    if not items or room <= 0:
        return _Tail()
    item, rest = items[0], items[1:]
    written = _written(item)
    if written is not None:
        after = _tail(rest, room - 1)
        return _Tail(written.expression + after.expression, written.share * after.share)
    if isinstance(item, One):
        return _tail_of_one(item, rest, room)
    if isinstance(item, Seq):
        return _tail((*item.items, *rest), room)
    if isinstance(item, Alt):
        return _union(_tail((branch, *rest), room) for branch in item.branches)
    if isinstance(item, Repeat):
        return _tail_of_repeat(item, rest, room)
    if isinstance(item, End):
        return _Tail(LINE_END, LINE_END_SHARE)
    if isinstance(item, NotAhead):
        if all(isinstance(each, NotAhead | End) for each in rest):
            return _tail_of_end(items)
        return _tail(rest, room)
    return _Tail()


def _written(node: Node) -> _Tail | None:
    """Return an expression for just what the node matches; None when there is no short one without loops."""
    if isinstance(node, One):
        plain = node.ascii and not node.wide and not node.others and not node.ascii & NEWLINE and not _is_changed(node)
        return _Tail(write_class(node.ascii), share_of(node)) if plain else None
    if isinstance(node, Seq | Alt):
        parts = [_written(each) for each in (node.items if isinstance(node, Seq) else node.branches)]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        if isinstance(node, Alt):
            return _Tail(_either([part.expression for part in known]), min(1.0, sum(part.share for part in known)))
        return _Tail(b"".join(part.expression for part in known), math.prod(part.share for part in known))
    if isinstance(node, Repeat) and node.high is not None and node.high <= min(node.low + UNROLLED, MAX_COUNT):
        inner = _written(node.item)
        if inner is not None and inner.expression:
            return _Tail(b"(?:%b){%d,%d}" % (inner.expression, node.low, node.high), inner.share**node.low)
    return None


def _tail_of_one(one: One, rest: tuple[Node, ...], room: int) -> _Tail:
    if one.ascii & NEWLINE:
        return _Tail()
    after = _tail(rest, room - 1)
    ways = [write_class(one.ascii) + after.expression] if one.ascii else []
    if one.wide or one.others:
        ways.append(rb"[\x80-\xff]")  # of several bytes: where the next character begins is not known
    if one.ascii & ESCAPED:
        ways += [rb"\x26", rb"\x5c"]
    if one.ascii & QUOTES:
        ways.append(rb"\xe2\x80")  # a typographic quote, which the confirmation takes for a straight one
    if one.ascii == COLON:
        ways.append(rb"\x5b[0-9]")
    if not ways or sum(map(len, ways)) > MAX_EXPRESSION:
        return _Tail()
    return _Tail(_either(ways), min(1.0, share_of(one) * after.share + 0.001 * (len(ways) - 1)))


def _tail_of_repeat(repeat: Repeat, rest: tuple[Node, ...], room: int) -> _Tail:
    if isinstance(repeat.item, One) and repeat.item.ascii.bit_count() >= ANYTHING and repeat.high != repeat.low:
        return _tail((repeat.item,) * min(repeat.low, room), room)
    inner = _written(repeat.item)
    if inner is not None and inner.expression and repeat.low + UNROLLED <= MAX_COUNT:
        after = _tail(rest, room - repeat.low - 1)
        if not after.expression:
            return _tail((repeat.item,) * repeat.low, room)
        more = repeat.low + UNROLLED + 1
        few = b"(?:%b){%d,%d}%b" % (inner.expression, repeat.low, more - 1, after.expression)
        share = inner.share**repeat.low * min(1.0, after.share * 2 + inner.share ** (UNROLLED + 1))
        return _Tail(_either([few, b"(?:%b){%d}" % (inner.expression, more)]), share)
    if repeat.low:
        high = None if repeat.high is None else repeat.high - 1
        return _tail((repeat.item, Repeat(repeat.item, repeat.low - 1, high), *rest), room)
    most = UNROLLED if repeat.high is None else min(repeat.high, UNROLLED)
    return _union(
        _tail((*(repeat.item,) * times, *(rest if times < most or repeat.high == most else ())), room)
        for times in range(most + 1)
    )


def _tail_of_end(items: Sequence[Node]) -> _Tail:
    """Return an expression for the look-aheads and anchors at the end of a pattern."""
    if any(isinstance(node, End) for node in items):
        return _Tail(LINE_END, LINE_END_SHARE)
    words = [word for node in items if isinstance(node, NotAhead) for word in node.words]
    chars = reduce(lambda mask, word: mask | word[0].ascii, (word for word in words if len(word) == 1), 0)
    long = [word for word in words if 1 < len(word) <= MAX_WORD]
    return _Tail(_not_ahead(chars, max(long, key=len, default=())), NOT_AHEAD_SHARE if long else 0.5)


def _not_ahead(chars: int, word: Sequence[One]) -> bytes:
    """Return an expression for what follows when it is none of `chars` and does not begin with `word`: a character, or
    the line's end, that parts from it."""
    first = word[0].ascii if word else 0
    ways = [write_class(ASCII_ALL & ~(chars | first) | NEWLINE | MARKUP, beyond=True)]
    if len(word) > 1 and first & ~chars:
        ways.append(write_class(first & ~chars) + _not_ahead(0, word[1:]))
    return _either(ways)


def _union(tails: Iterable[_Tail]) -> _Tail:
    """Return what follows if one of these does. One that asks nothing makes the others pointless."""
    found = dict.fromkeys(tails)
    if not all(tail.expression for tail in found) or sum(len(tail.expression) for tail in found) > MAX_EXPRESSION:
        return _Tail()
    return _Tail(_either([tail.expression for tail in found]), min(1.0, sum(tail.share for tail in found)))


def _either(ways: Sequence[bytes]) -> bytes:
    return ways[0] if len(ways) == 1 else b"(?:" + b"|".join(ways) + b")"


def escape(word: bytes) -> bytes:
    """Write bytes as an expression that matches just them."""
    return b"".join(b"%c" % byte if chr(byte).isascii() and chr(byte).isalnum() else b"\\x%02x" % byte for byte in word)


def write_class(mask: int, *, beyond: bool = False) -> bytes:
    """Return a class of the ASCII characters in `mask`, and of all bytes beyond ASCII where asked for. A letter alone
    stands for both cases."""
    lower = mask & LOWER
    if not beyond and (mask.bit_count() == 1 or (lower.bit_count() == 1 and mask == lower | lower >> 32)):
        return escape(bytes([mask.bit_length() - 1]))
    ranges, code = rb"\x80-\xff" if beyond else b"", 0
    while code < 128:
        if mask >> code & 1:
            end = code
            while end < 127 and mask >> end + 1 & 1:
                end += 1
            ranges += b"\\x%02x-\\x%02x" % (code, end)
            code = end
        code += 1
    return b"[%b]" % ranges
