"""How well `rules suggest` finds the line that a rule is to be written from: `python benchmarks/suggestions.py [STEP]`.

Each incident of the corpus whose first finding is known is looked at as if that rule were not there. Counted is at
which place among the candidates stands a line of that rule's evidence. Of healthy logs is counted how many give a
candidate. STEP looks at every so many-th of the incidents that are faults only.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from troubleshoot.corpus import NOT_SOURCES
from troubleshoot.engine import Engine
from troubleshoot.evaluate.evaluator import Evaluation
from troubleshoot.ingest.sources import open_sources
from troubleshoot.model import Finding, ScanResult
from troubleshoot.rulepack.load import load_pack
from troubleshoot.suggest import Suggestions, suggest
from troubleshoot.suspects import template_of

CORPUS = Path(__file__).parent.parent / "corpus"
FIRST = 3


@dataclass
class Figures:
    """`places`: how many incidents have the line at which place; 0 for not at all."""

    places: Counter[int] = field(default_factory=Counter)
    healthy: int = 0
    healthy_with_candidates: int = 0

    @property
    def incidents(self) -> int:
        return sum(self.places.values())

    def among_first(self, number: int) -> int:
        return sum(count for place, count in self.places.items() if 1 <= place <= number)


class _Forgetful(Engine):
    """An engine that does not know one of its rules."""

    forgotten = ""
    lost: tuple[Finding, ...] = ()

    def evaluate(self, results: Sequence[ScanResult], platform: str | None = None) -> Evaluation:
        known = super().evaluate(results, platform)
        self.lost = tuple(each for each in known.findings if each.rule == self.forgotten)
        return replace(known, findings=tuple(each for each in known.findings if each.rule != self.forgotten))


def measure(step: int = 1) -> Figures:
    """Return the figures over every `step`-th incident, and over all healthy ones."""
    engine = _Forgetful(load_pack(overrides=None))
    figures = Figures()
    for number, expected in enumerate(sorted(CORPUS.glob("*/expected.yaml"))):
        wanted = yaml.safe_load(expected.read_text("utf-8"))
        if number % step and not wanted.get("healthy"):
            continue
        logs = sorted(path for path in expected.parent.rglob("*") if path.is_file() and path.name not in NOT_SOURCES)
        engine.forgotten = wanted.get("first") or ""
        if not wanted.get("healthy") and engine.forgotten not in engine.pack.rules:
            continue
        found = suggest(engine, open_sources(logs))
        if wanted.get("healthy"):
            figures.healthy += 1
            figures.healthy_with_candidates += bool(found.candidates)
        elif engine.lost:
            figures.places[_place(found, engine.lost)] += 1
    return figures


def _place(found: Suggestions, lost: Sequence[Finding]) -> int:
    evidence = [each for finding in lost for each in finding.evidence]
    lines = {(each.source, line) for each in evidence for line in range(each.line, (each.end_line or each.line) + 1)}
    templates = {template_of(line) for each in evidence for line in each.text.split("\n")}
    for place, candidate in enumerate(found.candidates, 1):
        if (candidate.source, candidate.line) in lines or template_of(candidate.sample) in templates:
            return place
    return 0


def main() -> None:
    figures = measure(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    print(
        f"{figures.incidents} incidents, their rule taken away: its line is the first candidate in "
        f"{figures.among_first(1)}, among the first {FIRST} in {figures.among_first(FIRST)}, none in "
        f"{figures.places[0]}. {figures.healthy} healthy logs: {figures.healthy_with_candidates} give a candidate."
    )


if __name__ == "__main__":
    main()
