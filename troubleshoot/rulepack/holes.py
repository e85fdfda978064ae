"""The small change of text signatures: what counts as a blank or a quote, and what each type of hole takes.

Every piece is a stretch of `regex` pattern without groups that capture. Within a class `[...]` go BLANKS and QUOTES; on
their own stand BLANK, NO_BLANK and ANY_QUOTE (none to two quotes).

    a path     /opt/amazon/efa      [^ blanks quotes : , ; & | brackets ]+ , no dot at its end
    a size     2.50 GiB             digits, and a unit that no letter follows

The guards of a hole keep it whole: `{n:int}` never starts or ends within a longer number.
"""

from __future__ import annotations

from dataclasses import dataclass

# What passes for a blank in a pasted log: NBSP and its kin, the typographic spaces, zero-width marks, soft hyphen.
BLANKS = "\t \u00a0\u00ad\u1680\u180e\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff"
QUOTES = "\"'`´‘’‚‛“”„‟‹›«»′″‵‶ʼ＇＂「」『』〝〞"
ENTITY = (
    "&(?:amp;)?(?:quot|apos|[lr][sd]quo|sbquo|bdquo|[lr]s?aquo|prime|acute|grave"
    "|#0?3[49]|#96|#171|#180|#187|#82(?:1[6-9]|2[0-3]|4[2-5]|49|50)|#x0?(?:2[27]|60|ab|b4|bb)|#x20(?:1[89a-f]|3[2-69a]))"
)
# A quote as it may reach us: bare, escaped by JSON or a shell, as an HTML entity (once or twice escaped).
_ONE_QUOTE = rf"\\{{0,3}}[{QUOTES}]|{ENTITY};"
ANY_QUOTE = f"(?:{_ONE_QUOTE}){{0,2}}"
BLANK = f"[{BLANKS}]"
NO_BLANK = rf"[^\s{BLANKS}]"

_NUMBER = r"\d+(?:\.\d+)?"
_UNIT_OF_TIME = (
    r"(?:milliseconds?|microseconds?|nanoseconds?|seconds?|minutes?|hours?|days?|msecs?|usecs?|secs?|mins?|hrs?"
    r"|ms|us|µs|μs|ns|s|m|h|d)"
)
_UNIT_OF_SIZE = r"(?:[kKmMgGtTpPeE]i?[bB]?(?:ytes?)?|[bB](?:ytes?)?)"
_CLOCK = r"(?:(?<=T\d\d):\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"  # 2026-11-30T20:15:04 is a word
_NO_PATH = rf"\s{BLANKS}{QUOTES}:,;&|()\[\]{{}}<>"


@dataclass(frozen=True, slots=True)
class HoleType:
    """What a typed hole takes. `before`/`after` are guards for sides on which nothing fixed stands."""

    body: str
    before: str = ""
    after: str = ""
    lead: str = ""  # stands before the value and is no part of it


HOLE_TYPES: dict[str, HoleType] = {
    "int": HoleType(r"[-+]?\d+", r"(?<!\d)", r"(?!\d)"),
    "float": HoleType(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", r"(?<![\d.])", r"(?!\d)"),
    "version": HoleType(r"\d[0-9A-Za-z]*(?:[.+~_-][0-9A-Za-z]+)*", r"(?<![0-9A-Za-z.+~_-])", r"(?!\d)", "[vV]?"),
    "path": HoleType(rf"[^{_NO_PATH}]*[^{_NO_PATH}.]", rf"(?<![^{_NO_PATH}])"),
    "word": HoleType(rf"[\w.-]*[\w-]{_CLOCK}", r"(?<![\w.-])"),
    "host": HoleType(
        r"(?:[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?:%\w+)?|\w(?:[\w.-]*\w)?)", r"(?<![\w.:-])", r"(?!\w)"
    ),
    "hex": HoleType(r"(?:0[xX])?[0-9a-fA-F]+", r"(?<!\w)", r"(?![0-9a-fA-F])"),
    "size": HoleType(rf"{_NUMBER}(?:{BLANK}{{0,2}}{_UNIT_OF_SIZE}(?![A-Za-z]))?", r"(?<![\d.])", r"(?!\d)"),
    "duration": HoleType(
        rf"(?:(?:\d+-)?\d+:\d\d:\d\d(?:\.\d+)?"
        rf"|{_NUMBER}(?:{BLANK}{{0,2}}{_UNIT_OF_TIME}(?:{_NUMBER}(?:ms|[hms])){{0,3}}(?![A-Za-z]))?)",
        r"(?<![\d.:])",
        r"(?!\d)",
    ),
}
