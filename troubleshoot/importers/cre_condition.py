"""The `rule` part of a CRE rule -> signatures and a condition.

A `set` becomes `all`, a `sequence` `in_order`, `window` `within`, `count` `at_least`, `negate` `unless`. A term that is
named is looked up among the file's `terms`; a term that is a set or a sequence itself becomes a condition within the
condition. Equal patterns of a rule become one signature.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from troubleshoot.importers.foreign import CannotImportError, Document, signature_name
from troubleshoot.importers.jq import REMARK as JQ_REMARK
from troubleshoot.importers.jq import condition_from_jq
from troubleshoot.importers.regexes import over_entry, translate
from troubleshoot.rulepack.text import TextError, escape, regex_from_text

_DURATION = re.compile(r"([+-]?)((?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+")
_PART = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_HOSTS = frozenset({"hostname", "host", "node", "node_name", "machine_id"})
_DEPTH = 8  # of sets within sets; terms that name one another in a circle end there
Written = Any


class ConditionMaker:
    """Makes the condition of one rule and gathers its signatures, remarks and event sources."""

    def __init__(self, terms: Mapping[str, Any]) -> None:
        self._terms = terms
        self._signatures: dict[str, Document] = {}
        self.remarks: list[str] = []
        self.sources: list[str] = []

    def signatures(self) -> Document:
        """Return the `signatures:` value: of a rule with just one, the signature itself."""
        if len(self._signatures) == 1:
            return next(iter(self._signatures.values()))
        return self._signatures

    def condition(self, rule: Mapping[str, Any]) -> Written:
        """Return the `condition:` value; None where the only signature says it all. Raises CannotImportError."""
        if rule.get("sequence") and rule.get("set"):
            self.remarks.append("it has a sequence and a set; the set is left aside, as prequel does")
        kind = "sequence" if rule.get("sequence") else "set"
        if not isinstance(rule.get(kind), dict):
            raise CannotImportError("it has neither `sequence` nor `set`")
        made = self._group(kind, rule[kind], 0)
        if isinstance(made, str):
            return made if len(self._signatures) > 1 else None
        if len(self._signatures) == 1:  # an only signature is called `line`
            name = next(iter(self._signatures))
            return _renamed(made, name, "line")
        return made

    def _group(self, kind: str, group: Mapping[str, Any], depth: int) -> Written:
        if depth > _DEPTH:
            raise CannotImportError("its terms name one another too deep")
        source = _get(group.get("event"), "source")
        if source:
            self.sources.append(str(source))
        key = "order" if kind == "sequence" else "match"
        written = group.get(key)
        if not isinstance(written, list) or not written:
            raise CannotImportError(f"a {kind} without `{key}`")
        resolved = [self._resolve(each) for each in written]
        counts = [max(int(each.get("count") or 1), 1) for each in resolved]
        # of what is counted, each line counts: over an entry one match could take several
        terms = [self._term(each, depth, spans=n == 1) for each, n in zip(resolved, counts, strict=True)]
        parts = _merged(list(zip(terms, counts, strict=True)))
        if kind == "set":
            parts = _united(parts)
        legs = [part if count == 1 else {"at_least": {"n": count, "of": part}} for part, count in parts]
        modifiers = self._modifiers(group, bool(source), len(legs) > 1 or parts[0][1] > 1)
        unless = [self._veto(self._resolve(each), depth, sum(counts)) for each in _list(group.get("negate"))]
        if unless:
            modifiers["unless"] = unless
        if len(legs) == 1:
            return _with_modifiers(legs[0], modifiers)
        return {"in_order" if kind == "sequence" else "all": legs, **modifiers}

    def _modifiers(self, group: Mapping[str, Any], has_source: bool, spans: bool) -> Document:
        modifiers: Document = {}
        correlations = [str(each) for each in _list(group.get("correlations"))]
        if correlations:
            by_host = all(each.lower() in _HOSTS for each in correlations)
            modifiers["same"] = "host" if by_host else "source"
            if not by_host:
                told = ", ".join(correlations)
                self.remarks.append(f"correlations ({told}) become `same: source`: one log stands for one of each")
        elif (has_source and spans) or group.get("negate"):
            modifiers["same"] = "source"  # prequel matches each log by itself
        if group.get("window"):
            seconds = _seconds(str(group["window"]))
            if spans:
                modifiers["within"] = _words(seconds)
        return modifiers

    def _resolve(self, term: Any) -> Mapping[str, Any]:
        """Return a term as a mapping, looked up where it names one; its own options stand over those found."""
        given = {"value": term} if isinstance(term, str | int | float) else term
        if not isinstance(given, dict):
            raise CannotImportError("a term that is neither text nor a mapping")
        name = given.get("value")
        if not isinstance(name, str) or name not in self._terms:
            return given
        found = self._terms[name]
        found = {"value": found} if isinstance(found, str) else dict(found)
        return {**found, **{key: value for key, value in given.items() if key != "value"}}

    def _term(self, term: Mapping[str, Any], depth: int, *, spans: bool = True) -> Written:
        for kind in ("sequence", "set"):
            if isinstance(term.get(kind), dict):
                return self._group(kind, term[kind], depth + 1)
        if term.get("promql"):
            raise CannotImportError("promql asks for metrics, and this reads logs")
        if term.get("extract"):
            self.remarks.append("`extract` is not taken over")
        if term.get("field"):
            self.remarks.append("`field` is not asked for, as in prequel's own reader of logs")
        given = [key for key in ("value", "regex", "jq") if term.get(key) not in (None, "")]
        if len(given) != 1:
            raise CannotImportError(f"a term with {' and '.join(given) or 'no value, regex or jq'}")
        text = str(term[given[0]])
        if given[0] == "jq":
            self.remarks.append(JQ_REMARK)
            return condition_from_jq(text, lambda hint, pattern: self._add(hint, _over_entry(pattern, True)))
        return self._add(text, _value(text) if given[0] == "value" else _regex(text, spans))

    def _add(self, hint: str, signature: Document) -> str:
        signature = {**signature, "advice": True}  # prequel knows of no advice and of no quoted code
        for name, known in self._signatures.items():
            if known == signature:
                return name
        name = signature_name(hint, self._signatures)
        self._signatures[name] = signature
        return name

    def _veto(self, term: Mapping[str, Any], depth: int, events: int) -> Document:
        if int(term.get("anchor") or 0) >= events:
            raise CannotImportError(f"an anchor of {term['anchor']} with {events} event{'s' * (events != 1)}")
        made = self._term(term, depth, spans=False)
        veto = {"any": [made]} if isinstance(made, str) or _has_modifiers(made) else dict(made)
        event = f"event {int(term.get('anchor') or 0) + 1}" if term.get("anchor") else "first"
        slide = _seconds(str(term["slide"])) if term.get("slide") else 0.0
        window = _seconds(str(term["window"])) if term.get("window") else 0.0
        since = event + _shift(slide)
        if term.get("absolute"):
            until = event + _shift(slide + max(window, 0.0))
        elif event == "first":
            until = "last" + _shift(slide + window)
        else:
            until = event + " + span" + _shift(slide + window)
        return {**veto, "since": since, "until": until}


def _merged(parts: list[tuple[Written, int]]) -> list[tuple[Written, int]]:
    """Return the parts with equal neighbours counted as one: what prequel does with the steps of a sequence."""
    merged: list[tuple[Written, int]] = []
    for part, count in parts:
        if merged and merged[-1][0] == part:
            merged[-1] = (part, merged[-1][1] + count)
        else:
            merged.append((part, count))
    return merged


def _united(parts: list[tuple[Written, int]]) -> list[tuple[Written, int]]:
    """Return the parts with equal ones counted as one, wherever they stand."""
    united: list[tuple[Written, int]] = []
    for part, count in parts:
        at = next((index for index, (known, _) in enumerate(united) if known == part), None)
        if at is None:
            united.append((part, count))
        else:
            united[at] = (part, united[at][1] + count)
    return united


def _with_modifiers(leg: Written, modifiers: Document) -> Written:
    if not modifiers:
        return leg
    if isinstance(leg, str) or _has_modifiers(leg):
        return {"any": [leg], **modifiers}
    return {**leg, **modifiers}


def _has_modifiers(leg: Written) -> bool:
    return isinstance(leg, dict) and bool({"same", "within", "where", "unless"} & leg.keys())


def _renamed(made: Written, old: str, new: str) -> Written:
    if isinstance(made, dict):
        return {
            key: value if key in ("same", "within", "where", "since", "until") else _renamed(value, old, new)
            for key, value in made.items()
        }
    if isinstance(made, list):
        return [_renamed(each, old, new) for each in made]
    return new if made == old else made


def _value(text: str) -> Document:
    """Return the signature of a plain text: `text` where that finds all that the plain text is in."""
    plain = text.strip()
    written = plain.replace("{", "{{").replace("}", "}}")
    is_plain = plain.isprintable() and plain and not (plain[0].isdigit() or plain[-1].isdigit())
    if is_plain and plain[0] not in ":" and plain[-1] not in ":":
        try:
            regex_from_text(written, exact_case=True)
        except TextError:
            pass
        else:
            return {"text": written, "exact_case": True}
    if not text:
        raise CannotImportError("a value without text")
    return {"regex": escape(text), "exact_case": True}


def _regex(pattern: str, spans: bool) -> Document:
    translated = translate(pattern)
    if spans:
        return _over_entry(translated.regex, translated.exact_case)
    signature: Document = {"regex": translated.regex}
    if translated.exact_case:
        signature["exact_case"] = True
    return signature


def _over_entry(pattern: str, exact_case: bool) -> Document:
    """Return the signature of a pattern that may go on over the lines of an entry, which prequel joins."""
    spanning = over_entry(pattern)
    signature: Document = {"regex": spanning or pattern}
    if exact_case:
        signature["exact_case"] = True
    if spanning:
        signature["entry"] = True
    return signature


def _seconds(text: str) -> float:
    """Return a duration as Go writes it: `30s`, `1m30s`, `-5s`."""
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise CannotImportError(f"`{text}` is no duration")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    return -seconds if found[1] == "-" else seconds


def _words(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 60 and seconds % 60 == 0 else f"{seconds:g} s"


def _shift(seconds: float) -> str:
    return f" {'+' if seconds > 0 else '-'} {abs(seconds):g} s" if seconds else ""


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
