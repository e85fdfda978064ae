"""Conditions, windows, findings and their order as small data: tests/cases/*.yaml.

A case has `name`, `description`, `rules`, `log` (a text, or texts by source name) and what is expected: `findings` in
order of triage, each with those fields that matter to the case; `undecided` (rule ids); `verdict`.
"""

import random
from pathlib import Path

import pytest
import yaml
from small_packs import build_pack, scan_plainly

from troubleshoot.evaluate.evaluator import evaluate
from troubleshoot.model import Kind, ScanResult, Source
from troubleshoot.ranks import compress_ranks
from troubleshoot.triage import decide_verdict, triage

CASES = [
    (f"{path.stem}: {case['name']}", case)
    for path in sorted((Path(__file__).parent.parent / "cases").glob("*.yaml"))
    for case in yaml.safe_load(path.read_text())
]


def run(case, results=None, rules=None):
    pack = build_pack(rules or case["rules"], case.get("tables"))
    results = results if results is not None else scan_plainly(pack, case["log"], case.get("saturated"))
    evaluation = evaluate(pack, results, platform=case.get("platform"))
    return pack, evaluation, triage(pack, evaluation.findings)


def told(finding, wanted):
    """Return those fields of the finding that the case speaks of, as the case writes them."""
    evidence = [f"{each.source}:{each.line}" for each in finding.evidence]
    fix = finding.fixes[0] if finding.fixes else None
    fields = {
        "rule": finding.rule,
        "title": finding.title,
        "confidence": finding.confidence.word,
        "count": finding.count,
        "ranks": compress_ranks(finding.ranks),
        "hosts": list(finding.hosts),
        "captures": dict(finding.captures),
        "evidence": evidence,
        "first": evidence[0],
        "signatures": [each.signature for each in finding.evidence],
        "first_seen": finding.first_seen and finding.first_seen.time.strftime("%H:%M:%S"),
        "role": finding.role.value,
        "explained_by": list(finding.explained_by),
        "because": len(finding.because),
        "explanation": finding.explanation,
        "run": list(fix.run) if fix else None,
        "variants": list(fix.variants) if fix else None,
    }
    return {key: fields[key] for key in wanted}


@pytest.mark.parametrize(("name", "case"), CASES, ids=[name for name, _ in CASES])
def test_case(name, case):
    _pack, evaluation, findings = run(case)
    wanted = [each if isinstance(each, dict) else {"rule": each} for each in case.get("findings", [])]
    assert [each.rule for each in findings] == [each["rule"] for each in wanted], case["description"]
    assert [told(finding, want) for finding, want in zip(findings, wanted, strict=True)] == wanted, case["description"]
    assert [each.rule for each in evaluation.undecided] == [
        each if isinstance(each, str) else each["rule"] for each in case.get("undecided", [])
    ]
    for each, want in zip(evaluation.undecided, case.get("undecided", []), strict=True):
        if isinstance(want, dict):
            assert {"rule": each.rule, "why": each.why, "next": each.next} == want
    if "verdict" in case:
        faults = [each for each in findings if each.kind is Kind.FAULT]
        assert decide_verdict(faults, ()).value == case["verdict"]


@pytest.mark.parametrize(("name", "case"), CASES, ids=[name for name, _ in CASES])
def test_order_of_rules_and_results_is_no_matter(name, case):
    _pack, evaluation, findings = run(case)
    shuffled = random.Random(name)
    rules = list(case["rules"].items())
    shuffled.shuffle(rules)
    pack = build_pack(dict(rules), case.get("tables"))
    results = scan_plainly(pack, case["log"], case.get("saturated"))
    shuffled.shuffle(results)
    _pack, again, findings_again = run(case, results, dict(rules))
    every = (
        "rule",
        "title",
        "confidence",
        "count",
        "ranks",
        "hosts",
        "captures",
        "evidence",
        "signatures",
        "first_seen",
    )
    assert [told(each, every) for each in findings_again] == [told(each, every) for each in findings]
    assert again.undecided == evaluation.undecided


@pytest.mark.parametrize(("name", "case"), CASES, ids=[name for name, _ in CASES])
def test_a_source_without_hits_changes_nothing(name, case):
    pack, evaluation, findings = run(case)
    results = [*scan_plainly(pack, case["log"], case.get("saturated")), ScanResult(Source("aaa-unrelated.log"), (), {})]
    _pack, again, findings_again = run(case, results)
    assert (again.findings, again.undecided, findings_again) == (evaluation.findings, evaluation.undecided, findings)


def test_cases_have_names_of_their_own():
    names = [name for name, _ in CASES]
    assert sorted(set(names)) == sorted(names)
    assert len(names) > 60
