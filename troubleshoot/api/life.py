"""What lives as long as a running application: scan processes, the watch on rule files, the store.

async with life.running(): ...      between the first request and the last
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.applications import Starlette

from troubleshoot.api.body import ScanBody
from troubleshoot.api.holder import PackHolder
from troubleshoot.api.languages import every_rendering, rendering
from troubleshoot.api.options import ServiceOptions
from troubleshoot.api.pool import ScanPool
from troubleshoot.api.recorder import Recorder
from troubleshoot.api.service import ScanService, Wanted
from troubleshoot.api.slack import StoreKeeper
from troubleshoot.api.wire import SAVED_FORMATS

if TYPE_CHECKING:
    from troubleshoot.slack.endpoint import Endpoint
    from troubleshoot.store.store import Store


class Life:
    """Starts and ends the parts of one application. `recorder` is there while one with a store runs."""

    def __init__(self, holder: PackHolder, service: ScanService, options: ServiceOptions, *, watch: bool) -> None:
        self._holder = holder
        self._service = service
        self._options = options
        self._watch = watch
        self.recorder: Recorder | None = None
        self.slack: Endpoint | None = None
        self._agents: Starlette | None = None

    @property
    def store(self) -> Store | None:
        return self.recorder.store if self.recorder is not None else None

    @property
    def is_ready(self) -> bool:
        """Say whether a scan would be answered at once: a pack is loaded, and its search is compiled."""
        return self._holder.engine is not None and (self._service.pool is None or self._service.pool.is_ready)

    @property
    def problems(self) -> list[str]:
        """What is wrong, or not there yet."""
        failing = self.recorder is not None and self.recorder.is_failing
        starting = self._holder.engine is not None and not self.is_ready
        return [
            *self._holder.problems,
            *(["the first scan process is still starting"] if starting else []),
            *(["the store does not answer"] if failing else []),
        ]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if self._options.store is not None:
                await stack.enter_async_context(self._recording(self._options.store))
            if self._options.scan_processes:
                await stack.enter_async_context(self._scanning())
            elif self._holder.engine is not None:
                await asyncio.to_thread(self._holder.engine.scanner)  # compiled before the first request, not by it
            if self._agents is not None:
                await stack.enter_async_context(self._agents.router.lifespan_context(self._agents))
            if self._options.slack:
                await stack.enter_async_context(self._slacking())
            if self._watch:
                loop = asyncio.get_running_loop()
                self._holder.watch(lambda: _ignore(loop.call_soon_threadsafe(self._renew)))
                stack.push_async_callback(asyncio.to_thread, self._holder.close)
            yield

    @asynccontextmanager
    async def _recording(self, url: str) -> AsyncIterator[None]:
        from troubleshoot.store.database import open_database
        from troubleshoot.store.store import Store

        engine = await asyncio.to_thread(open_database, url)
        store = Store(engine, keep_days=self._options.keep_days, history_days=self._options.history_days)
        self.recorder = Recorder(store)
        self._service.record = self.recorder.record
        self.recorder.start()
        try:
            yield
        finally:
            self._service.record = None
            await self.recorder.close()
            self.recorder = None

    @asynccontextmanager
    async def _scanning(self) -> AsyncIterator[None]:
        pool = ScanPool(
            self._holder.engine.pack if self._holder.engine else None,
            processes=self._options.scan_processes,
            deadline_s=self._options.scan_seconds,
            memory_bytes=self._options.scan_memory_bytes,
        )
        self._service.pool = pool
        pool.start()
        try:
            yield
        finally:
            self._service.pool = None
            await pool.close()

    @asynccontextmanager
    async def _slacking(self) -> AsyncIterator[None]:
        from troubleshoot.slack.bot import Bot, Memory
        from troubleshoot.slack.endpoint import Endpoint, socket_mode
        from troubleshoot.slack.settings import SlackSettings

        settings = SlackSettings.from_environment(os.environ)
        keeper = StoreKeeper(self.store) if self.store is not None else Memory()
        bot = Bot(settings, self._scan_for_slack, keeper, self._options.language)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(bot.close)
            if settings.app_token:
                await stack.enter_async_context(socket_mode(bot, settings))
            else:
                self.slack = Endpoint(bot, settings, keeper)
            yield
            self.slack = None

    def add_agents(self, app: FastAPI) -> None:
        """Mount the tools for coding agents at `/mcp`."""
        from troubleshoot.mcp.server import build_server, http_app

        self._agents = http_app(build_server(self._holder.serving, self._scan_for_agent))
        app.router.routes.extend(self._agents.routes)

    async def _scan_for_agent(self, log: str, name: str, platform: str | None) -> dict[str, str]:
        formats = ("markdown", "json")
        answer = await self._service.scan(ScanBody({name: log}), Wanted(formats, platform, who="mcp"))
        return {format: body.decode() for format, body in zip(formats, answer.bodies, strict=False)}

    async def _scan_for_slack(self, logs: dict[str, bytes]) -> dict[str, bytes]:
        formats = every_rendering(SAVED_FORMATS)
        answer = await self._service.scan(ScanBody(dict(logs)), Wanted(formats, who="slack"))
        renderings = dict(zip(formats, answer.bodies, strict=False))
        return {**renderings, "slack": renderings.get(rendering("slack", self._options.language), renderings["slack"])}

    def _renew(self) -> None:
        if self._service.pool is not None and self._holder.engine is not None:
            self._service.pool.renew(self._holder.engine.pack)


def _ignore(_handle: object) -> None:
    """Take a handle that nobody needs."""
