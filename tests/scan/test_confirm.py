from __future__ import annotations

import time

import pytest
from scan_samples import pattern, text_pattern

from troubleshoot import limits
from troubleshoot.scan.confirm import Confirmer


def test_captures_of_a_match() -> None:
    one = Confirmer([pattern(r"rank (?P<rank>\d+)(?: on (?P<host>\S+))?")])
    found = one.confirm(0, "lost rank 3", str)
    assert found is not None
    assert (found.start, found.end, found.captures, found.in_raw) == (5, 11, {"rank": "3"}, False)


def test_raw_text_is_tried_when_the_peeled_has_nothing() -> None:
    one = Confirmer([pattern(r"rank3: lost")])
    found = one.confirm(0, "lost", lambda: "rank3: lost")
    assert found is not None
    assert found.in_raw


def test_case_counts_only_where_it_is_said() -> None:
    one = Confirmer([pattern("Killed", 0), pattern("Killed", 1, exact_case=True)])
    assert one.confirm(0, "KILLED", str) is not None
    assert one.confirm(1, "KILLED", str) is None


@pytest.mark.parametrize("text", ["\u212aILLED", "\u017ftop", "É"])
def test_caseless_is_ascii_alone(text: str) -> None:
    """As in the prefilter: a Kelvin sign is no k."""
    one = Confirmer([pattern("killed|stop|é")])
    assert one.confirm(0, text, str) is None


def test_anchors_match_at_each_line() -> None:
    one = Confirmer([pattern(r"^b$", lines=3)])
    assert one.confirm(0, "a\nb\nc", str) is not None
    assert one.confirm(0, "a\nb\nc", str, first_line=True) is None


def test_text_over_its_time_raises() -> None:
    one = Confirmer([pattern(r"(?:a|aa)+$")])
    begin = time.monotonic()
    with pytest.raises(TimeoutError):
        one.confirm(0, "a" * 60 + "b", lambda: "")
    assert time.monotonic() - begin < 20 * limits.CONFIRM_TIMEOUT_S


def test_text_signature_forgives_quotes_and_blanks() -> None:
    one = Confirmer([text_pattern("version 'GLIBC_{needed:version}' not found")])
    for line in (
        "version `GLIBC_2.34' not found",
        "version \u2018GLIBC_2.34\u2019  not found",
        "VERSION GLIBC_2.34 not found",
    ):
        found = one.confirm(0, line, str)
        assert found is not None, line
        assert found.captures == {"needed": "2.34"}


@pytest.mark.parametrize("line", ["module ’numpy’ has no attribute ’bool8’", "module ‘numpy’ has no attribute ‘bool8’"])
def test_round_quotes_of_a_chat_are_read_as_the_straight_ones_they_were(line: str) -> None:
    confirmer = Confirmer([pattern(r"module 'numpy' has no attribute '(?P<name>\w+)'")])
    found = confirmer.confirm(0, line, lambda: line)
    assert found is not None
    assert (found.captures["name"], line[found.start : found.end], found.in_raw) == ("bool8", line, False)


def test_a_pattern_that_asks_for_round_quotes_finds_them() -> None:
    confirmer = Confirmer([pattern("cannot stat ‘(?P<path>[^’]+)’")])
    found = confirmer.confirm(0, "cp: cannot stat ‘/a’: No such file", lambda: "")
    assert found is not None
    assert found.captures["path"] == "/a"
