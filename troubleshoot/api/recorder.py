"""Counts each scan into the store: findings per rule and day, and what looked like an unknown fault.

Counts gather in memory and are written every second, so that a scan does not wait for a disk; what a caller was told is
kept (a permalink, feedback) is written before the answer. The store's retention runs here too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from troubleshoot.store.store import Store


log = logging.getLogger("troubleshoot.store")

FLUSH_S = 1.0
PURGE_S = 600.0
UNKNOWN_KEPT = 200  # reports whose suspects wait to be counted; more within a second are not looked at
UNKNOWN_SUSPECTS = 3  # of each: the first ones are the failure, later ones often its echoes


class Recorder:
    """Writes counts to a store in the background."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.is_failing = False
        self._rules: Counter[str] = Counter()
        self._verdicts: Counter[str] = Counter()
        self._unknown: list[bytes] = []
        self._task: asyncio.Task[None] | None = None
        self._purged = 0.0

    def record(self, summary: dict[str, Any], report: bytes) -> None:
        """Count a report. Returns at once."""
        self._rules.update(set(summary["rules"]))
        self._verdicts[summary["verdict"]] += 1
        if summary["verdict"] == "unknown-fault" and len(self._unknown) < UNKNOWN_KEPT:
            self._unknown.append(report)

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Write what is left and close the store."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await self._write()
        await asyncio.to_thread(self.store.close)

    async def _run(self) -> None:
        while True:
            await self._write()
            await asyncio.sleep(FLUSH_S)

    async def _write(self) -> None:
        rules, self._rules = self._rules, Counter()
        verdicts, self._verdicts = self._verdicts, Counter()
        unknown, self._unknown = self._unknown, []
        try:
            await asyncio.to_thread(self._flush, rules, verdicts, unknown)
            self.is_failing = False
        except Exception as error:  # whatever a database may say: the scans go on, and the counts wait
            if not self.is_failing:
                log.error("the store does not take counts: %s", type(error).__name__)
            self.is_failing = True
            self._rules.update(rules)
            self._verdicts.update(verdicts)
            self._unknown = [*unknown, *self._unknown][:UNKNOWN_KEPT]

    def _flush(self, rules: Counter[str], verdicts: Counter[str], unknown: list[bytes]) -> None:
        if time.monotonic() - self._purged > PURGE_S or not self._purged:
            self.store.purge()
            self._purged = time.monotonic()
        elif self.is_failing:
            self.store.ping()
        if unknown:
            reports = (json.loads(report) for report in unknown)
            self.store.add_unknown(each for report in reports for each in report["suspects"][:UNKNOWN_SUSPECTS])
        if verdicts:
            self.store.add_counts(rules, verdicts)
