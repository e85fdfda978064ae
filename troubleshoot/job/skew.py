"""Clocks of hosts that disagree: set right where the logs show by how much, not trusted where they do not.

In: scan results. Out: the same results, with the stamps of a host whose clock differs moved onto the others' clock, and
notes. Hosts are compared by steps that both printed, for ranks step together:

    gpu-a: 20:15:04 step 41     gpu-b: 03:15:05 step 41     gpu-b is 7 h ahead: its stamps go back by 7 h

All common steps must give the same difference within limits.CLOCK_SPREAD_S. Differences under limits.CLOCK_GAP_S are
ordinary drift and stay. Hosts that have no step in common and whose logs share no moment are only reported: they may as
well have run one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from troubleshoot import limits
from troubleshoot.job.members import place_from
from troubleshoot.model import Hit, Note, Progress, ScanResult, Stamp

APART_S = 3600.0  # between the logs of two hosts of one job, before their clocks are doubted
_Step = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Levelled:
    """Results on one clock. `offsets_s` by host; `are_apart`: some clocks could be neither compared nor trusted."""

    results: tuple[ScanResult, ...]
    notes: tuple[Note, ...] = ()
    offsets_s: Mapping[str, float] | None = None
    are_apart: bool = False


def level_clocks(results: Sequence[ScanResult]) -> Levelled:
    """Return the results with the stamps of hosts whose clocks differ set right, and notes on what was done or not."""
    steps = _steps_by_host(results)
    names = sorted(_hosts(results))
    if len(names) < 2:
        return Levelled(tuple(results))
    reference = max(names, key=lambda name: (len(steps.get(name, {})), _count(results, name), -names.index(name)))
    offsets: dict[str, float] = {}
    notes: list[Note] = []
    are_apart = False
    for name in names:
        if name == reference:
            continue
        offset = _offset(steps.get(reference, {}), steps.get(name, {}))
        if offset is not None and abs(offset) >= limits.CLOCK_GAP_S:
            offsets[name] = offset
            notes.append(_moved(name, reference, offset))
        elif offset is None and (gap_s := _gap(results, reference, name)) >= APART_S:
            are_apart = True
            notes.append(_apart(name, reference, gap_s))
    if not offsets:
        return Levelled(tuple(results), tuple(notes), {}, are_apart)
    moved = tuple(_shifted(each, offsets.get(_host_of(each) or "", 0.0)) for each in results)
    return Levelled(moved, tuple(notes), offsets, are_apart)


def _moved(name: str, reference: str, offset_s: float) -> Note:
    way = "ahead of" if offset_s > 0 else "behind"
    return Note(
        "clock-offset",
        f"the clock of {name} is {_span(offset_s)} {way} that of {reference}, as the steps that both printed show; "
        f"its times are set right by that much",
    )


def _apart(name: str, reference: str, gap_s: float) -> Note:
    return Note(
        "clocks-apart",
        f"the logs of {name} and {reference} share no moment ({_span(gap_s)} lie between them) and no step: their "
        "clocks may disagree, or they ran one after the other; the order of events over both is not sure",
    )


def _span(seconds: float) -> str:
    minutes = round(abs(seconds) / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")


def _hosts(results: Sequence[ScanResult]) -> set[str]:
    return {host for host in map(_host_of, results) if host}


def _host_of(result: ScanResult) -> str | None:
    own = place_from(result.source.identity)
    return own or (place_from(result.info.identity) if result.info is not None else None)


def _count(results: Sequence[ScanResult], name: str) -> int:
    return sum(1 for result in results if _host_of(result) == name)


def _steps_by_host(results: Sequence[ScanResult]) -> dict[str, dict[_Step, Stamp]]:
    """Return by host the earliest stamp of each step that its ranks show."""
    found: dict[str, dict[_Step, Stamp]] = {}
    for result in results:
        host = _host_of(result)
        for each in result.progress if host else ():
            if each.stamp is None or host is None:
                continue
            held = found.setdefault(host, {})
            step = (each.epoch or 0, each.step)
            if step not in held or each.stamp.time < held[step].time:
                held[step] = each.stamp
    return found


def _offset(reference: Mapping[_Step, Stamp], other: Mapping[_Step, Stamp]) -> float | None:
    """Return by how many seconds the other's clock is ahead; None where the common steps do not tell."""
    common = reference.keys() & other.keys()
    gaps = [(other[step].time - reference[step].time).total_seconds() for step in common]
    if not gaps or max(gaps) - min(gaps) > limits.CLOCK_SPREAD_S:
        return None
    return float(round(sorted(gaps)[len(gaps) // 2]))  # finer than a second is no clock: ranks print one after another


def _gap(results: Sequence[ScanResult], one: str, other: str) -> float:
    """Return how many seconds lie between the logs of two hosts; zero where they overlap or have no times."""
    (begin_a, end_a), (begin_b, end_b) = _times(results, one), _times(results, other)
    if begin_a is None or end_a is None or begin_b is None or end_b is None:
        return 0.0
    return max((begin_b - end_a).total_seconds(), (begin_a - end_b).total_seconds(), 0.0)


def _times(results: Sequence[ScanResult], name: str) -> tuple[datetime | None, datetime | None]:
    infos = [result.info for result in results if result.info is not None and _host_of(result) == name]
    first = min((info.first_time for info in infos if info.first_time is not None), default=None)
    return first, max((info.last_time for info in infos if info.last_time is not None), default=None)


def _shifted(result: ScanResult, offset_s: float) -> ScanResult:
    if not offset_s:
        return result
    by = timedelta(seconds=offset_s)

    def stamp(value: Stamp | None) -> Stamp | None:
        return replace(value, time=value.time - by) if value is not None else None

    def hit(value: Hit) -> Hit:
        return replace(value, record=replace(value.record, stamp=stamp(value.record.stamp)))

    def progress(value: Progress) -> Progress:
        return replace(value, stamp=stamp(value.stamp))

    info = result.info
    if info is not None:
        info = replace(
            info,
            first_time=info.first_time - by if info.first_time is not None else None,
            last_time=info.last_time - by if info.last_time is not None else None,
        )
    return replace(
        result,
        hits=tuple(hit(each) for each in result.hits),
        progress=tuple(progress(each) for each in result.progress),
        info=info,
    )
