"""Lines as the programs of a failed job write them, for jobs whose culprit is known because it was put there.

Sources of the wordings: torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp and TCPStore.cpp, torch/distributed/elastic
(agent, multiprocessing/errors), NCCL's src/misc/socket.cc and transport/net_ib, slurm's srun and slurmstepd, Open MPI's
help texts, the Linux kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

BEGIN = datetime(2026, 11, 30, 20, 0, 0)


@dataclass(frozen=True)
class MadeJob:
    """A job's logs by name, and who failed first: a rank, a host, or nobody (both None). `any_rank`: ranks of which
    each is right; `also_right`: hosts that stand for the same one."""

    files: dict[str, str]
    rank: int | None = None
    host: str | None = None
    any_rank: frozenset[int] = frozenset()
    words: str = ""
    notes: Sequence[str] = field(default_factory=tuple)


def at(seconds: float, offset_h: float = 0.0) -> datetime:
    return BEGIN + timedelta(seconds=seconds, hours=offset_h)


def iso(seconds: float, offset_h: float = 0.0) -> str:
    time = at(seconds, offset_h)
    return f"{time:%Y-%m-%d %H:%M:%S},{time.microsecond // 1000:03d}"


def c10d(rank: int, seconds: float, text: str, where: str = "ProcessGroupNCCL.cpp:632", level: str = "E") -> str:
    time = at(seconds)
    return f"[rank{rank}]:[{level}{time:%m%d %H:%M:%S}.{time.microsecond:06d}413 {where}] {text}"


def watchdog(
    rank: int, seconds: float, seq: int = 4021, op: str = "ALLREDUCE", numel: int = 26214400, last: int | None = None
) -> list[str]:
    """What a rank prints when a collective timed out after ten minutes."""
    group = f"[PG ID 0 PG GUID 0(default_pg) Rank {rank}]"
    done = seq - 1 if last is None else last
    work = f"WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn={numel}, NumelOut={numel}, Timeout(ms)=600000)"
    timed = f"[Rank {rank}] Watchdog caught collective operation timeout: {work} ran for 600071 milliseconds"
    return [
        c10d(rank, seconds, f"{timed} before timing out."),
        c10d(
            rank,
            seconds + 0.4,
            f"{group} failure detected by watchdog at work sequence id: {seq} PG status: last enqueued work: {seq}, "
            f"last completed work: {done}",
            "ProcessGroupNCCL.cpp:2268",
        ),
        c10d(
            rank,
            seconds + 61,
            f"{group} Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, "
            "subsequent GPU operations might run on corrupted/incomplete data.",
            "ProcessGroupNCCL.cpp:681",
        ),
        c10d(
            rank,
            seconds + 61.01,
            f"{group} To avoid data inconsistency, we are taking the entire process down.",
            "ProcessGroupNCCL.cpp:695",
        ),
        "terminate called after throwing an instance of 'c10::DistBackendError'",
        f"  what():  {group} Process group watchdog thread terminated with exception: {timed} before timing out.",
    ]


def remote_error(rank: int, host: str, seconds: float, peer: str = "10.0.1.12<41562>") -> list[str]:
    """What a rank prints when its peer's process is gone."""
    return [
        f"{host}:{4100 + rank}:{4400 + rank} [{rank % 8}] NCCL INFO [Proxy Service {rank}] "
        f"ncclSocketProgress: Connection closed by remote peer {peer}",
        f"{host}:{4100 + rank}:{4400 + rank} [{rank % 8}] proxy.cc:1578 NCCL WARN [Service thread] Accept failed",
        c10d(
            rank,
            seconds,
            f"[PG ID 0 PG GUID 0(default_pg) Rank {rank}] Process group watchdog thread terminated with exception: "
            "NCCL error: remote process exited or there was a network error, NCCL version 2.21.5",
            "ProcessGroupNCCL.cpp:1595",
        ),
        "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
        f"Last error:\nsocketProgress: Connection closed by remote peer {peer}",
    ]


