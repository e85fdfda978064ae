"""Flight recorder dumps as JSON, written as PyTorch's dump_json writes them: who is missing from which collective."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from bundles import job_of, rank_log

from troubleshoot import limits
from troubleshoot.engine import Engine
from troubleshoot.model import Confidence

BEGIN_NS = 1_796_069_704_000_000_000


def entry(
    seq: int,
    state: str,
    operation: str = "all_reduce",
    sizes: object = None,
    group: str = "0",
    desc: str = "default_pg",
) -> dict[str, Any]:
    return {
        "collective_seq_id": seq,
        "input_dtypes": ["Float"],
        "input_sizes": sizes or [[26214400]],
        "is_p2p": False,
        "op_id": seq,
        "output_dtypes": ["Float"],
        "output_sizes": sizes or [[26214400]],
        "p2p_seq_id": 0,
        "pg_id": int(group),
        "process_group": [group, desc],
        "profiling_name": f"nccl:{operation}",
        "record_id": seq,
        "retired": state == "completed",
        "state": state,
        "thread_id": "139921",
        "thread_name": "pt_nccl_watchdg",
        "time_created_ns": BEGIN_NS + seq * 1_000_000_000,
        "time_discovered_completed_ns": 0,
        "time_discovered_started_ns": 0,
        "timeout_ms": 600000,
    }


def dump(entries: list[dict[str, Any]], world: int = 8, **groups: str) -> str:
    """Return the text of a dump: keys in order and all on one line, as the library that writes it does."""
    config = {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(world)))}}
    config |= {name[1:]: {"name": name[1:], "desc": "tp", "ranks": ranks} for name, ranks in groups.items()}
    document = {"comm_lib_version": "2.21.5", "entries": entries, "nccl_comm_state": {}, "pg_config": config}
    status = {
        "0": {"last_completed_collective": "40", "last_enqueued_collective": "41", "last_started_collective": "41"}
    }
    return json.dumps({**document, "pg_status": status, "version": "2.10"}, sort_keys=True, separators=(",", ":"))


def waiting(seq: int = 41, **more: Any) -> list[dict[str, Any]]:
    return [entry(i, "completed") for i in range(max(1, seq - 500), seq)] + [entry(seq, "started", **more)]


def job(ranks: Mapping[int, list[dict[str, Any]]], world: int = 8) -> dict[str, str]:
    return {f"nccl_trace_rank_{rank}": dump(entries, world) for rank, entries in ranks.items()}


Bundle = Callable[[Mapping[str, str]], Path]


def test_rank_that_never_called_it_is_named(engine: Engine, bundle: Bundle) -> None:
    ranks = {rank: waiting(1200) for rank in range(8) if rank != 3}
    ranks[3] = [entry(i, "completed") for i in range(700, 1198)]
    job_ = job_of(engine.postmortem_paths([bundle(job(ranks))]))
    first = job_.first_failure
    assert first is not None
    assert (first.rank, first.confidence) == (3, Confidence.HIGH)
    assert "ranks 0-2,4-7 wait in collective 1200 of default_pg (all_reduce)" in first.because
    assert "rank 3 never called it, and is at 1197" in first.because
    assert first.source.endswith("nccl_trace_rank_3")
    assert job_.ranks.total == 8


def test_rank_in_another_collective_is_named(engine: Engine, bundle: Bundle) -> None:
    ranks = {rank: waiting() for rank in range(8)}
    ranks[5] = waiting(operation="_all_gather_base")
    first = job_of(engine.postmortem_paths([bundle(job(ranks))])).first_failure
    assert first is not None
    assert first.rank == 5
    assert "rank 5 under that number in _all_gather_base" in first.because


def test_rank_with_other_sizes_is_named(engine: Engine, bundle: Bundle) -> None:
    ranks = {rank: waiting() for rank in range(8)}
    ranks[6] = waiting(sizes=[[7]])
    first = job_of(engine.postmortem_paths([bundle(job(ranks))])).first_failure
    assert first is not None
    assert first.rank == 6
    assert "all_reduce of [[7]] instead of [[26214400]]" in first.because


def test_rank_whose_gpu_did_not_begin_is_named_with_doubt(engine: Engine, bundle: Bundle) -> None:
    ranks = {rank: waiting() for rank in range(8)}
    ranks[2][-1]["state"] = "scheduled"
    first = job_of(engine.postmortem_paths([bundle(job(ranks))])).first_failure
    assert first is not None
    assert (first.rank, first.confidence) == (2, Confidence.LOW)
    assert "the GPU of rank 2 did not begin it" in first.because


def test_rank_without_a_dump_is_named_with_doubt(engine: Engine, bundle: Bundle) -> None:
    files = job({rank: waiting() for rank in range(8) if rank != 7})
    first = job_of(engine.postmortem_paths([bundle(files)])).first_failure
    assert first is not None
    assert (first.rank, first.confidence) == (7, Confidence.LOW)
    assert "rank 7 left no dump" in first.because


def test_small_group_that_waits_since_longest_speaks(engine: Engine, bundle: Bundle) -> None:
    """Ranks 2 and 3 are a group of their own; rank 3 leaves its collective 9, and so all miss 41 of the whole job."""
    files = {}
    for rank in range(4):
        own = [entry(i, "completed", group="2", desc="tp") for i in range(1, 9)]
        if rank == 2:
            entries = [*waiting(30)[:-1], *own, entry(9, "started", group="2", desc="tp")]
        elif rank == 3:
            entries = [*waiting(30)[:-1], *own]
        else:
            entries = waiting(30)
        files[f"comm_lib_trace_rank_{rank}.json"] = dump(entries, 4, **({"_2": "[2, 3]"} if rank > 1 else {}))
    first = job_of(engine.postmortem_paths([bundle(files)])).first_failure
    assert first is not None
    assert "rank 3 never called it, and is at 8" in first.because
    assert "of tp" in first.because


def test_collectives_that_all_end_tell_nothing(engine: Engine, bundle: Bundle) -> None:
    files = job({rank: [entry(i, "completed") for i in range(1, 9)] for rank in range(8)})
    assert job_of(engine.postmortem_paths([bundle(files)])).first_failure is None


def test_an_error_of_its_own_and_the_recorder_agree(engine: Engine, bundle: Bundle) -> None:
    files = {f"rank-{rank}.log": rank_log(rank, 4, fails=rank == 1) for rank in range(4)}
    ranks = {rank: waiting() for rank in (0, 2, 3)} | {1: waiting(41)[:-1]}
    first = job_of(engine.postmortem_paths([bundle({**files, **job(ranks, 4)})])).first_failure
    assert first is not None
    assert first.rank == 1
    assert first.confidence is Confidence.HIGH
    assert "the flight recorder agrees" in first.because


@pytest.mark.parametrize("cut", [0.3, 0.999])
def test_dump_that_is_cut_is_noted(engine: Engine, bundle: Bundle, cut: float) -> None:
    text = dump(waiting(2000))
    report = engine.postmortem_paths([bundle({"nccl_trace_rank_0": text[: int(len(text) * cut)]})])
    assert [note.text for note in report.notes if note.code == "flight-recorder"] == [
        "a flight recorder dump that is cut or damaged: not read"
    ]


def test_dump_that_is_too_large_is_noted(engine: Engine, bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FLIGHT_BYTES", 100_000)
    report = engine.postmortem_paths([bundle({"nccl_trace_rank_0": dump(waiting(2000))})])
    assert any("of more than 0 MiB: not read" in note.text for note in report.notes)


def test_dump_longer_than_a_line_may_be_is_read_once(engine: Engine, bundle: Bundle) -> None:
    """The seams of a long line come twice in its blocks."""
    many = [entry(i, "completed", sizes=[[i] * 40]) for i in range(1, 7000)]
    files = job({0: [*many, entry(7000, "started")], 1: many}, 2)
    assert len(files["nccl_trace_rank_0"]) > 4 * limits.LINE_BYTES
    first = job_of(engine.postmortem_paths([bundle(files)])).first_failure
    assert first is not None
    assert first.rank == 1
    assert "is at 6999" in first.because


@pytest.mark.parametrize(
    "text",
    [
        '{"pg_config": 7, "entries": [1, null, {"collective_seq_id": "x"}, {"collective_seq_id": 3}]}',
        '{"pg_status": {}, "entries": {"a": 1}}',
        '{"pg_config": {"0": {"ranks": "[0, 99999999999999999999]"}}, "entries": []}',
        '{"collective_seq_id": ' + "[" * 100_000,
        '{"entries": [{"collective_seq_id": 1, "process_group": [[1], {}], "profiling_name": null, "state": 3}]}',
    ],
)
def test_hostile_dump_is_no_crash(engine: Engine, bundle: Bundle, text: str) -> None:
    engine.postmortem_paths([bundle({"nccl_trace_rank_0": text, "nccl_trace_rank_1": text})])


def test_pickle_is_still_never_opened(engine: Engine, bundle: Bundle) -> None:
    folder = bundle({"rank-0.log": rank_log(0, 1)})
    (folder / "nccl_trace_rank_0").write_bytes(pickle.dumps({"entries": [], "pg_config": {}}, 2))
    report = engine.postmortem_paths([folder])
    assert any("never opened" in note.text for note in report.notes)
