"""`troubleshoot rules new` and `rules schema`: from a strange line to a file that an editor helps to fill in."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from troubleshoot.cli.app import cli
from troubleshoot.rulepack.load import find_problems

LICENSE = "slurmstepd: error: *** JOB 4711 ON gpu-node-3 CANCELLED AT 2026-11-30T20:15:04 DUE TO LICENSE EXPIRY ***"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str, input: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["rules", *arguments], input=input)


def test_new_rule_loads_and_lies_beside_its_schemas() -> None:
    made = run("new", "slurm/license-expired", "--dir", "mine", input=LICENSE)
    assert made.exit_code == 0, made.stderr
    path = Path("mine/slurm/license-expired.yaml")
    assert path.read_text().startswith("# yaml-language-server: $schema=../_schemas/rule.json\n")
    assert sorted(each.name for each in Path("mine/_schemas").iterdir()) == [
        "pack.json", "rule.json", "shared.json", "table.json", "translation.json"
    ]  # fmt: skip
    assert find_problems([Path("mine")]) == []
    checked = run("check", str(path))
    assert "error[L018]: `TODO` left on lines" in checked.stdout
    assert checked.stdout.count("error[") == 1


def test_closest_lines_of_other_rules_are_offered() -> None:
    run("new", "slurm/license-expired", "--dir", "mine", input=LICENSE)
    text = Path("mine/slurm/license-expired.yaml").read_text()
    assert "DUE TO PREEMPTION ***    (slurm/preempted)" in text
    assert "DUE TO TIME LIMIT ***    (slurm/time-limit)" in text


def test_lines_are_named_as_reports_name_them() -> None:
    Path("job.log").write_text("".join(f"line {number} of the story is over\n" for number in range(1, 400)))
    assert run("new", "a/b", "job.log:212").exit_code == 0
    assert "      line 212 of the story is over\n    captures" in Path("rules/a/b.yaml").read_text()
    Path("job.log.gz").write_bytes(gzip.compress(Path("job.log").read_bytes()))
    assert run("new", "a/c", "job.log.gz:212-214").exit_code == 0
    assert Path("rules/a/c.yaml").read_text().count("of the story is over\n") == 3


def test_example_of_lines_alike_comes_out_as_it_says() -> None:
    lines = "ERROR lease of /a/b/17 is held by gpu-node-9\nERROR lease of /a/b/18 is held by gpu-node-8\n"
    assert run("new", "a/b", "--dir", "mine", input=lines).exit_code == 0
    tried = run("test", "mine/a/b.yaml")
    assert (tried.exit_code, "match: fires" in tried.stdout) == (0, True), tried.stdout


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("job.log", "job.log has more than 60 lines"),
        ("job.log:400", "there is no such line: job.log:400"),
        ("job.log:1-100", "job.log:1-100 is more than 60 lines"),
        ("none.log", "no such file or folder: none.log"),
        ("none.log:12", "no such file or folder: none.log"),
        ("empty.log", "nothing can be read: empty.log"),
    ],
)
def test_what_no_rule_can_be_started_from_is_said(log: str, said: str) -> None:
    Path("job.log").write_text("".join(f"line {number} of the story is over\n" for number in range(1, 400)))
    Path("empty.log").write_text("")
    result = run("new", "a/b", log)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert not Path("rules").exists()


def test_too_much_on_standard_input_is_said() -> None:
    result = run("new", "a/b", input="x is broken\n" * 61)
    assert (result.exit_code, "more than 60 lines" in result.stderr) == (2, True)


def test_no_secret_of_a_paste_gets_into_a_rule() -> None:
    line = "ERROR the mirror refused password=hunter2hunter2 of its guest\n"
    assert run("new", "a/b", input=line).exit_code == 0
    assert "hunter2" not in Path("rules/a/b.yaml").read_text()
    Path("job.log").write_text(line)
    assert run("test", "rules/a/b.yaml", "job.log").exit_code == 0  # the real line still matches


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("rule", "troubleshoot rule"),
        ("pack", "troubleshoot pack"),
        ("shared", "troubleshoot shared signatures"),
        ("table", "troubleshoot table"),
        ("overrides", "troubleshoot overrides"),
        ("report", "troubleshoot report"),
    ],
)
def test_each_schema_is_printed(kind: str, title: str) -> None:
    assert json.loads(run("schema", kind).stdout)["title"] == title


def test_folder_is_tied_to_its_schemas() -> None:
    path = Path("mine/gpu/hot.yaml")
    path.parent.mkdir(parents=True)
    path.write_text("title: x\n")
    assert run("schema", "--into", "mine").stdout.endswith("6 files written.\n")
    assert path.read_text() == "# yaml-language-server: $schema=../_schemas/rule.json\ntitle: x\n"
    assert run("schema", "--into", "mine").stdout == "0 files written.\n"
    assert run("schema", "--into", "none").exit_code == 2


def test_a_pack_of_its_own_is_checked_without_the_shipped_rules() -> None:
    shipped = (Path(__file__).parents[1] / "rules/slurm/time-limit.yaml").read_text()
    path = Path("mine/slurm/out-of-time.yaml")
    path.parent.mkdir(parents=True)
    path.write_text(shipped)
    assert "slurm/time-limit fires on this example too" in run("check", "mine").stdout
    alone = run("check", "mine", "--no-default-rules").stdout
    assert "slurm/time-limit fires" not in alone
    assert "L010" not in alone
    assert "nothing to check" in run("check", "--no-default-rules").stderr
