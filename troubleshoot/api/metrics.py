"""What the service counts, in the format of Prometheus. Labels are bounded: route templates, rule ids, status codes.

With several worker processes `PROMETHEUS_MULTIPROC_DIR` names a folder that they share, and any answers for all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from troubleshoot.api.options import MULTIPROC_VARIABLE

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20)
CONTENT_TYPE = CONTENT_TYPE_LATEST

Gauges = Callable[[], Iterator[GaugeMetricFamily]]


class Metrics:
    """The counters of one application."""

    def __init__(self, gauges: Gauges) -> None:
        self._registry = CollectorRegistry()
        self._gauges = gauges
        ours: dict[str, Any] = {"registry": self._registry}
        self.requests = Counter("troubleshoot_requests", "Requests answered", ("route", "code"), **ours)
        self.request_seconds = Histogram(
            "troubleshoot_request_seconds", "Time until a request is answered", ("route",), buckets=SECONDS, **ours
        )
        self.scan_seconds = Histogram(
            "troubleshoot_scan_seconds", "Time of the scans themselves", buckets=SECONDS, **ours
        )
        self.input_bytes = Counter("troubleshoot_input_bytes", "Bytes of logs scanned", **ours)
        self.verdicts = Counter("troubleshoot_verdicts", "Reports by verdict", ("verdict",), **ours)
        self.findings = Counter("troubleshoot_findings", "Findings by rule", ("rule",), **ours)
        self.failures = Counter("troubleshoot_scan_failures", "Scans that gave no report", ("reason",), **ours)
        self.refused = Counter("troubleshoot_refused", "Requests turned away", ("reason",), **ours)
        self.cache_hits = Counter("troubleshoot_scan_cache_hits", "Scans answered from the last minutes'", **ours)

    def scanned(self, summary: dict[str, Any]) -> None:
        """Count a report by its summary (see `worker.summary`)."""
        self.scan_seconds.observe(summary["seconds"])
        self.input_bytes.inc(summary["bytes"])
        self.verdicts.labels(summary["verdict"]).inc()
        for rule in summary["rules"]:
            self.findings.labels(rule).inc()

    def render(self) -> bytes:
        """Return the page that Prometheus reads."""
        if os.environ.get(MULTIPROC_VARIABLE):
            from prometheus_client.multiprocess import MultiProcessCollector

            everyone = CollectorRegistry()
            MultiProcessCollector(everyone)  # type: ignore[no-untyped-call]  # the library's own gap
            return generate_latest(everyone) + generate_latest(self._gauge_registry())
        return generate_latest(self._registry) + generate_latest(self._gauge_registry())

    def _gauge_registry(self) -> CollectorRegistry:
        registry = CollectorRegistry()
        registry.register(_Gauges(self._gauges))
        return registry


class _Gauges(Collector):
    def __init__(self, gauges: Gauges) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[GaugeMetricFamily]:
        return self._gauges()


def gauge(name: str, text: str, labels: Mapping[str, str], value: float = 1) -> GaugeMetricFamily:
    """Return one gauge with at most one set of labels."""
    family = GaugeMetricFamily(f"troubleshoot_{name}", text, labels=list(labels))
    family.add_metric(list(labels.values()), value)
    return family
