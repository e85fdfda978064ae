"""Turns the named facts that wrappers give into identity and level.

In: the groups of a wrapper's pattern, or the text of a message. Out: an `Identity`, a level in one of five words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from troubleshoot import late
from troubleshoot.model import NOBODY, Identity

Facts = Mapping[str, str | None]

SEVERITIES = ("fatal", "fatal", "fatal", "error", "warning", "info", "info", "debug")  # syslog 0 to 7
LEVELS = {
    "i": "info", "w": "warning", "e": "error", "f": "fatal", "c": "fatal", "d": "debug", "v": "debug",
    "trace": "debug", "debug": "debug", "info": "info", "notice": "info", "warn": "warning", "warning": "warning",
    "err": "error", "error": "error", "crit": "fatal", "critical": "fatal", "fatal": "fatal", "abort": "fatal",
    "alert": "fatal", "emerg": "fatal", "panic": "fatal",
}  # fmt: skip
_LEVEL = late.compile(r"[\[(<]?(?:([A-Z]{4,8})[\])>]?(?=[:\s|-]|$)|([a-zA-Z]{4,8})[\])>]?:)")
_LABEL = late.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_LABEL_NAMES = {
    "node": "host",
    "hostname": "host",
    "node_name": "host",
    "pod_name": "pod",
    "container_name": "container",
}

JSON_CHARS = 64 * 1024  # a longer object is not parsed for its time
_TIME_FIELDS = ("ts", "time", "timestamp", "@timestamp", "asctime")
_LEVEL_FIELDS = ("level", "severity", "levelname", "lvl")
_WITHIN = (
    late.compile(r'(?:time|ts)="?(?P<ts>[^" ]+(?: [\d:.,]+)?)"? (?:\S+ ){0,3}?level="?(?P<sev>\w+)"?'),
    late.compile(r'level="?(?P<sev>\w+)"?(?: (?:time|ts)="?(?P<ts>[^" ]+)"?)?'),
    late.compile(r"libfabric:\d+:(?P<ts>\d{10}):[^<]{0,200}<(?P<sev>\w+)>"),
)

# Variables of a process that tell where it runs, the surest first.
_VARIABLE = late.compile(r'(?:declare -x |export )?([A-Z_]+)=["\']?([\w.-]+)["\']?\s*$|\s*"(current_host)": "([\w-]+)"')
VARIABLES = {
    "RANK": "rank", "SLURM_PROCID": "rank", "OMPI_COMM_WORLD_RANK": "rank", "PMI_RANK": "rank",
    "LOCAL_RANK": "local_rank", "OMPI_COMM_WORLD_LOCAL_RANK": "local_rank", "SLURM_LOCALID": "local_rank",
    "NODE_NAME": "host", "SLURMD_NODENAME": "host", "SM_CURRENT_HOST": "host", "current_host": "host",
    "HOSTNAME": "host", "POD_NAME": "pod",
}  # fmt: skip


NOT_WHO = frozenset({"msg", "ts", "level", "sev"})  # facts that tell nothing of who wrote the line


def identity_from(facts: Facts) -> Identity:
    """Return the identity that a wrapper's facts give."""
    if facts.keys() <= NOT_WHO:
        return NOBODY
    if facts.get("labels"):
        facts = {**facts, **labels_from(facts["labels"] or "")}
    stream = facts.get("stream")
    return Identity(
        host=facts.get("host"),
        pod=facts.get("pod"),
        container=facts.get("container"),
        rank=_number(facts.get("rank") or facts.get("rankonly")),
        local_rank=_number(facts.get("local_rank")),
        stream=stream if stream in ("stdout", "stderr") else None,
    )


def labels_from(text: str) -> dict[str, str | None]:
    """Return the labels of a set like `pod="a", host="b"`, under the names of our facts."""
    return {_LABEL_NAMES.get(name, name): value for name, value in _LABEL.findall(text)}


def identity_from_variable(text: str) -> tuple[str, str] | None:
    """Return the fact that an environment variable's line gives, as (variable, value)."""
    m = _VARIABLE.match(text)
    if m is None:
        return None
    name, value = (m[1], m[2]) if m[1] else (m[3], m[4])
    fact = VARIABLES.get(name)
    return (name, value) if fact and (value.isdigit() or "rank" not in fact) else None


def level_from(facts: Facts) -> str | None:
    """Return the level that a wrapper's facts give."""
    if facts.get("pri"):
        return SEVERITIES[int(facts["pri"] or 0) % 8]
    if facts.get("labels"):
        return LEVELS.get((labels_from(facts["labels"] or "").get("level") or "").lower())
    return LEVELS.get((facts.get("sev") or "").lower())


def facts_within(text: str) -> Facts:
    """Return time and level that a structured message carries within it: JSON, logfmt, libfabric's header."""
    if text[:1] == "{" and len(text) < JSON_CHARS and text.rstrip()[-1:] == "}":
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            return {}
        if isinstance(record, dict):
            return {"ts": _first(record, _TIME_FIELDS), "sev": _first(record, _LEVEL_FIELDS)}
    for pattern in _WITHIN:
        if m := pattern.match(text):
            return m.groupdict()
    return {}


def _first(record: dict[str, object], names: tuple[str, ...]) -> str | None:
    found = next((record[name] for name in names if isinstance(record.get(name), str | int | float)), None)
    return None if found is None else str(found)


def level_of(text: str) -> str | None:
    """Return the level that a message begins with, as a program names it ("ERROR: x", "[warning] x")."""
    m = _LEVEL.match(text)
    return LEVELS.get((m[1] or m[2]).lower()) if m else None


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() and len(text) < 10 else None
