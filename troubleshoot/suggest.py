"""Logs whose fault no rule knows -> the lines that a rule is best written from, best first.

    sources -> Gatherer (while they are scanned) -> templates -> Grouping -> candidates, by score

* Every line is looked at, whole logs, once: lines that differ in digits only are counted, one of them is kept.
* What a rule takes is left out: lines that it hits and lines of the same template. A catch-all takes nothing.
* What the healthy logs of the corpus hold is ordinary, and what a source says again and again rather is.
* The score is how much a line looks like the failure: as a suspect (suspects.py, 0 to 100), by its words, less what is
  ordinary. Below LEAST_SCORE a line is no candidate.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from troubleshoot.engine import Engine, scan_source
from troubleshoot.grouping import Grouping
from troubleshoot.ingest.lines import lines_of
from troubleshoot.ingest.sources import OpenSource, open_text
from troubleshoot.model import Block, RulePack, ScanResult
from troubleshoot.ordinary import hash_of, ordinary_templates, templates_in
from troubleshoot.rulepack.scaffold import how_telling
from troubleshoot.suspects import template_of, weigh_templates
from troubleshoot.watching import Watcher

LEAST_SCORE = 16
TELLING = 8  # points for each of how_telling's
ORDINARY = 60  # points off a line that healthy jobs print
GENERAL = 25  # points off a line that a catch-all takes: it says that something failed, and seldom what
AGAIN = 8  # points off for each time ten that a source says it: a fault is said once, or once a rank
LEVELS = {"info": -25, "debug": -35, "trace": -35}  # points for what its own program calls a suspect
PLAIN_LEVELS = {"warn": 8, "warning": 8, "error": 24, "fatal": 40, "critical": 40}  # and any other line
KEPT_RAW = 20_000  # lines unlike each other but for digits, kept until they are made templates
KEPT = 20_000  # templates kept; of more, those that tell least go
LINE_BYTES = 4_000
_DIGITS = b"0123456789"


@dataclass(slots=True)
class _Seen:
    source: str
    line: int
    text: str
    level: str | None
    is_file: bool
    count: int = 1
    sources: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Candidate:
    """Lines alike that a rule could be written from. `line` is 0 where the sample comes from no log."""

    template: str
    sample: str
    count: int
    score: int
    reason: str
    source: str
    line: int
    sources: int = 1
    can_be_read_again: bool = False


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Candidates, best first, and what became of the other groups of lines."""

    candidates: tuple[Candidate, ...]
    taken: int = 0  # groups of lines that rules take
    ordinary: int = 0  # groups of lines that look like no fault
    lines: int = 0
    dropped: int = 0  # lines of templates that there was no room for
    findings: tuple[str, ...] = ()  # rules that fire


