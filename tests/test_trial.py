"""`troubleshoot rules test`: a rule tried on logs and on its examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from troubleshoot.cli.app import cli

RULE = """\
title: Fan {fan} of {node} stopped
severity: high
status: draft
signatures: "fan {fan:int} of {node:host} stopped"
explanation: >
  It no longer turns.
fixes:
  - title: Replace it
    run: replace {node}
    verify: { run: "fans {node}", expect: "turning" }
references: [https://example.com/fans]
examples:
  - match: |
      fan 3 of node-1 stopped
    captures: { fan: "3" }
  - no_match: |
      fan 3 of node-1 started
    why: it turns
"""


@pytest.fixture
def rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "new" / "fan-stopped.yaml"
    path.parent.mkdir()
    path.write_text(RULE)
    (tmp_path / "hot.log").write_text("boot\nfan 7 of node-4 stopped\n")
    (tmp_path / "cold.log").write_text("boot\nfan 7 of node-4 stuttered\n")
    return path


def run(*arguments: str, input: str | None = None) -> Result:
    return CliRunner().invoke(cli, ["rules", "test", *arguments, "--no-default-rules"], input=input)


def test_rule_that_fires_shows_what_its_readers_see(rule: Path) -> None:
    result = run(str(rule), "hot.log")
    assert result.exit_code == 0, result.stdout
    for wanted in (
        "new/fan-stopped fires on hot.log, as it should",
        "Captures: fan = 7, node = node-4",
        "Fan 7 of node-4 stopped",
        "replace node-4",
        "hot.log:2",
        "yes  line 13, match: fires",
        "yes  line 16, no_match: stays silent",
        "All as it should be.",
    ):
        assert wanted in result.stdout


def test_rule_that_does_not_fire_shows_where_the_nearest_line_parts(rule: Path) -> None:
    result = run(str(rule), "cold.log")
    assert result.exit_code == 2
    lines = result.stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if "stuttered" in line)
    assert lines[at - 1] == "  cold.log:2"
    assert lines[at + 1].index("^") == lines[at].index("stuttered") + len("st")
    assert "Not as it should be." in result.stdout


def test_silence_is_what_is_wanted_of_a_healthy_log(rule: Path) -> None:
    assert run(str(rule), "cold.log", "--silent").exit_code == 0
    result = run(str(rule), "hot.log", "--silent")
    assert (result.exit_code, "and should stay silent" in result.stdout) == (2, True)


def test_log_may_come_from_standard_input(rule: Path) -> None:
    assert "stdin:1" in run(str(rule), "-", input="fan 7 of node-4 stopped\n").stdout


def test_without_logs_the_examples_are_tried(rule: Path) -> None:
    result = run(str(rule))
    assert (result.exit_code, result.stdout.startswith("Its examples:\n")) == (0, True)
    rule.write_text(RULE.replace("fan 3 of node-1 started", "fan 3 of node-1 stopped").replace('"3" }', '"4" }'))
    result = run(str(rule))
    assert result.exit_code == 2
    assert "no   line 13, match: `fan` is `3`, and not `4`" in result.stdout
    assert "no   line 16, no_match: the rule fires on this example of `no_match`" in result.stdout


def test_near_miss_that_is_not_written_yet_is_asked_for(rule: Path) -> None:
    rule.write_text(RULE.replace("fan 3 of node-1 started", "TODO: the closest line"))
    result = run(str(rule))
    assert (result.exit_code, "?    line 16, no_match: not written yet" in result.stdout) == (0, True)
    rule.write_text(RULE.replace("fan 3 of node-1 started", "TODO: the closest line").replace("draft", "stable"))
    assert run(str(rule)).exit_code == 2
    rule.write_text(RULE[: RULE.index("  - no_match")])
    assert "no near-miss" in run(str(rule)).stdout


def test_json_holds_all_of_it(rule: Path) -> None:
    told: dict[str, Any] = json.loads(run(str(rule), "hot.log", "-f", "json").stdout)
    assert (told["ok"], told["fires"], told["expected"], told["logs"]) == (True, True, "fires", ["hot.log"])
    assert told["finding"]["captures"] == {"fan": "7", "node": "node-4"}
    assert [each["ok"] for each in told["examples"]] == [True, True]
    told = json.loads(run(str(rule), "cold.log", "-f", "json").stdout)
    assert (told["ok"], told["fires"], told["finding"]) == (False, False, None)
    (near,) = told["nearest"]
    assert (near["source"], near["line"], near["column"]) == ("cold.log", 2, 1 + "fan 7 of node-4 stuttered".index("u"))


def test_rule_of_a_pack_goes_by_its_id_and_its_packs_name(rule: Path) -> None:
    (rule.parent.parent / "pack.yaml").write_text("name: acme\n")
    for name in ("new/fan-stopped", "acme:new/fan-stopped"):
        assert run(name, "hot.log", "--rules", str(rule.parent.parent)).exit_code == 0
    assert run("acme:new/fan", "hot.log", "--rules", str(rule.parent.parent)).exit_code == 2


@pytest.mark.parametrize("arguments", [("new/fan-stoped",), ("none.yaml",), ("new/fan-stopped.yaml", "none.log")])
def test_what_is_not_there_is_said(rule: Path, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stderr.startswith("error: no such") or "no rule" in result.stderr) == (2, True)


def test_others_that_fire_there_are_named_with_the_place_of_this_one(rule: Path) -> None:
    other = rule.with_name("boot-seen.yaml")
    other.write_text(
        RULE.replace("severity: high", "severity: critical")
        .replace('"fan {fan:int} of {node:host} stopped"', "boot")
        .replace("Fan {fan} of {node} stopped", "Boot")
    )
    result = run("new/fan-stopped", "hot.log", "--rules", str(rule.parent.parent))
    assert "of 2. Others: new/boot-seen." in result.stdout


def test_shell_completes_ids_and_else_files() -> None:
    import click

    from troubleshoot.cli.choice import complete_rule

    context = click.Context(cli)
    parameter = click.Argument(["rule"])
    assert "slurm/time-limit" in [each.value for each in complete_rule(context, parameter, "slurm/ti")]
    assert [(each.value, each.type) for each in complete_rule(context, parameter, "./mine/x")] == [("./mine/x", "file")]
