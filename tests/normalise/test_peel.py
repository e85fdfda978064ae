from __future__ import annotations

from datetime import UTC, datetime

from troubleshoot.model import Identity, Stamp
from troubleshoot.normalise import Clock, LineNormaliser

CLOCK = Clock(datetime(2026, 12, 1, tzinfo=UTC))


def test_stacked_wrappers_come_off_outermost_first() -> None:
    raw = (
        "[pod/llama-ft-worker-3/pytorch] 2026-11-30T20:15:04.123456789Z [default3]:[rank11]:"
        "[E1130 20:15:04.123456789 ProcessGroupNCCL.cpp:629] Watchdog caught collective operation timeout"
    )
    peeled = LineNormaliser(clock=CLOCK).peel(raw, 1)
    assert peeled.text == "Watchdog caught collective operation timeout"
    assert peeled.identity == Identity(pod="llama-ft-worker-3", container="pytorch", rank=11, local_rank=3)
    assert peeled.stamp == Stamp(datetime(2026, 11, 30, 20, 15, 4, 123456, tzinfo=UTC), "explicit", 1e-9)
    assert peeled.level == "error"


def test_plain_line_stays_as_it_is() -> None:
    raw = "ValueError: bad shape"
    assert LineNormaliser(clock=CLOCK).peel(raw, 1).text == raw
