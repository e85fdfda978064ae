"""Where the Slack bot meets the service: its route, and what it keeps in the store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from troubleshoot.api.faults import NotFoundError

if TYPE_CHECKING:
    from troubleshoot.slack.answer import About
    from troubleshoot.slack.endpoint import Endpoint
    from troubleshoot.store.store import Store


def add_slack(app: FastAPI, endpoint: Callable[[], Endpoint | None]) -> None:
    """Add the route that Slack calls; it is not part of the API's schema."""

    @app.post("/slack/events", include_in_schema=False)
    async def slack_events(request: Request) -> Response:
        found = endpoint()
        if found is None:
            raise NotFoundError("the bot is in Socket Mode")
        return await found.handle(request)


class StoreKeeper:
    """Keeps the bot's reports and feedback in the store, and so over restarts and for all workers."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def save(self, renderings: dict[str, bytes]) -> str:
        link = await asyncio.to_thread(self._store.save_report, renderings, made_by="slack")
        return link.id

    async def load(self, key: str) -> bytes | None:
        return await asyncio.to_thread(self._store.report, key)

    async def feedback(self, about: About, verdict: str, who: str, place: str) -> bool:
        await asyncio.to_thread(
            self._store.add_feedback,
            about.rule,
            verdict,
            who=who,
            place=place,
            report_id=about.key,
            fingerprint=about.fingerprint,
        )
        return True

    async def is_first(self, delivery: str) -> bool:
        return await asyncio.to_thread(self._store.is_first_delivery, delivery)
