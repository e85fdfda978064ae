"""The tree that says why a rule fired or did not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from troubleshoot.explain import Explanation, SignatureAnswer
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
from troubleshoot.nearest import NearLine
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
    assert "No line comes near it." in text


@pytest.mark.parametrize("colour", [True, False])
def test_no_control_character_of_the_log_is_printed(colour: bool) -> None:
    text = render_why(explanation(fired=False), Look(colour=colour))
    assert "\x1b[31m/usr" not in text
    assert "\\x1b[31m/usr" in text


def near_text(text: str, parted: int, **more: Any) -> str:
    near = NearLine("a.log", 1, text, "held", "succeeded", parted, **more)
    return render_why(Explanation(RULE, False, None, (SignatureAnswer(MOUNT, (), (near,)),)))


@pytest.mark.parametrize(
    ("line", "char", "more", "words"),
    [
        ("it was a failure", "f", {}, "expected here: succeeded"),
        ("it was a failure", "f", {"backwards": True}, "expected before this: succeeded"),
        ("it was a failure", "f", {"anywhere": True}, "expected anywhere from here on: succeeded"),
        ("内存 \x1b[31mwas a\tFailure", "F", {}, "expected here: succeeded"),
        ("x" * 300 + "F" + "y" * 300, "F", {}, "expected here: succeeded"),
        ("F" + "y" * 300, "F", {}, "expected here: succeeded"),
    ],
)
def test_caret_is_below_the_character_at_which_they_part(
    line: str, char: str, more: dict[str, bool], words: str
) -> None:
    text = near_text(line, line.index(char) + 1, **more)
    shown, caret = text.splitlines()[-3:-1] if text.splitlines()[-1].strip() == words else text.splitlines()[-2:]
    assert words in text
    before = shown[: shown.index(char)]
    assert caret.index("^") == sum(2 if each in "内存" else 1 for each in before)


def test_no_secret_of_the_log_is_printed() -> None:
    line = "login with password=hunter2 failed"
    text = near_text(line, line.index("failed") + 1)
    assert "hunter2" not in text
    shown, caret = text.splitlines()[-2:]
    assert "password=[redacted:password] failed" in shown
    assert caret.index("^") == shown.index("failed")
    inside = near_text(line, line.index("hunter2") + 3)
    assert "hunter2" not in inside
    assert "^" not in inside
    assert "expected within what was taken out: succeeded" in inside


def test_line_that_holds_all_of_it_and_was_not_taken_says_so() -> None:
    near = NearLine("a.log", 1, "try: the link is down", "the link is down", "", 22)
    text = render_why(Explanation(RULE, False, None, (SignatureAnswer(MOUNT, (), (near,)),)))
    assert "all of it holds, but the line was not taken" in text


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
