"""The logs that the product started from, in the forms in which they reach a person, through the whole engine."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from troubleshoot.engine import Engine
    from troubleshoot.model import Finding, Report

GLIBC_LINE = (
    "mpirun: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found "
    "(required by /opt/amazon-efa-ofi/openmpi/lib/libopen-rte.so.40)"
)
AUTO_MOUNT = "efa/glibc-too-old-for-auto-mount"
WRONG_MPIRUN = "mpi/wrong-mpirun-under-efa-mount"
HUGE_PAGES = "efa/fork-out-of-huge-pages"
FORK_TRACE = """\
Traceback (most recent call last):
  File "/workspace/train.py", line 88, in <module>
    for batch in loader:
  File "/usr/lib/python3.10/multiprocessing/popen_fork.py", line 66, in _launch
    self.pid = os.fork()
"""
PLUGIN = "node-1:81:99 [0] NCCL INFO NET/OFI Initializing aws-ofi-nccl 1.14.0\n"
EFA_CHANNEL = "NCCL INFO Channel 13/0 : 2[2] -> 10[2] [send] via NET/AWS Libfabric/2/GDRDMA"


@pytest.fixture(scope="module")
def engine() -> Engine:
    from troubleshoot.engine import Engine

    return Engine.default()


def first(report: Report) -> str | None:
    return report.findings[0].rule if report.findings else None


def found(report: Report) -> set[str]:
    return {finding.rule for finding in report.findings}


def confirmed(report: Report) -> set[str]:
    return {finding.rule for finding in report.confirmations}


def undecided(report: Report) -> set[str]:
    return {each.rule for each in report.undecided}


def finding(report: Report, rule: str) -> Finding:
    return next(each for each in (*report.findings, *report.confirmations) if each.rule == rule)


# --- GLIBC below /opt/amazon-efa-ofi ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        GLIBC_LINE,
        GLIBC_LINE.replace("`", "'"),
        GLIBC_LINE.replace("`", "‘").replace("'", "’"),
        GLIBC_LINE.replace("`", '"').replace("'", '"'),
        GLIBC_LINE.replace("`", "").replace("'", ""),
        GLIBC_LINE.replace("`", "“").replace("'", "”"),
        html.escape(GLIBC_LINE),
        GLIBC_LINE.replace(" (required by", "\n(required by"),
        GLIBC_LINE.replace(" (required by", "\n    (required by"),
        GLIBC_LINE[:80] + "\n" + GLIBC_LINE[80:],
        GLIBC_LINE[:72] + "\n" + GLIBC_LINE[72:],
        GLIBC_LINE[:120] + "\n" + GLIBC_LINE[120:],
        GLIBC_LINE.replace(" ", "\u00a0"),
        "> " + GLIBC_LINE,
        "```\n" + GLIBC_LINE + "\n```",
        "2026-11-30T20:15:04.120000001Z stderr F " + GLIBC_LINE,
        "[1,0]<stderr>:" + GLIBC_LINE,
        "[pod/train-launcher-x7k2p/mpi] " + GLIBC_LINE,
        json.dumps({"log": GLIBC_LINE + "\n", "stream": "stderr", "time": "2026-11-30T20:15:04.12Z"}),
        "Nov 30 20:15:04 node-7 train[812]: " + GLIBC_LINE,
        GLIBC_LINE.replace("2.34", "2.38").replace("/lib/x86_64-linux-gnu", "/usr/lib64"),
        GLIBC_LINE.replace("openmpi/lib/libopen-rte.so.40", "efa/lib/libfabric.so.1").replace("mpirun: ", "python3: "),
        "ImportError: " + GLIBC_LINE.removeprefix("mpirun: "),
        GLIBC_LINE + "\n" + GLIBC_LINE.replace("2.34", "2.32") + "\n" + GLIBC_LINE.replace("rte", "pal"),
    ],
)
def test_glibc_under_the_efa_mount_is_first_in_every_form(engine: Engine, text: str) -> None:
    report = engine.scan_text(text)
    assert first(report) == AUTO_MOUNT
    assert "loader/glibc-too-old" not in found(report)
    assert report.findings[0].captures["needed"] in ("2.34", "2.38", "2.32")


def test_glibc_finding_offers_all_fixes_and_the_three_ways_to_opt_out(engine: Engine) -> None:
    answer = finding(engine.scan_text(GLIBC_LINE), AUTO_MOUNT)
    told = "\n".join([*(fix.title + fix.do + " ".join(fix.run) for fix in answer.fixes)])
    variants = {name: text for fix in answer.fixes for name, text in fix.variants.items()}
    assert "Ubuntu 22.04" in told
    assert "/opt/amazon-efa-ofi/openmpi/bin/mpirun -x LD_LIBRARY_PATH -x OPAL_PREFIX -x FI_EFA_USE_DEVICE_RDMA" in told
    assert "efa_installer.sh -y --skip-kmod -g" in told
    assert '--annotation "disable-auto-efa=true"' in variants["runai-cli"]
    assert "Annotation" in variants["runai-ui"]
    assert 'disable-auto-efa: "true"' in variants["yaml"]
    assert all(fix.verify is not None for fix in answer.fixes)


@pytest.mark.parametrize(
    "text",
    [
        "/usr/local/mpi/bin/" + GLIBC_LINE,
        "/opt/hpcx/ompi/bin/" + GLIBC_LINE.replace("`", "'"),
        "$ which mpirun\n/usr/bin/mpirun\n" + GLIBC_LINE,
        "GNU C Library (Ubuntu GLIBC 2.35-0ubuntu3.8) stable release version 2.35.\n" + GLIBC_LINE,
        "ldd (Debian GLIBC 2.36-9+deb12u14) 2.36\n" + GLIBC_LINE,
    ],
)
def test_wrong_mpirun_is_first_where_the_log_shows_it(engine: Engine, text: str) -> None:
    report = engine.scan_text(text)
    assert first(report) == WRONG_MPIRUN
    assert AUTO_MOUNT in found(report)


@pytest.mark.parametrize(
    "text",
    [
        "/opt/amazon-efa-ofi/openmpi/bin/" + GLIBC_LINE,
        "ldd (Ubuntu GLIBC 2.31-0ubuntu9.16) 2.31\n" + GLIBC_LINE,
        "OSError: " + GLIBC_LINE.removeprefix("mpirun: "),
    ],
)
def test_old_image_is_first_where_the_log_shows_it(engine: Engine, text: str) -> None:
    report = engine.scan_text(text)
    assert first(report) == AUTO_MOUNT
    assert WRONG_MPIRUN not in found(report)


@pytest.mark.parametrize(
    "text",
    [
        "ImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.32' not found (required by /opt/ops/fused.so)",
        "nvcc: /lib64/libc.so.6: version 'GLIBC_2.34' not found\n(required by nvcc)",
        "[rank3]: OSError: /lib64/libm.so.6: version ‘GLIBC_2.29’ not found (required by /opt/x/libfoo.so.1)",
    ],
)
def test_glibc_of_any_other_library_says_nothing_of_efa(engine: Engine, text: str) -> None:
    report = engine.scan_text(text)
    assert first(report) == "loader/glibc-too-old"
    assert not any(rule.startswith("efa/") for rule in found(report))
    answer = report.findings[0]
    told = answer.title + answer.explanation + "".join(fix.title + fix.do + "".join(fix.run) for fix in answer.fixes)
    assert "EFA" not in told


def test_glibc_of_the_plugin_lets_the_job_run_over_sockets(engine: Engine) -> None:
    report = engine.scan_text(
        "node-1:81:99 [0] NCCL INFO NET/Plugin: libnccl-net.so: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' "
        "not found (required by /opt/amazon-efa-ofi/ofi-nccl/lib/libnccl-net.so)\n"
        "node-1:81:99 [0] NCCL INFO Using network Socket\n"
        "node-1:81:99 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0\n"
    )
    assert first(report) == AUTO_MOUNT
    assert AUTO_MOUNT in finding(report, "efa/not-used").explained_by


# --- os.fork() --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        "OSError: Cannot allocate memory",
        "OSError: [Errno 12] Cannot allocate memory",
        "OSError: [Errno 12] Cannot allocate memory: '/bin/sh'",
        "OSError: [Errno 12] 无法分配内存",
        "OSError: [Errno 12] Nicht genügend Hauptspeicher verfügbar",
        "OSError: メモリを確保できません",
        "OSError: Ne peut allouer de la mémoire",
    ],
)
def test_fork_without_memory_is_the_huge_pages_where_efa_is_about(engine: Engine, error: str) -> None:
    report = engine.scan_text(PLUGIN + FORK_TRACE + error + "\n")
    assert first(report) == HUGE_PAGES
    answer = report.findings[0]
    assert answer.confidence.word == "high"
    assert "FI_EFA_USE_HUGE_PAGE=0" in answer.fixes[0].run[0]
    assert "performance" in answer.fixes[0].do


@pytest.mark.parametrize(
    "evidence",
    [
        "LD_LIBRARY_PATH=/opt/amazon-efa-ofi/openmpi/lib:/usr/lib\n",
        "vpc.amazonaws.com/efa: 32\n",
        "FI_EFA_USE_DEVICE_RDMA=1\n",
        f"node-1:81:99 [2] {EFA_CHANNEL}\n",
        "node.kubernetes.io/instance-type=p5.48xlarge\n",
    ],
)
def test_any_evidence_of_efa_is_enough(engine: Engine, evidence: str) -> None:
    report = engine.scan_text(evidence + FORK_TRACE + "OSError: Cannot allocate memory\n")
    assert first(report) == HUGE_PAGES


def test_fork_without_memory_and_without_efa_is_the_hosts_memory_and_names_the_huge_pages_too(engine: Engine) -> None:
    report = engine.scan_text(FORK_TRACE + "OSError: [Errno 12] Cannot allocate memory\n")
    assert first(report) == "host/fork-out-of-memory"
    answer, hint = report.findings
    assert "overcommit" in answer.explanation
    assert hint.rule == "efa/fork-out-of-memory"
    assert hint.confidence.word == "low"
    assert "FI_EFA_USE_HUGE_PAGE=0" in hint.fixes[0].run[0]


def test_fork_error_of_one_rank_explains_what_the_others_say(engine: Engine) -> None:
    trace = "".join(f"[rank3]: {line}\n" for line in FORK_TRACE.splitlines())
    report = engine.scan_text(
        PLUGIN
        + trace
        + "[rank3]: OSError: [Errno 12] Cannot allocate memory\n"
        + "node-2:81:99 [0] NCCL WARN socketProgress: Connection closed by remote peer node-1<41234>\n"
        + "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
    )
    assert first(report) == HUGE_PAGES
    assert report.findings[0].ranks == (3,)


@pytest.mark.parametrize(
    "text",
    [
        PLUGIN + "    self.pid = os.fork()\nBlockingIOError: [Errno 11] Resource temporarily unavailable\n",
        PLUGIN + "RuntimeError: unable to mmap 1024 bytes from file </torch_1>: Cannot allocate memory (12)\n",
        PLUGIN + "ImportError: libgomp.so.1: cannot allocate memory in static TLS block\n",
    ],
)
def test_look_alikes_of_the_fork_error_are_something_else(engine: Engine, text: str) -> None:
    assert not {HUGE_PAGES, "efa/fork-out-of-memory"} & found(engine.scan_text(text))


# --- is EFA in use? ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "network"),
    [
        (EFA_CHANNEL, "AWS Libfabric"),
        (EFA_CHANNEL.replace("AWS Libfabric", "Libfabric"), "Libfabric"),
        (EFA_CHANNEL.replace("AWS Libfabric", "OFI"), "OFI"),
        ("NCCL INFO Channel 00 : 8[101c0] -> 0[101c0] [receive] via NET/AWS Libfabric/0/GDRDMA", "AWS Libfabric"),
        ("NCCL INFO Channel 02/0 : 9[1] -> 0[0] [receive] via NET/Libfabric/4(1)/GDRDMA(PCI)/Shared", "Libfabric"),
    ],
)
@pytest.mark.parametrize(
    "prefix", ["", "node-1:81:99 [2] ", "[1,2]<stdout>:node-1:81:99 [2] ", "[2026-11-30 20:15:04] node-1:81:99 [2] "]
)
def test_efa_in_use_is_confirmed_with_its_network(engine: Engine, line: str, network: str, prefix: str) -> None:
    report = engine.scan_text(f"{prefix}{line}\n" * 3)
    assert "efa/in-use" in confirmed(report)
    answer = finding(report, "efa/in-use")
    assert answer.count == 3
    assert network == answer.captures["network"]
    assert f"3 channels over {network}" in answer.title
    assert not report.findings


def test_efa_through_host_memory_is_confirmed_as_such(engine: Engine) -> None:
    report = engine.scan_text(f"node-1:81:99 [2] {EFA_CHANNEL.removesuffix('/GDRDMA')}\n" * 2)
    assert {"efa/in-use-without-gdrdma"} == confirmed(report)
    assert report.confirmations[0].count == 2


def test_libfabric_over_tcp_is_not_efa(engine: Engine) -> None:
    report = engine.scan_text(
        "node-1:81:99 [0] NCCL INFO NET/OFI Selected Provider is tcp (found 1 nics)\n"
        f"node-1:81:99 [2] {EFA_CHANNEL.removesuffix('/GDRDMA')}\n"
    )
    assert first(report) == "efa/plugin-on-other-provider"
    assert not confirmed(report)


@pytest.mark.parametrize("about", ["FI_PROVIDER=efa\n", "", "vpc.amazonaws.com/efa: 32\n"])
@pytest.mark.parametrize(
    "plugin",
    [
        "NET/Plugin: Could not find: libnccl-net.so. Using internal net plugin.",
        "NET/Plugin : No plugin found, using internal implementation",
        "NET/Plugin: No plugin found (libnccl-net.so)",
    ],
)
def test_channels_without_libfabric_are_a_fault(engine: Engine, about: str, plugin: str) -> None:
    report = engine.scan_text(
        about
        + f"node-1:81:99 [0] NCCL INFO {plugin}\n"
        + "node-1:81:99 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.1.5<0>\n"
        + "node-1:81:99 [0] NCCL INFO Using network Socket\n"
        + "node-1:81:99 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0\n"
    )
    if about:
        assert first(report) == "efa/plugin-not-loaded"
        assert report.findings[0].severity.word == "medium"
        assert "efa/not-used" in found(report)
        assert finding(report, "efa/not-used").confidence.word == "high"
    else:
        assert first(report) == "efa/not-seen-in-use"
        assert report.findings[0].severity.word == "low"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "step 100 loss 2.31\nsaved checkpoint\n",
        "FI_PROVIDER=efa\nvpc.amazonaws.com/efa: 32\n",
        # one node needs no network
        "FI_PROVIDER=efa\nnode-1:81:99 [0] NCCL INFO Using network Socket\n"
        "node-1:81:99 [0] NCCL INFO comm 0x5 rank 0 nRanks 8 nNodes 1 localRanks 8 localRank 0 MNNVL 0\n"
        "node-1:81:99 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n",
        "node-1:81:99 [0] NCCL INFO Using network Socket\n"
        "node-1:81:99 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct\n",
        # a cluster with InfiniBand
        "node-1:81:99 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.3.77<0>\n"
        "node-1:81:99 [0] NCCL INFO Using network IB\n"
        "node-1:81:99 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA\n",
    ],
)
def test_nothing_is_said_of_efa_where_nothing_can_be_meant(engine: Engine, text: str) -> None:
    report = engine.scan_text(text)
    assert not {"efa/not-used", "efa/not-seen-in-use"} & (found(report) | undecided(report))


@pytest.mark.parametrize(
    "text",
    [
        "node-1:81:81 [0] NCCL version 2.21.5+cuda12.4\nstep 100 loss 2.31\n",
        "FI_PROVIDER=efa\n"
        "[rank0]:[W1130 20:15:04.120001 811 ProcessGroupNCCL.cpp:991] destroy_process_group() was not called\n",
        "torch.distributed.DistBackendError: NCCL error in: ../NCCLUtils.hpp:317, ncclSystemError\n",
        'image: my/train\nmountPath: /opt/amazon-efa-ofi\ndist.init_process_group(backend="nccl")\n',
    ],
)
def test_without_debug_output_it_cannot_be_told(engine: Engine, text: str) -> None:
    report = engine.scan_text(text)
    assert "efa/not-seen-in-use" in undecided(report)
    advice = next(each.next for each in report.undecided if each.rule == "efa/not-seen-in-use")
    assert "NCCL_DEBUG=INFO" in advice
    assert not {"efa/not-used", "efa/not-seen-in-use"} & found(report)


@pytest.mark.parametrize(
    "text",
    [
        "NCCL_INFO=DEBUG\n",
        "export NCCL_INFO=DEBUG\n",
        'declare -x NCCL_INFO="DEBUG"\n',
        "      NCCL_INFO:  DEBUG\n",
        'env:\n- name: NCCL_INFO\n  value: "DEBUG"\n',
        '{"name": "NCCL_INFO", "value": "DEBUG"}\n',
        "mpirun -np 16 -x NCCL_INFO=DEBUG python train.py\n",
        "runai submit-dist pytorch --name t -e NCCL_INFO=DEBUG\n",
        "ENV NCCL_INFO DEBUG\n",
        "This can be done by setting NCCL_INFO=DEBUG for workloads that use NCCL.\n",
    ],
)
def test_the_slip_nccl_info_is_told_with_the_right_name(engine: Engine, text: str) -> None:
    report = engine.scan_text(text)
    assert first(report) == "nccl/info-debug-slip"
    assert "NCCL_DEBUG=INFO" in report.findings[0].fixes[0].run[0]


# --- the C library's version ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("GNU C Library (GNU libc) stable release version 2.34.\n", "2.34"),
        ("GNU C Library (Ubuntu GLIBC 2.35-0ubuntu3.8) stable release version 2.35.\n", "2.35"),
        ("ldd (Debian GLIBC 2.36-9+deb12u14) 2.36\n", "2.36"),
        ("ldd (GNU libc) 2.34\n", "2.34"),
        (
            "[root@54fbddf47d15 /]# /usr/lib64/libc.so.6\nGNU C Library (GNU libc) stable release version 2.100.\n",
            "2.100",
        ),
    ],
)
def test_a_new_c_library_is_good_news(engine: Engine, text: str, version: str) -> None:
    report = engine.scan_text(text)
    assert {"loader/glibc-new-enough"} == confirmed(report)
    assert version == report.confirmations[0].captures["libc"]
    assert not report.findings


@pytest.mark.parametrize(
    "text",
    [
        "GNU C Library (Ubuntu GLIBC 2.31-0ubuntu9.16) stable release version 2.31.\n",
        "ldd (Ubuntu GLIBC 2.27-3ubuntu1.6) 2.27\n",
        "ldd (GNU libc) 2.28\n",
        "GNU C Library (GNU libc) stable release version 2.9.\n",
    ],
)
def test_an_old_c_library_is_a_fault_by_version_and_not_by_text(engine: Engine, text: str) -> None:
    report = engine.scan_text(text)
    assert first(report) == "loader/glibc-below-efa-mount"
    assert not confirmed(report)
    assert first(engine.scan_text(text + "OPAL_PREFIX=/opt/amazon-efa-ofi/openmpi\n")) == "efa/image-glibc-too-old"


# --- the automatic mount ----------------------------------------------------------------------------------------------

DESCRIBED = """\
Name:             train-worker-0
Containers:
  pytorch:
    Limits:
      hugepages-2Mi:          5Gi
      nvidia.com/gpu:         8
      vpc.amazonaws.com/efa:  32
    Environment:
      LD_LIBRARY_PATH:         /opt/amazon-efa-ofi/openmpi/lib:/opt/amazon-efa-ofi/efa/lib:/usr/local/cuda/lib64
      OPAL_PREFIX:             /opt/amazon-efa-ofi/openmpi
      NVIDIA_GDRCOPY:          enabled
      FI_EFA_USE_DEVICE_RDMA:  1
    Mounts:
      /opt/amazon-efa-ofi from amazon-efa-ofi (ro)
