"""What the signatures of a pack cost on a log, and what its rules find in a corpus: the figures behind `rules stats`.

In: a pack, a log, a corpus. Out: `PatternCost` per pattern, `Coverage` per rule. A candidate is a line on which the
prefilter suspects a pattern, false if the pattern then does not match. Of a pattern with many candidates only the first
SAMPLE are confirmed with a clock, and stand for the others: so a hot one costs no more to measure than it tells. The
time is that of a scan, which looks at false candidates for ever and stops after limits.HITS_PER_PATTERN hits.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from troubleshoot import limits
from troubleshoot.corpus import Expected, find_incidents, incident_sources, read_expected
from troubleshoot.engine import Engine
from troubleshoot.ingest.sources import OpenSource, open_sources, open_text
from troubleshoot.model import Finding, Hit, Kind, Normaliser, Pattern, RulePack, ScanResult, Severity
from troubleshoot.rulepack.files import default_rules_dir
from troubleshoot.rulepack.stats import Coverage, PatternCost
from troubleshoot.scan.confirm import Confirmer
from troubleshoot.scan.lines import Chunk, Line
from troubleshoot.scan.match import Matcher
from troubleshoot.scan.planner import choose
from troubleshoot.scan.prefilter import Prefilter, TooManyError

SAMPLE = 400  # candidates of one pattern that are confirmed; the rest is counted
PIECE_BYTES = 256 * 1024  # scanned at once, so that a pattern with a candidate on every line stays within the limits


def measure_patterns(pack: RulePack, sources: Iterable[OpenSource]) -> tuple[dict[int, PatternCost], int]:
    """Return what each pattern costs on these sources, and how many bytes they have."""
    prefilter = Prefilter(pack.patterns)
    confirmer = Confirmer(pack.patterns)
    tallies = {pattern.id: _Tally(pattern, confirmer) for pattern in pack.patterns}
    total = 0
    for opened in sources:
        matcher = Matcher(opened.source, opened.normaliser, confirmer)
        cut = False
        for serial, block in enumerate(opened.blocks(limits.BLOCK_BYTES)):
            chunk = Chunk(block, serial, continues=cut)
            cut = block.cut
            total += len(chunk.data)
            for pattern, line in _candidates(prefilter, chunk):
                tallies[pattern].take(matcher, opened.normaliser, line)
            for line in chunk.lines() if prefilter.plan.everywhere else ():
                for pattern in prefilter.plan.everywhere:
                    tallies[pattern].take(matcher, opened.normaliser, line)
    return {id: tally.cost(total) for id, tally in tallies.items()}, total


def estimate_patterns(pack: RulePack) -> dict[int, PatternCost]:
    """Return what can be said of each pattern without a log: how it is searched for, and on how many ordinary lines its
    words stand."""
    nobody = Confirmer(())
    return {pattern.id: _Tally(pattern, nobody).cost(0) for pattern in pack.patterns}


def measure_corpus(engine: Engine, folder: Path) -> tuple[dict[str, Coverage], dict[str, set[str]]]:
    """Return what the incidents of a corpus show of each rule, and the signatures that hit there, by rule."""
    found: dict[str, Counter[str]] = {id: Counter() for id in engine.pack.rules}
    beside: dict[str, Counter[str]] = {id: Counter() for id in engine.pack.rules}
    seen: dict[str, set[str]] = {id: set() for id in engine.pack.rules}
    for incident in find_incidents(folder):
        expected = read_expected(incident)
        results = tuple(engine.results(open_sources(incident_sources(incident))))
        listed = {expected.first, *expected.also}
        evaluation = engine.evaluate(results)
        for finding in evaluation.findings:
            counts = found[finding.rule]
            counts["incidents"] += 1
            counts["first"] += finding.rule == expected.first
            counts["unlisted"] += finding.rule not in listed and not _may_be_unlisted(finding, expected)
        for rules in _on_one_line(engine.pack, results, {each.rule for each in evaluation.findings}):
            for rule in rules:
                beside[rule].update(rules - {rule})
        for rule, signature in _hit(engine.pack, results):
            seen[rule].add(signature)
    coverage = {
        id: Coverage(
            counts["incidents"],
            counts["first"],
            counts["unlisted"],
            dict(beside[id].most_common(5)),
        )
        for id, counts in found.items()
    }
    return coverage, seen


def _may_be_unlisted(finding: Finding, expected: Expected) -> bool:
    """Say whether a finding is no surprise though an incident does not list it: good news, an echo, or a small matter
    where all is well."""
    quiet = expected.healthy and finding.severity < Severity.MEDIUM
    return quiet or finding.kind is Kind.CONFIRMATION or finding.symptom or finding.generic


def seen_in_examples(engine: Engine) -> dict[str, set[str]]:
    """Return the signatures that hit in the rules' own examples, by rule."""
    seen: dict[str, set[str]] = {id: set() for id in engine.pack.rules}
    for rule in engine.pack.rules.values():
        for example in rule.examples:
            texts = [open_text(text, name) for name, text in example.files.items()]
            for owner, signature in _hit(engine.pack, engine.results(texts)):
                if owner == rule.id:
                    seen[owner].add(signature)
    return seen


def _hit(pack: RulePack, results: Iterable[ScanResult]) -> Iterator[tuple[str, str]]:
    patterns = {hit.pattern for result in results for hit in result.hits}
    for pattern in patterns:
        for use in pack.users[pattern]:
            if use.rule in pack.rules:
                yield use.rule, use.signature


