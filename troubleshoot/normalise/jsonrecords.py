r"""Turns log records that were written as JSON into the line that a program printed.

In: one decoded object (Docker, journald, CloudWatch, Loki, Elasticsearch, Fluent Bit, Vector, OTLP, stern). Out: its
message, and what is known of time, place and level as a prefix that the wrappers know again:

    {"log": "boom\n", "stream": "stderr", "time": "T"}                 ->  "T stderr F boom"
    {"message": "boom", "kubernetes": {"pod_name": "p"}, "time": "T"}  ->  'T {pod="p"}: boom'

A message of several lines gives several lines with the same prefix. Fields that no collector adds are kept behind it,
for they can hold the error. Source: knowledge/log-formats.md, sections 2, 5, 9, 12, 14 and 15.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from troubleshoot import late
from troubleshoot.normalise.timestamps import stamp_from_number

MESSAGE_KEYS = ("message", "log", "msg", "MESSAGE", "line", "body", "@message")
TIME_KEYS = (
    "@timestamp", "timestamp", "time", "ts", "__REALTIME_TIMESTAMP", "timeUnixNano", "observedTimeUnixNano", "date",
)  # fmt: skip
LEVEL_KEYS = ("level", "severity", "severityText", "levelname", "detected_level")

# What collectors add to a record: it tells of the transport, not of the fault.
_TRANSPORT = frozenset(
    {
        "stream", "logtag", "kubernetes", "docker", "attrs", "tag", "source_type", "file", "ingestionTime", "eventId",
        "logStreamName", "@logStream", "@log", "@ptr", "labels", "agent", "ecs", "host", "input", "container", "cloud",
        "_p", "_index", "_id", "_type", "_score", "sort", "offset", "podName", "containerName", "nodeName", "namespace",
        "annotations", "severityNumber", "traceId", "spanId", "attributes", "flags", "droppedAttributesCount",
        "@version", "orchestrator", "data_stream", "event", "tags", "fields",
    }
)  # fmt: skip
_COLLECTED = frozenset(
    {
        "stream", "kubernetes", "logtag", "podName", "logStreamName", "ingestionTime", "source_type", "timeUnixNano",
        "severityNumber", "_source", "MESSAGE",
    }
)  # fmt: skip
_WRITERS = (
    ("journald-json", frozenset({"MESSAGE", "__REALTIME_TIMESTAMP"})),
    ("cloudwatch-json", frozenset({"logStreamName", "ingestionTime", "@logStream", "@ptr"})),
    ("elasticsearch-json", frozenset({"_source"})),
    ("vector-json", frozenset({"source_type"})),
    ("kubernetes-json", frozenset({"kubernetes", "logtag"})),
    ("stern-json", frozenset({"podName", "containerName"})),
    ("otlp-json", frozenset({"timeUnixNano", "observedTimeUnixNano", "severityNumber"})),
    ("loki-json", frozenset({"labels", "values"})),
)
_ISO = late.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")


@dataclass(frozen=True, slots=True)
class Shown:
    """A JSON record as lines: `prefix` goes before each line of the message; `key` held the message."""

    prefix: str
    lines: tuple[str, ...]
    key: str
    rest: str = ""  # what other fields say
    partial: bool = False  # the record goes on in the next one of its stream


def show_record(record: Mapping[str, Any], context: Mapping[str, Any] | None = None) -> Shown | None:
    """Return the record as a program printed it, or None when it has no message.

    `context` has fields that stand outside the record, for all of a stream.
    """
    source = record.get("_source")
    if isinstance(source, dict):
        record = source
    found = next(((k, m) for k in MESSAGE_KEYS if (m := _message(record.get(k))) is not None), None)
    if found is None:
        original = record.get("event")
        if isinstance(original, dict) and isinstance(original.get("original"), str):
            found = ("original", original["original"])
        else:
            return None
    key, message = found
    docker = key == "log" and record.keys() <= {"log", "stream", "time", "attrs"}
    lines = tuple(message.removesuffix("\n").split("\n"))
    if docker:
        stream, stamp = record.get("stream") or "stdout", record.get("time")
        prefix = f"{stamp} {stream} F " if isinstance(stamp, str) and _ISO.fullmatch(stamp) else ""
        return Shown(prefix, lines, key, partial=not message.endswith("\n"))
    stamp_text = _stamp(record)
    if key == "MESSAGE":
        return Shown(_journal_prefix(record, stamp_text), lines, key)
    prefix = prefix_of(stamp_text, {**(context or {}), **record})
    return Shown(prefix, lines, key, _rest(record, key), partial=record.get("logtag") == "P")


def name_of(record: Mapping[str, Any]) -> str:
    """Return what wrote the record, as far as its keys tell."""
    for name, keys in _WRITERS:
        if not keys.isdisjoint(record):
            return name
    return "docker-json" if record.keys() <= {"log", "stream", "time", "attrs"} else "json"


def is_collected(record: Mapping[str, Any]) -> bool:
    """Tell whether a collector wrote the record, not the program itself."""
    return not _COLLECTED.isdisjoint(record) or record.keys() <= {
        "log", "stream", "time", "attrs", "labels", "line", "timestamp", "message", "@timestamp", "@version",
    }  # fmt: skip


def _message(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return _message(value.get("stringValue"))
    if isinstance(value, list) and value:
        if all(isinstance(each, int) and 0 <= each < 256 for each in value):
            return bytes(value).decode("utf-8", "replace")  # journald writes what is no UTF-8 as numbers
        if all(isinstance(each, str) for each in value):
            return "\n".join(value)
    return None


def _stamp(record: Mapping[str, Any]) -> str:
    for key in TIME_KEYS:
        value = record.get(key)
        if isinstance(value, str) and _ISO.fullmatch(value):
            return value
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            stamp = stamp_from_number(value)
            if stamp is not None:
                digits = 6 if stamp.resolution_s < 0.9e-3 else 3 if stamp.resolution_s < 0.9 else 0
                text = stamp.time.strftime("%Y-%m-%dT%H:%M:%S.%f")
                return (text[: len(text) - 6 + digits] if digits else text[:-7]) + "Z"
    return ""


def _journal_prefix(record: Mapping[str, Any], stamp: str) -> str:
    host = _word(record.get("_HOSTNAME")) or "host"
    ident = _word(record.get("SYSLOG_IDENTIFIER") or record.get("_COMM")) or "journal"
    pid = record.get("_PID") or record.get("SYSLOG_PID")
    level = record.get("PRIORITY")
    head = f"<{level}>" if isinstance(level, str) and level.isdigit() and len(level) <= 3 else ""
    shown = f"[{pid}]" if isinstance(pid, str) else "" if ident == "kernel" else "[-]"
    return f"{head}{stamp} {host} {ident}{shown}: " if stamp else ""


def prefix_of(stamp: str, record: Mapping[str, Any]) -> str:
    """Return what stands before each line of a record's message: its time, and its stream or labels."""
    stream = record.get("logStreamName") or record.get("@logStream")
    if isinstance(stream, str) and stream:
        return f"{stamp} {_word(stream)} " if stamp else f"{_word(stream)} "
    labels = _labels(record)
    shown = ", ".join(f'{k}="{v}"' for k, v in labels.items() if v)
    if not shown:
        return stamp and f"{stamp} "
    return f"{stamp} {{{shown}}}: ".lstrip()


