"""Every incident of the corpus through the shipped pack: root first, what else is expected, nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from troubleshoot.corpus import check_corpus, find_incidents, incident_sources, read_expected
from troubleshoot.engine import Engine
from troubleshoot.rulepack.load import load_pack

if TYPE_CHECKING:
    from collections.abc import Iterable

    from troubleshoot.corpus import CorpusResult

CORPUS = Path(__file__).parents[2] / "corpus"
INCIDENTS = tuple(find_incidents(CORPUS))
LARGEST_LOG = 300_000  # bytes, as corpus/README.md says


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine(load_pack(overrides=None))


@pytest.fixture(scope="module")
def result(engine: Engine) -> CorpusResult:
    return check_corpus(engine, CORPUS)


def told(heading: str, lines: Iterable[str]) -> str:
    listed = list(lines)
    return "\n".join([f"{heading}: {len(listed)}", *listed])


@pytest.mark.slow
def test_every_incident_is_reported_as_expected(result: CorpusResult) -> None:
    wrong = [
        f"{each.name}: {'; '.join(each.differences)}; found {' '.join(each.found) or 'nothing'}"
        for each in result.wrong
    ]
    assert not wrong, told("incidents that are reported otherwise than expected", wrong)


@pytest.mark.slow
def test_recall_and_first_place_leave_nothing_out_in_any_domain(result: CorpusResult) -> None:
    short = [
        f"{domain}: {figures.found} found and {figures.first} first of {figures.incidents}"
        for domain, figures in result.domains.items()
        if not figures.incidents == figures.found == figures.first
    ]
    assert not short, told("domains in which a root is missing or not first", short)


@pytest.mark.slow
def test_healthy_incidents_stay_quiet(result: CorpusResult) -> None:
    loud = [f"{each.name}: {'; '.join(each.differences)}" for each in result.wrong if each.expected.healthy]
    assert result.false_alarms == 0, told("healthy incidents with an alarm", loud)


@pytest.mark.slow
def test_every_rule_is_exercised_by_an_incident(result: CorpusResult) -> None:
    assert not result.unused, told("rules that no incident exercises", result.unused)


def test_the_corpus_has_what_it_promises(engine: Engine) -> None:
    expected = [read_expected(incident) for incident in INCIDENTS]

    def is_a_fault_of_its_own(rule: str) -> bool:
        known = engine.pack.rules.get(rule)
        return known is not None and not known.symptom and not known.generic

    counts = {
        "incidents": len(INCIDENTS),
        "of real runs": sum(each.made == "real run" for each in expected),
        "healthy": sum(each.healthy for each in expected),
        "with several faults": sum(
            each.first is not None and any(map(is_a_fault_of_its_own, each.also)) for each in expected
        ),
        "of several sources": sum(len(incident_sources(incident)) > 1 for incident in INCIDENTS),
    }
    wanted = {"incidents": 120, "of real runs": 40, "healthy": 30, "with several faults": 25, "of several sources": 10}
    short = [f"{what}: {counts[what]}, promised {number}" for what, number in wanted.items() if counts[what] < number]
    assert not short, told("promises that the corpus does not keep", short)


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda path: path.name)
def test_an_incident_says_how_it_was_made_and_keeps_its_logs_small(incident: Path) -> None:
    made = read_expected(incident).made
    readme = (incident / "README.md").read_text(encoding="utf-8")
    assert made in ("real run", "by hand")
    assert readme.startswith(f"# {incident.name}\n")
    assert f"made: {made}" in readme
    assert re.search(r"[Ll]icence", readme)
    logs = [path for path in incident.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in logs) <= LARGEST_LOG


def test_expectations_name_rules_that_exist(engine: Engine) -> None:
    known = set(engine.pack.rules)
    domains = {rule.split("/")[0] for rule in known}
    dead = [
        f"{incident.name}: {name}"
        for incident in INCIDENTS
        for expected in (read_expected(incident),)
        for name in (expected.first, *expected.also, *expected.never, *expected.confirmed, *expected.undecided)
        if name is not None and name not in known and name not in domains
    ]
    assert not dead, told("expectations that name no rule", dead)
