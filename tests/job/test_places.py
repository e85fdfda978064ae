"""Which host a source is put to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from bundles import OOM, clock, job_of, rank_log

from troubleshoot.engine import Engine

Bundle = Callable[[Mapping[str, str]], Path]


def test_file_called_as_a_host_is_the_host_that_its_lines_name(engine: Engine, bundle: Bundle) -> None:
    lines = "".join(f"2026-11-30T20:00:0{i}Z ip-10-0-7-31 train[77]: {OOM}\n" for i in range(3))
    other = "".join(f"2026-11-30T20:00:0{i}Z ip-10-0-7-32 train[78]: loss 2.{i}\n" for i in range(3))
    job = job_of(engine.postmortem_paths([bundle({"node-0.log": lines, "node-1.log": other})]))
    assert job.first_failure is not None
    assert job.first_failure.host == "ip-10-0-7-31"
    assert job.hosts == ("ip-10-0-7-31", "ip-10-0-7-32")


def test_file_called_as_a_host_stays_one_where_its_lines_name_none(engine: Engine, bundle: Bundle) -> None:
    job = job_of(
        engine.postmortem_paths([bundle({"node-0.log": rank_log(0, 2, fails=True), "node-1.log": rank_log(1, 2)})])
    )
    assert job.hosts == ("node-0", "node-1")


def test_folders_of_logs_are_no_hosts(engine: Engine, bundle: Bundle) -> None:
    files = {
        f"{folder}/rank-{rank}.log": rank_log(rank, 4)
        for folder, rank in (("logs", 0), ("logs", 1), ("out", 2), ("out", 3))
    }
    assert job_of(engine.postmortem_paths([bundle(files)])).hosts == ()


def test_folder_that_has_a_rank_of_another_is_no_host(engine: Engine, bundle: Bundle) -> None:
    files = {f"{folder}/rank-{rank}.log": rank_log(rank, 4) for folder in ("first", "second") for rank in range(4)}
    assert job_of(engine.postmortem_paths([bundle(files)])).hosts == ()


def test_clock_of_a_folder_is_set_right(engine: Engine, bundle: Bundle) -> None:
    files = {
        f"{'blue' if rank < 2 else 'red'}/rank-{rank}.log": rank_log(
            rank, 4, fails=rank == 3, offset_h=3.0 * (rank >= 2)
        )
        for rank in range(4)
    }
    report = engine.postmortem_paths([bundle(files)])
    assert "clock-offset" in {note.code for note in report.notes}
    first = job_of(report).first_failure
    assert first is not None and first.time is not None
    assert f"{first.time:%H:%M:%S}" == clock(20)[11:19]
