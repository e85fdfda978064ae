r"""Undoes what chats, tickets, mail and web pages did to a pasted text.

In: the `Text` of a small source (a large one came by file, not by paste). Out: the text as it was before. Each repair
has its own tell-tale and leaves other texts alone:

    "&lt;stderr&gt;: x<br>y &quot;z&quot;"  ->  two lines: `<stderr>: x` and `y "z"`

Only tags that web pages use are tags: `<stderr>`, `<module>`, `<0>` are what programs print. Typographic quotes and
dashes stay, for patterns forgive them. Source: knowledge/log-formats.md, section 30.
"""

from __future__ import annotations

import html
import re

from troubleshoot import late
from troubleshoot.normalise.origins import Place, Text, line_count
from troubleshoot.normalise.panes import split_panes
from troubleshoot.normalise.repair import (
    repair_characters,
    repair_double_encoding,
    repair_full_width,
    repair_lost_escapes,
    split_lines,
)

_MARKUP = (b"</", b"<br", b"<BR", b"<http", b"<mailto:", b"<@", b"<#", b"<!")
MARKDOWN_SIGNS = 3
MARKUP_SIGNS = 20  # in a sample of a large source

_ENTITY = late.compile(rb"&(?:lt|gt|amp|quot|apos|nbsp|#\d{1,6}|#[xX][0-9a-fA-F]{1,5});")
_TWICE = late.compile(rb"&amp;(?:lt|gt|quot|amp|apos|nbsp|#\d{1,6});")
_NAMES = rb"span|pre|code|br|div|p|a|li|ul|ol|tr|td|th|tbody|table|font|strong|em|html|body"
_TAG = late.compile(rb"</?(?:" + _NAMES + rb")(?:\s[^<>\n]*)?/?>", re.IGNORECASE)
_CLOSING_TAG = late.compile(rb"</(?:" + _NAMES + rb")>|<br ?/?>", re.IGNORECASE)
_LINE_TAG = late.compile(rb"(?:<br\s*/?>|(?:</(?:p|div|li|tr|pre)>)+)(?:\r?\n)?", re.IGNORECASE)
_SLACK = late.compile(rb"<(?:(https?://[^|<>\s]+|mailto:[^|<>\s]+|[@#!][\w]+)(?:\|([^<>\n]*))?)>")
_FENCE = late.compile(
    rb"^[ \t]*(?:```|~~~)[a-z+-]{0,12}[ \t]*$|^[ \t]*```|```[ \t]*$|\{(?:code|noformat)(?::[^}\n]*)?\}", re.MULTILINE
)
_SOFT_BREAK = late.compile(rb"=\r?\n")
_QUOTED_BYTE = late.compile(rb"=([0-9A-F]{2})")
_MAIL_SIGNS = late.compile(rb"=(?:3D|20\r?\n|C2=A0|E2=80)")
_SAYS_MAIL = late.compile(rb"^content-transfer-encoding:[ \t]*quoted-printable", re.IGNORECASE | re.MULTILINE)
_MARKDOWN = late.compile(rb"(\\?)[_*\[]")
_ESCAPED_SIGN = late.compile(rb"\\([_*\[\]<>{}()~`#|!-])")
_PERCENT = late.compile(rb"%([0-9A-Fa-f]{2})")
# A second tag on one line is another rank's output that ran into it.
_RUN_TOGETHER = late.compile(rb"(?<=[^\n\]:])(?<!\]: )(?<!>: )(?=\[\d+,\d+\]<std(?:out|err|diag)>:|\[rank\d+\]: )")
_TAG_AT_START = late.compile(rb"^.{0,200}?(?:\[\d+,\d+\]<std(?:out|err|diag)>:|\[rank\d+\]:)")
_TWO_TAGS = late.compile(rb"\](?:<std(?:out|err|diag)>)?:[^\n]*?[^\n\]:]\[(?:\d+,\d+\]<std|rank\d+\]: )")
_CUT_SIGNS = (b"truncated", b"snip", b"omitted", b"more lines", b"show more", b"view raw", "…".encode(), b"...")
_CUT = late.compile(
    r"^[ \t]*(?:\.{3,}|…|[\[<(]*(?:output |log |lines? )?(?:truncated|snip(?:ped)?|omitted)[\])>]*"
    r"|(?:\.{3}|…)? ?\d+ more lines.{0,20}|show more|view raw)[ \t]*\r?$".encode(),
    re.MULTILINE | re.IGNORECASE,
)
_FORM_BREAK = late.compile(rb"(?:%0[Dd])?%0[Aa]")
_ESCAPED_BREAK = late.compile(rb"\\r\\n|\\n")


def cut_marks(data: bytes) -> str:
    """Return what a paste says of lines that were left out, or "": `[truncated]`, `<snip>`, `… 40 more lines`."""
    m = _CUT.search(data) if any(sign in data.lower() for sign in _CUT_SIGNS) else None
    return m[0].decode("utf-8", "replace").strip() if m else ""


def repair_paste(text: Text) -> Text:
    """Return the text as it was before it was pasted, mailed or shown on a page."""
    if _is_mail(text.data):
        text = _join_soft_breaks(text)
    text = repair_markup(text)
    data = text.data
    if b"```" in data or b"~~~" in data or b"{code" in data or b"{noformat" in data:
        data = _FENCE.sub(b"", data)
    data = repair_lost_escapes(data)
    if not data.isascii():
        data = repair_full_width(repair_characters(repair_double_encoding(data)))
    text = split_panes(text.with_data(_without_backslashes(data)))
    text = _split_escaped(_split_percent(text))
    return _split_ranks(text)


