"""A rule that held becomes a finding: evidence, captures, confidence, texts.

The fault is dated and placed by its leading signature, since a condition also names lines that are only context (NCCL's
version, an environment). Of `all` and `in_order` that is the first one written that is no context; of `any`, each that
hit. Context is what a shared signature matched, what stands at level info, and what is no log (a manifest, `env`).

    all: [efa_about, no_memory]      efa_about is shared: the line of no_memory is where the fault stands

Evidence begins with the earliest hit of the leading signature; the other signatures follow from the same source.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from troubleshoot import limits
from troubleshoot.clocks import common_zone, earliest_first
from troubleshoot.evaluate.sightings import Sighting, View
from troubleshoot.evaluate.texts import Texts
from troubleshoot.evaluate.trees import occurrences
from troubleshoot.model import Condition, Confidence, Evidence, Finding, Op, Outcome, Role, Rule, RulePack, Truth
from troubleshoot.platform import order_variants
from troubleshoot.ranks import compress_ranks

_QUIET_LEVELS = frozenset({"info", "debug"})
_HOSTS_NAMED = 8


def build_finding(pack: RulePack, rule: Rule, view: View, outcome: Outcome, platform: str | None) -> Finding:
    """Return the finding of a rule whose outcome is TRUE over the view."""
    sightings = earliest_first(each for each in outcome.hits if isinstance(each, Sighting))
    leading = _leading_names(rule, outcome.condition, sightings)
    lead = [each for each in sightings if each.signature in leading] or sightings
    first = earliest_first(each for each in _first_group(outcome) if isinstance(each, Sighting))
    shown = _evidence(lead, first, sightings)
    extra = [each for name in rule.supports for each in earliest_first(view.hits.get(name, ()))[:1]]
    shown += [each for each in extra if not any(each.hit is one.hit for one in shown)]
    count = max(1, occurrences(outcome.condition, sightings, view))
    ranks = tuple(sorted({each.rank for each in lead if each.rank is not None}))
    hosts = tuple(sorted({each.host for each in lead if each.host is not None}))
    captures = _captures([*first, *shown], outcome)
    confidence, because = _confidence(rule, view, outcome)
    texts = Texts(
        {
            "count": str(count),
            "ranks": compress_ranks(ranks) or "unknown",
            "hosts": _hosts(hosts),
            **captures,
        },
        known_names(pack, rule),
    )
    fixes = tuple(order_variants(texts.fix(fix), platform) for fix in rule.fixes)
    zone = common_zone(lead)
    stamps = [each.hit.record.stamp for each in lead if each.hit.record.stamp is not None]
    stamps = [stamp for stamp in stamps if stamp.zone == zone]
    return Finding(
        rule=rule.id,
        kind=rule.kind,
        title=texts.title(rule.title),
        severity=rule.severity,
        confidence=confidence,
        role=Role.CAUSE,
        evidence=tuple(evidence_from(each) for each in shown[: limits.EVIDENCE_PER_FINDING]),
        count=count,
        ranks=ranks,
        hosts=hosts,
        first_seen=min(stamps, key=lambda stamp: stamp.time, default=None),
        captures=captures,
        explanation=texts.prose(rule.explanation),
        fixes=fixes,
        owner=rule.owner,
        retry=rule.retry,
        fingerprint=_fingerprint(rule, captures),
        references=rule.references,
        generic=rule.generic,
        symptom=rule.symptom,
        because=because,
        outcome=outcome,
        first_lines=_first_lines(lead),
    )


def evidence_from(sighting: Sighting) -> Evidence:
    """Return the evidence that a hit gives; of a very long record the part around the match."""
    hit, record = sighting.hit, sighting.hit.record
    begin = 0
    if len(record.text) > limits.EVIDENCE_CHARS:
        begin = max(0, min(hit.start - limits.EVIDENCE_CHARS // 4, len(record.text) - limits.EVIDENCE_CHARS))
    text = record.text[begin : begin + limits.EVIDENCE_CHARS]
    return Evidence(
        source=record.source.name,
        line=record.line,
        offset=record.offset,
        signature=sighting.signature,
        text=text,
        rank=sighting.rank,
        host=sighting.host,
        time=record.stamp.time if record.stamp is not None else None,
        end_line=record.end_line,
        start=min(max(hit.start - begin, 0), len(text)),
        end=min(max(hit.end - begin, 0), len(text)),
    )


def known_names(pack: RulePack, rule: Rule) -> frozenset[str]:
    """Return every name that the rule's signatures capture or its look-ups add."""
    holes = {hole for signature in rule.signatures.values() for each in signature.patterns for hole in each.holes}
    return frozenset(holes | {lookup.name for lookup in rule.lookup})


