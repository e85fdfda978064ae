"""A Slack message -> the log text in it, as it was before Slack dressed it.

    `<@U1> look: &lt;rank 3&gt; <https://x.example|x.example>`  ->  `look: <rank 3> x.example`

Code blocks are preferred: the `blocks` of a message hold their text without any markup. The flat text is the fallback;
its links, users and channels are put back first and then exactly three entities, once, so `&amp;lt;` stays `&lt;`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

TOKEN = re.compile(r"<([@#!]?)([^<>|\n]+)(?:\|([^<>\n]*))?>")
FENCE = re.compile(r"```\n?(.*?)```", re.DOTALL)
ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def log_text(message: Mapping[str, Any]) -> str:
    """Return the text that somebody wants looked at; empty where there is none."""
    code = "\n".join(_preformatted(message.get("blocks") or []))
    if code.strip():
        return code
    text = str(message.get("text") or "")
    fenced = FENCE.findall(text)
    return _plain("\n".join(fenced) if fenced else text).strip()


def _preformatted(blocks: list[Any]) -> Iterator[str]:
    for block in blocks:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "rich_text_preformatted":
            yield "".join(_piece(each) for each in block.get("elements", []) if isinstance(each, dict))
        elif isinstance(block.get("elements"), list):
            yield from _preformatted(block["elements"])


def _piece(element: Mapping[str, Any]) -> str:
    return str(element.get("text") or element.get("url") or "")


def _plain(text: str) -> str:
    text = TOKEN.sub(_token, text)
    for entity, char in ENTITIES:
        text = text.replace(entity, char)
    return text


def _token(match: re.Match[str]) -> str:
    kind, value, label = match.groups()
    if kind == "@":
        return ""
    if kind == "#":
        return f"#{label or value}"
    return label or value