"""
POD = """\
apiVersion: v1
kind: Pod
metadata:
  name: train-worker-0
spec:
  containers:
  - name: pytorch
    env:
    - name: LD_LIBRARY_PATH
      value: /opt/amazon-efa-ofi/openmpi/lib:/usr/local/cuda/lib64
    - name: OPAL_PREFIX
      value: /opt/amazon-efa-ofi/openmpi
    - name: NVIDIA_GDRCOPY
      value: enabled
    - name: FI_EFA_USE_DEVICE_RDMA
      value: "1"
    resources:
      limits:
        hugepages-2Mi: 5Gi
        nvidia.com/gpu: "8"
        vpc.amazonaws.com/efa: "32"
    volumeMounts:
    - mountPath: /opt/amazon-efa-ofi
      name: amazon-efa-ofi
"""
ENVIRONMENT = """\
HOME=/root
KUBERNETES_SERVICE_HOST=10.100.0.1
LD_LIBRARY_PATH=/opt/amazon-efa-ofi/openmpi/lib:/usr/local/cuda/lib64
OPAL_PREFIX=/opt/amazon-efa-ofi/openmpi
NVIDIA_GDRCOPY=enabled
FI_EFA_USE_DEVICE_RDMA=1
"""


def without(text: str, word: str, lines: int = 1) -> str:
    """Return the text without the line that holds `word`, and without so many lines from there on."""
    kept = text.splitlines(keepends=True)
    at = next(index for index, line in enumerate(kept) if word in line)
    return "".join(kept[:at] + kept[at + lines :])


@pytest.mark.parametrize("text", [DESCRIBED, POD, ENVIRONMENT])
def test_the_whole_mount_is_confirmed_and_nothing_is_missing(engine: Engine, text: str) -> None:
    report = engine.scan_text(text)
    assert "runai/auto-mount-present" in confirmed(report)
    assert not found(report)
    shown = {each.signature for each in finding(report, "runai/auto-mount-present").evidence}
    assert {"library_path", "opal_prefix", "gdrcopy", "device_rdma"} <= shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (without(DESCRIBED, "vpc.amazonaws.com/efa"), "runai/auto-mount-without-devices"),
        (without(POD, "vpc.amazonaws.com/efa"), "runai/auto-mount-without-devices"),
        (without(DESCRIBED, "hugepages-2Mi"), "runai/auto-mount-without-huge-pages"),
        (without(POD, "hugepages-2Mi"), "runai/auto-mount-without-huge-pages"),
        (without(DESCRIBED, "OPAL_PREFIX"), "runai/auto-mount-variables-missing"),
        (without(POD, "NVIDIA_GDRCOPY", 2), "runai/auto-mount-variables-missing"),
        (without(ENVIRONMENT, "FI_EFA_USE_DEVICE_RDMA"), "runai/auto-mount-variables-missing"),
        (
            DESCRIBED.replace("/opt/amazon-efa-ofi/openmpi/lib:/opt/amazon-efa-ofi/efa/lib:", ""),
            "runai/library-path-lost",
        ),
        (POD.replace("/opt/amazon-efa-ofi/openmpi/lib:", ""), "runai/library-path-lost"),
        (ENVIRONMENT.replace("/opt/amazon-efa-ofi/openmpi/lib:", ""), "runai/library-path-lost"),
    ],
)
def test_what_is_missing_of_the_mount_is_told(engine: Engine, text: str, expected: str) -> None:
    assert expected == first(engine.scan_text(text))


TEMPLATE = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  name: bench
spec:
  mpiReplicaSpecs:
    Worker:
      template:
        metadata:
          annotations:
            disable-auto-efa: VALUE
        spec:
          containers: []
"""
ON_JOB = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  name: bench
  annotations:
    disable-auto-efa: "true"
