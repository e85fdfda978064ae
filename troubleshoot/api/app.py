"""The HTTP API: reads what is asked, calls the engine, renders a report. No logic of its own.

    POST /v1/scan          text/plain, application/json, multipart/form-data; gzip, deflate, zstd
    GET  /v1/rules         the pack, filtered by `domain`, `system`, `q`
    GET  /v1/rules/{id}    one rule, whole; as Markdown with `?format=markdown`
    GET  /healthz          the process lives
    GET  /readyz           a pack is loaded; says what is wrong with a newer one that is not
"""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import anyio.to_thread
from anyio import CapacityLimiter
from fastapi import FastAPI, Query
from fastapi.responses import PlainTextResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from troubleshoot import limits
from troubleshoot.api.body import ScanBody, read_scan_body
from troubleshoot.api.holder import PackHolder
from troubleshoot.api.pages import install_pages
from troubleshoot.api.problems import MEDIA_TYPE, install_problem_handlers
from troubleshoot.api.search import find_rules
from troubleshoot.api.wire import Format, Health, ProblemDetails, RuleList, RuleSummary, ScanRequest
from troubleshoot.engine import Engine
from troubleshoot.model import Report, Rule
from troubleshoot.report import RENDERERS, media_type_of
from troubleshoot.report.schema import report_schema
from troubleshoot.rulepack.docs import rule_page
from troubleshoot.rulepack.document import rule_document

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
SCAN_THREADS = 4  # scans let go of the GIL while Hyperscan runs; more only queue on two cores

SAMPLE = (
    "mpirun: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found "
    "(required by /opt/amazon-efa-ofi/openmpi/lib/libopen-rte.so.40)"
)

PROBLEM: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemDetails, "description": text, "content": {MEDIA_TYPE: {}}}
    for status, text in {
        400: "the request cannot be understood",
        413: "the body, as sent or decompressed, is over the limit",
        415: "media type or content encoding not taken",
        422: "a field does not fit the schema",
        503: "no rule pack is loaded",
    }.items()
}


def create_app(
    rules: Sequence[Path] = (),
    *,
    drafts: bool = False,
    default_rules: bool = True,
    max_bytes: int = limits.BODY_BYTES,
    watch: bool = True,
) -> FastAPI:
    """Return the application. `rules` are folders beside the shipped pack; `max_bytes` bounds a body."""
    holder = PackHolder(rules, drafts=drafts, default_rules=default_rules)
    limiter = CapacityLimiter(SCAN_THREADS)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if watch:
            holder.watch()
        yield
        holder.close()

    app = FastAPI(
        title="troubleshoot",
        version="1",
        summary="Find the known fault in the log of a failed distributed training job",
        lifespan=lifespan,
        docs_url=None,  # the stock pages load scripts from an outside host
        redoc_url=None,
    )
    app.state.holder = holder
    app.add_middleware(RequestId)
    install_problem_handlers(app)

    def engine() -> Engine:
        if holder.engine is None:
            raise HTTPException(503, "no rule pack could be loaded; see /readyz")
        return holder.engine

    @app.post(
        "/v1/scan",
        operation_id="scan",
        summary="Scan a log, or several logs of one job",
        response_class=JSONResponse,
        responses={
            200: {"description": "the report", "content": {"application/json": {"schema": report_schema()}}},
            **{code: PROBLEM[code] for code in (400, 413, 415, 422, 503)},
        },
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {
                    "text/plain": {"schema": {"type": "string"}, "example": SAMPLE},
                    "application/json": {"schema": ScanRequest.model_json_schema(), "example": {"text": SAMPLE}},
                    "multipart/form-data": {
                        "schema": {
                            "type": "object",
                            "properties": {
                                "file": {"type": "array", "items": {"type": "string", "format": "binary"}},
                                "text": {"type": "string"},
                                "platform": {"type": "string"},
                            },
                        }
                    },
                    "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
                },
            }
        },
    )
    async def scan(
        request: Request,
        format: Annotated[Format, Query(description="How to render the report")] = "json",
        platform: Annotated[str | None, Query(max_length=40, description="Where the job ran")] = None,
        name: Annotated[str, Query(min_length=1, max_length=500, description="Name of the log")] = "paste",
    ) -> Response:
        serving = engine()
        body = await read_scan_body(request, max_bytes, name)

        def work() -> str:
            report = serving.scan_uploads(body.texts, platform=platform or body.platform)
            return RENDERERS[format](report)

        rendered = await anyio.to_thread.run_sync(work, limiter=limiter)
        return Response(rendered, media_type=media_type_of(format), headers={"Cache-Control": "no-store"})

    @app.get("/v1/rules", operation_id="listRules", summary="List the rules", responses={503: PROBLEM[503]})
    async def list_rules(
        domain: Annotated[str | None, Query(max_length=100, examples=["efa"])] = None,
        system: Annotated[str | None, Query(max_length=100, examples=["nccl"])] = None,
        q: Annotated[str | None, Query(max_length=200, description="Words in id, title or explanation")] = None,
    ) -> RuleList:
        pack = engine().pack
        found = find_rules(pack, q, domain=domain, system=system)
        return RuleList(
            rules=[_summary(rule) for rule in found],
            total=len(found),
            pack={"name": pack.name, "version": pack.version, "hash": pack.hash},
        )

    @app.get(
        "/v1/rules/{rule_id:path}",
        operation_id="getRule",
        summary="One rule, whole",
        responses={404: {"model": ProblemDetails, "content": {MEDIA_TYPE: {}}}, 503: PROBLEM[503]},
    )
    async def get_rule(
        rule_id: str, format: Annotated[str, Query(pattern="^(json|markdown)$")] = "json"
    ) -> Response:
        rule = engine().pack.rules.get(rule_id)
        if rule is None:
            raise HTTPException(404, "no rule of that id; see /v1/rules")
        if format == "markdown":
            return PlainTextResponse(rule_page(rule), media_type="text/markdown")
        return JSONResponse(rule_document(rule))

    @app.get("/healthz", operation_id="health", summary="Does the process live")
    async def healthz() -> Health:
        return Health(status="ok")

    @app.get("/readyz", operation_id="ready", summary="Can it answer", responses={503: {"model": Health}})
    async def readyz() -> Response:
        serving = holder.engine
        health = Health(
            status="ok" if serving else "not-ready",
            rules=len(serving.pack.rules) if serving else 0,
            pack=serving.pack.hash if serving else None,
            problems=list(holder.problems),
        )
        return JSONResponse(health.model_dump(), status_code=200 if serving else 503)

    async def scan_body(body: ScanBody) -> Report:
        serving = engine()
        return await anyio.to_thread.run_sync(
            lambda: serving.scan_uploads(body.texts, platform=body.platform), limiter=limiter
        )

    install_pages(app, engine, scan_body, max_bytes)
    return app


class RequestId:
    """Gives each request an id: the caller's `X-Request-ID` if it is well formed, else one of our own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = next((value.decode("latin-1") for key, value in scope["headers"] if key == b"x-request-id"), "")
        request_id = given if REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), (b"x-request-id", request_id.encode())]
            await send(message)

        await self._app(scope, receive, send_with_id)


def _summary(rule: Rule) -> RuleSummary:
    return RuleSummary(
        id=rule.id,
        title=rule.title,
        kind=rule.kind.value,
        severity=rule.severity.word,
        confidence=rule.confidence.word,
        status=rule.status.value,
        systems=list(rule.systems),
        tags=list(rule.tags),
    )
