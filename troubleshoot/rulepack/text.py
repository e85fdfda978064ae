"""Text signatures -> `regex` patterns: literal text that forgives, with typed holes.

    version 'GLIBC_{needed:version}' not found
    ->  version S+ Q{0,2} GLIBC_ (?P<needed>\\d...) Q{0,2} S+ not S+ found

`S` is a class of all that passes for a blank, `Q` any quote or HTML entity for one. The text is cut into pieces (words,
blanks, quotes, colons, holes, system messages); each piece becomes one stretch of the pattern, and what stands before
and after it decides on its guards:

* a digit, or a number's hole, that nothing fixed precedes must not go on to the left of its match, and likewise on the
  right: `Xid 7` is not found in `Xid 79`;
* a leading hole is tied to the beginning of the line or of its word, so that a search costs one try a word and not one
  a character; no quantifier stands within another over the same characters. So patterns stay close to linear;
* an untyped hole takes as little as fits; when only quotes follow, it takes the rest of the line, or up to the quote.

The pattern means what it says under `regex.V0 | regex.ASCII | regex.MULTILINE`, caseless unless `exact_case`.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from troubleshoot import late, limits
from troubleshoot.errors import RuleError
from troubleshoot.rulepack.holes import ANY_QUOTE, BLANK, BLANKS, ENTITY, HOLE_TYPES, NO_BLANK, QUOTES
from troubleshoot.rulepack.messages import Found, find_messages

RESERVED_NAMES = ("count", "ranks", "hosts")  # what every finding's texts may use besides captures

# Before a hole in quotes: the value does not begin here if the next quote, after a blank, is the one that opens it.
_NO_QUOTE_TO_COME = rf"(?![^\n{QUOTES}]*{BLANK}[{QUOTES}])"
_HOLE = late.compile(r"\{([^{}\n]*)\}")
_DIGITS = "0123456789"
_NAME = late.compile(r"_|[a-z][a-z0-9_]*")
_SPLIT = late.compile(
    rf"(?P<blank>[{BLANKS}\r\n]+)|(?P<quote>[{QUOTES}]+)|(?P<colon>:)|(?P<brace>\{{\{{|\}}\}}|[{{}}])"
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong in a text signature, at a 0-based character position of it."""

    position: int
    text: str
    help: str = ""


