"""The Ray runner on a cluster of two nodes, on this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import inline
import pytest

from troubleshoot.engine import Engine
from troubleshoot.errors import UsageError
from troubleshoot.model import ScanResult
from troubleshoot.report.json import render_json

ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

from troubleshoot.parallel import partitions  # noqa: E402
from troubleshoot.parallel.ray_runner import RayRunner  # noqa: E402

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.xdist_group("ray")]

ROOT = Path(__file__).parent.parent.parent
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 1 GiB\n"
STEP = "[2026-11-30 20:15:04,001] [INFO] step {} loss 2.1\n"


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.default()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    steps = "".join(STEP.format(i) for i in range(60))
    for rank in range(120):
        (folder / f"rank{rank}.log").write_text(steps + (OOM if rank % 40 == 7 else ""))
    (folder / "large.log").write_text("".join(STEP.format(i) for i in range(150_000)) + OOM + steps)
    return folder


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setattr(partitions, "MIN_RANGE_BYTES", 2_000_000)
    options = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}
    found = cluster_utils.Cluster(initialize_head=True, head_node_args=options)
    found.add_node(num_cpus=1, object_store_memory=80_000_000)
    found.wait_for_nodes()
    yield found
    ray.shutdown()
    found.shutdown()


def test_cluster_gives_the_local_report(engine: Engine, folder: Path, cluster: Any) -> None:
    runner = RayRunner(cluster.address)
    assert runner.workers == 2
    local = render_json(inline.timeless(engine.scan_paths([folder])))
    assert render_json(inline.timeless(engine.scan_paths([folder], runner=runner))) == local
    assert not ray.is_initialized()  # what the runner opened it has closed


def test_node_that_dies_loses_nothing(engine: Engine, folder: Path, cluster: Any) -> None:
    class Killer:
        """Takes a node away when the first results are there."""

        def __init__(self) -> None:
            self.thread: threading.Thread | None = None
            self.sources = self.sources_after = 0

        def expect(self, sources: int, bytes: int) -> None:
            self.sources = sources

        def advance(self, bytes: int) -> None: ...

        def done(self, result: ScanResult) -> None:
            self.sources_after += self.thread is not None
            if self.thread is None:
                victim = next(node for node in cluster.worker_nodes)
                self.thread = threading.Thread(target=self._kill, args=(victim,))
                self.thread.start()
                time.sleep(0.5)

        def _kill(self, node: Any) -> None:
            cluster.remove_node(node, allow_graceful=False)

    local = render_json(inline.timeless(engine.scan_paths([folder])))
    killer = Killer()
    report = engine.scan_paths([folder], runner=RayRunner(cluster.address), watcher=killer)
    assert killer.thread is not None
    killer.thread.join()
    assert not cluster.worker_nodes
    assert killer.sources_after > killer.sources / 2  # it died in the middle
    assert render_json(inline.timeless(report)) == local


def test_no_cluster_is_the_callers_fault() -> None:
    with pytest.raises(UsageError, match="no Ray cluster"):
        RayRunner("127.0.0.1:1").workers  # noqa: B018
