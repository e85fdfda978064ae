"""Says which wrappers a source has, from a sample of its lines.

In: up to limits.PROBE_LINES lines from head, middle and tail. Out: `Detected`: the weak wrappers that the source
adopts, the names of all that were seen (outermost first), and what the stamps tell of its days. Strong wrappers come
off first, then one weak wrapper at a time is tried on what is left, so that stacks are seen through:

    "n1: [rank0]: x"  ->  pdsh is adopted (share 100 %), then torch-rank is seen below it
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from troubleshoot.normalise.timestamps import Clock, parse_stamp
from troubleshoot.normalise.weak import LAUNCHER_LINE, WEAK, WeakWrapper
from troubleshoot.normalise.wrappers import ONCE_MORE, WRAPPERS, Wrapper, by_lead, wrapper

SEEN_SHARE = 0.05  # a wrapper on fewer lines of the sample is not worth telling
WEAK_LAYERS = 3
MIN_LINES = 2  # fewer lines agree by chance
EVENT_SHARE = 0.2  # stern's own "+ pod › container" lines are proof enough

Left = tuple[str, str | None]  # what is left of a line, and the wrapper that came off it last

_LEADS, _EVERYWHERE = by_lead(WRAPPERS)


@dataclass(frozen=True, slots=True)
class Detected:
    """What the sample showed. `clock`: the source's clock, set by the full dates in it. `first` and `last`: the
    earliest and the latest stamp."""

    clock: Clock
    weak: tuple[Wrapper, ...] = ()
    names: tuple[str, ...] = ()
    first: datetime | None = None
    last: datetime | None = None


def first_strong(text: str, last: str | None, used: set[str]) -> tuple[Wrapper, str, dict[str, str | None]] | None:
    """Return the outermost strong wrapper of `text`, what is left, and its facts."""
    for each in _LEADS.get(text[:1], _EVERYWHERE):
        if (each.after is None or each.after == last) and (each.name not in used or each.name in ONCE_MORE):
            taken = each.take(text)
            if taken is not None:
                return each, *taken
    return None


def detect(lines: Sequence[str], clock: Clock, *, sampled: bool = False) -> Detected:
    """Return what wrappers the lines have. `sampled`: they are only some of the source."""
    texts: list[Left] = [(line, None) for line in lines if line.strip()]
    if not texts:
        return Detected(clock)
    seen: Counter[str] = Counter()
    depth: dict[str, int] = {}
    stamps: list[tuple[str, str]] = []
    adopted: list[Wrapper] = []
    for layer in range(WEAK_LAYERS + 1):
        texts = [_peel_strong(*left, seen, depth, stamps, layer) for left in texts]
        if layer == WEAK_LAYERS:
            break
        found = _adopt(texts, adopted, sampled)
        if found is None:
            break
        adopted.append(found)
        taken = [take_weak(found, *left) for left in texts]
        texts = [(t[0], found.name) if t else left for t, left in zip(taken, texts, strict=True)]
        seen[found.name] += sum(t is not None for t in taken)
        depth.setdefault(found.name, 10 * layer + 9)
    names = [n for n in sorted(seen, key=depth.__getitem__) if seen[n] >= SEEN_SHARE * len(lines)]
    clock = _set_clock(clock, stamps)
    times = [s.time for text, zone in stamps if (s := parse_stamp(text, clock, zone))]
    return Detected(clock, tuple(adopted), tuple(names), min(times, default=None), max(times, default=None))


def _set_clock(clock: Clock, stamps: Sequence[tuple[str, str]]) -> Clock:
    """Return the clock that the full dates among the stamps set."""
    full = [s.time for text, zone in stamps if _YEAR.search(text) and (s := parse_stamp(text, clock, zone))]
    if not full:
        return clock
    first, last = min(full), max(full)
    return Clock(clock.latest, near=last, day=last.date() if first.date() == last.date() else None)


def take_weak(wrapper: Wrapper, text: str, last: str | None) -> tuple[str, dict[str, str | None]] | None:
    """Return the text without this weak wrapper, and its facts; None when it does not have it."""
    return wrapper.take(text) if wrapper.after in (None, last) else None


def _peel_strong(
    text: str,
    last: str | None,
    seen: Counter[str],
    depth: dict[str, int],
    stamps: list[tuple[str, str]],
    layer: int,
) -> Left:
    used: set[str] = set()
    for round_ in range(8):
        found = first_strong(text, last, used)
        if found is None:
            break
        each, text, facts = found
        last = each.name
        used.add(last)
        seen[last] += 1
        depth.setdefault(last, 10 * layer + round_)
        if facts.get("ts"):
            stamps.append((facts["ts"] or "", each.zone))
    return text, last


def _adopt(texts: Sequence[Left], adopted: Sequence[Wrapper], sampled: bool) -> Wrapper | None:
    rows = [left for left in texts if left[0].strip() and not LAUNCHER_LINE.match(left[0])]
    if len(rows) < MIN_LINES:
        return None
    events = any(" › " in text for text, _ in texts)
    for weak in WEAK:
        if weak.wrapper not in adopted and _holds(weak, rows, sampled, events):
            return weak.wrapper
    return None if any(each.name == "indent" for each in adopted) else _indent([text for text, _ in rows])


def _holds(weak: WeakWrapper, rows: Sequence[Left], sampled: bool, events: bool) -> bool:
    taken = [t[1] for left in rows if (t := take_weak(weak.wrapper, *left))]
    share = EVENT_SHARE if weak.wrapper.name == "stern" and events else weak.share
    return len(taken) >= max(MIN_LINES, share * len(rows)) and weak.check(taken, sampled)


def _indent(rows: Sequence[str]) -> Wrapper | None:
    """Return a wrapper for the blanks that every line begins with, or None."""
    blanks = min((len(row) - len(row.lstrip(" \t")) for row in rows), default=0)
    return wrapper("indent", rf"[ \t]{{{blanks}}}") if blanks else None


def level_of(text: str) -> str | None:
    """Return the level that a message begins with, as a program names it ("ERROR: x", "[warning] x")."""
    m = _LEVEL.match(text)
    return LEVELS.get((m[1] or m[2]).lower()) if m else None


_YEAR = re.compile(r"(?<!\d)\d{4}[-/]|\d{4}$|^\d{9,}")
_LEVEL = re.compile(r"[\[(<]?(?:([A-Z]{4,8})[\])>]?(?=[:\s|-]|$)|([a-zA-Z]{4,8})[\])>]?:)")
LEVELS = {
    "i": "info", "w": "warning", "e": "error", "f": "fatal", "c": "fatal", "d": "debug", "v": "debug",
    "trace": "debug", "debug": "debug", "info": "info", "notice": "info", "warn": "warning", "warning": "warning",
    "err": "error", "error": "error", "crit": "fatal", "critical": "fatal", "fatal": "fatal", "abort": "fatal",
    "alert": "fatal", "emerg": "fatal", "panic": "fatal",
}  # fmt: skip