spec:
  mpiReplicaSpecs:
    Worker:
      template:
        spec:
          containers: []
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEMPLATE.replace("VALUE", '"true"'), None),
        (TEMPLATE.replace("VALUE", "'true'"), None),
        (TEMPLATE.replace("VALUE", "true"), "runai/opt-out-not-quoted"),
        (TEMPLATE.replace("VALUE", "yes"), "runai/opt-out-not-quoted"),
        ('{"metadata": {"annotations": {"disable-auto-efa": true}}}\n', "runai/opt-out-not-quoted"),
        (TEMPLATE.replace("VALUE", '"True"'), "runai/opt-out-wrong-value"),
        (TEMPLATE.replace("VALUE", '"yes"'), "runai/opt-out-wrong-value"),
        (TEMPLATE.replace("VALUE", '"1"'), "runai/opt-out-wrong-value"),
        (TEMPLATE.replace("VALUE", '"false"'), "runai/opt-out-false"),
        ('runai submit-dist mpi --name t --annotation "disable-auto-efa=yes"\n', "runai/opt-out-wrong-value"),
        ('runai submit-dist mpi --name t --annotation "disable-auto-efa=true"\n', None),
        (ON_JOB, "runai/opt-out-on-wrong-object"),
        ("Annotations:      disable-auto-efa: true\nStatus:           Running\n", None),
        (
            "Error from server (BadRequest): json: cannot unmarshal bool into Go struct field "
            "ObjectMeta.metadata.annotations of type string\n",
            "runai/annotation-not-string",
        ),
    ],
)
def test_the_opt_out_is_read_exactly(engine: Engine, text: str, expected: str | None) -> None:
    report = engine.scan_text(text)
    assert expected == first(report)
    if expected is None:
        assert "runai/opted-out" in confirmed(report)


