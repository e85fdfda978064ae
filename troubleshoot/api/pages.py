"""The pages for people: paste a log and read the answer, browse the rules.

    GET  /               paste, drop or pick; with JavaScript the page then works from /v1/scan and /v1/rules
    POST /               the same form without JavaScript: the answer as a page, nothing kept
    GET  /r/{id}         a saved report, where there is a store
    GET  /rules          the rules, searched with `q`
    GET  /rules/{id}     the page of one rule
    GET  /static/...     style sheets, modules, fonts, the sample log

Scans go the way of the API's, with its limits and its processes. Every answer forbids outside hosts, inline scripts,
framing and sniffing; an answer about somebody's log is not cached.
"""

from __future__ import annotations

import asyncio
import itertools
from functools import partial
from typing import Annotated, get_args

from fastapi import APIRouter, FastAPI, Path, Query
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from troubleshoot.api.body import ScanBody, read_scan_body, stated_size
from troubleshoot.api.kept import saved_rendering
from troubleshoot.api.languages import rendering
from troubleshoot.api.page.render import STATIC, html_from_markdown, html_from_tokens, rule_address
from troubleshoot.api.problems import status_of
from troubleshoot.api.records import records_router
from troubleshoot.api.service import Wanted
from troubleshoot.api.site import HEADERS, NEVER_STORED, REVALIDATE, Site, page_on_error
from troubleshoot.api.wire import Format, SavedFormat
from troubleshoot.docs.reference import kept_pages, title_of
from troubleshoot.docs.render import html_of, parse_markdown
from troubleshoot.errors import TroubleshootError, UsageError
from troubleshoot.language import say_sentence, speaking
from troubleshoot.localise import localise_pack, localise_rule
from troubleshoot.model import Rule
from troubleshoot.rulepack.docs import rule_page
from troubleshoot.rulepack.packs import find_rule
from troubleshoot.rulepack.search import search_rules

# Where somebody may say the job ran; the names are those that a fix's variants use.
PLATFORMS = {
    "runai-cli": "Run:ai",
    "kubernetes": "Kubernetes",
    "slurm": "Slurm",
    "sagemaker": "SageMaker",
    "hyperpod": "SageMaker HyperPod",
    "docker": "Docker",
    "mpirun": "mpirun",
    "torchrun": "torchrun",
}
VARIANTS = {
    **PLATFORMS,
    "runai-cli": "Run:ai CLI",
    "runai-ui": "Run:ai UI",
    "yaml": "YAML",
    "shell": "Shell",
    "python": "Python",
}
DOWNLOADS = ("json", "markdown", "html")


def install_pages(app: FastAPI, site: Site) -> None:
    """Add the pages and their static files to `app`."""
    app.state.page_on_error = partial(page_on_error, site)
    app.mount("/static", _Static(directory=STATIC), name="static")
    for router in (
        _start_router(site),
        _saved_router(site),
        _rules_router(site),
        _reference_router(site),
        records_router(site),
    ):
        app.include_router(router, include_in_schema=False)


def _start_router(site: Site) -> APIRouter:
    router = APIRouter()

    def start(request: Request, text: str = "", platform: str = "", error: TroubleshootError | None = None) -> Response:
        status = 200 if error is None else status_of(error)
        return site.page(
            request,
            "start.html",
            status=status,
            cache=REVALIDATE if status == 200 and not text else NEVER_STORED,
            text=text,
            platform=platform,
            platforms=PLATFORMS,
            labels=VARIANTS,
            problem=None if error is None else _words(error, status, site.language(request)),
            max_bytes=site.max_bytes,
            formats=[each for each in DOWNLOADS if each in get_args(Format)],
            keep_days=site.options.keep_days if site.options.store else 0,
            keep_logs=site.options.keep_logs,
        )

    @router.get("/")
    async def show_start(request: Request, sample: Annotated[str | None, Query(max_length=10)] = None) -> Response:
        return start(request, text="" if sample is None else (STATIC / "sample.log").read_text("utf-8"))

    @router.post("/")
    async def show_answer(request: Request) -> Response:
        try:
            async with site.service.room(stated_size(request)):
                given = await read_scan_body(request, site.max_bytes, "paste")
                body = ScanBody({name: data for name, data in given.texts.items() if data}, given.platform or None)
                if not body.texts:
                    raise UsageError("there is no log to read", help="paste one, or choose a file")
                format = rendering("markdown", site.language(request))
                answer = await site.service.scan(body, Wanted((format,), who=site.who(request)))
        except TroubleshootError as error:
            return start(request, error=error)
        markdown = answer.bodies[0].decode("utf-8")
        shown = html_from_markdown(markdown, site.pack.rules)
        return site.page(request, "result.html", cache=NEVER_STORED, answer=shown, markdown=markdown)

    return router


