"""Which of a fix's variants a reader needs first."""

from __future__ import annotations

from troubleshoot.model import Fix

# What else serves on a platform, nearest first. A platform not named here has its own name only.
ALSO_SERVES: dict[str, tuple[str, ...]] = {
    "kubernetes": ("yaml",),
    "runai": ("runai-cli", "runai-ui", "yaml", "kubernetes"),
    "runai-cli": ("runai-ui", "yaml", "kubernetes"),
    "runai-ui": ("runai-cli", "yaml", "kubernetes"),
    "kubeflow": ("yaml", "kubernetes"),
    "hyperpod": ("sagemaker", "yaml", "kubernetes", "slurm"),
    "sagemaker": ("hyperpod", "python"),
    "slurm": ("mpirun", "shell"),
    "docker": ("shell",),
}


def ordered_variants(fix: Fix, platform: str | None) -> list[tuple[str, str]]:
    """Return the variants as (platform, text), the ones that serve on `platform` first."""
    wanted = (platform, *ALSO_SERVES.get(platform, ())) if platform else ()
    order = {name: index for index, name in enumerate(wanted)}
    return sorted(fix.variants.items(), key=lambda item: order.get(item[0], len(order)))
