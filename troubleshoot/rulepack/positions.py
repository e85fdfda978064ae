"""YAML text -> plain data, and where each piece of it stands.

Read from the parser's events and not through a constructor, so that nothing is lost or guessed on the way: a key given
twice is seen, every key and value keeps its line and column, and only `true` and `false` are booleans (`retry: no` says
no). What rule files have no use for is refused: aliases (a few lines of them can stand for gigabytes), tags, several
documents in one file, nesting without end.

    title: Out of memory        ->  data   {"title": "Out of memory"}
                                    places {(): 1:1, ("title",): key 1:1, value 1:8}
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from troubleshoot import late
from troubleshoot.errors import Problem
from troubleshoot.model import Place

Path = tuple[str | int, ...]  # keys and list positions that lead from the top to a piece

MOST_NESTED = 40
EXCERPT_CHARS = 100
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LINE_END = late.compile(r"\r\n|[\n\r\x85\u2028\u2029]")  # what YAML counts as one
_NOT_YAML = late.compile(r"[^\t\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_CONTROLS = late.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_BRACKET_FIRST = late.compile(
    r"\s*(?:- )*[\w-]+:\s+(?P<bracket>\{\w+(?::\w+)?\}|\[[^\]]*\])\s*[^\s#,]"
)  # `title: {rank} fell`
_INT = late.compile(r"[-+]?(?:0|[1-9]\d*)")
_FLOAT = late.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")


class Number(float):
    """A number with its text as written: `2.30` is 2.3, and was not written so."""

    raw: str

    def __new__(cls, raw: str) -> Number:
        number = super().__new__(cls, raw)
        number.raw = raw
        return number


class WholeNumber(int):
    raw: str

    def __new__(cls, raw: str) -> WholeNumber:
        number = super().__new__(cls, raw)
        number.raw = raw
        return number


def text_of(value: Any) -> Any:
    """Return a number or boolean as the text it was written as; anything else as it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return getattr(value, "raw", value)


