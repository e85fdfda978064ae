"""The `where` of a condition: comparisons over captures, as a small grammar that is parsed and never run as code.

In: `needed > 2.31 and code in [134, 137]`. Out: an `Expression` that says TRUE, FALSE or UNDECIDED for given captures.

    or-expression   = and-expression { "or" and-expression }
    and-expression  = not-expression { "and" not-expression }
    not-expression  = "not" not-expression | comparison
    comparison      = "(" or-expression ")" | operand operator operand | operand ["not"] "in" list
    list            = "[" operand { "," operand } "]"
    operator        = "==" | "!=" | "<" | "<=" | ">" | ">="
    operand         = name | number | size | duration | version | string in quotes

Values are compared as `values` says: numbers, sizes and durations as such, two texts with a dot as versions, the rest
as text without regard to case. A string in quotes is compared as written by `==`, `!=` and `in`.

Three values: a name without a value, or an order that makes no sense (`'abc' < 2`), is UNDECIDED and carries its
reason. `not`, `and`, `or` follow Kleene: UNDECIDED or TRUE is TRUE, UNDECIDED and FALSE is FALSE.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from troubleshoot import late
from troubleshoot.errors import UsageError
from troubleshoot.model import Truth
from troubleshoot.values import Value, equal, is_duration_unit, is_size_unit, order, same_text

MAX_CHARS = 1_000  # of one expression; a longer one is a mistake
MAX_DEPTH = 40  # of parentheses and `not`, well inside Python's own stack

_TOKEN = late.compile(
    r"""\s*(?:
        (?P<string>'[^']*'|"[^"]*")
      | (?P<value>[-+]?\d+(?:[.:]?[\w+~]|-(?=[\w]))*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<op>==|!=|<=|>=|<|>|\(|\)|\[|\]|,)
      | (?P<end>\Z)
      | (?P<bad>&&|\|\||.)
    )""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_WORDS = frozenset({"and", "or", "not", "in"})
_TESTS: Mapping[str, Callable[[int], bool]] = {
    "<": lambda sign: sign < 0,
    "<=": lambda sign: sign <= 0,
    ">": lambda sign: sign > 0,
    ">=": lambda sign: sign >= 0,
}
_INSTEAD = {
    "=": "write == for equal",
    "&": "write and",
    "&&": "write and",
    "|": "write or",
    "||": "write or",
    "!": "write not",
}

_Said = tuple[Truth, str]  # the answer, and the reason where it is UNDECIDED


class WhereError(UsageError):
    """An expression that cannot be read. `column` counts characters of the expression from 1."""

    def __init__(self, text: str, *, column: int, help: str = "") -> None:
        super().__init__(f"{text} at column {column}", help=help)
        self.column = column


@dataclass(frozen=True, slots=True)
class _Name:
    name: str


@dataclass(frozen=True, slots=True)
class _Literal:
    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class _Compare:
    left: _Name | _Literal
    op: str
    right: _Name | _Literal


@dataclass(frozen=True, slots=True)
class _Member:
    left: _Name | _Literal
    items: tuple[_Name | _Literal, ...]


@dataclass(frozen=True, slots=True)
class _Not:
    inner: _Node


@dataclass(frozen=True, slots=True)
class _Joined:
    word: str  # "and" or "or"
    parts: tuple[_Node, ...]