def _leading_names(rule: Rule, condition: Condition, sightings: Sequence[Sighting]) -> frozenset[str]:
    present: dict[str, bool] = {}
    for each in sightings:
        present[each.signature] = present.get(each.signature, False) or not _is_context(rule, each)
    names = _leading(condition, present)
    return frozenset(name for name in names if present[name]) or frozenset(names)


def _leading(node: Condition, tells: Mapping[str, bool]) -> list[str]:
    """Return the signatures that date the node. `tells[signature]` is False for one whose hits are all context."""
    if node.op is Op.SIGNATURE:
        return [node.signature] if node.signature is not None and node.signature in tells else []
    if node.op is Op.NONE:
        return []
    children = (node.given,) if node.op is Op.MISSING else node.children
    legs = [names for names in (_leading(child, tells) for child in children if child is not None) if names]
    if node.op in (Op.ALL, Op.IN_ORDER):
        return next((names for names in legs if any(tells[name] for name in names)), legs[0] if legs else [])
    return [name for names in legs for name in names]


def _is_context(rule: Rule, sighting: Sighting) -> bool:
    record = sighting.hit.record
    signature = rule.signatures.get(sighting.signature)
    return (
        (signature is not None and bool(signature.shared))
        or record.level in _QUIET_LEVELS
        or record.document != "log"
        or record.text.startswith("NCCL INFO")
    )


def _first_group(outcome: Outcome) -> list[object]:
    """Return the hits of the first group or window in which the condition held."""
    holding = [child for child in outcome.children if child.truth is Truth.TRUE and child.hits]
    if not holding:
        return list(outcome.hits)
    kept = {id(hit.hit) for hit in outcome.hits}  # a `unless` that holds with a doubt is no evidence
    return [hit for child in holding for hit in _first_group(child) if id(getattr(hit, "hit", None)) in kept]


def _evidence(lead: list[Sighting], first: list[Sighting], sightings: list[Sighting]) -> list[Sighting]:
    """Return the hits to show, the earliest leading one first, then one per signature, then more leading ones of
    other ranks and sources, then the rest."""
    anchor = lead[0]
    in_first = [each for each in first if each.signature == anchor.signature]
    if in_first and not any(each.hit is anchor.hit for each in first):
        anchor = in_first[0]
    chosen = {anchor.signature: anchor}
    near = [each for each in (*first, *sightings) if each.source == anchor.source and each.rank == anchor.rank]
    for each in (*near, *first, *sightings):
        chosen.setdefault(each.signature, each)
    shown = list(chosen.values())
    seen = {id(each.hit) for each in shown}
    places = {(each.rank, each.source) for each in shown}
    for elsewhere in (True, False):
        for each in (*lead, *sightings):
            if len(shown) >= limits.EVIDENCE_PER_FINDING:
                return shown
            if id(each.hit) not in seen and not (elsewhere and (each.rank, each.source) in places):
                seen.add(id(each.hit))
                places.add((each.rank, each.source))
                shown.append(each)
    return shown


def _captures(sightings: Iterable[Sighting], outcome: Outcome) -> dict[str, str]:
    captures = dict(outcome.captures)
    for each in sightings:
        for name, value in each.captures.items():
            if value is not None and not captures.get(name):
                captures[name] = value
    return captures


def _confidence(rule: Rule, view: View, outcome: Outcome) -> tuple[Confidence, tuple[str, ...]]:
    """Move the rule's confidence one step up for what supports, one down for what contradicts, one for doubts."""
    step, because = 0, []
    for names, word, by in ((rule.supports, "raised", 1), (rule.contradicts, "lowered", -1)):
        there = [each for name in names for each in earliest_first(view.hits.get(name, ()))[:1]]
        if there:
            step += by
            places = ", ".join(f"{each.signature} ({each.source}:{each.hit.record.line})" for each in there)
            because.append(f"confidence {word}: the log also shows {places}")
    if outcome.doubts:
        step -= 1
        because += [f"confidence lowered: {doubt}" for doubt in outcome.doubts]
    return Confidence(min(max(rule.confidence + step, Confidence.LOW), Confidence.HIGH)), tuple(because)


def _fingerprint(rule: Rule, captures: Mapping[str, str]) -> str:
    """Return what stays the same for this fault over ranks, hosts, times and attempts."""
    told = [[name, captures.get(name, "").strip().casefold()] for name in sorted(rule.fingerprint)]
    return hashlib.sha256(json.dumps([rule.id, told]).encode()).hexdigest()[:16]


def _first_lines(sightings: Iterable[Sighting]) -> dict[str, int]:
    lines: dict[str, int] = {}
    for each in sightings:
        lines[each.source] = min(lines.get(each.source, each.hit.record.line), each.hit.record.line)
    return lines


def _hosts(hosts: Sequence[str]) -> str:
    named = ", ".join(hosts[:_HOSTS_NAMED]) or "unknown"
    return named if len(hosts) <= _HOSTS_NAMED else f"{named} and {len(hosts) - _HOSTS_NAMED} more"
