r"""Patterns of Go's and Rust's `regexp` -> patterns of `regex`, meaning the same on one line.

    \Qa.b\E (?P<Host>\w+)\z     ->     a\.b (?P<host>\w+)\Z
    (?i)failed                  ->     failed, and letter case does not count
    boom {what}                 ->     boom \{what}     (here a brace after something may ask for fuzzy matching)

What has no equal is refused: a pattern that only nearly means the same would find what it should not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import regex

from troubleshoot.importers.foreign import CannotImportError
from troubleshoot.rulepack.signatures import compile_pattern
from troubleshoot.rulepack.text import RESERVED_NAMES, escape

_TOKEN = re.compile(
    r"\\Q(?P<quoted>.*?)(?:\\E|\Z)|\\(?P<escape>x\{[0-9A-Fa-f]+\}|u\{[0-9A-Fa-f]+\}|[pP]\{\^?\w+\}|.)"
    r"|\[(?P<class>\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*)\]"
    r"|\(\?P?<(?P<name>\w+)>|\(\?(?P<flags>[a-zA-Z-]*)(?P<scope>[:)])"
    r"|(?P<quantifier>\{\d+(?:,\d*)?\})|(?P<brace>\{)|(?P<other>.)",
    re.DOTALL,
)
_KNOWN_FLAGS = frozenset("ims-")


# What lets a pattern go on over any text, and what is so at either end of one, where it finds nothing more.
_WILD = re.compile(r"(?<!\\)\.(?:[*+]|\{\d+,)")
_WILD_AT_START = re.compile(r"^(?:\.[*+]\??)+")
_WILD_AT_END = re.compile(r"(?<!\\)(?:\.[*+]\??)+$")


@dataclass(frozen=True, slots=True)
class Translated:
    """A pattern and whether letter case counts in it."""

    regex: str
    exact_case: bool
    captures: tuple[str, ...] = ()


def translate(pattern: str, *, name_groups: bool = False) -> Translated:
    """Return the pattern as ours. With `name_groups` plain groups capture as `group1`, `group2`, ...
    Raises CannotImportError."""
    exact_case = True
    whole = re.match(r"\(\?([ims]+)\)", pattern)
    if whole is not None and "i" in whole[1]:
        exact_case = False
        rest = whole[1].replace("i", "")
        pattern = (f"(?{rest})" if rest else "") + pattern[whole.end() :]
    written = _Writer(name_groups).write(pattern)
    try:
        compiled = compile_pattern(written, exact_case)
    except regex.error as error:
        raise CannotImportError(f"the pattern does not compile here: {getattr(error, 'msg', error)}") from error
    return Translated(written, exact_case, tuple(compiled.groupindex))


def over_entry(pattern: str) -> str | None:
    """Return a pattern of `regex` as one over all lines of a log entry; None where that finds nothing else."""
    if "|" not in _outside_groups(pattern):
        pattern = _WILD_AT_END.sub("", _WILD_AT_START.sub("", pattern, count=1))
    return f"(?s){pattern}" if _WILD.search(pattern) else None


def _outside_groups(pattern: str) -> str:
    """Return what of a pattern stands in no group, class or escape."""
    pattern = re.sub(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", "", pattern)
    before = ""
    while before != pattern:
        before, pattern = pattern, re.sub(r"\([^()]*\)", "", pattern)
    return pattern


class _Writer:
    def __init__(self, name_groups: bool) -> None:
        self._name_groups = name_groups
        self._names: list[str] = []
        self._open: list[int] = [0]  # per open group: how many flag groups were opened in it to its end

    def write(self, pattern: str) -> str:
        out: list[str] = []
        at = 0
        while at < len(pattern):
            token = _TOKEN.match(pattern, at)
            if token is None:
                raise CannotImportError(f"cannot read the pattern at `{pattern[at : at + 20]}`")
            out.append(self._token(token, pattern[token.end() : token.end() + 1]))
            at = token.end()
        return "".join(out) + ")" * self._open[0]

    def _token(self, token: re.Match[str], following: str) -> str:
        kind = token.lastgroup
        if kind == "scope":
            return self._flags(token["flags"], token["scope"])
        text = token[0]
        if kind == "quoted":
            return escape(token["quoted"])
        if kind == "escape":
            return self._escape(token["escape"], following)
        if kind == "class":
            return self._class(text)
        if kind == "name":
            self._open.append(0)
            return f"(?P<{self._name(token['name'])}>"
        if kind == "brace":
            return r"\{"
        return self._other(text, following) if kind == "other" else text

    def _escape(self, escape_text: str, following: str) -> str:
        if escape_text == "z":
            return r"\Z"
        if escape_text[0] in "xu" and escape_text[1:2] == "{":
            return escape(chr(int(escape_text[2:-1], 16)))
        if escape_text in ("C", "<", ">") or (escape_text == "b" and following == "{"):
            raise CannotImportError(f"`\\{escape_text}` has no equal")
        return "\\" + escape_text

    def _class(self, text: str) -> str:
        inner = text[1:-1].lstrip("^")
        if re.search(r"&&|--|~~", inner) or re.search(r"(?<!\\)\[(?!:)(?=.*\])", inner):
            if "&&" in inner or "--" in inner or "~~" in inner:
                raise CannotImportError(f"the class `{text}` has no equal")
            body = re.sub(r"(?<!\\)\[(?!:)", r"\\[", text[1:-1])
            return f"[{body}]"
        return text

    def _other(self, text: str, following: str) -> str:
        if text == "(":
            self._open.append(0)
            if following != "?" and self._name_groups:
                return f"(?P<{self._name(f'group{len(self._names) + 1}')}>"
        elif text == ")":
            opened = self._open.pop() if len(self._open) > 1 else 0
            return ")" * opened + ")"
        return text

    def _flags(self, flags: str, scope: str) -> str:
        if not set(flags) <= _KNOWN_FLAGS:
            raise CannotImportError(f"the flags `(?{flags})` have no equal")
        if scope == ":":
            self._open.append(0)
            return f"(?{flags}:"
        self._open[-1] += 1  # from here to the end of the group that it stands in
        return f"(?{flags}:"

    def _name(self, name: str) -> str:
        wanted = re.sub(r"[^a-z0-9_]", "_", name.lower()).lstrip("_0123456789") or "group"
        while wanted in self._names or wanted in RESERVED_NAMES:
            wanted += "_"
        self._names.append(wanted)
        return wanted
