"""A fault is found in whatever people make of a log before they paste it."""

from __future__ import annotations

from functools import cache

import pytest
from manglers import FAULTS, MANGLERS

from troubleshoot.engine import Engine

ADDED = frozenset({"kubernetes/container-ended", "sagemaker/algorithm-error"})  # told by what stands around the log
TELLS_MORE = frozenset({"yaml folded quoted", "describe-training-job"})


@cache
def engine() -> Engine:
    return Engine.default()


def rules_in(paste: str | bytes) -> set[str]:
    return {finding.rule for finding in engine().scan_text(paste).findings}


@cache
def plain_rules(fault: str) -> frozenset[str]:
    return frozenset(rules_in(FAULTS[fault]))


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_plain_log_shows_its_fault(fault: str) -> None:
    assert plain_rules(fault)


@pytest.mark.parametrize("habit", sorted(MANGLERS))
def test_same_rules_are_found_in_the_paste(habit: str) -> None:
    wrong = {}
    for fault, log in FAULTS.items():
        found = rules_in(MANGLERS[habit](log)) - (ADDED if habit in TELLS_MORE else frozenset())
        if found != plain_rules(fault):
            wrong[fault] = (plain_rules(fault) - found, found - plain_rules(fault))
    assert not wrong
