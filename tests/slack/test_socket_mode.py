"""Socket Mode against a local Slack: its `apps.connections.open` and a real websocket server behind it."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import WSMsgType, web
from fastapi.testclient import TestClient

from tests.slack.fake_slack import TOKEN, FakeSlack, event_body
from troubleshoot.api.app import SAMPLE, create_app
from troubleshoot.api.options import ServiceOptions

APP_TOKEN = "xapp-" + "1-A1-valid"


class FakeSocket:
    """A websocket server on a port of its own. `acks` is what the bot sent back, `connections` how often it came."""

    def __init__(self) -> None:
        self.acks: list[dict[str, Any]] = []
        self.connections = 0
        self.is_refusing = False
        self._loop = asyncio.new_event_loop()
        self._open: web.WebSocketResponse | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._ready.set()
        self._loop.run_forever()

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_get("/link", self._serve)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"ws://127.0.0.1:{port}/link?ticket=1"

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        if self.is_refusing:
            return web.Response(status=503)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.connections += 1
        self._open = socket
        await socket.send_json({"type": "hello", "num_connections": 1, "connection_info": {"app_id": "A1"}})
        async for message in socket:
            if message.type is WSMsgType.TEXT and message.data != "ping":
                self.acks.append(json.loads(message.data))
        return socket

    def send(self, envelope: dict[str, Any] | str) -> None:
        """Send as Slack would."""

        async def go() -> None:
            assert self._open is not None
            await self._open.send_str(envelope if isinstance(envelope, str) else json.dumps(envelope))

        asyncio.run_coroutine_threadsafe(go(), self._loop).result(10)

    def drop(self) -> None:
        """Cut the connection."""

        async def go() -> None:
            assert self._open is not None
            await self._open.close()

        asyncio.run_coroutine_threadsafe(go(), self._loop).result(10)

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)


@pytest.fixture
def socket() -> Iterator[FakeSocket]:
    fake = FakeSocket()
    yield fake
    fake.close()


@pytest.fixture
def slack(monkeypatch: pytest.MonkeyPatch, socket: FakeSocket) -> Iterator[FakeSlack]:
    fake = FakeSlack()
    fake.always["apps.connections.open"] = {"ok": True, "url": socket.url}
    monkeypatch.setenv("SLACK_BOT_TOKEN", TOKEN)
    monkeypatch.setenv("SLACK_APP_TOKEN", APP_TOKEN)
    monkeypatch.delenv("SLACK_SIGNING_SECRET", raising=False)
    monkeypatch.setenv("SLACK_API_URL", f"{fake.url}/api/")
    yield fake
    fake.close()


@pytest.fixture
def client(slack: FakeSlack, socket: FakeSocket, tmp_path: Path) -> Iterator[TestClient]:
    options = ServiceOptions(slack=True, store=f"sqlite:///{tmp_path / 'store.db'}")
    with TestClient(create_app(watch=False, options=options)) as client:
        wait(lambda: socket.connections == 1)
        yield client


def wait(is_so: Callable[[], Any], seconds: float = 30) -> Any:
    end = time.monotonic() + seconds
    while not (found := is_so()):
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.02)
    return found


def envelope(number: int, kind: str, payload: Any) -> dict[str, Any]:
    return {"envelope_id": f"E{number}", "type": kind, "payload": payload, "accepts_response_payload": True}


def mention(event_id: str) -> dict[str, Any]:
    event = {"type": "app_mention", "user": "U1", "channel": "C1", "ts": "1.1", "text": f"<@UBOT> ```{SAMPLE}```"}
    payload: dict[str, Any] = json.loads(event_body(event, event_id))
    return payload


def test_connection_is_opened_with_the_app_token(client: TestClient, slack: FakeSlack) -> None:
    assert slack.tokens["apps.connections.open"] == f"Bearer {APP_TOKEN}"
    assert client.post("/slack/events", content=b"{}").status_code == 404


def test_mention_is_acknowledged_at_once_and_answered_in_its_thread(
    client: TestClient, slack: FakeSlack, socket: FakeSocket
) -> None:
    began = time.monotonic()
    socket.send(envelope(1, "events_api", mention("Ev1")))
    wait(lambda: {"envelope_id": "E1"} in [{"envelope_id": each.get("envelope_id")} for each in socket.acks])
    assert time.monotonic() - began < 3
    (answer,) = slack.wait(lambda: slack.said("chat.update"))
    assert slack.said("chat.postMessage")[0]["thread_ts"] == "1.1"
    assert "GLIBC_2.34" in json.dumps(answer["blocks"])


def test_event_that_comes_again_is_answered_once(client: TestClient, slack: FakeSlack, socket: FakeSocket) -> None:
    for number in (1, 2):
        again = {"retry_attempt": number - 1, "retry_reason": "timeout" if number > 1 else ""}
        socket.send({**envelope(number, "events_api", mention("Ev7")), **again})
    wait(lambda: len(socket.acks) == 2)
    slack.wait(lambda: slack.said("chat.update"))
    time.sleep(0.3)
    assert len(slack.said("chat.postMessage")) == 1


def test_slash_command_and_button_go_the_same_way(client: TestClient, slack: FakeSlack, socket: FakeSocket) -> None:
    url = f"{slack.url}/response"
    command = {"command": "/troubleshoot", "text": SAMPLE, "team_id": "T1", "user_id": "U1", "channel_id": "C1"}
    socket.send(envelope(1, "slash_commands", {**command, "response_url": url}))
    (ack,) = wait(lambda: socket.acks)
    assert ack["payload"]["response_type"] == "ephemeral"
    (answer,) = slack.wait(lambda: slack.said("response"))
    button = answer["blocks"][-1]["elements"][0]
    pressed = {
        "type": "block_actions",
        "user": {"id": "U1"},
        "team": {"id": "T1"},
        "container": {"message_ts": "7.7", "channel_id": "C1"},
        "response_url": url,
        "actions": [{"type": "button", "block_id": "b", **{key: button[key] for key in ("action_id", "value")}}],
        "trigger_id": "1",
    }
    socket.send(envelope(2, "interactive", pressed))
    slack.wait(lambda: len(slack.said("response")) == 2)
    assert "noted" in slack.said("response")[1]["text"]


@pytest.mark.parametrize("how", ["asked", "cut"])
def test_lost_connection_is_opened_anew(client: TestClient, slack: FakeSlack, socket: FakeSocket, how: str) -> None:
    if how == "asked":
        socket.send({"type": "disconnect", "reason": "refresh_requested", "debug_info": {}})
    else:
        socket.drop()
    wait(lambda: socket.connections == 2)
    socket.send(envelope(3, "events_api", mention("Ev3")))
    slack.wait(lambda: slack.said("chat.update"))


def test_nonsense_from_the_socket_harms_nothing(client: TestClient, slack: FakeSlack, socket: FakeSocket) -> None:
    for text in ("{", "[]", "null", '{"type": "events_api"}', json.dumps(envelope(1, "unheard", {}))):
        socket.send(text)
    socket.send(envelope(2, "events_api", mention("Ev2")))
    slack.wait(lambda: slack.said("chat.update"))
    assert client.get("/healthz").status_code == 200


def test_service_starts_and_stops_while_slack_is_away(
    slack: FakeSlack, socket: FakeSocket, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    slack.always["apps.connections.open"] = {"ok": False, "error": "invalid_auth"}
    with TestClient(create_app(watch=False, options=ServiceOptions(slack=True))) as client:
        slack.wait(lambda: any(name == "apps.connections.open" for name, _ in slack.calls))
        assert client.post("/v1/scan", content=SAMPLE).status_code == 200
        began = time.monotonic()
    assert time.monotonic() - began < 10
    assert APP_TOKEN not in caplog.text


def test_slack_that_was_away_at_the_start_is_asked_again(slack: FakeSlack, socket: FakeSocket) -> None:
    """The SDK asks again after ten seconds; nobody has to restart the service."""
    slack.answers["apps.connections.open"] = [{"ok": False, "error": "internal_error"}]
    with TestClient(create_app(watch=False, options=ServiceOptions(slack=True))):
        wait(lambda: socket.connections == 1)
        socket.send(envelope(1, "events_api", mention("Ev1")))
        slack.wait(lambda: slack.said("chat.update"))
