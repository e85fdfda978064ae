"""Expressions that are compiled when first used."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import re

import pytest

import troubleshoot
from troubleshoot import late


def test_an_expression_does_what_the_compiled_one_does() -> None:
    word = late.compile(r"(?P<first>\w)\w*", re.IGNORECASE)
    assert word.sub(r"\g<first>", "abc def") == "a d"
    assert [each[0] for each in word.finditer("abc def")] == ["abc", "def"]
    assert word.sub("x", "abc def") == "x x"
    assert word.pattern == r"(?P<first>\w)\w*"
    assert late.compile(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_an_expression_that_is_not_used_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    compile_ = re.compile

    def watched(pattern: str, flags: int = 0) -> re.Pattern[str]:
        asked.append(pattern)
        return compile_(pattern, flags)

    monkeypatch.setattr(re, "compile", watched)
    one, other = late.compile("a"), late.compile("b")
    assert one.search("a") and one.search("a")
    assert asked == ["a"]
    assert other.search("b")
    assert asked == ["a", "b"]


def test_an_expression_goes_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(late.compile("a+"))).match("aa")[0] == "aa"


def test_every_expression_of_the_package_compiles() -> None:
    """What `re.compile` would have told at import."""
    late_type = type(late.compile(""))
    seen = 0
    for info in pkgutil.walk_packages(troubleshoot.__path__, "troubleshoot."):
        if info.name.endswith("__main__"):
            continue
        try:
            module = importlib.import_module(info.name)
        except ImportError:
            continue  # an extra that is not installed
        for value in _within(vars(module).values()):
            if isinstance(value, late_type):
                assert value.pattern is not None
                seen += 1
    assert seen > 200


def _within(values: object, depth: int = 4) -> list[object]:
    """Return the values, and those in their tuples, lists and dicts, and those that their fields hold."""
    found: list[object] = []
    for value in values:  # type: ignore[attr-defined]
        found.append(value)
        if depth and isinstance(value, tuple | list):
            found += _within(value, depth - 1)
        elif depth and isinstance(value, dict):
            found += _within(value.values(), depth - 1)
        elif depth and hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
            found += _within([getattr(value, name) for name in value.__dataclass_fields__], depth - 1)
    return found
