"""Scan processes: so many at once, each with a deadline, and none that a hostile log can hold against the others.

Python runs one thread at a time, and a pattern that works for a quarter of a second lets nobody else in: a log scanned
in the service's own process would stop every other request. So scans run in processes of their own, and the kernel
shares the cores out.

    4 small logs wait, 2 processes     ->  first come, first served
    a 50 MB log and 10 small ones      ->  large logs never hold the last process
    2 logs that take over a second     ->  both stop counting: other processes are started beside them
    a log that takes over 20 seconds   ->  its process is killed, the caller is told, a new one is started

A process scans with the pack of its start. After a reload new ones are started and the old ones end when they are free.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from troubleshoot import limits
from troubleshoot.api.children import child_environment
from troubleshoot.api.faults import NotFoundError, OverloadedError, ScanTimeoutError
from troubleshoot.api.frames import Head, pack_frame, read_frame_async
from troubleshoot.api.worker import OUT_OF_MEMORY
from troubleshoot.errors import InternalError, LimitError, SourceError, TroubleshootError, UsageError
from troubleshoot.model import RulePack
from troubleshoot.rulepack.codec import json_from_pack

log = logging.getLogger("troubleshoot.pool")

LARGE_BYTES = 256 * 1024  # from here on a log may take so long that it must not hold the last process
SLOW_S = 1.0  # a scan that takes longer no longer counts against `processes`
QUEUE = 1000  # requests waiting; more are turned away at once, for they would wait in vain
START_S = 120.0  # a new pack is planned and compiled first: 5 s, on a machine that is busy much longer
END_S = 5.0
MOST_PER_PLACE = 3  # processes at most, as a multiple of `processes`
WORKER = (sys.executable, "-m", "troubleshoot.api.worker")
RESTARTS = 3  # failed starts in a row before waiting requests are turned away


ERRORS: dict[str, type[TroubleshootError]] = {
    each.__name__: each for each in (LimitError, SourceError, UsageError, NotFoundError, InternalError)
}


@dataclass(frozen=True, slots=True)
class Job:
    """One scan: logs by name, and in which formats the report is wanted. With `view` (a source's name, a line) it is
    no scan: that source's text around the line is wanted."""

    logs: Mapping[str, bytes]
    formats: Sequence[str]
    platform: str | None = None
    redacted_logs: bool = False
    anonymize: bool = False
    view: tuple[str, int] | None = None

    @property
    def head(self) -> Head:
        """What is sent to a scan process, the logs aside."""
        if self.view is not None:
            return {"op": "view", "names": list(self.logs), "source": self.view[0], "around": self.view[1]}
        return {
            "op": "scan",
            "names": list(self.logs),
            "formats": list(self.formats),
            "platform": self.platform,
            "redacted_logs": self.redacted_logs,
            "anonymize": self.anonymize,
        }

    @property
    def size(self) -> int:
        return sum(map(len, self.logs.values()))


@dataclass(frozen=True, slots=True)
class Answer:
    """A summary (verdict, rules, bytes, lines, seconds, pack) and the bodies: one per format, then redacted logs, of
    which `logs` are the names."""

    summary: dict[str, Any]
    bodies: list[bytes]
    logs: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class _Process:
    process: asyncio.subprocess.Process
    pack: str
    is_slow: bool = False
    is_large: bool = False


@dataclass(eq=False, slots=True)
class _Waiting:
    is_large: bool
    future: asyncio.Future[_Process] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class ScanPool:
    """Runs jobs in scan processes. Belongs to one event loop; `start` and `close` bracket its life."""

    def __init__(
        self,
        pack: RulePack | None,
        *,
        processes: int = 2,
        deadline_s: float = limits.REQUEST_S,
        memory_bytes: int = 1 << 30,
        worker: Sequence[str] = WORKER,
    ) -> None:
        self._worker = tuple(worker)
        self._most = max(1, processes)
        self._deadline_s = deadline_s
        self._memory_bytes = memory_bytes
        self._pack: tuple[str, bytes] | None = None
        self._serving = ""  # hash of the newest pack that a process has taken
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()
        self._waiting: deque[_Waiting] = deque()
        self._starting = 0
        self._failed = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False
        self.killed = 0
        self._use(pack)

    @property
    def is_ready(self) -> bool:
        """Say whether a process has taken a pack, compiled its search and tried it."""
        return bool(self._serving)

    @property
    def busy(self) -> int:
        return len(self._busy)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def processes(self) -> list[int]:
        """The ids of the processes that live."""
        return [each.process.pid for each in (*self._idle, *self._busy)]

    def start(self) -> None:
        """Start a process, and the others when it is ready: it leaves the search database in the cache for them."""
        self._begin_process()

    def renew(self, pack: RulePack) -> None:
        """Scan with this pack as soon as a process has it. Running scans end with the one they began with."""
        self._use(pack)
        self.start()

    async def run(self, job: Job) -> Answer:
        """Return the answer to a job.
        Raises OverloadedError, ScanTimeoutError, LimitError (memory) or what the scan raised."""
        if len(self._waiting) >= QUEUE:
            raise OverloadedError("the service is overloaded", help="try again in a moment")
        process = await self._take(_Waiting(job.size >= LARGE_BYTES))
        timer = asyncio.get_running_loop().call_later(SLOW_S, self._slow_down, process)
        healthy = False
        try:
            async with asyncio.timeout(self._deadline_s):
                head, bodies = await self._exchange(process, job)
            healthy = head.get("error") != OUT_OF_MEMORY
        except TimeoutError:
            raise ScanTimeoutError(
                f"the scan took longer than {self._deadline_s:g} s",
                help="send the part around the failure, or run the command line on the file",
            ) from None
        except (EOFError, OSError, ValueError) as error:
            log.error("a scan process ended in the middle of a scan: %s", type(error).__name__)
            raise InternalError("the scan failed") from error
        finally:  # also when the caller is gone: whoever does not read the answer must not leave it to the next
            timer.cancel()
            self._release(process, healthy)
        return self._answer(head, bodies)

    async def close(self) -> None:
        """End all processes. Running scans are cut off: the server drains its requests before."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for waiting in self._waiting:
            waiting.future.cancel()
        for each in (*self._idle, *self._busy):
            self._end(each)
        self._idle.clear()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def _exchange(self, process: _Process, job: Job) -> tuple[Head, list[bytes]]:
        await _send(process.process, pack_frame(job.head, list(job.logs.values())))
        assert process.process.stdout is not None, "started with a pipe"
        return await read_frame_async(process.process.stdout)

    def _answer(self, head: Head, bodies: list[bytes]) -> Answer:
        kind = head.get("error")
        if kind is None:
            return Answer(head["summary"], bodies, tuple(head.get("logs", ())))
        if kind == OUT_OF_MEMORY:
            text = "the log needs more memory than a request may use"
            raise LimitError(text, help="send the part around the failure")
        raise ERRORS.get(kind, InternalError)(head.get("text", "the scan failed"), help=head.get("help", ""))

    # --- who gets which process ---

    async def _take(self, waiting: _Waiting) -> _Process:
        self._waiting.append(waiting)
        self._pump()
        try:
            return await waiting.future
        except asyncio.CancelledError:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            if waiting.future.done() and not waiting.future.cancelled() and waiting.future.exception() is None:
                self._release(waiting.future.result(), healthy=True)
            raise

    def _pump(self) -> None:
        """Hand free processes to whoever has waited longest, and start others where there is room."""
        while self._idle and (waiting := self._next()) is not None:
            self._waiting.remove(waiting)
            if waiting.future.done():
                continue
            process = self._idle.pop()
            process.is_large = waiting.is_large
            self._busy.add(process)
            waiting.future.set_result(process)
        if self._serving and self._next() is not None and self._has_room() and self._starting < len(self._waiting):
            self._begin_process()

    def _next(self) -> _Waiting | None:
        quick = [each for each in self._busy if not each.is_slow]
        large_may = self._most == 1 or sum(each.is_large for each in quick) < self._most - 1
        return next((each for each in self._waiting if large_may or not each.is_large), None)

    def _has_room(self) -> bool:
        slow = sum(each.is_slow for each in self._busy)
        alive = len(self._busy) + len(self._idle) + self._starting
        return alive < min(self._most + slow, self._most * MOST_PER_PLACE)

    def _slow_down(self, process: _Process) -> None:
        process.is_slow = True
        self._pump()

    def _release(self, process: _Process, healthy: bool) -> None:
        self._busy.discard(process)
        alive = len(self._busy) + len(self._idle) + self._starting
        is_wanted = not self._closed and process.pack == self._serving and alive < self._most
        process.is_slow = False
        if healthy and is_wanted:
            self._idle.append(process)
        else:
            if not healthy:
                self.killed += 1
            self._end(process, kill=not healthy)
            if is_wanted:
                self._begin_process()
        self._pump()

    # --- starting and ending ---

    def _use(self, pack: RulePack | None) -> None:
        if pack is not None:
            text = json.dumps(json_from_pack(pack), ensure_ascii=False, separators=(",", ":"))
            self._pack = (pack.hash, text.encode())

    def _begin_process(self) -> None:
        if self._closed or self._pack is None:
            return
        self._starting += 1
        task = asyncio.get_running_loop().create_task(self._start_process(*self._pack))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start_process(self, pack_hash: str, pack: bytes) -> None:
        began = time.monotonic()
        process: asyncio.subprocess.Process | None = None
        ready = False
        try:
            process = await asyncio.create_subprocess_exec(
                *self._worker,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=child_environment(),
                limit=1 << 20,
            )
            async with asyncio.timeout(START_S):
                await _send(process, pack_frame({"op": "load", "memory_bytes": self._memory_bytes}, [pack]))
                assert process.stdout is not None, "started with a pipe"
                await read_frame_async(process.stdout)
            ready = True
        except (TimeoutError, EOFError, OSError, ValueError) as error:
            log.error("a scan process did not start: %s", type(error).__name__)
        finally:
            self._starting -= 1
            if not ready and process is not None:
                self._end(_Process(process, pack_hash), kill=True)
        if not ready or process is None:
            self._start_failed()
            return
        self._failed = 0
        log.debug("scan process %d ready after %.2f s", process.pid, time.monotonic() - began)
        if self._pack is None or self._pack[0] != pack_hash or self._closed:
            self._end(_Process(process, pack_hash))
            return
        if self._serving != pack_hash:
            self._serving = pack_hash
            old, self._idle = self._idle, []
            for each in old:
                self._end(each)
            for _ in range(self._most - 1 - self._starting):
                self._begin_process()
        self._idle.append(_Process(process, pack_hash))
        self._pump()

    def _start_failed(self) -> None:
        self._failed += 1
        if self._failed < RESTARTS:
            self._begin_process()
        elif not self._busy and not self._idle and not self._starting:
            self._failed = 0
            while self._waiting:
                waiting = self._waiting.popleft()
                if not waiting.future.done():
                    waiting.future.set_exception(OverloadedError("no scan process can be started"))

    def _end(self, each: _Process, *, kill: bool = False) -> None:
        """Let a process end: its input ends, or it is killed."""
        if each.process.stdin is not None:
            each.process.stdin.close()
        if kill or self._closed:
            with contextlib.suppress(ProcessLookupError):
                each.process.kill()
        task = asyncio.get_running_loop().create_task(_see_off(each.process))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


async def _see_off(process: asyncio.subprocess.Process) -> None:
    """Wait for a process that was told to end; what it still says is not for anybody."""
    try:
        async with asyncio.timeout(END_S):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _send(process: asyncio.subprocess.Process, pieces: Sequence[bytes]) -> None:
    assert process.stdin is not None, "started with a pipe"
    process.stdin.writelines(pieces)
    await process.stdin.drain()
