"""Packs beside each other: names, precedence, what each needs, and that a broken one breaks nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from troubleshoot import __version__
from troubleshoot.engine import Engine
from troubleshoot.errors import RuleError
from troubleshoot.model import RulePack
from troubleshoot.rulepack import cache as pack_cache
from troubleshoot.rulepack.lint import lint_pack
from troubleshoot.rulepack.load import load_pack
from troubleshoot.rulepack.packs import find_rule, full_name, goes_by

RULE = """\
title: {title}
severity: low
signatures: {text}
{more}explanation: x
fixes: [{{title: mend it}}]
references: [somewhere]
examples:
  - match: {text}
  - no_match: nothing
"""
Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Make a folder of rules: `rules` by id to the text that they look for; `header` is its pack.yaml."""

    def make_pack(folder: str, rules: dict[str, str], header: str = "", more: str = "", table: str = "") -> Path:
        root = tmp_path / folder
        for id, text in rules.items():
            path = root / f"{id}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(RULE.format(title=f"{folder} {id}", text=text, more=more), "utf-8")
        for name, text in (("pack", header), ("_tables/codes", table)):
            if text:
                path = root / f"{name}.yaml"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
        return root

    return make_pack


def load(*folders: Path, **options: object) -> RulePack:
    return load_pack(folders, default_rules=False, cache=False, overrides=None, **options)  # type: ignore[arg-type]


def told(pack: RulePack) -> list[str]:
    return [f"{each.severity} {each.code} {each.text}" for each in pack.problems]


def test_a_pack_has_a_name_and_its_rules_are_called_by_it(make: Make) -> None:
    pack = load(make("p", {"gpu/hot": "too hot"}, "name: acme\nversion: 1.40\ntitle: Of Acme\n"))
    assert (pack.name, pack.problems) == ("acme", ())
    assert [(part.name, part.version, part.rules, part.title) for part in pack.parts] == [
        ("acme", "1.40", 1, "Of Acme")
    ]
    rule = pack.rules["gpu/hot"]
    assert (rule.pack, full_name(rule)) == ("acme", "acme:gpu/hot")
    assert find_rule(pack, "gpu/hot") is rule
    assert find_rule(pack, "acme:gpu/hot") is rule
    assert find_rule(pack, "other:gpu/hot") is None
    assert goes_by(rule, "acme:*")
    assert goes_by(rule, "gpu/*")
    assert not goes_by(rule, "other:*")


def test_a_folder_without_a_name_replaces_without_a_word(make: Make) -> None:
    pack = load(make("p", {"gpu/hot": "too hot"}, "name: acme\n"), make("q", {"gpu/hot": "far too hot"}))
    assert pack.rules["gpu/hot"].title == "q gpu/hot"
    assert (told(pack), pack.rules["gpu/hot"].pack) == ([], "")
    assert [part.rules for part in pack.parts] == [0, 1]


def test_a_pack_that_stands_in_for_another_is_told_of(make: Make) -> None:
    first, rules = make("p", {"gpu/hot": "too hot", "gpu/cold": "too cold"}, "name: acme\n"), {"gpu/hot": "hot hot"}
    pack = load(first, make("q", rules, "name: bee\n"))
    assert told(pack) == ["warning P003 `gpu/hot` of pack `bee` stands in for that of pack `acme`"]
    assert pack.rules["gpu/hot"].pack == "bee"
    assert load(first, make("q", rules, "name: bee\n"), strict=True).rules.keys() == pack.rules.keys()
    meant = load(first, make("q", rules, "name: bee\nreplaces: ['gpu/*']\n"))
    assert told(meant) == []


def test_an_older_engine_leaves_the_whole_pack_out(make: Make) -> None:
    good = make("p", {"gpu/hot": "too hot"})
    pack = load(make("q", {"gpu/cold": "too cold"}, "name: acme\nmin_engine: 99.1\n"), good)
    assert told(pack) == [
        f"error P001 pack `acme` is left out: pack `acme` needs troubleshoot 99.1 or later, and this is {__version__}"
    ]
    assert sorted(pack.rules) == ["gpu/hot"]
    assert load(make("q", {"gpu/cold": "too cold"}, "name: acme\nmin_engine: 0.0.1\n"), good).problems == ()
    report = Engine(pack).scan_text("it is too hot\n")
    assert [each.rule for each in report.findings] == ["gpu/hot"]
    assert "acme" in next(note.text for note in report.notes if note.code == "rule-left-out")


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ("nmae: acme\n", "R002 pack `q` is left out: unknown key `nmae`"),
        ("name: Acme Inc\n", "R004 pack `q` is left out: `Acme Inc` cannot name a pack"),
        ("name: troubleshoot\n", "R004 pack `q` is left out: `troubleshoot` is that of the shipped rules"),
        ("name: acme\nmin_engine: soon\n", "R004 pack `q` is left out: `soon` is no version"),
        ("name: [acme\n", "R001 pack `q` is left out: "),
        ("[]\n", "R004 pack `q` is left out: "),
    ],
)
def test_a_broken_pack_names_itself_and_leaves_the_others(make: Make, header: str, problem: str) -> None:
    pack = load(make("p", {"gpu/hot": "too hot"}, "name: fine\n"), make("q", {"gpu/cold": "too cold"}, header))
    assert sorted(pack.rules) == ["gpu/hot"]
    assert told(pack)[0].removeprefix("error ").startswith(problem)
    assert [bool(part.left_out) for part in pack.parts] == [False, True]
    with pytest.raises(RuleError):
        load(make("q", {}, header), strict=True)


