"""What an evaluation gives: outcomes, findings with their evidence, suspects."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from troubleshoot.model.logs import Hit, Stamp
from troubleshoot.model.rules import Condition, Confidence, Fix, Kind, Role, Severity


class Truth(enum.Enum):
    TRUE = "true"
    FALSE = "false"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class SignatureHit:
    """A hit as a rule sees it: under the name of its signature."""

    signature: str
    hit: Hit


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a condition node came to, and why. `hits` are the evidence that made it so.

    Where the node was asked per group (`same`) or window (`within`), `hits` are those of every group in which it held
    and `children` show the first such group, or the one that came closest. `doubts` tell what could not be checked of
    a node that is TRUE; `captures` are the first values for which its `where` held.
    """

    condition: Condition
    truth: Truth
    hits: tuple[SignatureHit, ...] = ()
    children: tuple[Outcome, ...] = ()
    why: str = ""
    doubts: tuple[str, ...] = ()
    captures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A record behind a finding, and which signature it satisfied. `start`/`end`: columns in `text`, half open.
    `before`/`after`: the lines around it, where they were asked for."""

    source: str
    line: int
    offset: int
    signature: str
    text: str
    rank: int | None = None
    host: str | None = None
    time: datetime | None = None
    end_line: int | None = None
    start: int = 0
    end: int = 0
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule whose condition held. Texts are rendered: captures stand in their places."""

    rule: str
    kind: Kind
    title: str
    severity: Severity
    confidence: Confidence
    role: Role
    evidence: tuple[Evidence, ...]
    explained_by: tuple[str, ...] = ()
    count: int = 1
    ranks: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()
    first_seen: Stamp | None = None
    captures: Mapping[str, str] = field(default_factory=dict)
    explanation: str = ""
    fixes: tuple[Fix, ...] = ()
    owner: str = "user"
    retry: str = "after-fix"
    fingerprint: str = ""
    references: tuple[str, ...] = ()
    generic: bool = False
    symptom: bool = False
    because: tuple[str, ...] = ()  # sentences on confidence raised or lowered, undecided windows
    outcome: Outcome | None = None
    first_lines: Mapping[str, int] = field(default_factory=dict)  # by source: the first line that shows the fault


@dataclass(frozen=True, slots=True)
class Undecided:
    """A rule that could not be told either way, why, and what to switch on to know."""

    rule: str
    title: str
    why: str
    next: str
    collect: str = ""  # the part of `troubleshoot collect` that would tell


@dataclass(frozen=True, slots=True)
class Suspect:
    """Lines that look like the failure though no rule knows them, merged by template.

    `weight` (0 to 100) says how much they look like it: from limits.SUSPECT_WEIGHT on they make a log suspicious."""

    source: str
    line: int
    text: str
    count: int
    reason: str
    rank: int | None = None
    weight: int = 0
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stats:
    bytes: int
    lines: int
    seconds: float
    rules: int


@dataclass(frozen=True, slots=True)
class PackInfo:
    name: str
    version: str
    hash: str
