"""The service as it is run: several workers, keys, a reload under load, a stop in the middle of a request."""

from __future__ import annotations

import json
import socket
import threading
from pathlib import Path

import httpx
import pytest

from tests.api.serving import ROOT, Service, answers, serving, wait_until
from tests.api.test_holder import GOOD
from troubleshoot.api.keys import new_key, write_keys
from troubleshoot.cli.serve import _options
from troubleshoot.errors import UsageError

TEXT = "frobnicator reports zero frobs left"
PLAIN = {"keys": None, "insecure": False, "rate": None, "scan_processes": None, "scan_seconds": 20.0, "scan_mb": 1024}


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "rules" / "frob").mkdir(parents=True)
    (tmp_path / "rules" / "frob" / "empty.yaml").write_text(GOOD)
    return tmp_path / "rules"


def arguments(rules: Path) -> tuple[str, ...]:
    return ("--no-default-rules", "--rules", str(rules))


def title(service: Service) -> str:
    response = httpx.post(f"{service.url}/v1/scan", content=TEXT, timeout=30)
    assert response.status_code == 200, response.text
    return str(response.json()["findings"][0]["title"])


def test_request_under_way_is_answered_before_the_service_stops(tmp_path: Path, rules: Path) -> None:
    with serving(tmp_path, *arguments(rules)) as service:
        head = (
            f"POST /v1/scan HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(TEXT)}\r\nExpect: 100-continue\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", service.port)) as connection:
            connection.sendall(head.encode())
            assert connection.recv(1024).startswith(b"HTTP/1.1 100")  # the route waits for the body
            service.process.terminate()
            wait_until(lambda: not answers(service), service)
            connection.sendall(TEXT.encode())
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
        assert answer.startswith(b"HTTP/1.1 200")
        assert b"frob/empty" in answer
        assert service.process.wait(20) == 0
        for line in service.log.splitlines():
            json.loads(line)


def test_changed_rules_are_served_and_no_request_is_dropped(tmp_path: Path, rules: Path) -> None:
    with serving(tmp_path, *arguments(rules)) as service:
        assert title(service) == "The frobnicator is out of frob"
        seen: list[str] = []
        failed: list[BaseException] = []
        done = threading.Event()

        def ask() -> None:
            while not done.is_set():
                try:
                    seen.append(title(service))
                except BaseException as error:
                    failed.append(error)
                    return

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        (rules / "frob" / "empty.yaml").write_text(GOOD.replace("out of frob", "empty"))
        wait_until(lambda: failed or (seen and seen[-1] == "The frobnicator is empty"), service)
        done.set()
        for thread in threads:
            thread.join()
        assert not failed
        (rules / "frob" / "empty.yaml").write_text("title: [")
        wait_until(lambda: httpx.get(f"{service.url}/readyz").json()["problems"], service)
        assert httpx.get(f"{service.url}/readyz").status_code == 200
        assert title(service) == "The frobnicator is empty"


def test_several_workers_count_together_and_ask_for_keys(tmp_path: Path, rules: Path) -> None:
    secret, key = new_key("test", ["admin"])
    write_keys(tmp_path / "keys.json", [key])
    with serving(
        tmp_path, *arguments(rules), "--workers", "2", "--host", "0.0.0.0", "--keys", str(tmp_path / "keys.json")
    ) as service:
        assert httpx.post(f"{service.url}/v1/scan", content=TEXT).status_code == 401
        headers = {"Authorization": f"Bearer {secret}"}
        for _ in range(6):  # each with a connection of its own, so that both workers get some
            answer = httpx.post(f"{service.url}/v1/scan", content=TEXT, headers=headers, timeout=60)
            assert answer.status_code == 200
        metrics = httpx.get(f"{service.url}/metrics", headers=headers).text
        assert 'troubleshoot_findings_total{rule="frob/empty"} 6.0' in metrics
        assert secret not in service.log
        assert service.stop() == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "log.example"])
def test_address_that_others_reach_wants_keys_or_a_word(host: str) -> None:
    with pytest.raises(UsageError, match="no API keys"):
        _options(host, 1, **PLAIN)  # type: ignore[arg-type]  # options by name
    options = _options(host, 1, **{**PLAIN, "insecure": True})  # type: ignore[arg-type]  # as above
    assert options["rate_per_minute"] > 0
    assert options["hosts"] == ()


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.8.8"])
def test_loopback_asks_nobody_and_answers_to_its_own_names_only(host: str) -> None:
    options = _options(host, 1, **PLAIN)  # type: ignore[arg-type]  # options by name
    assert options["rate_per_minute"] == 0
    assert "localhost" in options["hosts"]


def test_command_makes_lists_and_takes_away_keys(tmp_path: Path) -> None:
    import subprocess
    import sys

    def keys(*arguments: str) -> str:
        command = [sys.executable, "-m", "troubleshoot", "keys", *arguments, "--keys", str(tmp_path / "k.json")]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    secret = keys("new", "--name", "bot", "--scope", "scan").strip()
    listed = keys("list")
    assert listed.split()[:2] == [secret[3:11], "scan"]
    assert secret not in listed
    keys("revoke", secret[3:11])
    assert keys("list") == ""
