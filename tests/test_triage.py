"""What tests/cases/triage.yaml cannot say well: determinism, speed, the verdict's suspects. The order is there."""

import random
import time
from dataclasses import replace

import pytest
from evaluate.small_packs import build_pack, scan_plainly

from troubleshoot.evaluate.evaluator import evaluate
from troubleshoot.model import Kind, Role, Suspect, Verdict
from troubleshoot.triage import came_before, decide_verdict, triage


def findings_of(rules, log):
    pack = build_pack(rules)
    return pack, evaluate(pack, scan_plainly(pack, log)).findings


def random_rules(seed, number=24):
    """Return rules that explain each other at random, circles included, and a log that fires them all."""
    dice = random.Random(seed)
    names = [f"d{dice.randrange(3)}/r{at}" for at in range(number)]
    rules = {
        name: {
            "signatures": {"a": f"line{at}end"},
            "severity": dice.choice(["low", "medium", "high", "critical"]),
            "confidence": dice.choice(["low", "medium", "high"]),
            "symptom": dice.random() < 0.3,
            "generic": dice.random() < 0.1,
            "tags": dice.sample(["t1", "t2"], dice.randrange(2)),
            "causes": dice.sample([*names, "#t1", "#t2", "d1/*"], dice.randrange(4)),
        }
        for at, name in enumerate(names)
    }
    lines = [f"line{at}end" for at in range(number)]
    dice.shuffle(lines)
    half = number // 2
    timed = [f"12:{at // 60:02d}:{at % 60:02d} {line}" for at, line in enumerate(lines[half:])]
    return rules, {"a.log": "\n".join(lines[:half]), "b.log": "\n".join(timed)}


@pytest.mark.parametrize("seed", range(30))
def test_order_holds_its_promises_whatever_the_rules(seed):
    pack, findings = findings_of(*random_rules(seed))
    ordered = triage(pack, findings)
    place = {each.rule: at for at, each in enumerate(ordered)}
    assert sorted(place) == sorted(pack.rules)  # none lost, none twice
    for each in ordered:
        assert all(place[cause] < place[each.rule] for cause in each.explained_by), each
        assert (each.role is Role.SYMPTOM) == bool(each.explained_by or each.symptom)
    worse = [each for each in ordered if each.severity > 1]
    if any(not each.symptom and not each.generic for each in worse):
        assert not ordered[0].symptom and not ordered[0].generic
    shuffled = list(findings)
    random.Random(seed).shuffle(shuffled)
    assert triage(pack, shuffled) == ordered
    assert [each.rule for each in triage(pack, ordered)] == [each.rule for each in ordered]  # once is enough


def test_many_findings_in_bounded_time():
    rules, log = random_rules(7, number=200)
    pack, findings = findings_of(rules, log)
    began = time.monotonic()
    assert len(triage(pack, findings)) == 200
    assert time.monotonic() - began < 5


def test_came_before_is_never_mutual():
    _pack, findings = findings_of(*random_rules(3))
    for a in findings:
        assert not came_before(a, a)
        assert not any(came_before(a, b) and came_before(b, a) for b in findings)


def test_verdict_of_suspects_and_confirmations():
    _pack, (finding,) = findings_of({"x/a": {"signatures": {"a": "alpha"}}}, "alpha")
    heavy, middle, light = (Suspect("log", 1, "x", 1, "y", weight=weight) for weight in (90, 55, 30))
    notice = replace(finding, severity=type(finding.severity).LOW)
    assert decide_verdict([], []) is Verdict.CLEAN
    assert decide_verdict([], [light]) is Verdict.CLEAN
    assert decide_verdict([], [light, heavy]) is Verdict.UNKNOWN_FAULT
    assert decide_verdict([notice], [light]) is Verdict.CLEAN
    assert decide_verdict([notice], [heavy]) is Verdict.UNKNOWN_FAULT
    assert decide_verdict([replace(finding, generic=True)], [heavy]) is Verdict.UNKNOWN_FAULT
    assert decide_verdict([replace(finding, kind=Kind.CONFIRMATION)], []) is Verdict.CLEAN
    assert decide_verdict([finding], [heavy]) is Verdict.FAULT
    symptom = replace(finding, symptom=True)
    assert decide_verdict([symptom], [middle]) is Verdict.FAULT
    assert (
        decide_verdict([symptom], [heavy]) is Verdict.UNKNOWN_FAULT
    )  # the exception is the fault, and nobody knows it
    assert decide_verdict([symptom, finding], [heavy]) is Verdict.FAULT
