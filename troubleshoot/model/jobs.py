"""The job behind many sources: who failed first, ranks, stragglers, a timeline."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime

from troubleshoot.model.rules import Confidence


class Moment(enum.Enum):
    """What a row of a job's timeline tells, in the order in which such things happen."""

    START = "start"
    PROGRESS = "progress"
    FIRST_FAILURE = "first-failure"
    FAILURE = "failure"
    ECHO = "echo"
    STOP = "stop"
    EXIT = "exit"
    END = "end"


@dataclass(frozen=True, slots=True)
class FirstFailure:
    """Which process failed first, and how we know. `rank` is None where none can be named, or none alone.

    `because` is a sentence, `runner_up` another where somebody else comes close. `rule`: the finding that it shows.
    """

    rank: int | None
    host: str | None
    source: str
    line: int
    text: str
    because: str
    confidence: Confidence
    time: datetime | None = None
    runner_up: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class RankSummary:
    """Ranks by what became of them. `total` is None where no log states it. `silent`: no line of theirs was read."""

    total: int | None = None
    seen: int = 0
    failed: tuple[int, ...] = ()
    echoing: tuple[int, ...] = ()
    silent: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """Something that happened, the same thing on many ranks told once: `time` is the first, `until` the last of them.

    `ranks` are those that show it, `count` how many lines do."""

    kind: Moment
    text: str
    time: datetime | None = None
    rank: int | None = None
    host: str | None = None
    source: str = ""
    line: int = 0
    ranks: tuple[int, ...] = ()
    count: int = 1
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Straggler:
    """A rank whose last progress lies behind that of the others: in steps, in seconds, or both."""

    rank: int
    host: str | None
    source: str
    line: int
    text: str
    step: int
    behind_steps: int
    behind_s: float | None = None


@dataclass(frozen=True, slots=True)
class Track:
    """One rank (or, where ranks are not known, one source) against time, for the picture."""

    name: str
    rank: int | None
    host: str | None
    fate: str  # "failed", "echoing", "silent", "quiet" (it shows neither)
    first: datetime | None = None
    last: datetime | None = None
    at: datetime | None = None  # when it failed or echoed


@dataclass(frozen=True, slots=True)
class Job:
    """What the logs of one job tell together. `id` is the scheduler's or launcher's name for it, where known.

    `partial`: reading was interrupted, so that all of this holds for a part of the logs only."""

    first_failure: FirstFailure | None = None
    ranks: RankSummary = RankSummary()
    hosts: tuple[str, ...] = ()
    hosts_failed: tuple[str, ...] = ()
    timeline: tuple[TimelineEntry, ...] = ()
    stragglers: tuple[Straggler, ...] = ()
    tracks: tuple[Track, ...] = ()
    id: str | None = None
    other_ids: tuple[str, ...] = ()
    partial: bool = False
