"""What others say of who failed first: launchers, schedulers, ranks that waited.

In: the facts of a job. Out: a `Claim`, or None, from each of them:

    by_statement   mpirun and MPI_Abort name a rank; torchelastic's blocks name one per node
    by_exit        one process ended by itself, the others were told to; srun's lines stand in order
    by_node        a host was lost, a pod was taken away
    by_stop        the job was stopped from outside
    by_absence     of ranks that waited in a collective, the one that never reported, or is behind
    by_difference  of ranks that wait in one collective, the few that wait in another operation
    by_flight      flight recorder dumps show who is missing from a collective
    by_barrier     a barrier tells who never came
"""

from __future__ import annotations

from troubleshoot.job.claims import Claim, is_before, name_of, ranks_in_words
from troubleshoot.job.facts import Facts
from troubleshoot.job.members import identity_of, place_from
from troubleshoot.job.recorders import find_gap
from troubleshoot.job.signs import Sign, members_of
from troubleshoot.model import Confidence, Hit, Record

_ORIGINS = {"the torchrun agent": "torchelastic"}
FEW = 4  # one in so many ranks may be missing among those that timed out, to be the culprits


def by_statement(facts: Facts) -> Claim | None:
    for sign in facts.signs:
        rank = sign.number("rank")
        if sign.kind == "root" and rank is not None:
            host = sign.captures.get("host") or facts.members.hosts.get(rank)
            return Claim(rank, host, sign, f"{sign.by} names rank {rank} first", Confidence.HIGH, sign.by, sign.stamp)
    return _by_elastic(facts)


def _by_elastic(facts: Facts) -> Claim | None:
    """Return the earliest root entry of torchelastic's blocks that is no echo; a tie of seconds is none."""
    heads = {(sign.source, sign.line + 2) for sign in facts.signs if sign.name == "elastic_root"}
    own = {(each.sign.source, each.sign.line): each for each in facts.own_exits()}
    roots = [
        own[sign.source, sign.line]
        for sign in facts.signs
        if sign.name == "elastic_entry" and (sign.source, sign.line) in heads and (sign.source, sign.line) in own
    ]
    roots.sort(key=lambda each: (each.stamp.time.timestamp() if each.stamp else 0.0, each.rank or 0))
    if not roots or (len(roots) > 1 and is_before(roots[0].stamp, roots[1].stamp) is not True):
        return None
    first = roots[0]
    because = (
        f"torchelastic's root cause block on {first.host or first.sign.source} names rank {first.rank} ({first.how})"
    )
    return Claim(
        first.rank,
        first.host,
        first.sign,
        because,
        Confidence.MEDIUM,
        "torchelastic's root cause block",
        first.stamp,
        origin="torchelastic",
    )


def by_exit(facts: Facts) -> Claim | None:
    """Return the only process that ended by itself, or the first that its launcher tells of."""
    own = [each for each in facts.own_exits() if each.rank is not None or each.host is not None]
    ranks = list(dict.fromkeys(each.rank for each in own))
    if not own:
        return None
    first = own[0]
    told = sorted({each.rank for each in facts.exits if not each.is_own and each.rank is not None} - set(ranks))
    if len(ranks) == 1:
        who = name_of(first.rank, first.host, first.sign.source)
        because = f"{who} ended by {first.how}, as {first.sign.by} tells"
        if told:
            because += f"; {ranks_in_words(told)} {'were' if len(told) > 1 else 'was'} told to end"
        confidence = Confidence.MEDIUM if told or first.signal is not None else Confidence.LOW
        way, origin = f"the exit told by {first.sign.by}", _ORIGINS.get(first.sign.by, first.sign.by)
        return Claim(first.rank, first.host, first.sign, because, confidence, way, first.stamp, origin=origin)
    if len({(each.sign.source, each.sign.line) for each in own}) > 1 and all(each.sign.by == "srun" for each in own):
        because = f"srun tells of rank {first.rank} ({first.how}) before any other"
        way = "the order of srun's lines"
        return Claim(first.rank, first.host, first.sign, because, Confidence.LOW, way, first.stamp)
    return None


