"""What is remembered by a line's shape says of each line what asking all wrappers says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from troubleshoot.normalise.ways import ROUNDS, first_strong, kinds_of, way_of
from troubleshoot.normalise.weak import LAUNCHER_LINE, WEAK
from troubleshoot.normalise.wrappers import GROUP_AFTER_LINES, WRAPPERS, Group, Wrapper, by_lead
from troubleshoot.shapes import SHAPES, ByShape, blurred, shape_of

CORPUS = Path(__file__).parents[2] / "corpus"


def asked_often() -> tuple[dict[str, Group], Group]:
    """Return the groups as they are after many lines."""
    leads, everywhere = by_lead(WRAPPERS)
    for group in (*leads.values(), everywhere):
        for _ in range(GROUP_AFTER_LINES):
            group.candidates("x")
    return dict(leads), everywhere


LEADS, EVERYWHERE = asked_often()


def check(line: str) -> bool:
    group = LEADS.get(line[:1], EVERYWHERE)
    takes = [each for each in group.wrappers if each.take(line) is not None]
    assert [each for each in group.candidates(line) if each.take(line) is not None] == takes, line
    check_way(line)
    return bool(takes)


def check_way(line: str) -> None:
    """The way of the shape is the one that wrapper after wrapper goes."""
    way = way_of(line)
    text, last = line, None
    used: set[str] = set()
    taken: list[tuple[Wrapper, dict[str, str | None]]] = []
    while len(taken) < ROUNDS and (found := first_strong(text, last, used)):
        each, text, facts = found
        taken.append((each, {name: fact for name, fact in facts.items() if name != "msg" and fact is not None}))
        used.add(last := each.name)
    if way is not None:
        assert (way.taken(line), line[way.rest :]) == (taken, text), line
        assert way.kinds == kinds_of(text), line
    kinds = kinds_of(text)
    is_own = bool(text.strip()) and not LAUNCHER_LINE.match(text)
    assert (kinds is not None) is is_own, line
    if kinds is not None:
        assert {i for i, each in enumerate(WEAK) if each.wrapper.take(text)} <= set(kinds), line


def test_lines_of_the_corpus() -> None:
    lines = set()
    for path in sorted(CORPUS.glob("*/*.log"))[::4]:
        lines.update(path.read_text("utf-8", "replace").splitlines()[:40])
    found = [check(line) for line in sorted(lines)]
    assert 200 < sum(found) < len(found)


@given(st.text('019:-TZ.[]<>|{}"= abIWE/\t', max_size=40))
def test_any_text(text: str) -> None:
    check(text)


@pytest.mark.parametrize(
    "line",
    [
        "<34>1 2026-11-30T20:15:04Z gpu-node-17 app 77 - - text",
        "<34>2 2026-11-30T20:15:04Z gpu-node-17 app 77 - - text",
        "2026-11-30T20:15:04+00:00 job-x/algo-1-1732996500 text",
        "2026-11-30T20:15:04+05:30 job-x/algo-1-1732996500 text",
    ],
)
def test_digit_that_a_wrapper_names_is_looked_at(line: str) -> None:
    check(line)
    check(line.replace("1", "3"))


def test_a_wrapper_that_names_digits_is_blurred() -> None:
    pattern = re.compile(r"\d{1,3}>1 [0-9a-f]+\+00:00")
    assert blurred(pattern).fullmatch("12>7 a0+05:30")
    same = re.compile(r"[0-9]{2}:\d")
    assert blurred(same) is same


def test_what_is_remembered_stays_bounded() -> None:
    asked: list[str] = []

    def ask(shape: str) -> int:
        asked.append(shape)
        return len(shape)

    remember = ByShape(ask)
    assert remember("step 41") == remember("step 57") == 7
    assert asked == [shape_of("step 41")] == ["step 00"]
    for i in range(SHAPES + 10):
        remember("x" * (i % 90) + chr(1000 + i))
    assert len(remember._known) <= SHAPES
    asked.clear()
    remember("y" * 1000)
    remember("y" * 1000)
    assert len(asked) == 2