@dataclass(slots=True)
class Document:
    """A YAML document as plain data (dict, list, str, numbers, bool, None) with places.

    `problems` tells what the reader itself refused; `data` is None when nothing could be read.
    """

    path: str
    lines: list[str]
    data: Any = None
    problems: list[Problem] = field(default_factory=list)
    values: dict[Path, tuple[int, int]] = field(default_factory=dict)  # line and column, from 1
    keys: dict[Path, tuple[int, int]] = field(default_factory=dict)
    styles: dict[Path, str] = field(default_factory=dict)  # of scalars: "" plain, '"', "'", "|", ">"

    def place(self, path: Path, *, key: bool = False, shift: int = 0) -> Place:
        """Return where the piece at `path` stands (or its key), or the nearest piece above it that exists."""
        while True:
            for places in (self.keys, self.values) if key else (self.values, self.keys):
                if path in places:
                    line, column = places[path]
                    return Place(self.path, line, column + shift)
            if not path:
                return Place(self.path)
            path, shift = path[:-1], 0

    def place_within(self, path: Path, position: int) -> Place:
        """Return where the character at `position` of a text stands, as far as its quoting lets us tell."""
        start, style = self.place(path), self.styles.get(path)
        if style is None or style in "|>":
            return start
        opening = len(style)
        written = self.lines[start.line - 1][start.column - 1 + opening :] if start.line <= len(self.lines) else ""
        if "\\" in written or "''" in written or position >= len(written):
            return start
        return Place(self.path, start.line, start.column + opening + position)

    def problem(self, code: str, text: str, place: Place, help: str = "", severity: str = "error") -> Problem:
        """Build a problem at a place, with its line as the excerpt, cut around the place if it is long."""
        written = self.lines[place.line - 1] if 0 < place.line <= len(self.lines) else ""
        line = _CONTROLS.sub("?", written).rstrip()
        start = len(line) - len(line.lstrip())
        caret = place.column - 1 - start if line and place.column > 0 else -1
        line = line[start:]
        if len(line) > EXCERPT_CHARS:
            start = max(0, min(caret - EXCERPT_CHARS // 2, len(line) - EXCERPT_CHARS + 3))
            before, after = "..." * (start > 0), "..." * (start + EXCERPT_CHARS - 3 < len(line))
            caret += len(before) - start if caret >= 0 else 0
            line = before + line[start : start + EXCERPT_CHARS - 3] + after
        return Problem(code, text, place, line, help, severity, caret if 0 <= caret <= len(line) else -1)


class _StopError(Exception):
    """Stops the reading at something that leaves nothing sensible to go on with."""


def read_document(text: str, path: str) -> Document:
    """Return the one document of a YAML text. Never raises: what is wrong stands in its `problems`."""
    document = Document(path, _LINE_END.split(text))
    reader = _Reader(document)
    try:
        reader.read(yaml.parse(text, Loader=_LOADER))
    except _StopError:
        pass
    except yaml.YAMLError as error:
        document.data = None
        document.problems.append(_syntax_problem(document, error))
    return document


class _Reader:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._events: Iterator[Any] = iter(())
        self._has_anchor = self._has_alias = False

    def read(self, events: Iterator[Any]) -> None:
        self._events = events
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse("several documents in one file", event, "one rule per file: remove the `---`")
                    return
                self._document.data = self._node(next(events), ())
                if self._has_alias:
                    self._document.data = None  # of what stands for other text nothing more can be said

    def _refuse(self, text: str, event: Any, help: str) -> None:
        place = Place(self._document.path, *_at(event))
        self._document.problems.append(self._document.problem("R001", text, place, help))

    def _refuse_alias(self, event: Any) -> None:
        """Tell the first anchor or alias of a file: one line of them can hold a hundred more."""
        is_alias = isinstance(event, yaml.AliasEvent)
        self._has_alias = self._has_alias or is_alias
        if self._has_anchor:
            return
        self._has_anchor = True
        if is_alias:
            self._refuse("an alias", event, "write the text out, or make it a shared signature")
        else:
            help = "aliases are not read: write each text out; quote a text that begins with `&` or `*`"
            self._refuse("an anchor", event, help)

    def _node(self, event: Any, path: Path) -> Any:
        document = self._document
        document.values[path] = _at(event)
        if len(path) > MOST_NESTED:
            self._refuse("nested too deeply", event, f"at most {MOST_NESTED} levels are read")
            raise _StopError
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            self._refuse_alias(event)
        if isinstance(event, yaml.AliasEvent):
            return None
        if event.tag is not None and event.tag != "!":
            self._refuse(f"the tag `{event.tag}`", event, "tags are not read: quote a text that begins with `!`")
        if isinstance(event, yaml.ScalarEvent):
            document.styles[path] = event.style or ""
            return _scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return self._mapping(path)

    def _sequence(self, path: Path) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            items.append(self._node(event, (*path, len(items))))
        return items

    def _mapping(self, path: Path) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                self._refuse("a key that is no text", event, "quote what begins with `{`, `[`, `*` or `&`")
                raise _StopError
            key, below = event.value, (*path, event.value)
            where = _at(event)
            value_event = next(self._events)
            if key in mapping:
                first = self._document.keys[below]
                kept = dict(self._document.values), dict(self._document.keys), dict(self._document.styles)
                self._node(value_event, below)
                self._document.values, self._document.keys, self._document.styles = kept
                self._document.problems.append(
                    self._document.problem(
                        "R005",
                        f"duplicate key `{key}`",
                        Place(self._document.path, *where),
                        f"it stands on line {first[0]} already; keep one of the two",
                    )
                )
                continue
            self._document.keys[below] = where
            mapping[key] = self._node(value_event, below)
        return mapping


def _at(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _scalar(event: Any) -> Any:
    value: str = event.value
    if event.style or event.tag == "!":
        return value
    if value in ("", "~", "null", "Null", "NULL"):
        return None
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    if _INT.fullmatch(value):
        return WholeNumber(value)
    if _FLOAT.fullmatch(value):
        return Number(value)
    return value


def _syntax_problem(document: Document, error: yaml.YAMLError) -> Problem:
    said = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error).splitlines()[0]
    context = getattr(error, "context", None)
    text = f"{said} {context}" if context else said
    place = _error_place(document, error)
    return document.problem("R001", f"not valid YAML: {text}", place, _syntax_help(document, place, text))


def _error_place(document: Document, error: yaml.YAMLError) -> Place:
    """Return where to look: at the end of the file not there, but where something was left open."""
    if isinstance(error, yaml.reader.ReaderError):
        for number, line in enumerate(document.lines, 1):
            if refused := _NOT_YAML.search(line):
                return Place(document.path, number, refused.start() + 1)
    filled = [number for number, line in enumerate(document.lines) if line.strip()]
    last = filled[-1] if filled else 0
    for name in ("problem_mark", "context_mark"):
        mark = getattr(error, name, None)
        if mark is not None and (mark.line, mark.column) < (last, len(document.lines[last])):
            return Place(document.path, mark.line + 1, mark.column + 1)
    return Place(document.path, last + 1, max(1, len(document.lines[last].rstrip())))


def _syntax_help(document: Document, place: Place, said: str) -> str:
    line = document.lines[place.line - 1] if 0 < place.line <= len(document.lines) else ""
    before, rest = line[: place.column - 1], line[place.column - 1 :]
    if "\t" in before + rest[:1] and not before.strip() and "block scalar" not in said:
        return "indent with blanks; YAML takes no tabs"
    if "nesting depth" in said:
        return f"at most {MOST_NESTED} levels are read"
    if match := _BRACKET_FIRST.match(line):
        return f"a text that begins with `{match['bracket']}` must stand in quotes, or on its own lines below `|`"
    if opened := _left_open(document, place):
        return opened
    if "mapping values are not allowed" in said:
        return "a text that holds `: ` must stand in quotes, or on its own lines below `|`"
    if "control characters" in said or "special characters" in said:
        return "remove the control character, or write it as an escape in double quotes"
    if (
        rest[:1] in ("*", "&", "%", "@", "`", "!", "{", "[", "}", "]", ",", '"', "'")
        or "alias" in said
        or "anchor" in said
    ):
        return "put the whole text in quotes, or on its own lines below `|`"
    if "did not find expected key" in said and _follows_deeper_text(document.lines[: place.line], place.column):
        return "where the first line of a text is indented deeper than the rest, say how deep the text is: `|2`"
    if "expected '-' indicator" in said:
        return "look at the indentation: this line is neither part of the item above it nor an item of the list"
    if "expected <block end>" in said or "could not find expected ':'" in said:
        return "look at the indentation and the quotes of this line and the one above it"
    return "look at the quotes, brackets and indentation near this line"


def _left_open(document: Document, place: Place) -> str:
    """Return where the bracket or quote was opened whose end is missing, as far as the parser's own path tells."""
    opened: list[Any] = []
    last: Any = None
    try:
        for last in yaml.parse("\n".join(document.lines), Loader=_LOADER):
            if isinstance(last, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
                opened.append(last)
            elif isinstance(last, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
                opened.pop()
    except yaml.YAMLError:
        pass
    if opened and opened[-1].flow_style and _at(opened[-1])[0] < place.line:
        bracket = "[" if isinstance(opened[-1], yaml.SequenceStartEvent) else "{"
        return f"the `{bracket}` on line {_at(opened[-1])[0]} is not closed"
    is_quoted = isinstance(last, yaml.ScalarEvent) and last.style in ('"', "'")
    if is_quoted and last.start_mark.line < last.end_mark.line:
        return f"a text in quotes ends here that begins on line {_at(last)[0]}: is its closing quote missing there?"
    return ""


def _follows_deeper_text(lines: list[str], column: int) -> bool:
    """Say whether the last of these lines, which begins at `column`, ends a text below `|` that began deeper."""
    for above, below in itertools.pairwise(reversed(lines)):  # from the end upwards
        if re.search(r"[:-]\s*[|>][-+]?\s*$", below):
            return len(above) - len(above.lstrip()) >= column
    return False
