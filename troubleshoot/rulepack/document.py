"""A rule as plain values for other programs: the rule language's own keys, every short form written out.

signatures: out of memory
->  "signatures": {"line": {"wordings": [{"text": "out of memory", "pattern": ..., "captures": []}]}}
"""

from __future__ import annotations

from typing import Any

from troubleshoot.model import Condition, Example, Fix, Op, Pattern, Rule, Signature, Window
from troubleshoot.reach import instant_words

Json = dict[str, Any]


def rule_document(rule: Rule) -> Json:
    """Return a rule as JSON values, keys in the order of the rule language, `id` and `path` before them."""
    return {
        "id": rule.id,
        "path": rule.path,
        "pack": rule.pack or None,
        "title": rule.title,
        "kind": rule.kind.value,
        "severity": rule.severity.word,
        "confidence": rule.confidence.word,
        "status": rule.status.value,
        "since": rule.since or None,
        "symptom": rule.symptom,
        "generic": rule.generic,
        "systems": list(rule.systems),
        "tags": list(rule.tags),
        "signatures": {name: _signature(signature) for name, signature in rule.signatures.items()},
        "condition": condition_document(rule.condition),
        "supports": list(rule.supports),
        "contradicts": list(rule.contradicts),
        "lookup": {
            each.name: {"table": each.table, "key": each.key, "column": each.column, "default": each.default}
            for each in rule.lookup
        },
        "explanation": rule.explanation,
        "fixes": [_fix(fix) for fix in rule.fixes],
        "owner": rule.owner,
        "retry": rule.retry,
        "causes": list(rule.causes),
        "fingerprint": list(rule.fingerprint),
        "references": list(rule.references),
        "examples": [_example(example) for example in rule.examples],
    }


def condition_document(condition: Condition) -> Json | str:
    """Return a condition as it would be written: a signature's name, or a mapping of one operator and its modifiers."""
    if condition.op is Op.SIGNATURE:
        return condition.signature or ""
    children = [condition_document(child) for child in condition.children]
    document: Json = {condition.op.value: children}
    if condition.op is Op.AT_LEAST:
        of = children[0] if len(children) == 1 else children
        document = {"at_least": {"n": condition.n, "of": of}}
        if condition.distinct:
            document["at_least"]["distinct"] = condition.distinct
    for key, value in (("same", condition.same), ("where", condition.where), ("next", condition.next_step)):
        if value is not None:
            document[key] = value
    if condition.within is not None:
        document["within"] = window_words(condition.within)
    if condition.reach is not None:
        document["since"] = instant_words(condition.reach.since)
        document["until"] = instant_words(condition.reach.until)
    for key, nested in (
        ("unless", condition.unless),
        ("given", condition.given),
        ("relevant", condition.relevant),
    ):
        if nested is not None:
            document[key] = condition_document(nested)
    return document


def window_words(window: Window) -> str:
    """Return a window as it would be written."""
    return f"{window.records} records" if window.records is not None else f"{window.seconds:g} s"


def _signature(signature: Signature) -> Json:
    document: Json = {"wordings": [_pattern(pattern) for pattern in signature.patterns]}
    if signature.applies_to:
        document["applies_to"] = list(signature.applies_to)
    if signature.shared:
        document["use"] = signature.shared
    return document


def _pattern(pattern: Pattern) -> Json:
    document: Json = {pattern.kind: pattern.source, "pattern": pattern.regex, "captures": list(pattern.holes)}
    options = {
        "exact_case": pattern.exact_case,
        "lines": pattern.lines if pattern.lines > 1 else None,
        "entry": pattern.entry,
        "slow": pattern.slow,
        "advice": pattern.advice,
    }
    return {**document, **{key: value for key, value in options.items() if value}}


def _fix(fix: Fix) -> Json:
    return {
        "title": fix.title,
        "do": fix.do,
        "run": list(fix.run),
        "variants": dict(fix.variants),
        "safe": fix.safe,
        "verify": {"run": fix.verify.run, "expect": fix.verify.expect} if fix.verify is not None else None,
    }


def _example(example: Example) -> Json:
    return {
        "expect": example.expect,
        "files": dict(example.files),
        "captures": dict(example.captures),
        "confidence": example.confidence.word if example.confidence is not None else None,
        "also": list(example.also),
        "why": example.why,
    }
