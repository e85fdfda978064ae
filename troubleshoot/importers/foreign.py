"""What every importer gives: rules of another format as documents of ours, and what could not be taken over.

A document holds the keys of the rule language in their order, without `examples`; `logs` are texts that came with the
rule and say what it must and must not find. A remark says where the imported rule means something else than the one it
was made from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from troubleshoot.rulepack.fields import KEYS

Document = dict[str, Any]

_BRACES = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+")
_RESERVED = frozenset({"text", "regex", "use", "all", "any", "none", "missing"})
_NAME_CHARS = 40


@dataclass(frozen=True, slots=True)
class Log:
    """A text that came with a rule. `expect` is "match" or "no_match"."""

    expect: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ForeignRule:
    """A rule taken over: `origin` is its name over there, `path` the file it stands in."""

    id: str
    origin: str
    path: str
    document: Document
    remarks: tuple[str, ...] = ()
    logs: tuple[Log, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A rule that was not taken over, and why."""

    origin: str
    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """All that a reader found. `differences` hold for every rule of the format."""

    name: str
    title: str
    version: str
    rules: tuple[ForeignRule, ...]
    refused: tuple[Refusal, ...]
    differences: tuple[str, ...]


class CannotImportError(Exception):
    """A part of a rule that has no equal here; the text says which."""


def in_order(document: Mapping[str, Any]) -> Document:
    """Return a document with its keys in the order of the rule language, without those that say nothing."""
    return {key: document[key] for key in KEYS if document.get(key) not in (None, "", [], {}, ())}


def prose(text: Any) -> str:
    """Return a text in which no braces stand for a capture."""
    return _BRACES.sub(r"{{\1}}", str(text or "").strip())


def slug(text: str, default: str = "rule") -> str:
    """Return a part of a rule's id made from a text."""
    return "-".join(re.findall(r"[a-z0-9]+", text.lower())) or default


def signature_name(text: str, taken: Iterable[str]) -> str:
    """Return a name for a signature, made from the words of its text and not taken yet."""
    name = ""
    for word in _WORD.findall(text):
        longer = f"{name}_{word.lower()}" if name else word.lower()
        if len(longer) > _NAME_CHARS or longer.count("_") > 3:
            break
        name = longer
    name = name or "line"
    if name in _RESERVED:
        name += "_line"
    known = set(taken)
    number = 2
    wanted = name
    while name in known:
        name = f"{wanted}_{number}"
        number += 1
    return name
