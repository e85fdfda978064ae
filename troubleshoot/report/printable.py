"""Text from strangers, made safe and measured for a terminal.

A log may hold codes that move the cursor, recolour the screen, set its title or turn the reading direction. They are
shown, not obeyed: ESC becomes the four characters `\\x1b`. Widths are in terminal cells: a Chinese character takes two.
"""

from __future__ import annotations

import re
import unicodedata

from troubleshoot import late

# C0 but tab and line feed, DEL, C1, bidi marks and controls, line and paragraph separator, BOM, surrogates, tags
UNSAFE = late.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
TAB = "    "
_WIDE = r"\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef"
# a wide character or a word, with the punctuation that may not be parted from it by a line's end
PIECES = late.compile(rf"[（「『【《〈]*(?:[{_WIDE}]|[^{_WIDE}]+)[，。、；：！？）」』】》〉]*\s*")


def visible(text: str) -> str:
    """Return the text with control characters as escapes. Tabs and line feeds stay."""
    return UNSAFE.sub(_escape, text)


def one_line(text: str) -> str:
    """Return the text as a single safe line: line breaks and tabs become blanks."""
    return visible(" ".join(text.split()) if "\n" in text or "\r" in text or "\t" in text else text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def cells(text: str) -> int:
    """Return how many terminal cells the text takes."""
    return len(text) if text.isascii() else sum(map(_cell_width, text))


def pad(text: str, width: int) -> str:
    """Return the text with blanks behind it up to so many cells."""
    return text + " " * max(0, width - cells(text))


def take_head(text: str, width: int) -> str:
    """Return as many characters from the start as fit into so many cells."""
    if text.isascii():
        return text[: max(width, 0)]
    used = 0
    for index, char in enumerate(text):
        used += _cell_width(char)
        if used > width:
            return text[:index]
    return text


def take_tail(text: str, width: int) -> str:
    """Return as many characters from the end as fit into so many cells."""
    return take_head(text[::-1], width)[::-1]


def cut_end(text: str, width: int, ellipsis: str = "…") -> str:
    """Return the text in at most so many cells, the ellipsis standing for what is left out."""
    return text if cells(text) <= width else take_head(text, width - len(ellipsis)) + ellipsis


def cut_middle(text: str, width: int, ellipsis: str = "…") -> str:
    """Return head and tail of a text that does not fit."""
    if cells(text) <= width:
        return text
    room = max(width - len(ellipsis), 0)
    tail = take_tail(text, room // 2)
    return take_head(text, room - cells(tail)) + ellipsis + tail


def cut_around(text: str, start: int, end: int, width: int, ellipsis: str = "…") -> tuple[str, str, str]:
    """Return what stands before, in and after a span of the text, safe to print, in at most so many cells.

    The span stays whole if it fits; what is cut away at either side is marked by the ellipsis.
    """
    before, match, after = (_flat(part) for part in (text[:start], text[start:end], text[end:]))
    spare = width - cells(before) - cells(match) - cells(after)
    if spare >= 0:
        return before, match, after
    match = cut_middle(match, width - (len(ellipsis) if before else 0) - (len(ellipsis) if after else 0), ellipsis)
    room = width - cells(match)
    share_before = max(room // 4, room - cells(after))  # what follows a match says more than what precedes it
    before = _cut_start(before, share_before, ellipsis)
    return before, match, cut_end(after, room - cells(before), ellipsis)


def _cut_start(text: str, width: int, ellipsis: str) -> str:
    return text if cells(text) <= width else ellipsis + take_tail(text, width - len(ellipsis))


def _flat(text: str) -> str:
    return visible(text.replace("\t", TAB).replace("\n", " "))


def wrap(text: str, width: int) -> list[str]:
    """Return the text's paragraphs wrapped at blanks, and at any wide character. A long path or URL stays whole."""
    lines: list[str] = []
    for paragraph in visible(text).split("\n"):
        line = ""
        for word in _words(paragraph):
            if line and cells(line.rstrip()) + cells(word.rstrip()) + (len(line) - len(line.rstrip())) > width:
                lines.append(line.rstrip())
                line = ""
            line += word
        if line.strip():
            lines.append(line.rstrip())
    return lines


def _words(paragraph: str) -> list[str]:
    """Return pieces a line may break after: words with the blanks behind them, single wide characters."""
    words = re.findall(r"\S+\s*", paragraph.strip())
    if paragraph.isascii():
        return words
    return [piece for word in words for piece in PIECES.findall(word)]


def _cell_width(char: str) -> int:
    if char < "\u0300":
        return 1
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
