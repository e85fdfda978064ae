r"""Derives the literals a pattern cannot match without.

In: a pattern. Out: a few byte strings of which at least one stands, in either case, in every text that the pattern
matches. They are what the prefilter searches for, so one choice is made per pattern: the rarest in ordinary logs.

    version\W{1,8}GLIBC_(?P<needed>[\d.]+)\W+not found      "GLIBC_"   (rarer than "version" and "found")
    via NET/(?:AWS Libfabric|OFI)/\d                        "Libfabric/" or "NET/OFI/"
    (?:os\.fork\(\)|popen_fork)(?:[^\n]*\n){1,9}?OSError    "OSError"

Each node of the tree gives two things: the few texts it can match exactly, when they are few (they join up with their
neighbours to longer literals), and its best choice, a set of which one must occur. A sequence needs each of its parts,
so it takes its cheapest; an alternation needs one of its branches, so it takes the union.

A literal holds no quote, colon or bracket: those vary by wrapper and by how a log was copied. It is a word, for rare
words are found fastest; or, where all words are common, two or three in a row. If the pattern is forgiving about the
blanks between them, each other way to begin the gap is a literal of its own, and costs next to nothing, as it is rare:

    NCCL\s+WARN                "nccl warn", "nccl\t", "nccl  ", "nccl \t", ...
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from troubleshoot import limits
from troubleshoot.model import Pattern
from troubleshoot.scan.charsets import NEWLINE, SPACE, One, mask_of
from troubleshoot.scan.frequencies import cost, cost_of_phrase
from troubleshoot.scan.syntax import Alt, End, Look, Node, NotAhead, Opaque, Repeat, Seq, parse

MAX_TEXTS = 16  # exact texts followed at a time; past it a run of literals ends
MAX_CHARS = 64  # of one exact text
MAX_LITERALS = 96  # alternatives in one choice: a message in all its languages, gaps, and room
MAX_SPELLINGS = 4  # characters in a class that is still spelt out

# What a literal is made of: see above. A non-ASCII character stands for its UTF-8 bytes.
_CHARS = r"[A-Za-z0-9_./\-\u0080-\udfff\uf000-\ufffc\ufffe-\U0010ffff]"
_PIECE = re.compile(_CHARS + "+")
_PHRASE = re.compile(rf"(?=({_CHARS}+)([ \ue000-\ue002])({_CHARS}+)(?:([ \ue000-\ue002])({_CHARS}+))?)(?<!{_CHARS})")
# Stand for a gap of one blank or more: of spaces alone, of ASCII blanks, of these and those that chats and pages use.
# With each, what may follow a word when the gap is not a single space; of a character beyond ASCII, its first byte.
_ASCII = (b"\t", b"\v", b"\f", b"\r", b" ")
GAPS = {
    "\ue000": (b"  ",),
    "\ue001": (*_ASCII[:-1], *(b" " + each for each in _ASCII)),
    "\ue002": (
        *(b"\t", b"\xc2", b"\xe1", b"\xe2", b"\xe3", b"\xef"),
        *(b" " + each for each in (b" ", b"\t", b"\xc2", b"\xe1", b"\xe2", b"\xe3", b"\xef")),
    ),
}
GAP_COST = 0.5  # lines of a million that hold a word before a tab, two spaces and the like


@dataclass(frozen=True, slots=True)
class Literals:
    """Lower-case byte strings, one of which is in every match; and about how many lines of a million hold one."""

    words: tuple[bytes, ...]
    cost: float


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of a node. `texts`: all it can match, when they are few. `best`: one of these must occur."""

    texts: tuple[str, ...] | None
    best: Literals | None


NOTHING = _Facts(None, None)
ONLY_EMPTY = _Facts(("",), None)


def required_literals(pattern: Pattern) -> Literals | None:
    """Return the literals of which one occurs, caselessly, in every match; None when there are none worth searching."""
    return literals_of(parse(pattern.regex, spans=pattern.lines > 1))


def literals_of(node: Node) -> Literals | None:
    """Return the literals of which one occurs wherever the node matches."""
    facts = _facts(node)
    return _better(facts.best, _choice(facts.texts))


def _facts(node: Node) -> _Facts:
    if isinstance(node, One):
        return _facts_of_one(node)
    if isinstance(node, Seq):
        return _facts_of_seq(node)
    if isinstance(node, Alt):
        return _facts_of_alt(node)
    if isinstance(node, Repeat):
        return _facts_of_repeat(node)
    if isinstance(node, Look):
        inner = _facts(node.item)
        return _Facts(("",), _better(inner.best, _choice(inner.texts)))
    if isinstance(node, NotAhead | End):
        return ONLY_EMPTY
    assert isinstance(node, Opaque)
    return NOTHING


def _facts_of_one(one: One) -> _Facts:
    if one.wide or one.ascii.bit_count() > 2 * MAX_SPELLINGS:
        return NOTHING
    chars = {chr(code).lower() for code in range(128) if one.ascii >> code & 1} | set(one.others)
    return _Facts(tuple(sorted(chars)), None) if 0 < len(chars) <= MAX_SPELLINGS else NOTHING


