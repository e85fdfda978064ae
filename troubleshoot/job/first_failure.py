"""Which process failed first, and how we know.

In: the facts of a job. Out: a `FirstFailure`, or None where nothing failed. The ways to know, surest first:

1. **An error of its own.** A rank that shows a fault, where the others show echoes of a lost peer. Marks of the finding
   that triage put first go before all others, for knowing causes goes before any clock.
2. **Time**, where several ranks show errors of their own and their clocks can be compared.
3. **Who says so**: mpirun, MPI_Abort, torchelastic's block (each node has one, of whole seconds, and knows its own
   workers only, so a block that names an echoing rank tells nothing), Slurm's lines in their order, pods' states.
4. **An end of its own** where no log shows an error: SIGKILL leaves none.
5. **A stop from outside**: the scheduler or a signal ended the job, and no rank failed before.
6. **Absence.** Of ranks that wait in a collective until the timeout, the one that does not report is the one they
   waited for, or the one that is behind; a barrier names who never came.

A second way that names the same rank raises the confidence by a step, one that names another rank lowers it and is
told as the runner-up. Where many ranks show one fault at one time, there is no first one, and none is invented.
Source: knowledge/job-bundles.md, section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from troubleshoot.clocks import stamp_before
from troubleshoot.job.facts import Facts
from troubleshoot.job.marks import OWN, Mark
from troubleshoot.job.signs import Sign, members_of
from troubleshoot.model import Confidence, FirstFailure, Stamp
from troubleshoot.ranks import compress_ranks

_ORIGINS = {"the torchrun agent": "torchelastic"}
MANY = 3  # ranks that echo, nearly all there are, leave no doubt about the one that does not
FEW = 4  # one in so many ranks may be missing among those that timed out, to be the culprits


@dataclass(frozen=True, slots=True)
class Claim:
    """Somebody's word on who failed first. `way` names how it is known, for a sentence that only supports another;
    `origin` who is behind it, for one witness in two places is one witness."""

    rank: int | None
    host: str | None
    sign_or_mark: Sign | Mark
    because: str
    confidence: Confidence
    way: str
    stamp: Stamp | None = None
    runner_up: str = ""
    origin: str = ""

    @property
    def witness(self) -> str:
        return self.origin or self.way


def find_first_failure(facts: Facts) -> FirstFailure | None:
    """Return who failed first, None where nothing tells of a failure."""
    ways = (_by_own_error, _by_statement, _by_exit, _by_absence, _by_barrier, _by_node, _by_stop)
    claims = [claim for claim in (way(facts) for way in ways) if claim is not None]
    if len(claims) > 1 and _is_vague(claims[0]):
        claims = [*claims[1:], claims[0]]
    for way in ("node", "stop"):  # it ended what the ranks then show
        outside = next((claim for claim in claims if claim.way == way), None)
        if outside is not None and outside is not claims[0] and _goes_before(facts, outside, claims[0]):
            claims = [outside, *(claim for claim in claims if claim is not outside)]
    if claims:
        return _told(facts, _weighed(claims[0], claims[1:]))
    return _from_echoes(facts)


def _is_vague(claim: Claim) -> bool:
    """Tell whether a claim is only that a line looks like a failure, of nobody in particular."""
    what = claim.sign_or_mark
    return claim.rank is None and isinstance(what, Mark) and what.reading != OWN


def _goes_before(facts: Facts, outside: Claim, claim: Claim) -> bool:
    """Tell whether what came from outside is the beginning: it came before, or nobody in the job is named, or what is
    named is the very line that tells of the stop."""
    if outside.way == "node":
        return claim.rank is None or _is_before(outside.stamp, claim.stamp)
    if claim.way == "absence" and claim.rank is None:
        return True
    place = (claim.sign_or_mark.source, claim.sign_or_mark.line)
    return any(place == (sign.source, sign.line) for sign in facts.signs if sign.kind in ("stop", "told"))


def _weighed(claim: Claim, others: Sequence[Claim]) -> Claim:
    """Return the claim with what the others say for or against it."""
    if claim.rank is None:
        return claim
    witnesses: dict[str, str] = {}
    for each in others:
        if each.rank == claim.rank and each.witness != claim.witness:
            witnesses.setdefault(each.witness, each.way)
    agreeing = list(witnesses.values())
    against = [each for each in others if each.rank is not None and each.rank != claim.rank]
    confidence = claim.confidence
    because, runner_up = claim.because, claim.runner_up
    if agreeing:
        confidence = Confidence(min(confidence + 1, Confidence.HIGH))
        because += f"; {_listed(agreeing)} {'agree' if len(agreeing) > 1 else 'agrees'}"
    elif against:
        confidence = Confidence(max(confidence - 1, Confidence.LOW))
    if against and not runner_up:
        runner_up = f"{against[0].way} names rank {against[0].rank}: {against[0].because}"
    return replace(claim, confidence=confidence, because=because, runner_up=runner_up)


def _told(facts: Facts, claim: Claim) -> FirstFailure:
    what = claim.sign_or_mark
    record = what.hit.record
    stamp = claim.stamp or what.stamp
    return FirstFailure(
        rank=claim.rank,
        host=claim.host or (facts.members.hosts.get(claim.rank) if claim.rank is not None else None),
        source=record.source.name,
        line=record.line,
        text=" ".join(record.text.split()),
        because=claim.because,
        confidence=claim.confidence,
        time=stamp.time if stamp is not None else None,
        runner_up=claim.runner_up,
        rule=what.rule if isinstance(what, Mark) else "",
    )


# --- 1 and 2: errors of their own ------------------------------------------------------------------------------------


def _by_own_error(facts: Facts) -> Claim | None:
    own = [mark for mark in facts.marks if mark.is_own]
    leading = [mark for mark in own if mark.at == 0 and mark.reading == OWN]
    known = [mark for mark in own if mark.reading == OWN]
    first = _first_of_actors(leading or known or own)
    first = [mark for mark in first if mark.rank is not None] or first
    if not first:
        return None
    if len(first) == 1:
        return _alone(facts, first[0])
    return _by_clock(facts, first) or _by_order(facts, first) or _alike(facts, first)


def _first_of_actors(marks: Iterable[Mark]) -> list[Mark]:
    """Return the first mark of each rank (or host, or source)."""
    first: dict[tuple[int | None, str | None, str], Mark] = {}
    for mark in marks:
        held = first.setdefault(mark.actor, mark)
        if held is not mark and _is_before(mark.stamp, held.stamp):
            first[mark.actor] = mark
    return list(first.values())


def _alone(facts: Facts, mark: Mark) -> Claim:
    rank, host = mark.rank, mark.host
    how = ""
    if rank is None:
        rank, how = _rank_by_end(facts, host)
    if rank is None and len(facts.members.seen) == 1 and (facts.members.total or 1) == 1:
        rank = min(facts.members.seen)  # there is nobody else
    echoing = sorted(facts.echoing - {rank if rank is not None else -1})
    if rank is None:
        because = f"the first line that shows it stands in {mark.source}, and names no rank"
        if host is not None:
            because = f"{host} shows a fault of its own"
    else:
        because = f"rank {rank} shows an error of its own{how}"
    if echoing:
        because += f"; {_ranks(echoing)} only {'echo' if len(echoing) > 1 else 'echoes'} the loss of a peer"
        others = len(facts.members.seen) - 1
        is_clear = rank is not None and len(echoing) >= MANY and len(echoing) * 5 >= others * 4
        confidence = Confidence.HIGH if is_clear else Confidence.MEDIUM
    else:
        because += ", and no other rank shows any" if rank is not None and len(facts.members.seen) > 1 else ""
        confidence = Confidence.MEDIUM if rank is not None and len(facts.members.seen) > 1 else Confidence.LOW
    if mark.reading == OWN and mark.at == 0 and rank is None and host is not None:
        confidence = Confidence.MEDIUM
    origin = "torchelastic" if how else ""
    stamp = _stamp_of(facts, mark) or (facts.failed_at.get(rank) if rank is not None else None)
    return Claim(rank, host, mark, because, confidence, "its own error", stamp, origin=origin)


def _rank_by_end(facts: Facts, host: str | None) -> tuple[int | None, str]:
    """Return the rank that a host's fault ended: the only one there with an end of its own."""
    ends = {each.rank: each for each in facts.own_exits() if host is None or each.host in (None, host)}
    if len(ends) == 1:
        rank, end = next(iter(ends.items()))
        if rank is not None:
            return rank, f" on its host, and it ended by {end.how}"
    return None, ""


