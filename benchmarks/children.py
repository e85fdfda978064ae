"""The peers that run.py times, each in a process of its own.

literals FILE               writes the pack's own literals, one a line, for ripgrep
bare LOG [narrowed]         a Hyperscan pass over the log with the pack's database and a callback that only counts;
                            narrowed: with the database that a scan of this log ends up with
loop LOG BYTES              each pattern on each line of the log's first bytes, with `regex` alone
rules LOG FACTOR            scans with so many times the pack's patterns; the others are text signatures with their
                            words turned round
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from troubleshoot import limits
from troubleshoot.database_cache import PackStore
from troubleshoot.ingest.sources import open_file
from troubleshoot.model import Pattern, RulePack
from troubleshoot.rulepack.load import load_pack
from troubleshoot.rulepack.text import regex_from_text
from troubleshoot.scan.prefilter import Prefilter
from troubleshoot.scan.scanner import Scanner, compile_pack

NARROWED_FROM_BYTES = 32 << 20  # how much of a log is scanned to see which database it comes to


def literals(target: str) -> None:
    pack = load_pack()
    words = {entry.literal for entry in compile_pack(pack, store=PackStore(pack)).prefilter.plan.entries}
    Path(target).write_bytes(b"".join(word + b"\n" for word in sorted(filter(None, words)) if not _is_odd(word)))


def _is_odd(word: bytes) -> bool:
    return any(byte < 32 for byte in word)


def bare(log: str, narrowed: str = "") -> None:
    import hyperscan

    pack = load_pack()
    prefilter = Prefilter(pack.patterns, PackStore(pack))
    if narrowed:
        prefilter = _narrowed(pack, log)
    database = prefilter._database
    scratch = hyperscan.Scratch(database)
    count = 0

    def take(entry: int, start: int, end: int, flags: int, context: object) -> None:
        nonlocal count
        count += 1

    buffer = bytearray(limits.BLOCK_BYTES)
    with memoryview(buffer) as view, open(log, "rb", buffering=0) as stream:  # noqa: PTH123 - unbuffered
        while size := stream.readinto(view):
            database.scan(view[:size], take, scratch=scratch)
    print(count)


def _narrowed(pack: RulePack, log: str) -> Prefilter:
    """Return the prefilter without what a scan of the log's beginning leaves out; kept in a file, as it takes long."""
    import pickle

    kept = Path(log).with_suffix(f".{pack.hash[:12]}.narrowed")  # what it names are numbers in this pack
    prefilter = compile_pack(pack, store=PackStore(pack)).prefilter
    if kept.exists():
        off, avoid = pickle.loads(kept.read_bytes())
        return prefilter.without(off, avoid)
    sample = kept.with_suffix(".sample")
    with open(log, "rb") as stream:  # noqa: PTH123
        sample.write_bytes(stream.read(NARROWED_FROM_BYTES))
    asked: list[tuple[frozenset[int], frozenset[bytes]]] = []
    without = Prefilter.without

    def watched(self: Prefilter, off: frozenset[int], avoid: frozenset[bytes] = frozenset()) -> Prefilter:
        asked.append((off, avoid))
        return without(self, off, avoid)

    Prefilter.without = watched  # type: ignore[method-assign]
    for opened in open_file(sample):
        Scanner(pack, store=PackStore(pack)).scan(opened.source, opened.blocks(), opened.normaliser)
    Prefilter.without = without  # type: ignore[method-assign]
    off, avoid = asked[-1] if asked else (frozenset(), frozenset())
    kept.write_bytes(pickle.dumps((off, avoid)))
    return without(prefilter, off, avoid)


def loop(log: str, size: str) -> None:
    from troubleshoot.scan.confirm import compile_pattern

    compiled = [compile_pattern(pattern) for pattern in load_pack().patterns]
    with open(log, "rb") as stream:  # noqa: PTH123
        data = stream.read(int(size))
    began = time.perf_counter()
    for line in data.decode("utf-8", "replace").split("\n"):
        for pattern in compiled:
            pattern.search(line)
    print(time.perf_counter() - began, len(data))


def rules(log: str, factor: str) -> None:
    pack = load_pack()
    patterns = list(pack.patterns)
    texts = [pattern for pattern in patterns if pattern.kind == "text" and pattern.lines == 1]
    for number in range(1, int(factor)):
        for index in range(len(pack.patterns)):
            patterns.append(_turned(texts[index % len(texts)], index, number, len(patterns)))
    more = replace(pack, patterns=tuple(patterns), users=(*pack.users, *((),) * (len(patterns) - len(pack.patterns))))
    scanner = Scanner(more)
    taken = []
    for _ in range(2):
        for opened in open_file(Path(log)):
            began = time.perf_counter()
            scanner.scan(opened.source, opened.blocks(), opened.normaliser)
            taken.append(time.perf_counter() - began)
    print(min(taken), len(patterns))


def _turned(pattern: Pattern, index: int, number: int, new_id: int) -> Pattern:
    """Return another text signature: each word outside the holes turned round, with a syllable of its own."""
    tail = "".join("bdfgklmnprst"[digit] for digit in (number % 12, index % 12, index // 12 % 12, index // 144 % 12))
    source = re.sub(
        r"\{[^}]*\}|[A-Za-z]{4,}", lambda word: word[0] if word[0][0] == "{" else word[0][::-1] + tail, pattern.source
    )
    text, holes = regex_from_text(source)
    return replace(pattern, id=new_id, source=source, regex=text, holes=tuple(holes))


if __name__ == "__main__":
    peers: dict[str, Callable[..., None]] = {"literals": literals, "bare": bare, "loop": loop, "rules": rules}
    peers[sys.argv[1]](*sys.argv[2:])
