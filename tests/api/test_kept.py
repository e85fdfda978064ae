"""Permalinks, history, feedback and counts over HTTP."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from troubleshoot.api.app import SAMPLE, create_app
from troubleshoot.api.keys import new_key, write_keys
from troubleshoot.api.options import ServiceOptions

SECRET = "hf_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD2f"
UNKNOWN = "Traceback (most recent call last):\n  File 'x.py', line 1\nZorkError: the zork 17 gave up\n"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    options = ServiceOptions(store=f"sqlite:///{tmp_path / 'store.db'}", keep_logs=True)
    with TestClient(create_app(watch=False, options=options)) as client:
        yield client


def test_saved_report_has_a_permalink_in_every_format(client: TestClient) -> None:
    saved = client.post("/v1/scan?save=true", content=SAMPLE)
    where = saved.headers["location"]
    assert client.get(where).content == saved.content
    for format in ("markdown", "html", "text", "slack"):
        answer = client.get(f"{where}?format={format}")
        assert answer.status_code == 200
        assert "GLIBC_2.34" in answer.text
        assert answer.headers["cache-control"] == "no-store"
    assert "sandbox" in client.get(f"{where}?format=html").headers["content-security-policy"]
    assert client.get(f"{where}/log").status_code == 404


def test_scan_is_not_saved_unless_asked(client: TestClient) -> None:
    assert "location" not in client.post("/v1/scan", content=SAMPLE).headers
    assert client.get("/v1/reports").json() == []


def test_log_is_kept_when_asked_and_without_its_secrets(client: TestClient) -> None:
    log = f"{SAMPLE}\nHF_TOKEN={SECRET}\n"
    where = client.post("/v1/scan?save=true&keep_log=true", content=log).headers["location"]
    kept = client.get(f"{where}/log").text
    assert kept.splitlines()[0] == SAMPLE
    assert SECRET not in kept
    assert len(kept.splitlines()) == 2


def test_report_is_deleted_by_who_saved_it(client: TestClient) -> None:
    saved = client.post("/v1/scan?save=true", content=SAMPLE)
    where, token = saved.headers["location"], saved.headers["x-delete-token"]
    assert client.delete(where).status_code == 403
    assert client.delete(where, headers={"X-Delete-Token": "x"}).status_code == 403
    assert client.delete(where, headers={"X-Delete-Token": token}).status_code == 204
    assert client.get(where).status_code == 404
    assert client.delete(where, headers={"X-Delete-Token": token}).status_code == 404


def test_history_counts_feedback_and_unknown_faults(client: TestClient) -> None:
    saved = client.post("/v1/scan?save=true", content=SAMPLE)
    rule = saved.json()["findings"][0]["rule"]
    report = saved.headers["location"].rpartition("/")[2]
    assert [each["rule"] for each in client.get("/v1/reports").json()] == [rule]
    for number in (17, 18, 19):
        client.post("/v1/scan", content=UNKNOWN.replace("17", str(number)))
    assert client.post("/v1/feedback", json={"rule": rule, "verdict": "right", "report": report}).status_code == 204
    assert client.post("/v1/feedback", json={"rule": rule, "verdict": "fixed", "report": report}).status_code == 204
    assert client.post("/v1/feedback", json={"rule": "no/such", "verdict": "right"}).status_code == 404
    assert client.post("/v1/feedback", json={"rule": rule, "verdict": "maybe"}).status_code == 422
    end = time.monotonic() + 20
    while not (unknown := client.get("/v1/unknown-faults?at_least=3").json()) and time.monotonic() < end:
        time.sleep(0.1)
    assert "zork" in unknown[0]["template"]
    assert unknown[0]["number"] == 3
    told = client.get("/v1/stats/rules").json()
    assert [(each["rule"], each["number"]) for each in told["findings"] if each["rule"] == rule] == [(rule, 1)]
    assert told["feedback"] == {rule: {"right": 0, "wrong": 0, "fixed": 1}}


def test_counts_survive_a_stop(tmp_path: Path) -> None:
    options = ServiceOptions(store=f"sqlite:///{tmp_path / 'store.db'}")
    with TestClient(create_app(watch=False, options=options)) as client:
        client.post("/v1/scan", content=SAMPLE)
    with TestClient(create_app(watch=False, options=options)) as client:
        assert client.get("/v1/stats/rules").json()["verdicts"][0]["number"] == 1


def test_service_without_a_store_keeps_nothing_and_says_so() -> None:
    with TestClient(create_app(watch=False)) as client:
        for path in ("/v1/reports", "/v1/reports/" + "x" * 22, "/v1/stats/rules", "/v1/unknown-faults"):
            assert client.get(path).status_code == 404
        saved = client.post("/v1/scan?save=true", content=SAMPLE)
        assert saved.status_code == 404
        assert "--store" in saved.json()["help"]
        assert client.post("/v1/scan?keep_log=true", content=SAMPLE).status_code == 403


def test_key_to_read_cannot_list_or_delete_others_reports(tmp_path: Path) -> None:
    made = {scope: new_key(scope, [scope]) for scope in ("scan", "read", "admin")}
    write_keys(tmp_path / "keys.json", [key for _, key in made.values()])
    head = {scope: {"Authorization": f"Bearer {secret}"} for scope, (secret, _) in made.items()}
    options = ServiceOptions(store=f"sqlite:///{tmp_path / 'store.db'}", keys_file=str(tmp_path / "keys.json"))
    with TestClient(create_app(watch=False, options=options)) as client:
        where = client.post("/v1/scan?save=true", content=SAMPLE, headers=head["scan"]).headers["location"]
        assert client.get(where, headers=head["read"]).status_code == 200
        assert client.get("/v1/reports", headers=head["read"]).status_code == 403
        assert client.get("/v1/unknown-faults", headers=head["read"]).status_code == 403
        assert client.get("/v1/reports", headers=head["admin"]).json()[0]["id"] in where
        assert client.delete(where, headers=head["read"]).status_code == 403
        assert client.delete(where, headers=head["scan"]).status_code == 403
        assert client.delete(where, headers=head["admin"]).status_code == 204
