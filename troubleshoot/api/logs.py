"""POST /v1/log: the text of a log that a browser cannot open itself (xz, bzip2, zstd, archives in them).

The body is that of a scan; `source` is a name from the report, `around` a line. What comes back is bounded and without
secrets; nothing of it is kept.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import FastAPI, Query
from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import JSONResponse

from troubleshoot.api.body import read_scan_body, stated_size
from troubleshoot.api.kept import PRIVATE, Problems
from troubleshoot.api.service import ScanService


class LogText(BaseModel):
    """Whole lines of one log, without secrets."""

    source: str
    first_line: int = Field(description="Number of the first of these lines")
    text: str
    more_before: bool
    more_after: bool


def add_logs(app: FastAPI, service: ScanService, max_bytes: int, scan_body: dict[str, Any], problems: Problems) -> None:
    """Add the route to `app`."""

    @app.post(
        "/v1/log",
        operation_id="readLog",
        summary="The text of one of the logs, decompressed and without secrets",
        response_model=LogText,
        responses=problems(400, 404, 408, 413, 415, 503, 504),
        openapi_extra={"requestBody": scan_body},
    )
    async def read_log(
        request: Request,
        source: Annotated[str, Query(max_length=2000, description="A name from the report's `sources`")] = "paste",
        around: Annotated[int, Query(ge=1, le=2**53, description="A line that is to be among them")] = 1,
    ) -> JSONResponse:
        async with service.room(stated_size(request)):
            body = await read_scan_body(request, max_bytes, "paste")
            answer = await service.view(body, source, around)
        shown = LogText(source=source, text=answer.bodies[0].decode("utf-8"), **answer.summary)
        return JSONResponse(shown.model_dump(), headers=PRIVATE)