def _by_clock(facts: Facts, marks: Sequence[Mark]) -> Claim | None:
    """Return the earliest where its clock says so beyond doubt."""
    timed = [(mark, _stamp_of(facts, mark)) for mark in marks]
    sure = sorted(
        ((mark, stamp) for mark, stamp in timed if stamp is not None), key=lambda each: (each[1].time, each[0].source)
    )
    if len(sure) < 2 or len(sure) < len(marks):
        return None
    (mark, stamp), (second, after) = sure[:2]
    if stamp_before(stamp, after) is not True or len({each.zone for _, each in sure}) > 1:
        return None
    gap_s = (after.time - stamp.time).total_seconds()
    if gap_s < 2 and stamp.resolution_s >= 1:
        return None  # a launcher's table tells when it looked
    is_one_clock = (mark.host is not None and mark.host == second.host) or mark.source == second.source
    because = f"{_name(mark.rank, mark.host, mark.source)} shows its error {_gap(gap_s)} before any other"
    if facts.are_apart:
        confidence, caveat = Confidence.LOW, ", by clocks that do not agree"
    elif is_one_clock or gap_s >= 1:
        confidence, caveat = Confidence.MEDIUM, "" if is_one_clock else ", if the clocks of the hosts agree"
    else:
        confidence, caveat = Confidence.LOW, ", which is less than clocks of hosts may differ"
    runner_up = f"{_name(second.rank, second.host, second.source)}, {_gap(gap_s)} later"
    return Claim(mark.rank, mark.host, mark, because + caveat, confidence, "the clock", stamp, runner_up)


