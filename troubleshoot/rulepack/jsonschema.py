"""The rule language as JSON Schema (draft 2020-12), for editors: completion, hints and checks while a rule is written.

Made from the models of `fields.py` and its like, so it cannot say anything else than the loader does. What only
the loader can know (whether a name is a signature, whether a pattern compiles) is not in it.

A YAML 1.1 reader takes a bare `yes` or `no` for a boolean; so `retry` also allows those.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from troubleshoot.rulepack.conditions import OPERATORS
from troubleshoot.rulepack.fields import PLATFORMS, RuleFields
from troubleshoot.rulepack.pack_fields import OverridesFile, PackFields, SharedFile, TableFields
from troubleshoot.rulepack.schema import OUTCOMES
from troubleshoot.rulepack.translation_fields import TranslationFields

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Json = dict[str, Any]


class _AsWritten(GenerateJsonSchema):
    """Keeps the order of what was written: an editor puts an example's keys in as they stand."""

    def sort(self, value: JsonSchemaValue, parent_key: str | None = None) -> JsonSchemaValue:
        return value


def rule_schema() -> Json:
    """Return the JSON Schema of a rule file."""
    schema: Json = _tidy(RuleFields.model_json_schema(schema_generator=_AsWritten))
    definitions = schema.pop("$defs")
    _refine(schema, definitions)
    return {
        "$schema": DIALECT,
        "title": "troubleshoot rule",
        "description": "One fault that a log can show, or one good thing worth confirming.",
        **{key: value for key, value in schema.items() if key != "description"},
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def pack_schema() -> Json:
    """Return the JSON Schema of a pack's `pack.yaml`."""
    return _schema("troubleshoot pack", "Who a folder of rules is.", PackFields)


def overrides_schema() -> Json:
    """Return the JSON Schema of a file of overrides."""
    schema = _schema("troubleshoot overrides", "A user's own say over rules that others wrote.", OverridesFile)
    schema["examples"] = [{"gpu/fell-off-bus": {"severity": "critical"}, "nccl/*": {"confidence": "low"}}]
    return schema


def table_schema() -> Json:
    """Return the JSON Schema of a table in `_tables/`."""
    return _schema("troubleshoot table", "What a vendor numbers, once, for rules to look captures up in.", TableFields)


def shared_schema() -> Json:
    """Return the JSON Schema of a file of shared signatures in `_shared/`."""
    schema = _schema("troubleshoot shared signatures", "Signatures by name, which rules use.", SharedFile)
    _one_pattern(schema["$defs"])
    return schema


def translation_schema() -> Json:
    """Return the JSON Schema of a rule's translation."""
    return _schema("troubleshoot translation", "A rule's texts in another language.", TranslationFields)


def _schema(title: str, description: str, model: type[BaseModel]) -> Json:
    tidied: Json = _tidy(model.model_json_schema(schema_generator=_AsWritten))
    return {"$schema": DIALECT, **tidied, "title": title, "description": description}


def _tidy(value: Any) -> Any:
    """Drop what says nothing to an author: made-up titles, defaults of nothing, the null beside a real type."""
    if isinstance(value, list):
        return [_tidy(each) for each in value]
    if not isinstance(value, dict):
        return value
    tidied: Json = {}
    for key, held in value.items():
        if (key == "title" and isinstance(held, str)) or (key == "default" and held is None):
            continue
        if key == "properties":
            tidied[key] = {name: _tidy(each) for name, each in held.items()}
        elif key in ("examples", "enum", "const", "default", "required"):
            tidied[key] = list(held) if isinstance(held, list) else held
        else:
            tidied[key] = _tidy(held)
    branches = [each for each in tidied.pop("anyOf", []) if each != {"type": "null"}]
    if len(branches) == 1:
        tidied.update(branches[0])
    elif branches:
        tidied["anyOf"] = branches
    if "oneOf" in tidied:  # shapes of a value: a mapping may fit two, as a signature and as names of some
        tidied["anyOf"] = tidied.pop("oneOf")
    return tidied


def _refine(schema: Json, definitions: Json) -> None:
    """Say what the models leave to the loader and a schema can say too."""
    properties = schema["properties"]
    properties["retry"]["enum"] += [True, False]
    del properties["retry"]["type"]
    schema["required"] = ["title", "signatures"]
    schema["if"] = {"properties": {"kind": {"const": "confirmation"}}, "required": ["kind"]}
    schema["else"] = {"required": ["severity", "explanation"]}
    names = {"propertyNames": {"pattern": "^[a-z][a-z0-9_]*$", "not": {"enum": ["text", "regex", "use"]}}}
    for branch in properties["signatures"]["anyOf"]:
        if "additionalProperties" in branch:
            branch.update(names)
    _one_pattern(definitions)
    example = definitions["ExampleFields"]["properties"]
    for outcome in OUTCOMES:  # editors put a text of lines in as a block
        (sample,) = example[outcome].pop("examples")
        example[outcome]["defaultSnippets"] = [{"label": outcome, "body": f"|\n  ${{1:{sample}}}"}]
    definitions["ExampleFields"]["oneOf"] = [{"required": [outcome]} for outcome in OUTCOMES]
    condition = definitions["ConditionFields"]
    condition["oneOf"] = [{"required": [operator]} for operator in OPERATORS]
    condition["dependentRequired"] = {
        "missing": ["given"],
        **{modifier: ["missing"] for modifier in ("given", "relevant", "next")},
    }
    variants = definitions["FixFields"]["properties"]["variants"]
    variants["properties"] = dict.fromkeys(PLATFORMS, variants["additionalProperties"])
    _loosen_numbers(definitions, schema)


def _one_pattern(definitions: Json) -> None:
    definitions["SignatureFields"]["oneOf"] = [{"required": [kind]} for kind in ("text", "regex", "use")]


def _loosen_numbers(definitions: Json, schema: Json) -> None:
    """Allow a bare number where the loader takes it as the text it was written as."""
    as_text = {"type": ["string", "number", "boolean"]}
    for owner, name in (("LookupFields", "default"), ("VerifyFields", "expect")):
        definitions[owner]["properties"][name].update(as_text)
    schema["properties"]["since"].update(as_text)
    definitions["ExampleFields"]["properties"]["captures"]["additionalProperties"] = as_text
