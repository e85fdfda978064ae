"""Which language a request wants: `?lang=`, else what `Accept-Language` likes best, else the service's own.

A rendering is called after its format, and after its language where that is not English: `markdown`, `markdown@zh-CN`.
So answers are cached, made and stored per language without anybody between knowing of languages.

On the pages the reader's own choice, which a cookie remembers, stands before the browser's list.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.requests import Request

from troubleshoot.language import ENGLISH, LANGUAGES, accepted, canonical, shipped

MOST_TAG = 40  # characters
COOKIE = "troubleshoot-language"
COOKIE_S = 365 * 24 * 3600
TAG_DESCRIPTION = "Language of the texts, as a BCP 47 tag (zh-CN); else Accept-Language decides"
Tag = Annotated[str | None, Query(max_length=MOST_TAG, description=TAG_DESCRIPTION)]


def asked_language(request: Request, asked: str | None, default: str = ENGLISH) -> str:
    """Return the language of an answer. One that is asked for by name and unknown comes back as it is: the report then
    says that there is no such language."""
    if asked:
        return shipped(asked) or canonical(asked) or asked
    header = request.headers.get("accept-language")
    return (accepted(header) if header else None) or default


def page_language(request: Request, default: str = ENGLISH) -> str:
    """Return the language of a page: always one that the program speaks."""
    chosen = request.query_params.get("lang") or request.cookies.get(COOKIE) or ""
    return shipped(chosen[:MOST_TAG]) or asked_language(request, None, default)


def rendering(format: str, language: str) -> str:
    """Return what a format in a language is called."""
    return format if language == ENGLISH else f"{format}@{language}"


def every_rendering(formats: tuple[str, ...]) -> tuple[str, ...]:
    """Return the formats in each language that the program speaks, as they are kept for whoever has the link."""
    return tuple(rendering(format, language) for language in LANGUAGES for format in formats)


def headers_of(language: str, *, by_cookie: bool = False) -> dict[str, str]:
    """Return the headers that tell browsers and caches what an answer's language is and hangs on."""
    said = language if language in LANGUAGES else ENGLISH  # of one that there is not, English is what is said
    return {"Content-Language": said, "Vary": "Accept-Language, Cookie" if by_cookie else "Accept-Language"}
