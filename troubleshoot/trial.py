"""A rule and logs -> does it fire, as it should or not, and do its own examples come out as they say?

The logs are scanned with the whole pack, as they would be, so that a trial also tells what else fires and which stands
first. Each example is scanned by itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from troubleshoot.engine import Engine
from troubleshoot.errors import Problem, TroubleshootError
from troubleshoot.explain import Explanation, explain
from troubleshoot.ingest.sources import OpenSource
from troubleshoot.model import Finding, Report, Rule, Status, Undecided
from troubleshoot.rulepack.lint_examples import comes_out_as_stated
from troubleshoot.rulepack.scaffold import PLACEHOLDER
from troubleshoot.rulepack.subject import Subject, read_subject
from troubleshoot.watching import Watcher


@dataclass(frozen=True, slots=True)
class TriedExample:
    """An example of the rule's, and what is wrong with how it comes out. `is_open`: its text is not written yet."""

    expect: str
    line: int
    problems: tuple[Problem, ...] = ()
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of a rule on logs and on its examples. Without logs, `explanation` and `report` are None."""

    rule: Rule
    examples: tuple[TriedExample, ...]
    explanation: Explanation | None = None
    report: Report | None = None

    @property
    def finding(self) -> Finding | None:
        found = (*self.report.findings, *self.report.confirmations) if self.report is not None else ()
        return next((each for each in found if each.rule == self.rule.id), None)

    @property
    def undecided(self) -> Undecided | None:
        told = self.report.undecided if self.report is not None else ()
        return next((each for each in told if each.rule == self.rule.id), None)

    @property
    def others(self) -> tuple[str, ...]:
        """The other rules that fire on the logs, in the report's order."""
        found = (*self.report.findings, *self.report.confirmations) if self.report is not None else ()
        return tuple(each.rule for each in found if each.rule != self.rule.id)

    def is_well(self, *, silent: bool = False) -> bool:
        """Say whether all came out as it should; with `silent` the logs are some on which the rule must not fire."""
        on_logs = self.report is None or (self.finding is None) == silent
        is_draft = self.rule.status is Status.DRAFT
        return on_logs and not any(each.problems or (each.is_open and not is_draft) for each in self.examples)


def try_rule(engine: Engine, rule: Rule, sources: Iterable[OpenSource] | None, watcher: Watcher | None = None) -> Trial:
    """Return how the rule does on its examples and, where there are any, on logs, taken together as one job.
    Raises SourceError when nothing of the logs can be read."""
    subject = read_subject(rule)
    examples = tuple(_try_example(engine, subject, index) for index in range(len(rule.examples)))
    if sources is None:
        return Trial(rule, examples)
    began = time.monotonic()
    explanation = explain(engine, rule.id, sources, watcher)
    return Trial(rule, examples, explanation, engine.report_from(explanation.results, None, began))


def _try_example(engine: Engine, subject: Subject, index: int) -> TriedExample:
    example = subject.rule.examples[index]
    place = subject.document.place(("examples", index, example.expect), key=True)
    if any(PLACEHOLDER in text for text in example.files.values()):
        return TriedExample(example.expect, place.line, is_open=True)
    try:
        report = engine.scan_texts(example.files)
    except TroubleshootError as error:
        problem = Problem("L005", f"the example cannot be scanned: {error.text}", place, help=error.help)
        return TriedExample(example.expect, place.line, (problem,))
    found = (*report.findings, *report.confirmations)
    own = next((each for each in found if each.rule == subject.rule.id), None)
    return TriedExample(example.expect, place.line, tuple(comes_out_as_stated(subject, index, example, report, own)))
