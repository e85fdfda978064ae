"""A rule file gone bad leaves the last good pack serving."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from troubleshoot.api.app import create_app
from troubleshoot.api.holder import PackHolder

GOOD = """\
title: The frobnicator is out of frob
severity: high
signatures: "frobnicator reports zero frobs left"
explanation: It ran out.
fixes:
  - title: Fill it
    do: Add frob.
    verify: frobnicator --level
references: [https://frob.example/docs]
examples:
  - match: |
      frobnicator reports zero frobs left
  - no_match: |
      frobnicator reports seven frobs left
    why: there are some left
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "frob").mkdir()
    (tmp_path / "frob" / "empty.yaml").write_text(GOOD)
    return tmp_path


def test_bad_rule_leaves_the_last_good_pack(folder: Path) -> None:
    holder = PackHolder([folder], default_rules=False)
    before = holder.engine
    assert before is not None
    (folder / "frob" / "empty.yaml").write_text("title: [")
    assert holder.reload() is False
    assert holder.engine is before
    assert any("empty.yaml:1" in text for text in holder.problems)


def test_mended_rule_is_served_again(folder: Path) -> None:
    holder = PackHolder([folder], default_rules=False)
    (folder / "frob" / "empty.yaml").write_text("title: [")
    holder.reload()
    (folder / "frob" / "empty.yaml").write_text(GOOD.replace("high", "low"))
    assert holder.reload() is True
    assert holder.problems == ()
    assert holder.engine is not None
    assert holder.engine.pack.rules["frob/empty"].severity.word == "low"


def test_readiness_names_the_problem_and_stays_ready(folder: Path) -> None:
    app = create_app([folder], default_rules=False, watch=False)
    with TestClient(app) as client:
        (folder / "frob" / "empty.yaml").write_text("title: [")
        app.state.holder.reload()
        ready = client.get("/readyz")
        assert ready.status_code == 200
        assert "empty.yaml" in ready.json()["problems"][0]
        scan = client.post("/v1/scan", content="frobnicator reports zero frobs left")
        assert scan.json()["findings"][0]["rule"] == "frob/empty"


def test_no_pack_at_all_is_not_ready_and_scans_say_so(tmp_path: Path) -> None:
    (tmp_path / "frob").mkdir()
    (tmp_path / "frob" / "broken.yaml").write_text("title: [")
    with TestClient(create_app([tmp_path], default_rules=False, watch=False)) as client:
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
        assert client.post("/v1/scan", content="x").status_code == 503
