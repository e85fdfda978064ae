"""Conditions as written -> `Condition` trees, or problems.

    {all: [too_old, {none: [efa_mount]}], within: 20 records}
    ->  ALL(within 20 records) over SIGNATURE(too_old), NONE over SIGNATURE(efa_mount)

A name alone is a leaf. Where one condition is asked for and a list is given, the list means: each (`given`), or one of
them (`relevant`, `unless`). Only what stands in `unless` may say from when to when it counts (`since`, `until`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from troubleshoot import late
from troubleshoot.model import Condition, Op, Reach, Signature, Window
from troubleshoot.reach import HELP as INSTANT_HELP
from troubleshoot.reach import SECONDS, parse_instant
from troubleshoot.rulepack.positions import Document, Path
from troubleshoot.rulepack.shape import did_you_mean, may_mean
from troubleshoot.where import WhereError, parse_where

OPERATORS = {op.value: op for op in Op if op is not Op.SIGNATURE}
SCOPES = ("record", "source", "rank", "host", "job")
COUNTED = ("rank", "host", "source")  # what `distinct` can count besides captures
ALWAYS_KNOWN = ("count",)  # what `where` can name besides captures
_ONLY_MISSING = ("given", "relevant", "next")
_LIST_MEANS = {"given": Op.ALL, "relevant": Op.ANY, "unless": Op.ANY}
_WINDOW = late.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)")


class ConditionBuilder:
    """Builds the condition of one rule and tells its document what is wrong with it.

    `named` are all signatures that the rule names, `captures` what they and the rule's lookups capture. Where some
    signature did not load, `captures` is not all, and unknown captures are let pass. `bad`: misfits told already.
    """

    def __init__(
        self,
        document: Document,
        named: Iterable[str],
        built: Mapping[str, Signature],
        lookups: Iterable[str],
        bad: Collection[Path] = (),
    ) -> None:
        self._document = document
        self._bad = bad
        self._named = tuple(named)
        holes = {hole for signature in built.values() for pattern in signature.patterns for hole in pattern.holes}
        self._captures = tuple(sorted({*holes, *lookups}))
        self._all_built = set(self._named) == set(built)

    def build(self, value: Any, path: Path) -> Condition:
        """Return the condition; a part that is wrong is told of, and stands in it as far as it goes."""
        if value is None:  # a part that was told of already
            return Condition(op=Op.ALL)
        if isinstance(value, str):
            return self._leaf(value, path)
        operators = [key for key in OPERATORS if value.get(key) is not None]
        if len(operators) != 1:
            return self._no_operator(value, operators, path)
        key = operators[0]
        at_least: Mapping[str, Any] = value[key] if key == "at_least" else {}
        children_at = (*path, key, "of") if at_least else (*path, key)
        children = self._children(at_least.get("of") if at_least else value[key], children_at)
        self._check_operator(key, value, children, path)
        return Condition(
            op=OPERATORS[key],
            children=children,
            n=int(at_least.get("n", 1)),
            distinct=self._capture(at_least.get("distinct"), (*path, key, "distinct"), COUNTED),
            same=self._capture(value.get("same"), (*path, "same"), SCOPES),
            within=self._window(value.get("within"), (*path, "within")),
            where=self._where(value.get("where"), (*path, "where")),
            unless=self._one("unless", value, path),
            given=self._one("given", value, path),
            relevant=self._one("relevant", value, path),
            next_step=value.get("next"),
            place=self._document.place((*path, key), key=True),
            reach=self._reach(value, path),
        )

    def check_names(self, names: Iterable[str], path: Path, *, listed: bool) -> None:
        """Tell of every name that is no signature (`supports`, `contradicts`)."""
        for index, name in enumerate(names):
            self._leaf(name, (*path, index) if listed else path)

    def check_captures(self, names: Iterable[str], path: Path, *, listed: bool) -> None:
        """Tell of every name that is no capture (`fingerprint`, a lookup's key)."""
        for index, name in enumerate(names):
            self._capture(name, (*path, index) if listed else path, ())

    def _refuse(self, code: str, text: str, path: Path, help: str, *, key: bool = False) -> None:
        self._document.problems.append(self._document.problem(code, text, self._document.place(path, key=key), help))

    def _leaf(self, name: str, path: Path) -> Condition:
        if name not in self._named:
            self._refuse("R006", f"no signature `{name}`", path, did_you_mean(name, self._named, "signature"))
        return Condition(op=Op.SIGNATURE, signature=name, place=self._document.place(path))

    def _no_operator(self, value: Mapping[str, Any], operators: list[str], path: Path) -> Condition:
        if operators:
            both = " and ".join(f"`{key}`" for key in operators)
            help = f"nest them: all: [{{{operators[0]}: ...}}, {{{operators[1]}: ...}}]"
            self._refuse("R011", f"{both} in one condition", (*path, operators[1]), help, key=True)
        elif not self._has_told(path):
            keys = ", ".join(OPERATORS)
            self._refuse("R011", "a condition without an operator", path, f"add one of {keys}", key=True)
        for key in (*operators, *_LIST_MEANS):
            if key != "at_least" and value.get(key) is not None:
                self._children(value[key], (*path, key))
        return Condition(op=Op.ALL)

    def _has_told(self, path: Path) -> bool:
        """Say whether a key of this condition was refused: an operator that is misspelt, or has no value."""
        return any(may_mean(bad, (*path, operator)) for bad in self._bad if bad for operator in OPERATORS)

    def _children(self, value: Any, path: Path) -> tuple[Condition, ...]:
        if isinstance(value, list):
            return tuple(self.build(each, (*path, index)) for index, each in enumerate(value))
        return (self.build(value, path),)

    def _one(self, key: str, value: Mapping[str, Any], path: Path) -> Condition | None:
        if value.get(key) is None:
            return None
        children = self._children(value[key], (*path, key))
        if len(children) == 1:
            return children[0]
        return Condition(op=_LIST_MEANS[key], children=children, place=self._document.place((*path, key), key=True))

    def _check_operator(self, key: str, value: Mapping[str, Any], children: tuple[Condition, ...], path: Path) -> None:
        if key == "missing":
            if value.get("given") is None:
                help = "name the signatures that show that the line could have been there"
                self._refuse("R015", "`missing` without `given`", (*path, "missing"), help, key=True)
        else:
            for modifier in _ONLY_MISSING:
                if value.get(modifier) is not None:
                    text, help = f"`{modifier}` without `missing`", "it belongs to a condition with `missing`"
                    self._refuse("R011", text, (*path, modifier), help, key=True)
        if key == "in_order" and len(children) < 2:
            self._refuse("R011", "`in_order` of one", (*path, key), "list two conditions or more", key=True)
        if key == "at_least" and len(children) > 1:
            if value[key].get("distinct") is not None:
                help = "give `of` one signature; put wordings of one thing under one name"
                self._refuse("R011", "`distinct` over a list", (*path, key, "distinct"), help, key=True)
            elif value[key].get("n", 1) > len(children):
                text = f"at least {value[key]['n']} of {len(children)} can never hold"
                self._refuse("R011", text, (*path, key, "n"), "lower `n`, or add to the list")

    def _capture(self, name: str | None, path: Path, besides: tuple[str, ...]) -> str | None:
        if name is not None and name not in besides and name not in self._captures and self._all_built:
            self._refuse(
                "R018", f"no capture `{name}`", path, did_you_mean(name, (*besides, *self._captures), "capture")
            )
        return name

    def _window(self, text: str | None, path: Path) -> Window | None:
        if text is None:
            return None
        match = _WINDOW.fullmatch(text.strip())
        unit = match[2].lower() if match is not None else ""
        if match is not None and unit in ("record", "records", "line", "lines") and match[1].isdigit():
            return Window(records=int(match[1]))
        if match is not None and unit in SECONDS:
            return Window(seconds=float(match[1]) * SECONDS[unit])
        self._refuse("R011", f"no span of time or records: `{text}`", path, "write `30 s`, `5 min` or `20 records`")
        return None

    def _reach(self, value: Mapping[str, Any], path: Path) -> Reach | None:
        given = [key for key in ("since", "until") if value.get(key) is not None]
        if not given:
            return None
        if path[-1] != "unless" and path[-2:-1] != ("unless",):
            help = "it says when a veto counts: write it in a condition below `unless`"
            self._refuse("R011", f"`{given[0]}` outside `unless`", (*path, given[0]), help, key=True)
            return None
        reach = Reach()
        for key in given:
            instant = parse_instant(value[key])
            if instant is None:
                self._refuse("R011", f"no moment: `{value[key]}`", (*path, key), INSTANT_HELP)
            else:
                reach = replace(reach, **{key: instant})
        return reach

    def _where(self, text: str | None, path: Path) -> str | None:
        if text is None:
            return None
        try:
            names = parse_where(text).names()
        except WhereError as error:
            place = self._document.place_within(path, error.column - 1)
            self._document.problems.append(self._document.problem("R010", error.text, place, error.help))
            return text
        known = (*self._captures, *ALWAYS_KNOWN)
        for name in sorted(names.difference(known) if self._all_built else ()):
            column = re.search(rf"\b{name}\b", text)
            place = self._document.place_within(path, column.start() if column is not None else 0)
            help = did_you_mean(name, known, "capture")
            if not help.endswith("?"):
                help += f"; put a text in quotes: '{name}'"
            self._document.problems.append(self._document.problem("R010", f"no capture `{name}`", place, help))
        return text