def _by_order(facts: Facts, marks: Sequence[Mark]) -> Claim | None:
    """Return the first in the one source that all of them stand in, where they do not tell the same."""
    if len({mark.source for mark in marks}) > 1 or len({mark.title for mark in marks}) < 2:
        return None
    if _by_statement(facts) is not None or _by_exit(facts) is not None:
        return None  # those who were there know better than the order of lines
    first, second = sorted(marks, key=lambda mark: mark.line)[:2]
    because = (
        f"the error of {_name(first.rank, first.host, first.source)} stands first in {first.source}, "
        "in which several processes write"
    )
    runner_up = f"{_name(second.rank, second.host, second.source)}, on line {second.line}"
    return Claim(
        first.rank, first.host, first, because, Confidence.LOW, "the order of lines", _stamp_of(facts, first), runner_up
    )


def _alike(facts: Facts, marks: Sequence[Mark]) -> Claim | None:
    """Return that there is no first one, unless somebody names it."""
    named = _by_statement(facts) or _by_exit(facts)
    mark = min(
        marks, key=lambda each: (each.at, each.rank if each.rank is not None else 1 << 30, each.source, each.line)
    )
    ranks = sorted({each.rank for each in marks if each.rank is not None})
    is_same = len({each.title for each in marks}) == 1
    if named is not None and named.rank in ranks and not is_same:
        own = next(each for each in marks if each.rank == named.rank)
        because = f"{named.because}; {_ranks(ranks)} show errors of their own, and no clock tells which was first"
        stamp = _stamp_of(facts, own)
        return Claim(named.rank, own.host, own, because, Confidence.LOW, named.way, stamp, origin=named.witness)
    who = _ranks(ranks) if ranks else f"{len(marks)} sources"
    because = f"{who} show {'the same fault' if is_same else 'errors of their own'} and no clock tells them apart: " + (
        "no single rank failed first" if is_same else "the first cannot be told"
    )
    runner_up = named.because if named is not None and named.rank in ranks else ""
    return Claim(None, None, mark, because, Confidence.LOW, "its own error", _stamp_of(facts, mark), runner_up)


# --- 3 and 4: what others say of it ----------------------------------------------------------------------------------


def _by_statement(facts: Facts) -> Claim | None:
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
    if not roots or (len(roots) > 1 and _is_before(roots[0].stamp, roots[1].stamp) is not True):
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


def _by_exit(facts: Facts) -> Claim | None:
    """Return the only process that ended by itself, or the first that its launcher tells of."""
    own = [each for each in facts.own_exits() if each.rank is not None or each.host is not None]
    ranks = list(dict.fromkeys(each.rank for each in own))
    if not own:
        return None
    first = own[0]
    told = sorted({each.rank for each in facts.exits if not each.is_own and each.rank is not None} - set(ranks))
    if len(ranks) == 1:
        who = _name(first.rank, first.host, first.sign.source)
        because = f"{who} ended by {first.how}, as {first.sign.by} tells"
        if told:
            because += f"; {_ranks(told)} {'were' if len(told) > 1 else 'was'} told to end"
        confidence = Confidence.MEDIUM if told or first.signal is not None else Confidence.LOW
        way, origin = f"the exit told by {first.sign.by}", _ORIGINS.get(first.sign.by, first.sign.by)
        return Claim(first.rank, first.host, first.sign, because, confidence, way, first.stamp, origin=origin)
    if len({(each.sign.source, each.sign.line) for each in own}) > 1 and all(each.sign.by == "srun" for each in own):
        because = f"srun tells of rank {first.rank} ({first.how}) before any other"
        way = "the order of srun's lines"
        return Claim(first.rank, first.host, first.sign, because, Confidence.LOW, way, first.stamp)
    return None


def _by_node(facts: Facts) -> Claim | None:
    lost = next((sign for sign in facts.signs if sign.kind == "node"), None)
    if lost is None:
        return None
    host = lost.captures.get("host")
    return Claim(None, host, lost, f"{lost.by} reports that node {host} was lost", Confidence.HIGH, "node", lost.stamp)


