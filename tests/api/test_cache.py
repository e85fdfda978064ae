"""Equal requests get equal answers without a second scan; nobody gets another's."""

from __future__ import annotations

import asyncio

from troubleshoot.api import service as module
from troubleshoot.api.body import ScanBody
from troubleshoot.api.holder import PackHolder
from troubleshoot.api.metrics import Metrics
from troubleshoot.api.pool import Answer, Job
from troubleshoot.api.service import AnswerCache, ScanService, Wanted


class CountingPool:
    """Stands in for the scan processes and counts what reaches them."""

    def __init__(self, pack: str) -> None:
        self.jobs: list[Job] = []
        self._pack = pack

    async def run(self, job: Job) -> Answer:
        self.jobs.append(job)
        await asyncio.sleep(0.01)
        summary = {"verdict": "clean", "rules": [], "bytes": 1, "lines": 1, "seconds": 0.0, "pack": self._pack}
        return Answer(summary, [b"%d" % len(self.jobs)])


def scans(*asked: tuple[str, Wanted], at_once: bool = False) -> tuple[int, list[bytes]]:
    async def run() -> tuple[int, list[bytes]]:
        holder = PackHolder(default_rules=False)
        service = ScanService(holder, Metrics(lambda: iter(())))
        pool = CountingPool(holder.serving().pack.hash)
        service.pool = pool  # type: ignore[assignment]  # only `run` is asked of it
        calls = [service.scan(ScanBody({"paste": text}), wanted) for text, wanted in asked]
        answers = await asyncio.gather(*calls) if at_once else [await call for call in calls]
        return len(pool.jobs), [answer.bodies[0] for answer in answers]

    return asyncio.run(run())


JSON = Wanted(("json",))


def test_same_log_is_scanned_once() -> None:
    assert scans(("a", JSON), ("a", JSON)) == (1, [b"1", b"1"])


def test_same_log_at_once_is_scanned_once() -> None:
    assert scans(*[("a", JSON)] * 5, at_once=True) == (1, [b"1"] * 5)


def test_whatever_differs_is_scanned_anew() -> None:
    asked = (
        ("a", JSON),
        ("b", JSON),
        ("a", Wanted(("text",))),
        ("a", Wanted(("json",), platform="slurm")),
        ("a", Wanted(("json",), who="another key")),
    )
    assert scans(*asked) == (5, [b"1", b"2", b"3", b"4", b"5"])


def test_names_and_texts_cannot_be_shifted_into_each_other() -> None:
    one = module._key("p", Job({"ab": b"c"}, ("json",)), "")
    other = module._key("p", Job({"a": b"bc"}, ("json",)), "")
    assert one != other


def test_cache_forgets_by_age_and_size() -> None:
    now = 0.0
    cache = AnswerCache(clock=lambda: now)
    cache.put(b"old", Answer({}, [b"x"]))
    now = module.CACHED_S + 1
    assert cache.get(b"old") is None
    for number in range(3):
        cache.put(b"%d" % number, Answer({}, [b"x" * (module.CACHED_BYTES // 2 - 2048)]))
    assert [cache.get(b"%d" % number) is not None for number in range(3)] == [False, True, True]
