"""The quality of a pack as numbers: what costs, what is in vain, what the corpus shows, how old the sources are."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import date
from pathlib import Path

import pytest

from troubleshoot.engine import Engine
from troubleshoot.ingest.sources import open_text
from troubleshoot.measure import estimate_patterns, measure_corpus, measure_patterns, seen_in_examples
from troubleshoot.model import RulePack
from troubleshoot.rulepack.load import load_pack
from troubleshoot.rulepack.stats import PackStats, build_stats
from troubleshoot.rulepack.stats_ages import last_changes, sources_of
from troubleshoot.rulepack.stats_report import stats_document, stats_lines

RULE = """\
title: {title}
severity: high
signatures: {signatures}
{more}explanation: x
fixes: [{{title: mend it}}]
references: {references}
examples:
  - match: {match}
"""
LOG = "encabulator step 1 of 9 done\n" * 50 + "encabulator broke down\n" * 3 + "all is well\n" * 500


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    def write(id: str, signatures: str, match: str, more: str = "", references: str = "[somewhere]") -> None:
        path = tmp_path / f"p/{id}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = RULE.format(title=id, signatures=signatures, match=match, more=more, references=references)
        path.write_text(text, "utf-8")

    write("gpu/broad", "encabulator broke", "encabulator broke")
    write(
        "gpu/other", "{a: encabulator broke, b: never seen anywhere}", "encabulator broke", "condition: {any: [a, b]}\n"
    )
    write("gpu/quiet", "turbo phase lost", "turbo phase lost", references="['https://h.org/x/blob/main/a.c']")
    write("gpu/slow", "{regex: '^[A-Z]{3}$', slow: no words in it}", "ABC")
    return tmp_path / "p"


@pytest.fixture
def pack(rules: Path) -> RulePack:
    return load_pack([rules], default_rules=False, cache=False, overrides=None)


def stats_of(pack: RulePack, log: str = LOG, **options: object) -> PackStats:
    costs, size = measure_patterns(pack, [open_text(log, "x.log")])
    return build_stats(pack, costs, size=size, log="x.log", **options)  # type: ignore[arg-type]


def test_candidates_are_counted_and_those_in_vain(pack: RulePack) -> None:
    told = stats_document(stats_of(pack))
    assert told["log"] == {"name": "x.log", "bytes": len(LOG)}
    by_id = {each["id"]: each["signatures"][0] for each in told["rules"]}
    mb = len(LOG) / 1e6
    assert by_id["gpu/broad"]["candidates_per_mb"] == round(53 / mb, 3)
    assert by_id["gpu/broad"]["false_per_mb"] == round(50 / mb, 3)
    assert (by_id["gpu/broad"]["searched"], by_id["gpu/broad"]["words"]) == ("words", ["encabulator"])
    assert by_id["gpu/broad"]["shared_with"] == 1
    assert by_id["gpu/quiet"]["candidates_per_mb"] == 0
    assert (by_id["gpu/slow"]["searched"], by_id["gpu/slow"]["candidates_per_mb"]) == ("every line", round(553 / mb, 3))


def test_the_most_expensive_come_first(pack: RulePack) -> None:
    stats = stats_of(pack)
    assert [each.confirm_s for each in stats.rules] == sorted((each.confirm_s for each in stats.rules), reverse=True)
    assert stats.rules[-1].id == "gpu/quiet"
    text = "\n".join(stats_lines(stats, 10))
    assert "tried on every line" in text
    assert "Tried on every line: gpu/slow." in text


def test_a_hot_signature_costs_what_a_scan_spends_on_it(pack: RulePack) -> None:
    few, many = "encabulator broke\n" * 1000, "encabulator broke\n" * 5000
    costs = [measure_patterns(pack, [open_text(text, "x")])[0] for text in (few, many)]
    broad = next(each.id for each in pack.patterns if each.source == "encabulator broke")
    assert (costs[0][broad].candidates, costs[1][broad].candidates) == (1000, 5000)
    assert costs[1][broad].confirm_s < 3 * costs[0][broad].confirm_s  # a scan stops after the first thousand hits


def test_without_a_log_costs_are_estimates(pack: RulePack) -> None:
    stats = build_stats(pack, estimate_patterns(pack))
    told = stats_document(stats)
    assert (told["log"], told["rules"][0]["confirm_ms_per_mb"]) == (None, None)
    assert told["rules"][0]["id"] == "gpu/slow"
    assert "estimates" in next(iter(stats_lines(stats, 3)))


def test_what_the_corpus_shows(pack: RulePack, tmp_path: Path) -> None:
    for name, log, expected in (
        ("broke", "the encabulator broke\n", "first: gpu/broad\n"),
        ("broke-again", "the encabulator broke\n", "first: gpu/other\nalso: [gpu/broad]\n"),
        ("well", "all is well\n", "first: null\nhealthy: true\n"),
    ):
        folder = tmp_path / "corpus" / name
        folder.mkdir(parents=True)
        (folder / "job.log").write_text(log, "utf-8")
        (folder / "expected.yaml").write_text(expected, "utf-8")
    engine = Engine(pack)
    coverage, seen = measure_corpus(engine, tmp_path / "corpus")
    broad, other = coverage["gpu/broad"], coverage["gpu/other"]
    assert (broad.incidents, broad.first, broad.unlisted, broad.beside) == (2, 1, 0, {"gpu/other": 2})
    assert (other.incidents, other.first, other.unlisted) == (2, 1, 1)
    assert coverage["gpu/quiet"].incidents == 0
    for id, names in seen_in_examples(engine).items():
        seen[id] |= names
    stats = stats_of(pack, coverage=coverage, seen=seen)
    assert {each.id: each.untried for each in stats.rules if each.untried} == {"gpu/other": ("b",)}
    text = "\n".join(stats_lines(stats, 10))
    assert "fires in 1 incidents that do not list it" in text
    assert "on the same lines as gpu/other (2)" in text
    assert "Signatures that hit in no example and no incident: gpu/other (b)." in text
    assert "2 of 4 rules fire in the corpus; not so" in text


def test_sources_are_pinned_or_move_on(pack: RulePack) -> None:
    moving = sources_of(pack.rules["gpu/quiet"], None)
    assert (moving.references, moving.pinned, moving.moving, moving.newest) == (1, 0, 1, "")
    assert "References to a branch that moves on: gpu/quiet." in list(stats_lines(stats_of(pack), 1))


@pytest.mark.parametrize(
    ("reference", "pinned", "moving", "newest"),
    [
        ("https://github.com/a/b/blob/v2.21.5-1/c.cc", 1, 0, ""),
        ("https://github.com/a/b/blob/0123abcd/c.cc#L7", 1, 0, ""),
        ("https://github.com/a/b/tree/master/c", 0, 1, ""),
        ("https://docs.org/en/12.4/errors.html", 1, 0, ""),
        ("https://blog.org/2025/03/14/outage", 0, 0, "2025-03-14"),
        ("a text from 2024-11", 0, 0, "2024-11"),
    ],
)
def test_versions_and_dates_of_references(rules: Path, reference: str, pinned: int, moving: int, newest: str) -> None:
    path = rules / "gpu/quiet.yaml"
    path.write_text(path.read_text("utf-8").replace("https://h.org/x/blob/main/a.c", reference), "utf-8")
    rule = load_pack([path], default_rules=False, cache=False, overrides=None).rules["gpu/quiet"]
    found = sources_of(rule, None)
    assert (found.pinned, found.moving, found.newest) == (pinned, moving, newest)


def test_a_rule_is_as_old_as_its_last_commit(rules: Path) -> None:
    def git(*arguments: str, day: str = "2025-01-02") -> None:
        when = {"GIT_AUTHOR_DATE": f"{day}T12:00:00Z", "GIT_COMMITTER_DATE": f"{day}T12:00:00Z"}
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(
            ["git", *who, *arguments], cwd=rules, check=True, capture_output=True, env={**os.environ, **when}
        )

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "x")
    (rules / "gpu/slow.yaml").write_text((rules / "gpu/slow.yaml").read_text("utf-8") + "# more\n", "utf-8")
    git("commit", "-q", "-a", "-m", "y", day="2025-06-07")
    pack = load_pack([rules], default_rules=False, cache=False, overrides=None)
    changes = last_changes(pack)
    assert changes[pack.rules["gpu/slow"].path] == date(2025, 6, 7)
    assert changes[pack.rules["gpu/broad"].path] == date(2025, 1, 2)
    stats = stats_of(pack, changed=changes)
    assert "Longest unchanged: gpu/broad (2025-01-02)" in "\n".join(stats_lines(stats, 1))


def test_the_command(rules: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from troubleshoot.cli import main

    log = tmp_path / "x.log"
    log.write_text(LOG, "utf-8")
    (tmp_path / "corpus").mkdir()
    options = ["--rules", str(rules), "--no-default-rules", "--corpus", str(tmp_path / "corpus")]
    with pytest.raises(SystemExit) as ended:
        main(["rules", "stats", str(log), *options, "--format", "json"])
    assert ended.value.code == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["totals"]["rules"], told["totals"]["without_incident"], told["totals"]["on_every_line"]) == (4, 4, 1)
    with pytest.raises(SystemExit):
        main(["rules", "stats", str(log), *options, "--top", "1"])
    assert capsys.readouterr().out.startswith("4 rules with ")
