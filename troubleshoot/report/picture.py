"""A job as a picture: its ranks against time, and a map of what became of each. Inline SVG, no script, no outside host.

In: the tracks of a job. Out: SVG text in which everything is escaped. Colours come from the page's style sheet by class
(dark, light, print); every mark also differs in shape, so that nothing hangs on colour.

    rank 0  ────────────────────────╫━━━━━|      a line while it lives, another while it waits, a tick where it echoes
    rank 2  ───────────────────○    ╫            a ring where the last progress of one that lags stands
    rank 3  ────────────────────────✕            a cross where it failed, and a rule through all where that was first

More ranks than limits of the page allow share a row: the worst fate in it is shown, and the earliest failure. Where a
job ran for hours and broke within a minute, the axis shows the end of the job only, and says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape

from troubleshoot.language import say
from troubleshoot.model import Job, Track
from troubleshoot.ranks import compress_ranks
from troubleshoot.report.job_words import seconds
from troubleshoot.report.printable import one_line

WIDTH = 960
LEFT, RIGHT, TOP, BOTTOM = 150, 16, 30, 26
MOST_ROWS = 256
MAP_COLUMNS = 64
MAP_CELLS = 4096
ZOOM = 0.03  # of the whole time that the failure must take, before only the end is shown
_WORST = {"failed": 0, "echoing": 1, "silent": 2, "quiet": 3}
_TICKS_S = (0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 86400, 604800)


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of the picture: a track, or several that share it."""

    name: str
    host: str | None
    fate: str
    first: datetime | None
    last: datetime | None
    at: datetime | None
    lags: bool = False


@dataclass(frozen=True, slots=True)
class _Axis:
    begin: datetime
    end: datetime
    is_cut: bool

    def x(self, time: datetime) -> float:
        span = (self.end - self.begin).total_seconds() or 1.0
        share = (time - self.begin).total_seconds() / span
        return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)


def draw_timeline(job: Job) -> str:
    """Return the ranks against time, or nothing where fewer than two times are known."""
    axis = _axis(job)
    if axis is None or not job.tracks:
        return ""
    rows = _rows(job.tracks, {each.rank for each in job.stragglers})
    broke = _broke(job)
    height = 18 if len(rows) <= 16 else 12 if len(rows) <= 48 else 5 if len(rows) <= 128 else 3
    bottom = TOP + height * len(rows)
    parts = [
        _open(WIDTH, bottom + BOTTOM, f"{len(job.tracks)} tracks against time, the first failure marked", height < 5),
        *_ticks(axis, bottom),
        *_labels(rows, height),
        *(part for at, row in enumerate(rows) for part in _track(row, axis, broke, TOP + height * at, height)),
        *_first(job, axis, rows, height, bottom),
        "</svg>",
    ]
    return "\n".join(parts)


