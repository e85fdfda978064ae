"""What every page for people shares: what it is about, who reads it, the headers that keep it safe.

A page links to what its reader may open: `Site.may` asks what the gate will ask.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from troubleshoot.api.gate import may
from troubleshoot.api.holder import PackHolder
from troubleshoot.api.languages import COOKIE, COOKIE_S, headers_of, page_language
from troubleshoot.api.options import ServiceOptions
from troubleshoot.api.page.render import render_template, say_on_page
from troubleshoot.api.service import ScanService
from troubleshoot.language import shipped
from troubleshoot.model import RulePack

if TYPE_CHECKING:
    from troubleshoot.store.store import Store

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Tells other sites nothing. Not `no-referrer`: a form without JavaScript would then be sent with `Origin: null`,
    # as another site's would.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
REVALIDATE = "no-cache"  # files are small and change with the release: asked for again, answered 304
NEVER_STORED = "no-store"

NOT_PAGES = ("/v1/", "/static/", "/mcp", "/slack/", "/metrics", "/openapi.json", "/healthz", "/readyz")

RECORDS = {"/history": "Saved answers", "/statistics": "Statistics", "/unknown-faults": "Unknown faults"}


@dataclass(frozen=True, slots=True)
class Site:
    """What the pages are about. `who` tells whose request one is, `store` gives the store while there is one."""

    holder: PackHolder
    service: ScanService
    options: ServiceOptions
    max_bytes: int
    who: Callable[[Request], str]
    store: Callable[[], Store | None]

    @property
    def pack(self) -> RulePack:
        return self.holder.serving().pack

    def records(self, request: Request) -> dict[str, str]:
        """Return the pages of the store that the reader may open: their names by path, none without a store."""
        if not self.options.store:
            return {}
        language = self.language(request)
        return {path: say_on_page(language, name) for path, name in RECORDS.items() if may(request, path)}

    def language(self, request: Request) -> str:
        """Return the language of the reader's pages."""
        return page_language(request, self.options.language)

    def page(
        self, request: Request, template: str, *, status: int = 200, cache: str = REVALIDATE, **values: Any
    ) -> Response:
        """Return the page that a template makes of the values, in the reader's language; a language chosen by `?lang=`
        is remembered."""
        language = self.language(request)
        shared = {"pack": self.pack, "records": self.records(request), "address_in": partial(_address_in, request)}
        text = render_template(template, language, **{**shared, **values})
        headers = {**HEADERS, "Cache-Control": cache, **headers_of(language, by_cookie=True)}
        response = HTMLResponse(text, status_code=status, headers=headers)
        if shipped(request.query_params.get("lang", "")) == language:
            response.set_cookie(COOKIE, language, max_age=COOKIE_S, httponly=True, samesite="lax")
        return response

    def missing(self, request: Request, title: str, text: str, *, status: int = 404) -> Response:
        """Return the page for what is not there, or cannot be asked for like that."""
        language = self.language(request)
        told = {"title": say_on_page(language, title), "text": say_on_page(language, text)}
        return self.page(request, "missing.html", status=status, **told)


def _address_in(request: Request, language: str) -> str:
    """Return the address of the same page in another language. Of what a form sent there is none: its start."""
    if request.method != "GET":
        return f"?lang={language}"
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "lang"]
    return "?" + urlencode([*kept, ("lang", language)])


def page_on_error(site: Site, request: Request, status: int) -> Response | None:
    """Return a page in place of problem details where a browser asked for one by an address that is none."""
    is_page = request.method == "GET" and not request.scope["path"].startswith(NOT_PAGES)
    if not is_page or "text/html" not in request.headers.get("accept", ""):
        return None
    if site.holder.engine is None:
        return None  # no pack, no pages
    if status == 404:
        return site.missing(request, "No such page", "The address may be mistyped, or what it led to has moved.")
    text = "Something behind the question mark is not what this page takes."
    return site.missing(request, "The address does not fit", text, status=status)
