"""Failed jobs with a known culprit, written after the triage was mended on the others and before it saw these."""

from __future__ import annotations

import json

from made_lines import (
    MadeJob,
    agent_kills,
    at,
    elastic_block,
    interleaved,
    iso,
    ranked,
    remote_error,
    steps,
    text,
    traceback,
    watchdog,
)


def shape_error_under_torchrun() -> MadeJob:
    files = {}
    for node in range(4):
        ranks = range(node * 8, node * 8 + 8)
        lines = interleaved(*(steps(r, 32, 20) for r in ranks))
        if node == 2:
            error = "RuntimeError: shape '[4, 2048, 32, 128]' is invalid for input of size 33550336"
            lines += ranked(20, traceback(error, "/code/attention.py"))
            lines += agent_kills(21.5, [900 + i for i in range(8) if i != 4], (1, 4, 904))
            lines.append(elastic_block(21, f"dgx{node}", [(20, 1, 904)]))
        else:
            for r in ranks:
                lines += remote_error(r, f"dgx{node}", 23 + r / 90)
            lines.append(elastic_block(24, f"dgx{node}", [(ranks[2], -6, 902), (ranks[0], -6, 900)]))
        files[f"dgx{node}/torchrun.log"] = text(lines)
    return MadeJob(files, rank=20)


def node_not_ready() -> MadeJob:
    files = {
        f"llama-worker-{p}.log": text(
            steps(p, 6, 60), *([remote_error(p, f"llama-worker-{p}", 160 + p)] if p != 4 else [])
        )
        for p in range(6)
    }
    files["events.txt"] = text(
        "LAST SEEN   TYPE      REASON         OBJECT                MESSAGE",
        "3m          Normal    NodeNotReady   node/ip-10-1-2-3      Node ip-10-1-2-3 status is now: NodeNotReady",
    )
    return MadeJob(files, rank=4, host="ip-10-1-2-3")


def labelled_segfault() -> MadeJob:
    out = interleaved(*([f"{r:>2}: {each}" for each in steps(r, 16, 9)] for r in range(16)))
    return MadeJob(
        {
            "slurm-771.out": text(
                out,
                "srun: error: nid004: task 5: Segmentation fault (core dumped)",
                "srun: Terminating StepId=771.0",
                "srun: error: nid004: tasks 0-4,6-7: Terminated",
                "srun: error: nid005: tasks 8-15: Terminated",
            )
        },
        rank=5,
    )


def double_bit_error() -> MadeJob:
    files = {}
    for r in range(24):
        files[f"gpu-node-{r // 8}/rank-{r}.log"] = text(
            steps(r, 24, 40), watchdog(r, 640 + r / 90) if r // 8 != 1 else []
        )
    files["gpu-node-1/dmesg"] = text(
        f"{at(41):%b %d %H:%M:%S} gpu-node-1 kernel: NVRM: Xid (PCI:0000:4e:00): 48, pid=5512, "
        "name=python, An uncorrectable double bit error "
        "(DBE) has been detected on GPU in the framebuffer at partition 3, subpartition 1."
    )
    return MadeJob(files, host="gpu-node-1", any_rank=frozenset(range(8, 16)))


def stale_file_handle() -> MadeJob:
    files = {}
    for r in range(24):
        host = f"hgx-{'abc'[r // 8]}"
        error = ranked(r, traceback("OSError: [Errno 116] Stale file handle: '/nfs/data/train.idx'"))
        files[f"{host}/rank{r}.log"] = text(
            steps(r, 24, 30), error if r // 8 == 2 else remote_error(r, host, 33 + r / 90)
        )
    return MadeJob(files, host="hgx-c", any_rank=frozenset(range(16, 24)))


def killed_under_mpirun() -> MadeJob:
    body = interleaved(*([f"[1,{r}]<stdout>:iter {s} loss {3 / s:.3f}" for s in range(1, 12)] for r in range(16)))
    said = "mpirun noticed that process rank 3 with PID 0 on node c11 exited on signal 9 (Killed)."
    return MadeJob({"mpi.log": text(body, "-" * 74, said, "-" * 74)}, rank=3, host="c11")


def barrier_that_one_never_reached() -> MadeJob:
    files = {f"r{r}/rank_{r}.log": text(steps(r, 8, 12)) for r in range(8)}
    error = "RuntimeError: Rank 6 failed to pass monitoredBarrier in 1800000 ms"
    files["r0/rank_0.log"] += text(
        ranked(
            0,
            traceback(
                f"{error}\n Original exception: \n[../gloo/transport/tcp/"
                "unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete"
            ),
        )
    )
    return MadeJob(files, rank=6)


def json_lines_with_ranks() -> MadeJob:
    def line(second: float, rank: int, level: str, message: str) -> str:
        return json.dumps({"time": iso(second).replace(",", "."), "level": level, "rank": rank, "message": message})

    files = {}
    for r in range(8):
        lines = [line(s, r, "INFO", f"step {s} loss 2.1") for s in range(1, 30)]
        if r == 4:
            lines.append(line(30, r, "ERROR", traceback("ValueError: token id 50304 exceeds vocabulary")))
        else:
            lines.append(
                line(
                    32,
                    r,
                    "ERROR",
                    "RuntimeError: [../gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.5]:20114",
                )
            )
        files[f"out/rank{r}.jsonl"] = text(lines)
    return MadeJob(files, rank=4)


def key_error_behind_pod_prefixes() -> MadeJob:
    lines = interleaved(*([f"[pod/llama-worker-{r}/pytorch] {each}" for each in steps(r, 8, 15)] for r in range(8)))
    lines += [f"[pod/llama-worker-2/pytorch] {each}" for each in traceback("KeyError: 'input_ids'").split("\n")]
    for r in (0, 1, 3, 4, 5, 6, 7):
        lines += [f"[pod/llama-worker-{r}/pytorch] {each}" for each in remote_error(r, f"llama-worker-{r}", 18)]
    return MadeJob({"kubectl.log": text(lines)}, rank=2, host="llama-worker-2")
