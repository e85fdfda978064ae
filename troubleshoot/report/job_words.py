"""The job part of a report in words, as every format for readers says it.

In: a `Report` that has a job. Out: plain sentences and rows; each format escapes and lays them out in its own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from troubleshoot.language import say
from troubleshoot.model import FirstFailure, Job, Moment, Report, Straggler, TimelineEntry, Verdict
from troubleshoot.ranks import compress_ranks
from troubleshoot.report import words

KIND_WORDS = {
    Moment.START: "start",
    Moment.PROGRESS: "last step",
    Moment.FIRST_FAILURE: "first failure",
    Moment.FAILURE: "failure",
    Moment.ECHO: "echo",
    Moment.STOP: "stop",
    Moment.EXIT: "exit",
    Moment.END: "end",
}
RANK_TEXT = 60  # characters of a list of ranks; of thousands of ranks it can be long


def kind_word(kind: Moment) -> str:
    return say(KIND_WORDS[kind])


def summary(report: Report) -> list[tuple[str, str]]:
    """Return the report in three lines, each under its label: what, who, now."""
    return [
        (say("What"), what_failed(report)),
        (say("Who"), who_failed(report.job)),
        (say("Now"), what_to_do(report)),
    ]


def what_failed(report: Report) -> str:
    if report.verdict is Verdict.FAULT and report.findings:
        first = report.findings[0]
        return say(
            "{title} (severity {severity}, confidence {confidence})",
            title=first.title,
            severity=say(first.severity.word),
            confidence=say(first.confidence.word),
        )
    if report.verdict is Verdict.UNKNOWN_FAULT:
        line = f": {report.suspects[0].text}" if report.suspects else ""
        return say("A fault that no rule knows") + line
    return say("Nothing found that looks like a fault")


def who_failed(job: Job | None) -> str:
    if job is None or job.first_failure is None:
        return say("No process shows a failure")
    first = job.first_failure
    return say(
        "{who} (confidence {word}): {why}",
        who=name_of(first),
        word=say(first.confidence.word),
        why=first.because,
    )


def name_of(first: FirstFailure) -> str:
    """Return who failed first: `rank 3 on gpu-node-18 failed first`."""
    if first.rank is not None and first.host:
        return say("Rank {rank} on {host} failed first", rank=first.rank, host=first.host)
    if first.rank is not None:
        return say("Rank {rank} failed first", rank=first.rank)
    if first.host:
        return say("{host} failed first", host=first.host)
    return say("No single rank is known to have failed first")


def what_to_do(report: Report) -> str:
    known = report.verdict is Verdict.FAULT and report.findings
    if known and report.findings[0].fixes:
        finding = report.findings[0]
        advice = words.advice(finding)
        return finding.fixes[0].title + (f" ({advice})" if advice else "")
    if report.job is not None and report.job.first_failure is not None:
        first = report.job.first_failure
        return say("Read {source} from line {line} on", source=first.source, line=first.line)
    return say("Nothing")


def ranks_line(job: Job) -> str:
    """Return what became of the ranks: `1 of 4 ranks failed (3); 3 echo (0-2); none is silent`."""
    ranks = job.ranks
    if not ranks.seen and ranks.total is None:
        return say("no ranks are named in what was read")
    if ranks.total is not None:
        total = say("{number} ranks", number=words.amount(ranks.total))
    else:
        total = say("{ranks} seen", ranks=words.count(ranks.seen, "rank"))
    parts = [say("{number} of {total} failed", number=len(ranks.failed), total=total) + _listed(ranks.failed)]
    parts.append(say("{number} only echo", number=len(ranks.echoing)) + _listed(ranks.echoing))
    if ranks.total is not None:
        parts.append(say("{number} silent", number=len(ranks.silent)) + _listed(ranks.silent))
    return "; ".join(parts)


def hosts_line(job: Job) -> str:
    """Return which hosts failed: `1 of 2 hosts failed: gpu-node-18`; empty where no host is known."""
    if not job.hosts and not job.hosts_failed:
        return ""
    everybody = {*job.hosts, *job.hosts_failed}
    named = ", ".join(job.hosts_failed[:8])
    if len(job.hosts_failed) > 8:
        named = say("{names} and {more} more", names=named, more=len(job.hosts_failed) - 8)
    hosts = words.count(len(everybody), "host")
    return say("{number} of {total} failed", number=len(job.hosts_failed), total=hosts) + (
        f": {named}" if named else ""
    )


def straggler_line(each: Straggler) -> str:
    who = _rank_on(str(each.rank), each.host, "rank {numbers}")
    behind = [say("{steps} behind", steps=words.count(each.behind_steps, "step"))] if each.behind_steps else []
    if each.behind_s:
        behind.append(say("{time} older", time=seconds(each.behind_s)))
    told = say(" and ").join(behind) or say("behind")
    return say(
        "{who}: last at step {step}, {told} ({place})",
        who=who,
        step=each.step,
        told=told,
        place=f"{each.source}:{each.line}",
    )


def who_of(entry: TimelineEntry) -> str:
    """Return whose an entry is: ranks, else host, else nothing."""
    if entry.ranks:
        text = compress_ranks(entry.ranks)
        text = text if len(text) <= RANK_TEXT else f"{text[:RANK_TEXT].rpartition(',')[0]},…"
        return _rank_on(text, entry.host, "ranks {numbers}" if len(entry.ranks) > 1 else "rank {numbers}")
    return entry.host or ""


def _rank_on(numbers: str, host: str | None, words: str) -> str:
    ranks = say(words, numbers=numbers)
    return say("{ranks} on {host}", ranks=ranks, host=host) if host else ranks


def clock(time: datetime | None) -> str:
    """`20:33:06.432`, or nothing."""
    return time.astimezone(UTC).strftime("%H:%M:%S.%f")[:-3] if time is not None else ""


def since(time: datetime | None, zero: datetime | None) -> str:
    """Return how far from the first failure: `-12.4 s`, `+3 min`; nothing where either has no time."""
    if time is None or zero is None:
        return ""
    gap = (time - zero).total_seconds()
    return "0" if abs(gap) < 0.0005 else f"{'+' if gap > 0 else '−'}{seconds(abs(gap))}"


def seconds(number: float) -> str:
    if number < 1:
        return f"{number * 1000:.0f} ms"
    if number < 120:
        return f"{number:.1f} s"
    return f"{number / 60:.0f} min" if number < 7200 else f"{number / 3600:.1f} h"


def zero_of(job: Job) -> datetime | None:
    return job.first_failure.time if job.first_failure is not None else None


def dates_of(entries: Sequence[TimelineEntry]) -> str:
    """Return the day or days of a timeline."""
    days = sorted({each.time.astimezone(UTC).date().isoformat() for each in entries if each.time is not None})
    return "" if not days else days[0] if len(days) == 1 else say("{begin} to {end}", begin=days[0], end=days[-1])


def _listed(ranks: Sequence[int]) -> str:
    if not ranks:
        return ""
    text = compress_ranks(ranks)
    if len(text) > RANK_TEXT:
        text = f"{text[:RANK_TEXT].rpartition(',')[0]},…"
    return f" ({text})"
