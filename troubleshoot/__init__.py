"""Find the known fault in the log of a failed distributed training job, with its evidence and its fix.

    >>> import troubleshoot
    >>> report = troubleshoot.scan("job.log")
    >>> report.findings[0].title

The names below are the whole public surface; they load what they need when first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from troubleshoot.engine import Engine
    from troubleshoot.errors import TroubleshootError
    from troubleshoot.model import Finding, Report, RulePack
    from troubleshoot.rulepack.load import load_pack
    from troubleshoot.scanning import scan, scan_text

__version__ = "0.1.0"

__all__ = ["Engine", "Finding", "Report", "RulePack", "TroubleshootError", "load_pack", "scan", "scan_text"]

_HOME = {
    "Engine": "engine",
    "Finding": "model",
    "Report": "model",
    "RulePack": "model",
    "TroubleshootError": "errors",
    "load_pack": "rulepack.load",
    "scan": "scanning",
    "scan_text": "scanning",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
