"""The HTTP API: reads what is asked, has it scanned, sends what was rendered. No logic of its own.

POST /v1/scan          text/plain, application/json, multipart/form-data; gzip, deflate, zstd
POST /v1/log           the text of one of the logs, decompressed and without secrets
GET  /v1/rules         the pack, filtered by `domain`, `system`, `q`
GET  /v1/rules/{id}    one rule, whole; as Markdown with `?format=markdown`
GET  /healthz          the process lives
GET  /readyz           a pack is loaded and can be scanned with; says what is wrong with a newer one that is not
GET  /metrics          Prometheus
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, get_args

from fastapi import FastAPI, Query
from fastapi.responses import PlainTextResponse
from prometheus_client.core import GaugeMetricFamily
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from troubleshoot import __version__, limits
from troubleshoot.api.body import read_scan_body, stated_size
from troubleshoot.api.faults import ForbiddenError, NotFoundError
from troubleshoot.api.gate import Gate
from troubleshoot.api.holder import PackHolder
from troubleshoot.api.kept import PRIVATE, SANDBOX, add_kept, keep, there
from troubleshoot.api.keys import KeyRing
from troubleshoot.api.languages import Tag, asked_language, every_rendering, headers_of, rendering
from troubleshoot.api.life import Life
from troubleshoot.api.logs import add_logs
from troubleshoot.api.metrics import CONTENT_TYPE, Metrics, gauge
from troubleshoot.api.options import ServiceOptions
from troubleshoot.api.pages import install_pages
from troubleshoot.api.problems import MEDIA_TYPE, install_problem_handlers
from troubleshoot.api.query import parse_query, query_parameters
from troubleshoot.api.service import ScanService, Wanted
from troubleshoot.api.site import Site
from troubleshoot.api.slack import add_slack
from troubleshoot.api.strict import StrictRoute
from troubleshoot.api.tallies import add_tallies
from troubleshoot.api.wire import (
    SAVED_FORMATS,
    Format,
    Health,
    ProblemDetails,
    RuleList,
    RuleSummary,
    ScanRequest,
)
from troubleshoot.language import speaking
from troubleshoot.localise import localise_pack, localise_rule
from troubleshoot.platform import PLATFORMS
from troubleshoot.report import media_type_of
from troubleshoot.report.schema import report_schema
from troubleshoot.rulepack.docs import rule_page
from troubleshoot.rulepack.document import rule_document
from troubleshoot.rulepack.packs import find_rule
from troubleshoot.rulepack.search import rule_summary, search_rules

SAMPLE = (
    "mpirun: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found "
    "(required by /opt/amazon-efa-ofi/openmpi/lib/libopen-rte.so.40)"
)

PROBLEM: dict[int | str, dict[str, Any]] = {
    status: {"model": ProblemDetails, "description": text, "content": {MEDIA_TYPE: {}}}
    for status, text in {
        400: "the request cannot be understood",
        401: "an API key is needed",
        403: "the key may not do that, or the request comes from another site's page",
        404: "there is no such thing",
        408: "the body did not arrive in time",
        413: "the body, as sent or decompressed, is over the limit",
        415: "media type or content encoding not taken",
        422: "a field does not fit the schema",
        429: "too many requests; see Retry-After",
        503: "no rule pack is loaded, or more to do than can be done; see Retry-After",
        504: "the scan took longer than a request may",
        507: "the store is full",
    }.items()
}
SLACK_MESSAGE = {
    "title": "SlackMessage",
    "description": "with format=slack: the body of chat.postMessage without its channel",
    "type": "object",
    "required": ["text", "blocks"],
    "properties": {"text": {"type": "string"}, "blocks": {"type": "array", "items": {"type": "object"}}},
}
OTHER_TYPES = sorted({media_type_of(each).partition(";")[0] for each in get_args(Format)} - {"application/json"})
EVERYWHERE = (401, 403, 422, 429)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the problems that a route may answer, for the schema."""
    return {code: PROBLEM[code] for code in sorted({*EVERYWHERE, *statuses})}


