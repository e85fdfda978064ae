"""Random stacks of wrappers and damage come off again, line by line, at the right place."""

from __future__ import annotations

import html
import json
import random
from collections.abc import Callable

import pytest
from reading import rows_of

from troubleshoot import limits
from troubleshoot.ingest import open_text

MESSAGES = [
    "RuntimeError: CUDA error: an illegal memory access was encountered",
    'Traceback (most recent call last): File "train.py", line 88, in <module>',
    "./train: /lib/libc.so.6: version `GLIBC_2.34' not found (required by /opt/lib/libopen-rte.so.40)",
    "OSError: [Errno 28] No space left on device: '/scratch/shard <3>.bin' & more",
    "step 1200 loss 2.31 Größe 错误",
    "slurmstepd: error: Detected 1 oom_kill event in StepId=88123.0.",
    "NCCL WARN NET/IB : Got completion from peer 10.0.3.77<41230> with status=12",
]
Wrap = Callable[[random.Random, int, str], str]


def stamp(i: int) -> str:
    return f"2026-11-30T20:{i // 60 % 60:02d}:{i % 60:02d}.{i * 7919 % 1000000:06d}"


# Each takes the line's number and text and puts something before it. Order: what stands further out comes first.
PREFIXES: list[tuple[str, Wrap]] = [
    ("cri", lambda rng, i, text: f"{stamp(i)}789Z {rng.choice(['stdout', 'stderr'])} F {text}"),
    ("gitlab", lambda rng, i, text: f"{stamp(i)}Z 01{rng.choice('OE')} {text}"),
    ("github", lambda rng, i, text: f"{stamp(i)}7Z {text}"),
    (
        "journald",
        lambda rng, i, text: f"Nov 30 20:{i // 60 % 60:02d}:{i % 60:02d} node-{i % 3} trainer[{i + 7}]: {text}",
    ),
    ("labels", lambda rng, i, text: f'{stamp(i)}Z {{app="trainer", pod="bert-{i % 4}"}}: {text}'),
    ("cloudwatch", lambda rng, i, text: f"{stamp(i)}+00:00 bert-ft/algo-{i % 2 + 1}-1796061602 {text}"),
    ("kubectl", lambda rng, i, text: f"[pod/bert-worker-{i % 4}/pytorch] {text}"),
    ("compose", lambda rng, i, text: f"{'trainer-' + str(i % 4):12s} | {text}"),
    ("stern", lambda rng, i, text: f"bert-worker-{i % 4} pytorch {text}"),
    ("slurm", lambda rng, i, text: f"{i % 12:2d}: {text}"),
    ("pdsh", lambda rng, i, text: f"node-{i % 5}: {text}"),
    ("open-mpi", lambda rng, i, text: f"[1,{i % 8}]<{rng.choice(['stdout', 'stderr'])}>:{text}"),
    ("ray", lambda rng, i, text: f"(RayTrainWorker pid={800 + i % 4}, ip=10.0.3.{i % 4}) {text}"),
    ("torchrun", lambda rng, i, text: f"[default{i % 8}]:{text}"),
    ("torch-rank", lambda rng, i, text: f"[rank{i % 16}]: {text}"),
    ("torch-log", lambda rng, i, text: f"[W1130 20:15:{i % 60:02d}.{i:09d} Module.cpp:{i + 1}] {text}"),
    ("klog", lambda rng, i, text: f"E1130 20:15:{i % 60:02d}.{i:06d} {i:7d} pod_workers.go:{i + 1}] {text}"),
]


def coloured(rng: random.Random, lines: list[str]) -> bytes:
    def colour(line: str) -> str:
        for at in sorted(rng.sample(range(len(line) + 1), min(len(line), rng.randrange(4))), reverse=True):
            line = line[:at] + rng.choice(["\x1b[0m", "\x1b[31m", "\x1b[1;36m", "\x1b[K", "\x1b[38;5;208m"]) + line[at:]
        return line

    return ("\n".join(map(colour, lines)) + "\n").encode()


def plain(rng: random.Random, lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def docker(rng: random.Random, lines: list[str]) -> bytes:
    records = [{"log": line + "\n", "stream": "stderr", "time": f"{stamp(i)}Z"} for i, line in enumerate(lines)]
    return "".join(
        json.dumps(r, separators=(",", ":"), ensure_ascii=rng.random() < 0.5) + "\n" for r in records
    ).encode()


def journal(rng: random.Random, lines: list[str]) -> bytes:
    records = [
        {
            "__REALTIME_TIMESTAMP": str(1796069704000000 + i),
            "_HOSTNAME": "node-1",
            "SYSLOG_IDENTIFIER": "a",
            "MESSAGE": line,
        }
        for i, line in enumerate(lines)
    ]
    return "".join(json.dumps(record) + "\n" for record in records).encode()


DAMAGE: list[Callable[[random.Random, list[str]], bytes]] = [
    plain,
    coloured,
    docker,
    journal,
    lambda rng, lines: ("\r\n".join(lines) + "\r\n").encode(),
    lambda rng, lines: "\n".join(lines).encode("utf-16"),
    lambda rng, lines: html.escape("\n".join(lines)).encode(),
    lambda rng, lines: ("\n".join(f"> {line}" for line in lines) + "\n").encode(),
    lambda rng, lines: ("\n".join(f"    {line}" for line in lines) + "\n").encode(),
    lambda rng, lines: ("\n".join(f"{i:6d}\t{line}" for i, line in enumerate(lines, 1)) + "\n").encode(),
    lambda rng, lines: ("\n".join(f"  10%|#   | 1/10 [00:01<00:09]\r{line}" for line in lines) + "\n").encode(),
    lambda rng, lines: ("\n".join(line.replace(" ", "\u00a0") for line in lines) + "\n").encode(),
]


@pytest.mark.parametrize("seed", range(150))
def test_stack_comes_off(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.choice([24, 60, 600])
    said = [rng.choice(MESSAGES) for _ in range(count)]
    chosen = sorted(rng.sample(range(len(PREFIXES)), rng.choice([0, 1, 2, 3])))
    lines = said
    for index in reversed(chosen):
        lines = [PREFIXES[index][1](rng, i, line) for i, line in enumerate(lines)]
    data = rng.choice(DAMAGE)(rng, lines)
    assert len(data) <= limits.PASTE_BYTES
    source = open_text(data)
    found: dict[int, list[str]] = {}
    for line, offset, text in rows_of(source):
        assert 0 <= offset < len(data)
        found.setdefault(line, []).append(source.normaliser.peel(text, line).text)
    names = [PREFIXES[index][0] for index in chosen]
    wrong = {i: (said[i], found.get(i + 1)) for i in range(count) if said[i] not in found.get(i + 1, [])}
    assert not wrong, (names, source.info().wrapper, len(wrong), next(iter(wrong.items())))
