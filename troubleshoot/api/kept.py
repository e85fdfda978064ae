"""Routes over the store's reports: permalinks and history. What is counted has its own, in `tallies`.

    GET    /v1/reports/{id}        a saved report, in the formats it was saved in
    GET    /v1/reports/{id}/log    its redacted log, where it was kept
    DELETE /v1/reports/{id}        with the delete token that came with it, or an admin's key
    GET    /v1/reports             what was saved, newest first

Reports are saved by `POST /v1/scan?save=true`. Without a store each of these answers 404 and says so.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import FastAPI, Path, Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from troubleshoot.api.faults import ForbiddenError, NotFoundError
from troubleshoot.api.languages import Tag, asked_language, every_rendering, headers_of, rendering
from troubleshoot.api.pool import Answer
from troubleshoot.api.wire import SAVED_FORMATS, SavedFormat
from troubleshoot.language import ENGLISH
from troubleshoot.report import media_type_of

if TYPE_CHECKING:
    from troubleshoot.store.store import Store

ReportId = Annotated[
    str, Path(min_length=22, max_length=22, pattern="^[A-Za-z0-9_-]+$", description="From a permalink")
]


def _only_rfc3339(value: Any) -> Any:
    """Let a date and time through, and not the bare numbers that pydantic takes for seconds."""
    if isinstance(value, str) and not RFC3339.match(value):
        raise ValueError("not a date and time as RFC 3339 has it")
    return value


def _in_utc(moment: datetime) -> datetime:
    """Return the moment in UTC; without a zone it is meant so."""
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("before the year 1 or after the year 9999") from None


RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d")
Moment = Annotated[datetime, BeforeValidator(_only_rfc3339), AfterValidator(_in_utc)]
Verdict = Literal["fault", "unknown-fault", "clean"]
Problems = Callable[..., dict[int | str, dict[str, Any]]]

PRIVATE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
SANDBOX = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"}


class SavedReport(BaseModel):
    """A saved report in a list."""

    model_config = ConfigDict(extra="ignore")

    id: str
    created: datetime
    expires: datetime
    verdict: str
    title: str
    rule: str | None
    pack: str
    platform: str | None
    names: str
    lines: int


async def keep(
    store: Store | None,
    answer: Answer,
    formats: tuple[str, ...],
    *,
    days: int | None,
    made_by: str,
) -> dict[str, str]:
    """Save an answer whose bodies are `formats` and then its redacted logs; return the headers that tell where."""
    found = there(store)
    renderings: Mapping[str, bytes] = dict(zip(formats, answer.bodies, strict=False))
    logs = list(zip(answer.logs, answer.bodies[len(answer.bodies) - len(answer.logs) :], strict=True))
    link = await asyncio.to_thread(
        found.save_report,
        {name: body for name, body in renderings.items() if name in every_rendering(SAVED_FORMATS)},
        days=days,
        logs=logs,
        made_by=made_by or None,
    )
    return {
        "Location": f"/v1/reports/{link.id}",
        "X-Delete-Token": link.delete_token,
        "X-Report-Expires": link.expires.isoformat(timespec="seconds"),
    }


async def saved_rendering(store: Store, report_id: str, format: str, language: str) -> tuple[bytes | None, str]:
    """Return a saved report in a language and which one that is: English where it was not kept in that one."""
    for each in dict.fromkeys((language, ENGLISH)):
        body = await asyncio.to_thread(store.report, report_id, rendering(format, each))
        if body is not None:
            return body, each
    return None, ENGLISH


def there(store: Store | None) -> Store:
    """Return the store. Raises NotFoundError where none is configured."""
    if store is None:
        raise NotFoundError("this service keeps nothing", help="start it with --store URL")
    return store


def add_kept(
    app: FastAPI,
    store: Callable[[], Store | None],
    problems: Problems,
    default_language: str = ENGLISH,
) -> None:
    """Add the routes to `app`. `store` returns the store, once the service has started with one."""

    @app.get(
        "/v1/reports",
        operation_id="listReports",
        summary="What was saved, newest first",
        responses=problems(404),
    )
    async def list_reports(
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        before: Annotated[Moment | None, Query(description="`created` of the last one seen")] = None,
        before_id: Annotated[str, Query(max_length=22, description="`id` of the last one seen")] = "",
        q: Annotated[str, Query(max_length=200, description="Words in title, rule, platform or log names")] = "",
        verdict: Annotated[Verdict | None, Query()] = None,
        rule: Annotated[str | None, Query(max_length=200, description="Of the first finding")] = None,
    ) -> list[SavedReport]:
        rows = await asyncio.to_thread(
            there(store()).history,
            limit=limit,
            before=before,
            before_id=before_id,
            words=q.split(),
            verdict=verdict,
            rule=rule,
        )
        return [SavedReport.model_validate(row) for row in rows]

    @app.get(
        "/v1/reports/{report_id}",
        operation_id="getReport",
        summary="A saved report",
        response_class=JSONResponse,
        responses={
            200: {
                "description": "the report, in the format asked for",
                "content": {
                    "application/json": {"schema": {"type": "object"}},
                    **{kind: {"schema": {"type": "string"}} for kind in ("text/markdown", "text/html", "text/plain")},
                },
            },
            **problems(404),
        },
    )
    async def get_report(
        request: Request,
        report_id: ReportId,
        format: Annotated[SavedFormat, Query(description="How it was rendered")] = "json",
        lang: Tag = None,
    ) -> Response:
        wanted = asked_language(request, lang, default_language)
        body, language = await saved_rendering(there(store()), report_id, format, wanted)
        if body is None:
            raise NotFoundError("no such report, or not any more")
        headers = PRIVATE | (SANDBOX if format == "html" else {}) | headers_of(language)
        return Response(body, media_type=media_type_of(format), headers=headers)

    @app.get(
        "/v1/reports/{report_id}/log",
        operation_id="getReportLog",
        summary="The redacted log of a saved report, where it was kept",
        response_class=Response,
        responses={
            200: {"description": "the log", "content": {"text/plain": {"schema": {"type": "string"}}}},
            **problems(404),
        },
    )
    async def get_log(
        report_id: ReportId,
        position: Annotated[int, Query(ge=0, le=10_000)] = 0,
        source: Annotated[str | None, Query(max_length=2000, description="Its name, instead of its position")] = None,
    ) -> Response:
        text = await asyncio.to_thread(there(store()).log, report_id, name=source, position=position)
        if text is None:
            raise NotFoundError("no such report, or its log was not kept")
        return Response(text, media_type="text/plain; charset=utf-8", headers=PRIVATE)

    @app.delete(
        "/v1/reports/{report_id}",
        operation_id="deleteReport",
        summary="Delete a saved report",
        status_code=204,
        responses=problems(404),
    )
    async def delete_report(
        request: Request,
        report_id: ReportId,
        token: Annotated[
            str | None, Query(max_length=64, description="Delete token; an admin's key needs none")
        ] = None,
    ) -> Response:
        key = getattr(request.state, "key", None)
        given = token or request.headers.get("x-delete-token")
        if given is None and not (key is not None and key.may("admin")):
            raise ForbiddenError("a delete token is needed", help="it came with the report, as X-Delete-Token")
        deleted = await asyncio.to_thread(there(store()).delete_report, report_id, given)
        if deleted is None:
            raise NotFoundError("no such report, or not any more")
        if not deleted:
            raise ForbiddenError("this is not the report's delete token")
        return Response(status_code=204)
