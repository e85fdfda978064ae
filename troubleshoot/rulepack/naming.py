"""A log line -> an id that a rule on it could have: `nccl/proxy-call-peer`. A start, for its author to better."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

DOMAINS = {  # words of a line that say whose it is, where they are no domain's name themselves
    "cublas": "cuda", "cudnn": "cuda", "cudaerror": "cuda", "libfabric": "efa", "ofi": "efa", "nvrm": "gpu",
    "xid": "gpu", "nvlink": "gpu", "nvidia": "gpu", "slurmstepd": "slurm", "srun": "slurm", "sbatch": "slurm",
    "mpirun": "mpi", "prte": "mpi", "orte": "mpi", "pmix": "mpi", "kubelet": "kubernetes", "pod": "kubernetes",
    "torchrun": "torch", "elastic": "torch", "pytorch": "torch", "processgroupnccl": "nccl", "deepspeed": "framework",
    "megatron": "framework", "checkpoint": "storage", "disk": "storage", "nfs": "storage", "lustre": "storage",
    "connection": "network", "socket": "network", "infiniband": "network", "ibv": "network", "modulenotfound": "python",
}  # fmt: skip
DULL = frozenset(
    """
    a an and are as at be been but by can cannot could did do does due err error errors exception failed failure fatal
    for from had has have if in info into is it its no not occurred of on or out please see that the this to unable
    unexpected use warn warning was were while will with you your
    """.split()  # noqa: SIM905  # a list of words reads best as words
)
PARTS = 4  # words that name the fault


def suggest_id(text: str, domains: Collection[str], is_free: Callable[[str], bool]) -> str:
    """Return an id for a rule on a line (or its text signature), in one of these domains where the line names one."""
    plain = re.sub(r"\{[^}]*\}|\[redacted:[^\]]*\]|\S*/\S*", " ", text)
    words = [word.lower() for word in re.findall(r"[A-Za-z]+[A-Za-z0-9]*", plain)]
    domain = next((DOMAINS.get(word, word) for word in words if word in domains or word in DOMAINS), "site")
    telling = [word for word in dict.fromkeys(words) if word not in DULL and word != domain and len(word) > 2]
    telling = [word for word in telling if not re.fullmatch(r"\w+(?:error|exception)", word)] or telling
    slug = "-".join(telling[:PARTS]) or "-".join(words[:PARTS]) or "unknown"
    name = f"{domain}/{slug[:48].strip('-')}"
    return name if is_free(name) else next(f"{name}-{n}" for n in range(2, 10_000) if is_free(f"{name}-{n}"))
