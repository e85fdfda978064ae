"""Reads host, pod, container, rank and stream from a path.

In: a path with forward slashes, of a file or an archive member. Out: an `Identity`, empty where the path tells nothing.
Each layout is one pattern with named groups; the more particular ones come first and win, a global rank before a local
one. What the content says wins over all of this.
Source: knowledge/job-bundles.md, sections 2 and 3; knowledge/log-formats.md, sections 1, 12, 21, 26 to 28.
"""

from __future__ import annotations

import re

from troubleshoot import late
from troubleshoot.model import NOBODY, Identity

_NAME = r"[a-z0-9][a-z0-9.-]*"
_ROLE = r"master|worker|launcher|chief|ps|replica|leader"

_LAYOUTS: tuple[re.Pattern[str], ...] = tuple(
    late.compile(pattern)
    for pattern in (
        # kubelet: /var/log/pods/<namespace>_<pod>_<uid>/<container>/<restart>.log
        rf"(?:^|/)(?:var/log/)?pods/[a-z0-9-]+_(?P<pod>{_NAME})_[0-9a-f-]{{32,36}}/(?P<container>[a-z0-9-]+)/\d+\.log",
        rf"(?:^|/)(?P<pod>{_NAME})_[a-z0-9-]+_(?P<container>[a-z0-9-]+)-[0-9a-f]{{64}}\.log",
        # support bundle, must-gather, cluster-info dump
        rf"(?:^|/)pods/logs/[a-z0-9-]+/(?P<pod>{_NAME})/(?P<container>{_NAME}?)(?:-previous|-logs-errors)?\.log",
        rf"(?:^|/)namespaces/[a-z0-9-]+/pods/(?P<pod>{_NAME})/(?P<container>{_NAME})/",
        rf"(?:^|/)[a-z0-9-]+/(?P<pod>{_NAME})/logs\.txt$",
        # torchrun: <log_dir>/<run>_<random>/attempt_<n>/<local rank>/stderr.log
        r"(?:^|/)[^/]+_[a-z0-9_]{8}/attempt_\d+/(?P<local_rank>\d+)/(?P<stream>stdout|stderr)?",
        # SageMaker and HyperPod streams, as CloudWatch names them and as its export to S3 does
        r"(?:^|/)(?P<pod>[\w.-]+?)[/-](?P<host>algo-\d{1,5})-\d{10,13}(?=$|[/.])",
        r"(?:^|/)(?:LifecycleConfig|SagemakerHealthMonitoringAgent)[/-][\w.-]+?[/-](?P<host>i-[0-9a-f]{8,})(?=$|[/.])",
        # NCCL_DEBUG_FILE with %h and %p
        r"(?:^|/)nccl[\w-]*[._](?P<host>[A-Za-z0-9][\w-]*(?:\.[A-Za-z][\w-]*)*)\.\d+(?:\.(?:log|txt))?(?:\.gz)?$",
        # sosreport-<host>[-case]-<date>-<letters>, and the older sosreport-<host>-<seconds>
        r"(?:^|/)(?:secured-)?sosreport-(?P<host>[^/]+?)(?:-\d{6,})?-\d{4}-\d\d-\d\d-[a-z]{7}",
        r"(?:^|/)sosreport-(?P<host>[^/.]+)[^/]*-\d{14}",
        r"(?:^|/)nvidia-bug-report[_-](?P<host>[^/]+?)\.log",
        r"(?:^|/)cluster-scoped-resources/core/nodes/(?P<host>[^/]+)\.yaml$",
        # ranks: NeMo, DeepSpeed, Open MPI, flight recorder dumps
        r"(?:^|[/_.-])global_?rank[-_]?(?P<rank>\d+)(?:[-_.]?local_?rank[-_]?(?P<local_rank>\d+))?(?=$|[/._-])",
        r"(?:^|[/_.-])(?:comm_lib_trace|nccl_trace)_rank_(?P<rank>\d+)$",
        r"(?:^|[/_.-])local_?rank[-_.]?(?P<local_rank>\d+)(?=$|[/._-])",
        r"(?:^|[/_.-])(?<!local_)(?<!local-)(?<!local)rank[-_.]?(?P<rank>\d{1,6})(?=$|[/._-])",
        # Slurm: <name>-<job>[_<array>][-<task or node>].out
        r"(?:^|/)(?:slurm|job|log|logs|train|out|err)[-_.]\d+(?:[_.]\d+)?"
        r"(?:[-_.](?:(?:task|t|rank|r|proc)?(?P<rank>\d{1,5})|(?P<host>[a-z][\w-]*\d)))?\.(?:out|err|log|txt)$",
        # a file or folder called as Kubernetes names the pods of a job
        rf"(?:^|/)(?P<pod>[a-z0-9][a-z0-9-]*?-(?:(?:{_ROLE})-\d+|node-\d+-\d+)(?:-[a-z0-9]{{5}})?)(?=$|/|\.(?:log|txt|out|err))",
        r"(?:^|/)(?P<pod>[a-z0-9][a-z0-9-]*?-(?:launcher|master)(?:-[a-z0-9]{5})?)(?=$|/|\.(?:log|txt|out|err))",
        # a folder or file called as hosts are
        r"(?:^|/)(?P<host>ip-\d+-\d+-\d+-\d+|hyperpod-i-[0-9a-f]+|algo-\d+|(?:[a-z][a-z0-9]*-)*(?:gpu|node|host)-?\d+)"
        r"(?=$|/|\.(?:log|txt|out|err))",
        r"(?:^|[/_.-])(?P<stream>stdout|stderr)(?=$|[/._-])",
    )
)
PATH_CHARS = 512  # of a path are looked at, from its end
_STREAMS = {".err": "stderr", ".out": "stdout"}


def identity_from_path(path: str) -> Identity:
    """Return what the path tells of where its log comes from."""
    path = path[-PATH_CHARS:].replace("\\", "/")
    found = NOBODY
    for layout in _LAYOUTS:
        if m := _last(layout, path):
            facts = m.groupdict()
            rank, local_rank = facts.get("rank"), facts.get("local_rank")
            found = found.over(
                Identity(
                    host=facts.get("host"),
                    pod=facts.get("pod"),
                    container=facts.get("container"),
                    rank=int(rank) if rank else None,
                    local_rank=int(local_rank) if local_rank else None,
                    stream=facts.get("stream"),
                )
            )
    name = path.removesuffix(".gz")
    return found.over(Identity(stream=_STREAMS.get(name[-4:]) if found.stream is None and _has_pair(name) else None))


def _last(layout: re.Pattern[str], path: str) -> re.Match[str] | None:
    """Return the match nearest to the file: `runs/rank_3-alone/rank_0.log` is of rank 0."""
    found = None
    m = layout.search(path)
    while m is not None:
        found, m = m, layout.search(path, max(m.end(), m.start() + 1))
    return found


def _has_pair(name: str) -> bool:
    """Tell whether `.err` or `.out` names a stream: Slurm's default file holds both in one `.out`."""
    return name.endswith(".err") or bool(re.search(r"(?:^|/)worker-[0-9a-f]+-[^/]*\.out$", name))
