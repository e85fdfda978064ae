"""`troubleshoot --follow PATH...`: findings as the logs grow, the whole report at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from troubleshoot.cli.options import stdin_stream
from troubleshoot.follow import Follower, Tail
from troubleshoot.model import Finding, Report

if TYPE_CHECKING:
    from troubleshoot.engine import Engine

POLL_S = 0.5  # between two looks at files that did not grow


def follow(engine: Engine, paths: Sequence[str], platform: str | None, tell: Callable[[Finding], None]) -> Report:
    """Tell each finding once as it comes, until Ctrl-C or the pipe's end; return the report over all of it."""
    piped = "-" in paths
    tails = [Tail("stdin", stdin_stream()) if path == "-" else Tail(path) for path in paths]
    follower = Follower(engine, tails, platform)
    try:
        while True:
            found = follower.step()
            for finding in found:
                tell(finding)
            if piped and _is_at_end(tails):
                break
            if not piped:
                time.sleep(POLL_S)
    except KeyboardInterrupt:
        pass
    for finding in follower.step(last=True):
        tell(finding)
    return follower.report()


def _is_at_end(tails: Sequence[Tail]) -> bool:
    return any(tail.is_at_end for tail in tails)
