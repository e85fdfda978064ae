"""Small cases as data: a few rules and lines become a pack and its scan results, without loader or scanner.

A signature is a regex or a list of them. A line of a log may begin with facts that a normaliser would have taken off:
time (`12:00:01`, with `?` where its zone is only assumed), rank (`r3`), host (`@gpu-1`), level (`<info>`), kind of
document (`{env}`), in this order, each followed by one blank.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from troubleshoot.model import (
    Condition,
    Confidence,
    Fix,
    Hit,
    Identity,
    Kind,
    Lookup,
    Op,
    Pattern,
    PatternUse,
    Reach,
    Record,
    Rule,
    RulePack,
    ScanResult,
    Severity,
    Signature,
    Source,
    Stamp,
    Verify,
    Window,
)
from troubleshoot.reach import parse_instant

_FACTS = re.compile(
    r"(?:(?P<time>\d\d:\d\d:\d\d(?:\.\d+)?)(?P<assumed>\?)? )?(?:r(?P<rank>\d+) )?(?:@(?P<host>\S+) )?"
    r"(?:<(?P<level>\w+)> )?(?:\{(?P<document>\w+)\} )?"
)
_MODIFIERS = ("same", "within", "where", "unless")


def build_pack(
    rules: Mapping[str, Mapping[str, Any]],
    tables: Mapping[str, Any] | None = None,
    builtin: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None,
) -> RulePack:
    patterns: list[Pattern] = []
    users: list[tuple[PatternUse, ...]] = []

    def signature(owner: str, name: str, value: Any) -> Signature:
        options = value if isinstance(value, dict) else {"regex": value}
        wordings = options["regex"] if isinstance(options["regex"], list) else [options["regex"]]
        own = []
        for wording in wordings:
            kind = "text" if ":float}" in wording else "regex"
            regex = re.sub(r"\{(\w+):float\}", r"(?P<\1>[0-9.]+)", wording)
            holes = tuple(re.compile(regex).groupindex)
            pattern = Pattern(len(patterns), kind, wording, regex, lines=options.get("lines", 1), holes=holes)
            patterns.append(pattern)
            users.append((PatternUse(owner, name),))
            own.append(pattern)
        applies_to = tuple(options.get("applies_to", ()))
        return Signature(name, tuple(own), applies_to, shared=options.get("shared", ""))

    built = {}
    for rule_id, data in rules.items():
        signatures = {name: signature(rule_id, name, value) for name, value in data["signatures"].items()}
        built[rule_id] = build_rule(rule_id, data, signatures)
    attributes: dict[str, dict[str, dict[str, str]]] = {}
    for group, marks in (builtin or {}).items():
        for name, mark in marks.items():
            signature(f"~{group}", name, mark["signature"])
            attributes.setdefault(group, {})[name] = {k: str(v) for k, v in mark.items() if k != "signature"}
    return RulePack("small", "0", "0", built, tuple(patterns), tuple(users), tables or {}, attributes)


def build_rule(rule_id: str, data: Mapping[str, Any], signatures: Mapping[str, Signature]) -> Rule:
    fixes = tuple(
        Fix(
            fix["title"],
            fix.get("do", ""),
            tuple(fix.get("run", ())),
            fix.get("variants", {}),
            verify=Verify(**fix["verify"]) if "verify" in fix else None,
        )
        for fix in data.get("fixes", ())
    )
    return Rule(
        id=rule_id,
        title=data.get("title", rule_id),
        severity=Severity[data.get("severity", "high").upper()],
        confidence=Confidence[data.get("confidence", "medium").upper()],
        signatures=signatures,
        condition=build_condition(data.get("condition", next(iter(signatures)))),
        kind=Kind(data.get("kind", "fault")),
        symptom=data.get("symptom", False),
        generic=data.get("generic", False),
        tags=tuple(data.get("tags", ())),
        supports=tuple(data.get("supports", ())),
        contradicts=tuple(data.get("contradicts", ())),
        causes=tuple(data.get("causes", ())),
        lookup=tuple(Lookup(name, **fields) for name, fields in data.get("lookup", {}).items()),
        explanation=data.get("explanation", ""),
        fixes=fixes,
        fingerprint=tuple(data.get("fingerprint", ())),
    )


def build_condition(data: Any) -> Condition:
    if isinstance(data, str):
        return Condition(Op.SIGNATURE, signature=data)
    op = next(op for op in Op if op.value in data)
    inner: Any = data[op.value]
    fields: dict[str, Any] = {}
    if op is Op.AT_LEAST:
        fields = {"n": inner["n"], "distinct": inner.get("distinct")}
        inner = inner["of"]
    if op is Op.MISSING:
        given, relevant = data["given"], data.get("relevant")
        fields = {
            "given": build_condition({"all": given} if isinstance(given, list) else given),
            "relevant": build_condition(relevant) if relevant is not None else None,
            "next_step": data.get("next"),
        }
    unknown = set(data) - {op.value, *_MODIFIERS, "given", "relevant", "next", "since", "until"}
    assert not unknown, f"unknown keys {unknown}"
    children = tuple(build_condition(each) for each in (inner if isinstance(inner, list) else [inner]))
    return Condition(
        op,
        children,
        same=data.get("same"),
        within=_window(data.get("within")),
        where=data.get("where"),
        unless=_unless(data["unless"]) if "unless" in data else None,
        reach=_reach(data) if {"since", "until"} & set(data) else None,
        **fields,
    )


def _unless(data: Any) -> Condition:
    return build_condition({"any": data} if isinstance(data, list) else data)


def _reach(data: Mapping[str, Any]) -> Reach:
    instants = {key: parse_instant(data[key]) for key in ("since", "until") if key in data}
    assert all(instants.values()), data
    return Reach(**{key: instant for key, instant in instants.items() if instant is not None})


def _window(text: str | None) -> Window | None:
    if text is None:
        return None
    number, unit = text.split()
    return Window(records=int(number)) if unit.startswith("record") else Window(seconds=float(number))


def scan_plainly(
    pack: RulePack, log: str | Mapping[str, str], saturated: Mapping[str, int] | None = None
) -> list[ScanResult]:
    """Try every pattern on every line. `saturated` gives a true count per signature whose hits were not all kept."""
    texts = {"log": log} if isinstance(log, str) else log
    results = []
    for name, text in texts.items():
        source = Source(name)
        records = [_record(source, number, raw) for number, raw in enumerate(text.splitlines(), 1)]
        hits: list[Hit] = []
        for at, record in enumerate(records):
            for pattern in pack.patterns:
                hits += _hits(pattern, records[at : at + pattern.lines], record)
        counts: dict[int, int] = {}
        for hit in hits:
            counts[hit.pattern] = counts.get(hit.pattern, 0) + 1
        capped = {
            pattern: number
            for pattern, uses in enumerate(pack.users)
            for use in uses
            if (number := (saturated or {}).get(use.signature))
        }
        results.append(ScanResult(source, tuple(hits), counts | capped, frozenset(capped)))
    return results


def _record(source: Source, number: int, raw: str) -> Record:
    facts = _FACTS.match(raw)
    assert facts is not None
    stamp = None
    if facts["time"]:
        time = datetime.fromisoformat(f"2026-11-30T{facts['time']}").replace(tzinfo=UTC)
        resolution_s = 0.001 if "." in facts["time"] else 1.0
        stamp = Stamp(time, "assumed-local" if facts["assumed"] else "explicit", resolution_s)
    identity = Identity(host=facts["host"], rank=int(facts["rank"]) if facts["rank"] else None)
    return Record(
        source,
        number,
        number,
        number * 100,
        raw,
        raw[facts.end() :],
        stamp,
        identity,
        facts["level"],
        facts["document"] or "log",
    )


def _hits(pattern: Pattern, records: Sequence[Record], record: Record) -> list[Hit]:
    text = "\n".join(each.text for each in records)
    found = re.search(pattern.regex, text, re.IGNORECASE | re.MULTILINE)
    if found is None or found.start() > len(records[0].text):
        return []
    extra = text.count("\n", 0, found.end())
    spanned = Record(
        record.source, record.line, record.line + extra, record.offset, record.raw, text if extra else record.text,
        record.stamp, record.identity, record.level, record.document,
    )  # fmt: skip
    captures = {name: value for name, value in found.groupdict().items() if value is not None}
    return [Hit(pattern.id, spanned, captures, found.start(), found.end())]