def create_app(
    rules: Sequence[Path] = (),
    *,
    drafts: bool = False,
    default_rules: bool = True,
    max_bytes: int = limits.BODY_BYTES,
    watch: bool = True,
    options: ServiceOptions | None = None,
) -> FastAPI:
    """Return the application. `rules` are folders beside the shipped pack; `max_bytes` bounds a body."""
    options = options or ServiceOptions()
    holder = PackHolder(rules, drafts=drafts, default_rules=default_rules)
    keys = KeyRing(Path(options.keys_file)) if options.keys_file else None
    metrics = Metrics(lambda: _gauges(holder, service))
    service = ScanService(holder, metrics)

    life = Life(holder, service, options, watch=watch)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with life.running():
            yield

    app = FastAPI(
        title="troubleshoot",
        version="1",
        summary="Find the known fault in the log of a failed distributed training job",
        lifespan=lifespan,
        docs_url=None,  # the stock pages load scripts from an outside host
        redoc_url=None,
        redirect_slashes=False,  # the address would be made of the Host header, which is the caller's
    )
    app.router.route_class = StrictRoute
    app.state.holder = holder
    app.state.service = service
    app.add_middleware(Gate, metrics=metrics, keys=keys, options=options)
    install_problem_handlers(app)
    _add_scan(app, service, life, max_bytes, options)
    add_logs(app, service, max_bytes, SCAN_BODY, problems)
    _add_rules(app, holder, options.language)
    add_kept(app, lambda: life.store, problems, options.language)
    add_tallies(app, holder, lambda: life.store, who, problems, options)
    if options.mcp:
        life.add_agents(app)
    if options.slack:
        add_slack(app, lambda: life.slack)
    _add_operations(app, holder, life, metrics)
    install_pages(app, Site(holder, service, options, max_bytes, who, lambda: life.store))
    return app


def _add_scan(app: FastAPI, service: ScanService, life: Life, max_bytes: int, options: ServiceOptions) -> None:
    @app.post(
        "/v1/scan",
        operation_id="scan",
        summary="Scan a log, or several logs of one job",
        response_class=JSONResponse,
        responses={
            200: {
                "description": "the report; Location, X-Delete-Token and X-Report-Expires where it was saved",
                "content": {
                    "application/json": {"schema": {"anyOf": [report_schema(), SLACK_MESSAGE]}},
                    **{
                        kind: {"schema": {"type": "string"}} if kind.startswith("text/") else {} for kind in OTHER_TYPES
                    },
                },
            },
            **problems(400, 404, 408, 413, 415, 503, 504, 507),
        },
        openapi_extra={"requestBody": SCAN_BODY, "parameters": query_parameters()},
    )
    async def scan(request: Request) -> Response:
        asked = parse_query(request)
        headers = PRIVATE | (SANDBOX if asked.format == "html" else {})
        if asked.keep_log and not options.keep_logs:
            raise ForbiddenError("this service keeps no logs", help="start it with --keep-logs")
        save = asked.save or asked.keep_log
        if save:
            there(life.store)
        language = asked_language(request, asked.lang, options.language)
        headers |= headers_of(language)
        formats: tuple[str, ...] = (rendering(asked.format, language),)
        if save:
            formats += tuple(each for each in every_rendering(SAVED_FORMATS) if each not in formats)
        async with service.room(stated_size(request)):
            body = await read_scan_body(request, max_bytes, asked.name)
            wanted = Wanted(formats, asked.platform, asked.keep_log, who(request), asked.anonymize)
            answer = await service.scan(body, wanted)
        if save:
            headers |= await keep(life.store, answer, formats, days=asked.days, made_by=who(request))
        return Response(answer.bodies[0], media_type=media_type_of(asked.format), headers=headers)


