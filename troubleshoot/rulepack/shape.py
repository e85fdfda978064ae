"""Checks a document against the models of `fields.py` and tells every misfit in an author's words.

    signatures: {oom: {txet: out of memory}}
    ->  error[R002]: unknown key `txet`     at the key, help: did you mean `text`?

Nothing of pydantic's own wording reaches the author: each kind of error has its words here.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from troubleshoot.errors import Problem
from troubleshoot.rulepack import fields, pack_fields, translation_fields
from troubleshoot.rulepack.positions import Document, Path, text_of

_MODEL_OF: dict[str, type[BaseModel]] = {
    "a rule": fields.RuleFields,
    "a signature": fields.SignatureFields,
    "a condition": fields.ConditionFields,
    "`at_least`": fields.AtLeastFields,
    "a lookup": fields.LookupFields,
    "a fix": fields.FixFields,
    "`verify`": fields.VerifyFields,
    "an example": fields.ExampleFields,
    "a table": pack_fields.TableFields,
    "a pack": pack_fields.PackFields,
    "an override": pack_fields.OverrideFields,
    "a translation": translation_fields.TranslationFields,
    "a translated fix": translation_fields.FixTranslationFields,
}
_OTHER_FILES = ("a table", "a pack", "an override", "a translation", "a translated fix")
_KEYS_OF: dict[str, tuple[str, ...]] = {name: tuple(model.model_fields) for name, model in _MODEL_OF.items()}


def check_shape(
    document: Document, model: type[BaseModel], owner: str = "a rule"
) -> tuple[BaseModel | None, set[Path]]:
    """Validate the document's data; return the model (None if it does not fit) and the paths of all misfits.

    A problem for each misfit is added to the document. `owner` says what the document is.
    """
    try:
        return model.model_validate(document.data), set()
    except ValidationError as error:
        errors = [(_path(each["loc"]), each) for each in error.errors(include_url=False, include_input=True)]
        misspelt = [path for path, each in errors if each["type"] == "extra_forbidden"]
        for path, each in errors:
            if each["type"] != "missing" or not any(may_mean(given, path) for given in misspelt):
                document.problems.append(_problem(document, path, each, owner))
        return None, {path for path, _each in errors}


def prune(data: Any, bad: set[Path], path: Path = ()) -> Any:
    """Return a copy of the data without its misfits; an item of a list leaves None in its place."""
    if path in bad:
        return None
    if isinstance(data, dict):
        return {key: prune(value, bad, (*path, key)) for key, value in data.items() if (*path, key) not in bad}
    if isinstance(data, list):
        return [prune(value, bad, (*path, index)) for index, value in enumerate(data)]
    return data


def may_mean(given: Path, wanted: Path) -> bool:
    """Say whether an unknown key is the missing one, misspelt: one problem, not two."""
    return given[:-1] == wanted[:-1] and bool(difflib.get_close_matches(str(given[-1]), [str(wanted[-1])], n=1))


def touches(bad: Iterable[Path], path: Path) -> bool:
    """Say whether a misfit stands at or below `path`."""
    return any(each[: len(path)] == path for each in bad)


def did_you_mean(word: str, known: Iterable[str], what: str = "") -> str:
    """Return the help for a misspelt name: the nearest known one, or all of them where they are few."""
    known = list(known)
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if near:
        return f"did you mean `{near[0]}`?"
    if not known:
        return f"there is no {what} at all" if what else ""
    listed = ", ".join(known[:12]) + (", ..." if len(known) > 12 else "")
    return f"known: {listed}"


def _path(location: tuple[str | int, ...]) -> Path:
    return tuple(each for each in location if not (isinstance(each, str) and each.startswith(fields.TAG)))


def _owner(path: Path, model_name: str) -> str:
    """Name the thing whose key is the last element of `path`."""
    above = path[:-1]
    if model_name == "a translation" and above:
        return "a translated fix" if above[0] == "fixes" else model_name
    if not above or model_name in _OTHER_FILES:
        return model_name
    if "at_least" in above and above[-1] == "at_least":
        return "`at_least`"
    if above[-1] == "verify":
        return "`verify`"
    return {
        "signatures": "a signature",
        "signature": "a signature",
        "condition": "a condition",
        "fixes": "a fix",
        "lookup": "a lookup",
        "examples": "an example",
    }.get(str(above[0]) if model_name == "a rule" else "signature", model_name)


def _problem(document: Document, path: Path, error: Mapping[str, Any], owner: str) -> Problem:
    kind = str(error["type"])
    last = path[-1] if path else ""
    name = f"`{last}`" if isinstance(last, str) else f"item {last + 1} of `{next_name(path)}`"
    if kind == "extra_forbidden":
        return document.problem("R002", f"unknown key {name}", document.place(path, key=True), _key_help(path, owner))
    if kind == "missing":
        return document.problem(
            "R003", f"missing key {name}", document.place(path[:-1], key=True), _missing_help(path, owner)
        )
    place = document.place(path)
    value = error.get("input")
    if value is None:
        return document.problem("R004", f"{name} has no value", place, f"give it one or remove it; {_expected(error)}")
    text, help = _wrong_value(name, value, error)
    return document.problem("R004", text, place, help)


def next_name(path: Path) -> str:
    return next((each for each in reversed(path) if isinstance(each, str)), "")


def _key_help(path: Path, of: str) -> str:
    key, owner = str(path[-1]), _owner(path, of)
    if key == "<<":
        return "merge keys are not read: write the keys out"
    known = _KEYS_OF[owner]
    elsewhere = [name for name, keys in _KEYS_OF.items() if key in keys and name not in _OTHER_FILES]
    if elsewhere and owner not in _OTHER_FILES:
        return f"`{key}` is a key of {' and of '.join(elsewhere)}, and this is {owner}"
    if difflib.get_close_matches(key, known, n=1, cutoff=0.6):
        return did_you_mean(key, known)
    return f"the keys of {owner} are {', '.join(known)}"


def _missing_help(path: Path, of: str) -> str:
    owner = _owner(path, of)
    return meaning_of(_MODEL_OF[owner], str(path[-1])) or f"{owner} needs `{path[-1]}`"


def meaning_of(model: type[BaseModel], key: str) -> str:
    """Return what a key is for, as a help line says it; empty where nothing is written down."""
    field = model.model_fields.get(key)
    text = (field.description or "") if field is not None else ""
    return (text[:1].lower() + text[1:]).rstrip(".")


_KINDS: tuple[tuple[type, str], ...] = ((str, "text"), (list, "a list"), (dict, "a mapping"))


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return f"`{text_of(value)}`"
    if isinstance(value, (int, float)):
        return f"the number {text_of(value)}"
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "something else")


def _expected(error: Mapping[str, Any]) -> str:
    kind = str(error["type"])
    plain = {
        "string_type": "text",
        "list_type": "a list",
        "dict_type": "a mapping",
        "model_type": "a mapping",
        "bool_type": "`true` or `false`",
        "int_type": "a whole number",
        "literal_error": "one of " + str(error.get("ctx", {}).get("expected", "")),
        "shape": str(error["msg"]),
    }
    return f"it takes {plain.get(kind, 'another value')}"


def _wrong_value(name: str, value: Any, error: Mapping[str, Any]) -> tuple[str, str]:
    handler = _WORDS.get(str(error["type"]))
    if handler is not None:
        return handler(name, value, error)
    message = str(error["msg"])
    return f"{name}: {message[0].lower()}{message[1:]}", ""


def _not_text(name: str, value: Any, error: Mapping[str, Any]) -> tuple[str, str]:
    if name == "`within`":
        return f"{name} is {_kind_of(value)}", "say of what: `30 s`, `5 min` or `20 records`"
    if isinstance(value, (bool, int, float)):
        return f"{name} is {_kind_of(value)}, and must be text", f"put it in quotes: '{text_of(value)}'"
    if isinstance(value, dict):
        return f"{name} is a mapping, and must be text", "put a text that holds `: ` or `{` in quotes, or below `|`"
    return f"{name} is {_kind_of(value)}, and must be text", "write one text"


def _not_shape(name: str, value: Any, error: Mapping[str, Any]) -> tuple[str, str]:
    if isinstance(value, (bool, int, float)):
        return f"{name} is {_kind_of(value)}", f"it takes {error['msg']}; put text in quotes: '{text_of(value)}'"
    return f"{name} is {_kind_of(value)}", f"it takes {error['msg']}"


def _not_listed(name: str, value: Any, error: Mapping[str, Any]) -> tuple[str, str]:
    expected = str(error.get("ctx", {}).get("expected", "")).replace("'", "").replace(" or ", ", ").split(", ")
    return f"{name} cannot be `{text_of(value)}`", did_you_mean(str(text_of(value)), expected)


def _wrong_kind(name: str, value: Any, error: Mapping[str, Any]) -> tuple[str, str]:
    help = _expected(error)
    if error["type"] == "list_type" and isinstance(value, (str, dict)):
        help += ": begin each item with `- `"
    return f"{name} is {_kind_of(value)}", help


def _too_small(name: str, value: Any, error: Mapping[str, Any]) -> tuple[str, str]:
    return f"{name} is {text_of(value)}", f"it takes {error['ctx']['ge']} or more"


def _too_large(name: str, value: Any, error: Mapping[str, Any]) -> tuple[str, str]:
    return f"{name} is {text_of(value)}", f"it takes {error['ctx']['le']} or less"


def _empty(name: str, value: Any, error: Mapping[str, Any]) -> tuple[str, str]:
    return f"{name} is empty", "give it a value or remove it"


_WORDS: dict[str, Callable[[str, Any, Mapping[str, Any]], tuple[str, str]]] = {
    "string_type": _not_text,
    "shape": _not_shape,
    "literal_error": _not_listed,
    "list_type": _wrong_kind,
    "dict_type": _wrong_kind,
    "model_type": _wrong_kind,
    "bool_type": _wrong_kind,
    "int_type": _wrong_kind,
    "greater_than_equal": _too_small,
    "less_than_equal": _too_large,
    "string_too_short": _empty,
    "too_short": _empty,
}
