"""Translations that would show a reader something old, broken or of no rule are told of, with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from troubleshoot.cli.checking import find_all_problems
from troubleshoot.errors import CODES
from troubleshoot.rulepack import load as load_module
from troubleshoot.rulepack.files import list_layer, list_translations, translation_of
from troubleshoot.rulepack.lint_translations import lint_translations
from troubleshoot.rulepack.load import load_pack
from troubleshoot.rulepack.translations import digests

RULE = """\
title: "It failed on rank {rank}"
severity: low
signatures: "turbo encabulator failed on rank {rank:int}"
explanation: Set `NCCL_DEBUG` in /etc/nccl.conf to 2.34 and pass --loud to libx.so.1.
fixes:
  - title: Mend it
    do: Take care.
    run: mend
    variants: { slurm: srun mend, runai-ui: press the button }
    verify: { run: look, expect: it runs }
references: [somewhere]
examples:
  - match: turbo encabulator failed on rank 3
  - no_match: turbo encabulator failed on host 3
"""
WHOLE = """\
of: {of}
title: rank {{rank}} 失败
explanation: 在 /etc/nccl.conf 中把 `NCCL_DEBUG` 设为 2.34，并向 libx.so.1 传入 --loud。
fixes:
  - title: 修理
    do: 小心。
    expect: 它在运行
    variants: {{ runai-ui: 按按钮 }}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(load_module, "default_rules_dir", lambda: tmp_path / "none")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "none").mkdir()
    folder = tmp_path / "p/net"
    folder.mkdir(parents=True)
    (folder / "a.yaml").write_text(RULE, "utf-8")
    return folder


def of(folder: Path) -> str:
    return " ".join(digests(load_pack([folder.parent], default_rules=False, cache=False).rules["net/a"]))


def lint(folder: Path, text: str, name: str = "a.zh-CN.yaml") -> list[str]:
    """Return `severity code place: text` of what is wrong with a translation."""
    (folder / name).write_text(text.format(of=of(folder)), "utf-8")
    pack = load_pack([folder.parent], default_rules=False, cache=False)
    problems = lint_translations(list_translations([folder.parent]), pack)
    assert {each.code for each in problems} <= CODES.keys()
    return [f"{each.severity[0]} {each.code} {str(each.place)[6:]} {each.text}" for each in problems]


def test_a_whole_translation_passes(folder: Path) -> None:
    assert lint(folder, WHOLE) == []


def test_a_translation_is_no_rule(folder: Path) -> None:
    lint(folder, WHOLE)
    pack = load_pack([folder.parent], default_rules=False, cache=False)

    assert list(pack.rules) == ["net/a"]
    assert pack.problems == ()
    assert [each.name for each in list_layer(folder.parent).files] == ["net/a"]
    assert translation_of("not-used.zh-CN.yaml") == ("not-used", "zh-CN")
    assert translation_of("not-used.yaml") is None
    assert translation_of("pack.yaml") is None


def test_an_older_text_is_named_with_what_to_write(folder: Path) -> None:
    lint(folder, WHOLE)
    (folder / "a.yaml").write_text(RULE.replace("Take care.", "Take great care."), "utf-8")
    pack = load_pack([folder.parent], default_rules=False, cache=False)
    (problem,) = lint_translations(list_translations([folder.parent]), pack)

    assert (problem.code, problem.severity) == ("T001", "warning")
    assert problem.text == "a translation of an older text: fix 1"
    assert f"of: {of(folder)}" in problem.help


