"""The program's own words in the language that is being spoken.

Which one that is holds for a block of code and all it calls, in its thread or task only, so that no function between
has to hand it on. `say` takes the English text as it stands in the code; `say_sentence` a sentence that was made
elsewhere, with values already in it, and finds the template it was made from.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from troubleshoot import late
from troubleshoot.language.tags import ENGLISH, LANGUAGES

_language: ContextVar[str] = ContextVar("language", default=ENGLISH)
_HOLE = late.compile(r"\\\{(\w+)\\\}")  # in a template after re.escape
_NESTED = ("rest", "because", "way")  # holes whose text is a sentence of ours itself
_MOST_SENTENCE = 600  # characters: a sentence may quote a log, and holes that are tried in vain take their square


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Speak a language in this block; one that there are no words in is English."""
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


def spoken() -> str:
    """Return the tag of the language that is being spoken."""
    return _language.get()


def say(english: str, /, **values: object) -> str:
    """Return the text in the language that is being spoken, its holes filled with the values."""
    language = _language.get()
    text = english if language == ENGLISH else _section(language, "words").get(english, english)
    return text.format_map(values) if values else text


def say_sentence(english: str) -> str:
    """Return a finished sentence in the language that is being spoken; as it is where no template fits it."""
    language = _language.get()
    if language == ENGLISH or not 0 < len(english) <= _MOST_SENTENCE:
        return english
    said = _sentence(language, english)
    if said is not None:
        return said
    clauses = english.split("; ")
    told = [_sentence(language, each) for each in clauses]
    return "；".join(new or old for new, old in zip(told, clauses, strict=True)) if any(told) else english


def _sentence(language: str, english: str) -> str | None:
    exact = _section(language, "sentences").get(english)
    if exact is not None:
        return exact
    for pattern, template in _templates(language):
        match = pattern.fullmatch(english)
        if match is not None:
            values = {
                name: say_sentence(value) if name.startswith(_NESTED) else value
                for name, value in match.groupdict().items()
            }
            return template.format_map(values)
    return None


@functools.lru_cache(maxsize=8)
def _catalogue(language: str) -> Mapping[str, Mapping[str, str]]:
    if language not in LANGUAGES or language == ENGLISH:
        return {}
    data: Mapping[str, Mapping[str, str]] = json.loads((Path(__file__).parent / f"{language}.json").read_text("utf-8"))
    return data


def _section(language: str, name: str) -> Mapping[str, str]:
    return _catalogue(language).get(name, {})


@functools.lru_cache(maxsize=8)
def _templates(language: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the sentences that have holes, those with the most fixed text first."""
    found = [(english, text) for english, text in _section(language, "sentences").items() if "{" in english]
    found.sort(key=lambda pair: -len(re.sub(r"\{\w+\}", "", pair[0])))
    return tuple((re.compile(_HOLE.sub(_hole, re.escape(english)), re.DOTALL), text) for english, text in found)


def _hole(match: re.Match[str]) -> str:
    within = "." if match[1].startswith(_NESTED) else "(?:(?!; ).)"  # `; ` joins sentences
    return f"(?P<{match[1]}>{within}+?)"