def _facts_of_seq(seq: Seq) -> _Facts:
    run: tuple[str, ...] = ("",)
    best: Literals | None = None
    whole = True
    for item in seq.items:
        facts = _facts(item)
        best = _better(best, facts.best)
        joined = _join(run, facts.texts)
        if joined is None:
            whole = False
            best = _better(best, _choice(run))
            run = facts.texts or ("",)
        else:
            run = joined
    return _Facts(run if whole else None, best if whole else _better(best, _choice(run)))


def _join(run: tuple[str, ...], texts: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if texts is None or len(run) * len(texts) > MAX_TEXTS:
        return None
    joined = tuple(dict.fromkeys(before + after for before in run for after in texts))
    return joined if max(map(len, joined)) <= MAX_CHARS else None


def _facts_of_alt(alt: Alt) -> _Facts:
    branches = [_facts(branch) for branch in alt.branches]
    texts: list[str] | None = []
    for facts in branches:
        texts = None if texts is None or facts.texts is None else [*texts, *facts.texts]
    exact = tuple(dict.fromkeys(texts)) if texts is not None and len(texts) <= MAX_TEXTS else None
    return _Facts(exact, _union(_better(facts.best, _choice(facts.texts)) for facts in branches))


def _facts_of_repeat(repeat: Repeat) -> _Facts:
    if repeat.high == 0:
        return ONLY_EMPTY
    gap = _gap(repeat)
    if gap is not None:
        return _Facts((gap,), None)
    inner = _facts(repeat.item)
    if repeat.low == 0:
        optional = repeat.high == 1 and inner.texts is not None and len(inner.texts) < MAX_TEXTS
        return _Facts(tuple(dict.fromkeys(("", *(inner.texts or ())))), None) if optional else NOTHING
    texts: tuple[str, ...] | None = ("",)
    for _ in range(repeat.low):
        texts = _join(texts, inner.texts) if texts is not None else None
    exact = texts if repeat.low == repeat.high else None
    return _Facts(exact, _better(inner.best, _choice(texts or inner.texts)))


def _choice(texts: tuple[str, ...] | None) -> Literals | None:
    """Return the best piece of each text, together: whichever text is matched, one of them is there."""
    return None if texts is None else _union(map(_best_piece, texts))


def _gap(repeat: Repeat) -> str | None:
    """Return the sign for a gap that may be a single space; None when the repeat is no such gap."""
    one = repeat.item
    if repeat.low != 1 or not isinstance(one, One) or one.wide or not one.ascii & mask_of(" ") or one.ascii & NEWLINE:
        return None
    if one.ascii == mask_of(" ") and not one.others:
        return "\ue000"
    if not one.ascii & ~SPACE and not one.others:
        return "\ue001"
    known = all(char.encode()[:1] in GAPS["\ue002"] for char in one.others)
    return "\ue002" if known and not one.ascii & ~mask_of(" \t") else None


def _best_piece(text: str) -> Literals | None:
    """Return the rarest word or phrase of a text."""
    words = [piece.encode().lower() for piece in _PIECE.findall(text)]
    choices = [Literals((word,), cost(word.decode())) for word in words if len(word) >= limits.MIN_LITERAL_BYTES]
    if not any(choice.cost <= limits.HOT_LITERAL_LINES for choice in choices):
        for match in _PHRASE.finditer(text):
            first, gap, second, second_gap, third = match.groups()
            choices.append(_phrase((first, second), (gap,)))
            if third is not None:
                choices.append(_phrase((first, second, third), (gap, second_gap)))
        choices = [choice for choice in choices if min(map(len, choice.words)) >= limits.MIN_LITERAL_BYTES]
    return min(choices, key=lambda choice: choice.cost, default=None)


def _phrase(words: tuple[str, ...], gaps: tuple[str, ...]) -> Literals:
    """Return the literals of which one is in every text that has these words with these gaps between them."""
    found = [" ".join(words)]
    others = []
    for index, gap in enumerate(gaps, 1):
        before = " ".join(words[:index]).encode().lower()
        others += [before + each for each in GAPS.get(gap, ())]
    return Literals(
        (found[0].encode().lower(), *others), cost_of_phrase(words) + GAP_COST * len(others) / max(1, len(gaps))
    )


def _union(choices: Iterable[Literals | None]) -> Literals | None:
    """Return a choice that holds where any of these does; None when one of them is None."""
    words: set[bytes] = set()
    seen: set[tuple[bytes, ...]] = set()
    total = 0.0
    for choice in choices:
        if choice is None:
            return None
        total += 0.0 if choice.words in seen else choice.cost
        seen.add(choice.words)
        words.update(choice.words)
    # a word that holds another one is found wherever the other is
    least = [word for word in words if not any(other != word and other in word for other in words)]
    return Literals(tuple(sorted(least)), total) if least and len(least) <= MAX_LITERALS else None


def _better(one: Literals | None, other: Literals | None) -> Literals | None:
    if one is None or other is None:
        return one or other
    return min(one, other, key=lambda choice: choice.cost)
