"""Runs partitions in processes of this machine.

The pool is the standard library's. Where processes can be forked they inherit a worker with its compiled database, and
what it learned from the beginning of the first large file; elsewhere the pack is sent once to each. An interrupt from
the keyboard reaches all processes of a terminal: the workers ignore it, and this process tells them to stop.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import signal
import sys
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.synchronize import Event
from typing import Any

from troubleshoot import limits
from troubleshoot.ingest.streams import Purse
from troubleshoot.model import RulePack
from troubleshoot.parallel.drive import WorkerLostError
from troubleshoot.parallel.partitions import Partition, split_beginning
from troubleshoot.parallel.worker import PieceResult, Worker
from troubleshoot.watching import Stop

AHEAD = 2  # partitions per worker on the way: one is read, one waits

_worker: Worker | None = None
_stopped: Event | None = None


class LocalPool:
    """A runner with so many processes."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._first: Worker | None = None

    def begin(
        self, pack: RulePack, partitions: Sequence[Partition], stop: Stop
    ) -> tuple[Sequence[Partition], Sequence[PieceResult]]:
        piece, rest = split_beginning(partitions) if self.workers > 1 and can_fork() else (None, ())
        if piece is None:
            return partitions, ()
        self._first = Worker(pack)
        learned = self._first.learn(piece, stop)
        return (rest, [learned]) if learned is not None else (partitions, ())

    @contextlib.contextmanager
    def hands(self, pack: RulePack) -> Iterator[PoolHands]:
        hands = PoolHands(pack, self.workers, self._first)
        try:
            yield hands
        except BaseException:
            hands.stop()
            raise
        finally:
            hands.close()


class PoolHands:
    tries_again = True

    def __init__(self, pack: RulePack, workers: int, first: Worker | None = None) -> None:
        self.width = workers * AHEAD
        self._workers = workers
        self._context = multiprocessing.get_context("fork" if can_fork() else "spawn")
        self._stop = self._context.Event()
        self._purse = SharedPurse(self._context)
        self._begin_with = (first or Worker(pack)) if can_fork() else pack  # a worker is compiled here, once for all
        self._open()

    def _open(self) -> None:
        self._pool = ProcessPoolExecutor(
            self._workers, self._context, initializer=_begin, initargs=(self._begin_with, self._stop, self._purse)
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


def can_fork() -> bool:
    """Tell whether processes are copies of this one; elsewhere forking breaks what system libraries hold."""
    return sys.platform == "linux"


class SharedPurse(Purse):
    """What all processes together may spend, as one would alone."""

    def __init__(self, context: Any) -> None:
        self._bytes = context.Value("q", limits.TOTAL_BYTES)
        self._members = context.Value("q", limits.ARCHIVE_MEMBERS)
        self._told = context.Value("b", 0)

    def is_first_to_miss(self) -> bool:
        with self._told.get_lock():
            was_told, self._told.value = self._told.value, 1
            return not was_told

    def bytes_left(self) -> int:
        return int(self._bytes.value)

    def pay_bytes(self, count: int) -> None:
        with self._bytes.get_lock():
            self._bytes.value -= count

    def pay_member(self) -> bool:
        with self._members.get_lock():
            self._members.value -= 1
            return bool(self._members.value >= 0)


def _begin(inherited: Worker | RulePack, stop: Event, purse: Purse) -> None:
    global _worker, _stopped
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()  # what was inherited stays shared: the collector does not touch it
    _worker, _stopped = inherited if isinstance(inherited, Worker) else Worker(inherited), stop
    _worker.purse = purse


def _scan(partition: Partition) -> tuple[PieceResult, ...]:
    assert _worker is not None and _stopped is not None, "_begin ran first"
    return _worker.scan_partition(partition, _stopped.is_set)
