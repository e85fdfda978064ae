"""What HTTP requests and answers look like. These types are the wire's own and change on purpose only."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from troubleshoot.platform import PLATFORMS

Format = Literal["json", "text", "markdown", "html", "slack", "ndjson", "sarif", "junit"]
SavedFormat = Literal["json", "text", "markdown", "html", "slack"]
SAVED_FORMATS: tuple[SavedFormat, ...] = ("json", "text", "markdown", "html", "slack")


class LogFile(BaseModel):
    """One log of a request that brings several."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[
        str, Field(min_length=1, max_length=500, description="Name to show in the evidence", examples=["worker-3.log"])
    ]
    text: Annotated[str, Field(description="The log itself")]


class ScanRequest(BaseModel):
    """A scan asked for as JSON: either `text` or `files`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "oneOf": [
                {"required": ["text"], "properties": {"text": {"type": "string"}, "files": {"type": "null"}}},
                {"required": ["files"], "properties": {"files": {"type": "array"}, "text": {"type": "null"}}},
            ],
            "examples": [
                {
                    "text": "OSError: [Errno 12] Cannot allocate memory",
                    "name": "train.log",
                    "platform": "kubernetes",
                }
            ],
        },
    )

    text: str | None = Field(default=None, description="The log")
    name: str = Field(default="paste", max_length=500, description="Name of the log in the evidence")
    files: list[LogFile] | None = Field(default=None, description="Several logs of one job", max_length=10_000)
    platform: str | None = Field(
        default=None,
        max_length=40,
        description="Where the job ran; chooses the fix's variant",
        json_schema_extra={"enum": [*PLATFORMS, None]},
    )


class Feedback(BaseModel):
    """What somebody says of a finding."""

    model_config = ConfigDict(extra="forbid")

    rule: str = Field(max_length=200, examples=["efa/glibc-too-old"])
    verdict: Literal["right", "wrong", "fixed"] = Field(description="right; wrong; fixed: the fix worked")
    report: str | None = Field(default=None, pattern="^[A-Za-z0-9_-]{22}$", description="Id of the saved report")
    fingerprint: str | None = Field(default=None, max_length=100, description="Of the finding")
    comment: str = Field(default="", max_length=2000, description="Kept without secrets and e-mail addresses")


class ProblemDetails(BaseModel):
    """An error as RFC 9457 has it."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(examples=["Content Too Large"])
    status: int = Field(examples=[413])
    detail: str = Field(examples=["the body is larger than 67108864 bytes"])
    instance: str | None = Field(default=None, description="The request's id")
    errors: list[dict[str, Any]] = Field(default_factory=list)


class RuleSummary(BaseModel):
    """A rule in a list."""

    id: str = Field(examples=["efa/glibc-too-old"])
    title: str
    kind: str
    severity: str
    confidence: str
    status: str
    systems: list[str]
    tags: list[str]


class RuleList(BaseModel):
    rules: list[RuleSummary]
    total: int
    pack: dict[str, str]


class Health(BaseModel):
    status: Literal["ok", "not-ready"]
    rules: int | None = None
    pack: str | None = None
    problems: list[str] = Field(default_factory=list)
