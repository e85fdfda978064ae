import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from troubleshoot.errors import UsageError
from troubleshoot.model import Truth
from troubleshoot.values import equal, order, parse_duration, parse_size
from troubleshoot.where import WhereError, parse_where

T, F, U = Truth.TRUE, Truth.FALSE, Truth.UNDECIDED


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("needed > 2.31", {"needed": "2.34"}, T),
        ("needed > 2.31", {"needed": "2.9"}, F),  # a version, not a number
        ("needed > 2.31", {"needed": "2.31"}, F),
        ("needed >= 2.34.0", {"needed": "2.34"}, T),
        ("needed < 3", {"needed": "2.34"}, T),
        ("v > 1.12", {"v": "1.12.1-aws"}, T),
        ("v == 1.12.1", {"v": "1.12.1-aws"}, T),
        ("v != 2.21.5", {"v": "2.21.5+cuda12.4"}, F),
        ("a != b", {"a": "2.1.0+cu118", "b": "2.1.0+cu121"}, T),
        ("a == b", {"a": "12.4", "b": "12.4.0"}, T),
        ("v < 2.2", {"v": "2.2.0rc1"}, T),
        ("loss < 0.5", {"loss": 0.25}, T),  # a float hole: a number
        ("loss < 0.5", {"loss": "1e-3"}, T),
        ("code in [134, 137, 139]", {"code": "137"}, T),
        ("code in [134, -9]", {"code": "-9"}, T),
        ("code not in [134, 137]", {"code": "1"}, T),
        ("count >= 3", {"count": 3}, T),
        ("count>=3", {"count": 2}, F),
        ("code == 0x10", {"code": "16"}, T),
        ("free < 5Gi", {"free": "2.50 GiB"}, T),
        ("free < 1 GiB", {"free": "1023 MiB"}, T),
        ("free > 1GB", {"free": "1 GiB"}, T),
        ("total == 81.92GB", {"total": "81920MB"}, T),
        ("size > 1Mi", {"size": "2097152"}, T),  # a plain number counts bytes
        ("timeout >= 10 min", {"timeout": "600000 ms"}, T),
        ("timeout == 00:10:00", {"timeout": "600000ms"}, T),
        ("limit < 1h", {"limit": "1-00:00:00"}, F),
        ("age > 2m", {"age": "2m3s"}, T),
        ("timeout > 10 min", {"timeout": "600000"}, U),  # of what unit?
        ("action == 'Reset'", {"action": "reset"}, T),
        ("op == ALLREDUCE", {"op": "x", "ALLREDUCE": "X"}, T),
        ("x == '010'", {"x": "10"}, F),  # quotes: as written
        ("x == 010", {"x": "10"}, T),
        ("x == 'abc'", {}, U),
        ("x < 2", {"x": "abc"}, U),
        ("x < 'b'", {"x": "a"}, U),
        ("x == 5", {"x": "five"}, F),
        ("x == 1 or y == 2", {"y": "2"}, T),
        ("x == 1 and y == 2", {"y": "3"}, F),
        ("x == 1 and y == 2", {"y": "2"}, U),
        ("not x == 1", {}, U),
        ("not (a == 1 and b == 1)", {"a": "1", "b": "2"}, T),
        ("a == 1 or a == 2 and a == 3", {"a": "1"}, T),  # and binds closer
        ("x in [y, 3]", {"x": "3"}, T),
        ("x in [y, 3]", {"x": "4"}, U),
    ],
)
def test_where_says(text, values, expected):
    assert parse_where(text).evaluate(values) is expected


def test_reason_of_undecided_names_what_is_wanting():
    assert parse_where("needed > 2.31").explain({}) == (U, "needed has no value")
    assert parse_where("needed > 2.31").explain({"needed": "new"}) == (U, "new > 2.31 cannot be compared")


def test_names_are_captures_only():
    expression = parse_where("needed > 2.31 and (code in [limit, 1] or not host == 'gpu') and free < 5 GiB")
    assert expression.names() == {"needed", "code", "limit", "host", "free"}


def test_conjuncts_hold_together():
    parts = parse_where("a == 1 and (b == 2 or c == 3) and count > 2").conjuncts()
    assert [sorted(part.names()) for part in parts] == [["a"], ["b", "c"], ["count"]]


@pytest.mark.parametrize(
    ("text", "column", "help_has"),
    [
        ("", 1, "capture's name"),
        ("needed >", 9, "capture's name"),
        ("needed", 7, "== 'value'"),
        ("a = 1", 3, "=="),
        ("a == 1 && b == 2", 8, "and"),
        ("a == 1 b == 2", 8, "and"),
        ("1 < x < 3", 7, "1 < x and x < 3"),
        ("(a == 1", 8, ")"),
        ("a in 134", 6, "[134, 137]"),
        ("a in [134", 10, "]"),
        ("a == 'x", 6, "close the quote"),
        ("a not 3", 7, "not in"),
        ("__import__('os')", 11, "== 'value'"),
        ("(" * 100 + "a == 1" + ")" * 100, 41, "parentheses"),
    ],
)
def test_error_says_where_and_what_instead(text, column, help_has):
    with pytest.raises(UsageError) as caught:
        parse_where(text)
    assert isinstance(caught.value, WhereError)
    assert (caught.value.column, help_has in caught.value.help) == (column, True), caught.value.help


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_parser_raises_nothing_but_its_own_error(text):
    try:
        parse_where(text)
    except WhereError as error:
        assert error.help


value_texts = st.one_of(
    st.text(max_size=30),
    st.from_regex(r"\A[-+v]?[0-9]{1,25}(\.[0-9]{1,25}){0,9}[-+ ]?(GiB|ms|rc1|cu121|M|)\Z"),
)


@settings(max_examples=300, deadline=None)
@given(value_texts, value_texts)
def test_order_is_antisymmetric_and_never_raises(a, b):
    forth, back = order(a, b), order(b, a)
    assert (forth is None) == (back is None)
    if forth is not None and back is not None:
        assert forth == -back
    assert equal(a, b) == equal(b, a)


def test_units():
    assert parse_size("5Gi") == 5 * 1024**3
    assert parse_size("512M") == 512e6
    assert parse_size("4 kB") == 4000
    assert parse_size("12") is None
    assert parse_size("5 m") is None  # minutes
    assert parse_duration("1h30m") == 5400
    assert parse_duration("10:00") == 600
    assert parse_duration("12") is None
    assert parse_duration("") is None


def test_an_address_is_no_number():
    assert equal("10.0.0.1", "10.0.0.1")
    assert not equal("10.0.0.1", "10.0.0.10")
