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
from datetime import datetime
from itertools import pairwise
from typing import Any

from troubleshoot import late
from troubleshoot.model import NOBODY, Identity, Stamp
from troubleshoot.normalise.facts import VARIABLES, identity_from, identity_from_variable
from troubleshoot.normalise.timestamps import Clock, parse_stamp
from troubleshoot.normalise.ways import ROUNDS, Facts, Found, first_strong, kinds_of, take_weak, way_of
from troubleshoot.normalise.weak import WEAK, WeakWrapper
from troubleshoot.normalise.wrappers import Wrapper, wrapper
from troubleshoot.shapes import shape_of

SEEN_SHARE = 0.05  # a wrapper on fewer lines of the sample is not worth telling
IDENTITY_SHARE = 0.5  # of the lines must name the host, all the same one
RANK_SHARE = 0.9
WEAK_LAYERS = 3
MIN_FALLS = 5
MIN_LINES = 2  # fewer lines agree by chance
EVENT_SHARE = 0.2  # stern's own "+ pod › container" lines are proof enough

_SORTS = late.compile(r"\d{4}[-/]\d\d[-/]\d\d[Tt _]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?Z?")
_NUMBERED = late.compile(r" *(\d{1,7}) ")
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
    taken: list[tuple[Wrapper, Facts]] = field(default_factory=list)
    kinds: tuple[int, ...] | None = None  # of weak wrappers it may have
    is_asked: bool = False

    def take(self, found: Found) -> None:
        self.taken.append((found[0], found[2]))
        self.last, self.text, self.is_asked = found[0].name, found[1], False

    def go(self) -> bool:
        """Take off all strong wrappers, if the shape of the line tells them."""
        way = way_of(self.text)
        if way is None:
            return False
        self.taken = way.taken(self.text)
        self.last = self.taken[-1][0].name if self.taken else None
        self.text, self.kinds, self.is_asked = self.text[way.rest :], way.kinds, True
        return True

    def ask(self) -> tuple[int, ...] | None:
        """Return the numbers of the weak wrappers that it may have; None if it is no line of a program's own."""
        if not self.is_asked:
            self.kinds, self.is_asked = kinds_of(self.text), True
        return self.kinds


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
    times, of_rows, clock = _times(rows, clock)
    first, last = min(times, default=None), max(times, default=None)
    backwards = _runs_backwards(of_rows)
    return Detected(clock, tuple(adopted), _names(rows), first, last, _identity(rows), backwards)


def _times(rows: Sequence[_Row], clock: Clock) -> tuple[list[datetime], Sequence[str | datetime], Clock]:
    """Return the times that the rows tell (or the first and the last of them), what sorts as the outermost of each row
    does, and the clock that they set."""
    stamps = [(i, facts["ts"], each.zone) for i, row in enumerate(rows) for each, facts in row.taken if facts.get("ts")]
    texts: dict[int, str] = {}
    for i, text, _ in stamps:
        texts.setdefault(i, text or "")
    ends = _ends_of_alike([text or "" for _, text, _ in stamps], {zone for _, _, zone in stamps}, clock)
    if ends is not None:
        return [stamp.time for stamp in ends], [*texts.values()], _set_clock(clock, ends)
    dated = [parse_stamp(text or "", clock, zone) if _YEAR.search(text or "") else None for _, text, zone in stamps]
    clock = _set_clock(clock, [stamp for stamp in dated if stamp])
    times: list[datetime] = []
    of_rows: dict[int, datetime] = {}
    for (number, text, zone), known in zip(stamps, dated, strict=True):
        stamp = known or parse_stamp(text or "", clock, zone)
        if stamp is not None:
            times.append(stamp.time)
            of_rows.setdefault(number, stamp.time)
    return times, [*of_rows.values()], clock


def _ends_of_alike(texts: Sequence[str], zones: set[str], clock: Clock) -> list[Stamp] | None:
    """Return the first and the last of full dates that are all written alike, so that they sort as their texts do."""
    if not texts or len(zones) > 1 or not _SORTS.fullmatch(texts[0]) or len(set(map(shape_of, texts))) > 1:
        return None
    ends = [parse_stamp(text, clock, *zones) for text in (min(texts), max(texts))]
    return [stamp for stamp in ends if stamp] if all(ends) else None


def _take_strong(rows: Sequence[_Row]) -> None:
    for row in rows:
        if not row.taken and row.go():
            continue
        used: set[str] = {each.name for each, _ in row.taken}
        while len(row.taken) < ROUNDS and (found := first_strong(row.text, row.last, used)):
            row.take(found)
            used.add(found[0].name)


def _names(rows: Sequence[_Row]) -> tuple[str, ...]:
    seen: Counter[str] = Counter()
    depth: Counter[str] = Counter()
    for row in rows:
        for i, (each, _) in enumerate(row.taken):
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


def _runs_backwards(times: Sequence[Any]) -> bool:
    """Tell whether the stamps, or what sorts as they do, fall from line to line: an export with the newest first."""
    falls = sum(b < a for a, b in pairwise(times))
    rises = sum(b > a for a, b in pairwise(times))
    return bool(falls >= MIN_FALLS and rises <= 0.05 * falls)


def _identity(rows: Sequence[_Row]) -> Identity:
    """Return what the lines agree on."""
    told: dict[str, Counter[str]] = {each.name: Counter() for each in fields(Identity)}
    variables: dict[str, set[str]] = {}
    for row in rows:
        own = NOBODY
        for _, told_here in row.taken:
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
    own = [row for row in rows if row.ask() is not None]
    if len(own) < MIN_LINES:
        return None
    may_have = Counter(kind for row in own for kind in row.kinds or ())
    events = any(" › " in row.text for row in rows)
    for kind, weak in enumerate(WEAK):
        if kind in may_have and weak.wrapper not in adopted and _holds(weak, own, sampled, events, may_have[kind]):
            return weak.wrapper
    names = {each.name for each in adopted}
    texts = [row.text for row in own]
    gutter = _gutter(texts) if "line-numbers" not in names else None
    return gutter or (_indent([row.text for row in rows if row.text.strip()]) if "indent" not in names else None)


def _holds(weak: WeakWrapper, rows: Sequence[_Row], sampled: bool, events: bool, most: int) -> bool:
    share = EVENT_SHARE if weak.wrapper.name == "stern" and events else weak.share
    needed = max(MIN_LINES, share * len(rows))
    if most < needed:
        return False
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


def _gutter(texts: Sequence[str]) -> Wrapper | None:
    """Return a wrapper for the line numbers that a pager puts before lines, and the blanks of those it wraps."""
    heads = [_NUMBERED.match(text) for text in texts]
    numbers = [int(m[1]) for m in heads if m]
    width = max((m.end() for m in heads if m), default=0)
    if len(numbers) < MIN_LINES or any(b - a != 1 for a, b in pairwise(numbers)):
        return None
    if not all(m.end() == width if m else text[:width].isspace() for text, m in zip(texts, heads, strict=True)):
        return None
    return wrapper("line-numbers", rf"(?=[ \d]{{{width - 1}}} )[ \d]{{{width - 1}}} ")