def _on_one_line(pack: RulePack, results: Iterable[ScanResult], fired: set[str]) -> Iterator[frozenset[str]]:
    """Yield, once per incident, the rules that fired and have a signature of their own on one and the same line."""
    together: set[frozenset[str]] = set()
    for result in results:
        by_line: dict[int, set[str]] = {}
        for hit in result.hits:
            by_line.setdefault(hit.record.line, set()).update(_owners(pack, hit) & fired)
        together |= {frozenset(rules) for rules in by_line.values() if len(rules) > 1}
    yield from together


def _owners(pack: RulePack, hit: Hit) -> set[str]:
    return {
        use.rule
        for use in pack.users[hit.pattern]
        if use.rule in pack.rules and not pack.rules[use.rule].signatures[use.signature].shared
    }


def _candidates(prefilter: Prefilter, chunk: Chunk) -> Iterator[tuple[int, Line]]:
    """Yield each pattern with each line on which it may match."""
    start = 0
    data = chunk.data
    while start < len(data):
        end = data.rfind(b"\n", start, start + PIECE_BYTES) + 1 or len(data)
        line: Line | None = None
        for pattern, at in sorted(_scan(prefilter, data[start:end]), key=lambda each: each[1]):
            if line is None or start + at - 1 > line.end:
                line = chunk.line_at(start + at - 1)
            yield pattern, line
        start = end


def _scan(prefilter: Prefilter, piece: bytes) -> set[tuple[int, int]]:
    """Return pattern and end of the first candidate of each line."""
    piece = piece if piece.endswith(b"\n") else piece + b"\n"
    try:
        found = prefilter.scan(piece)
    except TooManyError:
        middle = piece.find(b"\n", len(piece) // 2) + 1
        if middle in (0, len(piece)):
            return set()  # one line that holds a word more often than a scan may report
        return _scan(prefilter, piece[:middle]) | {
            (pattern, middle + end) for pattern, end in _scan(prefilter, piece[middle:])
        }
    lines: dict[tuple[int, int], int] = {}
    for pattern, end in found:
        lines.setdefault((pattern, piece.rfind(b"\n", 0, end)), end)
    return {(pattern, end) for (pattern, _), end in lines.items()}


@dataclass(slots=True)
class _Tally:
    """Counts one pattern's candidates and confirms the first of them."""

    pattern: Pattern
    confirmer: Confirmer
    candidates: int = 0
    tried: int = 0
    confirmed: int = 0
    overran: int = 0
    times_s: list[float] = field(default_factory=list)
    _last: tuple[int, int] = field(default=(-1, -1))

    def take(self, matcher: Matcher, normaliser: Normaliser, line: Line) -> None:
        if line.place == self._last or line.end <= line.start:
            return
        self._last = line.place
        self.candidates += 1
        if self.tried >= SAMPLE:
            return
        if not self.tried:
            self.confirmer.confirm(self.pattern.id, "", str)  # compiles it, which a scan does once
        self.tried += 1
        if not line.is_long:
            line.peeled(normaliser)  # a scan does that once for all patterns of a line
        began = time.perf_counter()
        try:
            hit = self._match(matcher, line)
        except TimeoutError:
            hit = None
            self.overran += 1
        self.times_s.append(time.perf_counter() - began)
        self.confirmed += hit is not None

    def _usual_s(self) -> float:
        """Return the mean time of a candidate, without the few that took longest: there the machine was elsewhere."""
        times = sorted(self.times_s)
        kept = times[: len(times) - len(times) // 20] if len(times) >= 20 else times
        return sum(kept) / len(kept) if kept else 0.0

    def _match(self, matcher: Matcher, line: Line) -> Hit | None:
        height = self.pattern.lines
        if height == 1:
            return matcher.match_line(self.pattern.id, line)
        before = line.chunk.lines_before(line.start, height - 1)
        after: list[Line] = []
        for each in line.chunk.lines(line.end + 1):
            if len(after) == height - 1:
                break
            after.append(each)
        lines = [*before, line, *after]
        starts = (lines[at : at + height] for at in range(len(before) + 1))
        return next((hit for each in starts if (hit := matcher.match_lines(self.pattern.id, each)) is not None), None)

    def cost(self, total: int) -> PatternCost:
        way = choose(self.pattern)
        words = tuple(word.decode("utf-8", "replace") for word in getattr(way, "words", ()))
        searched = "words" if words else "expression" if way is not None else "every line"
        cost = PatternCost(self.pattern.id, searched, words, getattr(way, "cost", None))
        if not total:
            return cost
        share = self.candidates / self.tried if self.tried else 0.0
        false, hits = (self.tried - self.confirmed) * share, self.confirmed * share
        looked_at = false + min(hits, limits.HITS_PER_PATTERN)
        return replace(
            cost,
            candidates=self.candidates,
            false=round(false),
            confirm_s=self._usual_s() * looked_at,
            slowest_s=max(self.times_s, default=0.0),
            overran=self.overran,
        )


def reference_log(lines: int) -> bytes | None:
    """Return lines of the log by which literals are chosen, as benchmarks/reference.py writes it; None where the source
    tree is not there."""
    import importlib.util

    path = default_rules_dir().parent / "benchmarks" / "reference.py"
    spec = importlib.util.spec_from_file_location("troubleshoot_reference", path) if path.is_file() else None
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return "".join(f"{line}\n" for line in module.log_lines(lines)).encode()