class TextError(RuleError):
    """A text signature that cannot be made into a pattern; `faults` tells all that is wrong with it."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(fault.text for fault in faults), help=faults[0].help)
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True)
class _Piece:
    kind: str  # "text", "blank", "quote", "colon", "hole", "message"
    value: str = ""
    type: str | None = None  # of a hole
    message: Found | None = None

    @property
    def is_open_hole(self) -> bool:
        return self.kind == "hole" and self.type is None


def regex_from_text(text: str, lines: int = 1, *, exact_case: bool = False) -> tuple[str, tuple[str, ...]]:
    """Return the `regex` source of a text signature and the names of its holes, in order.

    White space at either end of the text means nothing. With `lines` > 1 a blank may also be a line end.
    Raises TextError.
    """
    text = text.strip()
    pieces, faults = _cut(text, exact_case)
    names = [piece.value for piece in pieces if piece.kind == "hole" and piece.value != "_"]
    if not faults:
        faults = _check(text, pieces, lines)
    if faults:
        raise TextError(faults)
    return _Writer(pieces, lines).pattern(), tuple(names)


def regex_from_literal(text: str, lines: int = 1) -> str:
    """Return a forgiving pattern for a text without holes; braces stand for themselves."""
    return _Writer(_cut_words(text), lines).pattern(guarded=False)


def _cut(text: str, exact_case: bool) -> tuple[list[_Piece], list[Fault]]:
    """Cut a text signature into pieces: holes and messages first, what lies between into words and blanks."""
    faults: list[Fault] = []
    pieces: list[_Piece] = []
    seen: set[str] = set()
    bare = _HOLE.sub(lambda hole: "\0" * len(hole[0]), text)  # so that no message is found across or inside a hole
    messages = {found.start: found for found in find_messages(bare, exact_case=exact_case)}
    at = plain_from = 0

    def flush(end: int) -> None:
        if plain_from < end:
            pieces.extend(_cut_words(text[plain_from:end].replace("{{", "{").replace("}}", "}")))

    while at < len(text):
        if at in messages:
            flush(at)
            pieces.append(_Piece("message", message=messages[at], value=text[at : messages[at].end]))
            at = plain_from = messages[at].end
        elif text.startswith(("{{", "}}"), at):
            at += 2
        elif text[at] == "{" and (hole := _HOLE.match(text, at)):
            flush(at)
            pieces.append(_hole(hole[1], at, seen, faults))
            at = plain_from = hole.end()
        elif text[at] in "{}":
            faults.append(Fault(at, f"a lone `{text[at]}`", f"write `{text[at] * 2}` for a brace"))
            at += 1
        else:
            at += 1
    flush(len(text))
    return pieces, faults


def _hole(content: str, at: int, seen: set[str], faults: list[Fault]) -> _Piece:
    name, colon, kind = content.partition(":")
    if not _NAME.fullmatch(name):
        help = "a hole is `{name}` or `{name:type}`, in lower case; `{{` is a brace"
        faults.append(Fault(at, f"`{{{content}}}` is no hole", help))
        return _Piece("hole", "_")
    if name in RESERVED_NAMES:
        help = "every finding has that name already; take another"
        faults.append(Fault(at, f"a hole cannot be named `{name}`", help))
    elif name != "_" and name in seen:
        help = "name them apart, or use `{_}` where the value is not needed"
        faults.append(Fault(at, f"two holes named `{name}`", help))
    if colon and kind not in HOLE_TYPES:
        near = difflib.get_close_matches(kind, HOLE_TYPES, n=1)
        help = f"did you mean `{near[0]}`?" if near else "the types are " + ", ".join(HOLE_TYPES)
        faults.append(Fault(at, f"unknown type of hole `{kind}`", help))
    seen.add(name)
    return _Piece("hole", name, kind if colon else None)


def _cut_words(text: str) -> list[_Piece]:
    pieces: list[_Piece] = []
    at = 0
    for match in _SPLIT.finditer(text):
        if match.lastgroup == "brace":
            continue
        if at < match.start():
            pieces.append(_Piece("text", text[at : match.start()]))
        pieces.append(_Piece(match.lastgroup or "", match[0]))
        at = match.end()
    if at < len(text):
        pieces.append(_Piece("text", text[at:]))
    return pieces


def _check(text: str, pieces: list[_Piece], lines: int) -> list[Fault]:
    if not any(piece.kind in ("text", "message") for piece in pieces):
        return [
            Fault(
                0, "no words besides holes and quotes" if pieces else "no text", "keep some of the program's own words"
            )
        ]
    for left, right in itertools.pairwise(pieces):
        if left.is_open_hole and right.is_open_hole:
            fault = "two holes with nothing between them"
            return [Fault(text.find("}{") + 1, fault, "make them one, or give the first a type")]
    if lines == 1 and "\n" in text:
        return [Fault(text.index("\n"), "the text spans lines", "add `lines: 2` (or as many as it spans)")]
    return []


class _Writer:
    """Writes the pattern of a list of pieces."""

    def __init__(self, pieces: Sequence[_Piece], lines: int) -> None:
        self._pieces = pieces
        self._lines = lines
        self._blank = f"[{BLANKS}\r\n]" if lines > 1 else BLANK

    def pattern(self, guarded: bool = True) -> str:
        return "".join(self._piece(index, guarded) for index in range(len(self._pieces)))

    def _fixed(self, index: int, step: int) -> _Piece | None:
        """The next piece that must be there: a quote may be missing."""
        index += step
        while 0 <= index < len(self._pieces) and self._pieces[index].kind == "quote":
            index += step
        return self._pieces[index] if 0 <= index < len(self._pieces) else None

    def _kind(self, index: int) -> str:
        return self._pieces[index].kind if 0 <= index < len(self._pieces) else ""

    def _piece(self, index: int, guarded: bool) -> str:
        piece = self._pieces[index]
        if piece.kind == "blank":
            return "" if self._kind(index + 1) == "colon" else f"{self._blank}+"
        if piece.kind == "quote":
            return ANY_QUOTE
        if piece.kind == "colon":
            return f"{BLANK}{{0,3}}:" if index else ":"
        if piece.kind == "message" and piece.message is not None:
            return _alternatives(piece.value, piece.message, self._lines)
        if piece.kind == "hole":
            return self._open_hole(index, piece) if piece.type is None else self._typed_hole(index, piece, piece.type)
        escaped = escape(piece.value)
        if guarded and piece.value[0] in _DIGITS and self._fixed(index, -1) is None:
            escaped = r"(?<!\d)" + escaped
        if guarded and piece.value[-1] in _DIGITS and self._fixed(index, 1) is None:
            escaped += r"(?!\d)"
        return escaped

    def _typed_hole(self, index: int, piece: _Piece, kind: str) -> str:
        hole = HOLE_TYPES[kind]
        before = self._fixed(index, -1)
        guard = hole.before if before is None or before.kind == "hole" else ""
        return guard + hole.lead + _group(piece.value, hole.body) + hole.after

    def _open_hole(self, index: int, piece: _Piece) -> str:
        left, right = self._kind(index - 1), self._kind(index + 1)
        guard = _NO_QUOTE_TO_COME if left == right == "quote" else ""
        return guard + self._open_hole_between(index, piece, left, right)

    def _open_hole_between(self, index: int, piece: _Piece, left: str, right: str) -> str:
        before, after = self._fixed(index, -1), self._fixed(index, 1)
        if after is None and right == "quote":  # the rest of the line, or up to the quote
            rest = rf"[^\n{QUOTES}&\\]|&(?!{ENTITY[1:]};)|\\(?!\\{{0,2}}[{QUOTES}])"
            return _group(piece.value, f"(?:{rest}){{1,{limits.HOLE_CHARS}}}")
        if after is None:
            return _group(piece.value, _any_text(left == "blank", True, lazy=False))
        if (
            before is None and left == right == "quote"
        ):  # the first quoted text that fits, not all that stands before it
            return _group(piece.value, rf"[^\n{QUOTES}]{{1,{limits.HOLE_CHARS}}}?")
        if before is None:
            return f"^{BLANK}*" + _group(piece.value, _any_text(True, right == "blank", limit=False))
        return _group(piece.value, _any_text(left == "blank", right == "blank"))


def _any_text(after_blank: bool, before_blank: bool, *, lazy: bool = True, limit: bool = True) -> str:
    """Write what an untyped hole takes. Beside a blank it begins or ends with none: so a value is trimmed, and of a
    long run of blanks only one cut into blank and value need be tried."""
    ends = after_blank + before_blank
    least = 0 if ends else 1
    repeat = rf"[^\n]{{{least},{limits.HOLE_CHARS - ends}}}" if limit else r"[^\n]" + "+*"[ends > 0]
    repeat += "?" if lazy else ""
    if not ends:
        return repeat
    if ends == 1:
        return NO_BLANK + repeat if after_blank else repeat + NO_BLANK
    return f"{NO_BLANK}(?:{repeat}{NO_BLANK})?" + ("?" if lazy else "")


def _group(name: str, body: str) -> str:
    return f"(?:{body})" if name == "_" else f"(?P<{name}>{body})"


def _alternatives(written: str, found: Found, lines: int) -> str:
    """Write a system message as itself or any of its translations."""
    translations = [_any_case_first(each, lines) for each in found.translations]
    if found.is_one_word:
        # a common word in its language: only where no letter of any script goes on to either side
        letter = r"[\w\u0080-\U0010ffff]"
        translations = [f"(?<!{letter}){each}(?!{letter})" for each in translations]
    return f"(?:{'|'.join([regex_from_literal(written, lines), *translations])})"


def _any_case_first(text: str, lines: int) -> str:
    """Write a translation so that its first letter may have either case: ASCII-caseless matching does not see to it."""
    first = text[0]
    if first.isascii() or first.lower() == first.upper():
        return regex_from_literal(text, lines)
    return f"[{first.upper()}{first.lower()}]" + regex_from_literal(text[1:], lines)


def localise_regex(pattern: str, *, exact_case: bool = False) -> str:
    """Return a hand-written pattern in which every system message that stands in it literally also matches its
    translations. Messages of one word, in a class, or followed by a quantifier are left alone, and so is a verbose
    pattern, where a blank means nothing."""
    if re.search(r"\(\?[a-zA-Z]*x", pattern):
        return pattern
    masked = _mask(pattern)
    for found in reversed(find_messages(masked, exact_case=exact_case)):
        followed = pattern[found.end : found.end + 1]
        if found.is_one_word or "  " in masked[found.start : found.end] or (followed and followed in "*+?{"):
            continue
        written = pattern[found.start : found.end]
        translations = [_any_case_first(each, 1) for each in found.translations]
        pattern = pattern[: found.start] + f"(?:{'|'.join([written, *translations])})" + pattern[found.end :]
    return pattern


_NOT_LITERAL = late.compile(
    r"\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\(\?#[^)]*\)|\(\?P?[<'][^>')=!]*[>']|\(\?P?[<=!>:&|]+|\{[\d,]*\}",
    re.DOTALL,
)


def _mask(pattern: str) -> str:
    """Return the pattern with all that is not literal blotted out, character for character."""
    return _NOT_LITERAL.sub(lambda match: "\0" * len(match[0]), pattern)


def escape(text: str) -> str:
    """Return `text` with what is special in a pattern escaped, and nothing else (so that it stays readable)."""
    return re.sub(r"([\\.^$*+?{}\[\]()|#])", r"\\\1", text)
