"""The HTTP API answers what the engine answers, and refuses clearly what it cannot take."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from troubleshoot.api.app import SAMPLE, create_app

RULE = "efa/glibc-too-old"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(watch=False, max_bytes=1_000_000), raise_server_exceptions=False) as client:
        yield client


def first_rule(response) -> str:  # type: ignore[no-untyped-def]  # httpx comes with the test client
    assert response.status_code == 200, response.text
    return response.json()["findings"][0]["rule"]


def test_plain_text_is_scanned(client: TestClient) -> None:
    response = client.post("/v1/scan", content=SAMPLE, headers={"Content-Type": "text/plain"})
    assert first_rule(response).startswith("efa/")
    assert response.json()["schema"] == "troubleshoot.report/1"


def test_every_kind_of_body_gives_the_same_first_finding(client: TestClient) -> None:
    plain = first_rule(client.post("/v1/scan", content=SAMPLE, headers={"Content-Type": "text/plain"}))
    answers = {
        "json": client.post("/v1/scan", json={"text": SAMPLE}),
        "json files": client.post("/v1/scan", json={"files": [{"name": "a.log", "text": SAMPLE}]}),
        "multipart": client.post("/v1/scan", files={"file": ("a.log", SAMPLE)}),
        "multipart text": client.post("/v1/scan", data={"text": SAMPLE}, files={"file": ("b.log", b"ok\n")}),
        "gzip": client.post(
            "/v1/scan",
            content=gzip.compress(SAMPLE.encode()),
            headers={"Content-Type": "text/plain", "Content-Encoding": "gzip"},
        ),
        "deflate": client.post(
            "/v1/scan",
            content=zlib.compress(SAMPLE.encode()),
            headers={"Content-Type": "text/plain", "Content-Encoding": "deflate"},
        ),
        "gzip file": client.post(
            "/v1/scan?name=job.log.gz",
            content=gzip.compress(SAMPLE.encode()),
            headers={"Content-Type": "application/octet-stream"},
        ),
        "curl --data-binary": client.post(
            "/v1/scan", content=SAMPLE, headers={"Content-Type": "application/x-www-form-urlencoded"}
        ),
    }
    assert {kind: first_rule(answer) for kind, answer in answers.items()} == dict.fromkeys(answers, plain)


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"x" * 1_000_001, {"Content-Type": "text/plain"}, 413),
        (gzip.compress(b"x" * 5_000_000), {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, 413),
        (b"not gzip at all", {"Content-Type": "text/plain", "Content-Encoding": "gzip"}, 400),
        (b"x", {"Content-Type": "text/plain", "Content-Encoding": "br"}, 415),
        (b"x", {"Content-Type": "image/png"}, 415),
        (b"{", {"Content-Type": "application/json"}, 422),
        (b'{"txt": "x"}', {"Content-Type": "application/json"}, 422),
        (b"{}", {"Content-Type": "application/json"}, 400),
    ],
    ids=["large", "bomb", "not-gzip", "brotli", "image", "torn-json", "unknown-key", "no-text"],
)
def test_what_cannot_be_taken_is_a_problem(
    client: TestClient, content: bytes, headers: dict[str, str], status: int
) -> None:
    response = client.post("/v1/scan", content=content, headers=headers)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == status
    assert body["detail"]
    assert body["instance"] == response.headers["x-request-id"]


def test_a_problem_does_not_repeat_the_log(client: TestClient) -> None:
    response = client.post("/v1/scan", json={"text": 5, "hf_token": "hf_secretsecretsecret"})
    assert response.status_code == 422
    assert "secret" not in response.text.replace("hf_token", "")


def test_empty_body_is_a_clean_report(client: TestClient) -> None:
    response = client.post("/v1/scan", content=b"", headers={"Content-Type": "text/plain"})
    assert response.status_code == 200
    assert response.json()["verdict"] == "clean"


def test_request_id_is_kept_if_well_formed_and_replaced_if_not(client: TestClient) -> None:
    assert client.get("/healthz", headers={"X-Request-ID": "abc-1"}).headers["x-request-id"] == "abc-1"
    assert client.get("/healthz", headers={"X-Request-ID": "a b\tc"}).headers["x-request-id"] != "a b\tc"


@pytest.mark.parametrize("format", ["json", "text", "markdown", "slack", "ndjson"])
def test_every_format_is_served(client: TestClient, format: str) -> None:
    response = client.post(f"/v1/scan?format={format}", content=SAMPLE, headers={"Content-Type": "text/plain"})
    assert response.status_code == 200
    assert "GLIBC_2.34" in response.text
    assert response.headers["cache-control"] == "no-store"


def test_unknown_format_is_422(client: TestClient) -> None:
    response = client.post("/v1/scan?format=pdf", content=SAMPLE, headers={"Content-Type": "text/plain"})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/query/format"


def test_rules_are_listed_filtered_and_shown(client: TestClient) -> None:
    everything = client.get("/v1/rules").json()
    assert everything["total"] == len(everything["rules"]) > 20
    efa = client.get("/v1/rules?domain=efa").json()["rules"]
    assert efa
    assert {rule["id"].split("/")[0] for rule in efa} == {"efa"}
    one = client.get(f"/v1/rules/{efa[0]['id']}").json()
    assert one["title"] == efa[0]["title"]
    assert "#" in client.get(f"/v1/rules/{efa[0]['id']}?format=markdown").text


def test_unknown_rule_and_route_are_404_problems(client: TestClient) -> None:
    for path in ("/v1/rules/no/such", "/nowhere"):
        response = client.get(path)
        assert response.status_code == 404
        assert response.headers["content-type"] == "application/problem+json"


def test_wrong_method_names_the_right_one(client: TestClient) -> None:
    response = client.get("/v1/scan")
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"


def test_openapi_has_examples_and_the_report_schema(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    scan = document["paths"]["/v1/scan"]["post"]
    assert scan["requestBody"]["content"]["text/plain"]["example"]
    assert "properties" in json.dumps(scan["responses"]["200"])
