"""prequel's CRE rules -> rules of ours.

    rule: {sequence: {window: 30s, order: [alarm set, {value: blocked, count: 2}], negate: [{value: cleared, anchor: 1,
           window: 15s}]}}
    ->  condition: {in_order: [alarm_set, {at_least: {n: 2, of: blocked}}], within: 30 s, same: source,
                    unless: [{any: [cleared], since: event 2, until: event 2 + span + 15 s}]}

In: a file, or a folder in which they are looked for. A rule's `test.log` and `test-fp.log` beside it come along. What a
`negate` means follows prequel-logmatch (pkg/match/inverse.go): its window begins at the anchor, moved by `slide`, and
lasts `window`, to which, unless it is `absolute`, the time from the first event to the last is added.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from troubleshoot import limits
from troubleshoot.importers.cre_condition import ConditionMaker
from troubleshoot.importers.foreign import CannotImportError, Foreign, ForeignRule, Log, Refusal, in_order, prose, slug

NAME = "cre"
TITLE = "prequel CRE"
DIFFERENCES = (
    "`event.source` is not asked for: a rule looks at every log; `systems` names what it is about",
    "prequel joins lines without a time to the entry before them; here a pattern with `.*` or `.+` may span the lines "
    "of an entry (12 at most), other patterns see one line, and so does what is counted or vetoes",
    "plain values (`value:`) are text signatures: exact in letter case, forgiving in quotes and runs of white space",
    "a step of a `sequence` may stand on the line of the step before, further to the right",
    "logs without times are read too: windows and vetoes that ask for seconds then lower the confidence",
    "a rule makes one finding with a count, not one for each occurrence",
)
_SEVERITIES = {0: "critical", 1: "high", 2: "medium", 3: "low", 4: "low"}
_VERSION = re.compile(r"\.v\d+$")
_LOGS = (("test.log", "match"), ("test-fp.log", "no_match"))


def read_cre(path: Path) -> Foreign:
    """Return all rules of a file or below a folder."""
    rules: dict[str, ForeignRule] = {}
    refused: list[Refusal] = []
    root = path if path.is_dir() else path.parent
    for file in _files(path):
        shown = str(file.relative_to(root))
        try:
            documents = list(_documents(file))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            refused.append(Refusal(shown, shown, f"cannot be read: {' '.join(str(error).split())}"))
            continue
        terms = {name: term for each in documents for name, term in _mapping(each.get("terms")).items()}
        for written in (each for document in documents for each in _list(document.get("rules"))):
            origin = str(_mapping(_mapping(written).get("cre")).get("id") or shown)
            try:
                rule = _rule(_mapping(written), terms, origin, shown, _logs(file.parent))
            except CannotImportError as error:
                refused.append(Refusal(origin, shown, str(error)))
                continue
            if rule.id in rules:
                refused.append(Refusal(origin, shown, f"its id is also that of {rules[rule.id].path}"))
            else:
                rules[rule.id] = rule
    return Foreign(NAME, TITLE, _version(root), tuple(rules.values()), tuple(refused), DIFFERENCES)


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for file in sorted(path.rglob("*")):
        if (
            file.suffix in (".yaml", ".yml")
            and file.is_file()
            and not any(part.startswith(".") for part in file.relative_to(path).parts)
        ):
            yield file


def _documents(file: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the YAML documents of a file that hold rules or terms; other YAML is passed over."""
    with file.open("rb") as stream:
        text = stream.read(limits.RULE_FILE_BYTES * 8).decode("utf-8-sig")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for document in yaml.load_all(text, loader):  # both are safe loaders
        if isinstance(document, dict) and ("rules" in document or "terms" in document):
            yield document


def _version(root: Path) -> str:
    for folder in (root, *root.resolve().parents[:2]):
        try:
            return (folder / "VERSION").read_text("utf-8").split()[0]
        except (OSError, UnicodeDecodeError, IndexError):
            continue
    return ""


def _logs(folder: Path) -> tuple[Log, ...]:
    logs = []
    for name, expect in _LOGS:
        file = folder / name
        if file.is_file():
            logs.append(Log(expect, name, file.read_bytes().decode("utf-8", "replace")))
    return tuple(logs)


def _rule(
    written: Mapping[str, Any], terms: Mapping[str, Any], origin: str, path: str, logs: tuple[Log, ...]
) -> ForeignRule:
    cre = _mapping(written.get("cre"))
    if not cre.get("id"):
        raise CannotImportError("it has no `cre.id`")
    maker = ConditionMaker(terms)
    condition = maker.condition(_mapping(written.get("rule")))
    document = in_order(
        {
            "title": prose(" ".join(str(cre.get("title") or origin).split())),
            "severity": _SEVERITIES.get(cre.get("severity", 2), "medium"),
            "status": "imported",
            "systems": _systems(cre, maker.sources),
            "tags": _names(cre.get("tags")),
            "signatures": maker.signatures(),
            "condition": condition,
            "explanation": _explanation(cre) or prose(str(cre.get("title") or origin)),
            "fixes": _fixes(cre),
            "references": [str(each) for each in _list(cre.get("references")) if each],
        }
    )
    domain = slug(re.sub(r"-problems?$", "", str(cre.get("category") or "")), "cre")
    return ForeignRule(f"{domain}/{slug(origin)}", origin, path, document, tuple(dict.fromkeys(maker.remarks)), logs)


def _explanation(cre: Mapping[str, Any]) -> str:
    parts = [("", cre.get("description")), ("Cause: ", cre.get("cause")), ("Impact: ", cre.get("impact"))]
    return "\n\n".join(prefix + prose(text) for prefix, text in parts if isinstance(text, str) and text.strip())


def _fixes(cre: Mapping[str, Any]) -> list[dict[str, str]]:
    mitigation = cre.get("mitigation")
    if not isinstance(mitigation, str) or not mitigation.strip():
        return []
    return [{"title": "What the rule's authors advise", "do": prose(mitigation)}]


def _systems(cre: Mapping[str, Any], sources: list[str]) -> list[str]:
    names = [str(_mapping(each).get("name") or "") for each in _list(cre.get("applications"))]
    names += [_VERSION.sub("", source).split(".")[-1] for source in sources]
    return list(dict.fromkeys(slug(name, "") for name in names if slug(name, "")))


def _names(value: Any) -> list[str]:
    return list(dict.fromkeys(slug(str(each), "") for each in _list(value) if slug(str(each), "")))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
