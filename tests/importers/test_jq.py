"""What of jq becomes patterns, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from troubleshoot.importers.foreign import CannotImportError
from troubleshoot.importers.jq import condition_from_jq
from troubleshoot.rulepack.signatures import compile_pattern

POD = {"kind": "Pod", "spec": {"nfs": None, "user": 1000, "volumes": [{"claim": {"name": "x"}}]}, "level": "error"}
LINE = {"level": "error", "event": "crash", "status": 502, "message": 'cannot open "/data/x": EIO', "ok": True}


def holds(condition: Any, hits: dict[str, list[dict[str, str]]]) -> bool:
    if isinstance(condition, str):
        return bool(hits[condition])
    parts = {key: condition[key] for key in ("all", "any", "none") if key in condition}
    [(operator, children)] = parts.items()
    answers = [holds(child, hits) for child in children]
    if "where" in condition:
        name, sign, number = condition["where"].split()
        value = float(hits[children[0]][0][name]) if hits[children[0]] else None
        return value is not None and {">=": value >= float(number), "<": value < float(number)}[sign]
    return {"all": all(answers), "any": any(answers), "none": not any(answers)}[operator]


def fires(query: str, record: dict[str, Any], *, compact: bool = True) -> bool:
    patterns: dict[str, str] = {}

    def add(hint: str, pattern: str) -> str:
        name = f"s{len(patterns)}"
        patterns[name] = pattern
        return name

    condition = condition_from_jq(query, add)
    line = json.dumps(record, separators=(",", ":") if compact else None)
    hits = {
        name: [found.groupdict()] if (found := compile_pattern(pattern, True).search(line)) else []
        for name, pattern in patterns.items()
    }
    return holds(condition, hits)


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize(
    ("query", "record", "expected"),
    [
        ('.event == "crash"', LINE, True),
        ('.event == "stop"', LINE, False),
        ('select(.event == "crash" and .level == "error")', LINE, True),
        ('select(.event == "crash") | select(.level == "info")', LINE, False),
        ('.kind == "Pod" and (.spec.nfs != null)', POD, False),
        ('.kind == "Pod" and (.spec.nfs == null)', POD, True),
        ('.kind == "Pod" and (.spec.user // 0) != 0', POD, True),
        ('.kind == "Pod" and (.spec.user // 0) != 0', {**POD, "spec": {"user": 0}}, False),
        (".spec.volumes[]? | (.nfs != null or .claim != null)", POD, True),
        (".spec.volumes[0].claim", POD, True),
        ('.level != "info" and .event', LINE, True),
        ('.level != "error" and .event', LINE, False),
        (".status >= 500", LINE, True),
        ("500 <= .status", LINE, True),
        (".status < 500", LINE, False),
        (".ok == true", LINE, True),
        ('.message | test("open .*EIO$")', LINE, True),
        ('.message | test("^open")', LINE, False),
        ('.message | test("CANNOT"; "i")', LINE, True),
        ('.message | contains("\\"/data/x\\"")', LINE, True),
        ('.message | startswith("open")', LINE, False),
        ('.message | endswith("EIO")', LINE, True),
        ('.level | IN("warn", "error")', LINE, True),
        ('has("event") and (.message | test("EIO") | not)', LINE, False),
    ],
)
def test_what_is_understood(query: str, record: dict[str, Any], expected: bool, compact: bool) -> None:
    assert fires(query, record, compact=compact) is expected


@pytest.mark.parametrize(
    "query",
    [
        "{a: .b}",
        ".a | length > 3",
        ".a + 1 == 2",
        '.a != "x"',
        ".a == .b",
        ".",
        '.a == "x" and',
        '.a | test("x"; "x")',
        ".[] as $x | $x",
        '. == "x"',
    ],
)
def test_everything_else_is_refused(query: str) -> None:
    with pytest.raises(CannotImportError):
        condition_from_jq(query, lambda hint, pattern: "s")
