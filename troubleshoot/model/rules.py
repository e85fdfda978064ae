"""Rules as loaded: what to look for, when it counts, and what to say then."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


class Severity(enum.IntEnum):
    """How bad the fault is if it is there. Ordered: `Severity.LOW < Severity.CRITICAL`."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4

    @property
    def word(self) -> str:
        return self.name.lower()


class Confidence(enum.IntEnum):
    """How surely the rule means what it says. Ordered."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3

    @property
    def word(self) -> str:
        return self.name.lower()


class Kind(enum.Enum):
    FAULT = "fault"
    CONFIRMATION = "confirmation"


class Status(enum.Enum):
    DRAFT = "draft"
    STABLE = "stable"
    DEPRECATED = "deprecated"
    IMPORTED = "imported"  # taken over from another format: it runs, and is not asked for what that format has not


class Role(enum.Enum):
    CAUSE = "cause"
    SYMPTOM = "symptom"


class Verdict(enum.Enum):
    FAULT = "fault"
    UNKNOWN_FAULT = "unknown-fault"
    CLEAN = "clean"


# --- rules -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """Where a thing stands in a rule file. Line and column count from 1."""

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One wording of a signature, as written and as the `regex` pattern it means.

    `source` is what the author wrote, `regex` the pattern compiled from it (with `regex.V0`, ASCII classes, and
    IGNORECASE unless `exact_case`). Equal patterns of different rules share one `id`: the scan reports patterns, and
    `RulePack.users` says which signatures of which rules they serve.
    """

    id: int
    kind: str  # "text" or "regex"
    source: str
    regex: str
    exact_case: bool = False
    lines: int = 1  # how many physical lines one match may span
    slow: str | None = None  # the reason why this pattern may run on every line, without a literal to search for
    advice: bool = False  # may match inside advice ("set NCCL_DEBUG=INFO ...") and quoted source code
    holes: tuple[str, ...] = ()  # names of the captures
    entry: bool = False  # of the lines that a match may span, only those of one log entry count


@dataclass(frozen=True, slots=True)
class Signature:
    """A named pattern of a rule; its alternatives are wordings of one thing."""

    name: str
    patterns: tuple[Pattern, ...]
    applies_to: tuple[str, ...] = ()  # kinds of document it may match in; empty: all
    place: Place | None = None
    shared: str = ""  # the name of the shared signature it is, if it is one


class Op(enum.Enum):
    """What a condition node asks. SIGNATURE is the leaf."""

    SIGNATURE = "signature"
    ALL = "all"
    ANY = "any"
    NONE = "none"
    AT_LEAST = "at_least"
    IN_ORDER = "in_order"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Window:
    """A span in which hits count together: records (lines of one source) or seconds. Exactly one is set."""

    records: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Instant:
    """A moment seen from an occurrence of what a veto vetoes: that of its `event`-th event (from 1; -1 is the last),
    moved by `spans` times the time from its first event to its last, and by `shift_s`."""

    event: int = 1
    spans: int = 0
    shift_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Reach:
    """Where in time a veto is looked for: from `since` to `until`, both included."""

    since: Instant = Instant(1)
    until: Instant = Instant(-1)


@dataclass(frozen=True, slots=True)
class Condition:
    """A node of a rule's condition.

    `signature` names the leaf's signature. For AT_LEAST, `n` hits (or distinct values of `distinct`) of the children.
    For MISSING, `children` must be absent, `given` must hold to make the absence mean something, `relevant` says when
    the question arises at all, and `next_step` is what to switch on to know.
    """

    op: Op
    children: tuple[Condition, ...] = ()
    signature: str | None = None
    n: int = 1
    distinct: str | None = None
    same: str | None = None  # record, source, rank, host, job, or the name of a capture
    within: Window | None = None
    where: str | None = None
    unless: Condition | None = None
    given: Condition | None = None
    relevant: Condition | None = None
    next_step: str | None = None
    place: Place | None = None
    reach: Reach | None = None  # of a condition in `unless`: when it vetoes

    def walk(self) -> Iterator[Condition]:
        """Yield this node and every node below it, `unless`, `given` and `relevant` included."""
        yield self
        for child in (*self.children, self.unless, self.given, self.relevant):
            if child is not None:
                yield from child.walk()


@dataclass(frozen=True, slots=True)
class Verify:
    """How to see that a fix worked: a command and what it prints then."""

    run: str
    expect: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """One thing the reader can do. Texts are templates until a finding renders them (`{capture}`)."""

    title: str
    do: str = ""
    run: tuple[str, ...] = ()
    variants: Mapping[str, str] = field(default_factory=dict)
    safe: bool = False
    verify: Verify | None = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """A capture looked up in a table: its row's `column` becomes a capture of its own."""

    name: str
    table: str
    key: str  # the capture that selects the row
    column: str
    default: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A log excerpt in the rule file. `files` holds one text per source name.

    `expect` is "match", "no_match" or "undecided". `captures` and `confidence` must come out so where given;
    `also` names other rules that may fire on the same text.
    """

    expect: str
    files: Mapping[str, str]
    captures: Mapping[str, str] = field(default_factory=dict)
    confidence: Confidence | None = None
    also: tuple[str, ...] = ()
    why: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One fault we know (or one good thing worth confirming)."""

    id: str
    title: str
    severity: Severity
    confidence: Confidence
    signatures: Mapping[str, Signature]
    condition: Condition
    kind: Kind = Kind.FAULT
    status: Status = Status.STABLE
    symptom: bool = False
    generic: bool = False
    since: str = ""
    systems: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    supports: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()  # rule ids, or tags written "#tag"
    lookup: tuple[Lookup, ...] = ()
    explanation: str = ""
    fixes: tuple[Fix, ...] = ()
    owner: str = "user"
    retry: str = "after-fix"
    fingerprint: tuple[str, ...] = ()  # captures that tell one fault of this rule from another
    references: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()
    path: str = ""
    pack: str = ""  # the name of the pack it comes from; "" of a folder that is none

    @property
    def domain(self) -> str:
        return self.id.split("/", 1)[0]


@dataclass(frozen=True, slots=True)
class PatternUse:
    """One signature that a pattern serves."""

    rule: str
    signature: str


@dataclass(frozen=True, slots=True)
class PackPart:
    """One of the folders that a pack was put together from, lowest first. `rules`: how many of its own are in use.

    `left_out`: why none of them is."""

    name: str
    path: str
    rules: int = 0
    version: str = ""
    title: str = ""
    min_engine: str = ""
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class RulePack:
    """A frozen set of rules loaded together. Safe to share between threads.

    `patterns` is indexed by `Pattern.id`. `users[pattern_id]` lists the signatures it serves. Table rows are
    `tables[name][key][column]`, all strings. Signatures that belong to no rule (lines that look like a failure, marks
    of a platform) are in `builtin`; in `users` their rule is "~" and the group: "~suspects", "~platforms".
    """

    name: str
    version: str
    hash: str
    rules: Mapping[str, Rule]
    patterns: tuple[Pattern, ...]
    users: tuple[tuple[PatternUse, ...], ...]
    tables: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)
    builtin: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)  # [group][name][attribute]
    problems: tuple[Any, ...] = ()  # errors.Problem of rules that were left out; warnings of those that stand in
    parts: tuple[PackPart, ...] = ()
