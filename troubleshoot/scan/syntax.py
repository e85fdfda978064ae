r"""Reads `regex` syntax into a small tree that says what any match must hold, and no more.

In: the source of a pattern. Out: a node. The tree describes a superset of what the pattern matches, so that whatever is
derived from it (a literal to search for, a simpler pattern for the prefilter) is present wherever the pattern matches:

    '(?P<lib>lib\w+)\.so(?: not)? found'
    Seq(l, i, b, Repeat(One(\w), 1..), '.', s, o, Repeat(Seq(' ', n, o, t), 0..1), ' ', f, o, u, n, d)

What takes no part in that (anchors, most look-around, comments) is left out; what is not understood is `Opaque`,
any text at all. A pattern with syntax that could change the meaning of the rest (verbose mode switched on half-way,
fuzzy matching with odd parts) is Opaque as a whole.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from troubleshoot import late
from troubleshoot.scan.charsets import (
    ANY,
    ASCII_ALL,
    CLASSES,
    CONTROLS,
    MAX_OTHERS,
    NEWLINE,
    POSIX,
    One,
    both_cases,
    one_of,
)

Node: TypeAlias = "One | Seq | Alt | Repeat | Look | NotAhead | End | Opaque"

ZERO_WIDTH = frozenset("AZzbBGmMK")


@dataclass(frozen=True, slots=True)
class Seq:
    items: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Alt:
    branches: tuple[Seq, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`item` at least `low` times, at most `high` (None: without end)."""

    item: Node
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Look:
    """A positive look-around: its text must be there, at this place, and takes no room."""

    item: Seq


@dataclass(frozen=True, slots=True)
class NotAhead:
    """A negative look-ahead: none of these texts may follow. All its sets are exact, none is a superset."""

    words: tuple[tuple[One, ...], ...]


