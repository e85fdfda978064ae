"""Scans for the routes: finds an answer of the last minutes, or has a scan process make one, and counts it.

    ScanBody + format  ->  cache?  ->  the same scan already under way?  ->  pool  ->  rendered report

A scan is a pure function of logs, options and pack, so equal requests get the same bytes. During an incident ten people
paste one log, a bot asks again, the page fetches the same report in another format: the cache is for them. It is small,
forgets after minutes, is apart per API key, and holds redacted reports, never logs.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import anyio.to_thread
from anyio import CapacityLimiter

from troubleshoot.api import worker
from troubleshoot.api.body import ScanBody
from troubleshoot.api.faults import OverloadedError, ScanTimeoutError
from troubleshoot.api.frames import Head
from troubleshoot.api.holder import PackHolder
from troubleshoot.api.metrics import Metrics
from troubleshoot.api.pool import Answer, Job, ScanPool
from troubleshoot.engine import Engine
from troubleshoot.errors import LimitError, TroubleshootError
from troubleshoot.platform import check_platform

SCAN_THREADS = 4  # where there are no scan processes
CACHED_BYTES = 16 * 1024 * 1024  # of rendered reports
CACHED_LOG_BYTES = 1024 * 1024  # a larger log is seldom sent twice
CACHED_S = 300.0

LARGE_BODIES = 4  # held in memory at once
SMALL_BODY_BYTES = 1024 * 1024
ROOM_S = 10.0

Work = Callable[[Head, list[bytes]], tuple[Head, list[bytes]]]
Recorder = Callable[[dict[str, Any], bytes], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a caller wants of a scan beside its logs. `who` keeps the answers of different keys apart."""

    formats: tuple[str, ...]
    platform: str | None = None
    redacted_logs: bool = False
    who: str = ""
    anonymize: bool = False


class ScanService:
    """Answers scans. One per application."""

    def __init__(self, holder: PackHolder, metrics: Metrics) -> None:
        self._holder = holder
        self._metrics = metrics
        self._rooms = asyncio.Semaphore(LARGE_BODIES)
        self._under_way: dict[bytes, asyncio.Task[Answer]] = {}
        self._limiter: CapacityLimiter | None = None
        self.cache = AnswerCache()
        self.pool: ScanPool | None = None
        self.record: Recorder | None = None  # is told of each scan, with its report as JSON

    @asynccontextmanager
    async def room(self, size: int | None) -> AsyncIterator[None]:
        """Hold a place for a body while it is read and scanned: large ones, and those of unknown size, take turns.
        Raises OverloadedError after ROOM_S."""
        if size is not None and size <= SMALL_BODY_BYTES:
            yield
            return
        try:
            async with asyncio.timeout(ROOM_S):
                await self._rooms.acquire()
        except TimeoutError:
            raise OverloadedError("too many large logs at once", help="try again in a moment") from None
        try:
            yield
        finally:
            self._rooms.release()

    async def scan(self, body: ScanBody, wanted: Wanted) -> Answer:
        """Return the summary and a body per format. Raises TroubleshootError."""
        engine = self._holder.serving()
        logs = _bytes_of(body)
        check_platform(body.platform or None)  # told even where the query's own stands above it
        platform = wanted.platform or body.platform or None
        job = Job(logs, wanted.formats, platform, wanted.redacted_logs, wanted.anonymize)
        if job.size > CACHED_LOG_BYTES or wanted.redacted_logs:
            return await self._run(engine, job)
        key = _key(engine.pack.hash, job, wanted.who)
        answer = self.cache.get(key)
        if answer is not None:
            self._metrics.cache_hits.inc()
            self._count(answer, job)
            return answer
        task = self._under_way.get(key)
        if task is None or task.get_loop() is not asyncio.get_running_loop():
            task = asyncio.get_running_loop().create_task(self._run(engine, job))
            self._under_way[key] = task
            task.add_done_callback(functools.partial(self._done, key))
        return await asyncio.shield(task)  # whoever began it may go away; the others still want it

    async def view(self, body: ScanBody, source: str, around: int) -> Answer:
        """Return the text of one of the logs around a line; the summary says which lines it is.
        Raises TroubleshootError."""
        job = Job(_bytes_of(body), (), view=(source, around))
        if self.pool is not None:
            return await self.pool.run(job)
        return await self._in_thread(worker.view, job)

    def _done(self, key: bytes, task: asyncio.Task[Answer]) -> None:
        self._under_way.pop(key, None)
        if task.cancelled() or task.exception() is not None:
            return
        engine = self._holder.engine
        if engine is not None and task.result().summary["pack"] == engine.pack.hash:  # not of a process with an older
            self.cache.put(key, task.result())

    async def _run(self, engine: Engine, job: Job) -> Answer:
        try:
            if self.pool is not None:
                answer = await self.pool.run(self._with_json(job))
            else:
                answer = await self._in_thread(functools.partial(worker.scan, engine), self._with_json(job))
        except TroubleshootError as error:
            self._metrics.failures.labels(_reason(error)).inc()
            raise
        self._count(answer, job)
        return answer

    def _with_json(self, job: Job) -> Job:
        if self.record is None or "json" in job.formats:
            return job
        return replace(job, formats=(*job.formats, "json"))

    def _count(self, answer: Answer, job: Job) -> None:
        self._metrics.scanned(answer.summary)
        if self.record is not None:
            formats = self._with_json(job).formats
            self.record(answer.summary, answer.bodies[formats.index("json")])

    async def _in_thread(self, work: Work, job: Job) -> Answer:
        if self._limiter is None:
            self._limiter = CapacityLimiter(SCAN_THREADS)
        bodies = list(job.logs.values())
        head, answered = await anyio.to_thread.run_sync(work, job.head, bodies, limiter=self._limiter)
        return Answer(head["summary"], answered, tuple(head.get("logs", ())))


class AnswerCache:
    """The last answers: bounded in bytes and in age."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[bytes, tuple[float, Answer]] = OrderedDict()
        self._bytes = 0

    def get(self, key: bytes) -> Answer | None:
        entry = self._kept.get(key)
        if entry is None:
            return None
        if self._clock() - entry[0] > CACHED_S:
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        return entry[1]

    def put(self, key: bytes, answer: Answer) -> None:
        self._drop(key)
        self._kept[key] = (self._clock(), answer)
        self._bytes += _size(answer)
        while self._bytes > CACHED_BYTES:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: bytes) -> None:
        entry = self._kept.pop(key, None)
        if entry is not None:
            self._bytes -= _size(entry[1])


def _bytes_of(body: ScanBody) -> dict[str, bytes]:
    return {
        name: text if isinstance(text, bytes) else text.encode("utf-8", "replace") for name, text in body.texts.items()
    }


def _size(answer: Answer) -> int:
    return sum(map(len, answer.bodies)) + 1024


def _key(pack_hash: str, job: Job, who: str) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    for part in _parts(pack_hash, job, who):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


def _parts(pack_hash: str, job: Job, who: str) -> Sequence[bytes]:
    head = "\0".join((pack_hash, who, job.platform or "", str(job.anonymize), *job.formats)).encode()
    return [head, *(part for name, data in job.logs.items() for part in (name.encode("utf-8", "replace"), data))]


def _reason(error: TroubleshootError) -> str:
    if isinstance(error, ScanTimeoutError):
        return "timeout"
    if isinstance(error, OverloadedError):
        return "overload"
    return "limit" if isinstance(error, LimitError) else "input" if type(error).__name__ == "SourceError" else "other"
