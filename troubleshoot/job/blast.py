"""What the failure reached: ranks that failed, that only echo, that are silent; hosts; every rank's track.

In: the facts of a job and its first failure. Out: a `RankSummary`, hosts, `Track`s. A rank failed if it shows an error
of its own, or ended by itself without an echo to account for it. It echoes if it shows echoes or was told to end.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from troubleshoot.job.facts import Facts
from troubleshoot.job.members import place_from
from troubleshoot.model import FirstFailure, RankSummary, Track

FAILED, ECHOING, SILENT, QUIET = "failed", "echoing", "silent", "quiet"


def sum_up_ranks(facts: Facts, first: FirstFailure | None) -> RankSummary:
    """Return the ranks by what became of them; none is in two of the groups."""
    failed = set(facts.owning) | {each.rank for each in facts.own_exits() if each.rank is not None}
    if first is not None and first.rank is not None:
        failed.add(first.rank)
    echoing = set(facts.echoing) | {each.rank for each in facts.exits if each.rank is not None}
    members = facts.members
    silent = set(range(members.total)) - members.seen - failed - echoing if members.total else set()
    return RankSummary(
        total=members.total,
        seen=len(members.seen | failed | echoing),
        failed=tuple(sorted(failed)),
        echoing=tuple(sorted(echoing - failed)),
        silent=tuple(sorted(silent)),
    )


def hosts_of_job(facts: Facts) -> tuple[str, ...]:
    """Return every host, or pod where hosts have no names, that the logs speak of as theirs."""
    named = set(facts.members.hosts.values())
    for result in facts.results:
        place = place_from(result.source.identity)
        if place:
            named.add(place)
    return tuple(sorted(named))


def hosts_that_failed(facts: Facts, ranks: RankSummary, first: FirstFailure | None) -> tuple[str, ...]:
    """Return the hosts of ranks that failed, hosts with a fault of their own, and hosts that were lost."""
    hosts = {facts.members.hosts[rank] for rank in ranks.failed if rank in facts.members.hosts}
    hosts |= {mark.host for mark in facts.marks if mark.is_own and mark.host is not None and mark.rank is None}
    hosts |= {each.host for each in facts.own_exits() if each.host is not None and each.rank is None}
    hosts |= {sign.captures["host"] for sign in facts.signs if sign.kind == "node" and sign.captures.get("host")}
    if first is not None and first.host is not None:
        hosts.add(first.host)
    return tuple(sorted(hosts))


def draw_tracks(facts: Facts, ranks: RankSummary, first: FirstFailure | None) -> tuple[Track, ...]:
    """Return one track per rank, in order; per source where no ranks are known."""
    spans = _Spans(facts)
    numbers = sorted(facts.members.seen | {*ranks.failed, *ranks.echoing, *ranks.silent})
    if not numbers:
        return tuple(_source_tracks(facts, first))
    failed, echoing, silent = set(ranks.failed), set(ranks.echoing), set(ranks.silent)
    tracks = []
    for rank in numbers:
        fate = FAILED if rank in failed else ECHOING if rank in echoing else SILENT if rank in silent else QUIET
        start, end = spans.of_rank.get(rank, (None, None))
        at = spans.failed_at.get(rank)
        if first is not None and first.rank == rank and first.time is not None:
            at = first.time
        if at is None and fate == FAILED:
            at = end  # a traceback has no time of its own: it came after that
        tracks.append(Track(f"rank {rank}", rank, facts.members.hosts.get(rank), fate, start, _latest(end, at), at))
    return tuple(tracks)


class _Spans:
    """First and last time of each rank, and when it first showed a failure."""

    def __init__(self, facts: Facts) -> None:
        self.of_rank: dict[int, tuple[datetime | None, datetime | None]] = {}
        self.failed_at: dict[int, datetime] = {}
        members = facts.members
        for result in facts.results:
            rank = members.rank_from(result.source.identity)
            info = result.info
            begin = info.first_time if info is not None else None
            if rank is not None and info is not None:
                self._widen(rank, info.first_time, info.last_time)
            for each in result.progress:
                owner = members.rank_from(each.identity)
                if owner is not None and each.stamp is not None:
                    self._widen(owner, begin, each.stamp.time)
            for hit in result.hits:
                owner = members.rank_of(hit)
                if owner is not None and hit.record.stamp is not None:
                    self._widen(owner, hit.record.stamp.time, hit.record.stamp.time)
        for mark in facts.marks:
            stamp = mark.stamp or (facts.failed_at.get(mark.rank) if mark.rank is not None else None)
            if mark.rank is not None and stamp is not None:
                self.failed_at[mark.rank] = min(self.failed_at.get(mark.rank, stamp.time), stamp.time)
        for end in facts.exits:
            if end.rank is not None and end.stamp is not None:
                self.failed_at.setdefault(end.rank, end.stamp.time)

    def _widen(self, rank: int, first: datetime | None, last: datetime | None) -> None:
        begin, end = self.of_rank.get(rank, (None, None))
        self.of_rank[rank] = (_earliest(begin, first), _latest(end, last))


def _source_tracks(facts: Facts, first: FirstFailure | None) -> Iterable[Track]:
    failed = {mark.source: mark.stamp for mark in facts.marks if mark.is_own}
    echoed = {mark.source: mark.stamp for mark in facts.marks if not mark.is_own}
    for result in facts.results:
        name, info = result.source.name, result.info
        is_first = first is not None and first.source == name
        fate = FAILED if name in failed or is_first else ECHOING if name in echoed else QUIET
        stamp = failed.get(name) or echoed.get(name)
        begin, end = (info.first_time, info.last_time) if info is not None else (None, None)
        at = first.time if first is not None and is_first else stamp.time if stamp is not None else None
        yield Track(name, None, place_from(result.source.identity), fate, begin, _latest(end, at), at)


def _earliest(a: datetime | None, b: datetime | None) -> datetime | None:
    return min((each for each in (a, b) if each is not None), default=None)


def _latest(a: datetime | None, b: datetime | None) -> datetime | None:
    return max((each for each in (a, b) if each is not None), default=None)
