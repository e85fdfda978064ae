"""One expression that asks for all wrappers of a first character says what each of them says."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from troubleshoot.normalise.wrappers import GROUP_AFTER_LINES, WRAPPERS, Group, by_lead

CORPUS = Path(__file__).parents[2] / "corpus"


def asked_often() -> tuple[dict[str, Group], Group]:
    """Return the groups as they are after many lines."""
    leads, everywhere = by_lead(WRAPPERS)
    for group in (*leads.values(), everywhere):
        for _ in range(GROUP_AFTER_LINES):
            group.may_take("x")
    return dict(leads), everywhere


LEADS, EVERYWHERE = asked_often()


def check(line: str) -> bool:
    group = LEADS.get(line[:1], EVERYWHERE)
    takes = any(each.pattern.match(line) is not None for each in group.wrappers)
    assert group.may_take(line) is takes, line
    return takes


def test_lines_of_the_corpus() -> None:
    lines = set()
    for path in sorted(CORPUS.glob("*/*.log"))[::4]:
        lines.update(path.read_text("utf-8", "replace").splitlines()[:40])
    found = [check(line) for line in sorted(lines)]
    assert 200 < sum(found) < len(found)


@given(st.text('019:-TZ.[]<>|{}"= abIWE/\t', max_size=40))
def test_any_text(text: str) -> None:
    check(text)
