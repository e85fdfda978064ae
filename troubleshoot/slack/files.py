"""Files of a message -> their bytes, fetched with the bot's token and shown to nobody but Slack.

The token goes to Slack's file hosts only, over TLS, and never along a redirect. A missing scope makes Slack answer 200
with a page to log in, so a page of HTML where none was uploaded is told as what it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from troubleshoot.errors import LimitError, SourceError
from troubleshoot.slack.settings import SlackSettings

FILES = 10
FILE_BYTES = 32 * 1024 * 1024
MESSAGE_BYTES = 64 * 1024 * 1024  # of all files of a message: four answers at a time hold them in memory
TIMEOUT = aiohttp.ClientTimeout(total=60, connect=10)
UNAVAILABLE = {
    "tombstone": "was deleted",
    "hidden_by_limit": "is hidden by the workspace's limit",
    "external": "lies outside Slack; upload it instead",
}


async def download_all(
    files: Sequence[Mapping[str, Any]],
    settings: SlackSettings,
    whole: Callable[[str], Awaitable[Mapping[str, Any]]],
) -> dict[str, bytes]:
    """Return the content of a message's files by name: of the first FILES. `whole` gets a file of which Slack sent no
    more than the id. Raises as `download` does, and LimitError where they are too large together."""
    logs: dict[str, bytes] = {}
    for given in files[:FILES]:
        file = await whole(given["id"]) if given.get("file_access") == "check_file_info" else given
        name, data = await download(file, settings)
        if sum(map(len, logs.values())) + len(data) > MESSAGE_BYTES:
            raise LimitError(
                f"the files are larger than {MESSAGE_BYTES >> 20} MiB together; use the web page or the command line"
            )
        logs[name if name not in logs else f"{name} ({len(logs) + 1})"] = data
    return logs


async def download(file: Mapping[str, Any], settings: SlackSettings) -> tuple[str, bytes]:
    """Return a file's name and content. Raises SourceError or LimitError in words for the user."""
    name = str(file.get("name") or file.get("title") or file.get("id") or "file")[:200]
    mode = str(file.get("mode") or "")
    if file.get("is_external"):
        mode = "external"
    if mode in UNAVAILABLE:
        raise SourceError(f"{name} {UNAVAILABLE[mode]}")
    if file.get("file_access") == "access_denied":
        raise SourceError(f"{name} is not open to this bot")
    if int(file.get("size") or 0) > FILE_BYTES:
        raise LimitError(f"{name} is larger than {FILE_BYTES >> 20} MiB; use the web page or the command line")
    url = str(file.get("url_private_download") or file.get("url_private") or "")
    if not is_allowed(url, settings):
        raise SourceError(f"{name} is not on Slack's file servers")
    headers = {"Authorization": f"Bearer {settings.bot_token}"}
    try:
        async with (
            aiohttp.ClientSession(timeout=TIMEOUT) as session,
            session.get(url, headers=headers, allow_redirects=False) as response,
        ):
            if response.status != 200:
                raise SourceError(f"{name} could not be fetched (status {response.status})")
            data = await _bounded(response, name)
            kind = response.content_type
    except (aiohttp.ClientError, TimeoutError) as error:
        raise SourceError(f"{name} could not be fetched") from error
    is_page = kind == "text/html" and data.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html"))
    if is_page and file.get("filetype") != "html":
        raise SourceError(f"{name} could not be fetched: the app needs the scope files:read")
    return name, data


def is_allowed(url: str, settings: SlackSettings) -> bool:
    """Say whether the bot's token may be sent there."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return parts.hostname in settings.file_hosts and parts.username is None
    return parts.scheme == "http" and ":" in parts.netloc and parts.netloc in settings.file_hosts


async def _bounded(response: aiohttp.ClientResponse, name: str) -> bytes:
    pieces: list[bytes] = []
    total = 0
    async for piece in response.content.iter_chunked(65536):
        total += len(piece)
        if total > FILE_BYTES:
            raise LimitError(f"{name} is larger than {FILE_BYTES >> 20} MiB; use the web page or the command line")
        pieces.append(piece)
    return b"".join(pieces)