@dataclass(frozen=True, slots=True)
class End:
    """The end of a line."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """Any text, of any length."""


EMPTY = Seq()


class _UnreadableError(Exception):
    """The pattern holds syntax after which nothing certain can be said of it."""


@functools.lru_cache(maxsize=16)  # one pattern is looked at in several ways, one after the other
def parse(source: str, *, spans: bool = False, exact_case: bool = False) -> Node:
    """Return the tree of a pattern. Unless it `spans` lines, its text holds no line feed, and no node matches one.
    A letter stands for both its cases."""
    try:
        return _Parser(source, spans, exact_case).parse()
    except (_UnreadableError, RecursionError, IndexError):
        return Opaque()


_FLAGS = late.compile(r"\(\?(?P<on>[a-zA-Z01]*)(?:-(?P<off>[a-z]+))?(?P<end>[:)])")
_GROUP_NAME = late.compile(r"\(\?P?<\w+>|\(\?'\w+'")
_QUANTIFIER = late.compile(r"\{(\d*)(,?)(\d*)\}")
_FUZZY = late.compile(r"\{[A-Za-z0-9<=>+, ]*\}")
_BACK_REFERENCE = late.compile(r"\(\?P=\w+\)|\(\?P>\w+\)|\(\?&\w+\)|\(\?(?:R|[+-]?\d+)\)")
_POSIX_CLASS = late.compile(r"\[:(\^?)(\w+):\]")
_BRACED = late.compile(r"\{[^{}]*\}")


def _words(branch: Seq) -> Iterator[tuple[One, ...]]:
    """Yield the text that a branch of a negative look-ahead forbids, if it is one plain word. Parts at either end that
    may be empty do not matter: if `\\S*word` must not follow, then `word` must not."""
    items = list(branch.items)
    while items and isinstance(items[0], Repeat) and items[0].low == 0:
        items.pop(0)
    while items and isinstance(items[-1], Repeat) and items[-1].low == 0:
        items.pop()
    ones = tuple(item for item in items if isinstance(item, One) and not item.wide and not item.others)
    if items and len(ones) == len(items):
        yield ones


class _Parser:
    def __init__(self, source: str, spans: bool, exact: bool) -> None:
        self._source = source
        self._at = 0
        self._zero_widths = 0  # read so far of what takes no room
        # look-aheads are taken as caseless, and what must not follow must not be widened
        self._mixes_case = exact or "(?-" in source
        self._verbose = False
        flags = _FLAGS.match(source)
        if flags is not None and flags["end"] == ")" and "x" in flags["on"]:
            self._verbose = True
        self._dot_takes_newline = re.search(r"\(\?[a-zA-Z01]*s", source) is not None
        self._text = ASCII_ALL if spans else ASCII_ALL & ~NEWLINE

    def parse(self) -> Alt | Seq:
        found = self._alternatives()
        if self._at != len(self._source):
            raise _UnreadableError
        return found

    def _alternatives(self) -> Alt | Seq:
        branches = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else Alt(tuple(branches))

    def _sequence(self) -> Seq:
        items: list[Node] = []
        while (char := self._peek()) and char not in "|)":
            if self._verbose and char in " \t\n\r\f\v#":
                self._skip_verbose(char)
                continue
            item = self._repeated(self._item())
            if isinstance(item, Seq):
                items.extend(item.items)
            else:
                items.append(item)
        return Seq(tuple(items))

    def _item(self) -> Node:
        char = self._source[self._at]
        if char == "(":
            return self._group()
        self._at += 1
        if char == "[":
            return self._class()
        if char == "\\":
            return self._escape()
        if char == ".":
            return One(self._text if self._dot_takes_newline else self._text & ~NEWLINE, wide=True)
        if char in "^$":
            self._zero_widths += 1
            return End() if char == "$" else EMPTY
        return self._char(char)

    def _char(self, char: str) -> One:
        one = one_of(char)
        return One(0) if one.ascii & ~self._text else one

    def _repeated(self, item: Node) -> Node:
        if self._verbose:
            while (char := self._peek()) and char in " \t\n\r\f\v#":
                self._skip_verbose(char)
        char = self._peek()
        if char == "{":
            return self._braced(item)
        bounds: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if not char or char not in bounds:
            return item
        self._at += 1
        return self._finish(item, *bounds[char])

    def _braced(self, item: Node) -> Node:
        """Read a quantifier in braces, or a fuzzy one, which may change any character, or a brace that means itself."""
        bounds = _QUANTIFIER.match(self._source, self._at)
        if bounds is not None and (bounds[1] or bounds[3]):
            self._at = bounds.end()
            low = int(bounds[1] or 0)
            high = (int(bounds[3]) if bounds[3] else None) if bounds[2] else low
            return self._finish(item, low, high)
        following = self._source[self._at + 1 : self._at + 2]
        if not following.isalnum() and following not in ("<", ","):
            return item  # a brace that means itself
        fuzzy = _FUZZY.match(self._source, self._at)
        if fuzzy is None:
            raise _UnreadableError
        self._at = fuzzy.end()
        return Opaque()

    def _finish(self, item: Node, low: int, high: int | None) -> Node:
        char = self._peek()
        if char and char in "?+":  # lazy or possessive: the same texts, or fewer
            self._at += 1
        if self._peek() == "{":  # regex takes a fuzzy constraint behind a quantifier
            raise _UnreadableError
        return item if (low, high) == (1, 1) else Repeat(item, low, high)

    def _group(self) -> Node:
        source, at = self._source, self._at
        if not source.startswith("(?", at):
            return self._body(1)
        if source.startswith("(?#", at):
            self._at = source.index(")", at) + 1
            return EMPTY
        reference = _BACK_REFERENCE.match(source, at)
        if reference is not None:
            self._at = reference.end()
            return Opaque()
        for opening in ("(?<!", "(?!", "(?<=", "(?="):
            if source.startswith(opening, at):
                return self._look_around(opening)
        for opening in ("(?>", "(?|"):
            if source.startswith(opening, at):
                return self._body(len(opening))
        if source.startswith("(?(", at):
            raise _UnreadableError
        name = _GROUP_NAME.match(source, at)
        if name is not None:
            return self._body(name.end() - at)
        return self._flags()

    def _look_around(self, opening: str) -> Node:
        before = self._zero_widths
        body = self._body(len(opening))
        plain = self._zero_widths == before
        self._zero_widths += 1
        if opening.endswith("="):
            return Look(Seq((body,)))
        if opening == "(?<!" or not plain or self._mixes_case:
            return EMPTY
        words = tuple(
            word for branch in (body.branches if isinstance(body, Alt) else (body,)) for word in _words(branch)
        )
        return NotAhead(words) if words else EMPTY

    def _flags(self) -> Node:
        flags = _FLAGS.match(self._source, self._at)
        if flags is None:
            raise _UnreadableError
        switched = set(flags["on"] + (flags["off"] or ""))
        at_start = self._at == 0 and flags["end"] == ")"
        if switched - set("ims" if not at_start else "imsxa"):
            raise _UnreadableError
        if flags["end"] == ")":
            self._at = flags.end()
            return EMPTY
        return self._body(flags.end() - self._at)

    def _body(self, opening: int) -> Alt | Seq:
        self._at += opening
        found = self._alternatives()
        if self._peek() != ")":
            raise _UnreadableError
        self._at += 1
        return found

    def _escape(self) -> Node:
        one = self._escaped_set()
        if one is not None:
            return One(one.ascii & self._text, one.others, one.wide)
        char = self._source[self._at - 1]
        if char in ZERO_WIDTH:
            self._zero_widths += 1
            return End() if char in "Zz" else EMPTY
        if char == "g" and self._peek() == "<":
            self._at = self._source.index(">", self._at) + 1
        elif char.isdigit():
            while (digit := self._peek()) and digit.isdigit():
                self._at += 1
        elif char not in "RX":
            raise _UnreadableError
        return Opaque()

    def _escaped_set(self) -> One | None:
        """Read what follows a backslash as a set of characters; None when it is none."""
        char = self._source[self._at]
        self._at += 1
        if char.lower() in CLASSES:
            mask = CLASSES[char.lower()]
            return One(mask) if char.islower() else One(ASCII_ALL & ~mask, wide=True)
        if char in CONTROLS:
            return one_of(CONTROLS[char])
        if char in "xuU":
            length = {"x": 2, "u": 4, "U": 8}[char]
            digits = self._source[self._at : self._at + length]
            if len(digits) < length or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
                raise _UnreadableError
            self._at += length
            return one_of(chr(int(digits, 16)))
        if char in "pPNh":
            braced = _BRACED.match(self._source, self._at)
            if braced is not None:
                self._at = braced.end()
            elif char != "h":
                self._at += 1
            return ANY
        if not char.isalnum() and char not in ZERO_WIDTH:
            return one_of(char)
        return None

    def _class(self) -> One:
        """Read a character class; the opening bracket is behind us."""
        source = self._source
        negated = source[self._at] == "^"
        self._at += negated
        found, sure, first = One(0), True, True
        while source[self._at] != "]" or first:
            first = False
            one, exact = self._class_member()
            found = One(found.ascii | one.ascii, found.others + one.others, found.wide or one.wide)
            sure = sure and exact
        self._at += 1
        if negated:
            found = One(ASCII_ALL & ~found.ascii if sure else ASCII_ALL, wide=True)
        if len(found.others) > MAX_OTHERS:
            found = One(found.ascii, wide=True)
        return One(found.ascii & self._text, found.others, found.wide)

    def _class_member(self) -> tuple[One, bool]:
        """Return the set that the next member of a class stands for, and whether it is exactly that set."""
        posix = _POSIX_CLASS.match(self._source, self._at)
        if posix is not None:
            self._at = posix.end()
            return (One(POSIX[posix[2]], wide=True) if posix[2] in POSIX and not posix[1] else ANY), False
        low, one = self._class_char()
        if self._source[self._at] != "-" or self._source[self._at + 1] == "]":
            return one, one is not ANY
        self._at += 1
        high, _ = self._class_char()
        if low is None or high is None:
            return ANY, False
        mask = reduce(lambda found, code: found | 1 << code, range(ord(low), min(ord(high), 127) + 1), 0)
        beyond = range(max(ord(low), 128), ord(high) + 1)
        if len(beyond) > MAX_OTHERS:
            return One(both_cases(mask), wide=True), True
        return One(both_cases(mask), "".join(map(chr, beyond))), True

    def _class_char(self) -> tuple[str | None, One]:
        """Return the next character of a class and its set; no character where the set is a class of its own."""
        start = self._at
        char = self._source[start]
        self._at += 1
        if char != "\\":
            return char, one_of(char)
        if self._source[self._at] == "b":
            self._at += 1
            return "\b", One(1 << 8)
        if self._source[self._at].isdigit():
            while self._source[self._at].isdigit():
                self._at += 1
            return None, ANY
        one = self._escaped_set()
        if one is None:
            raise _UnreadableError
        written = self._source[start + 1 : self._at]
        if written[0] in "xuU":
            return chr(int(written[1:], 16)), one
        return CONTROLS.get(written) or (written if not written.isalnum() else None), one

    def _peek(self) -> str:
        return self._source[self._at : self._at + 1]

    def _skip_verbose(self, char: str) -> None:
        self._at += 1
        if char == "#":
            end = self._source.find("\n", self._at)
            self._at = len(self._source) if end < 0 else end + 1
