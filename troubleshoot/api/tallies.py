"""Routes over what the store counts: feedback, findings per rule and day, unknown faults that come back.

    POST   /v1/feedback                    right, wrong, fixed
    GET    /v1/feedback                    what people said, newest first
    GET    /v1/stats/rules                 findings per rule and day, and what people said of them
    GET    /v1/unknown-faults              suspects of unknown faults that came back
    GET    /v1/unknown-faults/{id}/rule    a rule file to start from
    DELETE /v1/unknown-faults/{id}         it has a rule now, or needs none
    GET    /v1/retention                   how long all this is kept

Without a store each of these answers 404 and says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import FastAPI, Path, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from troubleshoot.api.faults import NotFoundError
from troubleshoot.api.holder import PackHolder
from troubleshoot.api.kept import PRIVATE, Problems, there
from troubleshoot.api.options import ServiceOptions
from troubleshoot.api.rates import address_group
from troubleshoot.api.wire import Feedback
from troubleshoot.rulepack.scaffold import scaffold_rule

if TYPE_CHECKING:
    from troubleshoot.store.store import Store
    from troubleshoot.store.tallies import UnknownFault

FaultId = Annotated[str, Path(min_length=32, max_length=32, pattern="^[0-9a-f]+$", description="From the list")]


class RuleCount(BaseModel):
    day: str
    rule: str
    number: int


class RuleStatistics(BaseModel):
    findings: list[RuleCount]
    verdicts: list[RuleCount] = Field(description="Reports by verdict; `rule` holds the verdict")
    feedback: dict[str, dict[str, int]]


class FeedbackTold(BaseModel):
    """What somebody said of a finding."""

    model_config = ConfigDict(from_attributes=True)

    created: datetime
    rule: str
    verdict: Literal["right", "wrong", "fixed"]
    comment: str
    report: str | None = Field(validation_alias="report_id", description="Id of the saved report, while it is kept")


class UnknownFaultOut(BaseModel):
    """Lines like this came up, and no rule knew the fault."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    template: str
    sample: str
    reason: str
    first_seen: datetime
    last_seen: datetime
    number: int


class Retention(BaseModel):
    """How long the service keeps what it keeps."""

    reports_days: int
    history_days: int = Field(description="Counts, feedback, unknown faults")
    logs: bool = Field(description="Whether a redacted log may be kept beside its report")


def add_tallies(
    app: FastAPI,
    holder: PackHolder,
    store: Callable[[], Store | None],
    who: Callable[[Request], str],
    problems: Problems,
    options: ServiceOptions,
) -> None:
    """Add the routes to `app`. `store` returns the store, once the service has started with one."""
    _add_feedback(app, holder, store, who, problems)
    _add_unknown_faults(app, store, problems)

    @app.get(
        "/v1/stats/rules",
        operation_id="ruleStatistics",
        summary="Findings per rule and day, and what people said of them",
        responses=problems(404),
    )
    async def rule_statistics(days: Annotated[int, Query(ge=1, le=3650)] = 30) -> RuleStatistics:
        found = there(store())

        def read() -> RuleStatistics:
            return RuleStatistics(
                findings=[RuleCount(day=str(d), rule=r, number=n) for d, r, n in found.rule_counts(days)],
                verdicts=[RuleCount(day=str(d), rule=r, number=n) for d, r, n in found.rule_counts(days, "verdict")],
                feedback=found.feedback_summary(days),
            )

        return await asyncio.to_thread(read)

    @app.get(
        "/v1/retention",
        operation_id="retention",
        summary="How long what is kept is kept",
        responses=problems(404),
    )
    async def retention() -> Retention:
        there(store())
        return Retention(reports_days=options.keep_days, history_days=options.history_days, logs=options.keep_logs)


