"""Language tags (BCP 47) and the choice among the languages that there are.

    zh, zh-Hans, zh_CN.UTF-8, zh-SG   ->  zh-CN        en-GB -> en        fr -> none of ours

A tag is looked up as RFC 4647 says: subtags fall off its end until something fits. Traditional Chinese is not taken for
Simplified; a browser that would take either says `zh` too.
"""

from __future__ import annotations

import functools

from troubleshoot import late

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "zh-CN": "简体中文"}  # that the program itself speaks, by their own names

_LOOKUP = {
    "en": ENGLISH,
    **dict.fromkeys(("zh", "zh-hans", "zh-cn", "zh-sg"), "zh-CN"),
    **dict.fromkeys(("zh-hant", "zh-tw", "zh-hk", "zh-mo")),
}
_TAG = late.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,4}")
_RANGE = late.compile(r"\s*([A-Za-z0-9*-]{1,40})\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?")
_MOST_HEADER = 1000  # characters; what browsers send is a tenth of it


def canonical(tag: str) -> str | None:
    """Return a tag as it is written (`zh-Hans-CN`), also of a locale's name (`zh_CN.UTF-8`); None if it is no tag."""
    name = tag.strip().partition(".")[0].partition("@")[0].replace("_", "-")
    if not _TAG.fullmatch(name):
        return None
    first, *rest = name.split("-")
    cased = [each.upper() if len(each) == 2 else each.title() if len(each) == 4 else each.lower() for each in rest]
    return "-".join([first.lower(), *cased])


def shipped(tag: str) -> str | None:
    """Return the language of ours that a tag asks for, or None."""
    name = (canonical(tag) or "").lower()
    while name:
        if name in _LOOKUP:
            return _LOOKUP[name]
        name = name.rpartition("-")[0]
    return None


@functools.lru_cache(maxsize=256)
def accepted(header: str) -> str | None:
    """Return the language of ours that an `Accept-Language` likes best, or None where it names none."""
    liked: list[tuple[float, str]] = []
    for part in header[:_MOST_HEADER].split(","):
        match = _RANGE.fullmatch(part)
        language = shipped(match[1]) if match is not None else None
        if match is not None and language is not None and float(match[2] or 1) > 0:
            liked.append((float(match[2] or 1), language))
    return max(liked, key=lambda each: each[0])[1] if liked else None  # of equals the first
