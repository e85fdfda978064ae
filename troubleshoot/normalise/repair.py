r"""Undoes what terminals and editors did to the bytes of a text: control codes, carriage returns, odd blanks.

In: a `Text` of whole lines. Out: the same text, readable. A text without damage comes back as the same object; what
damage there is, is asked with one `find` per kind. Colours, NUL bytes and invisible characters leave the lines as they
are; a carriage return ends a line, for each state of a progress bar is a record of its own, and an exception printed
behind the last one begins a line:

    "10%\r20%\rTraceback\n"  ->  "10%\n20%\nTraceback\n", all on line 1, at offsets 0, 4, 8

Source: knowledge/log-formats.md, section 20.
"""

from __future__ import annotations

import re

from troubleshoot import late
from troubleshoot.normalise.origins import Place, Text

MANY_NULS = 1000
ESC, CR, NUL, BACKSPACE = b"\x1b", b"\r", b"\0", b"\x08"

_COLOUR = late.compile(rb"\x1b\[(?:[0-79;][0-9;]*)?m")  # 8 hides text: Jenkins puts its notes behind it
_CONTROL = late.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[()][0-9A-Za-z]|[@-Z\\-_=>])")
_JENKINS_NOTE = late.compile(rb"\x1b\[8mha:[A-Za-z0-9+/=]*(?:\x1b\[0m)?")
_CURSOR_UP = late.compile(rb"\x1b\[\d*[AF]")  # what follows is drawn over a line above
_OVERSTRUCK = late.compile(rb"(?:[^\n\x08\x80-\xff]|[\xc0-\xff][\x80-\xbf]*)\x08|^\x08+", re.MULTILINE)
_LONE_RETURN = late.compile(rb"\r(?![\r\n])")
_RETURNS = late.compile(rb"(?:\r+|\x1b\[\d*[AF])\n?")

# Characters that take room and show nothing, and those that take none. Each list begins with its own first byte, so
# that the search runs at the speed of memchr.
_BLANKS = (
    late.compile(rb"\xc2\xa0"),  # no-break space
    late.compile(rb"\xe2(?:\x80[\x80-\x8a\xaf]|\x81\x9f)"),  # typographic spaces
    late.compile(rb"\xe3\x80\x80"),  # ideographic space
)
_INVISIBLE = (
    late.compile(rb"\xc2\xad"),  # soft hyphen
    late.compile(rb"\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xa4\xa6-\xaf])"),  # zero width, direction marks
    late.compile(rb"\xef\xbb\xbf"),  # byte order mark
)
_C1_CONTROL = late.compile(rb"\xc2\x9b[0-?]*[ -/]*[@-~]")
_WIDE_COLON = late.compile(rb"\xef\xbc\x9a(?=[A-Za-z/\[(])")
_FULL_WIDTH = late.compile(rb"\xef(?:\xbc[\x81-\xbf]|\xbd[\x80-\x9e])")

# An escape byte that was lost on the way and stands as text.
_LOST_ESCAPE = late.compile(
    rb"(?:\^\[|#033|\\u001[bB]|\\x1[bB]|\\033|\\e|\xe2\x90\x9b)(?:\[[0-9;?]*[A-Za-z]|\][^\n\\]{0,200}\\\\)"
    rb"|\xef\xbf\xbd\[(?:[0-9;?]+[A-Za-z]|[mK](?![A-Za-z0-9_]))"  # a broken byte may stand before [rank3], too
)
_LOST_SIGNS = (b"^[[", b"#033", b"\\u001", b"\\x1", b"\\033", b"\\e[", b"\xe2\x90\x9b", b"\xef\xbf\xbd")
_BARE_COLOUR = late.compile(rb"\[(?:(?:\d{1,3};)*\d{1,3}m|m(?![A-Za-z0-9_]))")
_BARE_RESET = late.compile(rb"\[0?m")
_BARE_START = late.compile(rb"\[(?:\d{1,3};)*[1-9]\d{0,2}m")
_LAST_RESET = late.compile(rb"\[0m[ \t\r]*$")


def is_damaged(data: bytes | bytearray, end: int) -> bool:
    """Tell whether the first `end` bytes hold terminal codes, NUL bytes or carriage returns within lines."""
    return (
        data.find(ESC, 0, end) >= 0
        or data.find(NUL, 0, end) >= 0
        or (data.find(CR, 0, end) >= 0 and _LONE_RETURN.search(data, 0, end) is not None)
    )


def repair_controls(text: Text) -> Text:
    """Return the text without terminal codes and NUL bytes, with carriage returns as line ends."""
    data = text.data
    plain = strip_colours(data) if ESC in data else data
    if (CR in data and _LONE_RETURN.search(data)) or (ESC in plain and _CURSOR_UP.search(plain)):
        text = split_lines(text, _RETURNS)
        plain = text.data
    if ESC in plain:
        plain = strip_codes(text.data)  # once more from the start, for a note ends with what colours end with
    if NUL in plain:
        # `replace` copies piece by piece: a hole of 4 MiB took it 90 ms
        plain = plain.replace(NUL, b"") if plain.count(NUL) < MANY_NULS else plain.translate(None, NUL)
    return text.with_data(plain)


