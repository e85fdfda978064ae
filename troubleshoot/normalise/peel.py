"""Takes wrappers off one line, outermost first, until none is left.

In: one line as given. Out: `Peeled`: the text that remains and what the wrappers told of time, rank, host, pod, stream
and level.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from troubleshoot import limits
from troubleshoot.model import Identity, Peeled, Stamp
from troubleshoot.normalise.timestamps import CTIME, ISO, SYSLOG, ZONE, Clock, parse_stamp

ROUNDS = 8

WRAPPERS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.DOTALL))
    for name, pattern in (
        ("cri", rf"(?P<ts>{ISO}{ZONE}) (?P<stream>stdout|stderr) [PF](?::\S+)*(?: (?P<msg>.*))?$"),
        (
            "kubectl-prefix",
            r"\[pod/(?P<pod>[a-z0-9][a-z0-9.-]*)/(?P<container>[a-z0-9][a-z0-9-]*)\] (?P<msg>.*)$",
        ),
        (
            "sagemaker-mpi",
            r"\[\d+,mpirank:(?P<rank>\d+),(?P<host>algo-\d+)\]<(?P<stream>stdout|stderr)>: ?(?P<msg>.*)$",
        ),
        (
            "open-mpi",
            rf"(?:\[?(?P<ts>{CTIME})\]?)?(?:\[[^,\]\[]+,(?P<rank>\d+|WILDCARD|INVALID)\]|\[(?P<rankonly>\d+)\])?"
            r"(?:\[(?P<host>[^:\]]+):(?:\d+|unknown)\])?<(?P<stream>stdout|stderr|stddiag)>: ?(?P<msg>.*)$",
        ),
        (
            "syslog",
            rf"(?P<ts>{SYSLOG}|{ISO}{ZONE}) (?P<host>[\w.-]+) (?P<tag>[^\s:\[]+)(?:\[\d+\])?: (?P<msg>.*)$",
        ),
        ("torchrun", r"\[(?!rank\d)[A-Za-z_][\w-]*?(?P<local_rank>\d+)\]:(?P<msg>.*)$"),
        ("torch-rank", r"\[rank(?P<rank>\d+)\]: ?(?P<msg>.*)$"),
        (
            "torch-log",
            r"\[?(?P<sev>[IWEFCDV])(?P<ts>\d{3,4} \d\d:\d\d:\d\d)\.\d{6,9} +(?:\d+ )?[^\s\]]+:\d+\] (?P<msg>.*)$",
        ),
        (
            "nccl",
            rf"(?:\[(?P<ts>{ISO})\] )?(?P<host>[\w.-]+):\d+:\d+ \[\d+\] (?:\S+:\d+(?: \(\w+\))? )?"
            r"(?P<msg>NCCL (?P<sev>INFO|WARN|TRACE|ERROR) .*)$",
        ),
        ("timestamp", rf"\[?(?P<ts>{ISO}(?: ?{ZONE})?)\]?[ \t](?P<msg>.*)$"),
    )
)

LEVELS = {
    "I": "info", "W": "warning", "E": "error", "F": "fatal", "C": "fatal", "D": "debug", "V": "debug",
    "INFO": "info", "WARN": "warning", "TRACE": "debug", "ERROR": "error",
}  # fmt: skip


class LineNormaliser:
    """Peels the lines of one source."""

    def __init__(self, identity: Identity = Identity(), clock: Clock | None = None) -> None:  # noqa: B008 - frozen value
        self._identity = identity
        self._clock = clock or Clock(datetime.now(UTC))

    def peel(self, raw: str, line: int) -> Peeled:
        """Return what is left of `raw` and what its wrappers told."""
        text = raw.removesuffix("\r")
        if len(text) > limits.LINE_BYTES:
            return Peeled(text, identity=self._identity)
        identity, level = Identity(), None
        stamp: Stamp | None = None
        for _ in range(ROUNDS):
            facts = _first_wrapper(text)
            if facts is None:
                break
            text = facts["msg"] or ""
            identity = _identity_from(facts).over(identity)
            level = LEVELS.get(facts.get("sev") or "", level)
            if stamp is None and facts.get("ts"):
                stamp = parse_stamp(facts["ts"] or "", self._clock)
        return Peeled(text, stamp, identity.over(self._identity), level)


def _first_wrapper(text: str) -> Mapping[str, str | None] | None:
    for _name, pattern in WRAPPERS:
        m = pattern.match(text)
        if m is not None and len(m["msg"] or "") < len(text):
            return m.groupdict()
    return None


def _identity_from(facts: Mapping[str, str | None]) -> Identity:
    rank = facts.get("rank") or facts.get("rankonly")
    local_rank = facts.get("local_rank")
    stream = facts.get("stream")
    return Identity(
        host=facts.get("host"),
        pod=facts.get("pod"),
        container=facts.get("container"),
        rank=int(rank) if rank and rank.isdigit() else None,
        local_rank=int(local_rank) if local_rank else None,
        stream=stream if stream in ("stdout", "stderr") else None,
    )
