"""How a service is run: the options of `troubleshoot serve` and what it takes from the environment.

Options travel to worker processes as JSON; secrets never do: each process reads them from its environment or files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from troubleshoot import limits

DEFAULT_RATE_PER_MINUTE = 600  # of a service that others reach: ten a second from one address is no person
STORE_VARIABLE = "TROUBLESHOOT_STORE"
MULTIPROC_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"  # the name is that of prometheus-client
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]", "::1")


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """What a service does beside scanning. The defaults are those of a service that only its own machine reaches.

    `scan_processes`: 0 scans in threads of the service itself, for tests and tools that make an application only to
    call it. `keys_file`: API keys are asked for. `store`: URL of the database. `hosts`: names that a request may be
    addressed to; none are any. `rate_per_minute`: requests per key or address; 0 is no limit. `is_private`: only this
    machine reaches it, so where no keys are asked for, everybody is its admin.
    """

    scan_processes: int = 0
    scan_seconds: float = limits.REQUEST_S
    scan_memory_bytes: int = 1 << 30
    keys_file: str | None = None
    rate_per_minute: int = 0
    hosts: tuple[str, ...] = ()
    is_private: bool = True
    store: str | None = None
    keep_days: int = 7
    history_days: int = 90
    keep_logs: bool = False
    slack: bool = False
    mcp: bool = False
    workers: int = 1
    language: str = "en"  # where a request asks for none

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ServiceOptions:
        return cls(**{**data, "hosts": tuple(data.get("hosts", ()))})


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches an address."""
    import ipaddress

    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def default_scan_processes(workers: int) -> int:
    """Return how many scan processes one worker should have: all workers together use the cores, and one more."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return max(2, -(-cores // workers))
