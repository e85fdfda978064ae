"""Templates and Markdown -> HTML, everything from a log or a rule escaped.

Jinja2 fills the templates with autoescape on. Markdown comes from our own renderers (`rule_page`, `render_markdown`),
is parsed with HTML switched off, and gets links to rules: `efa/not-used` in a code span becomes a link where a rule of
that id is served.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from troubleshoot.language import ENGLISH, LANGUAGES, say_sentence, speaking
from troubleshoot.report.printable import visible

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


def untold(title: str) -> str:
    """Return a rule's title as it is without a log: `ended with exit code {code}` -> `ended with exit code …`."""
    return re.sub(r"\{\w+\}", "…", title)


def html_from_markdown(text: str, rules: Container[str] = ()) -> Markup:
    """Return Markdown as HTML; ids of `rules` in code spans become links."""
    return html_from_tokens(parse_markdown(text), rules)


def parse_markdown(text: str) -> Sequence[Token]:
    """Return the blocks of a Markdown text; tags in it are text."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).parse(text)


def html_from_tokens(tokens: Sequence[Token], rules: Container[str] = ()) -> Markup:
    """Return blocks of Markdown as HTML; ids of `rules` in code spans become links."""
    from markdown_it import MarkdownIt
    from markupsafe import Markup, escape

    parser = MarkdownIt("commonmark", {"html": False})

    def code(_self: object, tokens: Sequence[Token], index: int, *_: object) -> str:
        text = tokens[index].content
        shown = f"<code>{escape(text)}</code>"
        return f'<a href="{escape(rule_address(text))}">{shown}</a>' if text in rules else shown

    def pre(_self: object, tokens: Sequence[Token], index: int, *_: object) -> str:
        # a box that scrolls must be reachable by keyboard
        return f'<pre tabindex="0"><code>{escape(tokens[index].content)}</code></pre>\n'

    def link(_self: object, tokens: Sequence[Token], index: int, *_: object) -> str:
        href = str(tokens[index].attrGet("href") or "")
        return f'<a href="{escape(href)}" rel="noopener noreferrer">'

    rules_of: list[tuple[str, Callable[..., str]]] = [("code_inline", code), ("fence", pre), ("link_open", link)]
    for name, function in rules_of:
        parser.add_render_rule(name, function)
    # safe: the parser escapes what it is given, and so do the three functions above
    return Markup(parser.renderer.render(tokens, parser.options, {}))
