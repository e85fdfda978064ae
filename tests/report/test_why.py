"""The tree that says why a rule fired or did not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from troubleshoot.explain import Explanation, NearLine, SignatureAnswer
from troubleshoot.model import (
    Condition,
    Confidence,
    Hit,
    Op,
    Outcome,
    Pattern,
    Record,
    Rule,
    Severity,
    Signature,
    SignatureHit,
    Source,
    Truth,
    Window,
)
from troubleshoot.report.look import Look
from troubleshoot.report.why import describe, render_why

LINE = "mpirun: /lib/libc.so.6: version `GLIBC_2.34' not found (required by \x1b[31m/usr/lib/libfoo.so)"
TOO_OLD = Signature("too_old", (Pattern(0, "text", "version 'GLIBC_{needed:version}' not found", "x"),))
MOUNT = Signature("efa_mount", (Pattern(1, "regex", r"(?P<mount>/opt/amazon-efa-ofi)/", "x"),))


def leaf(name: str) -> Condition:
    return Condition(Op.SIGNATURE, signature=name)


VETO = leaf("veto")
CONDITION = Condition(Op.ALL, (leaf("too_old"), leaf("efa_mount")), same="record", unless=VETO)
RULE = Rule(
    "efa/glibc-too-old",
    "The image's glibc is too old (GLIBC_{needed})",
    Severity.HIGH,
    Confidence.HIGH,
    {"too_old": TOO_OLD, "efa_mount": MOUNT},
    CONDITION,
)
HIT = SignatureHit("too_old", Hit(0, Record(Source("launcher.log"), 12, 12, 0, LINE, LINE), {"needed": "2.34"}, 24, 54))


def explanation(*, fired: bool) -> Explanation:
    truth = Truth.TRUE if fired else Truth.FALSE
    outcome = Outcome(
        CONDITION,
        truth,
        (HIT,),
        (
            Outcome(CONDITION.children[0], Truth.TRUE, (HIT,) * 5),
            Outcome(CONDITION.children[1], truth, why="no efa_mount"),
            Outcome(VETO, Truth.FALSE),
        ),
        why="" if fired else "never both on one record",
        doubts=("the clocks of two hosts",) if fired else (),
    )
    near = NearLine("launcher.log", 12, LINE, "version 'GLIBC_2.34' not found", "/opt/amazon-efa-ofi", 55)
    answers = (SignatureAnswer(TOO_OLD, (HIT,)), SignatureAnswer(MOUNT, (), (near,)))
    return Explanation(RULE, fired, outcome, answers)


def test_why_not_is_as_agreed(golden: Callable[[str, str], None]) -> None:
    golden("why-not.txt", render_why(explanation(fired=False)))


def test_why_is_as_agreed(golden: Callable[[str, str], None]) -> None:
    golden("why.txt", render_why(explanation(fired=True)))


def test_nothing_seen_is_said() -> None:
    text = render_why(Explanation(RULE, False, None, (SignatureAnswer(MOUNT, ()),)))
    assert "No signature of the rule was seen" in text
    assert "No line begins to match it." in text


@pytest.mark.parametrize("colour", [True, False])
def test_no_control_character_of_the_log_is_printed(colour: bool) -> None:
    text = render_why(explanation(fired=False), Look(colour=colour))
    assert "\x1b[31m/usr" not in text
    assert "\\x1b[31m/usr" in text


def test_no_secret_of_the_log_is_printed() -> None:
    near = NearLine("a.log", 1, "login with password=hunter2 failed", "login with", "succeeded", 11)
    text = render_why(Explanation(RULE, False, None, (SignatureAnswer(MOUNT, (), (near,)),)))
    assert "hunter2" not in text
    assert "password=[redacted:password] failed" in text


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (leaf("a"), "a"),
        (Condition(Op.ALL, same="rank"), "all of, in one rank"),
        (Condition(Op.ANY, same="library"), "any of, with the same library"),
        (Condition(Op.AT_LEAST, n=3, distinct="host"), "at least 3 different host of"),
        (Condition(Op.IN_ORDER, within=Window(seconds=30)), "in this order, within 30 s"),
        (Condition(Op.ALL, within=Window(records=20), where="n > 1"), "all of, within 20 records, where n > 1"),
        (Condition(Op.MISSING), "missing"),
    ],
)
def test_condition_in_words(condition: Condition, expected: str) -> None:
    assert describe(condition) == expected
