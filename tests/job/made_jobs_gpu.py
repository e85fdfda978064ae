"""Failed jobs with a known culprit: memory, devices, code and data of single ranks."""

from __future__ import annotations

from made_lines import (
    MadeJob,
    agent_kills,
    c10d,
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

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.82 GiB. GPU {gpu} has a total capacity of 79.11 "
    "GiB of which 1.02 GiB is free. Process 40211 has 78.08 GiB memory in use. Of the allocated memory 74.61 GiB is "
    "allocated by PyTorch, and 2.11 GiB is reserved by PyTorch but unallocated."
)


def oom_on_one_of_16_watchdogs_elsewhere() -> MadeJob:
    """Two hosts, one log each. Rank 11 is out of memory; its host ends at once, the other waits ten minutes."""
    first = interleaved(*(steps(rank, 16, 140) for rank in range(8)))
    second = interleaved(*(steps(rank, 16, 140) for rank in range(8, 16)))
    pids = [5000 + rank for rank in range(8, 16) if rank != 11]
    return MadeJob(
        {
            "logs/gpu-a1.log": text(
                first, *(watchdog(rank, 741 + rank / 90) for rank in range(8)),
                agent_kills(803, [4007], (-6, 0, 4000)),
                elastic_block(803, "gpu-a1", [(1, -6, 4001), (2, -6, 4002), (0, -6, 4000)]),
            ),
            "logs/gpu-a2.log": text(
                second, ranked(11, traceback(OOM.format(gpu=3))), agent_kills(142.4, pids, (1, 3, 5011)),
                elastic_block(142, "gpu-a2", [(11, 1, 5011)]),
            ),
        },
        rank=11,
    )  # fmt: skip


def nan_on_one_of_64() -> MadeJob:
    """A file per rank. Rank 37 asserts, the others lose their peer."""
    files = {}
    for rank in range(64):
        lines = steps(rank, 64, 81)
        if rank == 37:
            lines.append(f"{iso(81.6)} [rank 37] ERROR trainer: non-finite loss at step 82, dumping batch")
            lines += ranked(37, traceback("AssertionError: loss is nan at step 82 (rank 37)", call="check(loss)"))
        else:
            lines += remote_error(rank, f"h{rank // 8}", 83 + rank / 100)
        files[f"run-20261130/h{rank // 8}/rank{rank:02d}.log"] = text(lines)
    return MadeJob(files, rank=37)


def xid_79_under_rank_21() -> MadeJob:
    """Kernel logs and rank logs of three hosts; a GPU of gpu-13 fell off the bus."""
    files = {}
    for node, host in enumerate(("gpu-11", "gpu-12", "gpu-13")):
        kernel = ["Nov 30 19:58:01 " + host + " kernel: mlx5_core 0000:9c:00.0: firmware version: 28.39.1002"]
        if host == "gpu-13":
            kernel += [
                f"Nov 30 20:05:11 {host} kernel: NVRM: GPU at PCI:0000:ba:00: GPU-1be0a2c5-7f3c-5d0a-9c51-0f2a4c1d9e77",
                f"Nov 30 20:05:11 {host} kernel: NVRM: Xid (PCI:0000:ba:00): 79, pid=61021, name=python, GPU has "
                "fallen off the bus.",
                f"Nov 30 20:05:11 {host} kernel: NVRM: GPU 0000:ba:00.0: GPU has fallen off the bus.",
            ]
        files[f"{host}/kern.log"] = text(kernel)
        for rank in range(node * 8, node * 8 + 8):
            lines = steps(rank, 24, 310)
            if rank == 21:
                error = "torch.AcceleratorError: CUDA error: unspecified launch failure"
                lines += ranked(rank, traceback(error, call="loss.backward()"))
            else:
                lines += watchdog(rank, 911 + rank / 77)
            files[f"{host}/rank_{rank}.log"] = text(lines)
    return MadeJob(files, rank=21, host="gpu-13")


def import_error_everywhere() -> MadeJob:
    """All 16 ranks lack a module: nobody was first."""
    error = traceback("ModuleNotFoundError: No module named 'apex'", call="from apex.optimizers import FusedAdam")
    hosts = {
        f"logs/node{node}.log": text(
            *(ranked(rank, error) for rank in range(node * 8, node * 8 + 8)),
            agent_kills(6, [4000 + r for r in range(1, 8)], (1, 0, 4000)),
            elastic_block(6, f"node{node}", [(node * 8 + r, 1, 4000 + r) for r in (1, 2, 3, 0)]),
        )
        for node in range(2)
    }
    return MadeJob(hosts, words="same fault")


def data_missing_on_one_host() -> MadeJob:
    """node-c has no data mounted: its eight ranks fail, sixteen others wait at the first collective."""
    files = {}
    error = traceback(
        "FileNotFoundError: [Errno 2] No such file or directory: '/mnt/data/fineweb/shard-00017.bin'",
        call="dataset = open_shards(cfg.data)",
    )
    for node, host in enumerate(("node-a", "node-b", "node-c")):
        for rank in range(node * 8, node * 8 + 8):
            lines = [f"{iso(2)} [rank {rank}] INFO trainer: world size 24, local rank {rank % 8}"]
            if host == "node-c":
                lines += ranked(rank, error)
            else:
                lines += watchdog(rank, 604 + rank / 70, seq=1, op="BROADCAST", numel=1)
            files[f"{host}/rank{rank}.err"] = text(lines)
    return MadeJob(files, host="node-c", any_rank=frozenset(range(16, 24)))


