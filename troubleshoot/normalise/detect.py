"""Says which wrappers a source has, when it was written and where it comes from, judged by a sample of its lines.

In: up to limits.PROBE_LINES lines from head, middle and tail. Out: `Detected`. Strong wrappers come off first, then one
weak wrapper at a time is tried on what is left, so that stacks are seen through:

    "n1: [rank0]: x"  ->  pdsh is adopted (share 100 %), then torch-rank is seen below it

A source's own host, pod or rank is taken only when the lines that tell it are many and agree: one rank's traceback in a
launcher's log does not make it that rank's log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from itertools import pairwise

from troubleshoot import late
from troubleshoot.model import NOBODY, Identity, Stamp
from troubleshoot.normalise.facts import VARIABLES, identity_from, identity_from_variable
from troubleshoot.normalise.timestamps import Clock, parse_stamp
from troubleshoot.normalise.weak import LAUNCHER_LINE, WEAK, WeakWrapper
from troubleshoot.normalise.wrappers import ONCE_MORE, WRAPPERS, Wrapper, by_lead, wrapper

SEEN_SHARE = 0.05  # a wrapper on fewer lines of the sample is not worth telling
IDENTITY_SHARE = 0.5  # of the lines must name the host, all the same one
RANK_SHARE = 0.9
WEAK_LAYERS = 3
ROUNDS = 8
MIN_FALLS = 5
NO_TIME = timedelta(0)
MIN_LINES = 2  # fewer lines agree by chance
EVENT_SHARE = 0.2  # stern's own "+ pod › container" lines are proof enough

Found = tuple[Wrapper, str, dict[str, str | None]]  # a wrapper, what is left without it, its facts
_LEADS, _EVERYWHERE = by_lead(WRAPPERS)
_YEAR = late.compile(r"(?<!\d)\d{4}[-/]|\d{4}$|^\d{9,}")


@dataclass(frozen=True, slots=True)
class Detected:
    """What the sample showed. `clock`: the source's clock, set by the full dates in it. `first` and `last`: the
    earliest and the latest stamp."""

    clock: Clock
    weak: tuple[Wrapper, ...] = ()
    names: tuple[str, ...] = ()  # of wrappers seen, outermost first
    first: datetime | None = None
    last: datetime | None = None
    identity: Identity = NOBODY
    newest_first: bool = False


@dataclass(slots=True)
class _Row:
    """A line of the sample on its way through the wrappers."""

    text: str
    last: str | None = None
    taken: list[Found] = field(default_factory=list)

    def take(self, found: Found) -> None:
        self.taken.append(found)
        self.last, self.text = found[0].name, found[1]


def first_strong(text: str, last: str | None, used: set[str]) -> Found | None:
    """Return the outermost strong wrapper of `text`."""
    group = _LEADS.get(text[:1], _EVERYWHERE)
    if not group.may_take(text):
        return None
    for each in group.wrappers:
        if (
            each.pattern.match(text) is None
            or each.after not in (None, last)
            or (each.name in used and each.name not in ONCE_MORE)
        ):
            continue
        taken = each.take(text)
        if taken is not None:
            return each, *taken
    return None


def take_weak(each: Wrapper, text: str, last: str | None) -> Found | None:
    """Return this weak wrapper if `text` has it."""
    taken = each.take(text) if each.after in (None, last) else None
    return (each, *taken) if taken else None


def detect(lines: Sequence[str], clock: Clock, *, sampled: bool = False) -> Detected:
    """Return what the lines have. `sampled`: they are only some of the source."""
    rows = [_Row(line) for line in lines if line.strip()]
    adopted: list[Wrapper] = []
    _take_strong(rows)
    for _ in range(WEAK_LAYERS):
        found = _adopt(rows, adopted, sampled)
        if found is None:
            break
        adopted.append(found)
        changed = []
        for row in rows:
            taken = take_weak(found, row.text, row.last)
            if taken:
                row.take(taken)
                changed.append(row)
        _take_strong(changed)
    stamps = [
        (i, facts["ts"] or "", each.zone)
        for i, row in enumerate(rows)
        for each, _, facts in row.taken
        if facts.get("ts")
    ]
    dated = [parse_stamp(text, clock, zone) if _YEAR.search(text) else None for _, text, zone in stamps]
    clock = _set_clock(clock, [stamp for stamp in dated if stamp])
    times: list[datetime] = []
    of_rows: dict[int, datetime] = {}  # the outermost
    for (number, text, zone), known in zip(stamps, dated, strict=True):
        stamp = known or parse_stamp(text, clock, zone)
        if stamp is not None:
            times.append(stamp.time)
            of_rows.setdefault(number, stamp.time)
    first, last = min(times, default=None), max(times, default=None)
    backwards = _runs_backwards([*of_rows.values()])
    return Detected(clock, tuple(adopted), _names(rows), first, last, _identity(rows), backwards)


def _take_strong(rows: Sequence[_Row]) -> None:
    for row in rows:
        used: set[str] = {each.name for each, _, _ in row.taken}
        while len(row.taken) < ROUNDS and (found := first_strong(row.text, row.last, used)):
            row.take(found)
            used.add(found[0].name)


def _names(rows: Sequence[_Row]) -> tuple[str, ...]:
    seen: Counter[str] = Counter()
    depth: Counter[str] = Counter()
    for row in rows:
        for i, (each, _, _) in enumerate(row.taken):
            seen[each.name] += 1
            depth[each.name] += i
    often = [name for name, count in seen.items() if count >= SEEN_SHARE * len(rows)]
    return tuple(sorted(often, key=lambda name: depth[name] / seen[name]))


def _set_clock(clock: Clock, dated: Sequence[Stamp]) -> Clock:
    """Return the clock that the stamps with full dates set."""
    full = [stamp.time for stamp in dated]
    if not full:
        return clock
    first, last = min(full), max(full)
    return Clock(clock.latest, near=last, day=last.date() if first.date() == last.date() else None)


def _runs_backwards(times: Sequence[datetime]) -> bool:
    """Tell whether the stamps fall from line to line: an export that has the newest line first."""
    steps = [b - a for a, b in pairwise(times)]
    falls, rises = sum(step < NO_TIME for step in steps), sum(step > NO_TIME for step in steps)
    return falls >= MIN_FALLS and rises <= 0.05 * falls


def _identity(rows: Sequence[_Row]) -> Identity:
    """Return what the lines agree on."""
    told: dict[str, Counter[str]] = {each.name: Counter() for each in fields(Identity)}
    variables: dict[str, set[str]] = {}
    for row in rows:
        own = NOBODY
        for _, _, told_here in row.taken:
            own = identity_from(told_here).over(own)
        if own is not NOBODY:
            for name, value in zip(told, own.parts(), strict=True):
                if value is not None:
                    told[name][str(value)] += 1
        if variable := identity_from_variable(row.text):
            variables.setdefault(variable[0], set()).add(variable[1])
    facts: dict[str, str | None] = {}
    for name, values in told.items():
        share = RANK_SHARE if "rank" in name else IDENTITY_SHARE
        if len(values) == 1 and values.total() >= max(MIN_LINES, share * len(rows)):
            facts[name] = next(iter(values))
    for variable_name, fact in VARIABLES.items():
        found = variables.get(variable_name, set())
        if fact not in facts and len(found) == 1:
            facts[fact] = next(iter(found))
    return identity_from(facts)


def _adopt(rows: Sequence[_Row], adopted: Sequence[Wrapper], sampled: bool) -> Wrapper | None:
    own = [row for row in rows if row.text.strip() and not LAUNCHER_LINE.match(row.text)]
    if len(own) < MIN_LINES:
        return None
    events = any(" › " in row.text for row in rows)
    for weak in WEAK:
        if weak.wrapper not in adopted and _holds(weak, own, sampled, events):
            return weak.wrapper
    return None if any(each.name == "indent" for each in adopted) else _indent([row.text for row in own])


def _holds(weak: WeakWrapper, rows: Sequence[_Row], sampled: bool, events: bool) -> bool:
    share = EVENT_SHARE if weak.wrapper.name == "stern" and events else weak.share
    needed = max(MIN_LINES, share * len(rows))
    taken: list[dict[str, str | None]] = []
    for left, row in zip(range(len(rows), 0, -1), rows, strict=True):
        if len(taken) + left < needed:
            return False
        found = take_weak(weak.wrapper, row.text, row.last)
        if found:
            taken.append(found[2])
    return len(taken) >= needed and weak.check(taken, sampled)


def _indent(texts: Sequence[str]) -> Wrapper | None:
    """Return a wrapper for the blanks that every line begins with, or None."""
    blanks = min((len(text) - len(text.lstrip(" \t")) for text in texts), default=0)
    return wrapper("indent", rf"[ \t]{{{blanks}}}") if blanks else None
