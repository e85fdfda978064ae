"""The environment of the processes that a service starts: what Python needs to find itself and us, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "XDG_CACHE_HOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH")


def child_environment() -> dict[str, str]:
    """Return the environment of a process that reads logs of strangers: it needs no key or token to do so."""
    ours = str(Path(__file__).parents[2])
    path = os.pathsep.join(each for each in (ours, os.environ.get("PYTHONPATH", "")) if each)
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}  # the current folder may hold a stranger's json.py
