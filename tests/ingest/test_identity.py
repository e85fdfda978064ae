# ruff: noqa: E501 - paths stand on one line
from __future__ import annotations

import pytest
from reading import rows_of

from troubleshoot.ingest import open_text
from troubleshoot.ingest.identity import identity_from_path
from troubleshoot.model import Identity

UID = "0b8f6f3e-5a55-4c39-9d5a-111122223333"
PATHS = {
    f"gpu-node-17/var/log/pods/team-a_bert-ft-worker-3_{UID}/pytorch/0.log": Identity(host="gpu-node-17", pod="bert-ft-worker-3", container="pytorch"),
    f"var/log/pods/team-a_bert-ft-master-0_{UID}/pytorch/2.log.20261130-201504.gz": Identity(pod="bert-ft-master-0", container="pytorch"),
    "var/log/containers/bert-0_team-a_pytorch-" + "0a" * 32 + ".log": Identity(pod="bert-0", container="pytorch"),
    "logs/none_x3k2_9aa/attempt_0/3/stderr.log": Identity(local_rank=3, stream="stderr"),
    "node-4/bert_ab12cd34/attempt_2/0/error.json": Identity(host="node-4", local_rank=0),
    "slurm-88123.out": Identity(),
    "logs/job_88123_0_rank12.err": Identity(rank=12, stream="stderr"),
    "train-88123-gpu017.log": Identity(host="gpu017"),
    "job-88123_t7.out": Identity(rank=7),
    "nemo_log_globalrank-12_localrank-4.txt": Identity(rank=12, local_rank=4),
    "out/1/rank.07/stderr": Identity(rank=7, stream="stderr"),
    "20261130180001_rank31.log": Identity(rank=31),
    "rank-2.log": Identity(rank=2),
    "dump/comm_lib_trace_rank_5": Identity(rank=5),
    "dump/team-a/bert-worker-1/logs.txt": Identity(pod="bert-worker-1"),
    "must-gather.local.1/quay-io-abc/namespaces/team-a/pods/bert-1/pytorch/pytorch/logs/current.log": Identity(pod="bert-1", container="pytorch"),
    "support-bundle-x/cluster-resources/pods/logs/team-a/bert-1/pytorch-previous.log": Identity(pod="bert-1", container="pytorch"),
    "sosreport-gpu-node-9-01234567-2026-11-30-abcdefg/sos_commands/kernel/dmesg": Identity(host="gpu-node-9"),
    "nvidia-bug-report_gpu-node-9.log.gz": Identity(host="gpu-node-9"),
    "bert-ft-2026-11-30/algo-2-1796061602": Identity(host="algo-2", pod="bert-ft-2026-11-30"),
    "export/0f/bert-ft-algo-2-1796061602/000000.gz": Identity(host="algo-2", pod="bert-ft"),
    "LifecycleConfig/workers/i-0abc12345": Identity(host="i-0abc12345"),
    "nccl.gpu-node-17.81234": Identity(host="gpu-node-17"),
    "nccl_debug.ip-10-0-3-77.512.log": Identity(host="ip-10-0-3-77"),
    "logs/bert-ft-worker-3.log": Identity(pod="bert-ft-worker-3"),
    "logs/bert-ft-launcher-7xk2p.txt": Identity(pod="bert-ft-launcher-7xk2p"),
    "logs/bert-flux-node-0-1-gxkqp.log": Identity(pod="bert-flux-node-0-1-gxkqp"),
    "gpu-node-18.log": Identity(host="gpu-node-18"),
    "ip-10-0-3-77/messages": Identity(host="ip-10-0-3-77"),
    "session_1/logs/worker-0a1b-01000000-8123.err": Identity(stream="stderr"),
    "C:\\logs\\rank-4\\stdout.log": Identity(rank=4, stream="stdout"),
    "job.log": Identity(),
    "README.md": Identity(),
}  # fmt: skip


@pytest.mark.parametrize("path", sorted(PATHS))
def test_path_tells(path: str) -> None:
    assert identity_from_path(path) == PATHS[path]


@pytest.mark.parametrize("path", ["/" * 5000, "a-" * 5000, "rank" * 5000, "node-1/" * 3000, "x" * 100_000])
def test_hostile_path_ends_soon(path: str) -> None:
    identity_from_path(path)


def identity_of(text: str, name: str = "paste") -> Identity:
    source = open_text(text, name)
    rows_of(source)
    return source.info().identity


def test_host_that_most_lines_name_is_the_source_s() -> None:
    lines = [f"node-17:812:{i} [0] NCCL INFO Channel {i:02d}/0" for i in range(8)]
    assert identity_of("\n".join([*lines, "Traceback", "ValueError: x"])).host == "node-17"


def test_rank_of_one_traceback_is_not_the_source_s() -> None:
    assert identity_of("starting\n[rank3]: Traceback\n[rank3]: ValueError: x\nall done\n" * 3).rank is None


def test_rank_on_every_line_is_the_source_s() -> None:
    assert identity_of("[rank3]: Traceback\n[rank3]: ValueError: x\n").rank == 3


def test_variables_tell_when_they_agree() -> None:
    assert identity_of("NCCL_DEBUG=INFO\nRANK=11\nLOCAL_RANK=3\nSLURMD_NODENAME=node-2\n") == Identity(
        host="node-2", rank=11, local_rank=3
    )
    assert identity_of("RANK=11\nRANK=12\n").rank is None
    assert identity_of('{\n  "current_host": "algo-2",\n  "hosts": ["algo-1"]\n}\n').host == "algo-2"


def test_content_wins_over_path() -> None:
    assert identity_of("[rank3]: a\n[rank3]: b\n", "rank-4.log").rank == 3
    assert identity_of("a\nb\n", "rank-4.log").rank == 4


def test_what_stands_nearest_to_the_file_counts() -> None:
    assert identity_from_path("runs/xid_under_rank_21/gpu-13/rank_4.log").rank == 4
    assert identity_from_path("node-7/again/node-9/train.log").host == "node-9"
