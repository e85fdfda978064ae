# ruff: noqa: E501 - samples stand on one line, as programs print them
from __future__ import annotations

import pytest

from troubleshoot.normalise.documents import find_documents

DOCUMENTS = {
    "env": "NCCL_DEBUG=INFO\nPATH=/usr/bin:/bin\nLD_LIBRARY_PATH=/opt/amazon-efa-ofi/openmpi/lib\nRANK=3\nEMPTY=\n",
    "manifest": """apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: bert
  annotations:
    disable-auto-efa: "true"
spec:
  pytorchReplicaSpecs: {}
status:
  message: 'Traceback: x'
---
kind: Pod
""",
    "describe": """Name:             bert-worker-3
Namespace:        team-a
Priority:         0
Node:             node-17/10.0.3.77
Containers:
  pytorch:
    Last State:   Terminated
      Reason:     OOMKilled
      Exit Code:  137
Events:
  Type     Reason   Age   From     Message
  ----     ------   ----  ----     -------
  Warning  BackOff  5m    kubelet  Back-off restarting failed container
""",
    "events": """LAST SEEN   TYPE      REASON             OBJECT                  MESSAGE
3m28s       Warning   BackOff            pod/bert-worker-3       Back-off restarting failed container
92s         Normal    Killing            pod/bert-worker-3       Stopping container pytorch
""",
    "fi_info": """provider: efa
    fabric: efa
    domain: rdmap0s6-rdm
    version: 121.0
    type: FI_EP_RDM
    protocol: FI_PROTO_EFA
provider: efa
    fabric: efa-direct
""",
    "nvidia_smi": """+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
|   0  NVIDIA H100 80GB HBM3          On  | 00000000:4E:00.0 Off   |                    0 |
+-----------------------------------------------------------------------------------------+
""",
    "ls": """total 0
drwxr-xr-x 2 root root      120 Nov 30 20:15 by-ibdev
crw-rw-rw- 1 root root 231, 192 Nov 30 20:15 uverbs0
crw------- 1 root root 231,  64 Nov 30 20:15 issm0
""",
    "pip_list": "Package            Version\n------------------ ------------\ntorch              2.4.0+cu124\nnvidia-nccl-cu12   2.20.5\n",
    "dockerfile": """ARG OPEN_MPI_PATH=/opt/amazon/openmpi/
ENV NCCL_VERSION=2.7.8
RUN cd $HOME \\
  && curl -O https://example.com/a.tar.gz \\
  && tar -xf a.tar.gz
ENV PATH="$OPEN_MPI_PATH/bin:$PATH"
""",
    "resourceconfig": """{
  "current_host": "algo-1",
  "hosts": ["algo-1", "algo-2"],
  "network_interface_name": "eth0"
}
""",
    "ldd": """\tlinux-vdso.so.1 (0x00007ffd2a5f2000)
\tlibfabric.so.1 => not found
\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f1b2c000000)
""",
    "limits": """core file size              (blocks, -c) 0
max locked memory           (kbytes, -l) 64
open files                          (-n) 1024
""",
    "meminfo": "MemTotal:       2113421312 kB\nMemFree:        1513421312 kB\nHugePages_Total:       0\nHugepagesize:       2048 kB\n",
}  # fmt: skip
OTHERS = {
    "nvidia-smi -q": ("nvidia_smi", "==============NVSMI LOG==============\n\nTimestamp : Mon Nov 30 20:15:04 2026\nDriver Version : 550.54\n\nAttached GPUs : 8\nGPU 00000000:4E:00.0\n    Product Name : NVIDIA H100\n        ECC Errors\n"),
    "nvidia-smi -L": ("nvidia_smi", "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1234)\nGPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-1235)\n"),
    "pip freeze": ("pip_list", "torch==2.4.0\nnumpy==1.26.4\nflash-attn==2.6.3\n"),
    "free": ("meminfo", "               total        used        free\nMem:            2015         120        1800\nSwap:              0           0           0\n"),
    "proc limits": ("limits", "Limit                     Soft Limit           Hard Limit           Units\nMax locked memory         65536                65536                bytes\n"),
    "json manifest": ("manifest", '{\n    "apiVersion": "v1",\n    "kind": "Pod",\n    "metadata": {"name": "a{b"}\n}\n'),
    "manifest, kind first": ("manifest", "kind: Pod\napiVersion: v1\nmetadata:\n  name: x\n"),
    "describe events alone": ("events", "  Type     Reason            Age                 From               Message\n  ----     ------            ----                ----               -------\n  Warning  FailedScheduling  5m12s (x4 over 21m)  default-scheduler  0/12 nodes are available\n"),
    "fi_info fails": ("fi_info", "fi_getinfo: -61 (No data available)\n"),
}  # fmt: skip
ALL = {**{name: (name, text) for name, text in DOCUMENTS.items()}, **OTHERS}


def kinds_of(text: str) -> list[str]:
    rows = text.split("\n")
    found = find_documents(rows, range(1, len(rows) + 1))
    return [found.at(line) for line in range(1, len(rows) + 1)]


@pytest.mark.parametrize("name", sorted(ALL))
def test_whole_text_is_one_document(name: str) -> None:
    kind, text = ALL[name]
    assert set(kinds_of(text.rstrip("\n"))) == {kind}


@pytest.mark.parametrize("name", sorted(ALL))
def test_document_in_a_paste_ends_where_the_log_goes_on(name: str) -> None:
    kind, text = ALL[name]
    before, after = "see below\n\n", "\nRuntimeError: NCCL error\nmore of the log"
    count = text.count("\n")
    assert kinds_of(before + text + after) == ["log"] * 2 + [kind] * count + ["log"] * 3


def test_several_documents_in_one_paste() -> None:
    text = "\n".join(["my job fails", DOCUMENTS["env"], DOCUMENTS["fi_info"], DOCUMENTS["pip_list"], "thanks"])
    rows = text.split("\n")
    assert find_documents(rows, range(1, len(rows) + 1)).kinds == ("env", "fi_info", "pip_list")


LOGS = {
    "one variable": "NCCL_DEBUG=INFO\nstarting\nOMP_NUM_THREADS=1\nRuntimeError: x",
    "traceback": 'Traceback (most recent call last):\n  File "x.py", line 3, in <module>\n    import torch\nValueError: a=b',
    "table": "+----+----+\n| a  | b  |\n+----+----+",
    "nccl": "node-1:8:9 [0] NCCL INFO NET/OFI Selected provider is efa\nnode-1:8:9 [0] NCCL INFO Using network AWS Libfabric",
    "key values": "loss=0.3 step=4\nloss=0.2 step=5\nloss=0.1 step=6\nloss=0.1 step=7",
    "loader": "./a: error while loading shared libraries: libmpi.so.40: cannot open shared object file: No such file",
    "prose": "FROM what I see the RUN is fine\nName: nothing\nkind of strange",
    "pip output": "Collecting torch==2.4.0\nInstalling collected packages: torch",
    "json log": '{"level":"error","msg":"kind of bad"}\n{"level":"error","msg":"x"}',
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(LOGS))
def test_log_is_a_log(name: str) -> None:
    assert set(kinds_of(LOGS[name])) == {"log"}