_Node = _Compare | _Member | _Not | _Joined


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed `where`. Ask `names()` for the captures it needs and `evaluate(values)` for its answer."""

    text: str
    root: _Node

    def names(self) -> frozenset[str]:
        """Return every capture name that the expression reads."""
        return frozenset(_names(self.root))

    def evaluate(self, values: Mapping[str, Value]) -> Truth:
        """Return TRUE, FALSE or UNDECIDED; never raises, whatever the values are."""
        return _say(self.root, values)[0]

    def explain(self, values: Mapping[str, Value]) -> tuple[Truth, str]:
        """Return the answer and, where it is UNDECIDED, the reason."""
        return _say(self.root, values)

    def conjuncts(self) -> tuple[Expression, ...]:
        """Return the parts of a top-level `and`, which must each hold; the expression itself if it is none."""
        if isinstance(self.root, _Joined) and self.root.word == "and":
            return tuple(Expression(self.text, part) for part in self.root.parts)
        return (self,)


def parse_where(text: str) -> Expression:
    """Return the expression, or raise WhereError with the column and what to write instead."""
    if len(text) > MAX_CHARS:
        raise WhereError(f"expression of more than {MAX_CHARS} characters", column=MAX_CHARS, help="split the rule")
    return Expression(text, _Parser(text).parse())


# --- parsing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # string, value, name, op, word, end
    text: str
    column: int


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while True:
        found = _TOKEN.match(text, at)
        assert found is not None and found.lastgroup is not None  # `bad` takes any character
        kind, word, column = found.lastgroup, found[found.lastgroup], found.start(found.lastgroup) + 1
        if kind == "bad":
            raise WhereError(f"unexpected {word!r}", column=column, help=_INSTEAD.get(word, _unexpected(word)))
        if kind == "name" and word in _WORDS:
            kind = "word"
        if kind == "name" and tokens and tokens[-1].kind == "value" and (is_size_unit(word) or is_duration_unit(word)):
            tokens[-1] = _Token("value", f"{tokens[-1].text} {word}", tokens[-1].column)
        else:
            tokens.append(_Token(kind, word, column))
        if kind == "end":
            return tokens
        at = found.end()


def _unexpected(word: str) -> str:
    if word in "'\"":
        return "close the quote"
    return "use names, numbers, strings in quotes, == != < <= > >= in and or not"


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0

    def parse(self) -> _Node:
        node = self._joined("or")
        if self._now.kind != "end":
            if self._now.text in ("<", "<=", ">", ">=", "==", "!="):
                raise self._error("a second comparison", "join two comparisons with and: 1 < x and x < 3")
            raise self._error(f"unexpected {self._now.text!r}", "join comparisons with and, or")
        return node

    @property
    def _now(self) -> _Token:
        return self._tokens[self._at]

    def _take(self, *texts: str) -> bool:
        if self._now.kind in ("op", "word") and self._now.text in texts:
            self._at += 1
            return True
        return False

    def _error(self, text: str, help: str) -> WhereError:
        return WhereError(text, column=self._now.column, help=help)

    def _joined(self, word: str) -> _Node:
        parts = [self._joined("and") if word == "or" else self._negated()]
        while self._take(word):
            parts.append(self._joined("and") if word == "or" else self._negated())
        return parts[0] if len(parts) == 1 else _Joined(word, tuple(parts))

    def _negated(self) -> _Node:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error("too deeply nested", "take away parentheses, or split the rule")
        if self._take("not"):
            node: _Node = _Not(self._negated())
        elif self._take("("):
            node = self._joined("or")
            if not self._take(")"):
                raise self._error("parenthesis not closed", "write )")
        else:
            node = self._comparison()
        self._depth -= 1
        return node

    def _comparison(self) -> _Node:
        left = self._operand()
        if self._take("not"):
            if not self._take("in"):
                raise self._error("expected in after not", "write: code not in [1, 2]")
            return _Not(_Member(left, self._list()))
        if self._take("in"):
            return _Member(left, self._list())
        op = self._now.text
        if self._now.kind != "op" or op not in ("==", "!=", "<", "<=", ">", ">="):
            raise self._error("expected a comparison", "a capture alone says nothing: write name == 'value'")
        self._at += 1
        return _Compare(left, op, self._operand())

    def _list(self) -> tuple[_Name | _Literal, ...]:
        if not self._take("["):
            raise self._error("expected a list", "write: code in [134, 137]")
        items = [self._operand()]
        while self._take(","):
            items.append(self._operand())
        if not self._take("]"):
            raise self._error("list not closed", "write ]")
        return tuple(items)

    def _operand(self) -> _Name | _Literal:
        token = self._now
        if token.kind not in ("string", "value", "name"):
            what = "end" if token.kind == "end" else repr(token.text)
            raise self._error(f"expected a value, found {what}", "a value is a capture's name, a number or a 'string'")
        self._at += 1
        if token.kind == "string":
            return _Literal(token.text[1:-1], quoted=True)
        return _Name(token.text) if token.kind == "name" else _Literal(token.text)


# --- evaluating ------------------------------------------------------------------------------------------------------


def _say(node: _Node, values: Mapping[str, Value]) -> _Said:
    if isinstance(node, _Compare):
        return _say_compare(node, values)
    if isinstance(node, _Member):
        return _either([_say_compare(_Compare(node.left, "==", item), values) for item in node.items])
    if isinstance(node, _Not):
        return _negate(_say(node.inner, values))
    said = [_say(part, values) for part in node.parts]
    return _either(said) if node.word == "or" else _negate(_either([_negate(one) for one in said]))


def _say_compare(node: _Compare, values: Mapping[str, Value]) -> _Said:
    left, right = _value(node.left, values), _value(node.right, values)
    for operand, value in ((node.left, left), (node.right, right)):
        if value is None and isinstance(operand, _Name):
            return Truth.UNDECIDED, f"{operand.name} has no value"
    assert left is not None and right is not None  # a literal always has a value
    if node.op in ("==", "!="):
        quoted = any(isinstance(operand, _Literal) and operand.quoted for operand in (node.left, node.right))
        same = same_text(left, right) if quoted else equal(left, right)
        return _truth(same == (node.op == "=="))
    sign = order(left, right)
    if sign is None:
        return Truth.UNDECIDED, f"{left} {node.op} {right} cannot be compared"
    return _truth(_TESTS[node.op](sign))


def _value(operand: _Name | _Literal, values: Mapping[str, Value]) -> Value | None:
    return values.get(operand.name) if isinstance(operand, _Name) else operand.text


def _truth(holds: bool) -> _Said:
    return (Truth.TRUE if holds else Truth.FALSE), ""


def _negate(said: _Said) -> _Said:
    truth, why = said
    return {Truth.TRUE: Truth.FALSE, Truth.FALSE: Truth.TRUE, Truth.UNDECIDED: Truth.UNDECIDED}[truth], why


def _either(said: list[_Said]) -> _Said:
    if any(truth is Truth.TRUE for truth, _ in said):
        return Truth.TRUE, ""
    return next((one for one in said if one[0] is Truth.UNDECIDED), (Truth.FALSE, ""))


def _names(node: _Node) -> set[str]:
    if isinstance(node, _Not):
        return _names(node.inner)
    if isinstance(node, _Joined):
        return set().union(*(_names(part) for part in node.parts))
    operands = (node.left, node.right) if isinstance(node, _Compare) else (node.left, *node.items)
    return {operand.name for operand in operands if isinstance(operand, _Name)}