def strip_colours(data: bytes) -> bytes:
    """Return the data without the escape codes of colours."""
    return b"".join(_COLOUR.split(data))  # a fifth faster than `sub`


def strip_codes(data: bytes) -> bytes:
    """Return the data without terminal escape codes."""
    if b"\x1b[8mha:" in data:
        data = _JENKINS_NOTE.sub(b"", data)
    data = strip_colours(data)
    if ESC in data:
        data = _CONTROL.sub(b"", data).replace(ESC, b"")
    return data


def has_backspaces(data: bytes | bytearray, end: int) -> bool:
    """Tell whether characters were struck over. Rare, so asked of a large source's sample only."""
    return data.find(BACKSPACE, 0, end) >= 0


def repair_backspaces(data: bytes) -> bytes:
    """Return the data without backspaces and what they struck out."""
    for _ in range(8):  # each pass takes the innermost pair; more in a row is a spinner, not a correction
        if BACKSPACE not in data:
            break
        data = _OVERSTRUCK.sub(b"", data)
    return data.replace(BACKSPACE, b"")


def split_lines(text: Text, breaks: re.Pattern[bytes]) -> Text:
    """Return the text with a line end where `breaks` matches, which takes a line feed that follows with it."""
    data = text.data

    def places() -> list[Place]:
        found: list[Place] = []
        for i, line in enumerate(_lines(data)):
            starts = [0, *(m.end() for m in breaks.finditer(line) if m.end() < len(line))]
            found.extend((i, start) for start in starts)
        return found

    broken = breaks.sub(b"\n", data)
    if broken.endswith(b"\n") and not data.endswith(b"\n"):
        broken = broken[:-1]  # the text's last line stays unfinished
    return text.with_lines(broken, places)


def _lines(data: bytes) -> list[bytes]:
    """Return the lines with their line feeds."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    if lines[-1] == b"\n":
        return lines[:-1]
    return [*lines[:-1], lines[-1][:-1]]


def has_odd_characters(data: bytes) -> bool:
    """Tell whether the text holds blanks and marks that only look like ordinary ones, or show nothing."""
    return not data.isascii() and any(p.search(data) for p in (*_BLANKS, *_INVISIBLE, _C1_CONTROL))


def repair_characters(data: bytes) -> bytes:
    """Return the text with every kind of blank as a space, without characters that do not show."""
    if data.isascii():
        return data
    data = _sub(_C1_CONTROL, b"", data)
    for blank in _BLANKS:
        data = _sub(blank, b" ", data)
    for invisible in _INVISIBLE:
        data = _sub(invisible, b"", data)
    return data


def repair_full_width(data: bytes) -> bytes:
    """Return the text with full-width letters, digits and signs as ASCII."""
    if data.isascii():
        return data
    data = _WIDE_COLON.sub(b": ", data)  # it has its blank within
    return _FULL_WIDTH.sub(lambda m: bytes([ord(m[0].decode()) - 0xFEE0]), data)


def repair_lost_escapes(data: bytes) -> bytes:
    """Return the text without colour codes whose escape byte was lost: `^[[31m`, `#033[31m`, bare `[31m ... [0m`."""
    if any(sign in data for sign in _LOST_SIGNS):
        data = _LOST_ESCAPE.sub(b"", data)
    if not _BARE_RESET.search(data):
        return data
    lines = data.split(b"\n")
    return b"\n".join(_BARE_COLOUR.sub(b"", line) if _is_coloured(line) else line for line in lines)


def _is_coloured(line: bytes) -> bool:
    """Tell whether a line holds a colour's beginning and its end, or the end alone as the last there is: `[mlx5_0]` and
    `[0min]` are neither."""
    start = _BARE_START.search(line)
    if start is not None and _BARE_RESET.search(line, start.end()):
        return True
    return _LAST_RESET.search(line) is not None


def repair_double_encoding(data: bytes) -> bytes:
    """Return the text with UTF-8 that was read as cp1252 and written as UTF-8 again turned back, where that works out.

    "donâ€™t" -> "don’t". A run that does not turn back into UTF-8 was no such damage and stays.
    """
    return data if data.isascii() else _NOT_ASCII.sub(_turn_back, data)


_NOT_ASCII = late.compile(rb"(?:[\xc2-\xf4][\x80-\xbf]+){2,}")
_CP1252 = {chr(code): bytes([code]) for code in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}  # undefined there, kept by decoders


def _turn_back(m: re.Match[bytes]) -> bytes:
    try:
        chars = m[0].decode()
        raw = b"".join(_CP1252.get(c) or c.encode("cp1252") for c in chars)
        return raw.decode().encode()
    except UnicodeError:
        return m[0]


def _sub(pattern: re.Pattern[bytes], by: bytes, data: bytes) -> bytes:
    return pattern.sub(by, data) if pattern.search(data) else data