def by_node(facts: Facts) -> Claim | None:
    lost = next((sign for sign in facts.signs if sign.kind in ("node", "taken")), None)
    if lost is None:
        return None
    host = lost.captures.get("host") or place_from(identity_of(lost.hit.record))
    if host is None:
        return None
    ranks = [rank for rank, place in facts.members.hosts.items() if place == host]
    only = ranks[0] if len(ranks) == 1 else None
    because = f"{lost.by} reports that node {host} was lost"
    if lost.kind == "taken":
        how = "was preempted" if lost.captures.get("how", "").lower().startswith("preempt") else "was evicted"
        because = f"{lost.by} reports that pod {host} {how}"
    return Claim(only, host, lost, because, Confidence.HIGH, "node", lost.stamp)


def by_stop(facts: Facts) -> Claim | None:
    told = next((sign for sign in facts.signs if sign.kind == "told"), None)
    if told is None:
        return None
    how = told.captures.get("how") or ""
    reason = f" ({how.lower()})" if how and not how.isdigit() else f" (signal {how})" if how else ""
    because = f"{told.by} was told to end the job from outside{reason}: no rank failed first"
    if told.by == "Slurm":
        because = f"Slurm cancelled the job{reason or ' on request'}: no rank failed first"
    return Claim(None, None, told, because, Confidence.MEDIUM, "stop", told.stamp)


# --- who is missing --------------------------------------------------------------------------------------------------


def by_absence(facts: Facts) -> Claim | None:
    """Return the rank that the others waited for in a collective."""
    waiting = _waiting(facts)
    everybody = facts.members.everybody()
    missing = sorted(everybody - set(waiting))
    if not waiting:
        return None
    first = waiting[min(waiting)]
    operation = first.captures.get("op") or "a collective"
    what = f"{ranks_in_words(sorted(waiting))} waited in {operation} until the timeout"
    if len(missing) == 1:
        rank = missing[0]
        last = facts.progress.get(rank)
        behind = f" (its last step is {last.step})" if last is not None else ""
        because = f"{what}, and rank {rank} never reported: it is the one they waited for{behind}"
        seen = last.stamp if last is not None and last.stamp is not None else first.stamp
        return Claim(rank, facts.members.hosts.get(rank), first, because, Confidence.MEDIUM, "absence", seen)
    host = facts.members.host_that_holds(missing)
    if host is not None and len(missing) * 2 <= len(everybody):
        because = f"{what}; {ranks_in_words(missing)}, all that {host} has, never reported: they waited for that host"
        return Claim(None, host, first, because, Confidence.MEDIUM, "absence", first.stamp)
    if missing and len(missing) * FEW <= len(everybody):
        because = f"{what}; {ranks_in_words(missing)} never reported: the first failure is among them"
        return Claim(None, None, first, because, Confidence.LOW, "absence", first.stamp)
    return _by_lag(waiting)


def by_difference(facts: Facts) -> Claim | None:
    """Return the rank that waits in another operation than the others do in the collective of the same number."""
    waiting = {rank: sign for rank, sign in _waiting(facts).items() if sign.captures.get("op") and sign.number("seq")}
    kinds: dict[tuple[int | None, str], list[int]] = {}
    for rank, sign in waiting.items():
        kinds.setdefault((sign.number("seq"), sign.captures["op"]), []).append(rank)
    if len(kinds) < 2 or len({seq for seq, _ in kinds}) > 1:
        return None
    (_, most), (_, fewest) = (
        max(kinds, key=lambda kind: len(kinds[kind])),
        min(kinds, key=lambda kind: len(kinds[kind])),
    )
    odd = sorted(rank for (_, op), ranks in kinds.items() if op != most for rank in ranks)
    if len(odd) * FEW > len(waiting):
        return None
    sign = waiting[odd[0]]
    host = facts.members.host_that_holds(odd) if len(odd) > 1 else facts.members.hosts.get(odd[0])
    verb = "wait" if len(odd) > 1 else "waits"
    because = (
        f"{ranks_in_words(odd)} {verb} in {fewest} where the others wait in {most}, both number {sign.number('seq')}"
    )
    only = odd[0] if len(odd) == 1 else None
    return Claim(only, host, sign, because, Confidence.MEDIUM, "the difference of operations", sign.stamp)