def test_two_packs_of_one_name(make: Make) -> None:
    pack = load(make("p", {"gpu/hot": "too hot"}, "name: acme\n"), make("q", {"gpu/cold": "too cold"}, "name: acme\n"))
    assert told(pack) == ["error P002 pack `acme` is left out: a second pack `acme`"]
    assert sorted(pack.rules) == ["gpu/hot"]


def test_a_folder_without_rules_is_told_of(make: Make, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert told(load(make("p", {"gpu/hot": "too hot"}), tmp_path / "empty")) == ["warning P005 no rules in `empty`"]


def test_tables_of_a_pack_are_its_own(make: Make) -> None:
    rules = {"gpu/hot": "'too hot: {code:int}'"}
    lookup = "lookup: {meaning: {table: codes, key: code, column: name}}\n"
    table = "columns: [name]\nrows: {{'7': {{name: {}}}}}\n"
    first = make("p", rules, "name: acme\n", lookup, table.format("seven"))
    second = make("q", {"gpu/cold": "'too cold: {code:int}'"}, "name: bee\n", lookup, table.format("sieben"))
    pack = load(first, second)
    assert sorted(name for name in pack.tables if ":" in name) == ["acme:codes", "bee:codes"]
    found = Engine(pack).scan_text("too hot: 7\ntoo cold: 7\n").findings
    assert {each.rule: each.captures["meaning"] for each in found} == {"gpu/hot": "seven", "gpu/cold": "sieben"}


def test_causes_may_name_rules_of_another_pack(make: Make) -> None:
    first = make("p", {"gpu/hot": "too hot", "gpu/dark": "too dark"}, "name: acme\n")
    more = "causes: ['acme:gpu/*', 'acme:gpu/none', gpu/hot]\n"
    pack = load(first, make("q", {"fan/stuck": "fan stuck"}, "name: bee\n", more))
    assert pack.rules["fan/stuck"].causes == ("gpu/dark", "gpu/hot", "acme:gpu/none")
    problems = [each.text for each in lint_pack(pack) if each.code == "L008"]
    assert problems == ["no rule `acme:gpu/none`"]
    found = {each.rule: each.explained_by for each in Engine(pack).scan_text("too hot\nfan stuck\n").findings}
    assert found == {"fan/stuck": (), "gpu/hot": ("fan/stuck",)}


def test_parts_come_back_from_the_cache(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = make("p", {"gpu/hot": "too hot"}, "name: acme\n")
    cold = load_pack([folder], default_rules=False, overrides=None)
    assert list((tmp_path / "cache").rglob("pack-*.json"))
    assert load_pack([folder], default_rules=False, overrides=None) == cold
    make("p", {}, "name: bee\n")
    assert load_pack([folder], default_rules=False, overrides=None).name == "bee"
    assert pack_cache.cache_dir() == tmp_path / "cache/troubleshoot"


def test_pulled_packs_are_used_by_name(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    make("data/troubleshoot/packs/acme", {"gpu/hot": "too hot"}, "name: acme\n")
    assert sorted(load(Path("acme")).rules) == ["gpu/hot"]


def test_the_command_shows_the_packs(make: Make, capsys: pytest.CaptureFixture[str]) -> None:
    from troubleshoot.cli import main

    first, second = make("p", {"gpu/hot": "a1"}, "name: acme\n"), make("q", {"gpu/hot": "b1"}, "name: bee\n")
    with pytest.raises(SystemExit):
        main(["rules", "packs", "--no-default-rules", "--rules", str(first), "--rules", str(second), "-f", "json"])
    shown = json.loads(capsys.readouterr().out)
    assert [(each["name"], each["rules"]) for each in shown["packs"]] == [("acme", 0), ("bee", 1)]
    assert "stands in for that of pack `acme`" in shown["problems"][0]
    with pytest.raises(SystemExit):
        main(["rules", "packs", "--no-default-rules", "--rules", str(first)])
    assert capsys.readouterr().out.startswith("acme  -         1 rules  ")
    with pytest.raises(SystemExit) as ended:
        main(["rules", "show", "acme:gpu/hot", "--no-default-rules", "--rules", str(first)])
    assert ended.value.code == 0
