"""Looking for rules: by domain, by system, by words."""

from __future__ import annotations

import pytest

from troubleshoot.model import Condition, Confidence, Op, Rule, RulePack, Severity
from troubleshoot.rulepack.search import rule_summary, search_rules


def rule(id: str, title: str, systems: tuple[str, ...] = (), explanation: str = "") -> Rule:
    condition = Condition(Op.SIGNATURE, signature="line")
    return Rule(id, title, Severity.HIGH, Confidence.LOW, {}, condition, systems=systems, explanation=explanation)


RULES = (rule("nccl/slow", "A slow ring"), rule("efa/off", "EFA is off", ("efa", "nccl"), "Nothing is Mounted."))
PACK = RulePack("p", "1", "h", {each.id: each for each in RULES}, (), ())


@pytest.mark.parametrize(
    ("words", "domain", "system", "expected"),
    [
        ((), None, None, ["efa/off", "nccl/slow"]),
        (("MOUNTED", "off"), None, None, ["efa/off"]),
        (("nccl",), None, None, ["efa/off", "nccl/slow"]),
        ((), "nccl", None, ["nccl/slow"]),
        ((), None, "nccl", ["efa/off"]),
        (("slow",), "efa", None, []),
    ],
)
def test_rules_are_found(words: tuple[str, ...], domain: str | None, system: str | None, expected: list[str]) -> None:
    assert [each.id for each in search_rules(PACK, words, domain=domain, system=system)] == expected


def test_summary_is_ready_for_json() -> None:
    assert rule_summary(RULES[1]) == {
        "id": "efa/off",
        "title": "EFA is off",
        "kind": "fault",
        "severity": "high",
        "confidence": "low",
        "status": "stable",
        "systems": ["efa", "nccl"],
        "tags": [],
    }