def _is_mail(data: bytes) -> bool:
    if _SAYS_MAIL.search(data):
        return True
    return len(_SOFT_BREAK.findall(data)) >= 2 and _MAIL_SIGNS.search(data) is not None


def _join_soft_breaks(text: Text) -> Text:
    """Undo quoted-printable: lines that end in `=` go on in the next."""
    data = text.data

    def places() -> list[Place]:
        lines = data.split(b"\n")
        starts = [i for i in range(len(lines)) if i == 0 or not lines[i - 1].rstrip(b"\r").endswith(b"=")]
        return [(i, 0) for i in starts][: line_count(joined)]

    joined = _QUOTED_BYTE.sub(lambda m: bytes([int(m[1], 16)]), _SOFT_BREAK.sub(b"", data))
    return text.with_lines(joined, places)


def has_markup(data: bytes) -> bool:
    """Tell whether a text is full of HTML: more than a few closing tags or entities."""
    return len(_CLOSING_TAG.findall(data)) + len(_ENTITY.findall(data)) >= MARKUP_SIGNS


def repair_markup(text: Text) -> Text:
    """Return the text without HTML tags and entities and Slack's links."""
    data = text.data
    if b"<" in data and any(sign in data for sign in _MARKUP):
        if len(_CLOSING_TAG.findall(data)) >= 2:
            text = split_lines(text, _LINE_TAG)
            data = _TAG.sub(b"", text.data)
        data = _SLACK.sub(_slack_label, data)
    if b"&" in data:
        if _TWICE.search(data):
            data = data.replace(b"&amp;", b"&")
        data = _ENTITY.sub(_entity_text, data)
    return text.with_data(data)


def _slack_label(m: re.Match[bytes]) -> bytes:
    target, label = m[1], m[2]
    if label:
        return b"#" + label if target.startswith(b"#") else label
    return target.removeprefix(b"mailto:").replace(b"!", b"@", 1) if not target.startswith(b"http") else target


def _entity_text(m: re.Match[bytes]) -> bytes:
    char = html.unescape(m[0].decode())
    return b" " if char in "\n\r\xa0" else char.encode("utf-8", "replace")


def _without_backslashes(data: bytes) -> bytes:
    """Undo Markdown's escapes, in a text whose every sign of Markdown is escaped."""
    if data.count(b"\\") < MARKDOWN_SIGNS:
        return data
    escaped = [bool(sign) for sign in _MARKDOWN.findall(data)]
    if sum(escaped) < MARKDOWN_SIGNS or sum(escaped) < 0.9 * len(escaped):
        return data
    return _ESCAPED_SIGN.sub(rb"\1", data)


def _split_percent(text: Text) -> Text:
    """Undo the escapes of a web form, in lines that hold several and among them line breaks."""
    if b"%0A" not in text.data and b"%0a" not in text.data:
        return text
    lines = text.data.split(b"\n")
    places: list[Place] = []
    out: list[bytes] = []
    for i, line in enumerate(lines):
        is_form = len(_PERCENT.findall(line)) >= 5 and line.count(b" ") <= 2
        starts = [0, *(m.end() for m in _FORM_BREAK.finditer(line))] if is_form else [0]
        pieces = _FORM_BREAK.split(line) if is_form else [line]
        if is_form:
            pieces = [_PERCENT.sub(lambda m: bytes([int(m[1], 16)]), piece).replace(b"\n", b" ") for piece in pieces]
        out.extend(pieces)
        places.extend((i, start) for start in starts)
    data = b"\n".join(out)
    return text.with_lines(data, lambda: places[: line_count(data)])


def _split_escaped(text: Text) -> Text:
    r"""Break lines at `\n` written as two characters, where a line has several: it is a string that was dumped."""
    if text.data.count(b"\\n") < 2:
        return text
    lines = text.data.split(b"\n")
    if not any(line.count(b"\\n") >= 2 for line in lines):
        return text
    places: list[Place] = []
    out: list[bytes] = []
    for i, line in enumerate(lines):
        if line.count(b"\\n") < 2:
            pieces, starts = [line], [0]
        else:
            starts = [0, *(m.end() for m in _ESCAPED_BREAK.finditer(line))]
            pieces = [_unescaped(piece) for piece in _ESCAPED_BREAK.split(line)]
        out.extend(pieces)
        places.extend((i, start) for start in starts)
    data = b"\n".join(out)
    return text.with_lines(data, lambda: places[: line_count(data)])


def _unescaped(piece: bytes) -> bytes:
    return piece.replace(b'\\"', b'"').replace(b"\\t", b"\t")


def _split_ranks(text: Text) -> Text:
    """Break lines where the tag of another rank stands within."""
    if not _TWO_TAGS.search(text.data):
        return text
    lines = text.data.split(b"\n")
    places: list[Place] = []
    out: list[bytes] = []
    for i, line in enumerate(lines):
        first = _TAG_AT_START.match(line)
        starts = [0, *(m.start() for m in _RUN_TOGETHER.finditer(line, first.end()))] if first else [0]
        out.extend(line[a:b] for a, b in zip(starts, [*starts[1:], len(line)], strict=True))
        places.extend((i, start) for start in starts)
    if len(out) == len(lines):
        return text
    data = b"\n".join(out)
    return text.with_lines(data, lambda: places[: line_count(data)])
