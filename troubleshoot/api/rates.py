"""Rate limits: a token bucket per key or address, in bounded memory.

    60 a minute   ->   a bucket of 60 that fills by one a second; an empty one says how long to wait

The buckets are those of one worker process: with several, each takes its share of the limit.
"""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

BUCKETS = 10_000  # the ones longest unused are forgotten, and they are full by then or an attacker has a /64 to himself


class Buckets:
    """Counts requests by who sends them."""

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = max(1.0, per_minute)
        self._per_second = per_minute / 60
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str) -> float:
        """Take one request from a bucket; return 0.0 if it was there, else the seconds until one will be."""
        now = self._clock()
        left, since = self._buckets.pop(who, (self._most, now))
        left = min(self._most, left + (now - since) * self._per_second)
        granted = left >= 1.0
        self._buckets[who] = (left - 1.0 if granted else left, now)
        if len(self._buckets) > BUCKETS:
            self._buckets.popitem(last=False)
        return 0.0 if granted else (1.0 - left) / self._per_second


def address_group(host: str) -> str:
    """Return what counts as one sender: an IPv4 address, or the /64 that one subscriber of IPv6 has."""
    if ":" not in host:
        return host
    try:
        address = ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address) >> 64 << 64, 64)))
