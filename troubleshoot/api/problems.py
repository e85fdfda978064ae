"""Turns whatever goes wrong in a request into RFC 9457 problem details. Log text never gets into one."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from troubleshoot.api.body import (
    FIELDS_TOLD,
    POINTER_CHARS,
    InvalidFieldsError,
    UnsupportedBodyError,
    pointer_to,
)
from troubleshoot.api.faults import ForbiddenError, NotFoundError, OverloadedError, ScanTimeoutError, SlowClientError
from troubleshoot.api.languages import MOST_TAG, asked_language, headers_of
from troubleshoot.errors import LimitError, SourceError, StoreFullError, TroubleshootError, UsageError
from troubleshoot.language import say_sentence, speaking

MEDIA_TYPE = "application/problem+json"

STATUS_OF: tuple[tuple[type[TroubleshootError], int], ...] = (
    (UnsupportedBodyError, 415),
    (InvalidFieldsError, 422),
    (NotFoundError, 404),
    (ForbiddenError, 403),
    (StoreFullError, 507),
    (OverloadedError, 503),
    (ScanTimeoutError, 504),
    (SlowClientError, 408),
    (LimitError, 413),
    (UsageError, 400),
    (SourceError, 400),
)


def status_of(error: TroubleshootError) -> int:
    """Return the HTTP status that says whose fault an error is."""
    return next((code for kind, code in STATUS_OF if isinstance(error, kind)), 500)


def problem(request: Request, status: int, detail: str, **extra: Any) -> JSONResponse:
    """Return a problem response, its sentences in the reader's language. `extra` holds extension members such as
    `errors` or `limit`."""
    language = asked_language(request, request.query_params.get("lang", "")[:MOST_TAG])
    with speaking(language):
        detail = say_sentence(detail)
        extra = {key: say_sentence(value) if key == "help" else value for key, value in extra.items()}
    content: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "instance": getattr(request.state, "request_id", None),
        **{key: value for key, value in extra.items() if value},
    }
    headers = headers_of(language) | ({"Retry-After": "1"} if status in (429, 503) else {})
    return JSONResponse(content, status_code=status, media_type=MEDIA_TYPE, headers=headers)


def _methods_of(request: Request) -> list[str]:
    """Return the methods that some route takes at the request's path; each route alone knows only its own."""
    path = request.scope["path"]
    routes = [each for each in request.app.routes if isinstance(each, Route) and each.path_regex.match(path)]
    return sorted({method for route in routes for method in route.methods or ()})


def _page_instead(request: Request, status: int) -> Response | None:
    """Return what the pages have for somebody who came with a browser, where there are pages."""
    make = getattr(request.app.state, "page_on_error", None)
    return make(request, status) if make is not None else None


def install_problem_handlers(app: FastAPI) -> None:
    """Make every error that is raised on purpose leave `app` as problem details; `gate` does it for bugs."""

    @app.exception_handler(TroubleshootError)
    async def on_own(request: Request, error: TroubleshootError) -> Response:
        status = status_of(error)
        detail = error.text if status != 500 else "an internal error; the service's log has it under this request's id"
        fields = error.fields if isinstance(error, InvalidFieldsError) else []
        return problem(request, status, detail, help=error.help, errors=fields)

    @app.exception_handler(HTTPException)
    async def on_http(request: Request, error: HTTPException) -> Response:
        if error.status_code == 404 and (page := _page_instead(request, 404)) is not None:
            return page
        detail, help = str(error.detail), ""
        if error.status_code == 405:
            allowed = _methods_of(request)
            detail, help = f"{request.method} is not taken here", f"use {' or '.join(allowed)}" if allowed else ""
        response = problem(request, error.status_code, detail, help=help)
        response.headers.update(error.headers or {})
        if error.status_code == 405:
            response.headers["Allow"] = ", ".join(_methods_of(request))
        return response

    @app.exception_handler(RequestValidationError)
    async def on_fields(request: Request, error: RequestValidationError) -> Response:
        if (page := _page_instead(request, 422)) is not None:
            return page
        fields = [
            {"pointer": pointer_to(each["loc"]), "detail": str(each["msg"])[:POINTER_CHARS]}
            for each in error.errors()[:FIELDS_TOLD]
        ]
        return problem(request, 422, "a field does not fit", errors=fields)
