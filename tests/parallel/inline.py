"""Runs partitions in this process, in any order: the same loop and merge as the pool, without its costs."""

from __future__ import annotations

import contextlib
import pickle
import random
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace

from troubleshoot.engine import Engine
from troubleshoot.model import Report, RulePack, ScanResult
from troubleshoot.parallel.drive import run_partitions
from troubleshoot.parallel.partitions import Partition, list_files
from troubleshoot.parallel.worker import PieceResult, Worker
from troubleshoot.watching import Stop


class InlineHands:
    width = 4
    tries_again = True

    def __init__(self, pack: RulePack, seed: int) -> None:
        self._worker = Worker(pack)
        self._order = random.Random(seed)

    def submit(self, partition: Partition) -> Future[bytes]:
        ended: Future[bytes] = Future()
        ended.set_result(pickle.dumps(self._worker.scan_partition(pickle.loads(pickle.dumps(partition)))))
        return ended

    def wait(self, handles: Collection[Future[bytes]], timeout_s: float) -> Collection[Future[bytes]]:
        return [self._order.choice(list(handles))]

    def result(self, handle: Future[bytes]) -> tuple[PieceResult, ...]:
        results: tuple[PieceResult, ...] = pickle.loads(handle.result())
        return results

    def renew(self) -> None: ...

    def stop(self) -> None: ...


class Inline:
    workers = 2

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def begin(
        self, pack: RulePack, partitions: Sequence[Partition], stop: Stop
    ) -> tuple[Sequence[Partition], Sequence[PieceResult]]:
        return partitions, ()

    @contextlib.contextmanager
    def hands(self, pack: RulePack) -> Iterator[InlineHands]:
        yield InlineHands(pack, self._seed)


def results_of(
    engine: Engine, paths: Sequence[str], partitions: Sequence[Partition], seed: int = 0
) -> list[ScanResult]:
    """Return the results of paths that were cut into the partitions."""
    listing = list_files(paths, lambda opened: next(engine.results([opened])))
    return list(run_partitions(engine.pack, listing, partitions, Inline(seed)))


def timeless(report: Report) -> Report:
    return replace(report, stats=replace(report.stats, seconds=0.0))
