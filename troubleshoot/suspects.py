"""When no rule knows it: the lines that look like the failure, merged by what they have in common, best first.

In: hits of the built-in signatures of group "suspects" (`rules/_builtin/suspects.yaml`, where each has a `reason` and a
`weight`), and the findings. Out: at most limits.SUSPECTS suspects.

    RuntimeError: shape '[8, 512]' is invalid for input of size 4095     x 63, ranks alike
    RuntimeError: shape '[8, 512]' is invalid for input of size 4093     the same template

* What is evidence of a finding is left out, and so is every line of the same template; but not the evidence of a
  catch-all, which does not make it known.
* A line that says that nothing failed ("0 errors", "exit code 0") is no suspect, whatever words it holds.
* A traceback is worth the line that ends it; its head is shown only where that line is not in the log. Of chained
  exceptions the first is the cause of the others, which weigh less.
* A line at level info or debug weighs less: programs also talk about errors.
* Order: suspects that weigh enough to be the failure (limits.SUSPECT_WEIGHT) first; of those, the ones of the rank that
  failed first; then by weight; then by time, or line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from troubleshoot import late, limits
from troubleshoot.clocks import earliest_first, rank_of
from troubleshoot.model import Finding, Hit, RulePack, ScanResult, SignatureHit, Suspect

GROUP = "suspects"
CHAINED = 20  # off the weight of an exception that another one caused
FAINT = 20  # what weighs less is not worth a reader's time
TALK = 35  # off the weight of a line that its own program calls information
TRACEBACK_LINES = 400  # after its head; further down an exception belongs to something else
TEMPLATE_CHARS = 300  # of a line that make its template

# A line that matches says that nothing failed. Read on suspects alone, so it may be as costly as it likes.
_HARMLESS = late.compile(
    r"""
      \b(?:0|no|zero|without(?:\ any)?)\ (?:\w+\ )?(?:errors?|failures?|failed|exceptions?)\b
    | \b(?:errors?|failures?|failed|exceptions?|exitcode)["']?\s*[:=]\s*["']?
      (?:0|none|null|false|no|\[\]|\{\})(?=["',;)}\]\s]|$)
    | \b(?:error|err|failed|timeout)["']?\s*[:=]\s*-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?=[,;)}\]\s%]|$)
    | \bexit(?:ed)?\b[^\n]{0,20}\b(?:code|status)\b\D{0,3}0\b
    | \bwarnings\.warn\(
    | \b(?:if|should|in\ case|unless|until|when)\b.{0,60}\b(?:fails?|error\ occurs|exceptions?\ (?:is|are)\ raised)\b
    | Root\ Cause\ \(first\ observed\ failure\):
    | \b(?:on|max|num|ignore|retry[_\ ]on|stop[_\ ]on)[_\ -](?:errors?|failures?|exceptions?)\b
    | pip's\ dependency\ resolver\ does\ not\ currently
    | \bPlan\ failed\ with\ a(?:n)?\ \w+  # cuDNN takes its next plan
    | Failed\ to\ load\ image\ Python\ extension | Could\ not\ load\ dynamic\ library
    | cannot\ open\ shared\ object\ file.{0,60}\(ignored\)
    | \[\[Forward\ compatibility\ was\ attempted | gds_ds12_lock_pthread
    """,
    re.VERBOSE | re.IGNORECASE,
)

# What varies between two lines that say the same thing.
_MASKS = (
    (late.compile(r"'[^']*'|\"[^\"]*\"|`[^`']*['`]"), "'*'"),
    (late.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b", re.IGNORECASE), "#"),
    (late.compile(r"\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b", re.IGNORECASE), "#"),
    (late.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b"), "#"),
    (late.compile(r"[+-]?\d+(?:[.:,]\d+)*"), "#"),
    (late.compile(r"(?:#[\s,;]*){2,}"), "# "),
    (late.compile(r"\s+"), " "),
)


@dataclass(frozen=True, slots=True)
class _Look:
    """One record that looks like the failure, under the strongest reason."""

    signature: str
    hit: Hit
    reason: str
    weight: int
    is_head: bool = False  # of a traceback, and nothing else


def find_suspects(pack: RulePack, results: Sequence[ScanResult], findings: Iterable[Finding]) -> tuple[Suspect, ...]:
    """Return the suspects, best first."""
    hits = _suspicious_hits(pack, results)
    looks = _looks(pack.builtin.get(GROUP, {}), hits)
    known_lines, templates = _known(findings)
    unknown = [each for each in looks if not _is_known(each.hit, known_lines, templates)]
    unknown = _without_told_heads(unknown, known_lines)
    order = earliest_first(SignatureHit(each.signature, each.hit) for each in unknown)
    position = {id(each.hit): at for at, each in enumerate(order)}
    unknown.sort(key=lambda each: position[id(each.hit)])
    failed_first = first_rank(unknown)
    merged: dict[str, list[_Look]] = {}
    for each in unknown:
        merged.setdefault(template_of(each.hit.record.text), []).append(each)
    groups = sorted(
        merged.values(),
        key=lambda group: _priority(group, failed_first, position),
    )
    return tuple(_suspect(group, failed_first) for group in groups[: limits.SUSPECTS])


def weigh_templates(pack: RulePack, results: Sequence[ScanResult]) -> dict[str, tuple[int, str]]:
    """Return by template how much a line looks like the failure, and why, whether a rule knows it or not. The head of a
    traceback says nothing by itself."""
    weighed: dict[str, tuple[int, str]] = {}
    for look in _looks(pack.builtin.get(GROUP, {}), _suspicious_hits(pack, results)):
        if look.is_head:
            continue
        template = template_of(look.hit.record.text)
        weighed[template] = max(weighed.get(template, (0, "")), (look.weight, look.reason))
    return weighed


@lru_cache(maxsize=16_384)  # asked twice of every line, and ranks say the same things
def template_of(text: str) -> str:
    """Return the text with all that varies masked: numbers, addresses, quoted parts."""
    text = text[:TEMPLATE_CHARS]
    for mask, instead in _MASKS:
        text = mask.sub(instead, text)
    return text.strip().casefold()


def first_rank(looks: Sequence[_Look]) -> int | None:
    """Return the rank of the earliest record that weighs enough to be the failure, if its rank is known.
    `looks` are in order of time."""
    return next((rank_of(each.hit) for each in looks if each.weight >= limits.SUSPECT_WEIGHT), None)


def _suspicious_hits(pack: RulePack, results: Sequence[ScanResult]) -> dict[tuple[str, int], list[SignatureHit]]:
    """Return by source and line what hit there."""
    found: dict[tuple[str, int], list[SignatureHit]] = {}
    for result in sorted(results, key=lambda result: result.source.name):
        for hit in result.hits:
            for use in pack.users[hit.pattern]:
                if use.rule == f"~{GROUP}":
                    place = (hit.record.source.name, hit.record.line)
                    found.setdefault(place, []).append(SignatureHit(use.signature, hit))
    return found


def _looks(
    marks: Mapping[str, Mapping[str, str]], hits: Mapping[tuple[str, int], Sequence[SignatureHit]]
) -> list[_Look]:
    """Return one look per record that is worth one, by source and line, chains of exceptions taken into account."""
    looks: list[_Look] = []
    chained: set[tuple[str, int | None]] = set()  # sources and ranks of which the next exception has a cause above
    for place in sorted(hits):
        here = sorted(hits[place], key=lambda each: (-_weight(marks, each.signature), each.signature, each.hit.start))
        best = here[0]
        stream = (place[0], rank_of(best.hit))
        parts = {marks.get(each.signature, {}).get("part", "") for each in here}
        weight = _weight(marks, best.signature)
        if "chain" in parts:
            chained.add(stream)
            continue
        if _HARMLESS.search(best.hit.record.text[: limits.EVIDENCE_CHARS]):
            continue
        is_head = parts == {"head"}
        if not is_head and best.signature.endswith("_exception") and stream in chained:
            weight -= CHAINED
            chained.discard(stream)
        if best.hit.record.level in ("info", "debug"):
            weight -= TALK
        if weight >= FAINT:
            reason = marks.get(best.signature, {}).get("reason", "")
            looks.append(_Look(best.signature, best.hit, reason, weight, is_head))
    return looks


def _without_told_heads(looks: Sequence[_Look], known_lines: Mapping[str, set[int]]) -> list[_Look]:
    """Return the looks without the heads of tracebacks whose exception is in the log, as a suspect or as evidence."""
    telling: dict[str, list[int]] = {source: list(lines) for source, lines in known_lines.items()}
    for each in looks:
        if not each.is_head and each.weight >= limits.SUSPECT_WEIGHT:
            telling.setdefault(each.hit.record.source.name, []).append(each.hit.record.line)
    for lines in telling.values():
        lines.sort()

    def is_told(head: _Look) -> bool:
        line, lines = head.hit.record.line, telling.get(head.hit.record.source.name, [])
        at = bisect_right(lines, line)
        return at < len(lines) and lines[at] <= line + TRACEBACK_LINES

    return [each for each in looks if not (each.is_head and is_told(each))]


def _weight(marks: Mapping[str, Mapping[str, str]], name: str) -> int:
    weight = marks.get(name, {}).get("weight", "")
    return min(int(weight), 100) if weight.isascii() and weight.isdigit() else 30


def _known(findings: Iterable[Finding]) -> tuple[dict[str, set[int]], set[str]]:
    """Return the lines, by source, and the templates of all evidence."""
    lines: dict[str, set[int]] = {}
    templates: set[str] = set()
    for finding in findings:
        if finding.generic:
            continue
        for each in finding.evidence:
            lines.setdefault(each.source, set()).update(range(each.line, (each.end_line or each.line) + 1))
            templates.add(template_of(each.text))
        for hit in finding.outcome.hits if finding.outcome is not None else ():
            record = hit.hit.record
            lines.setdefault(record.source.name, set()).update(range(record.line, record.end_line + 1))
    return lines, templates


def _is_known(hit: Hit, lines: Mapping[str, set[int]], templates: set[str]) -> bool:
    record = hit.record
    known = lines.get(record.source.name, set())
    return (
        any(line in known for line in range(record.line, record.end_line + 1)) or template_of(record.text) in templates
    )


def _priority(
    group: Sequence[_Look], failed_first: int | None, position: Mapping[int, int]
) -> tuple[bool, bool, int, int]:
    weight = max(each.weight for each in group)
    is_first = failed_first is not None and any(rank_of(each.hit) == failed_first for each in group)
    return (weight < limits.SUSPECT_WEIGHT, not is_first, -weight, position[id(group[0].hit)])


def _suspect(group: Sequence[_Look], failed_first: int | None) -> Suspect:
    shown = next((each for each in group if failed_first is not None and rank_of(each.hit) == failed_first), group[0])
    strongest = max(group, key=lambda each: each.weight)
    record = shown.hit.record
    return Suspect(
        source=record.source.name,
        line=record.line,
        text=record.text.strip()[: limits.EVIDENCE_CHARS],
        count=len(group),
        reason=strongest.reason,
        rank=rank_of(shown.hit),
        weight=strongest.weight,
    )
