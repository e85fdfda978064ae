# ruff: noqa: E501 - samples stand on one line, as programs print them
"""Weak wrappers: taken off where a source has them throughout, left alone in ordinary text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from troubleshoot.normalise import Clock, LineNormaliser

CLOCK = Clock(datetime(2026, 12, 1, tzinfo=UTC))


def normaliser(lines: list[str], sampled: bool = False) -> LineNormaliser:
    return LineNormaliser(clock=CLOCK, sample=lambda: (lines, sampled))


ADOPTED = {
    "slurm-label": (["  0: start", "127: start", "  1: more", *(f"{i:3d}: x" for i in range(128))], 1, "start", "rank", 127),
    "grep": (["logs/rank5.log:12:[rank5]: a", "logs/rank5.log:19:[rank5]: b", "logs/rank6.err-20-c"], 1, "b", "rank", 5),
    "hydra": (["[0] a b", "[1] c", "[0] Abort(10) on node 0", "[1] d"], 2, "Abort(10) on node 0", "rank", 0),
    "compose": (["trainer-0-1  | a", "etcd-1       | 2026-11-30T20:15:04.123456789Z {}", "trainer-0-1  | b"], 1, "{}", "host", "etcd-1"),
    "stern": (["bert-worker-3 pytorch a", "bert-worker-3 pytorch 2026-11-30T20:15:04.123456789+01:00 b", "team-a bert-launcher-7xk2p mpi 11-30 20:15:04 [1,5]<stderr>:c", "bert-worker-3 pytorch d"], 2, "c", "rank", 5),
    "pdsh": (["node-17: a", "node-18: [rank9]: boom", "node-17: b", "node-18: c"], 1, "boom", "rank", 9),
    "torchrun": (["[trainer0]:a", "[trainer1]:b", "[trainer0]:c"], 1, "b", "local_rank", 1),
    "syslog": (["2026-11-30T20:15:04Z node-1 dockerd: a", "2026-11-30T20:15:05Z node-1 dockerd: b", "2026-11-30T20:15:05Z node-1 chronyd: c"], 1, "b", "host", "node-1"),
    "quote": (["> RuntimeError: x", ">> > deeper", "> "], 1, "deeper", "rank", None),
    "hydra, with hosts": (["[3@node-1] a", "[0@node-0] b", "[2@node-1] c", "[1@node-0] d"], 0, "a", "host", "node-1"),
    "line-numbers": (["  9\tTraceback", " 10\tValueError: x", " 11\t"], 1, "ValueError: x", "rank", None),
    "clock": (["20:15:04  Started", "20:15:05  [gpu-test] Finished: FAILURE"], 1, "Finished: FAILURE", "rank", None),
    "jenkins-branch": (["[2026-11-30T20:15:04.123Z] [gpu-test] a", "[2026-11-30T20:15:05.123Z] [cpu-test] b", "[2026-11-30T20:15:06.123Z] [gpu-test] FATAL: c"], 2, "FATAL: c", "level", "fatal"),
    "csv": (["timestamp,message", '1796069704123,"RuntimeError: x"', "1796069704124,second"], 2, "second", "rank", None),
    "indent": (["    Traceback", "      File", "    ValueError: x"], 2, "ValueError: x", "rank", None),
    "cloudwatch": (["2026-11-30T20:15:04 jobs/bert-1/abc a", "2026-11-30T20:15:04 jobs/bert-1/abc b"], 1, "b", "rank", None),
}  # fmt: skip


FEW = {
    "slurm-label": ([f"3: line {i}" for i in range(6)], "line 2", "rank", 3),
    "hydra": ([f"[5] line {i}" for i in range(6)], "line 2", "rank", 5),
    "pdsh": ([f"gpu-node-7: line {i}" for i in range(8)], "line 2", "host", "gpu-node-7"),
}


@pytest.mark.parametrize("name", sorted(FEW))
def test_lines_of_one_rank_or_host_that_somebody_took_out(name: str) -> None:
    lines, text, attribute, value = FEW[name]
    peeler = normaliser(lines)
    assert name in peeler.detected.names
    peeled = peeler.peel(lines[2], 3)
    assert (peeled.text, getattr(peeled.identity, attribute)) == (text, value)


def test_lines_that_count_up_have_no_label() -> None:
    assert "slurm-label" not in normaliser([f"{i}: step" for i in range(3, 12)]).detected.names


@pytest.mark.parametrize("name", sorted(ADOPTED))
def test_source_that_has_it_throughout_adopts_it(name: str) -> None:
    lines, index, text, attribute, value = ADOPTED[name]
    peeler = normaliser(lines)
    assert name.split(",")[0] in peeler.detected.names
    peeled = peeler.peel(lines[index], index + 1)
    assert peeled.text == text
    assert getattr(peeled if attribute == "level" else peeled.identity, attribute) == value


def test_line_without_the_adopted_prefix_stays() -> None:
    peeler = normaliser(["node-17: a", "node-18: b", "node-17: c", "node-18: d"])
    assert (
        peeler.peel("mpirun noticed that process rank 5 exited", 9).text == "mpirun noticed that process rank 5 exited"
    )


def test_launcher_lines_do_not_count_against_a_label() -> None:
    lines = ["0: a", "1: b", "0: c", "srun: error: node-1: task 1: Killed", "slurmstepd: error: *** STEP 1.0 ***"]
    assert normaliser(lines).peel("1: b", 2).identity.rank == 1


def test_stern_event_line_is_as_good_as_a_share() -> None:
    lines = ["+ bert-worker-3 › pytorch", "noise", "more noise", "bert-worker-3 pytorch a", "bert-worker-3 pytorch b"]
    assert normaliser(lines).peel("bert-worker-3 pytorch a", 4).identity.pod == "bert-worker-3"


def test_weak_wrappers_stack_with_strong_ones() -> None:
    lines = [f"2026-11-30T20:15:0{i}Z stdout F {i % 2}: [rank{i % 2}]: step {i}" for i in range(8)]
    peeler = normaliser(lines)
    assert peeler.peel(lines[3], 4).text == "step 3"
    assert peeler.detected.names == ("cri", "slurm-label", "torch-rank")


ORDINARY = {
    "traceback": """Traceback (most recent call last):
  File "/w/train.py", line 88, in <module>
    main()
  File "/w/train.py", line 80, in main
    raise ValueError("x")
