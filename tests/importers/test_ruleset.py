"""A ruleset.toml of PyTorch's log classifier, and the command that imports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from troubleshoot.cli import main
from troubleshoot.engine import Engine
from troubleshoot.importers import read_foreign, write_pack
from troubleshoot.rulepack.load import load_pack

RULESET = r"""
[[rule]]
name = 'GHA timeout'
pattern = '^##\[error\]The action (.*)has timed out(?: after .* minutes|)?.'

[[rule]]
name = 'Flux capacitor'
pattern = 'flux capacitor (\d+) of (?P<All>\d+) is {out}'

[[rule]]
name = 'Flux capacitor'
pattern = '''it's 88 miles an hour'''

[[rule]]
name = 'Broken'
pattern = '(?U)x'
"""
LOG = """\
2026-11-30T20:33:06.4321000Z Run make
2026-11-30T20:33:07.4321000Z \x1b[31mflux capacitor 3 of 7 is {out}\x1b[0m
2026-11-30T20:33:08.4321000Z ##[error]The action 'Test' has timed out after 240 minutes.
"""


@pytest.fixture
def ruleset(tmp_path: Path) -> Path:
    path = tmp_path / "checkout/aws/ruleset.toml"
    path.parent.mkdir(parents=True)
    path.write_text(RULESET, "utf-8")
    return path


def test_each_rule_becomes_one(ruleset: Path, tmp_path: Path) -> None:
    foreign = read_foreign("pytorch-ci", ruleset.parent.parent)
    write_pack(foreign, tmp_path / "out")
    pack = load_pack([tmp_path / "out"], default_rules=False, strict=True, cache=False, overrides=None)
    assert sorted(pack.rules) == ["ci/flux-capacitor", "ci/flux-capacitor-too", "ci/gha-timeout"]
    assert [(each.origin, each.why) for each in foreign.refused] == [("Broken", "the flags `(?U)` have no equal")]
    found = {each.rule: dict(each.captures) for each in Engine(pack).scan_text(LOG, "ci.log").findings}
    assert found == {
        "ci/gha-timeout": {"group1": "'Test' "},
        "ci/flux-capacitor": {"group1": "3", "all": "7"},
    }


def test_the_command_tells_what_came_of_it(ruleset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "out"
    with pytest.raises(SystemExit) as ended:
        main(["rules", "import", "pytorch-ci", str(ruleset), "--output", str(output), "--format", "json"])
    told = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0
    assert (told["rules"], told["loaded"], len(told["refused"])) == (3, 3, 1)
    with pytest.raises(SystemExit):
        main(["rules", "import", "pytorch-ci", str(ruleset), "--output", str(output)])
    text = capsys.readouterr().out
    assert text.startswith(f"3 of 4 rules of PyTorch log classifier are in {output} and load.\n")
    assert "not taken over: Broken" in text
    assert yaml.safe_load((output / "pack.yaml").read_text("utf-8"))["name"] == "pytorch-ci"
    log = tmp_path / "ci.log"
    log.write_text(LOG, "utf-8")
    with pytest.raises(SystemExit):
        main([str(log), "--rules", str(output), "--no-default-rules", "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    assert [each["rule"] for each in report["findings"]] == ["ci/flux-capacitor", "ci/gha-timeout"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["tarot", "."], "no format 'tarot'"),
        (["cre", "nowhere"], "no such file or folder: nowhere"),
        (["cre", "."], "no rules of the format 'cre' in ."),
    ],
)
def test_wrong_arguments_are_told(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["rules", "import", *arguments, "--output", "out"])
    assert ended.value.code == 2
    assert told in capsys.readouterr().err
