"""What editors need beside rule files: the JSON Schemas in a folder of the pack, and a first line that points to them.

    my-rules/_schemas/rule.json           made by the loader's own models
    my-rules/gpu/hot.yaml                 # yaml-language-server: $schema=../_schemas/rule.json

The way from file to schema is relative, so it holds in a clone, in an installed package, on a machine without a
network, and for whoever a pack is handed on to. Editors with a YAML language server complete keys and values, show what
they mean, and underline what the loader would refuse.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from troubleshoot.errors import UsageError
from troubleshoot.rulepack import jsonschema
from troubleshoot.rulepack.files import PACK, SCHEMAS, SHARED, SUFFIX, TABLES, list_layer, list_translations

KINDS: dict[str, Callable[[], dict[str, Any]]] = {
    "rule": jsonschema.rule_schema,
    "pack": jsonschema.pack_schema,
    "shared": jsonschema.shared_schema,
    "table": jsonschema.table_schema,
    "overrides": jsonschema.overrides_schema,
    "translation": jsonschema.translation_schema,
}
MARK = "# yaml-language-server: $schema="
_KINDS = {"rule": "rule", PACK: "pack", SHARED: "shared", TABLES: "table"}
_WRITTEN = (*_KINDS.values(), "translation")


def schema_text(kind: str) -> str:
    """Return a schema as the text of its file."""
    return json.dumps(KINDS[kind](), indent=2, ensure_ascii=False) + "\n"


def modeline(kind: str, depth: int) -> str:
    """Return the line that ties a file to its schema; `depth`: how many folders it lies below the pack's."""
    return f"{MARK}{'../' * depth}{SCHEMAS}/{kind}.json"


def write_schemas(folder: Path) -> list[Path]:
    """Write the schemas of a pack's files into it, those that are not there or not as they should be; return these.
    Raises UsageError where they cannot be written."""
    written = []
    for kind in _WRITTEN:
        path, text = folder / SCHEMAS / f"{kind}.json", schema_text(kind)
        try:
            if path.is_file() and path.read_text("utf-8", "replace") == text:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
        written.append(path)
    return written


def unassociated(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file of a pack that does not point to its schema, with the line that it should begin with."""
    for path, line in _lines_of(folder):
        try:
            with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
                first = stream.readline()
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
        if first.rstrip() != line:
            yield path, line


def _lines_of(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file of a pack that has a schema, with the line that it should begin with."""
    for file in list_layer(folder).files:
        kind = _KINDS.get(file.kind)
        if kind is not None and file.path.endswith(SUFFIX):
            yield Path(file.path), modeline(kind, file.name.count("/") + (file.kind in (SHARED, TABLES)))
    for path in list_translations([folder]):
        yield path, modeline("translation", len(path.relative_to(folder).parts) - 1)


def associate(folder: Path) -> list[Path]:
    """Write the schemas into a pack and the first line into each file that lacks it; return the files changed.
    Raises UsageError where that cannot be."""
    changed = write_schemas(folder)
    for path, line in list(unassociated(folder)):
        try:
            data = path.read_bytes()
            mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
            body = data[len(mark) :]
            if body.startswith(MARK.encode()):  # it points elsewhere: to where the file was moved from
                body = body.partition(b"\n")[2]
            end = b"\r\n" if b"\r\n" in body else b"\n"
            path.write_bytes(mark + line.encode() + end + body)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
        changed.append(path)
    return changed
