"""Who may ask for what, how often, under which id; and what is written down of it."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from troubleshoot.api.app import SAMPLE, create_app
from troubleshoot.api.gate import scope_for
from troubleshoot.api.journal import JsonFormatter
from troubleshoot.api.keys import KeyRing, new_key, read_keys, write_keys
from troubleshoot.api.options import ServiceOptions
from troubleshoot.api.rates import BUCKETS, Buckets, address_group
from troubleshoot.errors import UsageError


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    made = {scope: new_key(scope, [scope]) for scope in ("scan", "read", "admin")}
    made["expired"] = new_key("expired", ["admin"], days=-1)
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    write_keys(path, [key for _, key in made.values()])
    return path, {name: secret for name, (secret, _) in made.items()}


@pytest.fixture(scope="module")
def client(keys: tuple[Path, dict[str, str]]) -> Iterator[TestClient]:
    with TestClient(create_app(watch=False, options=ServiceOptions(keys_file=str(keys[0])))) as client:
        yield client


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_file_of_keys_holds_no_key_and_is_the_owners(keys: tuple[Path, dict[str, str]]) -> None:
    path, secrets = keys
    text = path.read_text()
    assert not any(secret in text or secret[12:] in text for secret in secrets.values())
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("key", "method", "path", "status"),
    [
        (None, "GET", "/healthz", 200),
        (None, "GET", "/readyz", 200),
        (None, "POST", "/v1/scan", 401),
        (None, "GET", "/v1/rules", 401),
        (None, "GET", "/metrics", 401),
        (None, "GET", "/openapi.json", 401),
        (None, "GET", "/nowhere", 401),
        ("scan", "POST", "/v1/scan", 200),
        ("scan", "GET", "/v1/rules", 403),
        ("read", "GET", "/v1/rules", 200),
        ("read", "HEAD", "/metrics", 200),
        ("read", "GET", "/metrics", 200),
        ("read", "POST", "/v1/scan", 403),
        ("read", "GET", "/nowhere", 403),
        ("admin", "POST", "/v1/scan", 200),
        ("admin", "GET", "/nowhere", 404),
        ("expired", "GET", "/v1/rules", 401),
    ],
)
def test_each_key_may_what_its_scope_says(
    client: TestClient, keys: tuple[Path, dict[str, str]], key: str | None, method: str, path: str, status: int
) -> None:
    headers = bearer(keys[1][key]) if key else {}
    response = client.request(method, path, headers=headers, content=b"x" if method == "POST" else None)
    assert response.status_code == status
    if status == 401:
        assert response.headers["www-authenticate"].startswith("Bearer")


def test_wrong_keys_are_refused_alike(client: TestClient, keys: tuple[Path, dict[str, str]]) -> None:
    secret = keys[1]["read"]
    for wrong in (secret[:-1] + ("A" if secret[-1] != "A" else "B"), "ts_00000000_" + "x" * 43, "", "é", secret + "x"):
        response = client.get("/v1/rules", headers={"X-API-Key": wrong.encode()})
        assert response.status_code == 401
        assert response.headers["content-type"] == "application/problem+json"


def test_key_also_comes_as_header_and_as_a_browsers_password(
    client: TestClient, keys: tuple[Path, dict[str, str]]
) -> None:
    secret = keys[1]["read"]
    basic = base64.b64encode(f"anybody:{secret}".encode()).decode()
    assert client.get("/v1/rules", headers={"X-API-Key": secret}).status_code == 200
    assert client.get("/v1/rules", headers={"Authorization": f"Basic {basic}"}).status_code == 200
    asked = client.get("/rules", headers={"Accept": "text/html"})
    assert asked.status_code == 401
    assert asked.headers["www-authenticate"].startswith("Basic")


def test_key_taken_away_works_no_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("troubleshoot.api.keys.LOOK_S", 0.0)
    secret, key = new_key("bot", ["scan"])
    path = tmp_path / "keys.json"
    write_keys(path, [key])
    ring = KeyRing(path)
    assert ring.find(secret) is not None
    path.write_text("[{")  # half written: what was good stays
    assert ring.find(secret) is not None
    write_keys(path, [])
    assert ring.find(secret) is None


def test_file_that_holds_no_keys_is_refused(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text('{"a": 1}')
    for name in ("keys.json", "missing.json"):
        with pytest.raises(UsageError):
            read_keys(tmp_path / name)
    with pytest.raises(UsageError):
        new_key("bot", ["everything"])


def test_route_that_nobody_named_is_closed() -> None:
    assert scope_for("GET", "/v1/new-thing") == "read"
    assert scope_for("POST", "/v1/new-thing") == "admin"
    assert scope_for("GET", "/new-thing") == "admin"
    assert scope_for("GET", "/static/app.js") is None


def test_bucket_empties_and_fills_again() -> None:
    now = 0.0
    buckets = Buckets(60, clock=lambda: now)
    assert [buckets.take("a") for _ in range(60)] == [0.0] * 60
    assert buckets.take("a") == pytest.approx(1.0)
    assert buckets.take("b") == 0.0
    now = 1.0
    assert buckets.take("a") == 0.0
    assert buckets.take("a") > 0


def test_buckets_stay_bounded() -> None:
    buckets = Buckets(60, clock=lambda: 0.0)
    for number in range(BUCKETS + 50):
        buckets.take(str(number))
    assert len(buckets._buckets) == BUCKETS


def test_one_subscriber_of_ipv6_is_one_sender() -> None:
    assert address_group("2001:db8::1") == address_group("2001:db8:0:0:ffff::9")
    assert address_group("2001:db8::1") != address_group("2001:db8:0:1::1")
    assert address_group("::ffff:192.0.2.7") == "192.0.2.7"


def test_too_many_requests_are_told_when_to_come_again() -> None:
    app = create_app(watch=False, default_rules=False, options=ServiceOptions(rate_per_minute=3))
    with TestClient(app) as client:
        statuses = [client.get("/v1/rules").status_code for _ in range(4)]
        assert statuses == [200, 200, 200, 429]
        refused = client.get("/v1/rules")
        assert int(refused.headers["retry-after"]) >= 1
        assert refused.json()["status"] == 429
        assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "http://testserver"}, 200),
        ({"Origin": "http://testserver"}, 200),
        ({}, 200),
    ],
)
def test_other_sites_pages_cannot_post(headers: dict[str, str], status: int) -> None:
    with TestClient(create_app(watch=False, default_rules=False)) as client:
        assert client.post("/v1/scan", content="x", headers=headers).status_code == status


def test_name_that_was_rebound_to_this_machine_is_refused() -> None:
    options = ServiceOptions(hosts=("localhost", "127.0.0.1", "[::1]"))
    with TestClient(create_app(watch=False, default_rules=False, options=options)) as client:
        for host, status in (("evil.example", 421), ("localhost:8080", 200), ("[::1]:8080", 200), ("127.0.0.1", 200)):
            assert client.get("/healthz", headers={"Host": host}).status_code == status


def test_access_log_is_json_and_holds_nothing_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    with caplog.at_level(logging.INFO, "troubleshoot.access"), TestClient(create_app(watch=False)) as client:
        client.post(
            "/v1/scan?name=secretname.log",
            content=SAMPLE + " hunter2",
            headers={"X-Request-ID": "abc", "traceparent": f"00-{trace}-b7ad6b7169203331-01"},
        )
        client.get("/v1/rules/no/such-rule-hunter2")
    lines = [JsonFormatter().format(record) for record in caplog.records if record.name == "troubleshoot.access"]
    first, second = (json.loads(line) for line in lines)
    assert first["route"] == "/v1/scan"
    assert first["status"] == 200
    assert first["request_id"] == "abc"
    assert first["trace_id"] == trace
    assert first["bytes_in"] == len(SAMPLE) + 8
    assert second["route"] == "/v1/rules/{rule_id:path}"
    assert second["status"] == 404
    for word in ("hunter2", "GLIBC", "secretname"):
        assert word not in "".join(lines)


def test_bug_is_a_problem_with_an_id_and_its_text_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    app = create_app(watch=False, default_rules=False)

    @app.get("/v1/bug")
    async def bug() -> None:
        raise ValueError("what the log said: hunter2")

    with TestClient(app) as client:
        response = client.get("/v1/bug")
    assert response.status_code == 500
    assert response.json()["instance"] == response.headers["x-request-id"]
    line = JsonFormatter().format(next(each for each in caplog.records if each.exc_info))
    assert "hunter2" not in response.text + line
    assert "ValueError" in line
    assert response.headers["x-request-id"] in line


def test_metrics_count_requests_findings_and_name_the_pack() -> None:
    with TestClient(create_app(watch=False)) as client:
        rules = [each["rule"] for each in client.post("/v1/scan", content=SAMPLE).json()["findings"]]
        client.post("/v1/scan", content=SAMPLE)  # the same again: counted, though the answer was kept
        client.get("/nowhere-1")
        client.get("/nowhere-2")
        text = client.get("/metrics").text
        pack = client.get("/v1/rules").json()["pack"]
    assert 'troubleshoot_requests_total{code="200",route="/v1/scan"} 2.0' in text
    assert f'troubleshoot_findings_total{{rule="{rules[0]}"}} 2.0' in text
    assert 'troubleshoot_requests_total{code="404",route="-"} 2.0' in text
    assert f'hash="{pack["hash"]}"' in text
    assert "troubleshoot_scan_cache_hits_total 1.0" in text
    assert "troubleshoot_scan_seconds_bucket" in text
    assert "nowhere" not in text
