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
   waited for, or the one that is behind, or that waits in another operation; a barrier names who never came. Where
   nearly all echo the loss of a peer, it is the one, or the host, that does not.

A second way that names the same rank raises the confidence by a step, one that names another rank lowers it and is
told as the runner-up. Where many ranks show one fault at one time, there is no first one, and none is invented; if they
are just those of one host, it is that host.
Source: knowledge/job-bundles.md, section 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from troubleshoot.clocks import stamp_before
from troubleshoot.job.claims import Claim, gap_in_words, is_before, listed, name_of, ranks_in_words, stamp_of
from troubleshoot.job.facts import Facts
from troubleshoot.job.marks import OWN, Mark
from troubleshoot.job.witnesses import (
    by_absence,
    by_barrier,
    by_difference,
    by_exit,
    by_flight,
    by_node,
    by_statement,
    by_stop,
)
from troubleshoot.model import Confidence, FirstFailure

MANY = 3  # ranks that echo, nearly all there are, leave no doubt about the one that does not


def find_first_failure(facts: Facts) -> FirstFailure | None:
    """Return who failed first, None where nothing tells of a failure."""
    ways = (_by_own_error, by_statement, by_exit, by_flight, by_difference, by_absence, by_barrier, by_node, by_stop)
    claims = [claim for claim in (way(facts) for way in ways) if claim is not None]
    if len(claims) > 1 and _is_vague(claims[0]):
        claims = [*claims[1:], claims[0]]
    if claims and claims[0].rank is None and claims[0].host is None:  # all alike, but for one
        claims.sort(key=lambda claim: claim.way not in ("the difference of operations", "the flight recorder"))
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
        return claim.rank is None or is_before(outside.stamp, claim.stamp)
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
        because += f"; {listed(agreeing)} {'agree' if len(agreeing) > 1 else 'agrees'}"
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
        if held is not mark and is_before(mark.stamp, held.stamp):
            first[mark.actor] = mark
    return list(first.values())


def _alone(facts: Facts, mark: Mark) -> Claim:
    rank, host = mark.rank, mark.host
    how = ""
    if rank is None:
        rank, how = _rank_by_effect(facts, mark)
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
        because += f"; {ranks_in_words(echoing)} only {'echo' if len(echoing) > 1 else 'echoes'} the loss of a peer"
        others = len(facts.members.seen) - 1
        is_clear = rank is not None and len(echoing) >= MANY and len(echoing) * 5 >= others * 4
        confidence = Confidence.HIGH if is_clear else Confidence.MEDIUM
    else:
        because += ", and no other rank shows any" if rank is not None and len(facts.members.seen) > 1 else ""
        confidence = Confidence.MEDIUM if rank is not None and len(facts.members.seen) > 1 else Confidence.LOW
    if mark.reading == OWN and mark.at == 0 and rank is None and host is not None:
        confidence = Confidence.MEDIUM
    origin = "torchelastic" if "ended by" in how else ""
    stamp = stamp_of(facts, mark) or (facts.failed_at.get(rank) if rank is not None else None)
    return Claim(rank, host, mark, because, confidence, "its own error", stamp, origin=origin)


def _rank_by_effect(facts: Facts, cause: Mark) -> tuple[int | None, str]:
    """Return the rank on the fault's host that alone of all ranks shows what the fault explains."""
    ranks: dict[int, set[int]] = {}
    for mark in facts.marks:
        if mark.rank is not None and mark.at < len(facts.findings):
            ranks.setdefault(mark.at, set()).add(mark.rank)
    for at, those in sorted(ranks.items()):
        finding = facts.findings[at]
        (rank, *others) = those
        is_here = cause.host is not None and facts.members.hosts.get(rank) == cause.host
        if not others and is_here and not finding.symptom and cause.rule in finding.explained_by:
            return rank, f", by the fault of {cause.host}"
    return None, ""


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
    timed = [(mark, stamp_of(facts, mark)) for mark in marks]
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
    because = f"{name_of(mark.rank, mark.host, mark.source)} shows its error {gap_in_words(gap_s)} before any other"
    if facts.are_apart:
        confidence, caveat = Confidence.LOW, ", by clocks that do not agree"
    elif is_one_clock or gap_s >= 1:
        confidence, caveat = Confidence.MEDIUM, "" if is_one_clock else ", if the clocks of the hosts agree"
    else:
        confidence, caveat = Confidence.LOW, ", which is less than clocks of hosts may differ"
    runner_up = f"{name_of(second.rank, second.host, second.source)}, {gap_in_words(gap_s)} later"
    return Claim(mark.rank, mark.host, mark, because + caveat, confidence, "the clock", stamp, runner_up)


