"""Failed jobs with a known culprit: hosts, schedulers, launchers, networks, hangs."""

from __future__ import annotations

from made_lines import (
    MadeJob,
    agent_kills,
    at,
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


def host_without_power() -> MadeJob:
    """Four hosts with a log each; gpu-07's just ends, the others wait ten minutes and no scheduler tells."""
    files = {}
    for node, host in enumerate(("gpu-05", "gpu-06", "gpu-07", "gpu-08")):
        ranks = range(node * 8, node * 8 + 8)
        lines = interleaved(*(steps(rank, 32, 220) for rank in ranks))
        if host != "gpu-07":
            for rank in ranks:
                lines += watchdog(rank, 821 + rank / 90)
            lines += agent_kills(883, [4001], (-6, 0, 4000))
            lines.append(elastic_block(883, host, [(ranks[1], -6, 4001), (ranks[0], -6, 4000)]))
        files[f"{host}.log"] = text(lines)
    return MadeJob(files, host="gpu-07", any_rank=frozenset(range(16, 24)))


def node_failure_told_by_slurm() -> MadeJob:
    out = interleaved(*(steps(rank, 32, 50) for rank in range(32)))
    return MadeJob(
        {
            "slurm-55102.out": text(
                out,
                "srun: error: Node failure on dgx-14",
                "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
                f"slurmstepd-dgx-11: error: *** STEP 55102.0 ON dgx-11 CANCELLED AT {at(171):%Y-%m-%dT%H:%M:%S} "
                "DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***",
                "srun: error: dgx-11: tasks 0-7: Terminated",
                "srun: error: dgx-12: tasks 8-15: Terminated",
                "srun: error: dgx-13: tasks 16-23: Killed",
            )
        },
        host="dgx-14",
    )


def node_preempted_on_kubernetes() -> MadeJob:
    """Pod logs and events: the node of worker-5 went away."""
    files = {}
    for pod in range(8):
        lines = steps(pod, 8, 130)
        if pod == 5:
            lines.append(f"{iso(131)} [rank 5] INFO trainer: received signal 15 (SIGTERM), no time for a checkpoint")
        else:
            lines += remote_error(pod, f"llama-worker-{pod}", 133 + pod / 10)
        files[f"pods/llama-worker-{pod}.log"] = text(lines)
    files["events.txt"] = text(
        "LAST SEEN   TYPE      REASON                 OBJECT               MESSAGE",
        "9m          Normal    Scheduled              pod/llama-worker-5   Successfully assigned ml/llama-worker-5 to "
        "ip-10-0-7-31.ec2.internal",
        "4m          Normal    Preempted              pod/llama-worker-5   Preempted by pod "
        "0f1f7a2e-9df1-4f0c-a6f2-61c7c24c1e0a on node ip-10-0-7-31.ec2.internal",
        "4m          Normal    Killing                pod/llama-worker-5   Stopping container pytorch",
    )
    return MadeJob(files, rank=5, host="llama-worker-5")


def hang_by_mismatched_collectives() -> MadeJob:
    """Rank 5 waits in an allgather where the 15 others wait in an allreduce."""
    files = {}
    for rank in range(16):
        lines = steps(rank, 16, 33)
        op, numel = ("_ALLGATHER_BASE", 131072) if rank == 5 else ("ALLREDUCE", 26214400)
        lines += watchdog(rank, 634 + rank / 100, seq=401, op=op, numel=numel)
        files[f"r{rank // 8}/rank_{rank}.log"] = text(lines)
    return MadeJob(files, rank=5)


def mpi_abort_by_rank_17() -> MadeJob:
    body = interleaved(*([f"[1,{r}]<stdout>:step {s} residual {1 / s:.5f}" for s in range(1, 21)] for r in range(32)))
    line = "-" * 74
    return MadeJob(
        {
            "mpirun.log": text(
                body,
                "[1,17]<stderr>:solver: negative density in cell 40231, giving up",
                line,
                "MPI_ABORT was invoked on rank 17 in communicator MPI_COMM_WORLD\nwith errorcode 3.\n",
                "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.\n"
                "You may or may not see output from other processes, depending on\n"
                "exactly when Open MPI kills them.",
                line,
            )
        },
        rank=17,
    )


def slurm_time_limit() -> MadeJob:
    out = interleaved(*(steps(rank, 16, 60) for rank in range(16)))
    return MadeJob(
        {
            "slurm-9001.out": text(
                out,
                f"slurmstepd: error: *** JOB 9001 ON cn-03 CANCELLED AT {at(61):%Y-%m-%dT%H:%M:%S} DUE TO TIME LIMIT "
                "***",
                f"slurmstepd: error: *** STEP 9001.0 ON cn-03 CANCELLED AT {at(61):%Y-%m-%dT%H:%M:%S} DUE TO TIME "
                "LIMIT ***",
                "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
                "srun: error: cn-03: tasks 0-7: Terminated",
                "srun: error: cn-04: tasks 8-15: Terminated",
            )
        },
        words="time limit",
    )


def straggler_before_the_timeout() -> MadeJob:
    """Rank 12 hangs in its data loader two steps behind; nothing but its silence tells."""
    files = {}
    for rank in range(16):
        lines = steps(rank, 16, 198 if rank == 12 else 200)
        if rank != 12:
            lines += watchdog(rank, 801 + rank / 80)
        files[f"logs/rank{rank}.log"] = text(lines)
    return MadeJob(files, rank=12)


def kernel_kills_rank_6() -> MadeJob:
    out = interleaved(*(steps(rank, 8, 40) for rank in range(8)))
    return MadeJob(
        {
            "box/train.log": text(
                out,
                agent_kills(41.9, [700, 701, 702, 703, 704, 705, 707], (-9, 6, 706)),
                elastic_block(41, "box-2", [(6, -9, 706)]),
            ),
            "box/dmesg.txt": text(
                "[81230.112] python invoked oom-killer: gfp_mask=0x140dca(GFP_HIGHUSER_MOVABLE|__GFP_COMP|__GFP_ZERO), "
                "order=0, oom_score_adj=0",
                "[81230.377] oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0-1,global_oom,"
                "task_memcg=/user.slice,task=python,pid=706,uid=1000",
                "[81230.378] Out of memory: Killed process 706 (python) total-vm:812000412kB, anon-rss:498211004kB, "
                "file-rss:70124kB, shmem-rss:131072kB, UID:1000 pgtables:1212012kB oom_score_adj:0",
            ),
        },
        rank=6,
    )


def launcher_loses_a_worker() -> MadeJob:
    """An MPIJob: mpirun no longer hears from the daemon on a worker."""
    body = interleaved(*([f"[1,{r}]<stdout>:iter {s} loss {3 / s:.4f}" for s in range(1, 15)] for r in range(32)))
    line = "-" * 74
    return MadeJob(
        {
            "job-launcher-x7k2p.log": text(
                body,
                line,
                "ORTE has lost communication with a remote daemon.\n",
                "  HNP daemon   : [[31234,0],0] on node job-launcher-x7k2p",
                "  Remote daemon: [[31234,0],3] on node job-worker-2\n",
                "This is usually due to either a failure of the TCP network\nconnection to the node, or possibly an "
                "internal failure of\nthe daemon itself. We cannot recover from this failure, and\ntherefore will "
                "terminate the job.",
                line,
            )
        },
        host="job-worker-2",
    )


def deepspeed_assertion_on_worker_3() -> MadeJob:
    """The launcher's one log, lines of hosts marked as pdsh does."""
    lines = interleaved(*(
        [f"worker-{r // 8}: {each}" for each in steps(r, 32, 25)] for r in range(32)
    ))  # fmt: skip
    error = traceback("AssertionError: expert capacity 0 at layer 14", "/code/moe.py")
    lines += [f"worker-3: [rank27]: {each}" for each in error.split("\n")]
    lines += [
        f"worker-3: [2026-11-30 20:00:27,{100 + i}] [INFO] [launch.py:335:sigkill_handler] Killing subprocess {900 + i}"
        for i in range(8)
    ]
    lines.append(
        "worker-3: [2026-11-30 20:00:28,004] [ERROR] [launch.py:341:sigkill_handler] ['/usr/bin/python', '-u', "
        "'train.py', '--local_rank=3'] exits with return code = 1"
    )
    for rank in range(24):
        lines += [f"worker-{rank // 8}: {each}" for each in remote_error(rank, f"worker-{rank // 8}", 29 + rank / 40)]
    lines.append("pdsh@head: worker-3: ssh exited with exit code 1")
    return MadeJob({"deepspeed.log": text(lines)}, rank=27, host="worker-3")


def slurm_memory_of_task_14() -> MadeJob:
    out = interleaved(*([f"{r:>2}: {each}" for each in steps(r, 32, 31)] for r in range(32)))
    return MadeJob(
        {
            "slurm-881.out": text(
                out,
                "slurmstepd-gpu-22: error: Detected 1 oom_kill event in StepId=881.0. Some of the step tasks have been "
                "OOM Killed.",
                "srun: error: gpu-22: task 14: Out Of Memory",
                "srun: Terminating StepId=881.0",
                f"slurmstepd-gpu-21: error: *** STEP 881.0 ON gpu-21 CANCELLED AT {at(33):%Y-%m-%dT%H:%M:%S} ***",
                "srun: error: gpu-22: tasks 8-13,15: Terminated",
                "srun: error: gpu-21: tasks 0-7: Terminated",
                "srun: error: gpu-23: tasks 16-23: Terminated",
                "srun: error: gpu-24: tasks 24-31: Terminated",
            )
        },
        rank=14,
        host="gpu-22",
    )


def link_down_on_one_host() -> MadeJob:
    """A port of gpu-31 goes down: its kernel says so, all hosts' ranks see transport errors."""
    files = {}
    for node, host in enumerate(("gpu-30", "gpu-31", "gpu-32")):
        kernel = [f"{at(-4000):%b %d %H:%M:%S} {host} kernel: mlx5_core 0000:9c:00.0: Port module event: Cable plugged"]
        if host == "gpu-31":
            kernel.append(f"{at(95):%b %d %H:%M:%S} {host} kernel: mlx5_core 0000:9c:00.0 ibp156s0: Link down")
        files[f"{host}/messages"] = text(kernel)
        for rank in range(node * 8, node * 8 + 8):
            lines = steps(rank, 24, 94)
            if rank % 8 == 4:
                gid = "::ffff:10.1.31.4" if host != "gpu-31" else "::ffff:10.1.30.4"
                lines.append(
                    f"{host}:{3000 + rank}:{3300 + rank} [4] NCCL WARN NET/IB: Got completion from peer "
                    f"{gid.rpartition(':')[2]}<41012> with status=12 opcode=0 len=0 vendor err 129 (Send) "
                    f"localGid fe80::1 remoteGids{gid} hca mlx5_4"
                )
            lines.append(
                c10d(rank, 118 + rank / 50, f"[PG ID 0 PG GUID 0(default_pg) Rank {rank}] Process group watchdog "
                     "thread terminated with exception: NCCL error: remote process exited or there was a network "
                     "error, NCCL version 2.21.5", "ProcessGroupNCCL.cpp:1595")
            )  # fmt: skip
            files[f"{host}/rank-{rank}.log"] = text(lines)
    return MadeJob(files, host="gpu-31", any_rank=frozenset(range(8, 16)))


def sagemaker_value_error() -> MadeJob:
    """CloudWatch lines of four hosts under mpirun."""
    lines = interleaved(*(
        [f"[1,mpirank:{r},algo-{r // 8 + 1}]<stdout>:{each}" for each in steps(r, 32, 18)] for r in range(32)
    ))  # fmt: skip
    error = traceback("ValueError: expected sequence of length 2048 at dim 1 (got 2047)", "/opt/ml/code/train.py")
    lines += [f"[1,mpirank:19,algo-3]<stderr>:{each}" for each in error.split("\n")]
    bar = "-" * 74
    lines += [
        bar,
        "Primary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, the job "
        "has been aborted.",
        bar,
        bar,
        "mpirun.real detected that one or more processes exited with non-zero status, thus causing\nthe job to be "
        "terminated. The first process to do so was:\n\n  Process name: [[41512,1],19]\n  Exit code:    1",
        bar,
        "2026-11-30 20:00:24,117 sagemaker-training-toolkit ERROR    Reporting training FAILURE",
        "2026-11-30 20:00:24,117 sagemaker-training-toolkit ERROR    ExecuteUserScriptError:",
        "ExitCode 1",
    ]
    return MadeJob({"algo-1.log": text(lines)}, rank=19, host="algo-3")


def ray_worker_dies() -> MadeJob:
    """Ray Train: a worker's node is gone."""
    lines = []
    for step in range(1, 20):
        lines += [
            f"(RayTrainWorker pid={4000 + r}, ip=10.0.2.{r}) {iso(step)} [rank {r}] INFO trainer: step {step} loss 2.1"
            for r in range(8)
        ]
    lines += [
        f"{iso(31)} ERROR tune_controller.py:1331 -- Trial task failed for trial TorchTrainer_1b2c3_00000",
        "Traceback (most recent call last):",
        '  File "/opt/ray/python/ray/air/execution/_internal/event_manager.py", line 110, in resolve_future',
        "    result = ray.get(future)",
        "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
        "\tclass_name: RayTrainWorker",
        "\tactor_id: 57d1e0a7c8d1f4b2a61a6e1c02000000",
        "\tpid: 4007",
        "\tnamespace: 71f3c0f2-0f9e-4e70-9c52-4c2f5e3c9b4d",
        "\tip: 10.0.2.7",
        "The actor died because its node has died. Node Id: 3b1c0d0c8e4f5a6b7c8d9e0f1a2b3c4d5e6f708192a3b4c5d6e7f809",
        "\tthe actor's node was terminated unexpectedly: health check failed due to missing too many heartbeats",
    ]
    return MadeJob({"driver.log": text(lines)}, rank=7, host="10.0.2.7")


def store_host_dies() -> MadeJob:
    """Rank 0 is killed with the store that it held; the others lose the store."""
    files = {}
    for rank in range(1, 16):
        lines = steps(rank, 16, 45)
        lines.append(
            c10d(rank, 47 + rank / 90, f"[PG ID 0 PG GUID 0 Rank {rank}] Failed to check the \"should dump\" flag on "
                 "TCPStore, (maybe TCPStore server has shut down too early), with error: Failed to recv, got 0 bytes. "
                 "Connection was likely closed. Did the remote server shutdown or crash?", "ProcessGroupNCCL.cpp:1709",
                 "W")
        )  # fmt: skip
        lines += remote_error(rank, f"s{rank // 8}", 48 + rank / 90)
        files[f"s{rank // 8}/rank{rank}.log"] = text(lines)
    files["s0/rank0.log"] = text(steps(0, 16, 45))
    files["s0/agent.log"] = text(
        agent_kills(46.2, [501, 502, 503], (-9, 0, 500)), elastic_block(46, "s0", [(0, -9, 500)])
    )
    return MadeJob(files, rank=0)


def spot_interruption() -> MadeJob:
    """The instance of ranks 8-15 is taken back; its own log says so."""
    files = {}
    for rank in range(24):
        host = f"ip-10-0-4-{11 + rank // 8}"
        lines = steps(rank, 24, 150)
        if rank // 8 != 1:
            lines += remote_error(rank, host, 272 + rank / 50, "10.0.4.12<50112>")
        files[f"{host}/rank_{rank}.log"] = text(lines)
    files["ip-10-0-4-12/messages"] = text(
        f"{at(151):%b %d %H:%M:%S} ip-10-0-4-12 spot-watcher[912]: instance-action: terminate at 2026-11-30T20:04:31Z",
        f"{at(271):%b %d %H:%M:%S} ip-10-0-4-12 systemd[1]: Received SIGTERM from PID 1 (systemd), powering off.",
    )
    return MadeJob(files, host="ip-10-0-4-12", any_rank=frozenset(range(8, 16)))


def one_rank_ends_early() -> MadeJob:
    """Rank 2 runs out of data and leaves without an error; the others wait for it."""
    files = {}
    for rank in range(8):
        lines = steps(rank, 8, 500, 0.2)
        if rank == 2:
            lines.append(f"{iso(100.3)} [rank 2] INFO trainer: data exhausted, training finished")
        else:
            lines += watchdog(rank, 701 + rank / 80)
        files[f"out/rank-{rank}.log"] = text(lines)
    return MadeJob(files, rank=2)


def cancelled_by_its_owner() -> MadeJob:
    files = {
        f"task-{rank}.log": text(steps(rank, 16, 70), f"{iso(71)} [rank {rank}] WARNING trainer: got SIGTERM, leaving")
        for rank in range(16)
    }
    files["slurm-77123.out"] = text(
        f"slurmstepd: error: *** JOB 77123 ON cn-21 CANCELLED AT {at(71):%Y-%m-%dT%H:%M:%S} ***",
        "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
        "srun: error: cn-21: tasks 0-7: Terminated",
        "srun: error: cn-22: tasks 8-15: Terminated",
    )
    return MadeJob(files, words="cancelled")


def traceback_without_rank_in_slurm_label() -> MadeJob:
    """srun --label: only the label says whose traceback it is; others' echo comes first in the file."""
    out = interleaved(*([f"{r:>2}: {each}" for each in steps(r, 16, 22)] for r in range(16)))
    echo = [f" 3: {each}" for each in remote_error(3, "z1", 24)]
    error = [f"10: {each}" for each in traceback("KeyError: 'layers.31.mlp.up_proj.weight'").split("\n")]
    return MadeJob(
        {
            "slurm-4410.out": text(
                out, echo, error, "srun: error: z2: task 10: Exited with exit code 1",
                "srun: Terminating StepId=4410.0",
                *([f"{r:>2}: {each}" for each in remote_error(r, f"z{1 + r // 8}", 25)] for r in (1, 5, 8, 12)),
                "srun: error: z1: tasks 0-7: Exited with exit code 1", "srun: error: z2: tasks 8-9,11-15: Terminated",
            )
        },
        rank=10,
    )  # fmt: skip


def ranked_error_among_warnings() -> MadeJob:
    """Eight hosts, 64 ranks: rank 50 raises, but rank 3 warned loudly of something harmless before."""
    files = {}
    for rank in range(64):
        lines = steps(rank, 64, 15)
        if rank == 3:
            lines.insert(
                5, f"{iso(4.2)} [rank 3] ERROR tracker: wandb: Network error (ConnectTimeout), entering retry loop."
            )
        if rank == 50:
            lines += ranked(50, traceback("IndexError: index 50304 is out of range for vocabulary of 50257"))
        else:
            lines += remote_error(rank, f"w{rank // 8}", 17 + rank / 70)
        files[f"w{rank // 8}/{rank}.log"] = text(lines)
    return MadeJob(files, rank=50)
