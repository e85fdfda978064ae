"""Sets of characters, as one step of a pattern takes them.

An ASCII set is a number with one bit per character, so that union and complement are one operation. Of the rest only
what matters here is kept: a few listed characters, or "any".

    One(both_cases(1 << ord("k")))   k and K
    One(DIGIT, others="é")           a digit or é
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce

ASCII_ALL = (1 << 128) - 1
NEWLINE = 1 << 10


def mask_of(chars: str) -> int:
    """Return the set of ASCII characters as a number with one bit each."""
    return reduce(lambda mask, char: mask | 1 << ord(char), chars, 0)


LOWER = mask_of("abcdefghijklmnopqrstuvwxyz")
UPPER = LOWER >> 32
DIGIT = mask_of("0123456789")
WORD = LOWER | UPPER | DIGIT | mask_of("_")
SPACE = mask_of(" \t\n\r\f\v")
HEX = DIGIT | mask_of("abcdefABCDEF")
CONTROL = mask_of("".join(map(chr, range(32)))) | 1 << 127
POSIX = {
    "alpha": LOWER | UPPER,
    "digit": DIGIT,
    "alnum": LOWER | UPPER | DIGIT,
    "lower": LOWER | UPPER,
    "upper": LOWER | UPPER,
    "space": SPACE,
    "xdigit": HEX,
    "word": WORD,
}
# \w, \d and \s mean ASCII alone, for patterns are matched with regex.ASCII.
CLASSES = {"d": DIGIT, "w": WORD, "s": SPACE}
CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a"}


@dataclass(frozen=True, slots=True)
class One:
    """One character: of the ASCII ones in `ascii`, of those listed in `others`, or, if `wide`, any non-ASCII one."""

    ascii: int
    others: str = ""
    wide: bool = False


MAX_OTHERS = 64  # more listed non-ASCII characters than these are taken as any of them
ANY = One(ASCII_ALL, wide=True)


def both_cases(mask: int) -> int:
    """Return the set with both cases of each of its letters."""
    return mask | (mask & UPPER) << 32 | (mask & LOWER) >> 32


@lru_cache(maxsize=1024)
def one_of(char: str) -> One:
    """Return the set of one character, in both cases if it is an ASCII letter."""
    if char == "\ufffd":  # stands for whatever bytes could not be decoded
        return One(0, wide=True)
    return One(both_cases(1 << ord(char))) if char.isascii() else One(0, others=char)
