from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from troubleshoot.engine import Engine
from troubleshoot.errors import RuleError, UsageError
from troubleshoot.model import PatternUse, RulePack
from troubleshoot.rulepack import load as load_module
from troubleshoot.rulepack.companions import parse_shared
from troubleshoot.rulepack.files import is_rule_id, list_layer, list_layers, nearest_id
from troubleshoot.rulepack.load import default_rules_dir, find_problems, list_rule_files, load_pack

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a rule file below a fresh folder; the cache is kept out of the way."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)

    def write_file(name: str, signatures: str = "some words", more: str = "", *, whole: str | None = None) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (
            f"title: {name}\nseverity: low\nexplanation: x\nsignatures: {signatures}\n{more}examples: [{{match: x}}]\n"
        )
        path.write_text(text if whole is None else whole, "utf-8")
        return path

    return write_file


def load(*paths: str | Path, drafts: bool = False, strict: bool = False) -> RulePack:
    return load_pack(paths, drafts=drafts, strict=strict, default_rules=False)


def test_ids_come_from_paths(write: Write) -> None:
    write("pack/net/timeout.yaml")
    write("pack/net/deep/er.yaml", "others")
    write("pack/_hidden/net/x.yaml")
    write("pack/net/.swp.yaml")
    write("pack/net/_draft.yaml")
    write("pack/net/readme.md")
    pack = load("pack")
    assert list(pack.rules) == ["net/deep/er", "net/timeout"]
    assert pack.rules["net/timeout"].path == "pack/net/timeout.yaml"
    assert (pack.name, pack.problems) == ("pack", ())


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("pack/timeout.yaml", "`domain/timeout.yaml`"),
        ("pack/Net/Time_Out.yaml", "`net/time-out.yaml`"),
        ("pack/net/time--out.yaml", "`net/time-out.yaml`"),
        ("pack/net/timeout.yml", "rename the file"),
    ],
)
def test_wrong_ids_are_told(write: Write, name: str, help: str) -> None:
    write(name)
    (problem,) = load("pack").problems
    assert (problem.code, problem.place.path) == ("R016", name)
    assert help in problem.help


def test_rule_ids() -> None:
    assert all(is_rule_id(each) for each in ("a/b", "a-1/b/c2"))
    assert not any(is_rule_id(each) for each in ("a", "a/", "/a/b", "A/b", "a/b_c", "a/-b", "a//b", "", "a/é"))
    assert nearest_id("GPU/Fell Off_Bus!") == "gpu/fell-off-bus"
    assert nearest_id("x") == "domain/x"


def test_later_layers_replace_rules_and_see_what_lies_below(write: Write) -> None:
    write("one/net/a.yaml", "{use: common}")
    write("one/net/b.yaml", "{use: common}")
    write("one/_shared/s.yaml", whole="common: common words\n")
    write("one/_tables/t.yaml", whole="columns: [c]\nrows: {'1': {c: one}}\n")
    write("two/net/b.yaml", "{use: common}")
    write("two/net/c.yaml", "'x {n:int}'", "lookup: {m: {table: t, key: n, column: c}}\n")
    write("two/_tables/t.yaml", whole="columns: [c, d]\nrows: {'1': {c: two}}\n")
    pack = load("one", "two", strict=True)
    assert {id: rule.path for id, rule in pack.rules.items()} == {
        "net/a": "one/net/a.yaml",
        "net/b": "two/net/b.yaml",
        "net/c": "two/net/c.yaml",
    }
    assert pack.tables["t"]["1"] == {"c": "two"}
    assert pack.name == "one+two"


