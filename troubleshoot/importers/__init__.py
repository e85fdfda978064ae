"""Other people's rules become rules of ours: one module per format, one that writes the files.

    read_foreign("cre", path) -> Foreign -> write_pack(foreign, output, bench) -> [Imported]

A reader takes a file or a folder and never runs anything that it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from troubleshoot.errors import UsageError
from troubleshoot.importers.foreign import Foreign, ForeignRule, Refusal
from troubleshoot.importers.write import Bench, Imported, write_pack

__all__ = ["FORMATS", "Bench", "Foreign", "ForeignRule", "Imported", "Refusal", "read_foreign", "write_pack"]

FORMATS = {
    "cre": "prequel's CRE rules (a file, or a folder such as rules/ of prequel-dev/cre)",
    "pytorch-ci": "the ruleset.toml of PyTorch's log classifier (pytorch/test-infra)",
}


def read_foreign(format: str, path: Path) -> Foreign:
    """Return the rules that stand in a file or folder of another format. Raises UsageError where there are none."""
    if not path.exists():
        raise UsageError(f"no such file or folder: {path}", help="give the rules of that format, or their folder")
    foreign = _reader(format)(path)
    if not foreign.rules and not foreign.refused:
        raise UsageError(f"no rules of the format {format!r} in {path}", help=FORMATS[format])
    return foreign


def _reader(format: str) -> Callable[[Path], Foreign]:
    if format == "cre":
        from troubleshoot.importers.cre import read_cre

        return read_cre
    if format == "pytorch-ci":
        from troubleshoot.importers.test_infra import read_ruleset

        return read_ruleset
    raise UsageError(f"no format {format!r}", help=f"one of {', '.join(FORMATS)}")
