"""What the service counted and was told, over HTTP: lists, filters, a rule to start from, how long it is kept."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi.testclient import TestClient

from troubleshoot.api.app import SAMPLE, create_app
from troubleshoot.api.options import ServiceOptions

UNKNOWN = "Traceback (most recent call last):\n  File 'x.py', line 1\nZorkError: the zork 17 at 10.1.2.3 gave up\n"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    options = ServiceOptions(store=f"sqlite:///{tmp_path / 'store.db'}", keep_days=3, history_days=40)
    with TestClient(create_app(watch=False, options=options)) as client:
        yield client


def unknown_faults(client: TestClient, query: str = "") -> list[dict[str, Any]]:
    """Return the list once the count has been written."""
    end = time.monotonic() + 20
    while not (found := client.get(f"/v1/unknown-faults?at_least=1{query}").json()) and time.monotonic() < end:
        time.sleep(0.05)
    return list(found)


def test_history_is_searched_and_filtered(client: TestClient) -> None:
    client.post("/v1/scan?save=true&name=first.log", content=SAMPLE)
    client.post("/v1/scan?save=true&name=second.log", content=UNKNOWN)

    def names(query: str) -> list[str]:
        return [each["names"] for each in client.get(f"/v1/reports?{query}").json()]

    assert names("") == ["second.log", "first.log"]
    assert names("q=FIRST") == ["first.log"]
    assert names("verdict=unknown-fault") == ["second.log"]
    (last,) = client.get("/v1/reports?limit=1").json()
    assert (
        client.get("/v1/reports", params={"before": last["created"], "before_id": last["id"]}).json()[0]["names"]
        == "first.log"
    )
    assert client.get("/v1/reports?verdict=maybe").status_code == 422


def test_feedback_is_listed(client: TestClient) -> None:
    rule = client.post("/v1/scan", content=SAMPLE).json()["findings"][0]["rule"]
    client.post("/v1/feedback", json={"rule": rule, "verdict": "wrong", "comment": "a newer image", "fingerprint": "1"})
    client.post("/v1/feedback", json={"rule": rule, "verdict": "right", "fingerprint": "2"})
    assert [each["verdict"] for each in client.get("/v1/feedback").json()] == ["right", "wrong"]
    (told,) = client.get("/v1/feedback?commented=true").json()
    assert (told["comment"], told["rule"], told["report"]) == ("a newer image", rule, None)
    assert client.get("/v1/feedback?verdict=fixed").json() == []


def test_rule_is_started_from_an_unknown_fault(client: TestClient) -> None:
    client.post("/v1/scan", content=UNKNOWN)
    (fault,) = unknown_faults(client, "&q=zork")
    assert "10.1.2.3" not in fault["sample"]
    answer = client.get(f"/v1/unknown-faults/{fault['id']}/rule?id=framework/zork")
    assert answer.headers["content-type"].startswith("application/yaml")
    assert yaml.safe_load(answer.text)["signatures"] == "ZorkError: the zork {zork:int} at {_} gave up"
    assert client.get(f"/v1/unknown-faults/{fault['id']}/rule?id=../../etc/passwd").status_code == 422
    assert client.get(f"/v1/unknown-faults/{'0' * 32}/rule?id=a/b").status_code == 404


def test_unknown_fault_that_has_a_rule_now_is_taken_off_the_list(client: TestClient) -> None:
    client.post("/v1/scan", content=UNKNOWN)
    (fault,) = unknown_faults(client)
    assert client.delete(f"/v1/unknown-faults/{fault['id']}").status_code == 204
    assert client.delete(f"/v1/unknown-faults/{fault['id']}").status_code == 404
    assert client.get("/v1/unknown-faults?at_least=1").json() == []


def test_retention_is_told(client: TestClient) -> None:
    assert client.get("/v1/retention").json() == {"reports_days": 3, "history_days": 40, "logs": False}
    with TestClient(create_app(watch=False)) as without:
        assert without.get("/v1/retention").status_code == 404
        assert without.get("/v1/feedback").status_code == 404