def test_equal_patterns_share_an_id(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = write("bare/net/z.yaml").parent.parent
    monkeypatch.setattr(load_module, "default_rules_dir", lambda: bare)  # no built-in signatures but our own
    write("pack/net/a.yaml", "[shared words, own]")
    write(
        "pack/net/b.yaml",
        "{x: 'shared  words', y: {text: shared words, exact_case: true}}",
        "condition: {any: [x, y]}\n",
    )
    write("pack/_builtin/suspects.yaml", whole="odd: {signature: shared words, weight: 2}\n")
    pack = load("pack", strict=True)
    assert [pattern.id for pattern in pack.patterns] == [0, 1, 2]
    assert pack.users == (
        (PatternUse("net/a", "line"), PatternUse("net/b", "x"), PatternUse("~suspects", "odd")),
        (PatternUse("net/a", "line"),),
        (PatternUse("net/b", "y"),),
    )
    assert pack.rules["net/b"].signatures["x"].patterns == (pack.patterns[0],)
    assert pack.builtin == {"suspects": {"odd": {"weight": "2"}}}


def test_order_of_files_is_no_matter(write: Write, tmp_path: Path) -> None:
    for name in ("net/b", "net/a", "gpu/c"):
        write(f"one/{name}.yaml", f"words of {name}")
    for name in ("gpu/c", "net/a", "net/b"):
        write(f"two/{name}.yaml", f"words of {name}", whole=(tmp_path / f"one/{name}.yaml").read_text("utf-8"))
    one, two = load("one"), load("two")
    assert (one.hash, one.patterns, one.users) == (two.hash, two.patterns, two.users)
    assert list(one.rules) == list(two.rules) == ["gpu/c", "net/a", "net/b"]


def test_hash_follows_content(write: Write) -> None:
    write("pack/net/a.yaml")
    before = load("pack").hash
    write("pack/net/a.yaml", "other words")
    assert load("pack").hash != before


def test_strict_wants_an_example_that_matches(write: Write) -> None:
    rule = "title: t\nseverity: low\nexplanation: x\nsignatures: some words\nexamples: [{no_match: y}]\n"
    write("pack/net/a.yaml", whole=rule)
    write("pack/net/b.yaml", whole=rule + "status: draft\n")
    assert load("pack", drafts=True).problems == ()
    with pytest.raises(RuleError) as caught:
        load("pack", drafts=True, strict=True)
    assert [(each.code, str(each.place)) for each in caught.value.problems] == [("L003", "pack/net/a.yaml:1:1")]


def test_drafts_are_off_unless_asked_for(write: Write) -> None:
    write("pack/net/a.yaml", more="status: draft\n")
    write("pack/net/b.yaml", more="status: deprecated\n")
    assert list(load("pack").rules) == ["net/b"]
    assert list(load("pack", drafts=True).rules) == ["net/a", "net/b"]


def test_broken_rules_are_left_out_and_named(write: Write) -> None:
    write("pack/net/good.yaml")
    write("pack/net/bad.yaml", "{x: 'a {n:itn}'}", "confidance: high\n")
    write("pack/net/worse.yaml", whole="a: [")
    write("pack/net/latin.yaml").write_bytes("title: x\nexplanation: é".encode("latin-1"))
    write("pack/net/large.yaml", whole="# " + "x" * 600_000)
    pack = load("pack")
    assert list(pack.rules) == ["net/good"]
    told = [(problem.code, str(problem.place)) for problem in pack.problems]
    assert told == [
        ("R009", "pack/net/bad.yaml:4:20"),
        ("R002", "pack/net/bad.yaml:5:1"),
        ("R013", "pack/net/large.yaml:1:1"),
        ("R013", "pack/net/latin.yaml:2:14"),
        ("R001", "pack/net/worse.yaml:1:4"),
    ]
    with pytest.raises(RuleError) as caught:
        load("pack", strict=True)
    assert caught.value.text == "5 problems in 4 rule files"
    assert [(problem.code, str(problem.place)) for problem in caught.value.problems] == told


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file_is_told(write: Write) -> None:
    write("pack/net/a.yaml").chmod(0)
    assert [(problem.code, problem.text) for problem in load("pack").problems] == [
        ("R013", "cannot be read: permission denied")
    ]


def test_dangling_link_is_told(write: Write, tmp_path: Path) -> None:
    write("pack/net/good.yaml")
    (tmp_path / "pack/net/gone.yaml").symlink_to("nowhere")
    (problem,) = load("pack").problems
    assert (problem.code, problem.text) == ("R013", "cannot be read: no such file or directory")


def test_duplicate_shared_signature_is_told(write: Write) -> None:
    write("pack/_shared/a.yaml", whole="one: a b\n")
    write("pack/_shared/b.yaml", whole="one: c d\n")
    write("pack/net/a.yaml", "{use: one}")
    (problem,) = load("pack").problems
    assert (problem.code, str(problem.place), problem.help) == (
        "R005", "pack/_shared/b.yaml:1:1", "it stands at pack/_shared/a.yaml:1:1 too; rename one",
    )  # fmt: skip


def test_single_file_brings_its_folder(write: Write, tmp_path: Path) -> None:
    write("pack/_shared/s.yaml", whole="common: common words\n")
    write("pack/net/a.yaml", "{use: common}")
    write("pack/net/b.yaml", "{use: nothing}")
    pack = load("pack/net/a.yaml", strict=True)
    assert list(pack.rules) == ["net/a"]
    assert find_problems(["pack/net/a.yaml"]) == []
    assert [problem.code for problem in find_problems(["pack/net/b.yaml"])] == ["R017"]
    alone = write("elsewhere/gpu/x.yaml")
    assert list(load(alone).rules) == ["gpu/x"]
    assert list(load("elsewhere/gpu/x.yaml").rules) == ["gpu/x"]


@pytest.mark.parametrize("path", ["nowhere", "pack/readme.md"])
def test_wrong_paths_are_the_callers_fault(write: Write, path: str) -> None:
    write("pack/readme.md", whole="x")
    with pytest.raises(UsageError):
        load(path)


def test_shipped_rules_come_first_unless_left_out(write: Write) -> None:
    write("pack/net/a.yaml")
    layers = list_layers(["pack"])
    assert [layer.name for layer in layers] == ["troubleshoot", "pack"]
    assert load("pack").rules.keys() == {"net/a"}
    assert Path("pack/net/a.yaml") in list_rule_files(["pack"])
    assert any(str(path).startswith(str(default_rules_dir())) for path in list_rule_files())


def test_own_rules_may_use_shipped_signatures_and_tables(write: Write) -> None:
    shared = [file for layer in list_layers([]) for file in layer.of("_shared")]
    if not shared:
        pytest.skip("the shipped pack has no shared signatures")
    name = next(iter(parse_shared(Path(shared[0].path).read_text("utf-8"), "s.yaml")[0]))
    write("pack/net/a.yaml", f"{{use: {name}}}")
    assert load("pack", strict=True).rules["net/a"].signatures["line"].shared == name


def test_links_that_go_round_are_followed_no_further(write: Write, tmp_path: Path) -> None:
    write("pack/net/a.yaml")
    (tmp_path / "pack/net/again").symlink_to(tmp_path / "pack/net")
    (tmp_path / "pack/net/loop").symlink_to(tmp_path / "pack/net/loop")
    assert "net/a" in load("pack").rules


def test_a_single_file_leaves_what_is_beside_its_pack_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule's file that lies in /tmp must not have the whole disk walked for more of its pack."""
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f.yaml").write_text("title: x\n")
    (tmp_path / "d" / "other.yaml").write_text("title: y\n")
    (tmp_path / "_shared").mkdir()
    (tmp_path / "_shared" / "s.yaml").write_text("s: some words\n")
    (tmp_path / "pack.yaml").write_text("name: acme\n")
    looked: list[str] = []
    scandir = os.scandir

    def watched(folder: str) -> Any:
        looked.append(str(folder))
        return scandir(folder)

    monkeypatch.setattr("troubleshoot.rulepack.files.os.scandir", watched)
    layer = list_layer(tmp_path / "d" / "f.yaml")
    assert [(each.kind, each.name) for each in layer.files] == [("_shared", "s"), ("pack", "pack"), ("rule", "d/f")]
    assert looked == [str(tmp_path / "_shared")]


def test_a_file_in_utf_16_is_called_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net/a.yaml").write_bytes("title: t\n".encode("utf-16"))
    (problem,) = find_problems([tmp_path])
    assert (problem.code, problem.text, problem.help) == ("R013", "UTF-16, and not UTF-8", "save the file as UTF-8")


def test_a_draft_of_a_given_pack_is_left_out_with_a_word(write: Write) -> None:
    for number in range(7):
        write(f"pack/net/a{number}.yaml", f"words {number}", "status: draft\n")
    write("pack/net/b.yaml")
    (problem,) = load("pack").problems
    assert (problem.code, problem.severity, problem.place) == ("P006", "warning", None)
    named = "net/a0, net/a1, net/a2, net/a3, net/a4 and 2 more"
    assert problem.text == f"7 drafts of pack are left out: {named}; --drafts uses them"
    assert load("pack", drafts=True).problems == ()


def test_a_draft_that_is_off_stands_in_for_nothing(write: Write) -> None:
    write("below/net/a.yaml")
    write("above/net/a.yaml", "other words", "status: draft\n")
    assert load("below", "above").rules["net/a"].path == "below/net/a.yaml"
    assert load("below", "above", drafts=True).rules["net/a"].path == "above/net/a.yaml"


def test_a_report_tells_how_drafts_are_switched_on(write: Write) -> None:
    write("pack/net/a.yaml", more="status: draft\n")
    write("pack/net/b.yaml", "others")
    notes = Engine(load("pack")).scan_text("some words\n").notes
    assert [(each.code, each.text) for each in notes] == [
        ("packs", "1 draft of pack is left out: net/a; --drafts uses it")
    ]
