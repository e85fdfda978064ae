"""Values that every step shares: what a log is, what a rule is, what was found.

Nothing here reads, matches or renders. A step that needs a type of another step finds it in this module.
All values are frozen; sequences are tuples. Lines and columns count from 1. An offset counts bytes of the source as
given (for a compressed file: of its decompressed text); a column counts characters of the text it speaks of.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol


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


# --- logs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Identity:
    """Who wrote a source or a record, as far as path and content tell."""

    host: str | None = None
    pod: str | None = None
    container: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    stream: str | None = None  # "stdout" or "stderr"

    def over(self, other: Identity) -> Identity:
        """Return this identity with its gaps filled from `other`."""
        return Identity(
            *(mine if mine is not None else theirs for mine, theirs in zip(self.parts(), other.parts(), strict=True))
        )

    def parts(self) -> tuple[Any, ...]:
        return (self.host, self.pod, self.container, self.rank, self.local_rank, self.stream)


@dataclass(frozen=True, slots=True)
class Source:
    """A named stream of bytes: a file, an archive's member, standard input, a request's body."""

    name: str
    kind: str = "file"  # file | member | stdin | text | upload
    identity: Identity = Identity()


@dataclass(frozen=True, slots=True)
class LineMap:
    """For a block whose bytes were repaired: where its i-th line stood in the source as given.

    Several lines may have come from one (a progress bar's, a JSON record's), one from several (joined pieces: where the
    first stood). The sequences may be computed when first asked, so a block without hits never pays for them.
    """

    lines: Sequence[int]
    offsets: Sequence[int]


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive whole lines of a source, ready to scan.

    `data` may be a view of a buffer that is used again: it is valid until the next block is asked for. It ends after a
    line feed unless it is the last block or a line longer than limits.LINE_BYTES was cut (`cut`). Where `line_map` is
    None, `data` is the source's own bytes and its first byte stands at `offset`, on line `first_line`.
    """

    data: bytes | memoryview
    first_line: int
    offset: int
    line_map: LineMap | None = None
    last: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Stamp:
    """A record's time in UTC, how its zone is known, and how fine it is.

    `zone` is "explicit", "assumed-utc", "assumed-local". `resolution_s` is 1.0 for stamps in whole seconds.
    """

    time: datetime
    zone: str = "explicit"
    resolution_s: float = 1e-6


@dataclass(frozen=True, slots=True)
class Record:
    """One logical log entry. `raw` is its text as given, `text` what is left when wrappers are taken off."""

    source: Source
    line: int
    end_line: int
    offset: int
    raw: str
    text: str
    stamp: Stamp | None = None
    identity: Identity = Identity()
    level: str | None = None
    document: str = "log"  # kind of document it stands in: log, env, manifest, describe, fi_info, ...


@dataclass(frozen=True, slots=True)
class Hit:
    """A pattern confirmed at a record. `start` and `end` are columns in `record.text`, counted from 0, half open."""

    pattern: int
    record: Record
    captures: Mapping[str, str]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Peeled:
    """What a normaliser says of one line."""

    text: str
    stamp: Stamp | None = None
    identity: Identity = Identity()
    level: str | None = None
    document: str = "log"


class Normaliser(Protocol):
    """Takes wrapper, timestamp and rank off one line of one source; never raises, never loses text."""

    def peel(self, raw: str, line: int) -> Peeled: ...


@dataclass(frozen=True, slots=True)
class Note:
    """Something the reader must know of how the scan went: what was skipped, capped, cut or unreadable."""

    code: str
    text: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """What a source turned out to be, known once it has been read."""

    name: str
    bytes: int
    lines: int
    encoding: str = "utf-8"
    wrapper: str | None = None
    identity: Identity = Identity()
    documents: tuple[str, ...] = ()
    first_time: datetime | None = None
    last_time: datetime | None = None


@dataclass(frozen=True, slots=True)
class ScanResult:
    """All hits of one source, in record order, with what was capped.

    `counts[pattern]` is the number of confirmed hits, or, for a pattern in `saturated`, at least that many.
    """

    source: Source
    hits: tuple[Hit, ...]
    counts: Mapping[int, int]
    saturated: frozenset[int] = frozenset()
    notes: tuple[Note, ...] = ()
    info: SourceInfo | None = None
    progress: tuple[Progress, ...] = ()  # the last steps of each rank, from the end of the source, in its order
    overran: tuple[tuple[int, int], ...] = ()  # line and pattern, for each time that one ran past its time


@dataclass(frozen=True, slots=True)
class Progress:
    """A line on which a rank counts its steps. `world`: how many ranks there are, where the line says so."""

    source: str
    line: int
    text: str
    step: int
    epoch: int | None = None
    stamp: Stamp | None = None
    identity: Identity = Identity()
    world: int | None = None


# --- results ---------------------------------------------------------------------------------------------------------


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
    """A record behind a finding, and which signature it satisfied. `start`/`end`: columns in `text`, half open."""

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


# --- the job behind many sources --------------------------------------------------------------------------------------


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


@dataclass(frozen=True, slots=True)
class Report:
    """The answer to a scan. `findings[0]` is the likeliest cause."""

    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    confirmations: tuple[Finding, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    sources: tuple[SourceInfo, ...] = ()
    notes: tuple[Note, ...] = ()
    pack: PackInfo = PackInfo("", "", "")
    stats: Stats = Stats(0, 0, 0.0, 0)
    platform: str | None = None
    job: Job | None = None  # of more than one source, or where it was asked for
