"""What goes wrong with what a failed job left behind: the report says so, and the rest of it is right."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from bundles import job_of, many_ranks, rank_log

import troubleshoot.engine
from troubleshoot.engine import Engine
from troubleshoot.errors import SourceError
from troubleshoot.ingest.sources import OpenSource
from troubleshoot.model import Moment, Report, ScanResult
from troubleshoot.report.html import render_html

Bundle = Callable[[Mapping[str, str]], Path]


def codes(report: Report) -> set[str]:
    return {note.code for note in report.notes}


def test_clock_that_is_hours_ahead_is_set_right(engine: Engine, bundle: Bundle) -> None:
    report = engine.postmortem_paths([bundle(many_ranks(24, failed=9, offsets_h={2: 7.0}))])
    job = job_of(report)
    note = next(note for note in report.notes if note.code == "clock-offset")
    assert "the clock of gpu-node-02 is 7 h ahead of" in note.text
    times = [entry.time for entry in job.timeline if entry.time is not None]
    assert (max(times) - min(times)).total_seconds() < 60
    assert job.first_failure is not None
    assert job.first_failure.rank == 9
    kinds = [entry.kind for entry in job.timeline]
    assert kinds.index(Moment.FIRST_FAILURE) < kinds.index(Moment.ECHO)


def test_clock_of_the_failing_host_is_set_right_too(engine: Engine, bundle: Bundle) -> None:
    job = job_of(engine.postmortem_paths([bundle(many_ranks(24, failed=9, offsets_h={1: -5.5}))]))
    assert job.first_failure is not None
    assert job.first_failure.time is not None
    assert job.first_failure.time.isoformat().startswith("2026-11-30T20:00:20.5")


def test_clocks_without_a_step_in_common_are_not_trusted(engine: Engine, bundle: Bundle) -> None:
    early = rank_log(0, 2, 10, fails=True)
    late = rank_log(8, 2, 30, fails=True, offset_h=9.0)
    late = "\n".join(line for line in late.splitlines() if " step 1 " not in line and "step 10 " not in line)
    folder = bundle({"gpu-node-00/rank-0.log": early, "gpu-node-01/rank-8.log": late})
    report = engine.postmortem_paths([folder])
    assert "clocks-apart" in codes(report)
    first = job_of(report).first_failure
    assert first is not None
    assert first.confidence.word == "low"
    assert "clocks that do not agree" in first.because


def test_ordinary_drift_is_left_alone(engine: Engine, bundle: Bundle) -> None:
    report = engine.postmortem_paths([bundle(many_ranks(16, failed=9, offsets_h={1: 2 / 3600}))])
    assert not codes(report) & {"clock-offset", "clocks-apart"}


def test_two_jobs_in_one_folder_are_told_apart(engine: Engine, bundle: Bundle) -> None:
    folder = bundle({"slurm-4711.out": rank_log(0, 2, 40, fails=True), "slurm-4712.out": rank_log(0, 2, 3)})
    report = engine.postmortem_paths([folder])
    job = job_of(report)
    assert (job.id, job.other_ids) == ("4711", ("4712",))
    note = next(note for note in report.notes if note.code == "several-jobs")
    assert "this report is about 4711" in note.text
    assert {evidence.source for finding in report.findings for evidence in finding.evidence} == {
        str(folder / "slurm-4711.out")
    }
    other = engine.postmortem_paths([folder], job="4712")
    assert job_of(other).id == "4712"
    assert all(finding.rule != "cuda/out-of-memory" for finding in other.findings)


def test_scan_of_two_jobs_takes_them_together_and_says_so(engine: Engine, bundle: Bundle) -> None:
    folder = bundle({"slurm-4711.out": rank_log(0, 2, fails=True), "slurm-4712.out": rank_log(0, 2)})
    note = next(note for note in engine.scan_paths([folder]).notes if note.code == "several-jobs")
    assert "taken together" in note.text


def test_log_of_a_daemon_belongs_to_no_job(engine: Engine, bundle: Bundle) -> None:
    daemon = "".join(f"[{job}.batch] debug: StepId={job}.0 started\n" for job in (1, 2, 3))
    report = engine.postmortem_paths([bundle({"slurm-2.out": rank_log(0, 1, fails=True), "slurmd.log": daemon})])
    assert job_of(report).id == "2"
    assert "several-jobs" not in codes(report)


@pytest.mark.slow
def test_flood_of_identical_lines_is_one_entry(engine: Engine, bundle: Bundle) -> None:
    """A million of them take the same way as these: hits are kept up to a limit, then counted."""
    flood = "[rank 1] ERROR RuntimeError: Connection closed by peer [10.0.0.5]:20114\n" * 30_000
    report = engine.postmortem_paths([bundle({"rank-0.log": rank_log(0, 2, fails=True), "rank-1.log": flood})])
    assert codes(report) & {"saturated", "counted-roughly"}
    job = job_of(report)
    assert job.first_failure is not None
    assert job.first_failure.rank == 0
    assert job.ranks.echoing == (1,)
    echoes = [entry for entry in job.timeline if entry.kind is Moment.ECHO]
    assert len(echoes) == 1
    assert echoes[0].count > 500


def test_no_log_at_all(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nothing could be read"):
        engine.postmortem_paths([tmp_path])


def test_empty_logs_are_a_clean_report(engine: Engine, bundle: Bundle) -> None:
    report = engine.postmortem_paths([bundle({"rank-0.log": "", "rank-1.log": ""})])
    job = job_of(report)
    assert report.verdict.value == "clean"
    assert job.first_failure is None
    assert job.ranks.seen == 2


def test_truncated_archive_is_noted_and_the_rest_read(engine: Engine, bundle: Bundle) -> None:
    folder = bundle({"rank-0.log": rank_log(0, 2, fails=True)})
    whole = gzip.compress((rank_log(1, 2, 2000)).encode())
    (folder / "rank-1.log.gz").write_bytes(whole[: len(whole) // 2])
    report = engine.postmortem_paths([folder])
    assert any(note.source and note.source.endswith("rank-1.log.gz") for note in report.notes)
    assert report.findings[0].rule == "cuda/out-of-memory"


def test_file_that_vanishes_before_it_is_read(engine: Engine, bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = bundle({"rank-0.log": rank_log(0, 2, fails=True), "rank-1.log": rank_log(1, 2)})
    real = troubleshoot.engine.open_file

    def removing(path: Path, *given: Any) -> Iterator[OpenSource]:
        if path.name == "rank-1.log":
            path.unlink()
        yield from real(path, *given)

    monkeypatch.setattr(troubleshoot.engine, "open_file", removing)
    report = engine.postmortem_paths([folder])
    assert any(note.code == "unreadable" and "rank-1.log" in (note.source or "") for note in report.notes)
    assert report.findings[0].rule == "cuda/out-of-memory"


def test_file_that_grows_is_read_to_where_it_was(engine: Engine, bundle: Bundle) -> None:
    folder = bundle({"rank-0.log": rank_log(0, 2, fails=True)})
    with (folder / "rank-0.log").open("a") as stream:
        stream.write("2026-11-30 20:00:21,000 [rank 0] INFO step 2")  # the writer is in the middle of a line
    report = engine.postmortem_paths([folder])
    assert report.findings[0].rule == "cuda/out-of-memory"
    assert report.sources[0].lines == 23


def test_interrupt_gives_a_partial_report(engine: Engine, bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = bundle({"rank-0.log": rank_log(0, 2, fails=True), "rank-1.log": rank_log(1, 2)})
    real = Engine.read

    def interrupted(engine: Engine, paths: Any, **given: Any) -> Iterator[ScanResult]:
        yield next(iter(real(engine, paths, **given)))
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "read", interrupted)
    report = engine.postmortem_paths([folder])
    assert job_of(report).partial
    assert "interrupted" in codes(report)
    assert len(report.sources) == 1


def test_report_of_an_earlier_run_is_no_log(engine: Engine, bundle: Bundle) -> None:
    """It lies where hooks lay it, beside the logs, and quotes the lines that they found."""
    folder = bundle({"rank-0.log": rank_log(0, 2, fails=True), "rank-1.log": rank_log(1, 2)})
    before = engine.postmortem_paths([folder])
    (folder / "postmortem.html").write_text(render_html(before))
    after = engine.postmortem_paths([folder])
    assert "skipped-report" in codes(after)
    assert job_of(after).first_failure == job_of(before).first_failure
