"""Measures the scan against its budgets (DESIGN.md section 9), each against a peer in the same run.

    python benchmarks/run.py --quick      256 MiB, a minute
    python benchmarks/run.py --full       1 and 4 GiB, as the budgets say
    ... --write                           puts the table into benchmarks/README.md

It makes its own logs in benchmarks/.data: lines of a healthy training job (reference.py), of which three in ten are
NCCL channel lines, with a few known faults among them. Whole processes are timed, in turn with their peers, and the
best of several rounds counts: on a machine that does other work the best round is the least disturbed one. A figure
that is not a ratio says little about another machine.

ripgrep is Debian's: `apt-get install ripgrep`. Without it its row is left out.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import reference

ROOT = Path(__file__).parent.parent
DATA = Path(__file__).parent / ".data"
README = Path(__file__).parent / "README.md"
CHILDREN = Path(__file__).parent / "children.py"
MARKS = ("<!-- scan: made by run.py -->", "<!-- end of scan -->")
MIB = 1 << 20
BASE_BYTES = 16 * MIB
PIECE_BYTES = 64 * 1024
START_LINES = 20_000
FEW_RULES = 20  # that one failed job trips over; all of them in one log is what a hostile one holds

FAULTS = (
    "mpirun: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /opt/amazon-efa-ofi/x.so)",
    "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 3 has a total of 79.11 GiB",
    "slurmstepd: error: *** JOB 4711 ON gpu-node-3 CANCELLED AT 2026-11-30T20:15:04 DUE TO TIME LIMIT ***",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one process took. `memory_bytes` is the peak of it or of one of its workers, whichever is larger."""

    wall_s: float
    cpu_s: float
    memory_bytes: int
    output: str


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `kept` is None where there is no budget."""

    what: str
    figure: str
    budget: str = ""
    kept: bool | None = None

    def __str__(self) -> str:
        kept = {None: "", True: "kept", False: "**missed**"}[self.kept]
        return f"| {self.what} | {self.figure} | {self.budget} | {kept} |"


# --- logs ------------------------------------------------------------------------------------------------------------


def make_log(size: int) -> Path:
    """Return a log of about `size` bytes: a job's start, then the base log over and over, its pieces shuffled, with a
    fault now and then."""
    path = DATA / f"job-{size // MIB}.log"
    if path.exists() and abs(path.stat().st_size - size) < BASE_BYTES:
        return path
    pieces = _base_pieces()
    rng = random.Random(size)
    start = "\n".join(reference.log_lines(START_LINES, seed=5)) + "\n"
    with path.open("wb") as out:
        written = out.write(start.encode())
        while written < size:
            rng.shuffle(pieces)
            written += out.write(b"".join(pieces))
            written += out.write(rng.choice(FAULTS).encode() + b"\n")
    return path


def _base_pieces() -> list[bytes]:
    """Return the base log in pieces of whole lines."""
    pieces: list[bytes] = []
    lines: list[str] = []
    size = total = 0
    for line in reference.log_lines(10**9, seed=2, running=True):
        lines.append(line)
        size += len(line) + 1
        if size >= PIECE_BYTES:
            pieces.append(("\n".join(lines) + "\n").encode())
            total += size
            lines, size = [], 0
            if total >= BASE_BYTES:
                return pieces
    raise AssertionError


def make_hit_heavy_log(size: int, rules: int | None) -> Path:
    """Return a log in which every third line is one that a rule gives as its example: so many rules, or all."""
    path = DATA / f"hits-{rules or 'all'}-{size // MIB}.log"
    if path.exists():
        return path
    from troubleshoot.rulepack.load import load_pack

    rng = random.Random(1)
    chosen = sorted(load_pack().rules.values(), key=lambda rule: rule.id)
    examples = sorted(
        line
        for rule in (rng.sample(chosen, rules) if rules is not None else chosen)
        for example in rule.examples
        for text in example.files.values()
        for line in text.splitlines()
        if example.expect == "match" and 20 < len(line) < 400
    )
    lines = []
    for number, line in enumerate(reference.log_lines(BASE_BYTES // 110, seed=3, running=True)):
        lines.append(rng.choice(examples) if number % 3 == 0 else line)
    base = ("\n".join(lines) + "\n").encode()
    with path.open("wb") as out:
        for _ in range(-(-size // len(base))):
            out.write(base)
    return path


# --- processes -------------------------------------------------------------------------------------------------------


def run(command: Sequence[str]) -> Cost:
    """Run a process to its end and return what it took. Raises RuntimeError when it fails."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(DATA / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program is compiled once, not at each start
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(command)}: {err.read().decode('utf-8', 'replace')[-2000:]}")
        unit = 1 if sys.platform == "darwin" else 1024
        return Cost(
            wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit, out.read().decode("utf-8", "replace")
        )


