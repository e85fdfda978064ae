"""`troubleshoot rules suggest`: the lines of logs that no rule knows, best candidates for a rule first."""

from __future__ import annotations

import json
import shlex
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from troubleshoot import suggest as suggest_module
from troubleshoot.cli.app import cli
from troubleshoot.engine import Engine
from troubleshoot.grouping import Grouping
from troubleshoot.ingest.sources import open_sources, open_text
from troubleshoot.ordinary import ordinary_templates, templates_in
from troubleshoot.rulepack.load import load_pack
from troubleshoot.rulepack.naming import suggest_id
from troubleshoot.suggest import suggest

ROOT = Path(__file__).parents[1]
LOG = """\
2026-11-30T10:00:01Z INFO loading shard 1 of 8
2026-11-30T10:00:02Z INFO loading shard 2 of 8
2026-11-30T10:00:03Z WARN queue of gpu-node-3 exceeds limit 512
2026-11-30T10:00:04Z ERROR flux capacitor of gpu-node-3 drifted by 12 ms, giving up
2026-11-30T10:00:04Z ERROR flux capacitor of gpu-node-4 drifted by 17 ms, giving up
2026-11-30T10:00:05Z INFO login with password=hunter2hunter2
slurmstepd: error: *** JOB 4711 ON gpu-node-3 CANCELLED AT 2026-11-30T20:15:04 DUE TO TIME LIMIT ***
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "job.log"
    path.write_text(LOG)
    return path


def run(*arguments: str, input: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["rules", *arguments], input=input)


def told(*arguments: str, input: str | None = None) -> dict[str, Any]:
    result = run("suggest", *arguments, "-f", "json", input=input)
    assert result.exit_code == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


# --- what is suggested -----------------------------------------------------------------------------------------------


def test_lines_that_say_the_same_are_one_and_the_gravest_is_first(log: Path) -> None:
    first, second = told("job.log")["candidates"]
    assert (first["line"], first["count"]) == (4, 2)
    assert first["template"] == "error flux capacitor of gpu-node# drifted by # ms, giving up"
    assert (second["line"], second["count"], second["score"] < first["score"]) == (3, 1, True)


def test_what_a_rule_takes_is_left_out_and_so_is_what_is_ordinary(log: Path) -> None:
    document = told("job.log")
    assert (document["findings"], document["taken"]) == (["slurm/time-limit"], 1)
    assert not any("CANCELLED" in each["sample"] or "shard" in each["sample"] for each in document["candidates"])


def test_a_draft_takes_its_line_too(log: Path) -> None:
    made = run("new", "site/flux-drifted", "job.log:4", "--dir", "mine")
    assert made.exit_code == 0, made.stderr
    (only,) = told("job.log", "--rules", "mine")["candidates"]
    assert only["line"] == 3


def test_what_a_healthy_log_holds_is_no_candidate(log: Path) -> None:
    Path("good.log").write_text(LOG.replace("drifted", "rose").replace("512", "64"))
    assert [each["line"] for each in told("job.log", "--healthy", "good.log")["candidates"]] == [4]


def test_noise_that_is_said_again_and_again_ranks_below_a_single_failure(log: Path) -> None:
    noise = "".join(f"error: transient hiccup {number} of the mirror\n" for number in range(500))
    first = told("-", input=noise + "error: the warp core of gpu-node-3 is breached\n")["candidates"][0]
    assert first["line"] == 501


def test_sources_are_counted(log: Path) -> None:
    for rank in range(3):
        Path(f"rank{rank}.log").write_text(f"error: the warp core of rank {rank} is breached\n")
    (only,) = told("rank0.log", "rank1.log", "rank2.log")["candidates"]
    assert (only["count"], only["sources"]) == (3, 3)


def test_log_without_a_fault_gives_no_candidate(log: Path) -> None:
    Path("good.log").write_text("".join(f"step {number} loss 0.5\n" for number in range(100)))
    result = run("suggest", "good.log")
    assert (result.exit_code, result.stdout.startswith("No line looks like a fault")) == (0, True)


# --- from a suggestion to a rule -------------------------------------------------------------------------------------


def test_command_starts_a_rule_that_fires_on_the_log(log: Path) -> None:
    candidate = told("job.log")["candidates"][0]
    assert candidate["command"] == "troubleshoot rules new site/flux-capacitor-drifted-giving job.log:4"
    made = run(*shlex.split(candidate["command"])[2:], "--dir", "mine")
    assert made.exit_code == 0, made.stderr
    tried = run("test", "mine/site/flux-capacitor-drifted-giving.yaml", "job.log")
    assert (tried.exit_code, "fires on job.log" in tried.stdout) == (0, True)


def test_members_of_archives_and_odd_names_can_be_started_from(log: Path) -> None:
    with tarfile.open("it's all.tar.gz", "w:gz") as archive:
        archive.add("job.log", "pods/job 1.log")
    candidate = told("it's all.tar.gz")["candidates"][0]
    assert candidate["source"] == "it's all.tar.gz/pods/job 1.log"
    made = run(*shlex.split(candidate["command"])[2:], "--dir", "mine")
    assert made.exit_code == 0, made.stderr
    assert "flux capacitor of gpu-node-3" in Path("mine", f"{candidate['id']}.yaml").read_text()


def test_what_cannot_be_read_again_is_given_as_text(log: Path) -> None:
    candidate = told("-", input=LOG)["candidates"][0]
    head, line, end = candidate["command"].split("\n")
    assert (head.endswith("<<'LINE'"), end) == (True, "LINE")
    assert run(*shlex.split(head)[2:-1], "--dir", "mine", input=f"{line}\n").exit_code == 0


def test_drafts_are_written_without_secrets(log: Path) -> None:
    Path("leak.log").write_text("2026-11-30T10:00:05Z ERROR the mirror refused token=abcd1234efgh5678 of its guest\n")
    result = run("suggest", "job.log", "leak.log", "--write", "mine", "--top", "3")
    assert result.exit_code == 0, result.stderr
    files = sorted(Path("mine").glob("*/*.yaml"))
    assert [str(each) in result.stdout for each in files] == [True] * 3
    assert "abcd1234efgh5678" not in "".join(each.read_text() for each in files) + result.stdout
    pack = load_pack(["mine"], default_rules=False, drafts=True, cache=False)
    assert (len(pack.rules), pack.problems) == (3, ())
    fired = {each.rule for each in Engine(pack).scan_text(LOG + Path("leak.log").read_text()).findings}
    assert fired == set(pack.rules)
    again = run("suggest", "job.log", "leak.log", "--write", "mine")
    assert again.exit_code == 0
    assert again.stdout.startswith("No line looks like a fault")
    assert sorted(Path("mine").glob("*/*.yaml")) == files


def test_no_secret_and_no_control_character_is_shown(log: Path) -> None:
    Path("job.log").write_text("ERROR \x1b[31mthe mirror refused password=hunter2hunter2 of its guest\n")
    result = run("suggest", "job.log")
    assert "hunter2" not in result.stdout + run("suggest", "job.log", "-f", "json").stdout
    assert "\x1b" not in result.stdout


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("NCCL WARN proxy call to peer {n:int} failed", "nccl/proxy-call-peer"),
        ("RuntimeError: no room left for gradients", "site/room-left-gradients"),
        ("libfabric: the rail of {path:path} is bent", "efa/libfabric-rail-bent"),
        ("错误", "site/unknown"),
        ("failed", "site/failed"),
    ],
)
def test_id_is_made_of_the_words_that_tell(text: str, id: str) -> None:
    assert suggest_id(text, {"nccl", "efa"}, lambda _id: True) == id
    taken = {id}
    assert suggest_id(text, {"nccl", "efa"}, lambda id: id not in taken) == f"{id}-2"


# --- the store -------------------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> str:
    from troubleshoot.store.database import open_database
    from troubleshoot.store.store import Store

    url = f"sqlite:///{tmp_path / 'reports.db'}"
    kept = Store(open_database(url))
    for number in range(5):
        kept.add_unknown([{"text": f"mirror {number} of the telescope is cracked", "reason": "logged"}])
    kept.add_unknown([{"text": "RuntimeError: the warp core is breached", "reason": "exception"}])
    kept.add_unknown([{"text": "RuntimeError: the warp drive is breached", "reason": "exception"}])
    kept.add_unknown([{"text": LOG.splitlines()[-1], "reason": "logged"}] * 9)  # known by now
    kept.close()
    return url


def test_unknown_faults_of_a_store_are_grouped_and_those_known_by_now_left_out(store: str, log: Path) -> None:
    document = told("--store", store)
    assert document["taken"] == 1
    first, *_rest = document["candidates"]
    assert (first["template"], first["count"]) == ("runtimeerror: the warp <*> is breached", 2)
    assert "rules new site/warp" in first["command"]
    shown = run("suggest", "--store", store)
    assert ("1. the store  2 times, exception" in shown.stdout, "LINE" in shown.stdout) == (True, True)


@pytest.mark.parametrize("url", ["sqlite:///none.db", "postgresql://u:secret@127.0.0.1:1/x", "mysql://x", "job.log"])
def test_store_that_cannot_be_read_is_said_and_not_made(log: Path, url: str) -> None:
    result = run("suggest", "--store", url)
    assert (result.exit_code, result.stderr.startswith("error: ")) == (2, True)
    assert "secret" not in result.stderr
    assert not Path("none.db").exists()


def test_store_and_logs_exclude_each_other(store: str, log: Path) -> None:
    assert run("suggest", "job.log", "--store", store).exit_code == 2
    assert run("suggest", "none.log").exit_code == 2


# --- bounds ----------------------------------------------------------------------------------------------------------


def test_any_number_of_different_lines_is_bounded_and_the_last_failure_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(suggest_module, "KEPT_RAW", 100)
    monkeypatch.setattr(suggest_module, "KEPT", 400)
    names = ["".join(chr(97 + (number >> shift) % 26) for shift in (0, 4, 8, 12)) for number in range(5000)]
    text = "".join(f"visiting {name} and {name[::-1]}{name}\n" for name in names) + "error: the warp core is breached\n"
    found = suggest(Engine(load_pack([])), [open_text(text)])
    assert found.candidates[0].line == 5001
    assert (found.lines, found.dropped > 0) == (5001, True)


@pytest.mark.parametrize(
    "line", ["x" * 3_000_000, "error " * 500_000, "\x00\xff" * 1000, "error: " + "a" * 200_000, "{" * 5000 + "error"]
)
def test_absurd_lines_do_no_harm(line: str) -> None:
    found = suggest(Engine(load_pack([])), [open_text(f"{line}\nerror: the warp core is breached\n")])
    assert any("warp core" in each.sample for each in found.candidates)


# --- grouping and what is ordinary -----------------------------------------------------------------------------------


def test_lines_alike_join_and_others_stay_apart() -> None:
    grouping: Grouping[int] = Grouping()
    for number, line in enumerate(
        [
            "peer alpha of job # is gone",
            "peer beta of job # is gone",
            "peer gamma of task # was lost",
            "disk full",
            "disk failed",
            "peer delta of job # is gone",
        ]
    ):
        grouping.add(line, number)
    assert sorted((group.template, group.members) for group in grouping.groups()) == [
        ("disk failed", [4]),
        ("disk full", [3]),
        ("peer <*> of job # is gone", [0, 1, 5]),
        ("peer gamma of task # was lost", [2]),
    ]


def test_healthy_logs_of_the_corpus_are_known_as_ordinary() -> None:
    """New healthy logs may come before the table is made anew (python benchmarks/ordinary.py), but not many."""
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.ordinary import healthy_logs
    finally:
        sys.path.remove(str(ROOT))
    found = templates_in(open_sources(list(healthy_logs())))
    assert len(found & ordinary_templates()) >= 0.9 * len(found), "python benchmarks/ordinary.py"


def test_line_of_a_rule_that_is_not_there_is_found_in_the_corpus() -> None:
    """Every ninth incident; `python benchmarks/suggestions.py` looks at all of them."""
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.suggestions import measure
    finally:
        sys.path.remove(str(ROOT))
    figures = measure(9)
    assert figures.incidents >= 50
    assert figures.among_first(1) >= 0.55 * figures.incidents
    assert figures.among_first(3) >= 0.7 * figures.incidents
    assert figures.healthy_with_candidates <= 0.2 * figures.healthy
