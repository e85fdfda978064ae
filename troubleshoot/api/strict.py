"""A route that refuses parameters it does not know: `?fromat=html` is a slip, and an answer in JSON hides it.

    GET /v1/rules?sytem=nccl   ->   422, no parameter `sytem`; did you mean `system`?

Only below /v1: pages are opened with whatever a mail program or a proxy adds to an address.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

BELOW = "/v1/"
EVERYWHERE = ("lang",)  # in which language errors are told
MOST_TOLD = 10


class StrictRoute(APIRoute):
    """A route whose query holds what is declared for it, or nothing."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        if not self.path.startswith(BELOW):
            return handle
        declared = (self.openapi_extra or {}).get("parameters", ())
        known = {
            *EVERYWHERE,
            *(each["name"] for each in declared if each["in"] == "query"),
            *(field.alias for field in self.dependant.query_params),
        }

        async def handle_known(request: Request) -> Response:
            if request.scope["query_string"]:
                given = [name for name, _ in request.query_params.multi_items()]
                refuse_unknown(dict.fromkeys(given), known)
                refuse_repeated(given)
            return await handle(request)

        return handle_known


def refuse_unknown(given: Iterable[str], known: set[str]) -> None:
    """Raise RequestValidationError that names each unknown parameter and what may have been meant."""
    unknown = [name for name in given if name not in known]
    if unknown:
        raise RequestValidationError(
            [
                {"loc": ("query", name), "msg": misspelt("parameter", name, known), "type": "extra"}
                for name in unknown[:MOST_TOLD]
            ]
        )


def refuse_repeated(given: Sequence[str]) -> None:
    """Raise RequestValidationError for a parameter given twice: one of the two would be dropped in silence."""
    twice = [name for name, count in Counter(given).items() if count > 1]
    if twice:
        raise RequestValidationError(
            [{"loc": ("query", name), "msg": "given more than once", "type": "extra"} for name in twice[:MOST_TOLD]]
        )


def misspelt(what: str, name: str, known: Iterable[str]) -> str:
    """Return what to tell of a name that is not known: the nearest one, or all of them."""
    known = sorted(known)
    close = get_close_matches(name, known, 1, 0.6)
    return f"no such {what}; " + (f"did you mean `{close[0]}`?" if close else f"known: {', '.join(known)}")
