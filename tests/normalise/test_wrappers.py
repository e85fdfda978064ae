# ruff: noqa: E501 - samples stand on one line, as programs print them
"""Every wrapper alone, on lines in the format of the program that prints them, with invented hosts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from troubleshoot.model import Identity
from troubleshoot.normalise import Clock, LineNormaliser

CLOCK = Clock(datetime(2026, 12, 1, tzinfo=UTC))
AT = datetime(2026, 11, 30, 20, 15, 4, tzinfo=UTC)


def micro(value: int) -> datetime:
    return AT.replace(microsecond=value)


STRONG = [
    (
        "cri",
        "2026-11-30T20:15:04.123456789Z stderr F RuntimeError: CUDA error: an illegal memory access",
        "RuntimeError: CUDA error: an illegal memory access",
        Identity(stream="stderr"),
        (micro(123456), "explicit", 1e-9),
    ),
    (
        "cri with offset and further tags",
        "2026-11-30T21:15:04.287589429+01:00 stdout F:x step 12",
        "step 12",
        Identity(stream="stdout"),
        (micro(287589), "explicit", 1e-9),
    ),
    ("cri without content", "2026-11-30T20:15:04.5Z stdout F", "", Identity(stream="stdout"), (micro(500000), "explicit", 0.1)),
    (
        "kubectl --prefix",
        "[pod/bert-ft-worker-3/pytorch] plain text",
        "plain text",
        Identity(pod="bert-ft-worker-3", container="pytorch"),
        None,
    ),
    (
        "kubectl --prefix --timestamps",
        "[pod/bert-ft-master-0/pytorch] 2026-11-30T20:15:04.000001Z plain text",
        "plain text",
        Identity(pod="bert-ft-master-0", container="pytorch"),
        (micro(1), "explicit", 1e-6),
    ),
    ("runai --timestamps", "2026-11-30T20:15:04.25Z [rank0]: ValueError: x", "ValueError: x", Identity(rank=0), (micro(250000), "explicit", 0.01)),
    (
        "journald short",
        "Nov 30 20:15:04 node-17 kernel: NVRM: Xid (PCI:0000:4e:00): 79, pid=1, GPU has fallen off the bus.",
        "NVRM: Xid (PCI:0000:4e:00): 79, pid=1, GPU has fallen off the bus.",
        Identity(host="node-17"),
        (AT, "assumed-local", 1.0),
    ),
    ("journald short-precise", "Nov  3 20:15:04.000100 node-17 sshd[12]: bye", "bye", Identity(host="node-17"), (datetime(2026, 11, 3, 20, 15, 4, 100, UTC), "assumed-local", 1e-6)),
    (
        "journald short-iso, the program's own name stays",
        "2026-11-30T20:15:04+0000 node-17 slurmstepd[40]: error: *** JOB 8 ON node-17 CANCELLED AT 2026-11-30T20:15:04 DUE TO TIME LIMIT ***",
        "slurmstepd: error: *** JOB 8 ON node-17 CANCELLED AT 2026-11-30T20:15:04 DUE TO TIME LIMIT ***",
        Identity(host="node-17"),
        (AT, "explicit", 1.0),
    ),
    (
        "journald over klog",
        '2026-11-30T20:15:04.123456+00:00 node-17 kubelet[2101]: E1130 20:15:04.120001    2101 pod_workers.go:1301] "Error syncing pod, skipping"',
        '"Error syncing pod, skipping"',
        Identity(host="node-17"),
        (micro(123456), "explicit", 1e-6),
    ),
    ("journald short-unix", "1796069704.123456 node-17 kernel: mce: hardware error", "mce: hardware error", Identity(host="node-17"), (micro(123456), "explicit", 1e-6)),
    ("journald short-full", "Mon 2026-11-30 20:15:04 UTC node-17 sshd[1]: bye", "bye", Identity(host="node-17"), (AT, "explicit", 1.0)),
    ("journald short-full, other zone", "Mon 2026-11-30 20:15:04 CET node-17 sshd[1]: bye", "bye", Identity(host="node-17"), (AT, "assumed-local", 1.0)),
    ("journald short-monotonic", "[ 8123.456789] node-17 kubelet[3]: x failed", "x failed", Identity(host="node-17"), None),
    ("syslog 3164", "<11>Nov 30 20:15:04 node-17 nv-fabricmanager[18]: detected NVLink error", "detected NVLink error", Identity(host="node-17"), (AT, "assumed-local", 1.0)),
    (
        "syslog 5424",
        '<165>1 2026-11-30T20:15:04.003Z node-17 dcgm 8710 XID [meta@32473 gpu="3" sev="a\\]b"] XID 94 on GPU 3',
        "XID 94 on GPU 3",
        Identity(host="node-17"),
        (micro(3000), "explicit", 1e-3),
    ),
    ("syslog 5424 framed, no host", "91 <165>1 - - dcgm - - - \ufeffXID 94", "XID 94", Identity(), None),
    (
        "rsyslog file format",
        "2026-11-30T20:15:04.523311+00:00 node-17 kernel: mlx5_core 0000:1a:00.0: Port module event: Cable unplugged",
        "mlx5_core 0000:1a:00.0: Port module event: Cable unplugged",
        Identity(host="node-17"),
        (micro(523311), "explicit", 1e-6),
    ),
    ("dmesg", "[8231044.118273] Out of memory: Killed process 8 (python3)", "Out of memory: Killed process 8 (python3)", Identity(), None),
    ("dmesg -T", "[Mon Nov 30 20:15:04 2026] nvidia-nvlink: Nvlink Core", "nvidia-nvlink: Nvlink Core", Identity(), (AT, "assumed-local", 1.0)),
    ("dmesg -x", "kern  :err   : [ 1234.567890] NVRM: Xid (PCI:0000:4e:00): 63", "NVRM: Xid (PCI:0000:4e:00): 63", Identity(), None),
    ("dmesg iso", "2026-11-30T20:15:04,123456+00:00 NVRM: loaded", "NVRM: loaded", Identity(), (micro(123456), "explicit", 1e-6)),
    ("dmesg -H", "[Nov30 20:15] NVRM: loaded", "NVRM: loaded", Identity(), (AT.replace(second=0), "assumed-local", 60.0)),
    ("dmesg -H, later line", "[  +0.000012] NVRM: loaded", "NVRM: loaded", Identity(), None),
    ("kmsg", "3,1234,5678901,-;NVRM: Xid 13", "NVRM: Xid 13", Identity(), None),
    (
        "aws logs tail, SageMaker",
        "2026-11-30T20:15:04.123000+00:00 bert-ft-2026-11-30-18-00-01-123/algo-2-1796061602 [1,mpirank:9,algo-2]<stderr>:RuntimeError: NCCL communicator was aborted on rank 9.",
        "RuntimeError: NCCL communicator was aborted on rank 9.",
        Identity(host="algo-2", pod="bert-ft-2026-11-30-18-00-01-123", rank=9, stream="stderr"),
        (micro(123000), "explicit", 1e-6),
    ),
    ("HyperPod stream", "2026-11-30T20:15:04 LifecycleConfig/workers/i-0abc12 boot done", "boot done", Identity(host="i-0abc12"), (AT, "assumed-utc", 1.0)),
    ("aws logs tail short", "2026-11-30T20:15:04 2026-11-30 20:15:04,120 sagemaker-training-toolkit ERROR    Reporting training FAILURE", "Reporting training FAILURE", Identity(), (AT, "assumed-local", 1.0)),
    ("S3 export", '2026-11-30T20:15:04.123Z ErrorMessage "RuntimeError: CUDA error"', 'ErrorMessage "RuntimeError: CUDA error"', Identity(), (micro(123000), "explicit", 1e-3)),
    ("sagemaker mpi", "[1,mpirank:15,algo-2]<stdout>:NCCL version 2.21.5+cuda12.4", "NCCL version 2.21.5+cuda12.4", Identity(host="algo-2", rank=15, stream="stdout"), None),
    ("sagemaker mpi, space kept within", "[1,mpirank:15,algo-2]<stderr>:  libfabric:12", " libfabric:12", Identity(host="algo-2", rank=15, stream="stderr"), None),
    ("logcli", '2026-11-30T20:15:04Z {app="a\\"b", pod="bert-0"}   ncclSystemError: System call', "ncclSystemError: System call", Identity(pod="bert-0"), (AT, "explicit", 1.0)),
    ("logcli without labels of its own", "2026-11-30T20:15:04Z {} ncclSystemError: System call", "ncclSystemError: System call", Identity(), (AT, "explicit", 1.0)),
    ("kibana", "Nov 30, 2026 @ 20:15:04.123\tRuntimeError: x", "RuntimeError: x", Identity(), (micro(123000), "assumed-local", 1e-3)),
    ("ucx", "[1796069704.123456] [node-17:81234:0]          ib_mlx5_log.c:171  UCX  ERROR Transport retry count exceeded", "ib_mlx5_log.c:171  UCX  ERROR Transport retry count exceeded", Identity(host="node-17"), (micro(123456), "explicit", 1e-6)),
    ("grafana", "1796069704123\t2026-11-30T20:15:04.123Z\tRuntimeError: CUDA out of memory", "RuntimeError: CUDA out of memory", Identity(), (micro(123000), "explicit", 1e-3)),
    ("github", "2026-11-30T20:15:04.1234567Z ##[error]Process completed with exit code 137.", "Process completed with exit code 137.", Identity(), (micro(123456), "explicit", 1e-7)),
    ("github, a script's own command", "2026-11-30T20:15:04.1234567Z ::error file=train.py,line=88::loss is nan", "loss is nan", Identity(), (micro(123456), "explicit", 1e-7)),
    ("github, C++ names are no command", "2026-11-30T20:15:04.1234567Z ::std::bad_alloc", "::std::bad_alloc", Identity(), (micro(123456), "explicit", 1e-7)),
    ("gh run view", "train\tRun tests\t\ufeff2026-11-30T20:15:04.1234567Z E   AssertionError: loss is nan", "E   AssertionError: loss is nan", Identity(), (micro(123456), "explicit", 1e-7)),
    ("gitlab", '2026-11-30T20:15:04.123999Z 01E+  File "train.py", line 88', '  File "train.py", line 88', Identity(), (micro(123999), "explicit", 1e-6)),
    ("fluent bit", '[0] kube.var: [1796069704.123456, {"stream"=>"stderr", "log"=>"say \\"x\\"\\n", "time"=>"t"}]', 'say "x"', Identity(), (micro(123456), "explicit", 1e-6)),
    ("jenkins", "[2026-11-30T20:15:04.123Z] FATAL: command execution failed", "FATAL: command execution failed", Identity(), (micro(123000), "explicit", 1e-3)),
    ("jenkins html", "<b>20:15:04</b> java.io.IOException: No space left on device", "java.io.IOException: No space left on device", Identity(), None),
    ("kaggle", "704.7s\t1469\t[0]:", "[0]:", Identity(), None),
    ("kaggle, blanks", "704.7s 1468 Root Cause (first observed failure):", "Root Cause (first observed failure):", Identity(), None),
    ("open mpi 4", "[1,3]<stderr>:RuntimeError: NCCL error", "RuntimeError: NCCL error", Identity(rank=3, stream="stderr"), None),
    ("open mpi 4 with time", "Mon Nov 30 20:15:04 2026[1,3]<stdout>:step", "step", Identity(rank=3, stream="stdout"), (AT, "assumed-local", 1.0)),
    ("open mpi 4, time only", "Mon Nov 30 20:15:04 2026<stderr>:step", "step", Identity(stream="stderr"), (AT, "assumed-local", 1.0)),
    ("open mpi 5 with time", "[Mon Nov 30 20:15:04 2026][1,12]<stdout>: step 1200", "step 1200", Identity(rank=12, stream="stdout"), (AT, "assumed-local", 1.0)),
    (
        "open mpi 5 detailed",
        "[prterun-node-17-40211@1,5][node-18:51223]<stderr>: corrupted double-linked list",
        "corrupted double-linked list",
        Identity(host="node-18", rank=5, stream="stderr"),
        None,
    ),
    ("open mpi 5, rank only", "[7]<stderr>: aborting", "aborting", Identity(rank=7, stream="stderr"), None),
    ("open mpi, wildcard rank", "[1,WILDCARD]<stderr>:aborting", "aborting", Identity(stream="stderr"), None),
    ("open mpi, eaten tag", "[1,3]:aborting", "aborting", Identity(rank=3), None),
    ("open mpi xml", '<stderr rank="3">a &lt; b &#38; c</stderr>', "a < b & c", Identity(rank=3, stream="stderr"), None),
    ("ray worker", "(RayTrainWorker pid=8123, ip=10.0.3.77) CUDA out of memory. [repeated 7x across cluster]", "CUDA out of memory. [repeated 7x across cluster]", Identity(host="10.0.3.77"), None),
    (
        "raylet over ray core",
        "(raylet, ip=10.0.3.78) [2026-11-30 20:15:04,123 E 4259 4301] (raylet) node_manager.cc:3097: 1 Workers killed due to memory pressure (OOM)",
        "1 Workers killed due to memory pressure (OOM)",
        Identity(host="10.0.3.78"),
        (micro(123000), "assumed-local", 1e-3),
    ),
    ("torchrun tee", "[default3]:loss 2.3", "loss 2.3", Identity(local_rank=3), None),
    ("torch rank", "[rank31]:   File \"x.py\", line 3", "  File \"x.py\", line 3", Identity(rank=31), None),
    ("torch rank, empty", "[rank31]:", "", Identity(rank=31), None),
    (
        "c10 log: its fraction is no clock's, the month is not padded",
        "[rank3]:[W105 20:15:04.123456789 socket.cpp:752] [c10d] The client socket cannot be initialized",
        "[c10d] The client socket cannot be initialized",
        Identity(rank=3),
        (datetime(2026, 1, 5, 20, 15, 4, tzinfo=UTC), "assumed-local", 1.0),
    ),
    (
        "torch python log",
        "W1130 20:15:04.120000 1 site-packages/torch/distributed/elastic/multiprocessing/api.py:897] Sending process 41 closing signal SIGTERM",
        "Sending process 41 closing signal SIGTERM",
        Identity(),
        (micro(120000), "assumed-local", 1e-6),
    ),
    (
        "torch python log, older",
        "[rank1]:[2026-11-30 20:15:04,123] torch.distributed.elastic.multiprocessing.api: [WARNING] Sending process 8",
        "Sending process 8",
        Identity(rank=1),
        (micro(123000), "assumed-local", 1e-3),
    ),
    (
        "deepspeed",
        "[2026-11-30 20:15:04,123] [INFO] [launch.py:319:main] Killing subprocess 812",
        "Killing subprocess 812",
        Identity(),
        (micro(123000), "assumed-local", 1e-3),
    ),
    ("nemo", "[NeMo E 2026-11-30 20:15:04 nemo_logging:88] no checkpoint", "no checkpoint", Identity(), (AT, "assumed-local", 1.0)),
    (
        "nccl: its own words stay",
        "node-17:81234:81502 [3] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.3.77<0>",
        "NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.3.77<0>",
        Identity(host="node-17"),
        None,
    ),
    (
        "nccl with time and source",
        "[2026-11-30 20:15:04] node-17:81234:81511 [3] misc/ibvwrap.cc:160 (wrap_ibv_modify_qp) NCCL WARN Call to ibv_modify_qp failed",
        "NCCL WARN Call to ibv_modify_qp failed",
        Identity(host="node-17"),
        (AT, "assumed-local", 1.0),
    ),
    ("klog", "I1130 20:15:04.120001   40211 manager.go:210] Allocate: 8 devices", "Allocate: 8 devices", Identity(), (micro(120001), "assumed-local", 1e-6)),
    ("python logging default", "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1)", "failed (exitcode: 1)", Identity(), None),
    ("python asctime with dashes", "2026-11-30 20:15:04,123 - trainer.loop - ERROR - loss is nan", "loss is nan", Identity(), (micro(123000), "assumed-local", 1e-3)),
    ("transformers", "11/30/2026 20:15:04 - ERROR - __main__ -   loss is nan", "loss is nan", Identity(), (AT, "assumed-local", 1.0)),
    ("vllm", "ERROR 11-30 20:15:04 [worker.py:12] loss is nan", "loss is nan", Identity(), (AT, "assumed-local", 1.0)),
    ("loguru", "2026-11-30 20:15:04.123 | ERROR    | trainer.loop:run:12 - loss is nan", "loss is nan", Identity(), (micro(123000), "assumed-local", 1e-3)),
    ("rich", "[20:15:04] ERROR    loss is nan      train.py:12", "loss is nan      train.py:12", Identity(), None),
    ("rich, in the same second", "           WARNING  loss is nan", "loss is nan", Identity(), None),
    ("dmlc", "[20:15:04] /src/x.cc:12: Check failed", "/src/x.cc:12: Check failed", Identity(), None),
    ("fluentd", '2026-11-30 20:15:04.123456789 +0000 kube.log: {"log":"say \\"x\\"\\n","stream":"stderr"}', 'say "x"', Identity(), (micro(123456), "explicit", 1e-9)),
    ("fluentd with a field", '2026-11-30T20:15:04+00:00\tapp\t{"message":"boom","error":"disk"}', 'boom {"error": "disk"}', Identity(), (AT, "explicit", 1.0)),
    *(
        (f"journald, {month}", f"{month} 20:15:04 node-3 kernel: NVRM: x", "NVRM: x", Identity(host="node-3"), (AT, "assumed-local", 1.0))
        for month in ("11月 30", "11월 30", "nov. 30", "ноя 30", "нояб. 30", "lis 30")
    ),
    *(
        (f"dmesg, {day}", f"[{day} 30 20:15:04 2026] NVRM: x", "NVRM: x", Identity(), (AT, "assumed-local", 1.0))
        for day in ("Mo Nov", "lun. nov.", "月 11月", "Пн ноя")
    ),
    ("hydra log", "[2026-11-30 20:15:04,123][trainer][ERROR] - loss is nan", "loss is nan", Identity(), (micro(123000), "assumed-local", 1e-3)),
    ("go log", "2026/11/30 20:15:04 main.go: no device", "main.go: no device", Identity(), (AT, "assumed-local", 1.0)),
    ("slurmctld", "[2026-11-30T20:15:04.123] error: Node node-3 not responding", "error: Node node-3 not responding", Identity(), (micro(123000), "assumed-local", 1e-3)),
    ("ctime", "Mon Nov 30 20:15:04 2026: starting", "starting", Identity(), (AT, "assumed-local", 1.0)),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "text", "identity", "stamp"), [row[1:] for row in STRONG], ids=[r[0] for r in STRONG])
def test_strong_wrapper_comes_off(
    raw: str, text: str, identity: Identity, stamp: tuple[datetime, str, float] | None
) -> None:
    peeled = LineNormaliser(clock=CLOCK).peel(raw, 1)
    assert peeled.text == text
    assert peeled.identity == identity
    if stamp is None:
        assert peeled.stamp is None
    else:
        assert peeled.stamp is not None
        assert (peeled.stamp.time, peeled.stamp.zone) == stamp[:2]
        assert peeled.stamp.resolution_s == pytest.approx(stamp[2])


@pytest.mark.parametrize(("raw", "text"), [row[1:3] for row in STRONG], ids=[r[0] for r in STRONG])
def test_peeled_text_stands_at_the_end_of_the_line_and_peels_no_further(raw: str, text: str) -> None:
    if "slurmstepd" not in raw and "</std" not in raw and "=>" not in raw and not raw.endswith("}"):
        assert raw.endswith(text)
    assert LineNormaliser(clock=CLOCK).peel(text, 1).text == text
    assert LineNormaliser(clock=CLOCK).peel(raw + "\r", 1).text == text


@pytest.mark.parametrize(
    ("raw", "level"),
    [
        ("<11>Nov 30 20:15:04 node-17 a[1]: text", "error"),
        ("<8>Nov 30 20:15:04 node-17 a[1]: text", "fatal"),
        ("kern  :err   : [ 1234.567890] NVRM: x", "error"),
        ("[rank3]:[E1130 20:15:04.123456789 a.cpp:6] text", "error"),
        ("W1130 20:15:04.120000 1 a/api.py:897] text", "warning"),
        ("ERROR:a.b:text", "error"),
        ("node-17:1:2 [0] NCCL WARN text", "warning"),
        ("2026-11-30T20:15:04.1234567Z ##[error]text", "error"),
        ("2026-11-30 20:15:04,123 INFO text", "info"),
        ("[CRITICAL] text", "fatal"),
        ("fatal: not a git repository", "fatal"),
        ("Error: text", "error"),
        ("NCCL is fine", None),
        ("plain text", None),
    ],
)
def test_level(raw: str, level: str | None) -> None:
    assert LineNormaliser(clock=CLOCK).peel(raw, 1).level == level


@pytest.mark.parametrize(
    ("raw", "level", "time"),
    [
        ('{"level":"error","ts":1796069704.5,"msg":"x"}', "error", micro(500000)),
        ('{"severity":"WARNING","time":"2026-11-30T20:15:04Z","msg":"x"}', "warning", AT),
        ('time="2026-11-30T20:15:04Z" level=error msg="x"', "error", AT),
        ("level=warn ts=2026-11-30T20:15:04Z caller=a.go:1", "warning", AT),
        ("libfabric:1234:1796069704::efa:cq:efa_rdm_cq_poll():12<warn> Completion error", "warning", AT),
        ('{"level": 3, "ts": [1]}', None, None),
        ("{not json}", None, None),
    ],
)
def test_time_and_level_within_a_structured_message(raw: str, level: str | None, time: datetime | None) -> None:
    peeled = LineNormaliser(clock=CLOCK).peel(raw, 1)
    assert (peeled.text, peeled.level, peeled.stamp and peeled.stamp.time) == (raw, level, time)


ORDINARY = [
    "Traceback (most recent call last):",
    '  File "/w/train.py", line 88, in <module>',
    "    loss.backward()",
    "RuntimeError: CUDA error: an illegal memory access was encountered",
    "| NVIDIA-SMI 550.54.15      Driver Version: 550.54.15 |",
    "train.py:12:3: error: expected ';'",
    "12:RuntimeError: x",
    "  - name: NCCL_DEBUG",
    "[1] 12345",
    "[gpu-node-17:10641] mca: base: components_register",
    "[0] MPI startup(): libfabric provider: mlx",
    "(required by /opt/amazon-efa-ofi/openmpi/lib/libopen-rte.so.40)",
    "mpirun noticed that process rank 5 with PID 812 on node node-0 exited on signal 9 (Killed).",
    "[c10d] The client socket has failed",
    "  time      : 2026-11-30_20:15:04",
]


@pytest.mark.parametrize("raw", ORDINARY)
def test_ordinary_line_stays_as_it_is(raw: str) -> None:
    assert LineNormaliser(clock=CLOCK).peel(raw, 1).text == raw


def test_a_message_that_begins_with_dashes_keeps_them_behind_a_timestamp() -> None:
    peeler = LineNormaliser()
    assert peeler.peel("2026-11-30T20:00:02.002456789Z -- Process 3 terminated with the following error:", 1).text == (
        "-- Process 3 terminated with the following error:"
    )
    assert peeler.peel("2026-11-30 20:00:02,123 - root - x", 1).text == "root - x"
