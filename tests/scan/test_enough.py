"""How many hits are enough."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from troubleshoot import limits
from troubleshoot.rulepack.load import load_pack
from troubleshoot.scan.enough import Enough

HEAD = """\
title: "t"
severity: low
confidence: low
explanation: "e"
signatures:
  a: "zygotes are gone"
  b: "aardvarks {rank:int} were seen"
"""


def enough(tmp_path: Path, condition: str) -> tuple[bool, bool]:
    """Return whether the hits of `a` and of `b` are counted."""
    folder = tmp_path / "rules" / "net"
    folder.mkdir(parents=True)
    (folder / "x.yaml").write_text(HEAD + condition, "utf-8")
    pack = load_pack([tmp_path / "rules"], default_rules=False, cache=False, overrides=None)
    assert not [str(each.text) for each in pack.problems]
    asked = Enough(pack)
    by_name = {use.signature: pattern for pattern, uses in enumerate(pack.users) for use in uses if use.rule == "net/x"}
    return asked.is_counted(by_name["a"]), asked.is_counted(by_name["b"])


@pytest.mark.parametrize(
    ("condition", "counted"),
    [
        ("condition: {all: [a, b]}", (True, True)),
        ("condition: {all: [a], unless: b}", (True, False)),
        ("condition: a\\nsupports: [b]", (True, False)),
        ("condition: a\\ncontradicts: [b]", (True, False)),
        ("condition: {all: [a, {none: [b]}]}", (True, False)),
        ("condition: {missing: b, given: a}", (True, False)),
        ("condition: {all: [a, b], where: 'rank > 2'}", (True, True)),
        ("condition: {all: [a], unless: b, where: 'rank > 2'}", (True, True)),
        ("condition: {all: [a], unless: b, same: rank}", (True, True)),
        ("condition: {all: [a], unless: b, same: job}", (True, False)),
        ("condition: {all: [a, {none: [b]}], within: 5 records}", (True, True)),
        ("condition: {all: [a], unless: b}\\nfingerprint: [rank]", (True, True)),
        ("condition: {missing: a, given: {at_least: {n: 2, of: b, distinct: rank}}}", (False, True)),
    ],
)
def test_what_is_asked_only_whether_it_is_there_is_not_counted(
    tmp_path: Path, condition: str, counted: tuple[bool, bool]
) -> None:
    assert enough(tmp_path, condition.replace("\\n", "\n") + "\n") == counted


SETTING = """\
title: "t"
severity: low
confidence: low
explanation: "e"
signatures:
  a: "zygotes are gone"
  b: { use: seen }
  c: { use: seen_too }
condition: %s
"""


@pytest.mark.parametrize(
    ("condition", "counted"),
    [
        ("{all: [a, b]}", False),
        ("{all: [b, a], within: 5 records}", True),
        ("{all: [b, c]}", True),  # one of them is what the rule tells: the first
        ("{all: [c, b]}", False),
        ("{any: [a, b]}", True),
        ("{any: [c, {all: [b, a]}]}", False),
        ("{all: [b, {none: [a]}]}", True),
        ("b", True),
    ],
)
def test_a_shared_signature_that_only_tells_the_setting_is_not_counted(
    tmp_path: Path, condition: str, counted: bool
) -> None:
    for name, text in (
        ("net/x", SETTING % condition),
        ("_shared/s", 'seen: "aardvarks were seen"\nseen_too: "emus"\n'),
    ):
        path = tmp_path / "rules" / f"{name}.yaml"
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8")
    pack = load_pack([tmp_path / "rules"], default_rules=False, cache=False, overrides=None)
    (number,) = [at for at, uses in enumerate(pack.users) if any(use.signature == "b" for use in uses)]
    assert Enough(pack).is_counted(number) is counted


def test_marks_of_a_platform_are_not_counted() -> None:
    pack = load_pack()
    asked = Enough(pack)
    marks = [number for number, uses in enumerate(pack.users) if {use.rule for use in uses} == {"~platforms"}]
    assert marks
    assert {asked.hits_of(each, sys.maxsize) for each in marks} == {limits.PRESENCE_HITS}
