r"""Picks the part of a fixed text by which it is best searched for.

In: a text that a pattern matches exactly. Out: literals, of which one is in it however its gaps are filled.

    "error: CUDA driver"      "driver"        the rarest word
    "NCCL info"               "nccl info"     all words are frequent: two or three in a row
    "] /x"                    "] /x"          no word of four letters: whatever there is, punctuation included

A gap of one blank or more stands in the text as one of the signs in GAPS. A phrase over it is searched with one space;
each other way to begin the gap is a literal of its own, and costs next to nothing, as it is rare:

    NCCL\s+WARN               "nccl warn", "nccl\t", "nccl  ", "nccl \t", ...
"""

from __future__ import annotations

import functools
from collections.abc import Container, Iterable
from dataclasses import dataclass

from troubleshoot import late, limits
from troubleshoot.scan.charsets import DIGIT, LOWER, NEWLINE, SPACE, One, mask_of
from troubleshoot.scan.frequencies import NUMBERS_ONLY, cost, cost_of_phrase
from troubleshoot.scan.syntax import Repeat

MAX_LITERALS = 96  # alternatives in one choice: a message in all its languages, gaps, and room
MAX_SPELLINGS = 4  # characters in a class that is still spelt out

# What a word is made of. A non-ASCII character stands for its UTF-8 bytes.
_CHARS = r"[A-Za-z0-9_./\-\u0080-\udfff\uf000-\ufffc\ufffe-\U0010ffff]"
_WORD = late.compile(_CHARS + "+")
_PHRASE = late.compile(rf"(?<!{_CHARS})(?=({_CHARS}+)([ \ue000-\ue002])({_CHARS}+)(?:([ \ue000-\ue002])({_CHARS}+))?)")
# What is taken when there is no word: all but quotes and what HTML, XML and quoted strings write otherwise.
_ANYTHING = late.compile(r"[^\x00-\x08\x0a\x0e-\x1f\"'`<>&\\\ue000-\uefff\ufffd]+")
_PUNCTUATED = late.compile(rb"(?=.*[^a-z0-9]).{3}")  # such a piece of three bytes is as rare as a word of four
_TOO_FREQUENT = 100_000.0  # lines of a million: a piece of any kind that is on more is not worth searching for