def _saved_router(site: Site) -> APIRouter:
    router = APIRouter()

    @router.get("/r/{report_id}")
    async def show_saved(request: Request, report_id: Annotated[str, Path(max_length=100)]) -> Response:
        store = site.store()
        wanted = site.language(request)
        body = (await saved_rendering(store, report_id, "markdown", wanted))[0] if store is not None else None
        expires = await asyncio.to_thread(store.expiry, report_id) if store is not None else None
        if store is None or body is None or expires is None:
            return site.missing(
                request, "No such answer", "It was deleted, or its time is over, or the link is not whole."
            )
        return site.page(
            request,
            "report.html",
            cache=NEVER_STORED,
            report_id=report_id,
            answer=html_from_markdown(body.decode("utf-8"), site.pack.rules),
            logs=await asyncio.to_thread(store.log_names, report_id),
            expires=expires.isoformat(timespec="seconds"),
            labels=VARIANTS,
            formats=[each for each in DOWNLOADS if each in get_args(SavedFormat)],
        )

    return router


def _rules_router(site: Site) -> APIRouter:
    router = APIRouter()

    @router.get("/rules")
    async def show_rules(request: Request, q: Annotated[str, Query(max_length=200)] = "") -> Response:
        pack = await asyncio.to_thread(localise_pack, site.pack, site.language(request))
        found = {rule.id for rule in search_rules(pack, q.split())}
        everything = sorted(pack.rules.values(), key=lambda rule: rule.id)
        domains = [
            (domain, rules, sum(rule.id in found for rule in rules))
            for domain, rules in ((name, list(group)) for name, group in itertools.groupby(everything, _domain))
        ]
        return site.page(request, "rules.html", query=q, domains=domains, found=found)

    @router.get("/rules/{rule_id:path}")
    async def show_rule(request: Request, rule_id: str) -> Response:
        pack = site.pack
        rule = find_rule(pack, rule_id)
        if rule is None:
            return site.missing(
                request, "No such rule", "There is no rule of that name; it may have been renamed or retired."
            )
        language = site.language(request)
        rule = localise_rule(rule, language)
        with speaking(language):
            tokens = parse_markdown(rule_page(rule))
        body = itertools.dropwhile(lambda token: (token.type, token.tag) != ("heading_open", "h2"), tokens)
        return site.page(request, "rule.html", rule=rule, body=html_from_tokens(list(body), pack.rules))

    return router


def _reference_router(site: Site) -> APIRouter:
    router = APIRouter()

    @router.get("/reference")
    async def show_references(request: Request) -> Response:
        titles = {name: title_of(text) for name, text in kept_pages().items()}
        return site.page(request, "references.html", titles=titles)

    @router.get("/reference/{name}")
    async def show_reference(request: Request, name: Annotated[str, Path(max_length=40)]) -> Response:
        text = kept_pages().get(name)
        if text is None:
            return site.missing(request, "No such page", "There is no page of that name in the reference.")
        return site.page(
            request, "reference.html", title=title_of(text), body=html_of(text, site.pack.rules, rule_address)
        )

    return router


def _domain(rule: Rule) -> str:
    return rule.domain


def _words(error: TroubleshootError, status: int, language: str) -> tuple[str, str]:
    """Return what went wrong and what helps, in words that hold nothing of the log."""
    text, help = (error.text, error.help) if status != 500 else ("the scan failed", "the service's log says why")
    with speaking(language):
        return say_sentence(text), say_sentence(help)


class _Static(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update({**HEADERS, "Cache-Control": REVALIDATE})
        if path.endswith((".log", ".txt")):
            response.headers["Content-Type"] = "text/plain; charset=utf-8"
        return response
