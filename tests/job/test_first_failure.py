"""Who failed first, on real runs whose culprit is known, and where nobody can be named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from bundles import ECHO, OOM, clock, job_of, logs_of, many_ranks

from troubleshoot.engine import Engine
from troubleshoot.model import Confidence

LOW, MEDIUM, HIGH = Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH

# Incident of the corpus, the rank that its recipe made fail, how sure the report must at least be.
CULPRITS = [
    ("torch-two-nodes-root-on-second", 3, HIGH),
    ("torch-two-nodes-oom-on-second", 3, MEDIUM),
    ("torch-log-tree-two-faults", 3, HIGH),
    ("torch-rank-exception", 2, HIGH),
    ("torch-rank-exception-recorded", 1, HIGH),
    ("torch-rank-killed", 1, MEDIUM),
    ("torch-rank-segfault", 2, MEDIUM),
    ("torch-rank-exits-one", 3, MEDIUM),
    ("torch-rank-oom-killed", 1, MEDIUM),
    ("torch-store-host-dies", 0, MEDIUM),
    ("torch-monitored-barrier", 2, MEDIUM),
    ("torch-gloo-collective-timeout", 1, MEDIUM),
    ("torch-under-mpirun-rank-exception", 1, MEDIUM),
    ("gpu-ddp-rank-killed", 1, MEDIUM),
    ("gpu-ddp-rank-file-missing", 1, HIGH),
    ("gpu-ddp-rank-file-missing-log-tree", 1, MEDIUM),
    ("gpu-ddp-straggler", 1, MEDIUM),
    ("gpu-ddp-straggler-flight-recorder", 1, MEDIUM),
    ("gpu-ddp-rank-exits-early", 1, MEDIUM),
    ("gpu-ddp-late-rank0-unique-id", 0, MEDIUM),
    ("gpu-ddp-monitored-barrier", 1, MEDIUM),
    ("gpu-ddp-store-host-dies", 0, MEDIUM),
    ("nccl-two-nodes-file-missing", 1, HIGH),
    ("nccl-two-nodes-worker-killed", 1, MEDIUM),
    ("cuda-oom-one-rank", 1, HIGH),
    ("slurm-ddp-rank-exception", 2, HIGH),
    ("slurm-task-segfault", 3, MEDIUM),
    ("mpi-rank-killed", 3, HIGH),
    ("mpi-abort-called", 3, HIGH),
    ("mpi-rank-log-tree", 3, HIGH),
    ("mpi-nonzero-exit", 1, HIGH),
    ("mpich-abort-called", 3, HIGH),
]

# No rank failed first: stopped from outside, a host lost, all ranks alike, a fault before there were ranks.
NOBODY = [
    ("slurm-time-limit", "Slurm cancelled the job (time limit)"),
    ("slurm-cancelled-by-user", "Slurm cancelled the job"),
    ("slurm-node-failure", "node gpu-node-18 was lost"),
    ("gpu-ddp-sigterm-from-outside", "told to end the job from outside"),
    ("cuda-oom-model-too-large", "ranks 0-1 show the same fault"),
    ("gpu-ddp-cpu-tensor", "no single rank failed first"),
    ("gpu-ddp-port-in-use", "names no rank"),
]


@pytest.mark.parametrize(("incident", "rank", "least"), CULPRITS, ids=[each[0] for each in CULPRITS])
def test_culprit_of_a_real_run_is_named(engine: Engine, incident: str, rank: int, least: Confidence) -> None:
    first = job_of(engine.postmortem_paths(logs_of(incident))).first_failure
    assert first is not None
    assert first.rank == rank, first.because
    assert first.confidence >= least, first.because
    assert first.source
    assert first.because


@pytest.mark.parametrize(("incident", "because"), NOBODY, ids=[each[0] for each in NOBODY])
def test_no_rank_is_invented(engine: Engine, incident: str, because: str) -> None:
    first = job_of(engine.postmortem_paths(logs_of(incident))).first_failure
    assert first is not None
    assert first.rank is None
    assert because in first.because


@pytest.mark.parametrize(
    "incident", ["healthy-two-nodes", "healthy-log-tree", "healthy-slurm-labelled", "gpu-ddp-healthy"]
)
def test_healthy_run_has_no_first_failure(engine: Engine, incident: str) -> None:
    job = job_of(engine.postmortem_paths(logs_of(incident)))
    assert job.first_failure is None
    assert job.ranks.failed == ()


def test_pod_of_a_description_is_named_by_its_state(engine: Engine) -> None:
    first = job_of(engine.postmortem_paths(logs_of("k8s-oom-killed-peers-time-out"))).first_failure
    assert first is not None
    assert first.host == "llama-ft-worker-1"
    assert "SIGKILL (out of memory)" in first.because


def test_one_failure_among_many_echoes(engine: Engine, bundle: Callable[[Mapping[str, str]], Path]) -> None:
    job = job_of(engine.postmortem_paths([bundle(many_ranks(64, failed=13, silent={40, 41}))]))
    assert job.first_failure is not None
    assert (job.first_failure.rank, job.first_failure.host) == (13, "gpu-node-01")
    assert job.first_failure.confidence is HIGH
    assert job.ranks.total == 64
    assert job.ranks.failed == (13,)
    assert job.ranks.silent == (40, 41)
    assert len(job.ranks.echoing) == 61
    assert job.hosts_failed == ("gpu-node-01",)
    assert len(job.hosts) == 8


def test_earlier_of_two_faults_is_first_by_the_clock(
    engine: Engine, bundle: Callable[[Mapping[str, str]], Path]
) -> None:
    disk = "ERROR OSError: [Errno 28] No space left on device: '/data/checkpoints/step-20.pt'"
    folder = bundle(
        {
            "gpu-node-00/rank-0.log": f"{clock(30)} [rank 0] {OOM}\n",
            "gpu-node-01/rank-8.log": f"{clock(12)} [rank 8] {OOM}\n",
            "gpu-node-02/rank-16.log": f"{clock(40)} [rank 16] {disk}\n",
        }
    )
    first = job_of(engine.postmortem_paths([folder])).first_failure
    assert first is not None
    assert first.rank == 8
    assert "18.0 s before any other" in first.because
    assert "if the clocks of the hosts agree" in first.because
    assert first.runner_up.startswith("rank 0, 18.0 s later")


def test_block_of_a_node_that_only_echoes_is_not_believed(
    engine: Engine, bundle: Callable[[Mapping[str, str]], Path]
) -> None:
    block = (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n"
        "Root Cause (first observed failure):\n[0]:\n  time      : 2026-11-30_20:00:0{second}\n  host      : {host}\n"
        "  rank      : {rank} (local_rank: 0)\n  exitcode  : {code} (pid: 77)\n  error_file: <N/A>\n"
    )
    folder = bundle(
        {
            "gpu-node-00.log": f"[rank0]: {ECHO}\n" + block.format(second=1, host="gpu-node-00", rank=0, code=1),
            "gpu-node-01.log": block.format(second=4, host="gpu-node-01", rank=8, code=-9),
        }
    )
    first = job_of(engine.postmortem_paths([folder])).first_failure
    assert first is not None
    assert first.rank == 8
    assert "SIGKILL" in first.because


def test_only_echoes_name_the_silent_rank(engine: Engine, bundle: Callable[[Mapping[str, str]], Path]) -> None:
    job = job_of(engine.postmortem_paths([bundle(many_ranks(4, failed=9, silent={2}))]))
    assert job.first_failure is not None
    assert job.first_failure.rank == 2
    assert job.first_failure.confidence is LOW
    assert "echoes of a failure elsewhere" in job.first_failure.because
