"""Attacks by OWASP's list for APIs (2023), each named after what it once found, or after what it tries in vain."""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

from troubleshoot import scan_text
from troubleshoot.api.app import SAMPLE, create_app
from troubleshoot.api.body import NamedLogs
from troubleshoot.api.keys import new_key, write_keys
from troubleshoot.api.options import ServiceOptions
from troubleshoot.api.patience import PatientProtocol
from troubleshoot.cli.serve import _options
from troubleshoot.errors import StoreFullError
from troubleshoot.report.json import render_json
from troubleshoot.store.database import open_database
from troubleshoot.store.store import Store


@pytest.mark.parametrize("path", ["/v1/reports", "/v1/unknown-faults", "/v1/feedback", "/history", "/unknown-faults"])
def test_strangers_list_no_links_where_nobody_asks_for_keys(tmp_path: Path, path: str) -> None:
    """API1, API5: with --insecure everybody was an admin, and links that cannot be guessed were there to be listed."""
    options = ServiceOptions(store=f"sqlite:///{tmp_path / 'store.db'}", is_private=False)
    with TestClient(create_app(watch=False, options=options)) as client:
        saved = client.post("/v1/scan?save=true", content=SAMPLE)
        assert client.get(saved.headers["location"]).status_code == 200
        assert client.get(path).status_code == 403
        assert client.get("/v1/stats/rules").status_code == 200
        assert path not in client.get("/").text


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(watch=False), raise_server_exceptions=False) as client:
        yield client


