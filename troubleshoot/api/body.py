"""Reads request bodies: bounded, decompressed, and turned into named logs.

A body is counted as it arrives and again as it comes out of `Content-Encoding`, so neither a huge upload nor a bomb is
ever held. What is too large is refused with LimitError, what cannot be understood with UsageError.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio.to_thread
import zstandard
from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.types import Message

from troubleshoot.api.faults import SlowClientError
from troubleshoot.api.strict import misspelt
from troubleshoot.api.wire import LogFile, ScanRequest
from troubleshoot.errors import LimitError, UsageError

MAX_PARTS = 1000
NAME_CHARS = 500
FIELDS_TOLD = 20  # of what is wrong with a body; more help nobody
MOST_ERRORS = 1000  # from here on none are listed: a body of 300,000 unknown keys held the service up for a second
POINTER_CHARS = 200
POINTER_PARTS = 10
READ_S = 60  # for a whole body: 64 MiB over 10 Mbit/s, and an end to a client that sends a byte a second


@dataclass(frozen=True, slots=True)
class ScanBody:
    """What a request asks to scan: texts by name, and the platform if the body names one."""

    texts: dict[str, bytes | str]
    platform: str | None = None


class UnsupportedBodyError(UsageError):
    """A media type or content encoding that this service does not take."""


async def read_scan_body(request: Request, max_bytes: int, name: str) -> ScanBody:
    """Return the logs of a request. Raises LimitError, UnsupportedBodyError or UsageError."""
    media_type = request.headers.get("content-type", "text/plain").split(";")[0].strip().lower()
    if media_type == "multipart/form-data":
        return await _read_form(await _bounded(request, max_bytes), max_bytes)
    body = await _read_all(request, max_bytes)
    if media_type == "application/json":
        return _parse_json(body, name)
    if media_type.startswith("text/") or media_type in BINARY_TYPES or media_type == "":
        return ScanBody({name: body})
    raise UnsupportedBodyError(
        f"media type {media_type[:100]!r} is not taken",
        help="send text/plain, application/json, multipart/form-data, or a compressed file as application/octet-stream",
    )


BINARY_TYPES = frozenset(
    {
        "application/octet-stream",
        "application/gzip",
        "application/x-gzip",
        "application/zip",
        "application/zstd",
        "application/x-tar",
        "application/x-xz",
        "application/x-bzip2",
        "application/x-www-form-urlencoded",  # what `curl --data-binary` says when told nothing else
    }
)


def _parse_json(body: bytes, name: str) -> ScanBody:
    try:
        asked = ScanRequest.model_validate_json(body)
    except ValidationError as error:
        raise InvalidFieldsError(error) from error
    if (asked.text is None) == (asked.files is None):
        raise UsageError("give either `text` or `files`", help='{"text": "..."}')
    if asked.files is not None:
        texts = NamedLogs()
        for file in asked.files:
            texts.add(file.name, file.text)
        return ScanBody(texts, asked.platform)
    return ScanBody({asked.name if asked.name != "paste" else name: asked.text or ""}, asked.platform)


def _misfit(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a field; for one that there is not, which may have been meant."""
    if error["type"] != "extra_forbidden":
        return str(error["msg"])[:POINTER_CHARS]
    known = ScanRequest.model_fields if len(error["loc"]) == 1 else LogFile.model_fields
    return misspelt("field", str(error["loc"][-1]), known)


class InvalidFieldsError(UsageError):
    """JSON that does not fit the request's schema; carries where and why, never the log's text."""

    def __init__(self, error: ValidationError) -> None:
        count = error.error_count()
        text = "the body does not fit the schema" + (f" in {count} places" if count > FIELDS_TOLD else "")
        super().__init__(text, help="see /openapi.json, ScanRequest")
        told = (
            error.errors(include_url=False, include_input=False, include_context=False) if count < MOST_ERRORS else []
        )
        self.fields = [{"pointer": pointer_to(each["loc"]), "detail": _misfit(each)} for each in told[:FIELDS_TOLD]]


def pointer_to(place: Sequence[object]) -> str:
    """Return where in a request something is wrong; names in it are the caller's and may be of any length."""
    return ("/" + "/".join(str(part)[:POINTER_CHARS] for part in place[:POINTER_PARTS]))[:POINTER_CHARS]


async def _read_form(request: Request, max_bytes: int) -> ScanBody:
    texts = NamedLogs()
    platform = None
    try:
        form = await request.form(max_files=MAX_PARTS, max_fields=MAX_PARTS, max_part_size=max_bytes)
    except MultiPartException as error:
        raise UsageError(f"the form cannot be read: {error.message}") from error
    try:
        for key, value in form.multi_items():
            if isinstance(value, UploadFile):
                texts.add((value.filename or key)[:NAME_CHARS], await value.read())
            elif key in ("platform", "on"):
                platform = value
            elif key in ("text", "log", "file", "files"):
                texts.add("paste", value)
            else:
                raise UsageError(f"unknown form field {key[:100]!r}", help="use `file` for logs, `text` for a paste")
    finally:
        await form.close()
    if not texts:
        raise UsageError("the form holds no log", help="send a part `file` or `text`")
    return ScanBody(texts, platform)


