"""Why a rule did not fire: the nearest lines, and the very character at which they part from its signature."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from troubleshoot import explain as explain_module
from troubleshoot.engine import Engine
from troubleshoot.explain import Explanation, explain
from troubleshoot.ingest.sources import OpenSource, open_sources, open_text
from troubleshoot.nearest import NearLine
from troubleshoot.rulepack.load import load_pack

RULE = "title: t\nseverity: low\nexplanation: x\nsignatures: %s\n"


def answer(tmp_path: Path, signature: str, *texts: str) -> Explanation:
    path = tmp_path / "d" / "f.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(RULE % signature)
    engine = Engine(load_pack([path], default_rules=False, cache=False))
    assert engine.pack.problems == ()
    return explain(engine, "d/f", (open_text(text, f"{number}.log") for number, text in enumerate(texts)))


def nearest(tmp_path: Path, signature: str, *texts: str) -> list[NearLine]:
    (only,) = answer(tmp_path, signature, *texts).signatures
    return list(only.nearest)


@pytest.mark.parametrize(
    ("signature", "line", "parted", "expected"),
    [
        # the character, and what should stand there
        ('"the link of {gpu:int} is broken"', "the link of 3 is bro|ken?".replace("ken", "wn"), "", "broken"),
        ('"version GLIBC_{v:version} not found (required by {p})"', "version GLIBC_2.3 not found (requ|ested by x)", "",
         "(required by {p})"),
        ('"JOB {id} CANCELLED DUE TO TIME LIMIT"', "JOB 7 CANCELLED DUE TO |PREEMPTION", "", "TIME LIMIT"),
        # of a hole that takes anything: nowhere from its beginning on
        ('"reading from {path} failed badly"', "reading from| /data/x worked", "anywhere", "failed badly"),
        # the end holds and the beginning does not
        ('"Timeout at the barrier of group {g:int}"', "Stuck| at the barrier of group 7", "backwards", "Timeout"),
        # a regex: what is left of it
        (r"{regex: 'exit status (?P<code>\d+) of worker'}", "exit status 12 of |node", "", "worker"),
        (r"{regex: 'fatal: (?:out of memory|no space left)'}", "fatal: no spa|m left", "", ""),
    ],
)  # fmt: skip
def test_line_is_shown_with_the_character_where_it_parts(
    tmp_path: Path, signature: str, line: str, parted: str, expected: str
) -> None:
    text = line.replace("|", "")
    (near,) = nearest(tmp_path, signature, f"something else\n{text}\nmore\n")
    at = line.index("|") - (parted == "backwards")
    assert (near.line, near.text, near.parted) == (2, text, at + 1)
    assert (near.backwards, near.anywhere) == (parted == "backwards", parted == "anywhere")
    assert not expected or near.expected == expected


def test_best_line_is_first_and_lines_alike_are_one(tmp_path: Path) -> None:
    log = "".join(f"rank {rank}: the queue of the device is full\n" for rank in range(50))
    log += "rank 7: the queue of the device overflowed into nothing\n"
    first, second = nearest(tmp_path, '"queue of the device overflowed into memory"', log)
    assert (first.line, first.count) == (51, 1)
    assert (second.line, second.count) == (1, 50)


def test_line_far_from_everything_is_not_near(tmp_path: Path) -> None:
    assert nearest(tmp_path, '"the frobnicator of {node:host} ran dry at last"', "node at last\nerror\n") == []


def test_nearest_line_is_found_far_into_a_large_log(tmp_path: Path) -> None:
    filler = "step 1 loss 0.5 the device is fine and the queue moves\n" * 200_000
    (near,) = nearest(tmp_path, '"frobnicator overheated badly"', filler + "frobnicator overheated a bit\n" + filler)[
        :1
    ]
    assert (near.line, near.expected) == (200_001, "badly")


def test_every_source_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    blocks = OpenSource.blocks

    def counted(self: OpenSource, *arguments: int) -> Iterator[object]:
        opened.append(self.source.name)
        return blocks(self, *arguments)

    monkeypatch.setattr(OpenSource, "blocks", counted)
    held = answer(
        tmp_path, "{a: first line, b: second words}\ncondition: {all: [a, b]}", "first line\n", "second wor\n"
    )
    assert [(len(each.hits), len(each.nearest)) for each in held.signatures] == [(1, 0), (0, 1)]
    assert opened == ["0.log", "1.log"]


def test_members_of_archives_are_looked_into(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("the link is brown\n")
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.add(tmp_path / "a.log", "a.log")
    answer(tmp_path, '"the link is broken"')
    engine = Engine(load_pack([tmp_path / "d" / "f.yaml"], default_rules=False, cache=False))
    (only,) = explain_module.explain(engine, "d/f", open_sources([str(tmp_path / "a.tar")])).signatures
    assert [near.source for near in only.nearest] == [str(tmp_path / "a.tar" / "a.log")]


def test_pattern_that_runs_long_ends(tmp_path: Path) -> None:
    found = nearest(tmp_path, "{regex: '(?:worker|w+o+r+k+e+r+)+ (?:a|aa)+b', slow: x}", "worker " + "a" * 500 + "\n")
    assert all(near.text.startswith("worker") for near in found)