def _add_feedback(
    app: FastAPI,
    holder: PackHolder,
    store: Callable[[], Store | None],
    who: Callable[[Request], str],
    problems: Problems,
) -> None:
    @app.post(
        "/v1/feedback",
        operation_id="giveFeedback",
        summary="Say whether a finding was right, wrong, or its fix worked",
        status_code=204,
        responses=problems(400, 404),
    )
    async def give_feedback(request: Request, feedback: Feedback) -> Response:
        found = there(store())
        if feedback.rule not in holder.serving().pack.rules:
            raise NotFoundError("no rule of that id; see /v1/rules")
        await asyncio.to_thread(
            found.add_feedback,
            feedback.rule,
            feedback.verdict,
            who=who(request) or address_group(request.client.host if request.client else "?"),
            place=feedback.report or feedback.fingerprint or "-",
            report_id=feedback.report,
            fingerprint=feedback.fingerprint,
            comment=feedback.comment,
        )
        return Response(status_code=204)

    @app.get(
        "/v1/feedback",
        operation_id="listFeedback",
        summary="What people said of findings, newest first",
        responses=problems(404),
    )
    async def list_feedback(
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        rule: Annotated[str | None, Query(max_length=200)] = None,
        verdict: Annotated[Literal["right", "wrong", "fixed"] | None, Query()] = None,
        commented: Annotated[bool, Query(description="Only what came with words")] = False,
    ) -> list[FeedbackTold]:
        found = there(store())
        told = await asyncio.to_thread(
            found.feedback_told, limit=limit, rule=rule, verdict=verdict, commented=commented
        )
        return [FeedbackTold.model_validate(each) for each in told]


def _add_unknown_faults(app: FastAPI, store: Callable[[], Store | None], problems: Problems) -> None:
    async def fault_of(fault_id: str) -> UnknownFault:
        fault = await asyncio.to_thread(there(store()).unknown_fault, fault_id)
        if fault is None:
            raise NotFoundError("no such unknown fault, or not any more")
        return fault

    @app.get(
        "/v1/unknown-faults",
        operation_id="unknownFaults",
        summary="Lines of faults that no rule knew and that came back",
        responses=problems(404),
    )
    async def unknown_faults(
        limit: Annotated[int, Query(ge=1, le=200)] = 50,
        at_least: Annotated[int, Query(ge=1, le=1_000_000)] = 2,
        skip: Annotated[int, Query(ge=0, le=1_000_000, description="How many to pass over")] = 0,
        q: Annotated[str, Query(max_length=200, description="Words in the line")] = "",
    ) -> list[UnknownFaultOut]:
        found = there(store())
        faults = await asyncio.to_thread(
            found.unknown_faults, limit=limit, at_least=at_least, skip=skip, words=q.split()
        )
        return [UnknownFaultOut.model_validate(each) for each in faults]

    @app.get(
        "/v1/unknown-faults/{fault_id}/rule",
        operation_id="startRule",
        summary="A rule file to start from, as `troubleshoot rules new` writes it",
        response_class=Response,
        responses={
            200: {"description": "the file", "content": {"application/yaml": {"schema": {"type": "string"}}}},
            **problems(400, 404),
        },
    )
    async def start_rule(
        fault_id: FaultId,
        id: Annotated[
            str,
            Query(
                max_length=200,
                pattern=r"^[a-z0-9]+(-[a-z0-9]+)*(/[a-z0-9]+(-[a-z0-9]+)*)+$",
                description="Id of the rule to be: domain/fault",
                examples=["storage/zork"],
            ),
        ],
    ) -> Response:
        fault = await fault_of(fault_id)
        return Response(scaffold_rule(id, fault.sample), media_type="application/yaml", headers=PRIVATE)

    @app.delete(
        "/v1/unknown-faults/{fault_id}",
        operation_id="forgetUnknownFault",
        summary="Take an unknown fault off the list: it has a rule now, or needs none",
        status_code=204,
        responses=problems(404),
    )
    async def forget(fault_id: FaultId) -> Response:
        if not await asyncio.to_thread(there(store()).forget_unknown, fault_id):
            raise NotFoundError("no such unknown fault, or not any more")
        return Response(status_code=204)
