"""The budgets of a scan, each as a ratio against a peer in the same run. Prints a table; `--check` exits with 1 where a
budget is not kept.

    python benchmarks/run.py                 a log of 256 MiB, some minutes
    python benchmarks/run.py --full          logs of 1 GiB, and 4 GiB for memory
    python benchmarks/run.py --only cold,rg  some of them

Times are processor seconds (user and system) of the whole process, the best of several runs, taken in turn with those
of the peer: on a busy machine they waver less than the clock does. Memory is the peak of resident memory. The files are
read once before, so that the disk is left out.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import reference

ROOT = Path(__file__).parent.parent
MIB = 1 << 20
LINES = 100_000  # of the healthy log that is repeated to size
ROUNDS = 3
TROUBLE = (sys.executable, "-m", "troubleshoot", "--isolated", "-q", "-f", "json")
PEER_OF_START = "import click, regex, hyperscan, pydantic, yaml"
HIT = (
    "llama-ft-worker-0:77:912 [0] NCCL INFO Channel 03/0 : 0[0] -> 8[0] [send] via NET/Socket/0\n"
    "OSError: [Errno 12] Cannot allocate memory\n"
)

BARE_PASS = """
import sys, hyperscan
from troubleshoot.engine import Engine
from troubleshoot.scan.prefilter import Prefilter
from troubleshoot.database_cache import PackStore
pack = Engine.default().pack
database = Prefilter(pack.patterns, PackStore(pack))._database
scratch = hyperscan.Scratch(database)
count = 0
def take(*_):
    global count
    count += 1
with open(sys.argv[1], "rb") as file:
    while block := file.read(1 << 22):
        database.scan(block, match_event_handler=take, scratch=scratch)
print(count)
"""

LINE_LOOP = """
import sys
from troubleshoot.engine import Engine
from troubleshoot.rulepack.signatures import compile_pattern
patterns = [compile_pattern(p.regex, p.exact_case) for p in Engine.default().pack.patterns]
hits = 0
with open(sys.argv[1], encoding="utf-8", errors="replace") as file:
    for line in file:
        for pattern in patterns:
            if pattern.search(line):
                hits += 1
