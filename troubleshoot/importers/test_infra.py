"""PyTorch's log classifier (pytorch/test-infra, aws/lambda/log-classifier/ruleset.toml) -> rules of ours.

    [[rule]]
    name = "GHA timeout"                            ->   ci/gha-timeout.yaml
    pattern = '^##\\[error\\]The action (.*)has timed out'       its group becomes the capture `group1`

There the rule that stands first in the file wins and the last line that it matches counts; here every rule is reported,
and failures that differ in their captures are findings of their own.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from troubleshoot.importers.foreign import CannotImportError, Foreign, ForeignRule, Refusal, in_order, prose, slug
from troubleshoot.importers.regexes import translate

NAME = "pytorch-ci"
TITLE = "PyTorch log classifier"
FILE = "ruleset.toml"
DOMAIN = "ci"
SOURCE = "https://github.com/pytorch/test-infra/blob/main/aws/lambda/log-classifier/ruleset.toml"
# What is taken off a line there before `^` is looked for. Here more may be taken off (`##[error]` is a level), so that
# such a pattern is also tried behind the stamp of the line as given.
_STAMP = r"(?:\d{4}-\d{2}-\d{2}T[\d:.]+Z )?"
DIFFERENCES = (
    "every rule that matches is reported; there only the one that stands first in the file",
    "the first line that matches leads; there the last one",
    "failures that differ in what the groups capture are findings of their own, as there they are groups of their own",
    "`\\d`, `\\w` and `\\s` are ASCII",
    "`^` also holds behind a prefix that is taken off here: a level such as `##[error]`, a rank",
    "lines that the classifier drops beforehand (exit codes of steps, sccache's own log) are looked at like any other",
    "the format has no severity (here: medium), no explanation and no fix",
)


def read_ruleset(path: Path) -> Foreign:
    """Return the rules of a `ruleset.toml`, or of the one below a folder."""
    file = _find(path)
    try:
        written = tomllib.loads(file.read_text("utf-8")).get("rule", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return Foreign(NAME, TITLE, "", (), (Refusal(file.name, str(file), f"cannot be read: {error}"),), DIFFERENCES)
    rules: dict[str, ForeignRule] = {}
    refused: list[Refusal] = []
    for number, each in enumerate(written if isinstance(written, list) else [], 1):
        name = str(each.get("name") or f"rule {number}") if isinstance(each, dict) else f"rule {number}"
        try:
            rule = _rule(each, name, number, file.name)
        except CannotImportError as error:
            refused.append(Refusal(name, file.name, str(error)))
            continue
        id = rule.id
        while id in rules:  # two rules of one name: both count there
            id += "-too"
        rules[id] = ForeignRule(id, rule.origin, rule.path, rule.document, rule.remarks)
    return Foreign(NAME, TITLE, "", tuple(rules.values()), tuple(refused), DIFFERENCES)


def _find(path: Path) -> Path:
    if path.is_dir():
        return next(iter(sorted(path.rglob(FILE))), path / FILE)
    return path


def _rule(written: Any, name: str, number: int, file: str) -> ForeignRule:
    if not isinstance(written, dict) or not isinstance(written.get("pattern"), str) or not written["pattern"]:
        raise CannotImportError("it has no `pattern`")
    translated = translate(written["pattern"], name_groups=True)
    pattern = translated.regex
    signature: dict[str, Any] = {"regex": f"^{_STAMP}{pattern[1:]}" if pattern.startswith("^") else pattern}
    if translated.exact_case:
        signature["exact_case"] = True
    signature["advice"] = True
    document = in_order(
        {
            "title": prose(" ".join(name.split())),
            "severity": "medium",
            "status": "imported",
            "systems": ["pytorch", "github-actions"],
            "signatures": signature,
            "explanation": prose(f'A line of the log is what PyTorch\'s CI knows as "{name}" (rule {number}).'),
            "fingerprint": list(translated.captures),
            "references": [SOURCE],
        }
    )
    return ForeignRule(f"{DOMAIN}/{slug(name)}", name, file, document)
