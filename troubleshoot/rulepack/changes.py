"""What changed in the files of rules since one looked last: for `rules check --watch`.

Names, sizes and times are compared a few times a second, and no events of the system are waited for: home folders of
clusters lie on NFS and Lustre, which tell nobody of what another machine wrote. A look at 590 files takes 1 ms.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from troubleshoot.errors import UsageError
from troubleshoot.rulepack.files import default_rules_dir, list_layer, list_translations

POLL_S = 0.3
SETTLE_S = 0.05  # editors write in several steps: a change counts once nothing more has changed for so long
LONGEST_SETTLING_S = 2.0

SUFFIXES = (".yaml", ".yml")
DEEPEST = 8  # of folders within folders: links may go round

State = dict[str, tuple[int, int, int]]
_GONE = (-1, -1, -1)


def look(paths: Sequence[Path]) -> State:
    """Return the files of these paths (the shipped rules if none) with what tells that one was written."""
    state: State = {}
    for path in paths or [default_rules_dir()]:
        if path.is_dir():
            _look_below(str(path), state, 0)
            continue
        try:
            files = [Path(each.path) for each in list_layer(path).files] + list_translations([path])
        except (UsageError, OSError):  # gone, perhaps for the moment in which an editor puts a new one in its place
            files = [path]
        for file in files:
            try:
                state[str(file)] = _told(file.stat())
            except OSError:
                state[str(file)] = _GONE
    return state


def _look_below(folder: str, state: State, depth: int) -> None:
    """Note every file of a folder that may be one of a pack's."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        try:
            if entry.name.endswith(SUFFIXES):
                state[entry.path] = _told(entry.stat())
            elif depth < DEEPEST and entry.is_dir():
                _look_below(entry.path, state, depth + 1)
        except OSError:
            state[entry.path] = _GONE


def _told(stat: os.stat_result) -> tuple[int, int, int]:
    return stat.st_size, stat.st_mtime_ns, stat.st_ino


def wait_for_change(
    paths: Sequence[Path], before: State, *, sleep: Callable[[float], None] = time.sleep
) -> tuple[State, list[str]]:
    """Wait until a file of these paths is written, comes or goes; return how they are then, and which ones."""
    while (after := look(paths)) == before:
        sleep(POLL_S)
    for _ in range(int(LONGEST_SETTLING_S / SETTLE_S)):
        sleep(SETTLE_S)
        settled = look(paths)
        if settled == after:
            break
        after = settled
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    return after, changed
