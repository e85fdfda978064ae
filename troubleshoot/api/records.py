"""The pages over the store: what was saved, what was found how often, what no rule knows yet.

    GET  /history                       saved answers, newest first, searched with `q`
    POST /history/{id}/delete           what should not have been saved
    GET  /statistics                    scans and findings per day, and what people said of them
    GET  /unknown-faults                lines of unknown faults that came back
    GET  /unknown-faults/{id}           a rule to start from one
    POST /unknown-faults/{id}/forget    it has a rule now, or needs none

They work without JavaScript. Who may open them is the gate's business, which it decides as for the API's routes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from troubleshoot.api.gate import may
from troubleshoot.api.kept import Moment, Verdict
from troubleshoot.api.page.charts import chart_of, days_until
from troubleshoot.api.site import NEVER_STORED, Site
from troubleshoot.errors import UsageError
from troubleshoot.localise import localise_pack
from troubleshoot.report.printable import UNSAFE
from troubleshoot.rulepack.scaffold import scaffold_rule

if TYPE_CHECKING:
    from troubleshoot.store.store import Store

PAGE_ROWS = 30
COMMENTS = 20
PERIODS = (7, 30, 90, 365)
Id = Annotated[str, Path(max_length=100)]
Words = Annotated[str, Query(max_length=200)]


def records_router(site: Site) -> APIRouter:
    """Return the routes. Without a store they lead to a page that says so."""
    router = APIRouter()

    def nothing(request: Request) -> Response:
        return site.missing(request, "Nothing is kept", "This service was started without a store.")

    @router.get("/history")
    async def show_history(
        request: Request,
        q: Words = "",
        verdict: Annotated[Verdict | Literal[""], Query()] = "",
        before: Annotated[Moment | None, Query()] = None,
        before_id: Annotated[str, Query(max_length=22)] = "",
    ) -> Response:
        store = site.store()
        if store is None:
            return nothing(request)
        rows = await asyncio.to_thread(
            store.history,
            limit=PAGE_ROWS + 1,
            before=before,
            before_id=before_id,
            words=q.split(),
            verdict=verdict or None,
        )
        shown = [{**row, "day": row["created"].date()} for row in rows[:PAGE_ROWS]]
        asked = {"q": q, "verdict": verdict}
        older = {**asked, "before": shown[-1]["created"].isoformat(), "before_id": shown[-1]["id"]} if shown else {}
        return site.page(
            request,
            "history.html",
            cache=NEVER_STORED,
            rows=shown,
            query=q,
            verdict=verdict,
            older=_address("/history", older) if len(rows) > PAGE_ROWS else "",
            newest=_address("/history", asked) if before is not None else "",
            options=site.options,
        )

    @router.post("/history/{report_id}/delete")
    async def delete(request: Request, report_id: Id) -> Response:
        store = site.store()
        if store is None:
            return nothing(request)
        await asyncio.to_thread(store.delete_report, report_id, None)  # who may open this page is an admin
        return RedirectResponse("/history", status_code=303, headers={"Cache-Control": NEVER_STORED})

    @router.get("/statistics")
    async def show_statistics(
        request: Request,
        days: Annotated[int, Query(ge=1, le=3650)] = 30,
        rule: Annotated[str, Query(max_length=200)] = "",
    ) -> Response:
        store = site.store()
        if store is None:
            return nothing(request)
        days = min(days, site.options.history_days)
        with_comments = may(request, "/v1/feedback")
        counted = await asyncio.to_thread(_read_statistics, store, days, rule, with_comments)
        periods = [each for each in PERIODS if each <= site.options.history_days] or [site.options.history_days]
        return site.page(
            request,
            "statistics.html",
            cache=NEVER_STORED,
            days=days,
            periods=sorted({*periods, days}),
            rule=rule,
            with_comments=with_comments,
            options=site.options,
            pack=await asyncio.to_thread(localise_pack, site.pack, site.language(request)),
            **counted,
        )

    @router.get("/unknown-faults")
    async def show_unknown(
        request: Request,
        q: Words = "",
        at_least: Annotated[int, Query(ge=1, le=1_000_000)] = 2,
        skip: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    ) -> Response:
        store = site.store()
        if store is None:
            return nothing(request)
        faults = await asyncio.to_thread(
            store.unknown_faults, limit=PAGE_ROWS + 1, at_least=at_least, skip=skip, words=q.split()
        )
        asked: dict[str, Any] = {"q": q, "at_least": at_least if at_least != 2 else ""}
        return site.page(
            request,
            "unknown-faults.html",
            cache=NEVER_STORED,
            faults=faults[:PAGE_ROWS],
            query=q,
            at_least=at_least,
            more=_address("/unknown-faults", {**asked, "skip": skip + PAGE_ROWS}) if len(faults) > PAGE_ROWS else "",
            first=_address("/unknown-faults", asked) if skip else "",
            once=_address("/unknown-faults", {"q": q, "at_least": 1 if at_least > 1 else ""}),
            options=site.options,
        )

    @router.get("/unknown-faults/{fault_id}")
    async def show_start_of_rule(
        request: Request, fault_id: Id, id: Annotated[str, Query(max_length=200)] = ""
    ) -> Response:
        store = site.store()
        fault = await asyncio.to_thread(store.unknown_fault, fault_id) if store is not None else None
        if fault is None:
            return site.missing(
                request,
                "No such unknown fault",
                "It was taken off the list, or has not come back for so long that it was forgotten.",
            )
        rule_id = id or suggested_id(fault.sample)
        draft = problem = ""
        try:
            draft = scaffold_rule(rule_id, fault.sample)
        except UsageError as error:
            problem = f"{error.text}: {error.help}" if error.help else error.text
        return site.page(
            request,
            "unknown-fault.html",
            status=400 if problem else 200,
            cache=NEVER_STORED,
            fault=fault,
            rule_id=rule_id,
            draft=draft,
            problem=problem,
            command=start_command(rule_id, fault.sample),
            file=f"{rule_id.rpartition('/')[2]}.yaml",
        )

    @router.post("/unknown-faults/{fault_id}/forget")
    async def forget(request: Request, fault_id: Id) -> Response:
        store = site.store()
        if store is None:
            return nothing(request)
        await asyncio.to_thread(store.forget_unknown, fault_id)
        return RedirectResponse("/unknown-faults", status_code=303, headers={"Cache-Control": NEVER_STORED})

    return router


def _read_statistics(store: Store, days: int, rule: str, with_comments: bool) -> dict[str, Any]:
    """Return what the page of statistics shows of the last days: of all rules, or of one."""
    span = days_until(datetime.now(UTC).date(), days)
    by_rule: dict[str, dict[date, int]] = {}
    for day, name, number in store.rule_counts(days):
        by_rule.setdefault(name, {})[day] = number
    verdicts: dict[str, dict[date, int]] = {"fault": {}, "unknown-fault": {}, "clean": {}}
    for day, name, number in store.rule_counts(days, "verdict"):
        verdicts.setdefault(name, {})[day] = number
    feedback = store.feedback_summary(days)
    names = {*by_rule, *feedback}
    total = {name: sum(by_rule.get(name, {}).values()) for name in names}
    order = sorted(names, key=lambda name: (-total[name], name))
    tallies = [
        (name, total[name], chart_of(span, {"rule": by_rule.get(name, {})}), feedback.get(name)) for name in order
    ]
    return {
        "chart": chart_of(span, {"rule": by_rule.get(rule, {})} if rule else verdicts),
        "verdicts": {name: sum(counts.values()) for name, counts in verdicts.items()},
        "tallies": [each for each in tallies if each[0] == rule] if rule else tallies,
        "comments": store.feedback_told(limit=COMMENTS, rule=rule or None, commented=True) if with_comments else [],
    }


def suggested_id(sample: str) -> str:
    """Return an id to begin with: the first words of the line that are words."""
    words = re.findall(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}", sample[:300])
    return f"site/{'-'.join(word.lower() for word in words[:4]) or 'unknown-fault'}"


def start_command(rule_id: str, sample: str) -> str:
    """Return what to type in a shell to start a rule: the sample stands in a here-document that it cannot end."""
    lines = [UNSAFE.sub("", line) for line in sample.splitlines()]
    end = "LOG"
    while end in lines:
        end += "_"
    quoted = rule_id if re.fullmatch(r"[a-z0-9/-]+", rule_id) else "site/unknown-fault"
    return "\n".join(
        (
            f"troubleshoot rules new {quoted} --dir my-rules << '{end}'",
            *lines,
            end,
            f"troubleshoot rules check my-rules/{quoted}.yaml",
        )
    )


def _address(path: str, query: Mapping[str, object]) -> str:
    given = {name: value for name, value in query.items() if value not in ("", None)}
    return f"{path}?{urlencode(given)}" if given else path
