"""A user's own say over rules that others wrote, without editing them.

    # ~/.config/troubleshoot/overrides.yaml
    gpu/fell-off-bus: { severity: critical }
    "nccl/*":         { confidence: low }
    "acme:storage/*": { disable: true, reason: our file system prints this on every start }

An entry is a rule's id, a glob over ids, or either with a pack's name before it. A later entry stands over an earlier
one. What is wrong with an entry is told, and the others count all the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from troubleshoot import limits
from troubleshoot.errors import Problem, UsageError
from troubleshoot.model import Confidence, Place, Rule, Severity
from troubleshoot.rulepack.packs import goes_by, nearest_name

VARIABLE = "TROUBLESHOOT_OVERRIDES"  # names another file; NONE: no file at all
NONE = "none"
FILE = "overrides.yaml"


@dataclass(frozen=True, slots=True)
class Override:
    """What becomes of the rules that go by `name`."""

    name: str
    severity: Severity | None = None
    confidence: Confidence | None = None
    disable: bool = False
    place: Place | None = None


def active_file(environment: Mapping[str, str] | None = None) -> Path | None:
    """Return the file of overrides that counts: the one the environment names, or the user's own, if it is there.
    Raises UsageError for a named one that is not."""
    environment = os.environ if environment is None else environment
    named = environment.get(VARIABLE, "")
    if named == NONE:
        return None
    if named:
        if not Path(named).is_file():
            raise UsageError(f"no such file: {named}", help=f"--overrides and {VARIABLE} take a file of overrides")
        return Path(named)
    base = environment.get("XDG_CONFIG_HOME") or (
        os.path.join(environment["HOME"], ".config") if environment.get("HOME") else ""  # noqa: PTH118  # a text
    )
    own = Path(base, "troubleshoot", FILE) if base else None
    return own if own is not None and own.is_file() else None


def use(file: str) -> Callable[[], None]:
    """Let a file count (or NONE) from now on, also in processes started by this one; return what undoes it."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = file

    def undo() -> None:
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before

    return undo


def read_overrides(path: Path) -> tuple[list[Override], list[Problem]]:
    """Return the overrides of a file, and what is wrong with it."""
    from troubleshoot.rulepack.pack_fields import OverridesFile
    from troubleshoot.rulepack.positions import read_document
    from troubleshoot.rulepack.shape import check_shape, touches

    try:
        with path.open("rb") as stream:
            text = stream.read(limits.RULE_FILE_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "not UTF-8"
        return [], [Problem("R013", f"cannot be read: {why.lower()}", Place(str(path)), help="check the file's rights")]
    document = read_document(text, str(path))
    if document.data is None:
        return [], document.problems
    _model, bad = check_shape(document, OverridesFile, "an override")
    if () in bad:
        return [], document.problems
    overrides = []
    for name, entry in document.data.items():
        if not touches(bad, (name,)) and isinstance(entry, dict):
            overrides.append(
                Override(
                    name,
                    Severity[entry["severity"].upper()] if entry.get("severity") else None,
                    Confidence[entry["confidence"].upper()] if entry.get("confidence") else None,
                    bool(entry.get("disable", False)),
                    document.place((name,), key=True),
                )
            )
    return overrides, document.problems


def apply_overrides(rules: Mapping[str, Rule], overrides: list[Override]) -> tuple[dict[str, Rule], list[Problem]]:
    """Return the rules as the overrides want them, and a problem for each entry that means none."""
    changed: dict[str, Rule] = {}
    meant: set[str] = set()
    for id, rule in rules.items():
        disabled = False
        for override in overrides:
            if not goes_by(rule, override.name):
                continue
            meant.add(override.name)
            disabled = override.disable
            rule = replace(
                rule,
                severity=override.severity or rule.severity,
                confidence=override.confidence or rule.confidence,
            )
        if not disabled:
            changed[id] = rule
    problems = [_meaningless(each, rules) for each in overrides if each.name not in meant]
    return changed, problems


def _meaningless(override: Override, rules: Mapping[str, Rule]) -> Problem:
    near = nearest_name(override.name, rules.values())
    help = f"did you mean `{near}`?" if near else "`troubleshoot rules list` names them all"
    text = f"no rule goes by `{override.name}`"
    return Problem("P004", text, override.place, help=help, severity="warning")
