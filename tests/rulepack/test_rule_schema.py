"""The JSON Schema says what the loader says, as far as a schema can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from troubleshoot.rulepack.fields import KEYS
from troubleshoot.rulepack.files import default_rules_dir, list_layers
from troubleshoot.rulepack.jsonschema import rule_schema

SCHEMA = rule_schema()
GOLDEN = Path(__file__).parent.parent / "golden" / "problems"


def errors(data: Any) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(data)]


def test_schema_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_key_is_described_in_its_order() -> None:
    assert list(SCHEMA["properties"]) == list(KEYS)
    for name, owner in {"rule": SCHEMA, **SCHEMA["$defs"]}.items():
        for key, value in owner["properties"].items():
            assert value.get("description"), f"{name}.{key}"


def test_shipped_rules_fit() -> None:
    told = []
    for file in list_layers([])[0].of("rule"):
        path = default_rules_dir() / f"{file.name}.yaml"
        try:
            data = yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        except yaml.YAMLError:
            continue  # told of by the loader
        told += [f"{file.name}: {message}" for message in errors(data)]
    assert told == []


HEAD = {"title": "t", "severity": "low", "explanation": "x"}


@pytest.mark.parametrize(
    "rule",
    [
        {"signatures": "x"},
        {"signatures": ["x", {"regex": "y"}]},
        {"signatures": {"text": ["x"], "lines": 2}},
        {"signatures": {"a": "x", "b": {"use": "c"}}, "condition": {"all": ["a", {"none": "b"}]}},
        {"signatures": "x", "retry": "no"},
        {"signatures": "x", "retry": False},
        {"signatures": "x", "since": 1.2},
        {"signatures": "x", "condition": {"missing": "line", "given": "line", "next": "look"}},
        {"signatures": "x", "examples": [{"match": {"a": "b"}, "captures": {"v": 2.3}}]},
        {"signatures": "x", "fixes": [{"title": "y", "run": "z", "verify": "w", "variants": {"slurm": "v"}}]},
    ],
)
def test_what_loads_fits(rule: dict[str, Any]) -> None:
    assert errors({**HEAD, **rule}) == []


@pytest.mark.parametrize(
    "rule",
    [
        {},
        {"signatures": 3},
        {"signatures": {"text": "x", "regex": "y"}},
        {"signatures": {"Bad": "x"}},
        {"signatures": "x", "retry": "maybe"},
        {"signatures": "x", "severty": "low"},
        {"signatures": "x", "severity": "dire"},
        {"signatures": "x", "condition": {"all": ["line"], "any": ["line"]}},
        {"signatures": "x", "condition": {"missing": "line"}},
        {"signatures": "x", "condition": {"all": ["line"], "given": "line"}},
        {"signatures": "x", "examples": [{"match": "a", "no_match": "b"}]},
        {"signatures": "x", "fixes": [{"do": "y"}]},
    ],
)
def test_what_does_not_load_does_not_fit(rule: dict[str, Any]) -> None:
    assert errors({**HEAD, **rule}) != []


def test_a_confirmation_needs_less() -> None:
    assert errors({"title": "t", "signatures": "x", "kind": "confirmation"}) == []
    assert errors({"title": "t", "signatures": "x", "kind": "fault"}) != []
    assert errors({"title": "t", "signatures": "x"}) != []
