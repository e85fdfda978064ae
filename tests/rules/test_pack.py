"""The shipped pack as a whole: it loads strictly, no lint calls anything in it an error, and its examples hold."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from troubleshoot.engine import Engine
from troubleshoot.model import Kind, Severity, Status
from troubleshoot.rulepack.lint import lint_pack
from troubleshoot.rulepack.load import load_pack

if TYPE_CHECKING:
    from collections.abc import Iterable

    from troubleshoot.errors import Problem
    from troubleshoot.model import RulePack

EXAMPLE_COMES_OUT_OTHERWISE = "L005"
EXAMPLE_FIRES_ANOTHER_RULE = "L006"
MEASURED = frozenset({"L015"})  # a pattern that runs long: told by the clock, which a busy machine bends


@pytest.fixture(scope="module")
def pack() -> RulePack:
    """The pack with its drafts, read anew. Raises every problem of every file at once."""
    return load_pack(drafts=True, strict=True, cache=False, overrides=None)


@pytest.fixture(scope="module")
def problems(pack: RulePack) -> tuple[Problem, ...]:
    """What the lints say of the pack. Each example is scanned once with all rules."""
    return tuple(lint_pack(pack, Engine(pack).scan_texts))


def told(heading: str, problems: Iterable[object]) -> str:
    lines = [str(each) for each in problems]
    return "\n\n".join([f"{heading}: {len(lines)}", *lines])


def test_every_rule_has_an_example_that_matches_and_a_near_miss(pack: RulePack) -> None:
    without = [
        f"{rule.id}: no `{wanted}`"
        for rule in pack.rules.values()
        for wanted in ("match", "no_match")
        if not any(example.expect == wanted for example in rule.examples)
        and not (wanted == "no_match" and rule.status is Status.DEPRECATED)
    ]
    assert not without, told("rules without an example", without)


@pytest.mark.slow
def test_every_example_comes_out_as_it_states(problems: tuple[Problem, ...]) -> None:
    broken = [each for each in problems if each.code == EXAMPLE_COMES_OUT_OTHERWISE]
    assert not broken, told("examples that come out otherwise than they state", broken)


@pytest.mark.slow
def test_no_rule_fires_on_another_rules_example_unasked(problems: tuple[Problem, ...]) -> None:
    foreign = [each for each in problems if each.code == EXAMPLE_FIRES_ANOTHER_RULE]
    assert not foreign, told("examples on which another rule fires that `also` does not name", foreign)


@pytest.mark.slow
def test_no_lint_calls_anything_in_the_pack_an_error(problems: tuple[Problem, ...]) -> None:
    errors = [each for each in problems if each.severity == "error"]
    assert not errors, told("errors that the lints found", errors)


@pytest.mark.slow
def test_every_lint_warning_is_settled(problems: tuple[Problem, ...]) -> None:
    warnings = [each for each in problems if each.severity != "error" and each.code not in MEASURED]
    assert not warnings, told(f"warnings of the lints, {dict(Counter(each.code for each in warnings))}", warnings)


def test_every_fault_says_what_to_do_and_where_the_string_is_born(pack: RulePack) -> None:
    silent = [
        f"{rule.id}: no {what}"
        for rule in pack.rules.values()
        if rule.kind is Kind.FAULT
        for what, there in (("fix", rule.fixes), ("explanation", rule.explanation), ("reference", rule.references))
        if not there
    ]
    assert not silent, told("faults that leave the reader alone", silent)


def test_a_confirmation_is_never_an_alarm(pack: RulePack) -> None:
    loud = [
        f"{rule.id}: {rule.severity.word}"
        for rule in pack.rules.values()
        if rule.kind is Kind.CONFIRMATION and rule.severity > Severity.LOW
    ]
    assert not loud, told("confirmations of a severity above low", loud)


def test_what_only_reports_the_end_of_a_process_never_stands_alone_as_critical(pack: RulePack) -> None:
    grave = [
        f"{rule.id}: {rule.severity.word}"
        for rule in pack.rules.values()
        if rule.symptom and rule.severity >= Severity.CRITICAL
    ]
    assert not grave, told("symptoms of severity critical", grave)
