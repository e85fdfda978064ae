"""What happened when, over all sources: start, last progress, first failure, further failures, echoes, ends.

In: the facts of a job, its first failure. Out: at most limits.TIMELINE_ROWS entries in order of time. The same thing on
many ranks is one entry with the ranks, the first time and the last. An entry without a time (a traceback has no stamp)
stands where its kind belongs: after the last progress, before the stop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from troubleshoot import late, limits
from troubleshoot.job.blast import _latest
from troubleshoot.job.facts import Facts
from troubleshoot.job.members import place_from
from troubleshoot.model import FirstFailure, Hit, Moment, Progress, ScanResult, TimelineEntry

_ORDER = list(Moment)
TEXT_CHARS = 400
_DIGITS = late.compile(r"\d+")


@dataclass(slots=True)
class _Group:
    """Records that tell the same."""

    kind: Moment
    text: str
    hit: Hit
    first: datetime | None = None
    last: datetime | None = None
    ranks: set[int] = field(default_factory=set)
    hosts: dict[str, None] = field(default_factory=dict)
    count: int = 0

    def add(self, hit: Hit, time: datetime | None, rank: int | None, host: str | None) -> None:
        if time is not None and (self.first is None or time < self.first):
            self.hit, self.first = hit, time
        self.last = _latest(self.last, time)
        self.count += 1
        if rank is not None:
            self.ranks.add(rank)
        if host is not None:
            self.hosts.setdefault(host)


def build_timeline(facts: Facts, first: FirstFailure | None) -> tuple[TimelineEntry, ...]:
    """Return the entries in order."""
    entries = [*_ends_of_sources(facts), *_last_progress(facts), *_first(facts, first)]
    entries += [_entry(group) for group in _groups(facts, first)]
    return tuple(_cut(_ordered(entries)))


def _ends_of_sources(facts: Facts) -> Iterator[TimelineEntry]:
    spans = [(result.info, result.source) for result in facts.results if result.info is not None]
    begun = [(info.first_time, source) for info, source in spans if info.first_time is not None]
    ended = [(time, result.source) for result in facts.results if (time := _last_time(result)) is not None]
    if begun:
        time, source = min(begun, key=lambda each: (each[0], each[1].name))
        yield TimelineEntry(
            Moment.START, "first line with a time", time, host=place_from(source.identity), source=source.name
        )
    if ended:
        time, source = max(ended, key=lambda each: (each[0], each[1].name))
        yield TimelineEntry(
            Moment.END, "last line with a time", time, host=place_from(source.identity), source=source.name
        )


def _last_time(result: ScanResult) -> datetime | None:
    """Return the latest time that was seen in a source. Of a large one only a sample was looked at for times; its hits
    and its last steps have theirs."""
    times = [each.record.stamp.time for each in result.hits if each.record.stamp is not None]
    times += [each.stamp.time for each in result.progress if each.stamp is not None]
    if result.info is not None and result.info.last_time is not None:
        times.append(result.info.last_time)
    return max(times, default=None)


def _last_progress(facts: Facts) -> Iterator[TimelineEntry]:
    if not facts.progress:
        return
    furthest: Progress = max(facts.progress.values(), key=lambda each: ((each.epoch or 0), each.step))
    mark = (furthest.epoch, furthest.step)
    there = [each for each in facts.progress.values() if (each.epoch, each.step) == mark]
    shown = min(there, key=lambda each: (each.stamp is None, each.stamp.time.timestamp() if each.stamp else 0.0))
    rank = shown.identity.rank
    yield TimelineEntry(
        Moment.PROGRESS,
        shown.text[:TEXT_CHARS],
        shown.stamp.time if shown.stamp is not None else None,
        rank=rank,
        host=place_from(shown.identity) or (facts.members.hosts.get(rank) if rank is not None else None),
        source=shown.source,
        line=shown.line,
        ranks=tuple(sorted(each.identity.rank for each in there if each.identity.rank is not None)),
        count=len(there),
        until=_newest(there),
    )


def _newest(progress: Sequence[Progress]) -> datetime | None:
    return max((each.stamp.time for each in progress if each.stamp is not None), default=None)


def _first(facts: Facts, first: FirstFailure | None) -> Iterator[TimelineEntry]:
    if first is not None:
        yield TimelineEntry(
            Moment.FIRST_FAILURE,
            first.text[:TEXT_CHARS],
            first.time,
            rank=first.rank,
            host=first.host,
            source=first.source,
            line=first.line,
            ranks=(first.rank,) if first.rank is not None else (),
        )


def _groups(facts: Facts, first: FirstFailure | None) -> Iterator[_Group]:
    groups: dict[tuple[Moment, str], _Group] = {}
    place = (first.source, first.line) if first is not None else None

    def add(
        kind: Moment, key: str, text: str, hit: Hit, time: datetime | None, rank: int | None, host: str | None
    ) -> None:
        group = groups.get((kind, key))
        if group is None:
            group = groups[kind, key] = _Group(kind, text, hit)
        group.add(hit, time, rank, host)

    for mark in facts.marks:
        is_told = first is not None and first.rule == mark.rule != "" and mark.rank in (None, first.rank)
        if (mark.source, mark.line) == place or (mark.is_own and is_told):
            continue
        kind = Moment.FAILURE if mark.is_own else Moment.ECHO
        text = mark.hit.record.text.strip()
        stamp = mark.stamp or (facts.failed_at.get(mark.rank) if mark.rank is not None else None)
        time = stamp.time if stamp is not None else None
        add(kind, mark.title or _DIGITS.sub("#", text[:80]), mark.title or text, mark.hit, time, mark.rank, mark.host)
    for sign in facts.signs:
        if sign.kind in ("stop", "node"):
            time = sign.stamp.time if sign.stamp is not None else None
            host = sign.captures.get("host") or place_from(sign.hit.record.source.identity)
            key = sign.name + (sign.captures.get("how") or "")
            add(Moment.STOP, key, sign.text, sign.hit, time, None, host)
    for end in facts.exits:
        time = end.stamp.time if end.stamp is not None else None
        told = "" if end.is_own else ", as it was told to"
        add(Moment.EXIT, end.how, f"ended by {end.how}{told}", end.sign.hit, time, end.rank, end.host)
    yield from groups.values()


def _entry(group: _Group) -> TimelineEntry:
    record = group.hit.record
    ranks = tuple(sorted(group.ranks))
    return TimelineEntry(
        kind=group.kind,
        text=group.text[:TEXT_CHARS],
        time=group.first,
        rank=ranks[0] if len(ranks) == 1 else None,
        host=next(iter(group.hosts)) if len(group.hosts) == 1 else None,
        source=record.source.name,
        line=record.line,
        ranks=ranks,
        count=max(group.count, len(ranks)),
        until=group.last if group.last != group.first else None,
    )


def _ordered(entries: Sequence[TimelineEntry]) -> list[TimelineEntry]:
    """Return the entries by time; one without takes the latest time of those whose kind comes before its own."""
    phase = {kind: at for at, kind in enumerate(_ORDER)}
    timed = sorted(
        (each for each in entries if each.time is not None),
        key=lambda each: (each.time, phase[each.kind], each.source, each.line),
    )
    ordered = list(timed)
    untimed = sorted(
        (each for each in entries if each.time is None), key=lambda each: (phase[each.kind], each.source, each.line)
    )
    for each in untimed:
        at = max((i + 1 for i, other in enumerate(ordered) if phase[other.kind] <= phase[each.kind]), default=0)
        ordered.insert(at, each)
    return ordered


def _cut(entries: list[TimelineEntry]) -> list[TimelineEntry]:
    """Return at most limits.TIMELINE_ROWS entries: echoes that the fewest ranks show go first."""
    spare = len(entries) - limits.TIMELINE_ROWS
    if spare <= 0:
        return entries
    rank_of_kind = {Moment.ECHO: 0, Moment.EXIT: 1, Moment.STOP: 2, Moment.FAILURE: 3}
    droppable = [each for each in entries if each.kind in rank_of_kind]
    droppable.sort(key=lambda each: (rank_of_kind[each.kind], each.count))
    dropped = {id(each) for each in droppable[: spare + 1]}
    kept = [each for each in entries if id(each) not in dropped]
    kinds = "further echoes, ends and failures"
    more = TimelineEntry(Moment.ECHO, f"{len(dropped)} {kinds} left out here", count=len(dropped))
    last = next((i for i, each in enumerate(kept) if each.kind is Moment.END), len(kept))
    return [*kept[:last], more, *kept[last:]]
