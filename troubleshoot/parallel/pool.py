"""Runs partitions in processes of this machine.

The pool is the standard library's. Where processes can be forked they inherit the pack and its compiled database and
share the memory; elsewhere the pack is sent once to each. An interrupt from the keyboard reaches all processes of a
terminal: the workers ignore it, and this process tells them to stop.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import signal
import sys
from collections.abc import Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.synchronize import Event

from troubleshoot.model import RulePack
from troubleshoot.parallel.drive import WorkerLostError
from troubleshoot.parallel.partitions import Partition
from troubleshoot.parallel.worker import PieceResult, Worker

AHEAD = 2  # partitions per worker on the way: one is read, one waits

_worker: Worker | None = None
_stopped: Event | None = None


class LocalPool:
    """A runner with so many processes."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    @contextlib.contextmanager
    def hands(self, pack: RulePack) -> Iterator[PoolHands]:
        hands = PoolHands(pack, self.workers)
        try:
            yield hands
        except BaseException:
            hands.stop()
            raise
        finally:
            hands.close()


class PoolHands:
    tries_again = True

    def __init__(self, pack: RulePack, workers: int) -> None:
        self.width = workers * AHEAD
        self._pack = pack
        self._workers = workers
        forks = sys.platform == "linux"
        self._context = multiprocessing.get_context("fork" if forks else "spawn")
        self._stop = self._context.Event()
        if forks:
            Worker(pack)  # compiled here, once for all
        self._open()

    def _open(self) -> None:
        self._pool = ProcessPoolExecutor(
            self._workers, self._context, initializer=_begin, initargs=(self._pack, self._stop)
        )

    def submit(self, partition: Partition) -> Future[tuple[PieceResult, ...]]:
        try:
            return self._pool.submit(_scan, partition)
        except BrokenProcessPool as error:
            raise WorkerLostError from error

    def wait(
        self, handles: Collection[Future[tuple[PieceResult, ...]]], timeout_s: float
    ) -> Collection[Future[tuple[PieceResult, ...]]]:
        return wait(handles, timeout_s, FIRST_COMPLETED).done

    def result(self, handle: Future[tuple[PieceResult, ...]]) -> tuple[PieceResult, ...]:
        try:
            return handle.result()
        except BrokenProcessPool as error:
            raise WorkerLostError from error

    def renew(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._open()

    def stop(self) -> None:
        self._stop.set()

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


def _begin(pack: RulePack, stop: Event) -> None:
    global _worker, _stopped
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # what was inherited stays shared: the collector does not touch it
    _worker, _stopped = Worker(pack), stop


def _scan(partition: Partition) -> tuple[PieceResult, ...]:
    assert _worker is not None and _stopped is not None, "_begin ran first"
    return _worker.scan_partition(partition, _stopped.is_set)
