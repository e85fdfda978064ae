"""Numbers, places and people in words, as every format for readers says them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from troubleshoot.language import ENGLISH, say, spoken
from troubleshoot.model import Confidence, Evidence, Finding, Report, Role, SourceInfo, Suspect, Verdict
from troubleshoot.ranks import compress_ranks

HOSTS_NAMED = 3
SUSPECTS_BESIDE = 3  # shown beside an answer that is a symptom, or of low confidence

OWNER_WORDS = {"platform": "for the platform's administrators", "vendor": "for the vendor"}
RETRY_WORDS = {"yes": "running it again may be enough", "no": "running it again does not help"}


def count(number: int, noun: str) -> str:
    """`1 line`, `21,701 lines`, `1.2 M lines`."""
    if spoken() != ENGLISH:
        return say(f"{{number}} {noun}", number=amount(number))
    plural = "" if number == 1 else "es" if noun.endswith(("s", "ch", "x")) else "s"
    return f"{amount(number)} {noun}{plural}"


def amount(number: int) -> str:
    for factor, letter in ((10**9, "G"), (10**6, "M")):
        if number >= factor:
            return f"{number / factor:.1f} {letter}"
    return f"{number:,}"


def size(number: int) -> str:
    """`17 bytes`, `48.2 kB`, `1.3 GB`: decimal, as disks and networks are sold."""
    for factor, unit in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if number >= factor:
            return f"{number / factor:.1f} {unit}"
    return count(number, "byte")


def clock(time: datetime) -> str:
    """`2026-11-30 20:33:06 UTC`."""
    return time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def seconds(number: float) -> str:
    if number < 0.01:
        return say("under 0.01 s")
    return say("{number} s", number=f"{number:.2f}" if number < 10 else f"{number:.0f}")


def place(evidence: Evidence) -> str:
    """`train.log:12`."""
    return f"{evidence.source}:{evidence.line}"


def ranks(numbers: Sequence[int]) -> str:
    """`rank 3`, `ranks 0-7,12`; empty for none."""
    if not numbers:
        return ""
    return say("ranks {numbers}" if len(numbers) > 1 else "rank {numbers}", numbers=compress_ranks(numbers))


def hosts(names: Sequence[str]) -> str:
    """`host a`, `hosts a, b, c and 5 more`; empty for none."""
    if not names:
        return ""
    told = ", ".join(names[:HOSTS_NAMED])
    if len(names) > HOSTS_NAMED:
        told = say("{names} and {more} more", names=told, more=len(names) - HOSTS_NAMED)
    return say("hosts {names}" if len(names) > 1 else "host {names}", names=told)


def whereabouts(finding: Finding) -> list[str]:
    """Return where and how often: place of the first evidence, ranks, hosts, count, first time; what is known of it."""
    return [
        part
        for part in (
            place(finding.evidence[0]) if finding.evidence else "",
            ranks(finding.ranks),
            hosts(finding.hosts),
            say("{number} times", number=amount(finding.count)) if finding.count > 1 else "",
            say("first at {time}", time=clock(finding.first_seen.time)) if finding.first_seen else "",
        )
        if part
    ]


def advice(finding: Finding) -> str:
    """Return who can fix it and whether to run it again, where that is not the ordinary case."""
    parts = (OWNER_WORDS.get(finding.owner, ""), RETRY_WORDS.get(finding.retry, ""))
    return "; ".join(say(part) for part in parts if part)


def what_was_read(report: Report) -> str:
    """Return one sentence on sources, lines, bytes, rules, wrappers."""
    stats = report.stats
    sources = report.sources[0].name if len(report.sources) == 1 else count(len(report.sources), "source")
    text = say(
        "Read {sources}: {lines}, {size}, with {rules} in {seconds}.",
        sources=sources,
        lines=count(stats.lines, "line"),
        size=size(stats.bytes),
        rules=count(stats.rules, "rule"),
        seconds=seconds(stats.seconds),
    )
    wrappers = sorted({source.wrapper for source in report.sources if source.wrapper})
    if wrappers:
        several = len(wrappers) > 1
        names = ", ".join(wrappers)
        text += say(" Wrappers taken off: {names}." if several else " Wrapper taken off: {names}.", names=names)
    return text


def source_facts(source: SourceInfo) -> list[str]:
    """Return what a source turned out to be, for those who ask how it was read."""
    who = source.identity
    facts = [
        count(source.lines, "line"),
        size(source.bytes),
        source.encoding,
        say("wrapper {name}", name=source.wrapper) if source.wrapper else say("no wrapper"),
        say("documents {names}", names=", ".join(source.documents)) if source.documents else "",
        say("host {names}", names=who.host) if who.host else "",
        say("pod {name}", name=who.pod) if who.pod else "",
        say("rank {numbers}", numbers=who.rank) if who.rank is not None else "",
    ]
    if source.first_time and source.last_time:
        facts.append(say("from {begin} to {end}", begin=clock(source.first_time), end=clock(source.last_time)))
    return [fact for fact in facts if fact]


def suspects_to_show(report: Report) -> tuple[Suspect, ...]:
    """Return the suspects a reader needs: all of a log nobody knows, a few where the answer is weak, else none."""
    if report.verdict is Verdict.UNKNOWN_FAULT:
        return report.suspects
    first = report.findings[0] if report.findings else None
    is_weak = first is not None and (first.role is Role.SYMPTOM or first.confidence is Confidence.LOW)
    return report.suspects[:SUSPECTS_BESIDE] if is_weak else ()


def suspect_facts(suspect: Suspect) -> list[str]:
    """Return why a line was picked, its rank, how often it stands there."""
    facts = [
        suspect.reason,
        say("rank {numbers}", numbers=suspect.rank) if suspect.rank is not None else "",
        say("{number} times", number=amount(suspect.count)) if suspect.count > 1 else "",
    ]
    return [fact for fact in facts if fact]


def first_sentences(text: str, most: int) -> tuple[str, bool]:
    """Return whole sentences from the start up to `most` characters, at least one, and whether any is left."""
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat, False
    at = max(flat.rfind(end, 0, most) for end in (". ", "! ", "? ", "。"))
    if at <= 0:
        at = min(
            (found for found in (flat.find(end) for end in (". ", "! ", "? ", "。")) if found > 0), default=len(flat)
        )
    return flat[: at + 1], len(flat) > at + 1
