"""The JSON Schema (2020-12) of the report's wire format, version 1.

Written beside `wire.py` and held to it by a test that validates every golden report. Objects allow further keys,
because version 1 may grow; enumerations and types are exact.
"""

from __future__ import annotations

from typing import Any

from troubleshoot.model import Confidence, Kind, Moment, Role, Severity, Verdict
from troubleshoot.report.wire import SCHEMA

Schema = dict[str, Any]

TIME_PATTERN = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"
RANKS_PATTERN = r"^(\d+(-\d+)?(,\d+(-\d+)?)*)?$"

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
LINE: Schema = {"type": "integer", "minimum": 1}
FLAG: Schema = {"type": "boolean"}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
MAYBE_RANK: Schema = {"type": ["integer", "null"], "minimum": 0}
MAYBE_TIME: Schema = {"type": ["string", "null"], "pattern": TIME_PATTERN, "description": "RFC 3339, UTC"}
RANKS: Schema = {"type": "string", "pattern": RANKS_PATTERN, "description": "ranks, runs joined: 0-7,12"}


def report_schema() -> Schema:
    """Return the schema of a report as a JSON document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:troubleshoot:report:1",
        "title": "troubleshoot report",
        **_object(
            schema={"const": SCHEMA},
            verdict=_words([each.value for each in Verdict]),
            findings={"type": "array", "items": _finding(), "description": "likeliest cause first"},
            confirmations=_array(_finding()),
            undecided=_array(_object(rule=TEXT, title=TEXT, why=TEXT, next=TEXT, collect=TEXT)),
            suspects=_array(
                _object(source=TEXT, line=LINE, text=TEXT, count=LINE, reason=TEXT, rank=MAYBE_RANK, weight=COUNT)
            ),
            sources=_array(_source()),
            notes=_array(_object(code=TEXT, text=TEXT, source=MAYBE_TEXT)),
            pack=_object(name=TEXT, version=TEXT, hash=TEXT),
            stats=_object(bytes=COUNT, lines=COUNT, seconds={"type": "number", "minimum": 0}, rules=COUNT),
            platform=MAYBE_TEXT,
            optional={"job": _job()},
        ),
    }


def _job() -> Schema:
    first = _object(
        rank=MAYBE_RANK,
        host=MAYBE_TEXT,
        source=TEXT,
        line=LINE,
        time=MAYBE_TIME,
        text=TEXT,
        because=TEXT,
        confidence=_words([each.word for each in Confidence]),
        runner_up=TEXT,
        rule=TEXT,
    )
    moment = _object(
        kind=_words([each.value for each in Moment]),
        time=MAYBE_TIME,
        until=MAYBE_TIME,
        rank=MAYBE_RANK,
        ranks=RANKS,
        host=MAYBE_TEXT,
        source=TEXT,
        line=COUNT,
        count=COUNT,
        text=TEXT,
    )
    straggler = _object(
        rank=COUNT,
        host=MAYBE_TEXT,
        source=TEXT,
        line=LINE,
        text=TEXT,
        step=COUNT,
        behind_steps=COUNT,
        behind_s={"type": ["number", "null"]},
    )
    return _object(
        id=MAYBE_TEXT,
        other_ids=_array(TEXT),
        first_failure={**first, "type": ["object", "null"]},
        ranks=_object(
            total={"type": ["integer", "null"], "minimum": 1}, seen=COUNT, failed=RANKS, echoing=RANKS, silent=RANKS
        ),
        hosts=_object(all=_array(TEXT), failed=_array(TEXT)),
        timeline=_array(moment),
        stragglers=_array(straggler),
        partial=FLAG,
    )


def _finding() -> Schema:
    return _object(
        rule=TEXT,
        kind=_words([each.value for each in Kind]),
        title=TEXT,
        severity=_words([each.word for each in Severity]),
        confidence=_words([each.word for each in Confidence]),
        role=_words([each.value for each in Role]),
        explained_by=_array(TEXT),
        count=LINE,
        ranks=RANKS,
        hosts=_array(TEXT),
        first_seen=MAYBE_TIME,
        captures={"type": "object", "additionalProperties": TEXT},
        evidence={"type": "array", "items": _evidence(), "minItems": 1},
        explanation=TEXT,
        fixes=_array(_fix()),
        owner=_words(["user", "platform", "vendor"]),
        retry=_words(["yes", "no", "after-fix"]),
        fingerprint=TEXT,
        references=_array(TEXT),
        because=_array(TEXT),
        generic=FLAG,
        symptom=FLAG,
    )


def _with_surroundings(line: Schema) -> Schema:
    """Return the schema of a line that may bring those around it."""
    around = {"before": _array(TEXT), "after": _array(TEXT)}
    return {**line, "properties": {**line["properties"], **around}}


def _evidence() -> Schema:
    line = _object(
        source=TEXT,
        line=LINE,
        end_line=LINE,
        offset=COUNT,
        signature=TEXT,
        text=TEXT,
        start=COUNT,
        end=COUNT,
        rank=MAYBE_RANK,
        host=MAYBE_TEXT,
        time=MAYBE_TIME,
    )
    return _with_surroundings(line)


def _fix() -> Schema:
    verify = {**_object(run=TEXT, expect=TEXT), "type": ["object", "null"]}
    return _object(
        title=TEXT,
        do=TEXT,
        run=_array(TEXT),
        variants={"type": "object", "additionalProperties": TEXT},
        safe=FLAG,
        verify=verify,
    )


def _suspect() -> Schema:
    line = _object(source=TEXT, line=LINE, text=TEXT, count=LINE, reason=TEXT, rank=MAYBE_RANK, weight=COUNT)
    return _with_surroundings(line)


def _source() -> Schema:
    return _object(
        name=TEXT,
        bytes=COUNT,
        lines=COUNT,
        encoding=TEXT,
        wrapper=MAYBE_TEXT,
        host=MAYBE_TEXT,
        rank=MAYBE_RANK,
        pod=MAYBE_TEXT,
        container=MAYBE_TEXT,
        documents=_array(TEXT),
        first_time=MAYBE_TIME,
        last_time=MAYBE_TIME,
    )


def _object(*, optional: dict[str, Schema] | None = None, **properties: Schema) -> Schema:
    return {"type": "object", "properties": {**properties, **(optional or {})}, "required": list(properties)}


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _words(words: list[str]) -> Schema:
    return {"type": "string", "enum": words}
