"""`--lang`: reports, lists and pages of rules in another language; `rules translate`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from troubleshoot.cli.app import cli

LOG = "mpirun: /lib/libc.so.6: version `GLIBC_2.34' not found (required by /opt/amazon-efa-ofi/openmpi/lib/x.so)\n"
CHINESE = "镜像的 C 库太旧"
RULE = """\
title: It failed on rank {rank}
severity: low
signatures: "turbo encabulator failed on rank {rank:int}"
explanation: Because.
fixes:
  - title: Mend it
    verify: { run: look, expect: it runs }
    variants: { runai-ui: "press\\nthe button", slurm: srun mend }
references: [somewhere]
examples:
  - match: turbo encabulator failed on rank 3
  - no_match: turbo encabulator failed on host 3
"""
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    for name in ("TROUBLESHOOT_LANG", "LANG", "LC_ALL", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "job.log").write_text(LOG, "utf-8")
    return lambda *arguments: CliRunner().invoke(cli, arguments)


def test_a_report_speaks_the_language_asked_for(run: Run) -> None:
    assert run("job.log", "--lang", "zh-CN").output.startswith(CHINESE)
    assert run("postmortem", "job.log", "--lang", "zh").output.startswith("事件")
    assert CHINESE in run("job.log", "--lang", "zh", "-f", "json").output


def test_the_language_may_stand_in_the_settings(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TROUBLESHOOT_LANG", "zh-CN")
    assert run("job.log").output.startswith(CHINESE)
    assert run("job.log", "--lang", "en").output.startswith("The image's C library")
    assert run("job.log", "--isolated").output.startswith("The image's C library")
    monkeypatch.delenv("TROUBLESHOOT_LANG")
    Path("troubleshoot.toml").write_text('lang = "zh"\n', "utf-8")
    assert run("job.log").output.startswith(CHINESE)


@pytest.mark.parametrize("name", ["LANG", "LC_ALL", "LC_MESSAGES", "LANGUAGE"])
def test_the_locale_decides_nothing(name: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "zh_CN.UTF-8")

    assert run("job.log").output.startswith("The image's C library")


def test_an_unknown_language_is_english_with_a_note_and_no_error(run: Run) -> None:
    result = run("job.log", "--lang", "tlh")

    assert result.exit_code == 0
    assert result.output.startswith("The image's C library")
    assert "note: there are no texts in the language 'tlh'" in result.output


def test_rules_are_listed_searched_and_shown_in_it(run: Run) -> None:
    assert "efa/glibc-too-old-for-auto-mount" in run("rules", "list", "--lang", "zh", "软件栈", "太旧").output
    page = run("rules", "show", "--lang", "zh", "efa/not-used").output
    assert "## 处理办法" in page
    assert "export NCCL_NET" in page


def test_a_service_is_not_started_in_a_language_without_words(run: Run) -> None:
    result = run("serve", "--lang", "tlh")

    assert (result.exit_code, "no words in 'tlh'" in result.output) == (2, True)


def test_a_translation_is_started_filled_in_and_stamped_anew(run: Run, tmp_path: Path) -> None:
    rule = tmp_path / "p/net/a.yaml"
    rule.parent.mkdir(parents=True)
    rule.write_text(RULE, "utf-8")
    file = tmp_path / "p/net/a.zh-CN.yaml"

    assert run("rules", "translate", "--rules", "p", "net/a", "zh_cn").exit_code == 0
    text = file.read_text("utf-8")
    assert "# It failed on rank {rank}\ntitle: TODO" in text
    assert "slurm" not in text
    assert "L018" in run("rules", "check", "p/net/a.yaml").output
    assert run("rules", "list", "--rules", "p", "--lang", "zh", "net/a").output.count("TODO") == 0

    file.write_text(text.replace("TODO", "好").replace("title: 好", "title: rank {rank} 好", 1), "utf-8")
    assert "All rules are well" in run("rules", "check", "p/net/a.yaml").output

    rule.write_text(RULE.replace("Because.", "Because of that."), "utf-8")
    assert "T001" in run("rules", "check", "p/net/a.yaml").output
    assert run("rules", "translate", "--rules", "p", "net/a", "zh-CN").exit_code == 2
    assert run("rules", "translate", "--rules", "p", "net/a", "zh-CN", "--restamp").exit_code == 0
    assert "All rules are well" in run("rules", "check", "p/net/a.yaml").output


@pytest.mark.parametrize(("id", "tag"), [("net/none", "zh-CN"), ("efa/not-used", "../x"), ("efa/not-used", "en")])
def test_what_cannot_be_translated_is_told(id: str, tag: str, run: Run) -> None:
    assert run("rules", "translate", id, tag).exit_code == 2
