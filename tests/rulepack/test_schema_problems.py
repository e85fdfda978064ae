"""Each file of tests/golden/problems is a rule with mistakes; its `.out` is what the author is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from troubleshoot.model import Pattern, Signature
from troubleshoot.rulepack.companions import Table
from troubleshoot.rulepack.schema import parse_rule

GOLDEN = Path(__file__).parent.parent / "golden" / "problems"
SHARED = {"efa_mounts": Signature("efa_mounts", (Pattern(-1, "text", "/opt/amazon-efa-ofi", "/opt/amazon-efa-ofi"),))}
TABLES = {"xid": Table(("name", "action"), {"79": {"name": "fell off the bus"}})}


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.yaml")), ids=lambda path: path.stem)
def test_problems_are_told(path: Path) -> None:
    rule, problems = parse_rule(path.read_text("utf-8"), f"rules/x/{path.name}", "x/y", SHARED, TABLES)
    told = "\n\n".join(map(str, problems)) + "\n"
    golden = path.with_suffix(".out")
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(told, "utf-8")
    assert rule is None
    assert told == golden.read_text("utf-8")
