"""What every page for people shares: what it is about, who reads it, the headers that keep it safe.

A page links to what its reader may open: `Site.may` asks what the gate will ask.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from troubleshoot.api.gate import may
from troubleshoot.api.holder import PackHolder
from troubleshoot.api.options import ServiceOptions
from troubleshoot.api.page.render import render_template
from troubleshoot.api.service import ScanService
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
        return {path: name for path, name in RECORDS.items() if may(request, path)}

    def page(
        self, request: Request, template: str, *, status: int = 200, cache: str = REVALIDATE, **values: Any
    ) -> Response:
        """Return the page that a template makes of the values."""
        text = render_template(template, pack=self.pack, records=self.records(request), **values)
        return HTMLResponse(text, status_code=status, headers={**HEADERS, "Cache-Control": cache})

    def missing(self, request: Request, title: str, text: str) -> Response:
        """Return the page for what is not there."""
        return self.page(request, "missing.html", status=404, title=title, text=text)