def draw_map(job: Job) -> str:
    """Return a map of the ranks, one cell each by what became of it; nothing where no ranks are known."""
    tracks = [each for each in job.tracks if each.rank is not None]
    if len(tracks) < 2:
        return ""
    share = -(-len(tracks) // MAP_CELLS)
    cells = _rows(tracks, most=MAP_CELLS)
    size, most = (15, MAP_COLUMNS) if len(cells) <= 8 * MAP_COLUMNS else (9, 100)
    columns = min(most, len(cells)) if len(cells) > 32 else len(cells)
    lines = -(-len(cells) // columns)
    first = job.first_failure.rank if job.first_failure is not None else None
    parts = [_open(columns * size + 2, lines * size + 2, f"{len(tracks)} ranks by what became of them", fit=False)]
    for at, cell in enumerate(cells):
        x, y = 1 + at % columns * size, 1 + at // columns * size
        is_first = first is not None and cell.name == f"rank {first}" and share == 1
        parts.append(f'<g class="{cell.fate}"><title>{_text(_told(cell))}</title>')
        parts.append(f'<rect class="cell" x="{x + 1}" y="{y + 1}" width="{size - 3}" height="{size - 3}" rx="2"/>')
        if cell.fate == "failed":
            parts.append(_cross(x + size / 2 - 0.5, y + size / 2 - 0.5, size / 5))
        if is_first:
            parts.append(f'<rect class="ring" x="{x - 0.5}" y="{y - 0.5}" width="{size}" height="{size}" rx="3"/>')
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"])


def _broke(job: Job) -> datetime | None:
    """Return when it broke; where that has no time, when the rank that failed first was last seen."""
    first = job.first_failure
    if first is None or first.time is not None:
        return first.time if first is not None else None
    return next((each.at for each in job.tracks if first.rank is not None and each.rank == first.rank), None)


def _axis(job: Job) -> _Axis | None:
    times = [time for each in job.tracks for time in (each.first, each.last, each.at) if time is not None]
    times += [each.time for each in job.timeline if each.time is not None]
    if len(set(times)) < 2:
        return None
    begin, end = min(times), max(times)
    broke = _broke(job)
    whole = (end - begin).total_seconds()
    if broke is not None and begin <= broke <= end:
        after = (end - broke).total_seconds()
        shown = max(after * 4, 20.0)
        if whole > shown and after < whole * ZOOM:
            return _Axis(max(begin, end - timedelta(seconds=shown)), end, True)
    return _Axis(begin, end, False)


def _rows(tracks: Sequence[Track], lagging: Collection[int] = (), most: int = MOST_ROWS) -> list[_Row]:
    share = -(-len(tracks) // most)
    if share <= 1:
        return [
            _Row(each.name, each.host, each.fate, each.first, each.last, each.at, each.rank in lagging)
            for each in tracks
        ]
    return [_joined(tracks[at : at + share]) for at in range(0, len(tracks), share)]


def _joined(tracks: Sequence[Track]) -> _Row:
    worst = min(tracks, key=lambda each: _WORST.get(each.fate, 3))
    same = [each for each in tracks if each.fate == worst.fate]
    ranks = compress_ranks(each.rank for each in tracks if each.rank is not None)
    hosts = {each.host for each in tracks}
    count = f": {len(same)} of {len(tracks)} {worst.fate}"
    return _Row(
        name=f"ranks {ranks}{count}" if ranks else f"{len(tracks)} sources{count}",
        host=hosts.pop() if len(hosts) == 1 else None,
        fate=worst.fate,
        first=min((each.first for each in tracks if each.first is not None), default=None),
        last=max((each.last for each in same if each.last is not None), default=None),
        at=min((each.at for each in same if each.at is not None), default=None),
    )


def _track(row: _Row, axis: _Axis, broke: datetime | None, y: int, height: int) -> Iterator[str]:
    middle = y + height / 2
    yield f'<g class="{row.fate}"><title>{_text(_told(row))}</title>'
    yield f'<rect class="hit" x="{LEFT}" y="{y}" width="{WIDTH - LEFT - RIGHT}" height="{height}"/>'
    begin = row.first or (axis.begin if row.last is not None or row.at is not None else None)
    end = max((each for each in (row.last, row.at, begin) if each is not None), default=None)
    if begin is None or end is None:
        yield f'<line class="unknown" x1="{LEFT}" y1="{middle}" x2="{WIDTH - RIGHT}" y2="{middle}"/>'
    else:
        x1, x2 = axis.x(begin), max(axis.x(end), axis.x(begin) + 1)
        turn = axis.x(broke) if broke is not None and row.fate == "echoing" else x2
        turn = min(max(turn, x1), x2)
        yield f'<line class="life" x1="{x1:.1f}" y1="{middle}" x2="{turn:.1f}" y2="{middle}"/>'
        if turn < x2:
            yield f'<line class="wait" x1="{turn:.1f}" y1="{middle}" x2="{x2:.1f}" y2="{middle}"/>'
        if row.lags:
            yield f'<circle class="lag" cx="{x2:.1f}" cy="{middle}" r="{max(min(height * 0.3, 4.0), 2.6):.1f}"/>'
    if row.at is not None:
        x, size = axis.x(row.at), max(min(height * 0.32, 5.0), 1.6)
        if row.fate == "failed":
            yield _cross(x, middle, size + 1)
        elif row.fate == "echoing":
            yield f'<line class="tick" x1="{x:.1f}" y1="{middle - size}" x2="{x:.1f}" y2="{middle + size}"/>'
    yield "</g>"


def _labels(rows: Sequence[_Row], height: int) -> Iterator[str]:
    """Yield names at the left: each row's where there is room, else each host's, else every so many rows."""
    if height >= 12:
        for at, row in enumerate(rows):
            host = f" · {row.host}" if row.host else ""
            yield _label(f"{row.name}{host}", TOP + height * (at + 0.5))
        return
    last_y = -99.0
    begin = 0
    for at in range(1, len(rows) + 1):
        if at < len(rows) and rows[at].host == rows[begin].host and rows[begin].host is not None:
            continue
        y = TOP + height * (begin + at) / 2
        if y - last_y >= 11:
            yield _label(rows[begin].host or rows[begin].name.partition(":")[0], y)
            last_y = y
        if rows[begin].host is not None and begin:
            line = TOP + height * begin
            yield f'<line class="fence" x1="{LEFT}" y1="{line}" x2="{WIDTH - RIGHT}" y2="{line}"/>'
        begin = at


def _label(text: str, y: float) -> str:
    shown = one_line(text)
    shown = shown if len(shown) <= 24 else f"{shown[:11]}…{shown[-12:]}"
    return f'<text class="name" x="{LEFT - 8}" y="{y + 3.5:.1f}">{_text(shown)}</text>'


def _ticks(axis: _Axis, bottom: int) -> Iterator[str]:
    span = (axis.end - axis.begin).total_seconds()
    step = next((each for each in _TICKS_S if span / each <= 8), span / 6 or 1)
    at = axis.begin.timestamp() // step * step + step
    while at <= axis.end.timestamp():
        time = datetime.fromtimestamp(at, UTC)
        x = axis.x(time)
        yield f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>'
        if x < WIDTH - 40:
            yield f'<text class="time" x="{x:.1f}" y="{bottom + 16}">{_clock(time, step)}</text>'
        at += step
    if axis.is_cut:
        told = say("the last {time} of the job", time=seconds(span))
        yield f'<text class="cut" x="{LEFT}" y="{TOP - 18}">{_text(told)}</text>'


def _first(job: Job, axis: _Axis, rows: Sequence[_Row], height: int, bottom: int) -> Iterator[str]:
    first = job.first_failure
    broke = _broke(job)
    if first is None or broke is None:
        return
    x = axis.x(broke)
    who = f"rank {first.rank}" if first.rank is not None else first.host or "first failure"
    time = _clock(broke, 0.001 if broke.microsecond else 1)
    if first.time is not None:
        text = say("{who} fails first, {time}", who=who, time=time)
    else:
        text = say("{who} fails first, after {time}", who=who, time=time)
    anchor = "end" if x > WIDTH / 2 else "start"
    yield f'<line class="first" x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{bottom}"/>'
    yield f'<text class="first" text-anchor="{anchor}" x="{x:.1f}" y="{TOP - 10}">{_text(text)}</text>'
    at = next((at for at, row in enumerate(rows) if first.rank is not None and row.name == f"rank {first.rank}"), None)
    if at is not None:
        yield f'<circle class="ring" cx="{x:.1f}" cy="{TOP + height * (at + 0.5)}" r="{max(height * 0.45, 5):.1f}"/>'


def _told(row: _Row) -> str:
    parts = [row.name, row.host or "", "" if ":" in row.name else row.fate, "behind the others" if row.lags else ""]
    if row.at is not None:
        parts.append(_clock(row.at, 0.001))
    elif row.last is not None:
        parts.append(f"last seen {_clock(row.last, 1)}")
    return one_line(", ".join(part for part in parts if part))


def _cross(x: float, y: float, size: float) -> str:
    low, high, left, right = y - size, y + size, x - size, x + size
    return (
        f'<path class="cross" d="M{left:.1f} {low:.1f}L{right:.1f} {high:.1f}'
        f'M{left:.1f} {high:.1f}L{right:.1f} {low:.1f}"/>'
    )


def _clock(time: datetime, step: float) -> str:
    time = time.astimezone(UTC)
    if step >= 86400:
        return time.strftime("%m-%d")
    return time.strftime("%H:%M:%S.%f")[:-3] if step < 1 else time.strftime("%H:%M:%S")


def _open(width: int, height: int, title: str, is_dense: bool = False, *, fit: bool = True) -> str:
    size = f'viewBox="0 0 {width} {height}"' + ("" if fit else f' width="{width}" height="{height}"')
    size += ' class="dense"' if is_dense else ""
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{_text(title)}" {size}>'


def _text(text: str) -> str:
    return escape(one_line(text), quote=True)
