"""How old a rule and its sources are: when its file last changed, and which versions and dates its references name.

https://github.com/NVIDIA/nccl/blob/v2.21.5-1/src/misc/socket.cc     pinned: it says the same for ever
https://github.com/NVIDIA/nccl/blob/master/src/misc/socket.cc        moving: it may say something else by now
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from troubleshoot.model import Rule, RulePack

_DATE = re.compile(r"(?<!\d)(20\d\d)[-/](0[1-9]|1[0-2])(?:[-/]([0-2]\d|3[01]))?(?!\d)")
_PINNED = re.compile(r"/(?:blob|tree|raw)/([^/]+)/|[/@=-](v?\d+\.\d+(?:\.\d+)*)(?![\w.])")
_MOVING = frozenset({"main", "master", "develop", "dev", "trunk", "head"})
_GIT_S = 20.0


@dataclass(frozen=True, slots=True)
class Sources:
    """How old a rule and what it leans on are. `pinned`: references that name a version or commit; `moving`: those that
    name a branch; `newest`: the latest date that stands in a reference."""

    changed: date | None = None
    references: int = 0
    pinned: int = 0
    moving: int = 0
    newest: str = ""


def sources_of(rule: Rule, changed: date | None) -> Sources:
    """Return how old a rule's sources are, as far as its references tell."""
    pins = [_pin(reference) for reference in rule.references]
    dates = sorted("-".join(filter(None, match.groups())) for each in rule.references for match in _DATE.finditer(each))
    return Sources(
        changed,
        len(rule.references),
        sum(pin is not None and pin.lower() not in _MOVING for pin in pins),
        sum(pin is not None and pin.lower() in _MOVING for pin in pins),
        dates[-1] if dates else "",
    )


def _pin(reference: str) -> str | None:
    match = _PINNED.search(reference)
    return (match[1] or match[2]) if match is not None else None


def last_changes(pack: RulePack) -> dict[str, date]:
    """Return when each rule's file last changed: its last commit where it is in a git repository, else its own time."""
    changes: dict[str, date] = {}
    folders = {part.path for part in pack.parts}
    for folder in folders:
        changes |= _commits(Path(folder))
    for rule in pack.rules.values():
        key = str(Path(rule.path).resolve())
        if key in changes:
            changes[rule.path] = changes[key]
            continue
        try:
            changes[rule.path] = datetime.fromtimestamp(Path(rule.path).stat().st_mtime, UTC).date()
        except OSError:
            continue
    return changes


def _commits(folder: Path) -> dict[str, date]:
    """Return the day of the last commit of each file below a folder, by its full path."""
    try:
        top = _git(folder, "rev-parse", "--show-toplevel").strip()
        told = _git(folder, "log", "--format=@%cs", "--name-only", "--no-renames", "--", ".")
    except (OSError, subprocess.SubprocessError):
        return {}
    days: dict[str, date] = {}
    day: date | None = None
    for line in told.splitlines():
        if line.startswith("@"):
            day = date.fromisoformat(line[1:])
        elif line and day is not None:
            days.setdefault(str(Path(top, line)), day)
    return days


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=_GIT_S, check=True, errors="replace"
    )
    return done.stdout
