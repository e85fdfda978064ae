"""Numbers per day -> where the bars of a small chart stand. A template draws them; nothing here knows of HTML.

    {2026-11-30: 4, 2026-12-01: 1} over 30 days  ->  Chart(top=5, bars=(Bar(x=280, y=20, ...), ...), columns=30)

A chart is COLUMN units wide per column and HEIGHT high, and is stretched to the page's width. Days without a number are
columns too. Over more than MOST_COLUMNS days a column is a week.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

COLUMN = 10
BAR = 8
HEIGHT = 100
LEAST_HEIGHT = 1.5  # of a bar that is not nothing
MOST_COLUMNS = 120
WEEK = 7

Counts = Mapping[date, int]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, or one part of a stacked one. `kind` names its series."""

    kind: str
    x: float
    y: float
    height: float
    day: date
    number: int


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart over some days. `top` is the number at its upper edge, `rows` its numbers per column, for a table."""

    bars: tuple[Bar, ...]
    columns: tuple[date, ...]  # the first day of each
    rows: tuple[tuple[date, tuple[int, ...]], ...]  # columns with any number, and those of each series
    top: int
    is_weekly: bool

    @property
    def width(self) -> int:
        return COLUMN * len(self.columns)

    @property
    def path(self) -> str:
        """All bars as one path of SVG, for a chart without parts."""
        return "".join(f"M{bar.x:g} {HEIGHT}v-{bar.height:g}h{BAR}v{bar.height:g}z" for bar in self.bars)


def days_until(last: date, days: int) -> tuple[date, ...]:
    """Return the days up to and with the last one, oldest first."""
    return tuple(last - timedelta(days=back) for back in range(days - 1, -1, -1))


def chart_of(days: Sequence[date], series: Mapping[str, Counts]) -> Chart:
    """Return a chart of stacked bars over the days: the first series stands at the bottom."""
    step = WEEK if len(days) > MOST_COLUMNS else 1
    groups = [days[max(0, end - step) : end] for end in range(len(days), 0, -step)][::-1]  # the last one is whole
    numbers = [tuple(sum(counts.get(day, 0) for day in group) for counts in series.values()) for group in groups]
    top = round_up(max((sum(each) for each in numbers), default=0))
    bars: list[Bar] = []
    for column, (group, parts) in enumerate(zip(groups, numbers, strict=True)):
        base = float(HEIGHT)
        for kind, number in zip(series, parts, strict=True):
            if number:
                height = max(HEIGHT * number / top, LEAST_HEIGHT)
                base -= height
                bars.append(Bar(kind, column * COLUMN + 1, round(base, 2), round(height, 2), group[0], number))
    columns = tuple(group[0] for group in groups)
    rows = tuple((day, parts) for day, parts in zip(columns, numbers, strict=True) if any(parts))
    return Chart(tuple(bars), columns, rows, top, step == WEEK)


def round_up(number: int) -> int:
    """Return the next number of 1, 2, 4, 5, 6, 8 or 10 times a power of ten: the upper edge of a scale."""
    power = 1
    while number > 10 * power:
        power *= 10
    return next(each * power for each in (1, 2, 4, 5, 6, 8, 10) if each * power >= number)
