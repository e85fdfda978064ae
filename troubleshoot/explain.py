"""Why a rule did or did not fire on a log: its outcome tree, and the lines that almost matched (see nearest.py).

Every source is read once: the scan and the search for near lines look at the same blocks as they pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from troubleshoot.engine import Engine
from troubleshoot.errors import UsageError
from troubleshoot.evaluate.evaluator import explain_rule
from troubleshoot.ingest.sources import OpenSource
from troubleshoot.model import Outcome, Rule, ScanResult, Signature, SignatureHit
from troubleshoot.nearest import Gatherer, NearLine
from troubleshoot.watching import Watcher


@dataclass(frozen=True, slots=True)
class SignatureAnswer:
    """One signature on this log: its hits, or else the nearest lines."""

    signature: Signature
    hits: tuple[SignatureHit, ...]
    nearest: tuple[NearLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a rule did or did not fire. `outcome` is None when nothing of the rule was seen at all. `results` is what
    the sources came to, for a whole report on them."""

    rule: Rule
    fired: bool
    outcome: Outcome | None
    signatures: tuple[SignatureAnswer, ...]
    results: tuple[ScanResult, ...] = ()


def explain(engine: Engine, rule_id: str, sources: Iterable[OpenSource], watcher: Watcher | None = None) -> Explanation:
    """Return why the rule fired or not on these sources, taken as one job. Raises UsageError for no such rule."""
    rule = engine.pack.rules.get(rule_id)
    if rule is None:
        raise UsageError(f"no rule {rule_id!r}", help="`troubleshoot rules list` names them all")
    gatherer = Gatherer(rule.signatures.values())
    results = tuple(engine.results(sources, watcher, tee=gatherer.watch))
    outcome = explain_rule(engine.pack, results, rule_id)
    answers = []
    for signature in rule.signatures.values():
        hits = tuple(_hits(signature, results))
        answers.append(SignatureAnswer(signature, hits, () if hits else gatherer.nearest(signature)))
    fired = outcome.truth.value == "true" and bool(outcome.hits)
    return Explanation(rule, fired, outcome, tuple(answers), results)


def _hits(signature: Signature, results: Sequence[ScanResult]) -> Iterator[SignatureHit]:
    wanted = {pattern.id for pattern in signature.patterns}
    for result in results:
        for hit in result.hits:
            if hit.pattern in wanted:
                yield SignatureHit(signature.name, hit)
