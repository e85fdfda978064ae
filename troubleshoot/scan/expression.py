r"""Writes nodes of a pattern as an expression over bytes that Hyperscan and Python's `re` both read.

In: nodes that match no line feed. Out: an expression that matches in the raw line wherever the nodes match in its
peeled text. So it allows for what peeling changes, and is simpler than the pattern:

    é\d{3,400}      \xc3\xa9[0-9]{3,}                a character beyond ASCII is its bytes; long repeats have no end
    .               (?:[...]|[\x80-\xff]{1,4})       any character is one to four bytes
    '               (?:'|&[a-z0-9#]{1,6};)           mpirun's XML output writes quotes, & and brackets as entities
    :               (?::|\[\d+\]:)                   a process number in `slurmstepd[123]: error` is taken out
    $               (?:\r?(?:\n|$)|</std)            the line ends, or XML closes it
    (?!ab)          (?:[^a]|$|a(?:[^b]|$))           what follows parts from "ab", or the line ends before
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from troubleshoot.scan.charsets import ASCII_ALL, LOWER, NEWLINE, One, mask_of
from troubleshoot.scan.syntax import Alt, End, Node, NotAhead, Repeat, Seq

MAX_REPEAT = 8  # a count above it becomes "so many or more"
MAX_SPELT = 4  # characters beyond ASCII in one set; more of them are written as any
MAX_WORD = 32  # of a look-ahead that is spelt out
WIDE = rb"[\x80-\xff]{1,4}"
ENTITY = rb"&[a-z0-9\x23]{1,6};"
LINE_END = rb"\x0d?(?:\x0a|$)|</std"
PROCESS_COLON = rb"\x5b[0-9]{1,}\x5d\x3a"
ESCAPED = mask_of("<>&\"'")
COLON = mask_of(":")
MARKUP = mask_of("<")  # may begin the closing tag that is no part of the text


def write(node: Node) -> bytes:
    """Return an expression for the node; what takes no room is left out."""
    if isinstance(node, One):
        return _write_one(node)
    if isinstance(node, Seq):
        return b"".join(map(write, node.items))
    if isinstance(node, Alt):
        return b"(?:" + b"|".join(map(write, node.branches)) + b")"
    if isinstance(node, Repeat):
        inner = write(node.item)
        if not inner:
            return b""
        low = min(node.low, MAX_REPEAT)
        high = b"" if node.high is None or node.high > MAX_REPEAT else b"%d" % node.high
        return b"(?:%b){%d,%b}" % (inner, low, high)
    return b""


def write_tail(tail: Sequence[Node]) -> bytes:
    """Return an expression for the anchors and look-aheads behind a stretch. It takes the text it looks at."""
    if any(isinstance(node, End) for node in tail):
        return b"(?:%b)" % LINE_END
    words = [word for node in tail if isinstance(node, NotAhead) for word in node.words]
    chars = reduce(lambda mask, word: mask | word[0].ascii, (word for word in words if len(word) == 1), 0)
    long = [word for word in words if 1 < len(word) <= MAX_WORD]
    return _write_not_ahead(chars, max(long, key=len, default=()))


def _write_not_ahead(chars: int, word: tuple[One, ...]) -> bytes:
    """Return an expression for what follows when it is none of `chars` and does not begin with `word`: a character that
    parts from the word, or an end before it is complete."""
    first = word[0].ascii if word else 0
    ways = [_write_class(ASCII_ALL & ~(chars | first) | NEWLINE | MARKUP, beyond=True), b"$"]
    if len(word) > 1 and first & ~chars:
        ways.append(_write_class(first & ~chars) + _write_not_ahead(0, word[1:]))
    return b"(?:" + b"|".join(ways) + b")"


def _write_one(one: One) -> bytes:
    ways = [_write_class(one.ascii)] if one.ascii else []
    wide = one.wide or len(one.others) > MAX_SPELT
    ways += [WIDE] if wide else [b"".join(b"\\x%02x" % byte for byte in char.encode()) for char in one.others]
    if one.ascii & ESCAPED:
        ways.append(ENTITY)
    if one.ascii == COLON:
        ways.append(PROCESS_COLON)
    return ways[0] if len(ways) == 1 else b"(?:" + b"|".join(ways) + b")"


def _write_class(mask: int, *, beyond: bool = False) -> bytes:
    """Return a class of the ASCII characters in `mask`, and of all bytes beyond ASCII where asked for."""
    if not beyond and (mask & (mask - 1) == 0 or _is_one_letter(mask)):
        char = (mask & -mask).bit_length() - 1
        return b"%c" % char if chr(char).isalnum() else b"\\x%02x" % char
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


def _is_one_letter(mask: int) -> bool:
    """Tell whether the set is a letter in both cases, which the expression's own flag sees to."""
    lower = mask & LOWER
    return lower.bit_count() == 1 and mask == lower | lower >> 32