# --- MPIJob -----------------------------------------------------------------------------------------------------------

MPIJOB = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  name: bench
spec:
  mpiReplicaSpecs:
    Launcher:
      template:
        spec:
          containers:
          - name: launcher
            command: ["MPIRUN", FORWARDED"-np", "16", "all_reduce_perf"]
"""
FORWARDED = '"-x", "LD_LIBRARY_PATH", "-x", "OPAL_PREFIX", "-x", "FI_EFA_USE_DEVICE_RDMA", '


@pytest.mark.parametrize(
    ("mpirun", "forwarded", "expected"),
    [
        ("mpirun", FORWARDED, WRONG_MPIRUN),
        ("/usr/local/bin/mpirun", FORWARDED, WRONG_MPIRUN),
        ("/opt/amazon-efa-ofi/openmpi/bin/mpirun", "", "mpi/variables-not-forwarded"),
        ("/opt/amazon-efa-ofi/openmpi/bin/mpirun", FORWARDED, None),
    ],
)
def test_an_mpijob_has_to_call_the_mounted_mpirun(
    engine: Engine, mpirun: str, forwarded: str, expected: str | None
) -> None:
    manifest = MPIJOB.replace("MPIRUN", mpirun).replace("FORWARDED", forwarded)
    texts: Mapping[str, str] = {"job.yaml": manifest, "env.txt": ENVIRONMENT}
    assert expected == first(engine.scan_texts(texts))


def test_an_mpijob_outside_the_mount_may_call_what_it_likes(engine: Engine) -> None:
    manifest = MPIJOB.replace("MPIRUN", "mpirun").replace("FORWARDED", "")
    assert first(engine.scan_text(manifest)) is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("-x LD_LIBRARY_PATH -x OPAL_PREFIX -x FI_EFA_USE_DEVICE_RDMA", set()),
        ("-x LD_LIBRARY_PATH=/opt/amazon-efa-ofi/openmpi/lib -x OPAL_PREFIX", set()),
        ("-x LD_LIBRARY_PATH", {"mpi/variables-not-forwarded"}),
        ("--allow-run-as-root", {"mpi/variables-not-forwarded"}),
    ],
)
def test_variables_of_the_mount_have_to_be_forwarded(engine: Engine, arguments: str, expected: set[str]) -> None:
    report = engine.scan_text(
        ENVIRONMENT + f"+ /opt/amazon-efa-ofi/openmpi/bin/mpirun {arguments} -np 16 ./all_reduce_perf\n"
    )
    assert expected == found(report)


# --- SageMaker --------------------------------------------------------------------------------------------------------

SEED_FI_INFO = """\
provider: efa
    fabric: EFA-fe80::e5:56ff:fe34:56a8
    domain: efa_0-rdm
    version: 2.0
    type: FI_EP_RDM
    protocol: FI_PROTO_EFA