print(hits)
"""


@dataclass(frozen=True)
class Cost:
    """What one process took: processor seconds, and MiB at its peak."""

    seconds: float
    mib: float


@dataclass(frozen=True)
class Row:
    """One budget: the figure seen, in the unit of the budget, and whether it is kept."""

    what: str
    seen: str
    budget: str
    kept: bool

    def __str__(self) -> str:
        return f"| {self.what} | {self.seen} | {self.budget} | {'kept' if self.kept else '**not kept**'} |"


class Bench:
    """Logs in a folder of their own, and the processes run on them."""

    def __init__(self, folder: Path, size: int) -> None:
        self.folder = folder
        self.size = size
        self.healthy = self._make("healthy.log", size)

    def rg(self) -> list[Row]:
        literals = self.folder / "literals"
        count = write_literals(literals)
        ours, theirs = in_turn(
            lambda: run([*TROUBLE, str(self.healthy)]),
            lambda: run(["rg", "-c", "-i", "-F", "-f", str(literals), str(self.healthy)], codes=(0, 1)),
        )
        ratio = theirs.seconds / ours.seconds
        what = f"one log of {self.size // MIB} MiB against `rg -c -i -F -f` with the pack's {count} literals"
        return [
            Row(what, f"{ratio:.2f} times as fast ({ours.seconds:.2f} s, {theirs.seconds:.2f} s)", "3.5", ratio >= 3.5)
        ]

    def bare(self) -> list[Row]:
        ours, theirs = in_turn(
            lambda: run([*TROUBLE, str(self.healthy)]),
            lambda: run([sys.executable, "-c", BARE_PASS, str(self.healthy)]),
        )
        ratio = theirs.seconds / ours.seconds
        seen = f"{ratio:.2f} of it ({ours.seconds:.2f} s, {theirs.seconds:.2f} s)"
        return [Row("the same against a bare Hyperscan pass with its database", seen, "0.8", ratio >= 0.8)]

    def loop(self) -> list[Row]:
        few = self._make("few.log", 2 * MIB)
        ours, theirs = run([*TROUBLE, str(few)]), run([sys.executable, "-c", LINE_LOOP, str(few)])
        ratio = theirs.seconds / ours.seconds
        return [
            Row("2 MiB against every pattern on every line with `regex`", f"{ratio:.0f} times as fast", "none", True)
        ]

    def memory(self) -> list[Row]:
        one = run([*TROUBLE, str(self.healthy)])
        large = self._make("large.log", 4 * self.size)
        four = run([*TROUBLE, str(large)])
        large.unlink()
        seen = f"{one.mib:.0f} MiB; of four times the log {four.mib:.0f} MiB"
        return [
            Row("peak memory", seen, "100 MiB, and the same", one.mib <= 100 and four.mib <= max(100, one.mib * 1.1))
        ]

    def hits(self) -> list[Row]:
        path = self.folder / "hits.log"
        lines = list(reference.log_lines(LINES))
        hit = HIT.splitlines()
        mixed = (line if i % 3 else f"{hit[i // 3 % 2]} #{i}" for i, line in enumerate(lines))
        write_repeated(path, "".join(f"{line}\n" for line in mixed).encode(), self.size)
        rate = rate_above_start(path)
        return [Row("every third line hits a signature", f"{rate:.0f} MB/s", "150 MB/s", rate >= 150)]

    def rules(self) -> list[Row]:
        folder = self.folder / "rules"
        patterns = write_rules(folder)
        more = [*TROUBLE, "--rules", str(folder), str(self.healthy)]
        run(more)  # makes the cache
        ours, theirs = in_turn(lambda: run([*TROUBLE, str(self.healthy)]), lambda: run(more))
        ratio = theirs.seconds / ours.seconds
        return [
            Row(f"{patterns} signatures more, ten times the pack", f"{ratio:.2f} times the time", "1.3", ratio <= 1.3)
        ]

    def two(self) -> list[Row]:
        copy = self.folder / "copy.log"
        os.link(self.healthy, copy)
        alone, both = in_turn(
            lambda: clocked([*TROUBLE, str(self.healthy)]), lambda: clocked([*TROUBLE, str(self.healthy), str(copy)])
        )
        ratio = 2 * alone.seconds / both.seconds
        return [Row("two files on two cores, by the clock", f"{ratio:.2f} times one", "1.8", ratio >= 1.8)]

    def cold(self) -> list[Row]:
        paste = self._make("paste.log", 10_000)
        ours, theirs = in_turn(
            lambda: run([*TROUBLE, str(paste)]), lambda: run([sys.executable, "-c", PEER_OF_START]), rounds=10
        )
        ratio = ours.seconds / theirs.seconds
        seen = f"{ratio:.2f} times ({ours.seconds * 1000:.0f} ms, {theirs.seconds * 1000:.0f} ms)"
        return [Row(f"a paste of 10 KB against `{PEER_OF_START}`", seen, "2", ratio <= 2)]

    def wrapped(self) -> list[Row]:
        size = min(self.size, 256 * MIB)
        plain = self._make("plain.log", size)
        clean = rate_above_start(plain)
        rows = []
        for name, wrap in (("CRI", cri), ("ANSI", ansi)):
            path = self.folder / f"{name}.log"
            lines = "".join(wrap(line) for line in reference.log_lines(LINES))
            write_repeated(path, lines.encode(), size)
            ratio = rate_above_start(path) / clean
            rows.append(Row(f"{name}-wrapped against the clean log", f"{ratio:.2f} of its rate", "0.25", ratio >= 0.25))
        return rows

    def _make(self, name: str, size: int) -> Path:
        path = self.folder / name
        write_repeated(
            path, "".join(f"{line}\n" for line in reference.log_lines(min(LINES, size // 50))).encode(), size
        )
        return path


def cri(line: str) -> str:
    return f"2026-11-30T20:15:04.123456789Z stderr F {line}\n"


def ansi(line: str) -> str:
    return f"\x1b[32m{line[:20]}\x1b[0m{line[20:]}\n"


def run(command: Sequence[str], codes: tuple[int, ...] = (0,)) -> Cost:
    """Run the command and return what it took. Raises RuntimeError where it fails."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in codes:
        raise RuntimeError(f"{' '.join(command)[:200]} ended with {process.returncode}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def clocked(command: Sequence[str]) -> Cost:
    """The same by the clock, where processes share the work."""
    start = os.times().elapsed
    cost = run(command)
    return Cost(os.times().elapsed - start, cost.mib)


def in_turn(ours: Callable[[], Cost], theirs: Callable[[], Cost], rounds: int = ROUNDS) -> tuple[Cost, Cost]:
    """Return the best of each, run one after the other after one round for the caches."""
    ours(), theirs()
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    return min((a for a, _ in pairs), key=lambda cost: cost.seconds), min(
        (b for _, b in pairs), key=lambda cost: cost.seconds
    )


def rate_above_start(path: Path) -> float:
    """Return MB a second, the start of the process left out."""
    empty = path.parent / "empty.log"
    empty.write_text("step 1\n")
    whole, start = in_turn(lambda: run([*TROUBLE, str(path)]), lambda: run([*TROUBLE, str(empty)]))
    return path.stat().st_size / 1e6 / (whole.seconds - start.seconds)


def write_repeated(path: Path, data: bytes, size: int) -> None:
    """Write whole copies of the data until the file has the size at least; less than one copy ends at a line."""
    with path.open("wb") as file:
        if size < len(data):
            file.write(data[: data.rindex(b"\n", 0, size) + 1])
            return
        for _ in range(-(-size // len(data))):
            file.write(data)


def write_literals(path: Path) -> int:
    """Write the literals that the pack is searched by, a line each, and return how many."""
    from troubleshoot.engine import Engine
    from troubleshoot.scan.planner import build_plan

    plan = build_plan(Engine.default().pack.patterns)
    literals = {entry.literal for entry in plan.entries if entry.literal}
    texts = sorted(text for literal in literals if (text := literal.decode("utf-8", "replace")).isprintable())
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return len(texts)


def write_rules(folder: Path) -> int:
    """Write nine variants of each text signature of the pack, with words no log holds, and return how many."""
    from troubleshoot.engine import Engine

    texts = sorted({p.source for p in Engine.default().pack.patterns if "\n" not in p.source and "'" not in p.source})
    count = 0
    for copy in range(9):
        target = folder / f"more{copy}"
        target.mkdir(parents=True)
        for number, text in enumerate(texts):
            words = f"{text} xq{copy}z{number}"
            rule = f"title: Rule {number}\nseverity: low\nconfidence: low\nsignatures: '{words}'\n"
            rule += "explanation: One of many.\nfixes: [{title: Nothing}]\n"
            (target / f"r{number}.yaml").write_text(rule, encoding="utf-8")
            count += 1
    return count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ["rg", "bare", "loop", "memory", "hits", "rules", "two", "cold", "wrapped"]
    parser.add_argument("--full", action="store_true", help="logs of 1 GiB")
    parser.add_argument("--mib", type=int, default=256, help="size of the log")
    parser.add_argument("--only", default=",".join(names), help=f"of {', '.join(names)}")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a budget is not kept")
    options = parser.parse_args()
    wanted = options.only.split(",")
    if unknown := set(wanted) - set(names):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if "rg" in wanted and shutil.which("rg") is None:
        parser.error("ripgrep is missing: apt-get install ripgrep, or leave it out by --only")
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), (1024 if options.full else options.mib) * MIB)
        print("| what | seen | budget | |\n|---|---|---|---|")
        for name in wanted:
            for row in getattr(bench, name)():
                print(row, flush=True)
                kept &= row.kept
    return 0 if kept or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
