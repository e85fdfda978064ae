"""Markdown -> HTML for the static site and the served reference: tags in it are text, and no link runs a script."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup


def html_of(markdown: str, rules: Container[str] = (), address: Callable[[str], str] = str) -> Markup:
    """Return Markdown as HTML. Ids of `rules` in code spans become links to their `address`; headings get anchors."""
    from markdown_it import MarkdownIt
    from markupsafe import Markup, escape

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")

    def code(_self: object, tokens: Any, index: int, *_: object) -> str:
        text = tokens[index].content
        shown = f"<code>{escape(text)}</code>"
        return f'<a href="{escape(address(text))}">{shown}</a>' if text in rules else shown

    def pre(_self: object, tokens: Any, index: int, *_: object) -> str:
        return f'<pre tabindex="0"><code>{escape(tokens[index].content)}</code></pre>\n'

    def heading(_self: object, tokens: Any, index: int, *_: object) -> str:
        return f'<{tokens[index].tag} id="{escape(anchor(tokens[index + 1].content))}">'

    def link(_self: object, tokens: Any, index: int, *_: object) -> str:
        return f'<a href="{escape(str(tokens[index].attrGet("href") or ""))}" rel="noopener noreferrer">'

    def begin_table(*_: object) -> str:
        return '<div class="wide" tabindex="0"><table>'

    def end_table(*_: object) -> str:
        return "</table></div>"

    for name, function in (
        ("code_inline", code),
        ("fence", pre),
        ("code_block", pre),
        ("heading_open", heading),
        ("link_open", link),
        ("table_open", begin_table),
        ("table_close", end_table),
    ):
        parser.add_render_rule(name, function)
    return Markup(parser.render(markdown))  # safe: the parser escapes what it is given, and so do these functions


def anchor(title: str) -> str:
    """Return the anchor of a heading: `POST /v1/scan` -> `post-v1-scan`."""
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split()) or "top"
