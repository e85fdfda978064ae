"""Markdown -> HTML for the static site and the served pages: tags in it are text, and no link runs a script."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markupsafe import Markup

Address = Callable[[str], str]


def parse_markdown(text: str) -> Sequence[Token]:
    """Return the blocks of a Markdown text; tags in it are text."""
    return _parser().parse(text)


def html_of(markdown: str, rules: Container[str] = (), address: Address = str) -> Markup:
    """Return Markdown as HTML, its headings with anchors. Ids of `rules` in code spans link to their `address`."""
    return html_from_tokens(parse_markdown(markdown), rules, address, anchors=True)


def html_from_tokens(
    tokens: Sequence[Token], rules: Container[str] = (), address: Address = str, *, anchors: bool = False
) -> Markup:
    """Return blocks of Markdown as HTML; ids of `rules` in code spans link to their `address`."""
    from markupsafe import Markup, escape

    def code(_self: object, tokens: Any, index: int, *_: object) -> str:
        text = tokens[index].content
        shown = f"<code>{escape(text)}</code>"
        return f'<a href="{escape(address(text))}">{shown}</a>' if text in rules else shown

    def pre(_self: object, tokens: Any, index: int, *_: object) -> str:
        # a box that scrolls must be reachable by keyboard
        return f'<pre tabindex="0"><code>{escape(tokens[index].content)}</code></pre>\n'

    def heading(_self: object, tokens: Any, index: int, *_: object) -> str:
        return f'<{tokens[index].tag} id="{escape(anchor(tokens[index + 1].content))}">'

    def link(_self: object, tokens: Any, index: int, *_: object) -> str:
        return f'<a href="{escape(str(tokens[index].attrGet("href") or ""))}" rel="noopener noreferrer">'

    def begin_table(*_: object) -> str:
        return '<div class="wide" tabindex="0"><table>'

    def end_table(*_: object) -> str:
        return "</table></div>"

    makers: dict[str, Callable[..., str]] = {
        "code_inline": code,
        "fence": pre,
        "code_block": pre,
        "link_open": link,
        "table_open": begin_table,
        "table_close": end_table,
        **({"heading_open": heading} if anchors else {}),
    }
    parser = _parser()
    for name, maker in makers.items():
        parser.add_render_rule(name, maker)
    # safe: the parser escapes what it is given, and so do the functions above
    return Markup(parser.renderer.render(tokens, parser.options, {}))


def anchor(title: str) -> str:
    """Return the anchor of a heading: `POST /v1/scan` -> `post-v1-scan`."""
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split()) or "top"


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")
