"""`RulePack` <-> plain JSON values, without loss.

A dataclass becomes the mapping of its fields that differ from their defaults, an enum its value, a tuple a list. The
way back knows which fields hold what; a field not named in `_FIELDS` is read as it stands (a list as a tuple), so plain
fields may be added to the model without a word here. A pattern is written once and elsewhere named by its id, a place
as line and column. A rule is JSON text within the JSON: of 400 rules a log touches ten, and each is read when it is
first asked for.

    Condition(op=Op.ALL, children=(a, b))   ->   {"op": "all", "children": [{...}, {...}]}

No class is named in the JSON and nothing in it is run: whatever a cache file holds, it comes to model values or to an
error.
"""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from troubleshoot.errors import Problem
from troubleshoot.model import (
    Condition,
    Confidence,
    Example,
    Fix,
    Instant,
    Kind,
    Lookup,
    Op,
    PackPart,
    Pattern,
    PatternUse,
    Place,
    Reach,
    Rule,
    RulePack,
    Severity,
    Signature,
    Status,
    Verify,
    Window,
)

Json = dict[str, Any]
_Reader = Callable[[Any], Any]


def json_from_pack(pack: RulePack) -> Json:
    """Return a pack as JSON values."""
    return {
        "name": pack.name,
        "version": pack.version,
        "hash": pack.hash,
        "patterns": [_write(pattern) for pattern in pack.patterns],
        "users": [[[use.rule, use.signature] for use in users] for users in pack.users],
        "tables": _plain(pack.tables),
        "builtin": _plain(pack.builtin),
        "rules": {id: _text(_write(rule)) for id, rule in pack.rules.items()},
        "parts": [_write(part) for part in pack.parts],
        "problems": [
            {**_write(each), "place": [each.place.path, *_plain(each.place)] if each.place else None}
            for each in pack.problems
        ],
    }


def pack_from_json(data: Json) -> RulePack:
    """Return the pack. Raises KeyError, TypeError, ValueError, AttributeError or IndexError on JSON of another make."""
    patterns = tuple([_read(Pattern, each) for each in data["patterns"]])
    return RulePack(
        name=data["name"],
        version=data["version"],
        hash=data["hash"],
        rules=LateRules(data["rules"], patterns),
        patterns=patterns,
        users=tuple(tuple(PatternUse(rule, signature) for rule, signature in users) for users in data["users"]),
        tables=data["tables"],
        builtin=data["builtin"],
        problems=tuple(_read_problem(each) for each in data["problems"]),
        parts=tuple(PackPart(**each) for each in data["parts"]),
    )


class LateRules(Mapping[str, Rule]):
    """A pack's rules by id, each read when it is first asked for."""

    def __init__(self, texts: Mapping[str, str], patterns: tuple[Pattern, ...]) -> None:
        if not all(isinstance(text, str) for text in texts.values()):
            raise TypeError("rules of another make")
        self._texts = texts
        self._patterns = patterns
        self._rules: dict[str, Rule] = {}

    def __getitem__(self, id: str) -> Rule:
        rule = self._rules.get(id)
        if rule is None:  # two threads may both read it, and both get the same
            rule = self._rules.setdefault(id, _PackReader(self._patterns).rule(json.loads(self._texts[id])))
        return rule

    def get(self, id: str, default: Any = None) -> Any:
        return self[id] if id in self._texts else default

    def __contains__(self, id: object) -> bool:
        return id in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __reduce__(self) -> Any:
        return LateRules, (dict(self._texts), self._patterns)


# --- writing ---------------------------------------------------------------------------------------------------------


def _write(value: Any) -> Json:
    written: Json = {}
    for field in dataclasses.fields(value):
        held = getattr(value, field.name)
        if field.default is not dataclasses.MISSING and held == field.default:
            continue
        if field.default_factory is not dataclasses.MISSING and held == field.default_factory():
            continue
        written[field.name] = _plain(held)
    return written


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Place):
        return [value.line, value.column]
    if isinstance(value, Signature):
        return {**_write(value), "patterns": [pattern.id for pattern in value.patterns]}
    if dataclasses.is_dataclass(value):
        return _write(value)
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return value


# --- reading ---------------------------------------------------------------------------------------------------------


def _read(kind: type[Any], data: Json) -> Any:
    """Return a dataclass whose fields need no reader of their own."""
    return kind(**{name: tuple(held) if type(held) is list else held for name, held in data.items()})


def _read_problem(data: Json) -> Problem:
    place = data.pop("place")
    return Problem(place=Place(*place) if place else None, **data)


def _read_fix(data: Json) -> Fix:
    if "run" in data:
        data["run"] = tuple(data["run"])
    if "verify" in data:
        data["verify"] = Verify(**data["verify"])
    return Fix(**data)


def _read_reach(data: Json) -> Reach:
    return Reach(**{name: Instant(**held) for name, held in data.items()})


class _PackReader:
    """Reads rules; knows the pack's patterns, and the path of the rule at hand for its places."""

    def __init__(self, patterns: tuple[Pattern, ...]) -> None:
        self._patterns = patterns
        self._path = ""
        condition = self._condition
        self._of_condition: dict[str, _Reader] = {
            "op": Op,
            "children": _many(condition),
            "within": lambda held: Window(**held),
            "reach": _read_reach,
            "unless": condition,
            "given": condition,
            "relevant": condition,
            "place": self._place,
        }
        self._of_example: dict[str, _Reader] = {"confidence": Confidence, "also": tuple, "place": self._place}
        self._of_rule: dict[str, _Reader] = {
            "severity": Severity,
            "confidence": Confidence,
            "kind": Kind,
            "status": Status,
            "signatures": lambda held: {name: self._signature(each) for name, each in held.items()},
            "condition": condition,
            "lookup": _many(lambda held: Lookup(**held)),
            "fixes": _many(_read_fix),
            "examples": _many(lambda held: Example(**_apply(self._of_example, held))),
        }

    def rule(self, data: Json) -> Rule:
        self._path = data["path"]
        return Rule(**_apply(self._of_rule, data))

    def _place(self, held: list[int]) -> Place:
        return Place(self._path, held[0], held[1])

    def _condition(self, data: Json) -> Condition:
        return Condition(**_apply(self._of_condition, data))

    def _signature(self, data: Json) -> Signature:
        data["patterns"] = tuple([self._patterns[id] for id in data["patterns"]])
        if "applies_to" in data:
            data["applies_to"] = tuple(data["applies_to"])
        if "place" in data:
            data["place"] = self._place(data["place"])
        return Signature(**data)


def _many(reader: _Reader) -> _Reader:
    return lambda held: tuple([reader(each) for each in held])


def _apply(readers: Mapping[str, _Reader], data: Json) -> Json:
    """Return the fields with each one read; a list without a reader is a tuple of plain values."""
    return {
        name: readers[name](held) if name in readers else tuple(held) if type(held) is list else held
        for name, held in data.items()
    }
