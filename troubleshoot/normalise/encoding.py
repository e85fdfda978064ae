"""Finds out in which encoding a text is written, and reads it as UTF-8.

In: the first bytes of a source, and the source. Out: the encoding's name, and blocks in UTF-8 whose line maps count
bytes of the source as given.

    ff fe 41 00 0a 00 42 00  ->  "utf-16-le" with a mark of 2 bytes  ->  "A\\nB", lines at offsets 2 and 6

UTF-8 with a few broken bytes stays UTF-8. Another 8-bit encoding is believed only when more than one line of a hundred
is no UTF-8 and the bytes come out as letters of that script. Source: knowledge/log-formats.md, section 20.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from troubleshoot import late, limits
from troubleshoot.model import Block, LineMap
from troubleshoot.normalise.origins import Later

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
LOOK_BYTES = 4096
NUL_SHARE = 0.3
BROKEN_SHARE = 0.01

_SCRIPTS = (  # encoding, letters that must come out, and what share of the non-ASCII ones they must be
    ("cp932", late.compile("[\u3041-\u30fe]"), 0.3),
    ("cp1252", late.compile("[äöüßÄÖÜéèêëàâçîïôùûñáíóúÉÈÀÇæøåÆØÅ„“”’–°«»]"), 0.9),
    ("cp949", late.compile("[\uac00-\ud7a3]"), 0.95),
    ("gb18030", late.compile("[\u4e00-\u9fff\uff00-\uff5e\u3001\u3002]"), 0.9),
)


def detect_encoding(head: bytes) -> tuple[str, int]:
    """Return the name of the encoding and the length of the byte order mark. "utf-8" unless there is reason."""
    for mark, name in MARKS:
        if head.startswith(mark) and not (is_wide(name) and _is_plain(head[len(mark) : LOOK_BYTES])):
            return name, len(mark)
    return _without_mark(head[:LOOK_BYTES]) or _eight_bit(head) or "utf-8", 0


def is_wide(encoding: str) -> bool:
    """Tell whether the encoding has more than one byte per unit, so that its lines cannot be cut at a byte."""
    return encoding.startswith(("utf-16", "utf-32"))


def _is_plain(text: bytes) -> bool:
    """Tell whether bytes behind a mark of a wide encoding are plain ASCII all the same."""
    return len(text) > 3 and 0 not in text and text.isascii()


def _without_mark(head: bytes) -> str | None:
    """Return the UTF-16 or UTF-32 that the NUL bytes' places tell of."""
    if head.count(0) < NUL_SHARE * max(len(head), 8):
        return None
    quarters = [head[i::4].count(0) / max(1, len(head[i::4])) for i in range(4)]
    zero = [share > 0.9 for share in quarters]
    none = [share < 0.1 for share in quarters]
    if zero == [False, True, True, True] and none[0]:
        return "utf-32-le"
    if zero == [True, True, True, False] and none[3]:
        return "utf-32-be"
    odd, even = quarters[1] + quarters[3], quarters[0] + quarters[2]
    if odd > 10 * even and odd > 0.5:
        return "utf-16-le"
    if even > 10 * odd and even > 0.5:
        return "utf-16-be"
    return None


def _eight_bit(head: bytes) -> str | None:
    lines = [line for line in head.split(b"\n")[: limits.PROBE_LINES] if line]
    broken = [line for line in lines if not _is_utf8(line)]
    if len(broken) <= BROKEN_SHARE * len(lines):
        return None
    sample = b"\n".join(broken)
    for encoding, letters, share in _SCRIPTS:
        text = sample.decode(encoding, "replace")
        foreign = [c for c in text if c > "\x7f"]
        if len(letters.findall(text)) >= share * len(foreign) > 0:
            return encoding
    return None


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data" and len(line) - error.start < 4  # cut by the look itself
    return True


def read_wide_blocks(stream: object, encoding: str, mark: int, size: int = limits.BLOCK_BYTES) -> Iterator[Block]:
    """Yield a UTF-16 or UTF-32 stream as blocks in UTF-8. Broken units become U+FFFD."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    _read(stream, mark)
    line, offset, carry = 1, mark, ""
    while True:
        raw = _read(stream, size)
        last = len(raw) < size
        text = carry + decoder.decode(raw, final=last)
        cut_at = len(text) if last else text.rfind("\n") + 1
        cut = not last and len(text) - cut_at > limits.LINE_BYTES
        if cut:
            cut_at = len(text)
        whole, carry = text[:cut_at], text[cut_at:]
        if whole or last:
            yield _wide_block(whole, encoding, line, offset, last=last, cut=cut)
        if last:
            return
        line += whole.count("\n")
        offset += len(whole.encode(encoding, "replace"))


def _wide_block(text: str, encoding: str, line: int, offset: int, *, last: bool, cut: bool) -> Block:
    count = text.count("\n") + (not text.endswith("\n"))

    def starts() -> list[int]:
        found = [offset]
        for each in text.split("\n")[: count - 1]:
            found.append(found[-1] + len((each + "\n").encode(encoding, "replace")))
        return found

    places = LineMap(range(line, line + count), Later(starts))
    return Block(text.encode("utf-8", "replace"), line, offset, places, last=last, cut=cut)


def _read(stream: object, size: int) -> bytes:
    """Read up to `size` bytes; fewer only at the end."""
    buffer = bytearray(size)
    filled = 0
    with memoryview(buffer) as view:
        while filled < size:
            got = stream.readinto(view[filled:])  # type: ignore[attr-defined] # any stream that ingest opened
            if not got:
                break
            filled += got
    return bytes(buffer[:filled])