def _by_stop(facts: Facts) -> Claim | None:
    told = next((sign for sign in facts.signs if sign.kind == "told"), None)
    if told is None:
        return None
    how = told.captures.get("how") or ""
    reason = f" ({how.lower()})" if how and not how.isdigit() else f" (signal {how})" if how else ""
    because = f"{told.by} was told to end the job from outside{reason}: no rank failed first"
    if told.by == "Slurm":
        because = f"Slurm cancelled the job{reason or ' on request'}: no rank failed first"
    return Claim(None, None, told, because, Confidence.MEDIUM, "stop", told.stamp)


# --- 6: who is missing -----------------------------------------------------------------------------------------------


def _by_absence(facts: Facts) -> Claim | None:
    """Return the rank that the others waited for in a collective."""
    timeouts = [sign for sign in facts.signs if sign.kind == "timeout"]
    waiting: dict[int, Sign] = {}
    for sign in timeouts:
        rank = facts.members.rank_of(sign.hit)
        rank = rank if rank is not None else sign.number("rank")
        if rank is not None:
            waiting.setdefault(rank, sign)
    everybody = set(range(facts.members.total)) if facts.members.total else facts.members.seen
    missing = sorted(everybody - set(waiting))
    if not waiting:
        return None
    first = waiting[min(waiting)]
    if len(missing) == 1 or (missing and len(missing) * FEW <= len(everybody)):
        what = f"{_ranks(sorted(waiting))} waited in {first.captures.get('op') or 'a collective'} until the timeout"
        if len(missing) == 1:
            rank = missing[0]
            last = facts.progress.get(rank)
            behind = f" (its last step is {last.step})" if last is not None else ""
            because = f"{what}, and rank {rank} never reported: it is the one they waited for{behind}"
            seen = last.stamp if last is not None and last.stamp is not None else first.stamp
            return Claim(rank, facts.members.hosts.get(rank), first, because, Confidence.MEDIUM, "absence", seen)
        because = f"{what}; {_ranks(missing)} never reported: the first failure is among them"
        return Claim(None, None, first, because, Confidence.LOW, "absence", first.stamp)
    return _by_lag(waiting)


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


def _by_barrier(facts: Facts) -> Claim | None:
    for sign in facts.signs:
        if sign.kind == "missing":
            rank = sign.number("rank")
            members = members_of(sign.captures.get("members")) or ((rank,) if rank is not None else ())
            if len(members) == 1:
                because = f"{sign.by} waited for rank {members[0]}, which never came"
                host = facts.members.hosts.get(members[0])
                return Claim(members[0], host, sign, because, Confidence.MEDIUM, "the barrier", sign.stamp)
    return None


def _from_echoes(facts: Facts) -> FirstFailure | None:
    """Return the first echo, with the word that the failure itself was not read."""
    echoes = [mark for mark in facts.marks if not mark.is_own]
    if not echoes:
        return None
    mark = min(
        echoes, key=lambda each: (each.stamp is None, each.stamp.time.timestamp() if each.stamp else 0.0, each.at)
    )
    total = facts.members.total
    silent = sorted(set(range(total)) - facts.members.seen) if total else []
    rank = silent[0] if len(silent) == 1 else None
    because = "all that these logs show are echoes of a failure elsewhere"
    if silent:
        because += f"; nothing was read of {_ranks(silent)}"
    return FirstFailure(
        rank=rank,
        host=None,
        source=mark.source,
        line=mark.line,
        text=mark.hit.record.text.strip(),
        because=because,
        confidence=Confidence.LOW,
        time=mark.stamp.time if mark.stamp is not None else None,
        rule=mark.rule,
    )


# --- words and times -------------------------------------------------------------------------------------------------


def _stamp_of(facts: Facts, mark: Mark) -> Stamp | None:
    """Return when a mark was made; a traceback without a stamp has the time that its error file or its end tells."""
    return mark.stamp or (facts.failed_at.get(mark.rank) if mark.rank is not None else None)


def _is_before(a: Stamp | None, b: Stamp | None) -> bool:
    return stamp_before(a, b) is True


def _name(rank: int | None, host: str | None, source: str) -> str:
    if rank is not None:
        return f"rank {rank}"
    return host or source


def _ranks(ranks: Sequence[int]) -> str:
    return f"rank{'s' if len(ranks) > 1 else ''} {compress_ranks(ranks)}"


def _gap(seconds: float) -> str:
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def _listed(words: Sequence[str]) -> str:
    unique = list(dict.fromkeys(words))
    return ", ".join(unique[:-1]) + f" and {unique[-1]}" if len(unique) > 1 else unique[0]
