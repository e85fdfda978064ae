"""Templates and Markdown -> HTML, everything from a log or a rule escaped.

Jinja2 fills the templates with autoescape on. Markdown comes from our own renderers (`rule_page`, `render_markdown`),
is parsed with HTML switched off, and gets links to rules: `efa/not-used` in a code span becomes a link where a rule of
that id is served.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from troubleshoot.docs import render
from troubleshoot.docs.render import parse_markdown
from troubleshoot.language import ENGLISH, LANGUAGES, say_sentence, speaking
from troubleshoot.report.printable import visible
from troubleshoot.rulepack.docs import untold

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it.token import Token
    from markupsafe import Markup

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["address"] = rule_address
    environment.filters["visible"] = visible
    environment.filters["untold"] = untold
    environment.filters["sentence"] = say_sentence
    return environment


def render_template(name: str, language: str = ENGLISH, **values: Any) -> str:
    """Return the page that the template `name` makes of the values, in a language."""
    say = partial(say_on_page, language)
    shared = {"say": say, "count": partial(_count, language), "language": language, "languages": LANGUAGES}
    with speaking(language):
        return _environment().get_template(name).render(**shared, **values)


def say_on_page(language: str, english: str, /, **values: object) -> str:
    """Return a text of the pages in a language; English where there are no words for it. The modules that run in the
    browser have the same words."""
    text = _words(language).get(english, english)
    return text.format_map(values) if values else text


def _count(language: str, number: int, noun: str) -> str:
    if language != ENGLISH:
        return say_on_page(language, f"{{number}} {noun}", number=f"{number:,}")
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@cache
def _words(language: str) -> Mapping[str, str]:
    if language == ENGLISH or language not in LANGUAGES:
        return {}
    words: Mapping[str, str] = json.loads((STATIC / f"words.{language}.json").read_text("utf-8"))
    return words


def rule_address(rule_id: str) -> str:
    """Return the path of a rule's page."""
    return f"/rules/{quote(rule_id)}"


def html_from_markdown(text: str, rules: Container[str] = ()) -> Markup:
    """Return Markdown as HTML; ids of `rules` in code spans become links."""
    return html_from_tokens(parse_markdown(text), rules)


def html_from_tokens(tokens: Sequence[Token], rules: Container[str] = ()) -> Markup:
    """Return blocks of Markdown as HTML; ids of `rules` in code spans become links."""
    return render.html_from_tokens(tokens, rules, rule_address)