@contextlib.contextmanager
def listening(app: FastAPI) -> Iterator[int]:
    """Serve an application on a socket, as `troubleshoot serve` does; give the port."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, http=PatientProtocol, log_config=None))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    end = time.monotonic() + 20
    while not server.started and time.monotonic() < end:
        time.sleep(0.02)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(10)


def test_ten_thousand_logs_of_one_name_are_named_in_linear_time(client: TestClient) -> None:
    """API4: each name was looked for anew, and no other request was answered for six seconds."""
    logs = NamedLogs()
    began = time.process_time()
    for _ in range(10_000):
        logs.add("a", "x")
    assert time.process_time() - began < 1
    assert list(logs)[:3] == ["a", "a (2)", "a (3)"]
    logs.add("b (2)", "x")
    for _ in range(3):
        logs.add("b", "x")
    assert list(logs)[-4:] == ["b (2)", "b", "b (3)", "b (4)"]


def test_errors_about_a_body_are_bounded(client: TestClient) -> None:
    """API3, API4: 300,000 unknown keys came back as 19 MB of problem details."""
    long = json.dumps({"k" * 10_000: 1}).encode()
    many = b"{" + b",".join(b'"k%d":1' % number for number in range(50_000)) + b"}"
    items = b'{"files":[' + b"1," * 50_000 + b"1]}"
    for body in (long, many, items, b'{"text":' * 50_000):
        answer = client.post("/v1/scan", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422
        assert len(answer.content) < 10_000
    assert len(client.get("/v1/rules?q=" + "x" * 5000).content) < 2_000
    assert len(client.post("/v1/scan", content=b"x", headers={"Content-Type": "x" * 5000}).content) < 2_000


def test_no_redirect_is_made_of_the_host_header(client: TestClient) -> None:
    """API8: `/history/` led to `/history` of whatever host the request named."""
    for path in ("/history/", "/v1/rules//", "/statistics/", "/v1/scan/"):
        answer = client.get(path, headers={"Host": "evil.example"}, follow_redirects=False)
        assert (path, answer.status_code, answer.headers.get("location")) == (path, 404, None)


@pytest.mark.parametrize("path", ["/v1/rules", "/nowhere", "/metrics", "/openapi.json", "/", "/static/base.css"])
def test_no_answer_is_sniffed_and_no_data_is_cached(client: TestClient, path: str) -> None:
    """API8: only pages and reports said so."""
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers.get("cache-control") == ("no-store" if path.startswith("/v1/") else headers.get("cache-control"))
    assert "access-control-allow-origin" not in headers


def test_half_of_a_head_does_not_hold_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """API4: 1,500 sockets that sent `GET / HT` were all still open after as long as one looked."""
    monkeypatch.setattr("troubleshoot.api.patience.HEAD_S", 0.5)
    app = create_app(watch=False, default_rules=False)
    whole = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with listening(app) as port:
        for before in (b"", whole):  # at once, and after a request
            with socket.create_connection(("127.0.0.1", port), timeout=10) as slow:
                slow.sendall(before)
                if before:
                    assert _answer(slow).startswith(b"HTTP/1.1 200")
                began = time.monotonic()
                for byte in b"GET / HT":
                    slow.sendall(bytes([byte]))
                while slow.recv(4096):
                    pass  # what is left of the first answer
                assert 0.3 < time.monotonic() - began < 5
        with socket.create_connection(("127.0.0.1", port), timeout=10) as quick:
            for _ in range(4):  # one that is used is not closed
                time.sleep(0.2)
                quick.sendall(whole)
                assert _answer(quick).startswith(b"HTTP/1.1 200")


def _answer(connection: socket.socket) -> bytes:
    """Return one whole answer of /healthz; its head and its body may come apart."""
    received = b""
    while not received.endswith(b"}") and (more := connection.recv(4096)):
        received += more
    return received


def test_store_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """API4: whoever might scan could fill the disk with links, voices and lines of made-up faults."""
    monkeypatch.setattr("troubleshoot.limits.UNKNOWN_FAULTS", 3)
    monkeypatch.setattr("troubleshoot.limits.FEEDBACK_ROWS", 2)
    now = datetime(2026, 12, 1, tzinfo=UTC)
    store = Store(open_database(str(tmp_path / "store.db")), most_reports=2, clock=lambda: now)
    for number in range(5):
        now += timedelta(minutes=1)
        store.add_unknown([{"text": f"ValueError: {'abcde'[number]}", "reason": "x"}])
        store.add_feedback("a/b", "right", who=str(number), place="-", comment=str(number))
    store.purge()
    assert sorted(each.sample[-1] for each in store.unknown_faults(at_least=1)) == ["c", "d", "e"]
    assert [each.comment for each in store.feedback_told()] == ["4", "3"]
    report = {"json": render_json(scan_text("x")).encode()}
    links = [store.save_report(report) for _ in range(2)]
    with pytest.raises(StoreFullError, match="2 reports are kept"):
        store.save_report(report)
    store.delete_report(links[0].id, None)
    store.save_report(report)
    store.close()


def test_full_store_is_told_and_the_answer_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("troubleshoot.limits.SAVED_REPORTS", 0)
    options = ServiceOptions(store=f"sqlite:///{tmp_path / 'store.db'}")
    with TestClient(create_app(watch=False, options=options)) as client:
        answer = client.post("/v1/scan?save=true", content=SAMPLE)
        assert answer.status_code == 507
        assert answer.headers["content-type"] == "application/problem+json"
        assert client.post("/v1/scan", content=SAMPLE).status_code == 200


def test_head_without_an_end_does_not_fill_the_memory() -> None:
    """API4: 200 MB of header lines on one connection became 3 GB of memory."""
    app = create_app(watch=False, default_rules=False)
    with listening(app) as port:
        for line in (b"X-A: b\r\n" * 1000, b"a" * 8000):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as endless:
                endless.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-B: ")
                sent = 0
                with contextlib.suppress(OSError):  # cut off while we send
                    while sent < 4_000_000:
                        endless.sendall(line)
                        sent += len(line)
                assert sent < 4_000_000
        cookie = b"c" * 30_000
        with socket.create_connection(("127.0.0.1", port), timeout=10) as large:
            large.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nCookie: " + cookie + b"\r\n\r\n")
            assert large.recv(4096).startswith(b"HTTP/1.1 200")


def test_tunnel_for_slack_lets_strangers_in_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """API8: with --slack on loopback any name was taken, so a tunnel to it opened the whole service without keys."""
    monkeypatch.setattr("troubleshoot.cli.serve._check_slack", lambda: None)
    hosts = _options("127.0.0.1", 1, keys=None, insecure=False, rate=None, slack=True, scan_processes=0,
                     scan_seconds=1, scan_mb=64)["hosts"]  # fmt: skip
    with TestClient(create_app(watch=False, options=ServiceOptions(hosts=hosts))) as client:
        outside = {"Host": "tunnel.example"}
        assert client.get("/v1/rules", headers=outside).status_code == 421
        assert client.post("/slack/events", headers=outside).status_code != 421
        assert client.get("/v1/rules", headers={"Host": "localhost:8080"}).status_code == 200


@pytest.mark.parametrize("header", [{"X-Forwarded-For": "198.51.100.7"}, {"Forwarded": "for=198.51.100.7"}])
def test_proxy_before_loopback_makes_nobody_an_admin(tmp_path: Path, header: dict[str, str]) -> None:
    """API5: who came through a proxy on the same machine was taken for its only user."""
    options = ServiceOptions(store=f"sqlite:///{tmp_path / 'store.db'}")
    with TestClient(create_app(watch=False, options=options)) as client:
        assert client.get("/v1/reports").status_code == 200
        assert client.get("/v1/reports", headers=header).status_code == 403
        assert client.get("/v1/rules", headers=header).status_code == 200


def test_client_that_goes_away_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    """API8: each half of a body left a trace in the log of errors."""
    app = create_app(watch=False, default_rules=False)
    with listening(app) as port, socket.create_connection(("127.0.0.1", port), timeout=10) as gone:
        gone.sendall(b"POST /v1/scan HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf")
        gone.close()
        end = time.monotonic() + 10
        while not any(each.name == "troubleshoot.access" for each in caplog.records) and time.monotonic() < end:
            time.sleep(0.05)
    told = [each for each in caplog.records if each.levelno >= logging.ERROR]
    assert [each.getMessage() for each in told] == []


def test_forms_of_admins_are_closed_to_others_and_to_other_sites(tmp_path: Path) -> None:
    """API5: what a form does asks for the scope that its page asks for."""
    made = {scope: new_key(scope, [scope]) for scope in ("scan", "read", "admin")}
    write_keys(tmp_path / "keys.json", [key for _, key in made.values()])
    options = ServiceOptions(store=f"sqlite:///{tmp_path / 'store.db'}", keys_file=str(tmp_path / "keys.json"))
    with TestClient(create_app(watch=False, options=options)) as client:

        def post(path: str, scope: str | None, **headers: str) -> int:
            key = {"Authorization": f"Bearer {made[scope][0]}"} if scope else {}
            return client.post(path, headers={**key, **headers}, follow_redirects=False).status_code

        saved = (
            client.post("/v1/scan?save=true", content=SAMPLE, headers={"Authorization": f"Bearer {made['scan'][0]}"})
            .headers["location"]
            .rpartition("/")[2]
        )
        for path in (f"/history/{saved}/delete", f"/unknown-faults/{'0' * 32}/forget"):
            assert [post(path, scope) for scope in (None, "scan", "read")] == [401, 403, 403]
            assert post(path, "admin", Origin="https://evil.example") == 403
            assert post(path, "admin", **{"Sec-Fetch-Site": "cross-site"}) == 403
            assert post(path, "admin") == 303


@pytest.mark.parametrize("before", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
@pytest.mark.parametrize("path", ["/v1/reports", "/history"])
def test_moment_at_the_end_of_time_is_the_callers_mistake(tmp_path: Path, before: str, path: str) -> None:
    """API8: a zone that moved it out of the calendar was an internal error."""
    options = ServiceOptions(store=f"sqlite:///{tmp_path / 'store.db'}")
    with TestClient(create_app(watch=False, default_rules=False, options=options)) as client:
        assert client.get(path, params={"before": before}).status_code == 422
        assert client.get(path, params={"before": "2026-12-01T00:00:00"}).status_code == 200


def test_agents_stream_on_which_nothing_is_sent_is_not_opened() -> None:
    """API4: each GET of /mcp held a connection until its client went away."""
    pytest.importorskip("mcp", reason="needs the extra `mcp`")
    with TestClient(create_app(watch=False, default_rules=False, options=ServiceOptions(mcp=True))) as client:
        answer = client.get("/mcp", headers={"Accept": "text/event-stream"})
        assert answer.status_code == 405


def test_head_is_answered_without_a_body() -> None:
    app = create_app(watch=False, default_rules=False)
    with listening(app) as port, socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall(b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: line.recv(4096), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    assert body == b""
