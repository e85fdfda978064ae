"""Reads a tar archive as a stream: one member after the other, nothing written, nothing held.

In: a stream that is read once. Out: members with a name, a kind and a stream of their bytes. It is ours and not
`tarfile` for the hostile case: that one keeps every member in memory and reads a header's text of any size at once.
What a member's name says is only ever shown, so `../` in it does no harm.
Source: POSIX pax Interchange Format; GNU tar manual, "Basic Tar Format".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from troubleshoot.ingest.streams import Readable, read_head

BLOCK = 512
HEADER_TEXT_BYTES = 64 * 1024  # a long name or pax header; a longer one is skipped
_ZERO = bytes(BLOCK)
KINDS = {
    b"0": "file", b"\0": "file", b"7": "file", b"1": "hard link", b"2": "link", b"3": "device", b"4": "device",
    b"5": "folder", b"6": "pipe",
}  # fmt: skip


class TarError(Exception):
    """The archive cannot be read on; what came before stands."""


@dataclass(slots=True)
class Member:
    """A member; its bytes can be read until the next member is asked for."""

    name: str
    kind: str
    size: int
    stream: MemberStream


class MemberStream:
    """The next `size` bytes of the archive."""

    def __init__(self, stream: Readable, size: int) -> None:
        self._stream = stream
        self.left = size
        self.is_cut = False

    def readinto(self, buffer: memoryview) -> int:
        got = self._stream.readinto(buffer[: self.left]) or 0 if self.left else 0
        self.is_cut = not got and self.left > 0 and len(buffer) > 0
        self.left -= got
        return got


def read_members(stream: Readable) -> Iterator[Member]:
    """Yield the archive's members in order. Raises TarError where it cannot go on."""
    name: str | None = None
    size: int | None = None
    while True:
        header = read_head(stream, BLOCK)
        if not header or header == _ZERO:
            return
        if len(header) < BLOCK or not _is_header(header):
            raise TarError("a header is cut or damaged")
        kind, length = header[156:157], _number(header[124:136])
        if kind in (b"L", b"K", b"x", b"g", b"X"):
            text = _header_text(stream, length)
            if kind == b"L":
                name = text.rstrip(b"\0").decode("utf-8", "replace")
            elif kind == b"x":
                pax = _pax(text)
                name = pax.get("path", name)
                size = int(pax["size"]) if pax.get("size", "").isdigit() and len(pax["size"]) < 20 else size
            continue
        length = size if size is not None else length
        what = KINDS.get(kind, "special")
        member = MemberStream(stream, length if what in ("file", "special") else 0)
        yield Member(name if name is not None else _name(header), what, length, member)
        _skip(member, length)
        name = size = None


def _skip(member: MemberStream, length: int) -> None:
    """Read over what was not read of a member, and the padding after it."""
    scrap = memoryview(bytearray(BLOCK * BLOCK))
    while member.left:
        if not member.readinto(scrap):
            raise TarError("the archive ends within a member")
    if length % BLOCK and member.left == 0:
        member.left = BLOCK - length % BLOCK
        while member.left and member.readinto(scrap):
            pass


def _header_text(stream: Readable, length: int) -> bytes:
    text = MemberStream(stream, length)
    head = read_head(text, min(length, HEADER_TEXT_BYTES))
    _skip(text, length)
    return head


def _pax(text: bytes) -> dict[str, str]:
    found = {}
    while m := re.match(rb"(\d{1,8}) ", text):
        length = int(m[1])
        if length < m.end() or length > len(text):
            break
        key, _, value = text[m.end() : length].rstrip(b"\n").partition(b"=")
        found[key.decode("utf-8", "replace")] = value.decode("utf-8", "replace")
        text = text[length:]
    return found


def _name(header: bytes) -> str:
    name, prefix = header[:100].split(b"\0")[0], header[345:500].split(b"\0")[0]
    if prefix and header[257:263] == b"ustar\0":
        name = prefix + b"/" + name
    return name.decode("utf-8", "replace")


def _is_header(header: bytes) -> bool:
    field = header[148:156].strip(b"\0 ")
    if not re.fullmatch(rb"[0-7]{1,7}", field):
        return False
    plain = sum(header[:148]) + 8 * 32 + sum(header[156:])
    return int(field, 8) == plain


def _number(field: bytes) -> int:
    """Return an octal number, or one in base 256 as GNU tar writes sizes of 8 GiB and more."""
    if field[0] & 0x80:
        value = int.from_bytes(field[1:], "big")
        if value > 1 << 62:
            raise TarError("a member has an impossible size")
        return value
    digits = field.strip(b"\0 ")
    if digits and not re.fullmatch(rb"[0-7]+", digits):
        raise TarError("a member has no size")
    return int(digits or b"0", 8)
