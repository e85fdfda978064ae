"""One shell script that gathers, on the machine of the job, what the rules ask for.

In: nothing. Out: the script's text (`collect_script`), and the names of its parts (`parts`), which reports name where
they cannot tell something. The script changes nothing where it runs; its output is a text that is scanned as any log.
"""

from __future__ import annotations

import functools
import re
from importlib import resources

from troubleshoot import late

# The part that gathers what a rule of these systems would have needed, most specific first.
_PART_OF = {
    "efa": "efa",
    "libfabric": "efa",
    "glibc": "loader",
    "loader": "loader",
    "nccl": "nccl",
    "gpu": "gpu",
    "cuda": "gpu",
    "driver": "gpu",
    "slurm": "slurm",
    "sagemaker": "sagemaker",
    "kubernetes": "kubernetes",
    "runai": "kubernetes",
    "memory": "limits",
    "limits": "limits",
    "storage": "mounts",
    "network": "network",
}

_PART = late.compile(r"^part ([a-z-]+) ", re.MULTILINE)


@functools.cache
def collect_script() -> str:
    """Return the POSIX shell script that `troubleshoot collect` prints."""
    return resources.files(__package__).joinpath("collect.sh").read_text(encoding="utf-8")


def parts() -> tuple[str, ...]:
    """Return the names of the script's parts, in its order."""
    return tuple(_PART.findall(collect_script()))


def part_for(systems: tuple[str, ...]) -> str:
    """Return the part that would tell more about a rule of these systems, or the empty string."""
    return next((_PART_OF[system] for system in systems if system in _PART_OF), "")
