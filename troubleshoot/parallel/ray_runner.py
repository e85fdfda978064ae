"""Runs partitions on a Ray cluster.

Scheduling, transport and retries are Ray's: one task per partition, one CPU each, tried again up to RETRIES times when
a worker or its node is gone. The pack is put into the object store once; each worker process compiles it when it first
meets it. The nodes must see the same files under the same paths, and have the same version of this package.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from troubleshoot.errors import UsageError
from troubleshoot.model import RulePack
from troubleshoot.parallel.drive import WorkerLostError
from troubleshoot.parallel.partitions import Partition
from troubleshoot.parallel.worker import PieceResult, Worker
from troubleshoot.watching import Stop

AHEAD = 2  # partitions per CPU on the way
RETRIES = 3
CONNECT_S = 10.0

_workers: dict[str, Worker] = {}  # of a worker process: by the reference of the pack


class RayRunner:
    """A runner on the cluster at `address`, "auto" for the one at hand. Raises UsageError when there is none."""

    def __init__(self, address: str = "auto") -> None:
        self._ray = _import_ray()
        self._address = address
        self._is_ours = False

    @property
    def workers(self) -> int:
        """CPUs of the cluster, as they are now."""
        self._connect()
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def begin(
        self, pack: RulePack, partitions: Sequence[Partition], stop: Stop
    ) -> tuple[Sequence[Partition], Sequence[PieceResult]]:
        """Return the partitions: what this process learns does not reach the workers."""
        return partitions, ()

    def _connect(self) -> None:
        if self._ray.is_initialized():
            return
        _check_reachable(self._address)
        try:
            self._ray.init(address=self._address, log_to_driver=False, logging_level="error")
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise UsageError(f"no Ray cluster at {self._address!r}: {error}", help="ray status") from error
        self._is_ours = True

    @contextlib.contextmanager
    def hands(self, pack: RulePack) -> Iterator[RayHands]:
        self._connect()
        hands = RayHands(self._ray, pack, self.workers)
        try:
            yield hands
        except BaseException:
            hands.stop()
            raise
        finally:
            if self._is_ours:
                self._ray.shutdown()
                self._is_ours = False


class RayHands:
    tries_again = False  # Ray has done so

    def __init__(self, ray: Any, pack: RulePack, workers: int) -> None:
        self._ray = ray
        self.width = workers * AHEAD
        self._pack = ray.put(pack)
        self._scan = ray.remote(num_cpus=1, max_retries=RETRIES)(_scan)
        self._flying: set[Any] = set()
        self._lost = (
            ray.exceptions.WorkerCrashedError,
            ray.exceptions.NodeDiedError,
            ray.exceptions.OutOfMemoryError,
            ray.exceptions.ObjectLostError,
            ray.exceptions.LocalRayletDiedError,
        )

    def submit(self, partition: Partition) -> Any:
        handle = self._scan.remote([self._pack], partition)  # in a list, it is not fetched for every task
        self._flying.add(handle)
        return handle

    def wait(self, handles: Collection[Any], timeout_s: float) -> Collection[Any]:
        waiting = list(handles)
        ended, _ = self._ray.wait(waiting, num_returns=1, timeout=timeout_s)
        if ended:
            ended, _ = self._ray.wait(waiting, num_returns=len(waiting), timeout=0)
        return list(ended)

    def result(self, handle: Any) -> tuple[PieceResult, ...]:
        self._flying.discard(handle)
        try:
            results: tuple[PieceResult, ...] = self._ray.get(handle)
        except self._ray.exceptions.TaskCancelledError:
            return ()
        except self._lost as error:
            raise WorkerLostError from error
        return results

    def renew(self) -> None:
        """Ray starts new workers by itself."""

    def stop(self) -> None:
        for handle in self._flying:
            self._ray.cancel(handle)


def _check_reachable(address: str) -> None:
    """Raise UsageError when nobody listens at a `host:port`: Ray itself tries for minutes."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or "/" in address:
        return
    try:
        socket.create_connection((host, int(port)), CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise UsageError(f"no Ray cluster at {address!r}: {error}", help="ray status") from error


def _scan(box: list[Any], partition: Partition) -> tuple[PieceResult, ...]:
    key = box[0].hex()
    if key not in _workers:
        import ray

        _workers.clear()
        _workers[key] = Worker(ray.get(box[0]))
    return _workers[key].scan_partition(partition)


def _import_ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise UsageError("Ray is not installed", help="pip install 'troubleshoot[ray]'") from error
    return ray
