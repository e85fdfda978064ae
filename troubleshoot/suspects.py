"""When no rule knows it: the lines that look like the failure, merged by what they have in common, best first.

In: hits of the built-in signatures of group "suspects" (`rules/_builtin/suspects.yaml`, where each has a `reason` and a
`weight`), and the findings. Out: at most limits.SUSPECTS suspects.

    RuntimeError: shape '[8, 512]' is invalid for input of size 4095     x 63, ranks alike
    RuntimeError: shape '[8, 512]' is invalid for input of size 4093     the same template

* What is evidence of a finding is left out, and so is every line of the same template.
* A line that says that nothing failed ("0 errors", "exit code 0") is no suspect, whatever words it holds.
* A traceback is worth the line that ends it; its head is shown only where that line is not in the log. Of chained
  exceptions the first is the cause of the others, which weigh less.
* A line at level info or debug weighs less: programs also talk about errors.
* Order: suspects that weigh enough to be the failure (limits.SUSPECT_WEIGHT) first; of those, the ones of the rank that
  failed first; then by weight; then by time, or line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from troubleshoot import limits
from troubleshoot.clocks import earliest_first, rank_of
from troubleshoot.model import Finding, Hit, RulePack, ScanResult, SignatureHit, Suspect

GROUP = "suspects"
CHAINED = 20  # off the weight of an exception that another one caused
TALK = 25  # off the weight of a line that its own program calls information
TRACEBACK_LINES = 400  # after its head; further down an exception belongs to something else
TEMPLATE_CHARS = 300  # of a line that make its template

# A line that matches says that nothing failed. Read on suspects alone, so it may be as costly as it likes.
_HARMLESS = re.compile(
    r"""
      \b(?:0|no|zero|without(?:\ any)?)\ (?:\w+\ )?(?:errors?|failures?|failed|exceptions?)\b
    | \b(?:errors?|failures?|failed|exceptions?|exitcode)["']?\s*[:=]\s*["']?
      (?:0|none|null|false|no|\[\]|\{\})(?=["',;)}\]\s]|$)
    | \b(?:error|err|failed|timeout)["']?\s*[:=]\s*-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?=[,;)}\]\s%]|$)
    | \bexit(?:ed)?\b[^\n]{0,20}\b(?:code|status)\b\D{0,3}0\b
    | \bwarnings\.warn\(
    | \b(?:if|should|in\ case|unless|until|when)\b.{0,60}\b(?:fails?|error\ occurs|exceptions?\ (?:is|are)\ raised)\b
    | \b(?:on|max|num|ignore|retry[_\ ]on|stop[_\ ]on)[_\ -](?:errors?|failures?|exceptions?)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)

# What varies between two lines that say the same thing.
_MASKS = (
    (re.compile(r"'[^']*'|\"[^\"]*\"|`[^`']*['`]"), "'*'"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b", re.IGNORECASE), "#"),
    (re.compile(r"\b0x[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b", re.IGNORECASE), "#"),
    (re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b"), "#"),
    (re.compile(r"[+-]?\d+(?:[.:,]\d+)*"), "#"),
    (re.compile(r"(?:#[\s,;]*){2,}"), "# "),
    (re.compile(r"\s+"), " "),
)


@dataclass(frozen=True, slots=True)
class _Look:
    """One record that looks like the failure, under the strongest reason."""

    signature: str
    hit: Hit
    reason: str
    weight: int


def find_suspects(pack: RulePack, results: Sequence[ScanResult], findings: Iterable[Finding]) -> tuple[Suspect, ...]:
    """Return the suspects, best first."""
    hits = _suspicious_hits(pack, results)
    looks = _looks(pack.builtin.get(GROUP, {}), hits)
    spans, templates = _known(findings)
    unknown = [each for each in looks if not _is_known(each.hit, spans, templates)]
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
    """Return one look per record, tracebacks and chains taken into account."""
    looks: list[_Look] = []
    streams: dict[tuple[str, int | None], _Stream] = {}
    for place in sorted(hits):
        here = sorted(hits[place], key=lambda each: (-_weight(marks, each.signature), each.signature, each.hit.start))
        best = here[0]
        stream = streams.setdefault((place[0], rank_of(best.hit)), _Stream())
        parts = {marks.get(each.signature, {}).get("part", "") for each in here}
        if "chain" in parts:
            stream.is_chained = True
            continue
        if _HARMLESS.search(best.hit.record.text[: limits.EVIDENCE_CHARS]):
            continue
        weight = _weight(marks, best.signature)
        if best.signature.endswith("_exception"):
            weight -= CHAINED if stream.is_chained else 0
            stream.is_chained = False
            if stream.head is not None and place[1] - looks[stream.head].hit.record.line <= TRACEBACK_LINES:
                stream.done.append(stream.head)
            stream.head = None
        elif "head" in parts:
            stream.head = len(looks)
        if best.hit.record.level in ("info", "debug"):
            weight -= TALK
        looks.append(_Look(best.signature, best.hit, marks.get(best.signature, {}).get("reason", ""), max(weight, 1)))
    done = {at for stream in streams.values() for at in stream.done}
    return [each for at, each in enumerate(looks) if at not in done]


class _Stream:
    """What one rank's lines in one source are in the middle of."""

    def __init__(self) -> None:
        self.head: int | None = None  # position of a traceback's head whose exception has not come yet
        self.is_chained = False
        self.done: list[int] = []  # heads whose exception did come


def _weight(marks: Mapping[str, Mapping[str, str]], name: str) -> int:
    weight = marks.get(name, {}).get("weight", "")
    return min(int(weight), 100) if weight.isascii() and weight.isdigit() else 30


def _known(findings: Iterable[Finding]) -> tuple[dict[str, list[tuple[int, int]]], set[str]]:
    """Return the line ranges, by source, and the templates of all evidence."""
    spans: dict[str, list[tuple[int, int]]] = {}
    templates: set[str] = set()
    for finding in findings:
        for each in finding.evidence:
            spans.setdefault(each.source, []).append((each.line, each.end_line or each.line))
            templates.add(template_of(each.text))
        for hit in finding.outcome.hits if finding.outcome is not None else ():
            record = hit.hit.record
            spans.setdefault(record.source.name, []).append((record.line, record.end_line))
    return spans, templates


def _is_known(hit: Hit, spans: Mapping[str, Sequence[tuple[int, int]]], templates: set[str]) -> bool:
    record = hit.record
    if template_of(record.text) in templates:
        return True
    return any(line <= record.end_line and record.line <= end for line, end in spans.get(record.source.name, ()))


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
