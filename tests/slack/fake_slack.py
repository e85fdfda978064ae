"""Slack as far as the bot sees it: its Web API and file server on a local port, and requests signed as Slack signs."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from slack_sdk.signature import SignatureVerifier

TOKEN = "xoxb-" + "valid"
SECRET = "test-signing-secret"


class FakeSlack:
    """A local server; `calls` are the methods called, with their arguments, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.answers: dict[str, list[dict[str, Any]]] = {}  # given once each
        self.always: dict[str, dict[str, Any]] = {}
        self.tokens: dict[str, str] = {}  # that the last call of each method brought
        self.files: dict[str, tuple[str, bytes]] = {}
        self.limited: set[str] = set()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                method = urlsplit(self.path).path.rpartition("/")[2]
                if (self.headers.get("Content-Type") or "").startswith("application/json"):
                    arguments = json.loads(body)
                else:
                    arguments = {key: values[0] for key, values in parse_qs(body.decode()).items()}
                fake.calls.append((method, arguments))
                fake.tokens[method] = self.headers.get("Authorization", "")
                if method in fake.limited:
                    fake.limited.discard(method)
                    self._send(429, "application/json", b'{"ok":false,"error":"ratelimited"}', {"Retry-After": "1"})
                    return
                self._send(200, "application/json", json.dumps(fake._answer(method)).encode())

            def do_GET(self) -> None:
                if urlsplit(self.path).path.startswith("/api/"):  # a method that only reads
                    self.do_POST()
                    return
                if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                    self._send(200, "text/html", b"<!DOCTYPE html><title>Log in</title>")
                    return
                kind, data = fake.files[urlsplit(self.path).path.rpartition("/")[2]]
                self._send(200, kind, data)

            def _send(self, status: int, kind: str, data: bytes, headers: dict[str, str] | None = None) -> None:
                self.send_response(status)
                for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing: a test's output is its failures."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.host}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, method: str) -> dict[str, Any]:
        queued = self.answers.get(method)
        if queued:
            return queued.pop(0)
        if method in self.always:
            return self.always[method]
        if method == "auth.test":
            ids = {"team_id": "T1", "user_id": "UBOT", "bot_id": "B1"}
            return {"ok": True, "url": self.url, "team": "team", "user": "bot", **ids}
        return {"ok": True, "channel": "C1", "ts": f"1796069704.{len(self.calls):06d}"}

    def said(self, method: str) -> list[dict[str, Any]]:
        """Return the arguments of each call of a method; `blocks` as what they are."""
        told = []
        for each, arguments in list(self.calls):
            if each == method:
                blocks = arguments.get("blocks")
                told.append({**arguments, **({"blocks": json.loads(blocks)} if isinstance(blocks, str) else {})})
        return told

    def wait(self, is_so: Callable[[], Any], seconds: float = 30) -> Any:
        end = time.monotonic() + seconds
        while not (found := is_so()):
            assert time.monotonic() < end, f"not within {seconds} s; called: {[name for name, _ in self.calls]}"
            time.sleep(0.02)
        return found


def signed(body: str, *, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    """Return the headers that Slack sends with a body."""
    stamp = str(int(time.time() if at is None else at))
    signature = SignatureVerifier(secret).generate_signature(timestamp=stamp, body=body)
    assert signature is not None
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": signature}


def event_body(event: dict[str, Any], event_id: str = "Ev1", **more: Any) -> str:
    envelope = {"type": "event_callback", "team_id": "T1", "api_app_id": "A1", "event_id": event_id, "event": event}
    return json.dumps({**envelope, "event_time": 1, "authorizations": [], **more})


def payload_body(payload: dict[str, Any]) -> str:
    return urlencode({"payload": json.dumps(payload)})
