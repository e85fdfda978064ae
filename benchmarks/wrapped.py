"""Measures what wrappers and compression cost: the same log clean, as CRI writes it, coloured, and as .gz.

    python benchmarks/wrapped.py --quick      256 MiB
    python benchmarks/wrapped.py --full       1 GiB, and 4 GiB of text as .gz

Rates are of the bytes given, by wall clock and by processor time; each round takes all in turn and the best one counts.
The peer of the .gz is a process that only decompresses it, with ISA-L, the fastest library there is a wheel of.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from isal import igzip
from run import DATA, MIB, ROOT, Cost, Row, best, machine, make_log, run, scan_command

CHUNK_BYTES = 1 << 20
INFLATE = (
    "import sys\nfrom isal import igzip\n"
    f"with igzip.open(sys.argv[1]) as stream:\n    while stream.read({CHUNK_BYTES}):\n        pass\n"
)


def as_cri(lines: Iterable[bytes]) -> Iterator[bytes]:
    for number, line in enumerate(lines):
        second, part = divmod(number, 1000)
        stamp = b"2026-11-30T%02d:%02d:%02d.%03d000000Z" % (second // 3600 % 24, second // 60 % 60, second % 60, part)
        yield stamp + b" stdout F " + line


def coloured(lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield b"\x1b[32m" + line[:20] + b"\x1b[0m" + line[20:]


def make_like(clean: Path, name: str, change: Callable[[Iterable[bytes]], Iterator[bytes]]) -> Path:
    path = clean.with_name(f"{name}-{clean.name}")
    if not path.exists():
        with clean.open("rb") as lines, path.open("wb") as out:
            out.writelines(change(lines))
    return path


def make_gzip(clean: Path) -> Path:
    path = clean.with_name(f"{clean.name}.gz")
    if not path.exists():
        with clean.open("rb") as data, igzip.open(path, "wb", compresslevel=1) as out:
            while chunk := data.read(CHUNK_BYTES):
                out.write(chunk)
    return path


def measure_wrappers(size: int, rounds: int) -> Iterable[Row]:
    clean = make_log(size)
    logs = {"clean": clean, "CRI": make_like(clean, "cri", as_cri), "coloured": make_like(clean, "ansi", coloured)}
    for path in logs.values():
        run(scan_command(path, "-j", "1"))
    costs = best({name: scan_command(path, "-j", "1") for name, path in logs.items()}, rounds)

    def rates(name: str) -> tuple[float, float]:
        return logs[name].stat().st_size / costs[name].wall_s / 1e6, logs[name].stat().st_size / costs[name].cpu_s / 1e6

    for name in logs:
        wall, cpu = rates(name)
        ratio, by_cpu = wall / rates("clean")[0], cpu / rates("clean")[1]
        mib = logs[name].stat().st_size // MIB
        figure = f"{wall:.0f} MB/s: {ratio:.2f} of clean ({by_cpu:.2f} by CPU), peak {_peak(costs[name])}"
        yield Row(f"{name}, {mib} MiB, -j 1", figure, "at least 0.25", ratio >= 0.25)


def measure_gzip(size: int, rounds: int) -> Iterable[Row]:
    path = make_gzip(make_log(size))
    run(scan_command(path))
    costs = best({"scan": scan_command(path), "inflate": [sys.executable, "-c", INFLATE, str(path)]}, rounds)
    ratio = costs["inflate"].wall_s / costs["scan"].wall_s
    by_cpu = costs["inflate"].cpu_s / costs["scan"].cpu_s
    figure = f"{ratio:.2f} ({costs['inflate'].wall_s:.1f} : {costs['scan'].wall_s:.1f} s; {by_cpu:.2f} by CPU)"
    yield Row(
        f"decompression alone : scan, {path.stat().st_size // MIB} MiB of .gz, {size // MIB} MiB of text",
        f"{figure}, peak {_peak(costs['scan'])}",
        "at least 0.8",
        ratio >= 0.8,
    )


def _peak(cost: Cost) -> str:
    return f"{cost.memory_bytes / MIB:.0f} MiB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller logs")
    parser.add_argument("--full", action="store_true", help="the sizes of the budgets")
    options = parser.parse_args()
    if options.quick == options.full:
        parser.error("say --quick or --full")
    DATA.mkdir(exist_ok=True)
    sys.path.insert(0, str(ROOT))
    size = 256 * MIB if options.quick else 1024 * MIB
    print(machine(), "| what | figure | budget | |", "|---|---|---|---|", sep="\n", flush=True)
    for row in measure_wrappers(size, 3):
        print(row, flush=True)
    for row in measure_gzip(size if options.quick else 4 * size, 3):
        print(row, flush=True)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
