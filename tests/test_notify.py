"""The webhook: signed, tried again where that may help, and never anybody's problem but its receiver's."""

from __future__ import annotations

import hashlib
import hmac
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from troubleshoot.notify import TRIES, notify, signature_of

BODY = b'{"schema": "troubleshoot.report/1"}'


class Receiver(HTTPServer):
    """Answers with the given statuses in turn, and keeps what it was sent."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.got: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append(({key.lower(): value for key, value in self.headers.items()}, body))
                status = receiver.statuses.pop(0) if receiver.statuses else 200
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


@pytest.fixture
def receiver(request: pytest.FixtureRequest) -> Iterator[Receiver]:
    server = Receiver(*getattr(request, "param", ()))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def test_body_arrives_signed(receiver: Receiver) -> None:
    assert notify(receiver.url, BODY, "secret") == ""
    headers, body = receiver.got[0]
    assert body == BODY
    stamp = headers["x-troubleshoot-timestamp"]
    expected = hmac.new(b"secret", stamp.encode() + b"." + BODY, hashlib.sha256).hexdigest()
    assert headers["x-troubleshoot-signature"] == f"sha256={expected}" == signature_of(BODY, "secret", stamp)
    assert headers["content-type"] == "application/json"


def test_without_a_secret_nothing_is_signed(receiver: Receiver) -> None:
    assert notify(receiver.url, BODY) == ""
    assert "x-troubleshoot-signature" not in receiver.got[0][0]


@pytest.mark.parametrize("receiver", [(503, 429)], indirect=True)
def test_what_may_pass_is_tried_again_with_growing_waits(receiver: Receiver) -> None:
    waits: list[float] = []
    assert notify(receiver.url, BODY, sleep=waits.append) == ""
    assert len(receiver.got) == 3
    assert waits == sorted(waits)
    assert len({headers["x-troubleshoot-delivery"] for headers, _ in receiver.got}) == 1


@pytest.mark.parametrize("receiver", [(500, 500, 500, 500)], indirect=True)
def test_tries_come_to_an_end(receiver: Receiver) -> None:
    problem = notify(receiver.url, BODY, sleep=lambda _: None)
    assert "500" in problem
    assert len(receiver.got) == TRIES


@pytest.mark.parametrize("receiver", [(400,), (404,), (302,)], indirect=True)
def test_a_refusal_is_not_tried_again_and_no_redirect_followed(receiver: Receiver) -> None:
    assert notify(receiver.url, BODY, sleep=lambda _: None)
    assert len(receiver.got) == 1


@pytest.mark.parametrize("url", ["", "ftp://x/y", "file:///etc/passwd", "http://", "http://[::1", "nonsense"])
def test_what_is_no_url_is_told(url: str) -> None:
    assert notify(url, BODY, sleep=lambda _: None)


def test_nobody_listens() -> None:
    assert "after 3 tries" in notify("http://127.0.0.1:1/hook", BODY, sleep=lambda _: None)
