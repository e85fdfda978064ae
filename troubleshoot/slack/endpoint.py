"""`POST /slack/events`: who is it, is it new, then Bolt. And Socket Mode, where we call Slack instead.

A request is refused before its body is understood: too large, not signed, signed long ago, or seen before.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from slack_bolt.adapter.fastapi.async_handler import AsyncSlackRequestHandler
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_sdk.signature import SignatureVerifier
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from troubleshoot.slack.bot import Bot, Keeper
from troubleshoot.slack.settings import SlackSettings

log = logging.getLogger("troubleshoot.slack")

BODY_BYTES = 2 * 1024 * 1024
DIGITS = re.compile(r"[0-9]{1,12}")


class Endpoint:
    """Takes Slack's requests for a bot."""

    def __init__(self, bot: Bot, settings: SlackSettings, keeper: Keeper) -> None:
        self._handler = AsyncSlackRequestHandler(bot.app)
        self._keeper = keeper
        self._verifier = SignatureVerifier(settings.signing_secret or "")
        self._is_signed = settings.signing_secret is not None

    async def handle(self, request: Request) -> Response:
        """Return the answer to a request of Slack's, or 401, 413 to one that is not."""
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > BODY_BYTES:
                return Response(status_code=413)
        stamp = request.headers.get("x-slack-request-timestamp", "")
        signature = request.headers.get("x-slack-signature", "")
        if not self._is_signed or not DIGITS.fullmatch(stamp) or not self._is_valid(bytes(body), stamp, signature):
            return Response(status_code=401)
        if not await self._keeper.is_first(f"signature {signature}"):  # Slack signs what it sends again anew
            return Response(status_code=401)
        sent = False

        async def receive() -> Message:
            nonlocal sent
            if sent:
                return {"type": "http.disconnect"}
            sent = True
            return {"type": "http.request", "body": bytes(body), "more_body": False}

        return await self._handler.handle(Request(request.scope, receive))

    def _is_valid(self, body: bytes, stamp: str, signature: str) -> bool:
        try:
            return self._verifier.is_valid(body=body, timestamp=stamp, signature=signature)
        except (ValueError, TypeError):  # bytes that are no UTF-8; a signature that is no ASCII
            return False


@asynccontextmanager
async def socket_mode(bot: Bot, settings: SlackSettings) -> AsyncIterator[None]:
    """Hold a connection to Slack while the block runs."""
    handler = AsyncSocketModeHandler(bot.app, settings.app_token)
    connecting: asyncio.Task[Any] = asyncio.get_running_loop().create_task(handler.connect_async())  # type: ignore[no-untyped-call]  # Bolt's gap
    connecting.add_done_callback(_tell)
    try:
        yield
    finally:
        connecting.cancel()
        await handler.close_async()  # type: ignore[no-untyped-call]  # as above


def _tell(task: asyncio.Task[Any]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.error("Socket Mode could not connect: %s", type(task.exception()).__name__)