ValueError: x

During handling of the above exception, another exception occurred:

RuntimeError: y""",
    "exceptions": "ValueError: a\nKeyError: b\nValueError: c\nKeyError: d",
    "programs": "srun: error: a\nslurmstepd: error: b\nsrun: error: c\nslurmstepd: error: d",
    "yaml": "name: a\nvalue: b\nname: c\nvalue: d\nspec:\n  containers:\n  - name: x",
    "headers": "content-type: a\nx-request-id: b\nhost: c",
    "markdown": "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
    "gcc": "a.c:12:3: error: expected ';'\na.c:13:3: error: expected ';'\nb.c:1:1: warning: unused",
    "make": "make: *** [Makefile:12: all] Error 2\nmake: Leaving directory '/w'",
    "bash": "bash: a: command not found\nbash: b: command not found",
    "jobs": "[1] 12345\n[2] 12346",
    "prose": "the pre-training step 5 went well\nthe fine-tuning step 6 did not",
    "mpi": "[node-17:10641] mca: base: components_register\n[node-17:10641] mca: base: components_open",
    "ranks": "[7] a\n[9] b\n[7] c",
}


@pytest.mark.parametrize("name", sorted(ORDINARY))
def test_ordinary_text_keeps_its_line_beginnings(name: str) -> None:
    lines = ORDINARY[name].splitlines()
    peeler = normaliser(lines)
    assert peeler.detected.weak == ()
    assert [peeler.peel(line, i).text for i, line in enumerate(lines, 1)] == lines


def test_numbered_list_has_no_ranks() -> None:
    lines = ["0: first", "1: second", "2: third"]
    assert normaliser(lines).peel(lines[1], 2).identity.rank is None


def test_grep_line_numbers_are_numbers_and_no_ranks() -> None:
    lines = ["12:RuntimeError: a", "57:RuntimeError: b", "58:RuntimeError: c"]
    peeled = normaliser(lines).peel(lines[1], 2)
    assert (peeled.text, peeled.identity.rank) == ("RuntimeError: b", None)