def test_line_breaks_and_commands_of_the_rule_make_nothing_old(folder: Path) -> None:
    lint(folder, WHOLE)
    changed = RULE.replace("run: mend\n", "run: mend --more\n").replace("Set `NCCL", ">\n  Set\n  `NCCL")
    (folder / "a.yaml").write_text(changed, "utf-8")
    pack = load_pack([folder.parent], default_rules=False, cache=False)

    assert lint_translations(list_translations([folder.parent]), pack) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("失败", "在 {{host}} 失败"), ["e T004 a.zh-CN.yaml:2:8 no capture `host`"]),
        (
            ("rank {{rank}} 失败", "失败"),
            ["w T005 a.zh-CN.yaml:2:8 not here, but in the English text: `{rank}`"],
        ),
        (
            (" --loud", " -- loud"),
            ["w T005 a.zh-CN.yaml:3:14 not here, but in the English text: `--loud`"],
        ),
        (
            ("`NCCL_DEBUG` 设为 2.34", "调试设为 2.35"),
            ["w T005 a.zh-CN.yaml:3:14 not here, but in the English text: `NCCL_DEBUG`, `2.34`"],
        ),
        (
            ("  - title: 修理", "  - title: 另一个\n  - title: 修理"),
            ["e T003 a.zh-CN.yaml:4:1 2 fixes, and the rule has 1"],
        ),
        (("runai-ui", "runai-gui"), ["e T006 a.zh-CN.yaml:8:17 the fix has no variant `runai-gui`"]),
        (
            ("runai-ui", "slurm"),
            ["e T006 a.zh-CN.yaml:8:17 `slurm` is a command, which stays as it is"],
        ),
        (("title: rank", "ttile: rank"), ["e R002 a.zh-CN.yaml:2:1 unknown key `ttile`"]),
        (("    do:", "    run:"), ["e R002 a.zh-CN.yaml:6:5 unknown key `run`"]),
        (("explanation:", "next: x\nexplanation:"), ["e T006 a.zh-CN.yaml:3:1 1 next steps, and the rule has 0"]),
        (
            ("explanation:", "lookup: {{ x: {{ a: b }} }}\nexplanation:"),
            ["e T006 a.zh-CN.yaml:3:11 no look-up `x`"],
        ),
        (("of: {of}\n", ""), ["e R003 a.zh-CN.yaml:1:1 missing key `of`"]),
    ],
)
def test_each_misfit_is_told_where_it_stands(change: tuple[str, str], told: list[str], folder: Path) -> None:
    assert change[0] in WHOLE

    assert lint(folder, WHOLE.replace(*change)) == told


def test_a_value_that_no_look_up_gives_is_told(folder: Path) -> None:
    (folder.parent / "_tables").mkdir()
    table = 'columns: [name]\nrows:\n  "3": { name: the third }\n'
    (folder.parent / "_tables/numbers.yaml").write_text(table, "utf-8")
    lookup = "lookup:\n  which: { table: numbers, key: rank, column: name, default: another }\nexplanation:"
    (folder / "a.yaml").write_text(RULE.replace("explanation:", lookup, 1), "utf-8")
    text = WHOLE.replace(
        "explanation:", "lookup: {{ which: {{ the third: 第三, another: 其他, the fourth: 第四 }} }}\nexplanation:"
    )

    assert lint(folder, text) == ["e T006 a.zh-CN.yaml:3:48 no value `the fourth` of `which`"]


def test_a_part_that_is_old_is_not_held_against_the_new_text(folder: Path) -> None:
    text = WHOLE.format(of="000000 000000 - 000000").replace("{", "{{").replace("}", "}}").replace("`NCCL_DEBUG`", "它")

    assert [each.split()[1] for each in lint(folder, text)] == ["T001"]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("a.zh-cn.yaml", ["e T007 a.zh-cn.yaml:1:1 `zh-cn` is no language tag as it is written"]),
        ("a.zh_CN.yaml", ["e T007 a.zh_CN.yaml:1:1 `zh_CN` is no language tag as it is written"]),
    ],
)
def test_a_name_that_means_no_language_is_told(name: str, told: list[str], folder: Path) -> None:
    assert lint(folder, WHOLE, name) == told


@pytest.mark.parametrize("path", ["p", "p/net/a.yaml", "p/net/a.zh-CN.yaml"])
def test_checking_rules_checks_their_translations(path: str, folder: Path) -> None:
    lint(folder, WHOLE.replace("失败", "在 {{host}} 失败"))

    assert [each.code for each in find_all_problems([path]) if each.code.startswith("T")] == ["T004"]


def test_a_translation_of_no_rule_is_told_once_and_in_every_report(folder: Path) -> None:
    lint(folder, WHOLE, "fell-off.bus.yaml")  # it may have been meant as a rule
    pack = load_pack([folder.parent], default_rules=False, cache=False)

    assert list(pack.rules) == ["net/a"]
    assert [(each.code, each.text) for each in pack.problems] == [("T002", "a translation of no rule: `net/fell-off`")]
    told = [each for each in find_all_problems(["p"]) if each.code.startswith("T")]
    assert [each.text for each in told] == ["a translation of no rule: `net/fell-off`"]


def test_a_translation_of_a_rule_that_does_not_load_is_no_second_error(folder: Path) -> None:
    lint(folder, WHOLE)
    (folder / "a.yaml").write_text(RULE.replace("severity: low", "severity: lowly"), "utf-8")

    assert [(each.code, each.severity) for each in find_all_problems(["p"])] == [("R004", "error"), ("T002", "warning")]
