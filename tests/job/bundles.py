"""Logs as jobs of many ranks leave them, made in code; and those of the corpus."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from troubleshoot.model import Job, Report

CORPUS = Path(__file__).parents[2] / "corpus"
BEGIN = datetime(2026, 11, 30, 20, 0, 0)
OOM = "ERROR torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has 79.1 GiB in total"
ECHO = "ERROR RuntimeError: [../gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.5]:20114"


def clock(seconds: float, offset_h: float = 0.0) -> str:
    time = BEGIN + timedelta(seconds=seconds, hours=offset_h)
    return f"{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03d}"


def rank_log(
    rank: int, world: int, steps: int = 20, *, fails: bool = False, echoes: bool = True, offset_h: float = 0.0
) -> str:
    """Return the log of a rank that steps once a second, then fails or echoes."""
    lines = [f"{clock(0, offset_h)} [rank {rank}] INFO world size {world}, device cuda:{rank % 8}"]
    lines += [
        f"{clock(step + rank / 1000, offset_h)} [rank {rank}] INFO step {step} loss 2.{step:03d}"
        for step in range(1, steps + 1)
    ]
    if fails:
        lines.append(f"{clock(steps + 0.5, offset_h)} [rank {rank}] {OOM}")
    elif echoes:
        lines.append(f"{clock(steps + 2 + rank / 100, offset_h)} [rank {rank}] {ECHO}")
    return "\n".join(lines) + "\n"


def many_ranks(
    world: int,
    failed: int,
    *,
    silent: Collection[int] = (),
    steps: Mapping[int, int] | None = None,
    offsets_h: Mapping[int, float] | None = None,
) -> dict[str, str]:
    """Return a log per rank, eight ranks on a host. `offsets_h` are clocks of hosts that are ahead, by host number."""
    return {
        f"gpu-node-{rank // 8:02d}/rank-{rank}.log": rank_log(
            rank,
            world,
            (steps or {}).get(rank, 20),
            fails=rank == failed,
            echoes=rank not in (steps or {}),
            offset_h=(offsets_h or {}).get(rank // 8, 0.0),
        )
        for rank in range(world)
        if rank not in silent
    }


def job_of(report: Report) -> Job:
    assert report.job is not None
    return report.job


def logs_of(incident: str) -> list[Path]:
    """Return the logs of a corpus incident, without what the corpus says about it."""
    return sorted(path for path in (CORPUS / incident).iterdir() if path.name not in ("README.md", "expected.yaml"))
