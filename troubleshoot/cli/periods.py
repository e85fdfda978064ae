"""`--since` and `--until`: what of a log counts, by its time.

--since "2026-11-30 20:15"      a time without a zone is read as UTC, as are the stamps of a log that tell none
--since 2026-11-30T21:15+01:00
--since 30min                   so long ago; also `2h`, `1h30m`, `1d ago`
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import click

from troubleshoot.errors import UsageError
from troubleshoot.model import Period

Command = TypeVar("Command", bound=Callable[..., Any])


def period_options(command: Command) -> Command:
    """Add the options that say which part of the logs counts."""
    for option in reversed(
        (
            click.option("--since", metavar="TIME",
                         help='Leave out what the logs say before: "2026-11-30 20:15" (UTC), or 30min ago.'),
            click.option("--until", metavar="TIME", help="Leave out what the logs say after."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


def period_between(since: str | None, until: str | None, now: datetime | None = None) -> Period | None:
    """Return the period that the options name; None for none. Raises UsageError."""
    if since is None and until is None:
        return None
    now = now or datetime.now(UTC)
    period = Period(parse_time(since, "--since", now), parse_time(until, "--until", now))
    if period.since is not None and period.until is not None and period.since > period.until:
        raise UsageError(f"--since {since} is later than --until {until}", help="a time without a zone is read as UTC")
    return period


def parse_time(text: str | None, option: str, now: datetime) -> datetime | None:
    """Return the time that a text names. Raises UsageError."""
    if text is None:
        return None
    from troubleshoot.values import parse_duration

    given = text.strip()
    try:
        if re.fullmatch(r"[\d:.]+", given) is None:
            ago_s = parse_duration(re.sub(r"\s*\bago$", "", given))
            if ago_s is not None:
                return now - timedelta(seconds=ago_s)
        time = datetime.fromisoformat(given)
        return (time if time.tzinfo is not None else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        help = 'a day and a time ("2026-11-30 20:15", UTC unless a zone is given), or how long ago (30min, 2h, 1d)'
        raise UsageError(f"{option}: {text!r} is no time", help=help) from None