# Signs for a gap: of spaces alone; of ASCII blanks; of these and those that chats and pages use. With each, what may
# follow a word when the gap is not a single space.
_ASCII = (b"\t", b"\v", b"\f", b"\r")
SPACES, BLANKS, ALL_BLANKS = "\ue000", "\ue001", "\ue002"
GAPS = {
    SPACES: (b"  ",),
    BLANKS: (*_ASCII, *(b" " + each for each in (b" ", *_ASCII))),
    ALL_BLANKS: (b"\t", b"  ", b" \t"),
}
# Blanks beyond ASCII. A gap with one of them is searched by this character, for all words together: ten more literals
# for each word would slow the search by a fifth, and the input is mended of most of them.
_COPIED = (
    "\u00a0\u00ad\u1680\u180e" + "".join(map(chr, range(0x2000, 0x200E))) + "\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
_COPIED_BYTES = tuple(char.encode() for char in _COPIED)
GAP_COST = 0.2  # lines of a million that hold a word before a tab, two spaces and the like
AVOIDED_COST = 1e6
NO_WORD_FACTOR = 20.0  # digits and punctuation come together more often than by accident

# Share of a log's bytes that one character of a set takes, roughly; counted on a training log.
_SHARES = ((LOWER, 0.028), (DIGIT, 0.02), (mask_of(" "), 0.12), (mask_of("._-/:[]=,"), 0.012))
_OTHER_SHARE = 0.002
_LINES_PER_MILLION = 1e6 * 100  # of 100 bytes each


@dataclass(frozen=True, slots=True)
class Literals:
    """Lower-case byte strings, one of which is in every match; and about how many lines of a million hold one."""

    words: tuple[bytes, ...]
    cost: float


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a node. `texts`: all it can match, when they are few. `best`: one of these must occur."""

    texts: tuple[str, ...] | None
    best: Literals | None


@functools.lru_cache(maxsize=4096)
def spelt_out(one: One, most: int = MAX_SPELLINGS) -> tuple[str, ...]:
    """Return the characters of a set, in lower case, if they are at most so many."""
    if one.wide or one.ascii.bit_count() > 2 * most:
        return ()
    chars = {chr(code).lower() for code in range(128) if one.ascii >> code & 1} | set(one.others)
    return tuple(sorted(chars)) if len(chars) <= most else ()


def gap_sign(repeat: Repeat) -> str | None:
    """Return the sign for a gap that may be a single space; None when the repeat is no such gap."""
    one = repeat.item
    if repeat.low != 1 or not isinstance(one, One) or one.wide or not one.ascii & mask_of(" ") or one.ascii & NEWLINE:
        return None
    if one.ascii == mask_of(" ") and not one.others:
        return SPACES
    if not one.ascii & ~SPACE and not one.others:
        return BLANKS
    return ALL_BLANKS if set(one.others) <= set(_COPIED) and not one.ascii & ~mask_of(" \t") else None


def best_literals(text: str, avoid: Container[bytes]) -> Literals | None:
    """Return the rarest word or phrase of a text; failing that, the rarest piece of any kind."""
    words = [_lower(word) for word in _WORD.findall(text)]
    choices = [
        Literals((word,), AVOIDED_COST if word in avoid else cost(word.decode()))
        for word in words
        if len(word) >= limits.MIN_LITERAL_BYTES
    ]
    if not any(choice.cost <= limits.HOT_LITERAL_LINES for choice in choices):
        choices += _phrases(text, avoid)
    if not choices:
        pieces = [_lower(piece) for piece in _ANYTHING.findall(text)]
        choices = [
            Literals((each,), AVOIDED_COST if each in avoid else _cost_of_anything(each))
            for each in pieces
            if len(each) >= limits.MIN_LITERAL_BYTES or _PUNCTUATED.match(each)
        ]
        choices = [choice for choice in choices if choice.cost <= _TOO_FREQUENT or choice.cost == AVOIDED_COST]
    return min(choices, key=lambda choice: choice.cost, default=None)


def words_of(text: str) -> list[bytes]:
    """Return the words of a text, in lower case."""
    return [_lower(word) for word in _WORD.findall(text)]


def is_word(piece: bytes) -> bool:
    """Tell whether a literal is one word: no blank, quote or colon in it."""
    return _WORD.fullmatch(piece.decode("utf-8", "surrogatepass")) is not None


def merged_literals(choices: Iterable[Literals | None]) -> Literals | None:
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
    least: list[bytes] = []
    for word in sorted(words, key=len):  # one that holds another one is found wherever the other is
        if not any(other in word for other in least):
            least.append(word)
    return Literals(tuple(sorted(least)), total) if least and len(least) <= MAX_LITERALS else None


def rarer(one: Literals | None, other: Literals | None) -> Literals | None:
    if one is None or other is None:
        return one or other
    return min(one, other, key=lambda choice: choice.cost)


def _phrases(text: str, avoid: Container[bytes]) -> list[Literals]:
    found = []
    for match in _PHRASE.finditer(text):
        first, gap, second, second_gap, third = match.groups()
        found.append(_phrase((first, second), (gap,)))
        if third is not None:
            found.append(_phrase((first, second, third), (gap, second_gap)))
    return [
        each
        for each in found
        if all(len(word) >= limits.MIN_LITERAL_BYTES or word in _COPIED_BYTES for word in each.words)
        and not any(word in avoid for word in each.words)
    ]


def _phrase(words: tuple[str, ...], gaps: tuple[str, ...]) -> Literals:
    """Return the literals of which one is in every text that has these words with these gaps between them."""
    others: list[bytes] = []
    for index, gap in enumerate(gaps, 1):
        before = _lower(" ".join(words[:index]))
        others += [before + each for each in GAPS.get(gap, ())]
    if ALL_BLANKS in gaps:
        others += _COPIED_BYTES
    return Literals((_lower(" ".join(words)), *others), cost_of_phrase(words) + GAP_COST * len(others))


def _lower(text: str) -> bytes:
    """Return the bytes of a text with its ASCII letters in lower case, as caseless search sees it."""
    return text.encode("utf-8", "surrogatepass").lower()


def share_of(one: One) -> float:
    """Return the share of an ordinary log's bytes that the characters of a set take, roughly."""
    mask = (one.ascii | (one.ascii << 32 & LOWER)) & ~(LOWER >> 32)
    share = 0.0
    for chars, each in _SHARES:
        share += (mask & chars).bit_count() * each
        mask &= ~chars
    return min(1.0, share + mask.bit_count() * _OTHER_SHARE + 0.01 * one.wide)


def _cost_of_anything(piece: bytes) -> float:
    lines = _LINES_PER_MILLION
    for byte in piece:
        lines *= next((share for chars, share in _SHARES if byte < 128 and chars >> byte & 1), _OTHER_SHARE)
    found = NO_WORD_FACTOR * max(lines, 1.0)
    return found if any(chr(byte).isalpha() for byte in piece) else found + NUMBERS_ONLY