class NamedLogs(dict[str, bytes | str]):
    """Logs by name. A name that is taken gets a number, found at once however many have it."""

    def __init__(self) -> None:
        super().__init__()
        self._next: dict[str, int] = {}

    def add(self, name: str, text: bytes | str) -> None:
        free = name
        while free in self:
            number = self._next[name] = self._next.get(name, 1) + 1
            free = f"{name} ({number})"
        self[free] = text


async def _bounded(request: Request, max_bytes: int) -> Request:
    """Return the request with its body decompressed and counted; form parsing then reads it as usual."""
    body = await _read_all(request, max_bytes)
    sent = False

    async def receive() -> Message:
        nonlocal sent
        if sent:
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(request.scope, receive)


async def _read_all(request: Request, max_bytes: int) -> bytes:
    stated = request.headers.get("content-length", "")
    if stated.isdecimal() and int(stated) > max_bytes:
        raise _too_large(max_bytes)
    decoder = _decoder(request.headers.get("content-encoding", "identity"))
    pieces: list[bytes] = []
    total = raw = 0
    try:
        async with asyncio.timeout(READ_S):
            async for chunk in request.stream():
                raw += len(chunk)
                if raw > max_bytes:
                    raise _too_large(max_bytes)
                piece = await _decoded(decoder, chunk, max_bytes - total) if decoder else chunk
                total += len(piece)
                if total > max_bytes:
                    raise _too_large(max_bytes)
                pieces.append(piece)
    except TimeoutError:
        raise SlowClientError(
            f"the body did not arrive within {READ_S} s", help="send it compressed, or a part"
        ) from None
    if decoder is not None and raw and not decoder.is_whole:
        raise UsageError("the body ends before its Content-Encoding does", help="send the whole compressed log")
    return b"".join(pieces)


async def _decoded(decoder: _Inflate | _Zstd, chunk: bytes, room: int) -> bytes:
    """Return what comes out of a chunk. A large one is decompressed in a thread: it may grow a thousandfold."""
    if len(chunk) < 4096:
        return decoder.feed(chunk, room)
    return await anyio.to_thread.run_sync(decoder.feed, chunk, room)


def stated_size(request: Request) -> int | None:
    """Return how many bytes the request says that it brings, or None where it does not say or they are compressed."""
    stated = request.headers.get("content-length", "")
    plain = request.headers.get("content-encoding", "identity").strip().lower() in ("", "identity")
    return int(stated) if stated.isdecimal() and plain else None


def _too_large(max_bytes: int) -> LimitError:
    return LimitError(
        f"the body is larger than {max_bytes} bytes",
        help="send the part around the failure, or run the command line on the file",
    )


class _Inflate:
    """gzip or deflate, bounded: `feed` gives at most `room + 1` bytes."""

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._stream = zlib.decompressobj(wbits)

    @property
    def is_whole(self) -> bool:
        return self._stream.eof

    def feed(self, chunk: bytes, room: int) -> bytes:
        pieces: list[bytes] = []
        taken = 0
        while chunk:
            if self._stream.eof:  # another gzip member follows
                self._stream = zlib.decompressobj(self._wbits)
            try:
                piece = self._stream.decompress(chunk, room + 1 - taken)
            except zlib.error as error:
                raise UsageError("the body is not what its Content-Encoding says") from error
            pieces.append(piece)
            taken += len(piece)
            if taken > room:
                break
            chunk = self._stream.unconsumed_tail or self._stream.unused_data
        return b"".join(pieces)


class _Zstd:
    """Zstandard, bounded by reading no further than `room + 1` bytes."""

    def __init__(self) -> None:
        self._stream = self._new_stream()

    @staticmethod
    def _new_stream() -> zstandard.ZstdDecompressionObj:
        return zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj()

    @property
    def is_whole(self) -> bool:
        return self._stream.eof

    def feed(self, chunk: bytes, room: int) -> bytes:
        pieces: list[bytes] = []
        taken = 0
        while chunk and taken <= room:
            if self._stream.eof:  # another frame follows
                self._stream = self._new_stream()
            part, chunk = chunk[:1024], chunk[1024:]  # a block of 1 KiB gives at most about 128 MiB at once
            try:
                piece = self._stream.decompress(part)
            except zstandard.ZstdError as error:
                raise UsageError("the body is not what its Content-Encoding says") from error
            pieces.append(piece)
            taken += len(piece)
            chunk = self._stream.unused_data + chunk
        return b"".join(pieces)


def _decoder(encoding: str) -> _Inflate | _Zstd | None:
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return None
    if encoding in ("gzip", "x-gzip"):
        return _Inflate(31)
    if encoding == "deflate":
        return _Inflate(15)
    if encoding == "zstd":
        return _Zstd()
    raise UnsupportedBodyError(f"content encoding {encoding!r} is not taken", help="use gzip, deflate, zstd or none")
