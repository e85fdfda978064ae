r"""The part of jq that can be asked of a JSON line by patterns -> conditions over signatures.

    .kind == "Pod" and .spec.nfs != null
    ->  {all: [kind_pod, spec_nfs], same: record}
        kind_pod   "kind"\s*:\s*+"Pod"
        spec_nfs   "spec"\s*:\s*+[{\[].*?"nfs"\s*:\s*+(?!null\b)

Understood: paths (with `[]`, `[0]`, `?`), `and`, `or`, `not`, `|`, `select(...)`, comparisons of a path with a literal,
`path // literal`, `test`, `contains`, `startswith`, `endswith`, `has`, `IN`. A path is looked for by its keys, each
after the one before: that they lie in one another is not checked. Everything else is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from troubleshoot.importers.foreign import CannotImportError, slug
from troubleshoot.importers.regexes import translate
from troubleshoot.rulepack.text import escape

_TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<number>-?\d+(?:\.\d+)?)|(?P<op>==|!=|<=|>=|//|[<>|()\[\],.?;:]|\+|-|\*|/|%)'
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_]*))"
)
_COMPARE = ("==", "!=", "<", "<=", ">", ">=")
_GAP = r".*?"
_REST = r'(?:[^"\\]|\\.)*'  # of a JSON string
REMARK = "jq: a path is told by its keys in this order on the line, and not by what lies in what"


@dataclass(frozen=True, slots=True)
class Path:
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """`path // literal`: the literal where the path is null or false."""

    path: Path
    literal: Any


@dataclass(frozen=True, slots=True)
class Literal:
    value: Any


# A condition as written in a rule file: a signature's name, or a mapping.
Written = Any
Value = Path | Or | Literal


@dataclass(frozen=True, slots=True)
class _Test:
    """A value that is true or false: a condition, made when it is known whether it is negated."""

    condition: Written


def condition_from_jq(query: str, add: Callable[[str, str], str]) -> Written:
    """Return the condition that means the query. `add` takes a hint for a name and a pattern, and gives the signature's
    name. Raises CannotImportError."""
    reader = _Reader(query, add)
    condition = reader.whole()
    if not _is_positive(condition):
        raise CannotImportError("jq: a query that only says what must not be there")
    return condition if isinstance(condition, str) else {**condition, "same": "record"}


def _is_positive(condition: Written) -> bool:
    if isinstance(condition, str):
        return True
    if "none" in condition:
        return False
    if "any" in condition:
        return all(map(_is_positive, condition["any"]))
    return any(map(_is_positive, condition["all"])) if "all" in condition else True


class _Reader:
    """A recursive-descent reader; each method reads what its name says and returns a condition or a value."""

    def __init__(self, query: str, add: Callable[[str, str], str]) -> None:
        self._query = query
        self._add = add
        self._tokens = self._cut(query)
        self._at = 0
        self._base: tuple[str, ...] = ()  # where `.` points at

    def whole(self) -> Written:
        value = self._pipe()
        if self._at < len(self._tokens):
            self._refuse(self._tokens[self._at][1])
        return self._condition(value)

    def _cut(self, query: str) -> list[tuple[str, str]]:
        tokens, at = [], 0
        query = query.rstrip()
        while at < len(query):
            found = _TOKEN.match(query, at)
            if found is None:
                raise CannotImportError(f"jq: cannot read `{query[at : at + 20]}`")
            tokens.append((found.lastgroup or "", found[found.lastgroup or 0]))
            at = found.end()
        return tokens

    def _refuse(self, what: str) -> None:
        raise CannotImportError(f"jq: `{what}` cannot be asked of a line")

    def _peek(self, *texts: str) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at][1] in texts

    def _take(self, *texts: str) -> bool:
        if self._peek(*texts):
            self._at += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise CannotImportError(f"jq: `{text}` is missing in `{self._query.strip()}`")

    def _next(self) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            raise CannotImportError(f"jq: `{self._query.strip()}` ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    # --- operators, loosest first ------------------------------------------------------------------------------------

    def _pipe(self) -> Value | _Test:
        value = self._disjunction()
        kept: list[Written] = []
        before = self._base
        while self._take("|"):
            if self._take("not"):
                value = _Test(_negated(self._condition(value)))
            elif isinstance(value, Path):
                self._base = value.keys
                value = self._disjunction()
            elif isinstance(value, _Test):
                kept.append(value.condition)
                value = self._disjunction()
            else:
                self._refuse("|")
        self._base = before
        return _Test({"all": [*kept, self._condition(value)]}) if kept else value

    def _disjunction(self) -> Value | _Test:
        value = self._conjunction()
        branches = [value]
        while self._take("or"):
            branches.append(self._conjunction())
        return value if len(branches) == 1 else _Test({"any": [self._condition(each) for each in branches]})

    def _conjunction(self) -> Value | _Test:
        value = self._comparison()
        branches = [value]
        while self._take("and"):
            branches.append(self._comparison())
        return value if len(branches) == 1 else _Test({"all": [self._condition(each) for each in branches]})

    def _comparison(self) -> Value | _Test:
        left = self._alternative()
        if not self._peek(*_COMPARE):
            return left
        operator = self._next()[1]
        right = self._alternative()
        if isinstance(left, Literal) and not isinstance(right, Literal):
            left, right = right, left
            operator = operator.translate(str.maketrans("<>", "><"))
        if isinstance(left, Literal | _Test) or not isinstance(right, Literal):
            self._refuse(operator)
        return _Test(self._compare(left, operator, right.value))  # type: ignore[arg-type,union-attr] # refused above

    def _alternative(self) -> Value | _Test:
        value = self._postfix()
        if not self._take("//"):
            return value
        other = self._postfix()
        if not isinstance(value, Path) or not isinstance(other, Literal):
            self._refuse("//")
        return Or(value, other.value)  # type: ignore[arg-type,union-attr] # refused above

    # --- values ------------------------------------------------------------------------------------------------------

    def _postfix(self) -> Value | _Test:
        kind, text = self._next()
        if kind == "text":
            return Literal(json.loads(text))
        if kind == "number":
            return Literal(float(text) if "." in text else int(text))
        if text == "(":
            value = self._pipe()
            self._expect(")")
            return self._path(value.keys) if isinstance(value, Path) else value
        if text == ".":
            self._at -= 1
            return self._path(self._base)
        if kind == "word":
            return self._word(text)
        self._refuse(text)
        raise AssertionError("refused above")

    def _path(self, keys: tuple[str, ...]) -> Path:
        """Read what follows: `.name`, `["name"]`, `[]`, `[0]`, `?`."""
        while True:
            if self._take("."):
                kind, text = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
                if kind == "word":
                    self._at += 1
                    keys = (*keys, text)
                elif kind == "text":
                    self._at += 1
                    keys = (*keys, json.loads(text))
                elif not self._peek("["):
                    return Path(keys)
            elif self._take("["):
                if not self._take("]"):
                    kind, text = self._next()
                    if kind == "text":
                        keys = (*keys, json.loads(text))
                    elif kind != "number":
                        self._refuse("[" + text)
                    self._expect("]")
            elif not self._take("?"):
                return Path(keys)

    def _word(self, word: str) -> Value | _Test:
        if word in ("true", "false", "null"):
            return Literal({"true": True, "false": False, "null": None}[word])
        if word == "select":
            self._expect("(")
            condition = self._condition(self._pipe())
            self._expect(")")
            return _Test(condition)
        if word in ("test", "contains", "startswith", "endswith", "has", "IN"):
            self._expect("(")
            arguments = [self._literal()]
            while self._take(",", ";"):
                arguments.append(self._literal())
            self._expect(")")
            return _Test(self._function(word, arguments))
        self._refuse(word)
        raise AssertionError("refused above")

    def _literal(self) -> Any:
        value = self._postfix()
        if not isinstance(value, Literal):
            self._refuse("a function of anything but a literal")
        return value.value  # type: ignore[union-attr] # refused above

    # --- atoms -------------------------------------------------------------------------------------------------------

    def _condition(self, value: Value | _Test) -> Written:
        """Return what it takes for a value to be a match: anything but null, false or nothing."""
        if isinstance(value, _Test):
            return value.condition
        if isinstance(value, Path):
            return self._atom(value, r"(?!null\b|false\b)", "")
        self._refuse("a literal alone")
        raise AssertionError("refused above")

    def _compare(self, left: Path | Or, operator: str, right: Any) -> Written:
        path = left.path if isinstance(left, Or) else left
        if operator in ("==", "!="):
            return self._equals(left, path, operator, right)
        if isinstance(left, Or) or isinstance(right, bool) or not isinstance(right, int | float):
            self._refuse(operator)
        name = slug("-".join(path.keys), "value").replace("-", "_")
        name = name if name[0].isalpha() else f"n_{name}"
        signature = self._atom(path, rf"(?P<{name}>-?\d+(?:\.\d+)?)", "number")
        return {"any": [signature], "where": f"{name} {operator} {right}"}

    def _equals(self, left: Path | Or, path: Path, operator: str, right: Any) -> Written:
        if isinstance(left, Or) and left.literal == right:
            present = rf"(?!null\b|false\b|{_json(right)}\s*[,}}\]])"
            differs = self._atom(path, present, "set")
            return differs if operator == "!=" else _negated(differs)
        if right is None:
            there = self._atom(path, r"(?!null\b)", "")
            return there if operator == "!=" else _negated(there)
        same = self._atom(path, _json(right) + ("" if isinstance(right, str) else r"\b"), str(right))
        return same if operator == "==" else _negated(same)

    def _function(self, name: str, arguments: list[Any]) -> Written:
        path = Path(self._base)
        if name == "IN":
            atoms = [self._atom(path, _json(each), str(each)) for each in arguments]
            return atoms[0] if len(atoms) == 1 else {"any": atoms}
        if not isinstance(arguments[0], str):
            self._refuse(f"{name}({json.dumps(arguments[0])})")
        text = arguments[0]
        if name == "has":
            return self._atom(Path((*path.keys, text)), "", "")
        if name == "test":
            flags = arguments[1] if len(arguments) > 1 else ""
            return self._atom(path, '"' + _within_string(text, flags), text)
        body = _json(text)[1:-1]
        patterns = {"contains": f'"{_REST}{body}', "startswith": f'"{body}', "endswith": f'"{_REST}{body}"'}
        return self._atom(path, patterns[name], text)

    def _atom(self, path: Path, value: str, hint: str) -> str:
        if not path.keys:
            self._refuse(". alone")
        steps = [rf"{_json(key)}\s*:\s*+" for key in path.keys]
        pattern = (r"[{\[]" + _GAP).join(steps) + value
        return self._add(" ".join((*path.keys, hint)), pattern)


def _negated(condition: Written) -> Written:
    if isinstance(condition, dict) and set(condition) == {"none"}:
        inner = condition["none"]
        return inner[0] if len(inner) == 1 else {"any": inner}
    return {"none": [condition]}


def _json(value: Any) -> str:
    """Return a pattern for a value as JSON writes it."""
    return escape(json.dumps(value, ensure_ascii=False)).replace("/", r"\\?/")


def _within_string(pattern: str, flags: str) -> str:
    """Return a pattern for a text that stands in a JSON string after its opening quote."""
    if set(flags) - {"i", "x", "n", "g"} or "x" in flags:
        raise CannotImportError(f"jq: the flags `{flags}` of test")
    translated = translate(f"(?i){pattern}" if "i" in flags else pattern)
    text = translated.regex
    starts, ends = text.startswith("^"), text.endswith("$") and not text.endswith(r"\$")
    text = text[starts : len(text) - ends]
    body = f"(?:{text})" if "|" in text else text
    if not translated.exact_case:
        body = f"(?i:{body})"
    return ("" if starts else _REST + "?") + body + ('"' if ends else "")