def _waiting(facts: Facts) -> dict[int, Sign]:
    """Return by rank the first sign of its timeout."""
    waiting: dict[int, Sign] = {}
    for sign in facts.signs:
        if sign.kind == "timeout":
            rank = facts.members.rank_of(sign.hit)
            rank = rank if rank is not None else sign.number("rank")
            if rank is not None:
                waiting.setdefault(rank, sign)
    return waiting


def _by_lag(waiting: dict[int, Sign]) -> Claim | None:
    """Return the rank whose collective is the lowest in number, where the others agree on a later one."""
    numbers = {rank: sign.number("seq") for rank, sign in waiting.items()}
    known = sorted((seq, rank) for rank, seq in numbers.items() if seq is not None)
    if len(known) < 2 or known[0][0] == known[1][0]:
        return None
    (seq, rank), (later, _) = known[:2]
    sign = waiting[rank]
    because = f"rank {rank} waits in collective {seq}, the others in {later} or later: it is behind"
    host = sign.hit.record.identity.host
    return Claim(rank, host, sign, because, Confidence.LOW, "the lowest collective", sign.stamp)


def by_flight(facts: Facts) -> Claim | None:
    """Return who is missing from the collective that the others' flight recorders show them waiting in."""
    dumps = {
        rank: result
        for result in facts.results
        if result.flight and (rank := facts.members.rank_of_source(result)) is not None
    }
    gap = find_gap({rank: result.flight for rank, result in dumps.items() if result.flight is not None})
    if gap is None:
        return None
    what = f"{ranks_in_words(gap.waiting)} wait in collective {gap.seq} of {gap.group} ({gap.operation})"
    odd = tuple(gap.differing or ())
    if gap.absent:
        those = gap.absent
        last = ", ".join(str(each) for each in sorted({(gap.behind or {})[rank] for rank in those}))
        said = f"{ranks_in_words(those)} never called it, and {'are' if len(those) > 1 else 'is'} at {last}"
    elif odd:
        those = odd
        said = f"{ranks_in_words(those)} under that number in {next(iter((gap.differing or {}).values()))}"
    elif gap.undumped and len(gap.undumped) * FEW <= len(gap.undumped) + len(dumps):
        those = gap.undumped
        said = f"{ranks_in_words(those)} left no dump"
    elif gap.stuck:
        those = gap.stuck
        gpus = f"the {'GPUs' if len(those) > 1 else 'GPU'} of {ranks_in_words(those)}"
        said = f"{gpus} did not begin it: something before it does not end there"
    else:
        return None
    result = dumps.get(those[0]) or dumps[gap.waiting[0]]
    text = f"flight recorder: {what}; {said}"
    record = Record(result.source, 1, 1, 0, text, text)
    sign = Sign("flight", "flight_recorder", "the flight recorder", Hit(-1, record, {}, 0, 0))
    is_sure = len(those) == 1 and those is not gap.undumped and those is not gap.stuck
    host = facts.members.hosts.get(those[0]) if len(those) == 1 else facts.members.host_that_holds(those)
    confidence = Confidence.HIGH if is_sure else Confidence.MEDIUM if those in (gap.absent, odd) else Confidence.LOW
    rank = those[0] if len(those) == 1 else None
    return Claim(rank, host, sign, f"the flight recorder shows that {what}; {said}", confidence, "the flight recorder")


def by_barrier(facts: Facts) -> Claim | None:
    for sign in facts.signs:
        if sign.kind == "missing":
            rank = sign.number("rank")
            members = members_of(sign.captures.get("members")) or ((rank,) if rank is not None else ())
            if len(members) == 1:
                because = f"{sign.by} waited for rank {members[0]}, which never came"
                host = facts.members.hosts.get(members[0])
                return Claim(members[0], host, sign, because, Confidence.MEDIUM, "the barrier", sign.stamp)
    return None