def _by_order(facts: Facts, marks: Sequence[Mark]) -> Claim | None:
    """Return the first in the one source that all of them stand in, where they do not tell the same."""
    if len({mark.source for mark in marks}) > 1 or len({mark.title for mark in marks}) < 2:
        return None
    if by_statement(facts) is not None or by_exit(facts) is not None:
        return None  # those who were there know better than the order of lines
    first, second = sorted(marks, key=lambda mark: mark.line)[:2]
    because = (
        f"the error of {name_of(first.rank, first.host, first.source)} stands first in {first.source}, "
        "in which several processes write"
    )
    runner_up = f"{name_of(second.rank, second.host, second.source)}, on line {second.line}"
    return Claim(
        first.rank, first.host, first, because, Confidence.LOW, "the order of lines", stamp_of(facts, first), runner_up
    )


def _alike(facts: Facts, marks: Sequence[Mark]) -> Claim | None:
    """Return that there is no first one, unless somebody names it."""
    named = by_statement(facts) or by_exit(facts)
    mark = min(
        marks, key=lambda each: (each.at, each.rank if each.rank is not None else 1 << 30, each.source, each.line)
    )
    ranks = sorted({each.rank for each in marks if each.rank is not None})
    is_same = len({each.title for each in marks}) == 1
    if named is not None and named.rank in ranks and not is_same:
        own = next(each for each in marks if each.rank == named.rank)
        because = (
            f"{named.because}; {ranks_in_words(ranks)} show errors of their own, and no clock tells which was first"
        )
        stamp = stamp_of(facts, own)
        return Claim(named.rank, own.host, own, because, Confidence.LOW, named.way, stamp, origin=named.witness)
    who = ranks_in_words(ranks) if ranks else f"{len(marks)} sources"
    host = facts.members.host_that_holds(ranks) if is_same and len(ranks) > 1 else None
    if host is not None:
        because = f"{who}, all that {host} has, show the same fault and ranks of other hosts do not: it is that host"
        return Claim(None, host, mark, because, Confidence.MEDIUM, "its own error", stamp_of(facts, mark))
    because = f"{who} show {'the same fault' if is_same else 'errors of their own'} and no clock tells them apart: " + (
        "no single rank failed first" if is_same else "the first cannot be told"
    )
    runner_up = named.because if named is not None and named.rank in ranks else ""
    return Claim(None, None, mark, because, Confidence.LOW, "its own error", stamp_of(facts, mark), runner_up)


def _from_echoes(facts: Facts) -> FirstFailure | None:
    """Return the first echo, with the word that the failure itself was not read."""
    echoes = [mark for mark in facts.marks if not mark.is_own]
    if not echoes:
        return None
    mark = min(
        echoes, key=lambda each: (each.stamp is None, each.stamp.time.timestamp() if each.stamp else 0.0, each.at)
    )
    rank, host, more = _who_does_not_echo(facts)
    because = f"all that these logs show are echoes of a failure elsewhere{more}"
    return FirstFailure(
        rank=rank,
        host=host,
        source=mark.source,
        line=mark.line,
        text=mark.hit.record.text.strip(),
        because=because,
        confidence=Confidence.LOW,
        time=mark.stamp.time if mark.stamp is not None else None,
        rule=mark.rule,
    )


def _who_does_not_echo(facts: Facts) -> tuple[int | None, str | None, str]:
    """Return the rank or the host that is silent or shows no echo where nearly all others do, and words on it."""
    members = facts.members
    silent = sorted(members.everybody() - members.seen)
    quiet = sorted(members.everybody() - facts.echoing - set(silent))
    for those, said in ((silent, "nothing was read of {}"), (quiet, "{} show none")):
        if not those:
            continue
        host = members.host_that_holds(those)
        words = "; " + said.format(ranks_in_words(those) + (f", all that {host} has" if host else ""))
        if len(those) == 1:
            return those[0], members.hosts.get(those[0]), words
        if those is silent or (host is not None and len(those) * 2 <= len(members.everybody())):
            return None, host, words
    return None, None, ""
