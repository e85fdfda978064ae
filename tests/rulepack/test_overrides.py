"""A small file of the user's has its say over rules that nobody edits."""

from __future__ import annotations

from pathlib import Path

import pytest

from troubleshoot.errors import UsageError
from troubleshoot.model import Confidence, RulePack, Severity
from troubleshoot.rulepack.load import list_rule_files, load_pack
from troubleshoot.rulepack.overrides import NONE, VARIABLE, active_file, use

RULE = """\
title: {id}
severity: low
confidence: high
signatures: signature of {id} here
explanation: x
fixes: [{{title: mend it}}]
references: [somewhere]
"""


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    for id in ("gpu/hot", "gpu/cold", "net/down"):
        path = tmp_path / f"p/{id}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(RULE.format(id=id), "utf-8")
    (tmp_path / "p/pack.yaml").write_text("name: acme\n", "utf-8")
    return tmp_path / "p"


def load(rules: Path, overrides: str) -> RulePack:
    file = rules.parent / "overrides.yaml"
    file.write_text(overrides, "utf-8")
    return load_pack([rules], default_rules=False, cache=False, overrides=file)


def told(pack: RulePack) -> list[str]:
    return [f"{each.severity} {each.code} {each.place.line}: {each.text} ({each.help})" for each in pack.problems]


def test_severity_and_confidence_by_id_glob_and_pack(rules: Path) -> None:
    pack = load(
        rules,
        'gpu/hot: { severity: critical }\n"gpu/*": { confidence: low, reason: they say so too often }\n'
        '"acme:net/*": { severity: medium }\nacme:net/don: { severity: critical }\n',
    )
    assert {id: (rule.severity, rule.confidence) for id, rule in pack.rules.items()} == {
        "gpu/cold": (Severity.LOW, Confidence.LOW),
        "gpu/hot": (Severity.CRITICAL, Confidence.LOW),
        "net/down": (Severity.MEDIUM, Confidence.HIGH),
    }
    assert told(pack) == ["warning P004 4: no rule goes by `acme:net/don` (did you mean `acme:net/down`?)"]


def test_a_disabled_rule_is_gone_with_its_patterns(rules: Path) -> None:
    whole = load(rules, "")
    pack = load(rules, '"gpu/*": { disable: true }\ngpu/cold: { disable: false }\n')
    assert sorted(pack.rules) == ["gpu/cold", "net/down"]
    assert len(pack.patterns) == len(whole.patterns) - 1
    assert pack.hash != whole.hash


def test_what_is_wrong_is_told_and_the_rest_counts(rules: Path) -> None:
    pack = load(rules, "gpu/hot: { severity: huge }\ngpu/cold: { disabel: true }\nnet/down: { severity: high }\n")
    assert {id: rule.severity for id, rule in pack.rules.items()} == {
        "gpu/cold": Severity.LOW,
        "gpu/hot": Severity.LOW,
        "net/down": Severity.HIGH,
    }
    assert [(each.code, each.place.line) for each in pack.problems] == [("R004", 1), ("R002", 2)]
    assert pack.problems[1].help == "did you mean `disable`?"
    assert [each.code for each in load(rules, "- gpu/hot\n").problems] == ["R004"]
    assert [each.code for each in load(rules, "gpu: [\n").problems] == ["R001"]


def test_the_users_own_file_counts_and_can_be_left_aside(
    rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert active_file() is None
    own = tmp_path / "config/troubleshoot/overrides.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("gpu/hot: { disable: true }\n", "utf-8")

    def ids() -> list[str]:
        return sorted(load_pack([rules], default_rules=False).rules)

    assert ids() == ["gpu/cold", "net/down"]
    assert own in list_rule_files([rules], default_rules=False)
    own.write_text("gpu/cold: { disable: true } # and no more\n", "utf-8")
    assert ids() == ["gpu/hot", "net/down"]
    undo = use(NONE)
    assert len(ids()) == 3
    undo()
    assert len(ids()) == 2
    other = tmp_path / "other.yaml"
    other.write_text('"*": { severity: high }\n', "utf-8")
    monkeypatch.setenv(VARIABLE, str(other))
    assert {rule.severity for rule in load_pack([rules], default_rules=False).rules.values()} == {Severity.HIGH}
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere.yaml"))
    with pytest.raises(UsageError, match=r"nowhere\.yaml"):
        load_pack([rules], default_rules=False)


def test_the_option_holds_for_one_command(
    rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from troubleshoot.cli import main

    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = tmp_path / "mine.yaml"
    file.write_text("gpu/hot: { disable: true }\nnet/down: { severity: critical }\n", "utf-8")
    log = tmp_path / "x.log"
    log.write_text("signature of gpu/hot here\nsignature of net/down here\n", "utf-8")
    scan = [str(log), "--no-default-rules", "--rules", str(rules), "--format", "json"]

    def severities(*options: str) -> str:
        with pytest.raises(SystemExit):
            main([*scan, *options])
        return capsys.readouterr().out

    assert '"severity":"critical"' in severities("--overrides", str(file)).replace(" ", "")
    assert '"rule":"gpu/hot"' not in severities("--overrides", str(file)).replace(" ", "")
    assert '"rule":"gpu/hot"' in severities().replace(" ", "")
    with pytest.raises(SystemExit) as ended:
        main([*scan, "--overrides", str(tmp_path / "nowhere.yaml")])
    assert ended.value.code == 2
    assert "nowhere.yaml" in capsys.readouterr().err
