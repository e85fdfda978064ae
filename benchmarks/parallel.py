"""Measures what more processes bring, on this machine and on Ray.

`python benchmarks/parallel.py [--full] [--folder DIR]` prints one line per figure, each with the load of the machine at
that time. On a machine that others use, wall times tell little: the CPU seconds of all processes together tell what a
free one would do. `--full` adds 10 GiB over 256 files (and needs that room).

    large     one file, one process against two
    small     10,000 files of 100 lines, files per second with two processes
    memory    the peak of all processes together, shared pages counted once (PSS)
    ray       the same partitions on a local cluster of two CPUs, against two processes
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from reference import log_lines

from troubleshoot.engine import Engine
from troubleshoot.parallel.drive import Runner

MIB = 1024 * 1024
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 3 has a total capacity of 79 GiB\n"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--full", action="store_true")
    options.add_argument("--folder", type=Path, default=None)
    options.add_argument("--large-mib", type=int, default=1024)
    options.add_argument("--only", default="large,small,memory,ray")
    given = options.parse_args()
    wanted = given.only.split(",")
    engine = Engine.default()
    engine.scan_text("warm\n")
    with tempfile.TemporaryDirectory(dir=given.folder, prefix="troubleshoot-bench-") as name:
        folder = Path(name)
        if "large" in wanted:
            measure_large(engine, folder, given.large_mib)
        if "small" in wanted:
            measure_small(engine, folder)
        if "ray" in wanted:
            measure_ray(engine, folder, given.large_mib)
        if given.full or "full" in wanted:
            measure_many(engine, folder)


def measure_large(engine: Engine, folder: Path, mib: int) -> None:
    path = write_large(folder / "large.log", mib)
    compare("large", f"one file of {mib} MiB", timed(engine, path, 1), timed(engine, path, 2))
    path.unlink()
    two = folder / "two"
    two.mkdir()
    for rank in range(2):
        write_large(two / f"rank-{rank}.log", mib // 2)
    compare("large", f"two files of {mib // 2} MiB", timed(engine, two, 1), timed(engine, two, 2))
    shutil.rmtree(two)


def measure_small(engine: Engine, folder: Path, count: int = 10_000) -> None:
    small = write_small(folder / "small", count)
    one, two = timed(engine, small, 1), timed(engine, small, 2)
    compare("small", f"{count} files", one, two)
    tell("small", f"two processes: {count / two.wall:.0f} files/s, {two.cpu / count * 1e3:.2f} ms of CPU per file")
    shutil.rmtree(small)


def measure_many(engine: Engine, folder: Path, files: int = 256, mib: int = 40) -> None:
    many = folder / "many"
    many.mkdir()
    first = write_large(many / "rank-0.log", mib)
    for rank in range(1, files):
        shutil.copyfile(first, many / f"rank-{rank}.log")
    peak = Peak()
    took = timed(engine, many, 2)
    tell("memory", f"{files} x {mib} MiB: {took}, {files * mib / took.wall:.0f} MiB/s, peak {peak.stop()} MiB")
    shutil.rmtree(many)


def measure_ray(engine: Engine, folder: Path, mib: int) -> None:
    try:
        from ray.cluster_utils import Cluster
    except ImportError:
        tell("ray", "not installed")
        return
    from troubleshoot.parallel.ray_runner import RayRunner

    os.environ["PYTHONPATH"] = str(Path(__file__).parent.parent)
    path = write_large(folder / "large.log", mib)
    small = write_small(folder / "small", 1_000)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.add_node(num_cpus=1)
    try:
        for what in (path, small):
            timed(engine, what, 2, RayRunner(cluster.address))  # starts the workers
            local, on_ray = timed(engine, what, 2), timed(engine, what, 2, RayRunner(cluster.address))
            tell("ray", f"{what.name}: two processes {local.wall:.2f} s, Ray {on_ray.wall:.2f} s wall")
    finally:
        cluster.shutdown()
        path.unlink()
        shutil.rmtree(small)


class Took(NamedTuple):
    """Seconds on the wall, and of CPU in all processes but those of Ray."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:.2f} s wall, {self.cpu:.2f} s CPU"


def timed(engine: Engine, path: Path, workers: int, runner: Runner | None = None) -> Took:
    wall, cpu = time.perf_counter(), sum(os.times()[:4])
    report = engine.scan_paths([path], workers=workers, runner=runner)
    assert report.findings[0].rule == "cuda/out-of-memory", report.findings[:1]
    return Took(time.perf_counter() - wall, sum(os.times()[:4]) - cpu)


def compare(what: str, of: str, one: Took, two: Took) -> None:
    on_free_cores = one.cpu / (two.cpu / 2)  # as long as both have work to the end
    tell(what, f"{of}: one {one}; two {two}; ratio {one.wall / two.wall:.2f} here, {on_free_cores:.2f} by CPU")


def tell(what: str, text: str) -> None:
    print(f"{what:8}{text}   (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs)", flush=True)


def write_large(path: Path, mib: int) -> Path:
    """Write ordinary lines of training, three of ten NCCL's, and one fault."""
    lines = [line for line in log_lines(60_000) if "NCCL INFO Channel" in line or " iteration " in line]
    rng = random.Random(1)
    block = "".join(rng.choice(lines).rstrip("\n") + "\n" for _ in range(60_000)).encode()
    with path.open("wb") as stream:
        for _ in range(max(1, mib * MIB // len(block))):
            stream.write(block)
        stream.write(OOM.encode())
    return path


def write_small(folder: Path, count: int) -> Path:
    """Write logs of one rank each: steps, a few lines of NCCL, in one of a thousand a fault."""
    folder.mkdir()
    rng = random.Random(1)
    for rank in range(count):
        lines = [
            f"[2026-11-30 20:15:{i % 60:02d},{rng.randrange(1000):03d}] [INFO] [train.py:142] step {i} loss "
            f"{rng.random():.4f} lr 1.0e-4\n"
            for i in range(98)
        ]
        lines += [f"node-{rank // 8}:10:12 [{rank % 8}] NCCL INFO Connected all rings\n"] * 2
        lines += [OOM] * (rank % 1000 == 7)
        (folder / f"rank-{rank}.log").write_text("".join(lines))
    return folder


class Peak:
    """The most memory that this process and its children held together, in MiB."""

    def __init__(self) -> None:
        self._most = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(0.2):
            self._most = max(self._most, sum(map(_pss_kib, _tree(os.getpid()))))

    def stop(self) -> int:
        self._ended.set()
        self._thread.join()
        return self._most // 1024


def _tree(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *(each for child in children for each in _tree(int(child)))]


def _pss_kib(pid: int) -> int:
    read: Callable[[], str] = Path(f"/proc/{pid}/smaps_rollup").read_text
    try:
        return next(int(line.split()[1]) for line in read().splitlines() if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


if __name__ == "__main__":
    main()