def disk_full_on_one_host() -> MadeJob:
    """Rank 8 writes its host's checkpoint onto a full disk; the others wait in the barrier after it."""
    files = {}
    full = traceback(
        "OSError: [Errno 28] No space left on device: '/local/ckpt/step-400/rank-8.pt'", call="save(state, path)"
    )
    for rank in range(32):
        host = f"trn-{rank // 8}"
        lines = steps(rank, 32, 400, 0.5)
        lines.append(f"{iso(201)} [rank {rank}] INFO trainer: saving checkpoint step-400")
        if rank == 8:
            lines += ranked(8, full)
        else:
            lines += watchdog(rank, 802 + rank / 60, op="ALLREDUCE", numel=1)
        files[f"{host}/rank-{rank}.log"] = text(lines)
    return MadeJob(files, rank=8, host="trn-1")


def segfault_then_remote_errors() -> MadeJob:
    """Three hosts, clocks a little apart: the segfault's host is 0.3 s behind, so echoes look earlier."""
    lines = {node: interleaved(*(steps(r, 24, 60) for r in range(node * 8, node * 8 + 8))) for node in range(3)}
    files = {
        "hosts/n0.out": text(
            lines[0], *(remote_error(r, "n0", 61.1 + r / 50, "10.0.1.9<40112>") for r in range(8)),
            agent_kills(62, [4001, 4002], (-6, 0, 4000)), elastic_block(62, "n0", [(3, -6, 4003), (0, -6, 4000)]),
        ),
        "hosts/n1.out": text(
            lines[1], "Fatal Python error: Segmentation fault", "",
            'Current thread 0x00007f3e8a7fc640 (most recent call first):',
            '  File "/workspace/kernels/fused_rope.py", line 88 in forward',
            agent_kills(61.4, [4108, 4110, 4111, 4112, 4113, 4114, 4115], (-11, 1, 4109)),
            elastic_block(61, "n1", [(9, -11, 4109)]),
        ),
        "hosts/n2.out": text(
            lines[2], *(remote_error(r, "n2", 61.2 + r / 50, "10.0.1.9<40118>") for r in range(16, 24)),
            agent_kills(62, [4216, 4217], (-6, 2, 4218)), elastic_block(62, "n2", [(17, -6, 4217), (18, -6, 4218)]),
        ),
    }  # fmt: skip
    return MadeJob(files, rank=9, host="n1")


def ecc_error_under_rank_30() -> MadeJob:
    files = {}
    for rank in range(32):
        lines = steps(rank, 32, 77)
        if rank == 30:
            error = (
                "torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered\n"
                "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below "
                "might be incorrect."
            )
            lines += ranked(rank, traceback(error, call="optimizer.step()"))
            lines.append(
                c10d(
                    rank, 78.2, "[PG ID 0 PG GUID 0(default_pg) Rank 30] Process group watchdog thread terminated with "
                    "exception: CUDA error: uncorrectable ECC error encountered", "ProcessGroupNCCL.cpp:1595",
                )
            )  # fmt: skip
        else:
            lines += watchdog(rank, 678 + rank / 80)
        files[f"job/rank.{rank}.log"] = text(lines)
    return MadeJob(files, rank=30)


def clock_of_the_culprit_is_two_hours_ahead() -> MadeJob:
    """Megatron on 48 ranks, the host of rank 44 has the wrong time."""
    files = {}
    for rank in range(48):
        off = 2.0 if rank >= 40 else 0.0
        lines = steps(rank, 48, 90, offset_h=off)
        if rank == 44:
            lines.append(f"{iso(90.4, off)} [rank 44] ERROR trainer: {OOM.format(gpu=4)}")
            lines += ranked(44, traceback(OOM.format(gpu=4), "/opt/megatron/pretrain_gpt.py"))
        else:
            lines += remote_error(rank, f"m{rank // 8}", 91 + rank / 100)
        files[f"m{rank // 8}/rank-{rank}.txt"] = text(lines)
    return MadeJob(files, rank=44, host="m5")


def broken_checkpoint_at_rank_7() -> MadeJob:
    """One rank reads a truncated file at the start, the others time out in the barrier."""
    files = {}
    for rank in range(16):
        lines = [f"{iso(4)} [rank {rank}] INFO trainer: resuming from step 1200"]
        if rank == 7:
            error = "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory"
            lines += ranked(7, traceback(error, call="torch.load(shard_path)"))
        else:
            lines += watchdog(rank, 611 + rank / 60, seq=3, op="ALLREDUCE", numel=1)
        files[
            f"none_8fk2aaq1/attempt_0/{rank}/stderr.log"
            if rank < 8
            else f"b/none_8fk2aaq1/attempt_0/{rank - 8}/stderr.log"
        ] = text(lines)
    return MadeJob(files, rank=7)


def dataloader_out_of_shared_memory() -> MadeJob:
    """Rank 3's loader dies of a bus error in a small /dev/shm."""
    out = interleaved(*(steps(rank, 8, 12) for rank in range(8)))
    error = (
        "RuntimeError: DataLoader worker (pid 7712) is killed by signal: Bus error. It is possible that dataloader's "
        "workers are out of shared memory. Please try to raise your shared memory limit."
    )
    shm = "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm)."
    return MadeJob(
        {
            "worker.log": text(
                out, f"[rank3]: {shm}", ranked(3, traceback(error, call="for batch in loader:")),
                agent_kills(13, [91, 92, 93, 95], (1, 3, 94)), elastic_block(13, "shm-box", [(3, 1, 94)]),
            )
        },
        rank=3,
    )  # fmt: skip