class Gatherer:
    """Keeps, while sources pass by, one line of each template with its count."""

    def __init__(self) -> None:
        self.seen: dict[str, _Seen] = {}
        self.lines = self.dropped = 0
        self._raw: dict[bytes, tuple[int, int, bytes]] = {}  # without digits -> first line, count, the line

    def watch(self, opened: OpenSource, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks as they are."""
        last = 0
        for block in blocks:
            for number, raw in lines_of(block):
                if number <= last or not raw:  # a long line's overlap comes twice
                    continue
                last = number
                self.lines += 1
                key = raw[:LINE_BYTES].translate(None, _DIGITS)
                known = self._raw.get(key)
                self._raw[key] = (known[0], known[1] + 1, known[2]) if known else (number, 1, raw[:LINE_BYTES])
                if len(self._raw) >= KEPT_RAW:
                    self._settle(opened)
            yield block
        self._settle(opened)

    def _settle(self, opened: OpenSource) -> None:
        """Make templates of the lines kept so far."""
        source = opened.source
        for number, count, raw in self._raw.values():
            record = opened.normaliser.peel(raw.decode("utf-8", "replace"), number)
            if not any(char.isalpha() for char in record.text):
                continue
            template = template_of(record.text)
            seen = self.seen.get(template)
            if seen is None:
                is_file = source.kind in ("file", "member")
                seen = _Seen(source.name, number, record.text, record.level, is_file, 0)
                self.seen[template] = seen
            seen.count += count
            seen.sources.add(source.name)
        self._raw.clear()
        if len(self.seen) > KEPT:
            ranked = sorted(self.seen.items(), key=lambda item: -how_telling(item[1].text))
            self.dropped += sum(seen.count for _template, seen in ranked[KEPT // 2 :])
            self.seen = dict(ranked[: KEPT // 2])


def suggest(
    engine: Engine,
    sources: Iterable[OpenSource],
    healthy: Iterable[OpenSource] = (),
    watcher: Watcher | None = None,
) -> Suggestions:
    """Return what rules could be written from these sources, taken as one job, that none of the engine's rules takes.
    What `healthy` logs hold too is no candidate."""
    ordinary, usual = ordinary_templates(), templates_in(healthy)
    gatherer = Gatherer()
    scanner = engine.scanner()
    results = tuple(engine.results(sources, watcher, scanner=scanner, tee=gatherer.watch))
    evaluation = engine.evaluate(results)
    # Of what hits on line after line a scan keeps the first hits only; so what was kept is scanned once more.
    kept = "".join(f"{seen.text}\n" for seen in gatherer.seen.values())
    results = (*results, scan_source(scanner, open_text(kept, "kept lines"), most=2 * KEPT))
    taken = taken_templates(engine.pack, results, {each.rule for each in evaluation.findings if not each.generic})
    general = taken_templates(engine.pack, results, {each.rule for each in evaluation.findings if each.generic})
    weights = weigh_templates(engine.pack, results)
    grouping: Grouping[tuple[str, _Seen]] = Grouping()
    known = 0
    for template, seen in gatherer.seen.items():
        if template in taken:
            known += 1
        else:
            grouping.add(template, (template, seen))
    candidates = []
    groups = grouping.groups()
    for group in groups:
        scored = [
            (
                score(seen.text, weights.get(template, (0, ""))[0], seen.level, hash_of(template) in ordinary),
                seen,
                template,
            )
            for template, seen in group.members
        ]
        best, shown, template = max(scored, key=lambda each: (each[0], -each[1].line))
        count = sum(seen.count for _template, seen in group.members)
        names = {name for _template, seen in group.members for name in seen.sources}
        best -= round(AGAIN * max(math.log10(count / len(names) / 10), 0)) + (GENERAL if template in general else 0)
        if best >= LEAST_SCORE and not usual.intersection(hash_of(template) for template, _seen in group.members):
            reason = weights.get(template, (0, ""))[1]
            place = (shown.source, shown.line, len(names), shown.is_file)
            candidates.append(Candidate(group.template, shown.text, count, best, reason, *place))
    candidates.sort(key=lambda each: (-each.score, each.source, each.line))
    fired = tuple(dict.fromkeys(finding.rule for finding in evaluation.findings))
    return Suggestions(tuple(candidates), known, len(groups) - len(candidates), gatherer.lines, gatherer.dropped, fired)


def score(text: str, weight: int, level: str | None, is_ordinary: bool) -> int:
    """Return how good a line is to write a rule from."""
    points = weight + TELLING * how_telling(text)
    points += (LEVELS if weight else PLAIN_LEVELS).get(level or "", 0)
    return points - (ORDINARY if is_ordinary else 0)


def taken_templates(pack: RulePack, results: Sequence[ScanResult], rules: Collection[str]) -> set[str]:
    """Return the templates of all lines that some rules take."""
    taken: set[str] = set()
    for result in results:
        for hit in result.hits:
            if any(use.rule in rules for use in pack.users[hit.pattern]):
                taken.update(template_of(line) for line in hit.record.text.split("\n"))
                taken.add(template_of(hit.record.text))
    return taken


def suggest_from_unknown(engine: Engine, unknown: Iterable[Mapping[str, object]]) -> Suggestions:
    """Return what rules could be written from the unknown faults that a service has kept: mappings with `sample`,
    `reason`, `number`. Those that a rule takes by now are left out."""
    grouping: Grouping[tuple[str, str, int, int]] = Grouping()
    taken = groups = lines = 0
    for each in unknown:
        sample, number = str(each["sample"]), int(str(each["number"]))
        lines += number
        report = engine.scan_text(sample, "sample")
        if any(not finding.generic for finding in report.findings):
            taken += 1
            continue
        weight = max((suspect.weight for suspect in report.suspects), default=0)
        points = score(sample, weight, None, hash_of(template_of(sample)) in ordinary_templates())
        grouping.add(template_of(sample), (sample, str(each["reason"]), number, points))
    candidates = []
    for group in grouping.groups():
        groups += 1
        sample, reason, _number, points = max(group.members, key=lambda member: member[3])
        count = sum(member[2] for member in group.members)
        points += round(8 * math.log2(count))  # what came back so often is worth a rule
        if points >= LEAST_SCORE:
            candidates.append(Candidate(group.template, sample, count, points, reason, "the store", 0))
    candidates.sort(key=lambda each: (-each.score, each.template))
    return Suggestions(tuple(candidates), taken, groups - len(candidates), lines)
