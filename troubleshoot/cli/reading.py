"""How many processes read, on which machines, and what an interrupt from the keyboard does meanwhile."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import click

from troubleshoot.cli.failing import say

if TYPE_CHECKING:
    from troubleshoot.engine import Engine
    from troubleshoot.model import Period, ScanResult
    from troubleshoot.parallel.drive import Runner
    from troubleshoot.watching import Stop, Watcher

MOST_JOBS = 1024  # a slip of the finger must not fork ten thousand processes

Command = TypeVar("Command", bound=Callable[..., Any])


def reading_options(command: Command) -> Command:
    """Add the options that say who reads the logs."""
    for option in reversed(
        (
            click.option("-j", "--jobs", type=click.IntRange(1, MOST_JOBS), default=None, metavar="N",
                         help="Read with so many processes; as many as it is worth, if not given."),
            click.option("--on-ray", default=None, metavar="ADDRESS",
                         help="Read on a Ray cluster whose nodes see the same files; auto finds the one at hand."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class Reading:
    """How an engine is to read."""

    watcher: Watcher | None
    workers: int | None
    runner: Runner | None
    stop: Stop
    period: Period | None = None
    stdin: BinaryIO | None = None

    def options(self) -> dict[str, Any]:
        return {
            "watcher": self.watcher,
            "workers": self.workers,
            "runner": self.runner,
            "stop": self.stop,
            "period": self.period,
            "stdin": self.stdin,
        }


def runner_for(address: str | None) -> Runner | None:
    """Return the runner on the Ray cluster at an address; None for no address. Raises UsageError without Ray."""
    if address is None:
        return None
    from troubleshoot.parallel.ray_runner import RayRunner

    return RayRunner(address)


def judge(engine: Engine) -> Callable[[Sequence[ScanResult]], int]:
    """Return what counts the faults in the results so far."""

    def count(results: Sequence[ScanResult]) -> int:
        from troubleshoot.model import Kind

        return sum(finding.kind is Kind.FAULT for finding in engine.evaluate(results).findings)

    return count


@contextlib.contextmanager
def stopping() -> Iterator[Stop]:
    """Give what tells whether somebody has interrupted from the keyboard. The first interrupt lets what was read so far
    become a report; the second ends at once."""
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped.is_set
        return
    before = signal.getsignal(signal.SIGINT)

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, before)
        say("interrupted: this is the report on what was read until now; once more ends at once")

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield stopped.is_set
    finally:
        signal.signal(signal.SIGINT, before)