def best(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, Cost]:
    """Run each command once in each round and return the quickest run of each."""
    found: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            found[name].append(run(command))
    return {name: min(costs, key=lambda cost: cost.wall_s) for name, costs in found.items()}


def median(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, float]:
    """Run each command once in each round and return the median wall time of each, in seconds."""
    found: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            found[name].append(run(command).wall_s)
    return {name: statistics.median(times) for name, times in found.items()}


def scan_command(path: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "troubleshoot", "--isolated", "--quiet", *options, str(path)]


def child(name: str, *arguments: object) -> list[str]:
    return [sys.executable, str(CHILDREN), name, *map(str, arguments)]


# --- measurements ----------------------------------------------------------------------------------------------------


def measure_speed(size: int, rounds: int) -> Iterable[Row]:
    path = make_log(size)
    run(scan_command(path, "-j", "1"))  # fills the caches: of the pack, of the file
    literals = DATA / "literals.txt"
    run(child("literals", literals))
    commands = {
        "scan": scan_command(path),
        "scan -j 1": scan_command(path, "-j", "1"),
        "bare": child("bare", path),
        "bare, narrowed": child("bare", path, "narrowed"),
    }
    grep = shutil.which("rg")
    if grep is not None:
        commands["rg"] = [grep, "-a", "-c", "-i", "-F", "-f", str(literals), str(path)]
    else:
        print("ripgrep is missing: apt-get install ripgrep", file=sys.stderr)
    costs = best(commands, rounds)
    mib = path.stat().st_size // MIB
    for name, cost in costs.items():
        yield Row(f"{name}, {mib} MiB", f"{cost.wall_s:.2f} s ({cost.cpu_s:.2f} s of CPU)")
    if grep is not None:
        count = len(literals.read_bytes().splitlines())
        ratio = costs["rg"].wall_s / costs["scan"].wall_s
        yield Row(f"`rg -c -i -F -f`, {count} literals : scan", f"{ratio:.2f}", "at least 3.5", ratio >= 3.5)
        yield Row("the same : scan -j 1", f"{costs['rg'].wall_s / costs['scan -j 1'].wall_s:.2f}")
    for name in ("bare", "bare, narrowed"):
        ratio = costs[name].wall_s / costs["scan"].wall_s
        single = costs[name].wall_s / costs["scan -j 1"].wall_s
        with_budget = name == "bare"
        yield Row(
            f"Hyperscan {name} : scan (: scan -j 1)",
            f"{ratio:.2f} ({single:.2f})",
            "at least 0.8" if with_budget else "",
            ratio >= 0.8 if with_budget else None,
        )


def measure_plain_loop(size: int) -> Iterable[Row]:
    path = make_log(size)
    seconds, scanned = map(float, run(child("loop", path, 48 * 1024)).output.split())
    whole = seconds * path.stat().st_size / scanned
    yield Row(
        f"each pattern on each line with `regex`, {path.stat().st_size // MIB} MiB",
        f"{whole / 3600:.1f} h, extrapolated from {scanned / 1024:.0f} KiB",
    )


def measure_memory(sizes: Sequence[int]) -> Iterable[Row]:
    peaks = []
    for size in sizes:
        path = make_log(size)
        cost = run(scan_command(path, "-j", "1"))
        peaks.append(cost.memory_bytes / MIB)
        workers = run(scan_command(path))
        yield Row(
            f"peak memory, {size // MIB} MiB",
            f"{peaks[-1]:.0f} MiB, {workers.memory_bytes / MIB:.0f} MiB with workers",
            "at most 100 MiB",
            peaks[-1] <= 100,
        )
    if len(peaks) > 1:
        yield Row(
            "the larger log's peak : the smaller's",
            f"{peaks[-1] / peaks[0]:.2f}",
            "the same",
            peaks[-1] < 1.1 * peaks[0],
        )