def steps(rank: int, world: int, last: int, every_s: float = 1.0, offset_h: float = 0.0, first: int = 1) -> list[str]:
    """Training lines, one a second."""
    lines = [f"{iso(0, offset_h)} [rank {rank}] INFO trainer: world size {world}, local rank {rank % 8}"]
    return lines + [
        f"{iso(step * every_s + rank / 5000, offset_h)} [rank {rank}] INFO trainer: "
        f"step {step} loss {2 + 1 / step:.4f} grad_norm 0.{step % 97:02d} tokens/s 41{step % 100:02d}"
        for step in range(first, last + 1)
    ]


def traceback(error: str, file: str = "/workspace/train.py", line: int = 311, call: str = "trainer.fit(batch)") -> str:
    return (
        "Traceback (most recent call last):\n"
        f'  File "{file}", line {line}, in <module>\n    main()\n'
        f'  File "{file}", line {line - 40}, in main\n    {call}\n{error}'
    )


def ranked(rank: int, text: str) -> list[str]:
    """A traceback as torch's excepthook prints it, its rank before each line."""
    return [f"[rank{rank}]: {line}" for line in text.split("\n")]


def agent_kills(seconds: float, pids: Sequence[int], failed: tuple[int, int, int] | None) -> list[str]:
    """What torchrun's agent prints: it ends the others, then names who failed (code, local rank, pid)."""
    time = f"{at(seconds):%m%d %H:%M:%S}.{at(seconds).microsecond:06d}"
    lines = [
        f"W{time} 4001 torch/distributed/elastic/multiprocessing/api.py:897] Sending process {pid} closing signal "
        "SIGTERM"
        for pid in pids
    ]
    if failed is not None:
        code, local, pid = failed
        lines.append(
            f"E{time} 4001 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: {code}) "
            f"local_rank: {local} (pid: {pid}) of binary: /opt/conda/bin/python"
        )
    return lines


def elastic_block(seconds: float, host: str, entries: Sequence[tuple[int, int, int]], script: str = "train.py") -> str:
    """ChildFailedError's block; entries are (rank, exit code, pid), the root cause last."""

    def entry(number: int, rank: int, code: int, pid: int) -> str:
        signals = {-9: "SIGKILL", -6: "SIGABRT", -11: "SIGSEGV", -7: "SIGBUS", -15: "SIGTERM"}
        trace = (
            f"Signal {-code} ({signals[code]}) received by PID {pid}"
            if code in signals
            else "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"
        )
        return (
            f"[{number}]:\n  time      : {at(seconds):%Y-%m-%d_%H:%M:%S}\n  host      : {host}\n"
            f"  rank      : {rank} (local_rank: {rank % 8})\n  exitcode  : {code} (pid: {pid})\n"
            f"  error_file: <N/A>\n  traceback : {trace}\n"
        )

    *others, root = entries
    body = "".join(entry(i + 1, *each) for i, each in enumerate(others)) or "  <NO_OTHER_FAILURES>\n"
    line, thin = "=" * 60, "-" * 60
    return (
        "Traceback (most recent call last):\n"
        '  File "/opt/conda/bin/torchrun", line 8, in <module>\n    sys.exit(main())\n'
        f"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n{line}\n{script} FAILED\n{thin}\n"
        f"Failures:\n{body}{thin}\nRoot Cause (first observed failure):\n{entry(0, *root)}{line}"
    )


def text(*parts: str | Iterable[str]) -> str:
    """Lines and lists of lines as one text."""
    lines: list[str] = []
    for part in parts:
        lines += [part] if isinstance(part, str) else list(part)
    return "\n".join(lines) + "\n"


def interleaved(*logs: Sequence[str]) -> list[str]:
    """Lines of several ranks as one file gets them: in turns."""
    longest = max(len(log) for log in logs)
    return [log[i] for i in range(longest) for log in logs if i < len(log)]
