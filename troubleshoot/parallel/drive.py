"""Keeps the workers busy: the same loop for processes of this machine and for a Ray cluster.

In: partitions, and `Hands` that run them. Out: results of pieces, as they come. There are never more partitions on the
way than the hands want, so memory does not grow with the job.

A partition whose process died is tried once more, piece by piece and each alone: one bad file costs itself only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from typing import Any, Protocol

from troubleshoot.model import Note, RulePack, ScanResult
from troubleshoot.parallel.merge import Gathering
from troubleshoot.parallel.partitions import Listing, Partition, Piece, partition
from troubleshoot.parallel.worker import PieceResult, State, with_notes
from troubleshoot.watching import Stop, Watcher, never

WAIT_S = 0.2  # between two looks at whether to stop
CHANCES = 2  # alone: what was on the way when a process died need not have been what it died of
Handle = Any  # a future, or a reference of Ray


class WorkerLostError(Exception):
    """The process or machine that ran a partition is gone."""


class Hands(Protocol):
    """Runs partitions. `width`: how many may be on the way, half of them waiting for a free worker. `tries_again`:
    whether what a lost process had is to be tried once more; not where that has been done."""

    width: int
    tries_again: bool

    def submit(self, partition: Partition) -> Handle: ...

    def wait(self, handles: Collection[Handle], timeout_s: float) -> Collection[Handle]:
        """Return those of the handles that have come to an end."""
        ...

    def result(self, handle: Handle) -> tuple[PieceResult, ...]:
        """Return what an ended handle gave. Raises WorkerLostError."""
        ...

    def renew(self) -> None:
        """Replace what died."""
        ...

    def stop(self) -> None:
        """Tell the workers to end soon."""
        ...


class Runner(Protocol):
    """Opens hands for a pack."""

    @property
    def workers(self) -> int:
        """How many partitions run at a time."""
        ...

    def begin(
        self, pack: RulePack, partitions: Sequence[Partition], stop: Stop
    ) -> tuple[Sequence[Partition], Sequence[PieceResult]]:
        """Do here what each worker would have to do, if that is worth it. Return what is left, and what it gave."""
        ...

    def hands(self, pack: RulePack) -> AbstractContextManager[Hands]: ...


def read_parallel(
    pack: RulePack, listing: Listing, runner: Runner, watcher: Watcher | None = None, stop: Stop = never
) -> Iterator[ScanResult]:
    """Yield what a serial scan of the listing would, in its order, once all is read. When stopped: of what was read."""
    partitions, begun = runner.begin(pack, partition(listing.files, runner.workers), stop)
    yield from run_partitions(pack, listing, partitions, runner, watcher, stop, begun)


def run_partitions(
    pack: RulePack,
    listing: Listing,
    partitions: Sequence[Partition],
    runner: Runner,
    watcher: Watcher | None = None,
    stop: Stop = never,
    begun: Sequence[PieceResult] = (),
) -> Iterator[ScanResult]:
    """Yield the results of a listing that was cut into these partitions, and of what has `begun`."""
    pieces = [piece for each in partitions for piece in each.pieces]
    gathering = Gathering(pack, listing, [*(result.piece for result in begun), *pieces])
    work = deque(partitions)
    with runner.hands(pack) as hands:
        for result in chain(begun, drive(hands, work, stop, gathering)):
            finished, again = gathering.take(result)
            work.extend(again)
            if watcher is not None:
                watcher.advance(result.piece.bytes if result.state is not State.TORN else 0)
                for each in finished:
                    watcher.done(each)
    yield from gathering.results()


def drive(
    hands: Hands, work: deque[Partition], stop: Stop = never, gathering: Gathering | None = None
) -> Iterator[PieceResult]:
    """Yield the results of the work as they come; work may be added meanwhile. `gathering` is asked about a partition
    when its turn has come."""
    flying: dict[Handle, Partition] = {}
    fallen: list[Partition] = []
    told = False
    while True:
        if stop() and not told:
            told = True
            hands.stop()
        while work and not told and not fallen and len(flying) < _room(hands, work[0], gathering):
            try:
                flying[hands.submit(gathering.prepared(work[0]) if gathering else work[0])] = work[0]
            except WorkerLostError:
                if not flying:
                    hands.renew()
                break
            work.popleft()
        if flying:
            for handle in hands.wait(flying, WAIT_S):
                sent = flying.pop(handle)
                try:
                    results = hands.result(handle)
                except WorkerLostError:
                    if hands.tries_again:
                        fallen.append(sent)
                    else:
                        yield from map(_lost, sent.pieces)
                else:
                    yield from results
        elif fallen and not told:
            yield from _one_by_one(hands, fallen, stop)
            fallen = []
        elif not work or told:
            return


def _room(hands: Hands, next_one: Partition, gathering: Gathering | None) -> int:
    """Return how many may be on the way: none waits for a free worker that would rather wait for what others find."""
    return hands.width // 2 if gathering is not None and gathering.is_early(next_one) else hands.width


def _one_by_one(hands: Hands, fallen: Iterable[Partition], stop: Stop) -> Iterator[PieceResult]:
    """Yield the results of partitions that were on the way when a process died, each piece tried alone."""
    hands.renew()
    pieces = [piece for each in fallen for piece in each.pieces]
    note: tuple[Note, ...] = (
        Note("worker-died", f"a process died, and what it may have had was read again: files and parts: {len(pieces)}"),
    )
    for piece in pieces:
        for chance in range(CHANCES):
            if stop():
                return
            try:
                results = _alone(hands, piece, stop)
            except WorkerLostError:
                hands.renew()
                if chance == CHANCES - 1:
                    yield _lost(piece)
                continue
            for result in results:
                yield with_notes(result, note)
                note = ()
            break


def _alone(hands: Hands, piece: Piece, stop: Stop) -> tuple[PieceResult, ...]:
    handle = hands.submit(Partition((piece,)))
    while not hands.wait([handle], WAIT_S):
        if stop():
            hands.stop()
    return hands.result(handle)


def _lost(piece: Piece) -> PieceResult:
    text = "every process that read it died: it is not in this report"
    return PieceResult(piece, State.LOST, notes=(Note("worker-lost", text, piece.path),))