def measure_hits(size: int, rounds: int) -> Iterable[Row]:
    for rules in (FEW_RULES, None):
        path = make_hit_heavy_log(size, rules)
        run(scan_command(path))
        costs = best({"scan": scan_command(path), "scan -j 1": scan_command(path, "-j", "1")}, rounds)
        speed = {name: path.stat().st_size / cost.wall_s / 1e6 for name, cost in costs.items()}
        yield Row(
            f"every third line hits one of {rules or 'all'} rules, {path.stat().st_size // MIB} MiB",
            f"{speed['scan']:.0f} MB/s ({speed['scan -j 1']:.0f} with -j 1)",
            "at least 150 MB/s" if rules else "",
            speed["scan"] >= 150 if rules else None,
        )


def measure_rules(size: int, rounds: int) -> Iterable[Row]:
    path = make_log(size)
    times: dict[int, list[float]] = {1: [], 10: []}
    for _ in range(rounds):
        for factor in times:
            times[factor].append(float(run(child("rules", path, factor)).output.split()[0]))
    ratio = min(times[10]) / min(times[1])
    patterns = run(child("rules", path, 10)).output.split()[1]
    yield Row(f"ten times the patterns ({patterns}) : the pack", f"{ratio:.2f}", "at most 1.3", ratio <= 1.3)


def measure_cold_start(rounds: int) -> Iterable[Row]:
    paste = DATA / "paste.log"
    lines = list(reference.log_lines(80, seed=4, running=True))
    paste.write_text("\n".join([*lines[:60], FAULTS[0], *lines[60:]])[:10_000] + "\n", "utf-8")
    commands = {
        "scan": scan_command(paste),
        "imports": [sys.executable, "-c", "import click, regex, hyperscan, pydantic, yaml"],
    }
    median(commands, 1)
    times = median(commands, rounds)
    ratio = times["scan"] / times["imports"]
    yield Row(
        "cold start with a 10 KB paste : `import click, regex, hyperscan, pydantic, yaml`",
        f"{ratio:.2f} ({times['scan'] * 1000:.0f} : {times['imports'] * 1000:.0f} ms)",
        "at most 2",
        ratio <= 2,
    )


def machine() -> str:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    today = time.strftime("%Y-%m-%d")
    return f"{today}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, load {load:.1f}"


def write_readme(table: str) -> None:
    text = README.read_text("utf-8")
    begin, end = (text.index(mark) for mark in MARKS)
    README.write_text(text[: begin + len(MARKS[0])] + "\n" + table + "\n" + text[end:], "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller logs, fewer rounds")
    parser.add_argument("--full", action="store_true", help="the sizes of the budgets")
    parser.add_argument("--write", action="store_true", help="put the table into benchmarks/README.md")
    parser.add_argument("--only", default="", help="measure only this: speed, loop, memory, hits, rules, start")
    options = parser.parse_args()
    if options.quick == options.full:
        parser.error("say --quick or --full")
    DATA.mkdir(exist_ok=True)
    sys.path.insert(0, str(ROOT))
    size = 256 * MIB if options.quick else 1024 * MIB
    rounds = 3 if options.quick else 5
    measurements: dict[str, Callable[[], Iterable[Row]]] = {
        "speed": lambda: measure_speed(size, rounds),
        "loop": lambda: measure_plain_loop(size),
        "memory": lambda: measure_memory([size // 4, size] if options.quick else [size, 4 * size]),
        "hits": lambda: measure_hits(64 * MIB if options.quick else 256 * MIB, rounds),
        "rules": lambda: measure_rules(size // 4, rounds),
        "start": lambda: measure_cold_start(5 * rounds),
    }
    chosen = [name for name in measurements if options.only in ("", name)]
    table = ["| what | figure | budget | |", "|---|---|---|---|"]
    print(machine(), *table, sep="\n", flush=True)
    for name in chosen:
        for row in measurements[name]():
            table.append(str(row))
            print(row, flush=True)
    if options.write:
        write_readme(f"{machine()}, {'--quick' if options.quick else '--full'}\n\n" + "\n".join(table))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