def _labels(record: Mapping[str, Any]) -> dict[str, str]:
    place = record.get("kubernetes")
    place = place if isinstance(place, dict) else {}
    own = record.get("labels")
    own = own if isinstance(own, dict) else {}
    host = record.get("host")
    level = next((record[k] for k in LEVEL_KEYS if isinstance(record.get(k), str)), own.get("level"))
    return {
        "pod": _word(place.get("pod_name") or record.get("podName") or own.get("pod")),
        "container": _word(place.get("container_name") or record.get("containerName") or own.get("container")),
        "host": _word(
            place.get("host")
            or place.get("pod_node_name")
            or record.get("nodeName")
            or own.get("node")
            or own.get("hostname")
            or (host.get("name") if isinstance(host, dict) else host)
        ),
        "stream": _word(record.get("stream") or own.get("stream")),
        "level": _word(level),
    }


def _word(value: Any) -> str:
    return re.sub(r'[\s"\\{}]+', "_", value) if isinstance(value, str) else ""


def _rest(record: Mapping[str, Any], key: str) -> str:
    known = _TRANSPORT | set(TIME_KEYS) | set(LEVEL_KEYS) | {key}
    rest = {k: v for k, v in record.items() if k not in known and v not in (None, "", [], {})}
    return json.dumps(rest, ensure_ascii=False) if rest else ""
