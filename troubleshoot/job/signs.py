"""What a failed job states of itself, out of the hits of the built-in group "job".

In: a pack and scan results. Out: `Sign`s, in the order of the results and their lines. What each kind of sign means is
written in `rules/_builtin/job.yaml`; what follows from it, in the other modules here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from troubleshoot.model import Hit, RulePack, ScanResult, Stamp

GROUP = "job"
MOST_MEMBERS = 100_000  # of a written-out list of ranks, such as "0-99999"


@dataclass(frozen=True, slots=True)
class Sign:
    """One statement: its kind, who makes it, and the record it stands in."""

    kind: str
    name: str
    by: str
    hit: Hit

    @property
    def source(self) -> str:
        return self.hit.record.source.name

    @property
    def line(self) -> int:
        return self.hit.record.line

    @property
    def captures(self) -> Mapping[str, str]:
        return self.hit.captures

    def number(self, name: str) -> int | None:
        """Return a capture as a number, None where it is none."""
        return whole(self.hit.captures.get(name))

    @property
    def stamp(self) -> Stamp | None:
        """When it happened: the time that the statement names, else that of its record."""
        return stated_time(self.hit.captures) or self.hit.record.stamp

    @property
    def text(self) -> str:
        """The record's lines as one."""
        return " ".join(self.hit.record.text.split())


def read_signs(pack: RulePack, results: Sequence[ScanResult]) -> list[Sign]:
    """Return the signs of all results."""
    marks = pack.builtin.get(GROUP, {})
    served = {
        pattern: [use.signature for use in uses if use.rule == f"~{GROUP}"]
        for pattern, uses in enumerate(pack.users)
        if any(use.rule == f"~{GROUP}" for use in uses)
    }
    return [
        Sign(marks.get(name, {}).get("sign", ""), name, marks.get(name, {}).get("by", ""), hit)
        for result in results
        for hit in result.hits
        for name in served.get(hit.pattern, ())
    ]


def whole(text: str | None) -> int | None:
    """Return the number that the text is; None for any other."""
    digits = (text or "").removeprefix("-")
    return int(text or "") if digits.isascii() and digits.isdigit() and len(digits) < 12 else None


def members_of(text: str | None) -> tuple[int, ...]:
    """Return the ranks of a list as programs write it: `0-2,4`, `8, 9`."""
    return tuple(_members(text or ""))


def _members(text: str) -> Iterator[int]:
    for part in text.replace(" ", "").split(","):
        first, _, last = part.partition("-")
        begin, end = whole(first), whole(last or first)
        if begin is not None and end is not None and 0 <= end - begin < MOST_MEMBERS:
            yield from range(begin, end + 1)


def stated_time(captures: Mapping[str, str]) -> Stamp | None:
    """Return the time that a statement names: torchelastic writes local time, error files seconds since 1970."""
    epoch = whole(captures.get("epoch"))
    try:
        if epoch is not None:
            return Stamp(datetime.fromtimestamp(epoch, UTC), "explicit", 1.0)
        if captures.get("finished"):
            return _finished(captures["finished"].strip())
        for name, shape in (("time", "%Y-%m-%d_%H:%M:%S"), ("when", "%Y-%m-%dT%H:%M:%S")):
            if captures.get(name):
                return Stamp(datetime.strptime(captures[name], shape).replace(tzinfo=UTC), "assumed-local", 1.0)
    except (ValueError, TypeError, OverflowError, OSError):
        return None
    return None


def _finished(text: str) -> Stamp:
    """Return the time as Kubernetes writes it, in a description or in a manifest."""
    if text[:1].isdigit():
        return Stamp(datetime.fromisoformat(text).astimezone(UTC), "explicit", 1.0)
    from email.utils import parsedate_to_datetime  # costs more to import than all of this package

    return Stamp(parsedate_to_datetime(text).astimezone(UTC), "explicit", 1.0)
