from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from troubleshoot.engine import Engine
from troubleshoot.model import RulePack
from troubleshoot.rulepack import cache
from troubleshoot.rulepack import load as load_module
from troubleshoot.rulepack.codec import json_from_pack, pack_from_json
from troubleshoot.rulepack.load import load_pack

RULE = """\
title: "v {v} {m}"
kind: fault
severity: critical
confidence: high
status: deprecated
since: "1.2"
symptom: true
generic: true
systems: [a, b]
tags: [c]
signatures:
  a: { text: ["a word {v:version}", other], lines: 2, exact_case: true, slow: why, advice: true, applies_to: [env] }
  b: { regex: 'b(?P<v>\\d)' }
  c: { use: common }
condition:
  at_least: { n: 1, of: a, distinct: v }
  same: v
  within: 3 s
  where: v > 2
  unless: { missing: [b, c], given: a, relevant: b, next: look, within: 4 records }
supports: b
contradicts: c
lookup: { m: { table: t, key: v, column: c, default: d } }
explanation: x
fixes:
  - { title: f, do: g, run: [h, i], variants: { yaml: j }, safe: true, verify: { run: k, expect: l } }
owner: vendor
retry: no
causes: ["#c", x/*]
fingerprint: [v]
references: [https://example.org]
examples:
  - { match: { a.log: m, b.log: n }, captures: { v: 1 }, confidence: low, also: [x/y], why: o }
  - undecided: p
"""


@pytest.fixture(autouse=True)
def pack_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shipped").mkdir()
    monkeypatch.setattr(load_module, "default_rules_dir", lambda: tmp_path / "shipped")  # no built-in signatures
    for name, text in {
        "net/all.yaml": RULE,
        "net/broken.yaml": "title: 3",
        "_shared/s.yaml": "common: common words",
        "_tables/t.yaml": "columns: [c]\nrows: {'1': {c: x}}",
        "_builtin/suspects.yaml": "odd: {signature: odd words, weight: 2}",
    }.items():
        path = tmp_path / "pack" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "pack"


def load(**options: bool) -> RulePack:
    return load_pack(["pack"], default_rules=False, **options)


def cached() -> list[Path]:
    folder = cache.cache_dir()
    assert folder is not None
    return sorted(folder.glob("pack-*.json"))


def test_a_pack_survives_json_whole() -> None:
    pack = load(cache=False)
    assert len(pack.rules) == 1
    assert pack.problems
    assert pack_from_json(json.loads(json.dumps(json_from_pack(pack)))) == pack


def test_the_shipped_pack_survives_json_whole() -> None:
    pack = load_pack(cache=False)
    assert pack_from_json(json.loads(json.dumps(json_from_pack(pack)))) == pack


def test_hit_equals_miss() -> None:
    cold = load()
    assert len(cached()) == 1
    assert load() == cold == load(cache=False)


def test_warm_load_reads_neither_yaml_nor_pydantic() -> None:
    code = (
        "import sys; from troubleshoot.rulepack.load import load_pack; "
        "pack = load_pack(['pack'], default_rules=False); "
        "print(len(pack.rules), sorted({'yaml', 'pydantic', 'regex', 'hyperscan'} & sys.modules.keys()))"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    for _run in ("cold", "warm"):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout == "1 []\n", done.stderr


@pytest.mark.parametrize("drafts", [False, True])
def test_options_have_packs_of_their_own(drafts: bool) -> None:
    load()
    load(drafts=drafts)
    assert len(cached()) == 1 + drafts


def test_changed_file_makes_a_new_pack(pack_folder: Path) -> None:
    load()
    (pack_folder / "net/more.yaml").write_text((pack_folder / "net/all.yaml").read_text("utf-8"), "utf-8")
    assert sorted(load().rules) == ["net/all", "net/more"]
    (pack_folder / "net/more.yaml").unlink()
    assert sorted(load().rules) == ["net/all"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1] + b" ",
        lambda data: cache._MARK + cache._digest(b"[]") + b"[]",
        lambda data: cache._MARK + cache._digest(b'{"patterns": [{"id": 1}]}') + b'{"patterns": [{"id": 1}]}',
        lambda data: cache._MARK + cache._digest(b"\xff") + b"\xff",
        lambda data: cache._MARK + cache._digest(b"[" * 100_000) + b"[" * 100_000,
    ],
)
def test_damaged_cache_is_rebuilt_in_silence(damage: object) -> None:
    pack = load()
    (path,) = cached()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))  # type: ignore[operator]  # a lambda of the list above
    assert load() == pack
    assert path.read_bytes() == whole


def test_cache_that_cannot_be_written_is_no_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = load(cache=False)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert load() == pack
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr(Path, "home", staticmethod(lambda: (_ for _ in ()).throw(RuntimeError("no home"))))
    assert cache.cache_dir() is None
    assert load() == pack


def test_unreadable_rule_is_not_kept_from_its_repair(pack_folder: Path) -> None:
    (pack_folder / "net/gone.yaml").symlink_to("nowhere")
    assert "R013" in {problem.code for problem in load().problems}
    assert cached() == []


def test_blobs_lie_beside_the_pack() -> None:
    assert cache.read_blob("abc", "hs1") is None
    cache.write_blob("abc", "hs1", b"\x00data")
    assert cache.read_blob("abc", "hs1") == b"\x00data"
    assert cache.read_blob("abc", "hs2") is None
    folder = cache.cache_dir()
    assert folder is not None
    (folder / "abc.hs1").write_bytes(b"torn")
    assert cache.read_blob("abc", "hs1") is None


def test_old_files_are_dropped(pack_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "FILES_KEPT", 3)
    for number in range(6):
        (pack_folder / "net/all.yaml").write_text(RULE + "#" * number, "utf-8")
        pack = load()
    assert len(cached()) == 3
    assert load() == pack


def test_many_writers_and_readers_never_see_half_a_file() -> None:
    pack = dataclasses.replace(load(cache=False), problems=())
    seen: list[RulePack | None] = []

    def work() -> None:
        for _ in range(10):
            cache.write_pack("k", pack)
            seen.append(cache.read_pack("k"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(each == pack for each in seen)
    folder = cache.cache_dir()
    assert folder is not None
    assert [path.name for path in folder.iterdir()] == ["pack-k.json"]


def test_a_scan_of_a_home_folder_passes_over_the_kept_packs() -> None:
    load()
    (path,) = cached()
    report = Engine(load()).scan_paths([path])
    assert (report.stats.lines, report.findings) == (0, ())
    assert any("a cache of this program" in each.text for each in report.notes)
