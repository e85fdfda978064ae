"""Tells what a file is by its first bytes, and what is never opened.

In: the first bytes of a file or archive member, and its name. Out: a `Kind`: text to be read, a container to be looked
into, or something that is only named in a note, with the reason. The extension decides nothing that bytes can tell.
Pickles can run code when loaded, core files hold a process's memory: neither is ever opened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from troubleshoot import late

HEAD_BYTES = 512
COMPRESSED = frozenset({"gzip", "bzip2", "xz", "zstd"})
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\x00\x00\xfe\xff")
_TEXT_CONTROLS = bytes({*range(0x20), 0x7F} - {7, 8, 9, 10, 11, 12, 13, 27})
CONTROL_SHARE = 0.04  # more control codes than this is no text; random bytes have twice as many


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is. `skip` is the reason why it is not read, for a note; `container` names how to look into it."""

    name: str
    container: str | None = None
    skip: str | None = None


TEXT = Kind("text")
_CONTAINERS = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
_SKIPPED = (
    (late.compile(rb"troubleshoot cache\n"), "cache", "a cache of this program, which holds the text of every rule"),
    (
        late.compile(rb"<!DOCTYPE html>.{0,500}<meta name=\"generator\" content=\"troubleshoot\">", re.DOTALL),
        "report",
        "a report of this program, which quotes other logs",
    ),
    (late.compile(rb"\x80[\x02-\x05][\x95\x8a}\x5d(cX\x8c]"), "pickle", "a pickle, which could run code: never opened"),
    (late.compile(rb"\x7fELF.{12}\x04\x00", re.DOTALL), "core", "a core file: holds a process's memory, never opened"),
    (late.compile(rb"\x7fELF"), "elf", "a program or library"),
    (late.compile(rb"\x89PNG|\xff\xd8\xff|GIF8|II\*\0|MM\0\*", re.DOTALL), "image", "an image: no text in it"),
    (late.compile(rb"BM.{4}\0{4}|RIFF.{4}WEBP", re.DOTALL), "image", "an image: no text in it"),
    (late.compile(rb".{3,5}\0{3,5}\{\"", re.DOTALL), "safetensors", "tensors (safetensors)"),
    (late.compile(rb"%PDF-"), "pdf", "a PDF document: export its text"),
    (late.compile(rb"\x93NUMPY"), "numpy", "an array (numpy)"),
    (late.compile(rb"\x89HDF|PAR1|SQLite format 3|ARROW1|Obj\x01"), "data", "a data file"),
    (late.compile(rb"LPKSHHRH"), "journal", "a binary journal: give the output of `journalctl --file` instead"),
    (late.compile(rb"7z\xbc\xaf\x27\x1c|Rar!\x1a\x07"), "archive", "an archive that is not read: repack it as .tar.gz"),
    (late.compile(rb"\xcf\xfa\xed\xfe|\xca\xfe\xba\xbe|MZ.{58}.*PE\0\0", re.DOTALL), "program", "a program or library"),
    (late.compile(rb"\xd0\xcf\x11\xe0"), "office", "an office document: export its text"),
)
_TORCH_NAME = late.compile(r"\.(?:pt|pth|ckpt|distcp|safetensors|pkl|pickle|joblib|npz|whl|egg|jar)$", re.IGNORECASE)
_TRACE_NAME = late.compile(r"(?:nccl|comm_lib)_trace_rank_\d+$")


def kind_of(head: bytes, name: str) -> Kind:
    """Return what begins with `head` and is called `name`."""
    for magic, container in _CONTAINERS:
        if head.startswith(magic):
            return Kind(container, container=container)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip(head, name)
    if head[257:262] == b"ustar" or _is_old_tar(head):
        return Kind("tar", container="tar")
    for pattern, kind, reason in _SKIPPED:
        if pattern.match(head):
            if kind == "pickle" and _TRACE_NAME.search(name):
                reason = "a flight recorder dump, which is a pickle: never opened; use torchfrtrace in a sandbox"
            return Kind(kind, skip=reason)
    return TEXT if is_text(head) else Kind("binary", skip="not text")


def is_text(head: bytes) -> bool:
    """Tell whether the bytes can be text: few control codes, or the NUL pattern of UTF-16 and UTF-32."""
    if not head or head.startswith(_WIDE_MARKS):
        return True
    nul = head.count(0)
    if nul >= 0.3 * len(head):
        odd, even = head[1::2].count(0), head[0::2].count(0)
        return nul == len(head) or min(odd, even) * 10 < max(odd, even) or _is_utf32(head)
    rest = head.translate(None, b"\0")  # NUL bytes alone are a hole that log rotation left
    controls = len(rest) - len(rest.translate(None, _TEXT_CONTROLS))
    return controls <= CONTROL_SHARE * len(rest)


def _is_utf32(head: bytes) -> bool:
    quarters = [head[i::4].count(0) * 4 >= 0.9 * len(head) for i in range(4)]
    return sum(quarters) == 3


def _zip(head: bytes, name: str) -> Kind:
    first = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    if first.endswith(b"/data.pkl") or _TORCH_NAME.search(name):
        return Kind("torch", skip="a checkpoint or package, which holds pickles or programs: never opened")
    if first in (b"[Content_Types].xml", b"mimetype"):
        return Kind("office", skip="an office document: export its text")
    return Kind("zip", container="zip")


def _is_old_tar(head: bytes) -> bool:
    """Tell whether a header without magic has the right checksum, as tar files from before 1988 and some tools have."""
    if len(head) < 512 or not head[:1].strip(b"\0"):
        return False
    field = head[148:156].strip(b"\0 ")
    if not re.fullmatch(rb"[0-7]{1,7}", field):
        return False
    return int(field, 8) == sum(head[:148]) + 8 * 32 + sum(head[156:512])
