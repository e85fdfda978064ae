"""Which ranks the job has, and which of them wrote a record.

In: scan results and signs. Out: `Members`. A record names its rank, or only its rank on the host ("[default1]:", a file
per process). The second becomes the first by what else is said of that host: torchelastic's tables, records that name
both, and where all ranks of the job fit on one host, the number itself.

    gpu-node-18: "rank : 3 (local_rank: 1)"     local rank 1 on gpu-node-18 is rank 3 from here on
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from troubleshoot.job.signs import Sign, members_of
from troubleshoot.model import Hit, Identity, Record, ScanResult

MOST_RANKS = 1_000_000


class Members:
    """The ranks of one job and where they run."""

    def __init__(self, results: Sequence[ScanResult], signs: Sequence[Sign]) -> None:
        self._ranks: dict[tuple[str | None, int], int] = {}
        self._ambiguous: set[tuple[str | None, int]] = set()
        self.hosts: dict[int, str] = {}
        self.seen: set[int] = set()
        self._locals: set[tuple[str | None, int]] = set()
        stated: list[int] = []
        for sign in signs:
            stated += self._take_sign(sign)
        for result in results:
            stated += self._take_result(result)
        self.total = self._total(stated)
        if not self._ranks and self.total == len(self._locals) and len({place for place, _ in self._locals}) == 1:
            self._ranks = {(place, local): local for place, local in self._locals}
        self._place_by_source(results)
        self.seen.update(rank for rank in (self._ranks.get(each) for each in self._locals) if rank is not None)

    def _place_by_source(self, results: Sequence[ScanResult]) -> None:
        """Put the ranks of a source to the one host that is known of some of them, where the sources share the ranks
        out: each is then the log of one host."""
        of_source: dict[str, set[int]] = {}
        for result in results:
            identities = [identity_of(hit.record) for hit in result.hits] + [each.identity for each in result.progress]
            ranks = {each.rank for each in identities if each.rank is not None}
            if ranks:
                of_source[result.source.name] = ranks
        total = sum(len(ranks) for ranks in of_source.values())
        if len(of_source) < 2 or total != len(set().union(*of_source.values())):
            return
        for ranks in of_source.values():
            hosts = {self.hosts[rank] for rank in ranks if rank in self.hosts}
            if len(hosts) == 1:
                host = hosts.pop()
                for rank in ranks:
                    self.hosts.setdefault(rank, host)

    def rank_of(self, hit: Hit) -> int | None:
        """Return the rank that wrote the record."""
        return self.rank_from(identity_of(hit.record))

    def rank_of_source(self, result: ScanResult) -> int | None:
        """Return the rank whose source it is."""
        return self.rank_from(result.source.identity)

    def rank_from(self, identity: Identity) -> int | None:
        """Return the rank that an identity names, at first or second hand."""
        if identity.rank is not None or identity.local_rank is None:
            return identity.rank
        return self.rank_at(place_from(identity), identity.local_rank)

    def rank_at(self, place: str | None, local_rank: int) -> int | None:
        """Return which rank a host's local rank is."""
        return self._ranks.get((place, local_rank))

    def host_of(self, hit: Hit, rank: int | None) -> str | None:
        """Return the host (or pod) that wrote the record, or on which the rank is known to run."""
        return place_from(identity_of(hit.record)) or (self.hosts.get(rank) if rank is not None else None)

    def everybody(self) -> set[int]:
        """Return the ranks of the job: as many as are stated, else those that wrote something."""
        return set(range(self.total)) if self.total else self.seen

    def host_that_holds(self, ranks: Collection[int]) -> str | None:
        """Return the host that has these ranks and no others, where the job has more hosts than it."""
        hosts = {self.hosts.get(rank) for rank in ranks}
        host = hosts.pop() if len(hosts) == 1 else None
        if host is None or not any(place != host for place in self.hosts.values()):
            return None
        return host if {rank for rank, place in self.hosts.items() if place == host} <= set(ranks) else None

    def _take_sign(self, sign: Sign) -> list[int]:
        stated = [number for number in (sign.number("world"),) if number]
        peers = sign.number("peers")
        if peers is not None:
            stated.append(peers + 1)
        rank, local, host = sign.number("rank"), sign.number("local_rank"), sign.captures.get("host")
        place = place_from(identity_of(sign.hit.record))
        if sign.kind == "entry" and rank is not None and local is not None:
            for each in {host, place}:
                self._map(each, local, rank)
            if host:
                self.hosts.setdefault(rank, host)
        if sign.kind == "ranks":
            pairs = zip(
                members_of(sign.captures.get("local_ranks")), members_of(sign.captures.get("members")), strict=False
            )
            for local_rank, global_rank in pairs:
                self._map(place, local_rank, global_rank)
        if sign.kind in ("entry", "world", "root") and rank is not None:
            self.seen.add(rank)
        if sign.kind == "exit":
            self.seen.update(members_of(sign.captures.get("members")))
        return stated

    def _take_result(self, result: ScanResult) -> list[int]:
        self._take_identity(result.source.identity)
        if result.info is not None:
            self._take_identity(result.info.identity)
        for hit in result.hits:
            self._take_identity(hit.record.identity)
        for each in result.progress:
            self._take_identity(each.identity)
        of_flight = [result.flight.world] if result.flight is not None and result.flight.world else []
        return [*of_flight, *(each.world for each in result.progress if each.world)]

    def _take_identity(self, identity: Identity) -> None:
        place, rank, local = place_from(identity), identity.rank, identity.local_rank
        if rank is not None:
            self.seen.add(rank)
            if place is not None:
                self.hosts.setdefault(rank, place)
        if local is not None:
            self._locals.add((place, local))
            if rank is not None:
                self._map(place, local, rank)

    def _map(self, place: str | None, local: int, rank: int) -> None:
        """Remember a local rank; one that two ranks have (two hosts of the same unknown name) is nobody's."""
        key = (place, local)
        if key in self._ambiguous:
            return
        if self._ranks.setdefault(key, rank) != rank:
            self._ambiguous.add(key)
            del self._ranks[key]

    def _total(self, stated: Sequence[int]) -> int | None:
        """Return the largest size that is stated: groups within the job are smaller. A number of nodes under the same
        name is betrayed by a rank beyond it."""
        most = max((number for number in stated if 0 < number <= MOST_RANKS), default=None)
        return most if most is not None and most > max(self.seen, default=-1) else None


def identity_of(record: Record) -> Identity:
    return record.identity.over(record.source.identity)


def place_from(identity: Identity) -> str | None:
    """Return the host, else the pod: what a process dies with."""
    return identity.host or identity.pod
