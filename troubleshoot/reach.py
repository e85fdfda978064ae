"""The moments between which a veto is looked for, as written and as values.

    since: first - 30 s                      Instant(event=1, shift_s=-30)
    until: event 2 + span + 10 s             Instant(event=2, spans=1, shift_s=10)

`first`, `last` and `event 2` are events of what the veto vetoes, in order of time; `span` is the time from its first
event to its last.
"""

from __future__ import annotations

from troubleshoot import late
from troubleshoot.model import Instant, Reach

HELP = "write `first - 30 s`, `last + 10 s`, `event 2`, or `event 2 + span + 10 s`"
SECONDS = {
    unit: seconds
    for units, seconds in (
        (("ms", "msec", "millisecond", "milliseconds"), 0.001),
        (("s", "sec", "secs", "second", "seconds"), 1.0),
        (("m", "min", "mins", "minute", "minutes"), 60.0),
        (("h", "hr", "hrs", "hour", "hours"), 3600.0),
        (("d", "day", "days"), 86400.0),
    )
    for unit in units
}
_START = late.compile(r"\s*(?:(first)|(last)|event\s+([1-9]\d{0,2}))\b")
_STEP = late.compile(r"\s*([+-])\s*(?:(span)\b|(\d+(?:\.\d+)?)\s*([A-Za-z]+))")


def parse_instant(text: str) -> Instant | None:
    """Return the moment that a text names, or None where it names none."""
    start = _START.match(text)
    if start is None:
        return None
    event = 1 if start[1] else -1 if start[2] else int(start[3])
    spans, shift_s, at = 0, 0.0, start.end()
    while text[at:].strip():
        step = _STEP.match(text, at)
        if step is None or (step[4] and step[4].lower() not in SECONDS):
            return None
        sign = -1 if step[1] == "-" else 1
        if step[2]:
            spans += sign
        else:
            shift_s += sign * float(step[3]) * SECONDS[step[4].lower()]
        at = step.end()
    return Instant(event, spans, shift_s)


def instant_words(instant: Instant) -> str:
    """Return a moment as it would be written."""
    words = {1: "first", -1: "last"}.get(instant.event, f"event {instant.event}")
    sign = "+" if instant.spans > 0 else "-"
    words += f" {sign} span" * abs(instant.spans)
    if instant.shift_s:
        words += f" {'+' if instant.shift_s > 0 else '-'} {abs(instant.shift_s):g} s"
    return words


def reach_words(reach: Reach) -> str:
    """Return from when to when a veto counts, for people."""
    return f"from {instant_words(reach.since)} to {instant_words(reach.until)}"
