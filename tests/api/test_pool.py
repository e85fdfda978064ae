"""Scan processes: none waits for a hostile log, none is left after one, none outlives the service."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from troubleshoot.api.faults import OverloadedError, ScanTimeoutError
from troubleshoot.api.pool import Job, ScanPool
from troubleshoot.errors import InternalError, LimitError, SourceError
from troubleshoot.model import RulePack

WORKER = """
import json, os, sys, time
sys.path.insert(0, {root!r})
from troubleshoot.api.frames import pack_frame, read_frame
stream, out = sys.stdin.buffer, sys.stdout.buffer
def answer(head, bodies=()):
    out.write(b"".join(pack_frame(head, bodies))); out.flush()
head, (pack,) = read_frame(stream)
if json.loads(pack)["hash"] == "broken": sys.exit(3)
answer({{"ready": ""}})
while (got := read_frame(stream)) is not None:
    head, bodies = got
    word, _, number = bodies[0][:40].decode().strip().partition(" ")
    if word == "sleep": time.sleep(float(number))
    if word == "die": os.kill(os.getpid(), 9)
    if word == "memory": answer({{"error": "memory"}}); break
    if word == "refuse": answer({{"error": "SourceError", "text": "nothing there", "help": ""}}); continue
    answer({{"summary": {{"pid": os.getpid(), "pack": json.loads(pack)["hash"]}}}}, [bodies[0][:40]])
"""


@pytest.fixture
def worker(tmp_path: Path) -> tuple[str, ...]:
    script = tmp_path / "worker.py"
    script.write_text(WORKER.format(root=str(Path(__file__).parents[2])))
    return (sys.executable, str(script))


def pack(name: str = "a") -> RulePack:
    from troubleshoot.rulepack.load import load_pack

    return replace(load_pack(default_rules=False), hash=name)


def job(text: str, size: int = 0) -> Job:
    return Job({"paste": text.encode().ljust(size)}, ("json",))


def run(worker: tuple[str, ...], test: Callable[[ScanPool], Awaitable[None]], **options: float) -> None:
    async def whole() -> None:
        pool = ScanPool(pack(), worker=worker, **options)  # type: ignore[arg-type]  # numbers, as each option wants
        pool.start()
        try:
            await test(pool)
        finally:
            await pool.close()

    asyncio.run(asyncio.wait_for(whole(), 60))


def test_answers_come_back_and_processes_are_used_again(worker: tuple[str, ...]) -> None:
    async def test(pool: ScanPool) -> None:
        answers = [await pool.run(job(f"echo {number}")) for number in range(6)]
        assert [answer.bodies for answer in answers] == [[f"echo {number}".encode()] for number in range(6)]
        assert len({answer.summary["pid"] for answer in answers}) <= 2

    run(worker, test, processes=2)


def test_small_logs_do_not_wait_for_slow_ones(worker: tuple[str, ...]) -> None:
    async def test(pool: ScanPool) -> None:
        slow = [asyncio.create_task(pool.run(job("sleep 20"))) for _ in range(2)]
        await asyncio.sleep(0.1)
        began = time.monotonic()
        await pool.run(job("echo"))
        assert time.monotonic() - began < 10
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)

    run(worker, test, processes=2)


def test_large_logs_never_hold_the_last_process(worker: tuple[str, ...]) -> None:
    async def test(pool: ScanPool) -> None:
        await pool.run(job("echo"))
        large = [asyncio.create_task(pool.run(job("sleep 0.6", 300_000))) for _ in range(3)]
        await asyncio.sleep(0.05)
        began = time.monotonic()
        await pool.run(job("echo"))
        assert time.monotonic() - began < 0.5
        assert pool.busy == 1
        await asyncio.gather(*large)

    run(worker, test, processes=2)


def test_scan_over_its_time_is_killed_and_the_next_is_answered(worker: tuple[str, ...]) -> None:
    async def test(pool: ScanPool) -> None:
        with pytest.raises(ScanTimeoutError, match=r"longer than 0\.5 s"):
            await pool.run(job("sleep 30"))
        assert (await pool.run(job("echo"))).bodies == [b"echo"]
        assert pool.killed == 1

    run(worker, test, processes=1, deadline_s=0.5)


@pytest.mark.parametrize(("word", "error"), [("die", InternalError), ("memory", LimitError), ("refuse", SourceError)])
def test_failed_scan_is_told_and_leaves_nothing_behind(
    worker: tuple[str, ...], word: str, error: type[Exception]
) -> None:
    async def test(pool: ScanPool) -> None:
        with pytest.raises(error):
            await pool.run(job(word))
        assert (await pool.run(job("echo"))).bodies == [b"echo"]

    run(worker, test, processes=1)


def test_caller_who_goes_away_leaves_no_answer_to_the_next(worker: tuple[str, ...]) -> None:
    async def test(pool: ScanPool) -> None:
        await pool.run(job("echo"))
        gone = asyncio.create_task(pool.run(job("sleep 0.3")))
        await asyncio.sleep(0.05)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        assert (await pool.run(job("echo next"))).bodies == [b"echo next"]

    run(worker, test, processes=1)


def test_new_pack_takes_over_without_dropping_a_scan(worker: tuple[str, ...]) -> None:
    async def test(pool: ScanPool) -> None:
        assert (await pool.run(job("echo"))).summary["pack"] == "a"
        running = asyncio.create_task(pool.run(job("sleep 0.5")))
        await asyncio.sleep(0.05)
        pool.renew(pack("b"))
        seen = set()
        while "b" not in seen:
            seen.add((await pool.run(job("echo"))).summary["pack"])
            await asyncio.sleep(0.02)
        assert (await running).summary["pack"] == "a"

    run(worker, test, processes=2)


def test_processes_that_do_not_start_turn_requests_away(worker: tuple[str, ...]) -> None:
    async def whole() -> None:
        pool = ScanPool(pack("broken"), worker=worker, processes=1)
        pool.start()
        with pytest.raises(OverloadedError):
            await pool.run(job("echo"))
        await pool.close()

    asyncio.run(asyncio.wait_for(whole(), 30))


def test_no_process_outlives_the_pool(worker: tuple[str, ...]) -> None:
    pids: list[int] = []

    async def test(pool: ScanPool) -> None:
        await pool.run(job("echo"))
        pids.extend(pool.processes)

    run(worker, test, processes=1)
    assert pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