provider: efa
    fabric: EFA-fe80::e5:56ff:fe34:56a8
    domain: efa_0-dgrm
    version: 2.0
    type: FI_EP_DGRAM
    protocol: FI_PROTO_EFA
provider: efa;ofi_rxd
    fabric: EFA-fe80::e5:56ff:fe34:56a8
    domain: efa_0-dgrm
    version: 1.0
    type: FI_EP_RDM
    protocol: FI_PROTO_RXD
"""


@pytest.mark.parametrize(
    "text",
    [
        SEED_FI_INFO,
        "".join(f"[1,mpirank:0,algo-1]<stdout>:{line}\n" for line in SEED_FI_INFO.splitlines()),
        SEED_FI_INFO.replace("EFA-fe80::e5:56ff:fe34:56a8", "efa-direct").replace("efa_0", "rdmap0s31"),
    ],
)
def test_fi_info_good(engine: Engine, text: str) -> None:
    report = engine.scan_text(text)
    assert "efa/device-recognised" in confirmed(report)
    assert not report.findings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fi_getinfo: -61 (No data available)\n", "efa/provider-missing"),
        ("[1,mpirank:0,algo-1]<stderr>:fi_getinfo: -61 (No data available)\n", "efa/provider-missing"),
        ("bash: /opt/amazon/efa/bin/fi_info: No such file or directory\n", "efa/software-not-installed"),
        ("sh: 1: fi_info: not found\n", "efa/software-not-installed"),
        ("bash: line 1: fi_info: command not found\n", "efa/software-not-installed"),
    ],
)
def test_fi_info_bad(engine: Engine, text: str, expected: str) -> None:
    assert expected == first(engine.scan_text(text))


ASKED = '$ python -c "import torch; print(torch.cuda.nccl.version())"'


def listing(count: int, per_line: int) -> str:
    names = sorted(f"uverbs{index}" for index in range(count))
    return "".join("  ".join(names[at : at + per_line]) + "\n" for at in range(0, count, per_line))


@pytest.mark.parametrize("per_line", [1, 4, 99])
@pytest.mark.parametrize(
    ("instance", "count", "is_complete"),
    [
        ("ml.p4d.24xlarge", 4, True),
        ("ml.p4d.24xlarge", 1, False),
        ("ml.p5.48xlarge", 32, True),
        ("ml.p5.48xlarge", 31, False),
        ("ml.p5.48xlarge", 4, False),
        ("ml.p5en.48xlarge", 16, True),
        ("p6-b200.48xlarge", 8, True),
        ("ml.g5.48xlarge", 1, True),
    ],
)
def test_devices_are_counted_against_the_instance_type(
    engine: Engine, instance: str, count: int, is_complete: bool, per_line: int
) -> None:
    config = f'{{"current_instance_type": "{instance}", "network_interface_name": "eth0"}}\n'
    report = engine.scan_text(config + "$ ls /dev/infiniband\n" + listing(count, per_line))
    assert is_complete == ("efa/devices-complete" in confirmed(report))
    assert (first(report) == "efa/devices-too-few") != is_complete


@pytest.mark.parametrize(
    ("text", "differs"),
    [
        (">>> torch.cuda.nccl.version()\n(2, 21, 5)\nENV NCCL_VERSION=2.7.8\n", True),
        (f"{ASKED}\n(2, 20, 5)\nnode-1:81:81 [0] NCCL version 2.21.5+cuda12.4\n", True),
        (">>> torch.cuda.nccl.version()\n(2, 21, 5)\nnode-1:81:81 [0] NCCL version 2.21.5+cuda12.4\n", False),
        (">>> torch.cuda.nccl.version()\n(2, 7, 8)\nARG NCCL_VERSION=2.7.8\n", False),
    ],
)
def test_nccl_of_the_container_has_to_be_that_of_torch(engine: Engine, text: str, differs: bool) -> None:
    assert differs == ("nccl/torch-version-mismatch" in found(engine.scan_text(text)))


def test_the_dangling_backslash_of_the_dockerfile_is_told(engine: Engine) -> None:
    report = engine.scan_text(
        "RUN cd $HOME \\\n  && cd aws-efa-installer \\\n  && ./efa_installer.sh -y --skip-kmod -g \\\n\n"
        'ENV PATH="$OPEN_MPI_PATH/bin:$PATH"\n'
    )
    assert first(report) == "sagemaker/dockerfile-line-swallowed"