def _add_rules(app: FastAPI, holder: PackHolder, default_language: str) -> None:
    @app.get("/v1/rules", operation_id="listRules", summary="List the rules", responses=problems(503))
    async def list_rules(
        request: Request,
        response: Response,
        domain: Annotated[str | None, Query(max_length=100, examples=["efa"])] = None,
        system: Annotated[str | None, Query(max_length=100, examples=["nccl"])] = None,
        q: Annotated[str | None, Query(max_length=200, description="Words in id, title or explanation")] = None,
        lang: Tag = None,
    ) -> RuleList:
        language = asked_language(request, lang, default_language)
        response.headers.update(headers_of(language))
        pack = await asyncio.to_thread(localise_pack, holder.serving().pack, language)
        found = search_rules(pack, (q or "").split(), domain=domain, system=system)
        return RuleList(
            rules=[RuleSummary.model_validate(rule_summary(rule)) for rule in found],
            total=len(found),
            pack={"name": pack.name, "version": pack.version, "hash": pack.hash},
        )

    @app.get(
        "/v1/rules/{rule_id:path}",
        operation_id="getRule",
        summary="One rule, whole",
        responses={
            200: {
                "description": "the rule",
                "content": {
                    "application/json": {"schema": {"type": "object"}},
                    "text/markdown": {"schema": {"type": "string"}},
                },
            },
            **problems(404, 503),
        },
    )
    async def get_rule(
        request: Request,
        rule_id: str,
        format: Annotated[str, Query(pattern="^(json|markdown)$")] = "json",
        lang: Tag = None,
    ) -> Response:
        rule = find_rule(holder.serving().pack, rule_id)
        if rule is None:
            raise NotFoundError("no rule of that id; see /v1/rules")
        language = asked_language(request, lang, default_language)
        rule, headers = localise_rule(rule, language), headers_of(language)
        if format == "markdown":
            with speaking(language):
                return PlainTextResponse(rule_page(rule), media_type="text/markdown", headers=headers)
        document = rule_document(rule)
        if "path" in document:
            document["path"] = f"{rule.id}.yaml"  # where the file lies on this machine is nobody's business
        return JSONResponse(document, headers=headers)


def _add_operations(app: FastAPI, holder: PackHolder, life: Life, metrics: Metrics) -> None:
    @app.get("/healthz", operation_id="health", summary="Does the process live", responses=problems())
    async def healthz() -> Health:
        return Health(status="ok")

    @app.get(
        "/readyz",
        operation_id="ready",
        summary="Can it answer",
        responses={
            200: {"model": Health},
            **problems(),
            503: {"model": Health, "description": "no pack is loaded, or none can be scanned with yet"},
        },
    )
    async def readyz() -> Response:
        serving = holder.engine
        health = Health(
            status="ok" if life.is_ready else "not-ready",
            rules=len(serving.pack.rules) if serving else 0,
            pack=serving.pack.hash if serving else None,
            problems=life.problems,
        )
        return JSONResponse(health.model_dump(), status_code=200 if life.is_ready else 503)

    @app.get(
        "/metrics",
        operation_id="metrics",
        summary="What the service has counted, for Prometheus",
        response_class=PlainTextResponse,
        responses=problems(),
    )
    async def show_metrics() -> Response:
        return Response(await asyncio.to_thread(metrics.render), media_type=CONTENT_TYPE)


def who(request: Request) -> str:
    """Return whose request this is: the id of its API key, or nothing where there are no keys."""
    key = getattr(request.state, "key", None)
    return key.id if key is not None else ""


def _gauges(holder: PackHolder, service: ScanService) -> Iterator[GaugeMetricFamily]:
    yield gauge("build_info", "The release", {"version": __version__})
    if holder.engine is not None:
        pack = holder.engine.pack
        labels = {"name": pack.name, "version": pack.version, "hash": pack.hash}
        yield gauge("pack_info", "The rule pack that serves", labels)
        yield gauge("rules", "Rules of the pack that serves", {}, len(pack.rules))
    yield gauge("pack_problems", "What keeps a newer pack from serving", {}, len(holder.problems))
    if service.pool is not None:
        yield gauge("scan_processes", "Scan processes that live", {}, len(service.pool.processes))
        yield gauge("scans_running", "Scans under way", {}, service.pool.busy)
        yield gauge("scans_waiting", "Scans that wait for a process", {}, service.pool.waiting)


SCAN_BODY: dict[str, Any] = {
    "required": False,  # an empty log is a log: its report is clean
    "content": {
        "text/plain": {"schema": {"type": "string"}, "example": SAMPLE},
        "application/json": {"schema": ScanRequest.model_json_schema(), "example": {"text": SAMPLE}},
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "additionalProperties": False,
                "anyOf": [{"required": ["file"]}, {"required": ["text"]}],
                "properties": {
                    "file": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}},
                    "text": {"type": "string"},
                    "platform": {"type": "string", "enum": [*PLATFORMS, ""]},
                },
            }
        },
        "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
    },
}
