"""Uploads -> the text of a log in them for a reader: decompressed, secrets taken out, its lines numbered as given.

    {"job.tar.xz": ...}, "job.tar.xz/rank3.log", around line 90,000   ->   lines 71,204 to 108,977 of it

A log may be of any size; what is shown of it is bounded, and says whether more stands before and behind.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from troubleshoot.api.faults import NotFoundError
from troubleshoot.ingest import OpenSource, open_upload
from troubleshoot.normalise.encoding import detect_encoding, is_wide
from troubleshoot.report.redact import redact_text

VIEW_BYTES = 4 * 1024 * 1024  # of text at once: its secrets are taken out in a second
KEPT_BYTES = 16 * 1024 * 1024  # of all logs that are kept beside a report
KEPT_LOGS = 200
READ_BYTES = 256 * 1024
CUT = "[cut here: the log goes on, and no more of it is kept]\n"


@dataclass(frozen=True, slots=True)
class View:
    """Whole lines of a log from `first_line` on, and whether there are more."""

    text: str
    first_line: int
    more_before: bool
    more_after: bool


def view_source(uploads: Mapping[str, bytes], name: str, around: int = 1, most: int = VIEW_BYTES) -> View:
    """Return the lines of a source around one of them. Raises NotFoundError where no source has that name."""
    for opened in _open(uploads):
        if name in (opened.source.name, redact_text(opened.source.name)):
            return _view(opened, around, most)
    raise NotFoundError("there is no log of that name in what was sent", help="names stand in the report's `sources`")


def redacted_logs(
    uploads: Mapping[str, bytes], most: int = KEPT_BYTES, *, anonymous: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield name and text of each log in the uploads, without secrets; the last one says so where it is cut.
    `anonymous`: without e-mail and IP addresses, too."""
    for count, opened in enumerate(_open(uploads)):
        if most <= 0 or count >= KEPT_LOGS:
            yield "...", CUT
            return
        view = _view(opened, 1, most, anonymous=anonymous)
        most -= len(view.text)
        yield (
            redact_text(opened.source.name, emails=anonymous, ips=anonymous),
            view.text + (CUT if view.more_after else ""),
        )


def _open(uploads: Mapping[str, bytes]) -> Iterator[OpenSource]:
    for name, data in uploads.items():
        yield from open_upload(io.BytesIO(data), name)


def _view(opened: OpenSource, around: int, most: int, *, anonymous: bool = False) -> View:
    held = ""
    first, count = 1, 0  # the number of the first line that is held, and how many line feeds are held
    is_there = False
    more_before = more_after = False

    def drop(cut: int) -> None:
        """Let go of what is held up to a place, and on to the next line."""
        nonlocal held, first, count, more_before
        cut = held.find("\n", cut) + 1 or cut
        dropped = held.count("\n", 0, cut)
        first, count, held, more_before = first + dropped, count - dropped, held[cut:], True

    for piece in _texts(opened):
        held += piece
        count += piece.count("\n")
        if not is_there and first + count >= around:
            is_there = True
            start = _start_of(held, around - first)
            if start > most // 2:
                drop(start - most // 2 - 1)
        if is_there and len(held) > most:
            more_after = True
            break
        if not is_there and len(held) > most:
            drop(len(held) - most // 2)
    if more_after:
        start = _start_of(held, around - first)
        end = max(most, start + READ_BYTES)
        held = held[: held.rfind("\n", start, end) + 1 or end]
    return View(redact_text(held, emails=anonymous, ips=anonymous), first, more_before, more_after)


def _start_of(text: str, lines: int) -> int:
    at = 0
    for _ in range(lines):
        at = text.find("\n", at) + 1
    return at


def _texts(opened: OpenSource) -> Iterator[str]:
    """Yield a source's text, decoded as the scan decodes it, in pieces of any length."""
    buffer = memoryview(bytearray(READ_BYTES))
    stream = opened.stream()
    decoder: codecs.IncrementalDecoder | None = None
    while got := stream.readinto(buffer) or 0:
        piece = bytes(buffer[:got])
        if decoder is None:
            encoding, mark = detect_encoding(piece)
            decoder = codecs.getincrementaldecoder(encoding.removesuffix("-sig") if is_wide(encoding) else encoding)(
                "replace"
            )
            piece = piece[mark:]
        yield decoder.decode(piece)
    if decoder is not None:
        yield decoder.decode(b"", final=True)
