"""Hand-made reports with a job part: a fault on one rank of eight, an unknown one, a hostile one, 10,000 ranks."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from report_samples import EVIDENCE, FINDING, HOSTILE, NASTY_LINE, REPORT, SAMPLES, TIME

from troubleshoot.model import (
    Confidence,
    FirstFailure,
    Job,
    Moment,
    RankSummary,
    Report,
    Straggler,
    TimelineEntry,
    Track,
)

FIRST = FirstFailure(
    rank=3,
    host="gpu-node-17",
    source="gpu-node-17/rank-3.log",
    line=812,
    text=EVIDENCE.text,
    because="rank 3 shows an error of its own; ranks 0-2,4-6 only echo the loss of a peer",
    confidence=Confidence.HIGH,
    time=TIME,
    runner_up="rank 5, 1.2 s later",
    rule=FINDING.rule,
)


def at(seconds: float) -> dict[str, object]:
    return {"time": TIME + timedelta(seconds=seconds)}


TIMELINE = (
    TimelineEntry(
        Moment.START, "first line with a time", TIME - timedelta(hours=3), host="gpu-node-17", source="a.log"
    ),
    TimelineEntry(
        Moment.PROGRESS,
        "step 41 loss 2.1",
        TIME - timedelta(seconds=4),
        source="rank-0.log",
        line=90,
        ranks=(0, 1, 2, 3, 4, 6, 7),
        count=7,
    ),
    TimelineEntry(
        Moment.FIRST_FAILURE, EVIDENCE.text, TIME, 3, "gpu-node-17", "gpu-node-17/rank-3.log", 812, ranks=(3,)
    ),
    TimelineEntry(
        Moment.ECHO,
        "A Gloo peer closed the connection",
        TIME + timedelta(seconds=1.2),
        source="rank-0.log",
        line=99,
        ranks=(0, 1, 2, 4, 5, 6),
        count=6,
        until=TIME + timedelta(seconds=9),
    ),
    TimelineEntry(
        Moment.EXIT, "ended by SIGTERM, as it was told to", None, source="launcher.log", line=7, ranks=(0, 1)
    ),
    TimelineEntry(
        Moment.END, "last line with a time", TIME + timedelta(seconds=30), host="gpu-node-18", source="b.log"
    ),
)


def track(rank: int, fate: str, seconds: float | None) -> Track:
    last = TIME + timedelta(seconds=seconds) if seconds is not None else None
    first = TIME - timedelta(minutes=2) if fate != "silent" else None
    return Track(f"rank {rank}", rank, f"gpu-node-{17 + rank // 4}", fate, first, last, last)


JOB = Job(
    first_failure=FIRST,
    ranks=RankSummary(total=8, seen=7, failed=(3,), echoing=(0, 1, 2, 4, 5, 6), silent=(7,)),
    hosts=("gpu-node-17", "gpu-node-18"),
    hosts_failed=("gpu-node-17",),
    timeline=TIMELINE,
    stragglers=(Straggler(5, "gpu-node-18", "rank-5.log", 80, "step 38 loss 2.1", 38, 3, 4.2),),
    tracks=tuple(
        track(
            rank,
            "failed" if rank == 3 else "silent" if rank == 7 else "echoing",
            0 if rank == 3 else None if rank == 7 else 2,
        )
        for rank in range(8)
    ),
    id="4711",
)
JOB_REPORT = replace(REPORT, job=JOB)

NASTY_JOB = replace(
    JOB,
    id=NASTY_LINE,
    first_failure=replace(FIRST, host=NASTY_LINE, source=NASTY_LINE, text=NASTY_LINE, because=NASTY_LINE),
    hosts=(NASTY_LINE,),
    hosts_failed=(NASTY_LINE,),
    timeline=tuple(replace(each, text=NASTY_LINE, source=NASTY_LINE, host=NASTY_LINE) for each in TIMELINE),
    stragglers=tuple(replace(each, source=NASTY_LINE, host=NASTY_LINE) for each in JOB.stragglers),
    tracks=tuple(replace(each, name=NASTY_LINE, host=NASTY_LINE) for each in JOB.tracks),
)


def many(world: int) -> Report:
    """Return a job of so many ranks, of which one failed and 100 are silent."""
    tracks = tuple(
        track(rank, "failed" if rank == 3 else "silent" if rank < 104 else "echoing", rank % 60 / 10)
        for rank in range(world)
    )
    ranks = RankSummary(world, world - 100, (3,), tuple(range(104, world)), tuple(sorted({*range(104)} - {3})))
    return replace(REPORT, job=replace(JOB, tracks=tracks, ranks=ranks))


JOB_SAMPLES = {
    "job": JOB_REPORT,
    "job-partial": replace(SAMPLES["unknown"], job=replace(JOB, partial=True, stragglers=(), id=None)),
    "job-clean": replace(SAMPLES["clean"], job=Job()),
    "job-hostile": replace(HOSTILE, job=NASTY_JOB),
}
