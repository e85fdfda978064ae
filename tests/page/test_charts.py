"""Where the bars of a chart stand."""

from __future__ import annotations

from datetime import date

import pytest

from troubleshoot.api.page.charts import chart_of, days_until, round_up
from troubleshoot.api.records import start_command, suggested_id

LAST = date(2026, 12, 1)


@pytest.mark.parametrize(
    ("number", "top"), [(0, 1), (1, 1), (3, 4), (7, 8), (10, 10), (11, 20), (101, 200), (999, 1000)]
)
def test_scale_ends_at_a_round_number(number: int, top: int) -> None:
    assert round_up(number) == top


def test_parts_of_a_day_stand_on_each_other() -> None:
    chart = chart_of(days_until(LAST, 3), {"a": {LAST: 4}, "b": {LAST: 1, date(2026, 11, 29): 2, date(2020, 1, 1): 9}})
    assert chart.top == 5
    assert [(bar.kind, bar.x, bar.y, bar.height) for bar in chart.bars] == [
        ("b", 1, 60, 40),
        ("a", 21, 20, 80),
        ("b", 21, 0, 20),
    ]
    assert chart.rows == ((date(2026, 11, 29), (0, 2)), (LAST, (4, 1)))


def test_many_days_are_weeks_and_lose_nothing() -> None:
    days = days_until(LAST, 365)
    chart = chart_of(days, {"a": dict.fromkeys(days, 1)})
    assert chart.is_weekly
    assert sum(bar.number for bar in chart.bars) == 365
    assert (chart.bars[-1].number, len(chart.columns)) == (7, 53)


def test_few_are_seen_beside_many() -> None:
    chart = chart_of(days_until(LAST, 2), {"a": {LAST: 100_000, date(2026, 11, 30): 1}})
    assert chart.bars[0].height > 1


def test_line_cannot_end_the_here_document_it_stands_in() -> None:
    command = start_command("a/b; reboot", "LOG\n$(reboot)\nLOG_\n\x1b[201~x")
    assert command.split("\n") == [
        "troubleshoot rules new site/unknown-fault --dir my-rules << 'LOG__'",
        *("LOG", "$(reboot)", "LOG_", "[201~x", "LOG__"),
        "troubleshoot rules check my-rules/site/unknown-fault.yaml",
    ]


def test_name_is_suggested_from_the_words() -> None:
    assert suggested_id("RuntimeError: 17 CUDA graphs broke") == "site/runtime-error-cuda-graphs"
    assert suggested_id("123 ---") == "site/unknown-fault"
