"""Which platform a job was started on, and which variant of a fix serves there.

In: hits of the built-in signatures of group "platforms" (`rules/_builtin/platforms.yaml`), each with the attributes
`platform` and `weight`. Out: the name of a platform, or None where nothing tells.

What somebody typed to start the job stands above what runs inside it: a Run:ai job also shows Kubernetes, and both
show torchrun. So the highest weight decides, not how often a mark is seen; ties go to the platform with more marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from troubleshoot.errors import UsageError
from troubleshoot.model import Fix, RulePack, ScanResult

PLATFORMS = (
    "runai-cli",
    "runai-ui",
    "hyperpod",
    "sagemaker",
    "slurm",
    "kubernetes",
    "yaml",
    "docker",
    "mpirun",
    "torchrun",
    "python",
    "shell",
)

# What else serves on a platform, nearest first.
ALSO_SERVES: Mapping[str, tuple[str, ...]] = {
    "runai-cli": ("runai-ui", "yaml", "kubernetes"),
    "runai-ui": ("runai-cli", "yaml", "kubernetes"),
    "hyperpod": ("sagemaker", "slurm", "kubernetes", "yaml"),
    "sagemaker": ("python", "docker", "hyperpod"),
    "slurm": ("mpirun", "torchrun", "shell"),
    "kubernetes": ("yaml",),
    "yaml": ("kubernetes",),
    "docker": ("shell",),
    "mpirun": ("shell",),
    "torchrun": ("shell", "python"),
    "python": ("torchrun", "shell"),
}


def check_platform(name: str | None) -> str | None:
    """Return the name as given if it is a platform, or raise UsageError that names them all."""
    if name is not None and name not in PLATFORMS:
        raise UsageError(f"unknown platform {name!r}", help=f"one of {', '.join(PLATFORMS)}")
    return name


def choose_platform(pack: RulePack, results: Sequence[ScanResult]) -> str | None:
    """Return the platform that the logs show, or None."""
    marks = pack.builtin.get("platforms", {})
    seen = {
        use.signature
        for pattern in {hit.pattern for result in results for hit in result.hits}
        for use in pack.users[pattern]
        if use.rule == "~platforms"
    }
    weights: dict[str, list[int]] = {}
    for name in seen:
        mark = marks.get(name, {})
        if mark.get("platform") in PLATFORMS:
            weights.setdefault(mark["platform"], []).append(_weight(mark))
    if not weights:
        return None
    return min(weights, key=lambda name: (-max(weights[name]), -len(weights[name]), PLATFORMS.index(name)))


def order_variants(fix: Fix, platform: str | None) -> Fix:
    """Return the fix with the variant for the platform first, then those that also serve there, then the rest."""
    return replace(fix, variants=_ordered(fix.variants, (platform, *ALSO_SERVES.get(platform, ())) if platform else ()))


def _ordered(variants: Mapping[str, str], wanted: Iterable[str]) -> dict[str, str]:
    first = [name for name in wanted if name in variants]
    return {name: variants[name] for name in (*first, *(name for name in variants if name not in first))}


def _weight(mark: Mapping[str, str]) -> int:
    weight = mark.get("weight", "")
    return int(weight) if weight.isascii() and weight.isdigit() else 10
