"""The reference, made from the code: rule language, command line, HTTP API, report format, codes.

In: the models, click's commands, the OpenAPI document, the report's schema, the tables of codes. Out: Markdown by name.
The pages are kept in `pages/`, so that they can be read in a checkout and served without being made; a test compares.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from troubleshoot.docs.codes import codes_page
from troubleshoot.docs.command_line import command_line_page
from troubleshoot.docs.tables import cell, code_cell, table

PAGES = Path(__file__).parent / "pages"
Json = Mapping[str, Any]


def reference_pages() -> dict[str, str]:
    """Return the pages by name, as the code has them now."""
    return {name: make() for name, make in _makers().items()}


@functools.cache
def kept_pages() -> dict[str, str]:
    """Return the pages by name, as they are kept; read once."""
    return {name: (PAGES / f"{name}.md").read_text("utf-8") for name in _makers()}


def title_of(page: str) -> str:
    """Return the title of a page of the reference."""
    return page.split("\n", 1)[0].removeprefix("# ")


def _makers() -> dict[str, Callable[[], str]]:
    """Return what makes each page, in the order in which readers get them."""
    return {
        "rule-language": rule_language_page,
        "command-line": command_line_page,
        "http-api": http_api_page,
        "report-format": report_format_page,
        "codes": codes_page,
    }


# --- rule language and report: from their JSON Schemas ---------------------------------------------------------------


def rule_language_page() -> str:
    """Return what may stand in a rule's file and in the files beside it."""
    from troubleshoot.rulepack import jsonschema

    files = (
        ("A rule: `rules/<domain>/<fault>.yaml`", jsonschema.rule_schema()),
        ("A pack: `pack.yaml`", jsonschema.pack_schema()),
        ("Shared signatures: `_shared/*.yaml`", jsonschema.shared_schema()),
        ("Tables: `_tables/*.yaml`", jsonschema.table_schema()),
        ("Overrides: `overrides.yaml`", jsonschema.overrides_schema()),
        ("A translation: `<fault>.<language>.yaml`", jsonschema.translation_schema()),
    )
    parts = [
        "# Rule language",
        "Every key of the files that make up a pack. How to write a rule, with examples: `rules/README.md`; a start "
        "from a line of a log: `troubleshoot rules new`.",
    ]
    for title, schema in files:
        parts += [f"## {title}", *_schema_parts(schema, 3)]
    return "\n\n".join(parts) + "\n"


def report_format_page() -> str:
    """Return the report as JSON, key by key."""
    from troubleshoot.report.schema import report_schema

    parts = [
        "# Report format",
        "What `--format json`, `POST /v1/scan` and `report.to_dict()` give: `troubleshoot.report/1`. Within version 1 "
        "keys are added, never taken away or given another meaning.",
        *_schema_parts(report_schema(), 2),
    ]
    return "\n\n".join(parts) + "\n"


def _schema_parts(schema: Json, level: int) -> Iterator[str]:
    """Yield a table of an object's keys, and one for each object within it, named by its path or its definition."""
    definitions: Json = schema.get("$defs", {})
    if schema.get("description"):
        yield _sentence(schema["description"])
    waiting: list[tuple[str, Json]] = [("", schema)]
    seen: set[str] = set()
    while waiting:
        name, here = waiting.pop(0)
        if name:
            yield f"{'#' * level} `{name}`"
            if here.get("description"):
                yield _sentence(here["description"])
        properties: Json = here.get("properties", {})
        if isinstance(here.get("additionalProperties"), dict):
            properties = {**properties, "<name>": here["additionalProperties"]}
        required = here.get("required", [])
        rows = []
        for key, value in properties.items():
            inner, within = _inner(value, definitions, f"{name}.{key}" if name else key)
            if inner and inner not in seen and within is not None:
                seen.add(inner)
                waiting.append((inner, within))
            must = "yes" if key in required else ""
            rows.append((code_cell(key), cell(_kind(value, definitions)), must, cell(_about(value, definitions))))
        if rows:
            yield table(("key", "value", "must", "what it says"), rows)


def _inner(value: Json, definitions: Json, path: str) -> tuple[str, Json | None]:
    """Return the object that a value holds, and its name."""
    for each in _branches(value):
        target = each.get("items", each) if each.get("type") == "array" else each
        if isinstance(target.get("additionalProperties"), dict):
            target = target["additionalProperties"]
        target = next((b for b in _branches(target) if "$ref" in b or "properties" in b), target)
        if "$ref" in target:
            name = target["$ref"].rsplit("/", 1)[-1]
            found = definitions.get(name, {})
            if "properties" in found:
                return name, found
        if "properties" in target:
            return path, target
    return "", None


def _branches(value: Json) -> list[Json]:
    for key in ("anyOf", "oneOf"):
        if key in value:
            return list(itertools.chain.from_iterable(_branches(each) for each in value[key]))
    return [value]


def _kind(value: Json, definitions: Json) -> str:
    kinds = []
    for each in _branches(value):
        if "const" in each:
            kinds.append(f"`{each['const']}`")
        elif "enum" in each:
            kinds.append(", ".join(f"`{word}`" for word in each["enum"]))
        elif "$ref" in each:
            name = each["$ref"].rsplit("/", 1)[-1]
            kinds.append(f"`{name}`" if "properties" in definitions.get(name, {}) else _kind(definitions[name], {}))
        elif each.get("type") == "array":
            kinds.append(f"list of {_kind(each.get('items', {}), definitions) or 'values'}")
        elif isinstance(each.get("type"), list):
            kinds.append(" or ".join(map(str, each["type"])))
        else:
            kind = str(each.get("type", ""))
            kinds.append({"string": "text", "object": "mapping", "boolean": "yes or no"}.get(kind, kind))
    return " or ".join(dict.fromkeys(filter(None, kinds)))


def _about(value: Json, definitions: Json) -> str:
    text = value.get("description", "")
    examples = value.get("examples", [])
    shown = f" Example: `{_short(examples[0])}`" if examples else ""
    return f"{text}{shown}".strip()


def _short(value: Any) -> str:
    import json

    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.replace("`", "'").split())[:100]


def _sentence(text: str) -> str:
    return " ".join(text.split())


# --- HTTP ------------------------------------------------------------------------------------------------------------


def http_api_page() -> str:
    """Return the HTTP API, route by route, from its OpenAPI document."""
    from troubleshoot.api.app import create_app

    document: Json = create_app(watch=False).openapi()
    parts = [
        "# HTTP API",
        "Served by `troubleshoot serve`; the same as a document for programs: `GET /openapi.json`. What goes wrong is "
        "told as problem details (RFC 9457).",
    ]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parts += [
                f"## {method.upper()} {path}",
                _sentence(operation.get("description") or operation.get("summary", "")),
            ]
            rows = [
                (
                    code_cell(each["name"]),
                    each["in"],
                    "yes" if each.get("required") else "",
                    cell(_kind(each.get("schema", {}), document.get("components", {}).get("schemas", {}))),
                    cell(each.get("description", "")),
                )
                for each in operation.get("parameters", [])
            ]
            if rows:
                parts.append(table(("parameter", "in", "must", "value", "what it says"), rows))
            bodies = ", ".join(f"`{kind}`" for kind in operation.get("requestBody", {}).get("content", {}))
            if bodies:
                parts.append(f"Body: {bodies}")
            answers = [(code, cell(each.get("description", ""))) for code, each in operation["responses"].items()]
            parts.append(table(("status", "means"), answers))
    return "\n\n".join(part for part in parts if part) + "\n"
