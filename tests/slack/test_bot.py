"""What a person in Slack sees, against a local Slack: who is answered where, with what, and who is not."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
import yaml
from fastapi.testclient import TestClient

from tests.slack.fake_slack import SECRET, TOKEN, FakeSlack, event_body, payload_body, signed
from troubleshoot.api.app import SAMPLE, create_app
from troubleshoot.api.options import ServiceOptions
from troubleshoot.errors import UsageError
from troubleshoot.slack.answer import About
from troubleshoot.slack.files import is_allowed
from troubleshoot.slack.manifest import manifest
from troubleshoot.slack.message import log_text
from troubleshoot.slack.settings import SlackSettings

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def slack(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeSlack]:
    fake = FakeSlack()
    monkeypatch.setenv("SLACK_BOT_TOKEN", TOKEN)
    monkeypatch.setenv("SLACK_SIGNING_SECRET", SECRET)
    monkeypatch.setenv("SLACK_API_URL", f"{fake.url}/api/")
    monkeypatch.setenv("SLACK_FILE_HOSTS", fake.host)
    monkeypatch.setenv("TROUBLESHOOT_PUBLIC_URL", "https://troubleshoot.example.com")
    yield fake
    fake.close()


@pytest.fixture
def client(slack: FakeSlack, tmp_path: Path) -> Iterator[TestClient]:
    options = ServiceOptions(slack=True, store=f"sqlite:///{tmp_path / 'store.db'}")
    with TestClient(create_app(watch=False, options=options)) as client:
        yield client


def send(client: TestClient, body: str, kind: dict[str, str] = JSON, **signing: Any) -> httpx.Response:
    return client.post("/slack/events", content=body, headers={**kind, **signed(body, **signing)})


def mention(text: str = f"<@UBOT> ```{SAMPLE}```", **more: Any) -> dict[str, Any]:
    return {"type": "app_mention", "user": "U1", "channel": "C1", "ts": "1.1", "text": text, **more}


def test_mention_is_answered_in_its_thread(client: TestClient, slack: FakeSlack) -> None:
    began = time.monotonic()
    assert send(client, event_body(mention())).status_code == 200
    assert time.monotonic() - began < 3
    (answer,) = slack.wait(lambda: slack.said("chat.update"))
    (first,) = slack.said("chat.postMessage")
    assert (first["channel"], first["thread_ts"]) == ("C1", "1.1")
    assert "GLIBC_2.34" in json.dumps(answer["blocks"])
    buttons = answer["blocks"][-1]["elements"]
    assert [each["action_id"] for each in buttons] == [
        *("feedback_right", "feedback_fixed", "feedback_wrong", "show_evidence", "open_report")
    ]
    assert buttons[-1]["url"].startswith("https://troubleshoot.example.com/r/")
    assert client.get(buttons[-1]["url"].removeprefix("https://troubleshoot.example.com")).status_code == 200


def test_a_service_in_chinese_answers_in_chinese(slack: FakeSlack, tmp_path: Path) -> None:
    options = ServiceOptions(slack=True, store=f"sqlite:///{tmp_path / 'store.db'}", language="zh-CN")
    with TestClient(create_app(watch=False, options=options)) as client:
        send(client, event_body(mention()))
        (answer,) = slack.wait(lambda: slack.said("chat.update"))
    assert slack.said("chat.postMessage")[0]["text"] == "正在读取……"
    assert answer["blocks"][0]["text"]["text"].startswith("镜像的 C 库太旧")
    assert [each["text"]["text"] for each in answer["blocks"][-1]["elements"]] == [
        *("有帮助", "已修复", "不对", "查看证据", "完整报告")
    ]


def test_retry_is_answered_once(client: TestClient, slack: FakeSlack) -> None:
    body = event_body(mention())
    assert send(client, body, at=time.time() - 3).status_code == 200
    retry = client.post(
        "/slack/events",
        content=body,
        headers={**JSON, **signed(body), "X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"},
    )
    assert retry.status_code == 200
    slack.wait(lambda: slack.said("chat.update"))
    time.sleep(0.3)
    assert len(slack.said("chat.postMessage")) == 1


@pytest.mark.parametrize(
    ("name", "status"),
    [
        *(("forged", 401), ("old", 401), ("future", 401), ("word", 401), ("unsigned", 401), ("bytes", 401)),
        *(("changed", 401), ("large", 413)),
    ],
)
def test_request_that_is_not_slacks_is_refused(client: TestClient, slack: FakeSlack, name: str, status: int) -> None:
    body = event_body(mention())
    headers = {
        "forged": signed(body, secret="another"),
        "old": signed(body, at=time.time() - 400),
        "future": signed(body, at=time.time() + 400),
        "word": {**signed(body), "X-Slack-Request-Timestamp": "soon"},
        "unsigned": {},
        "bytes": signed(body),
        "changed": signed(body),
        "large": signed(body),
    }[name]
    content = {"bytes": b"\xff\xfe", "changed": body.replace("C1", "C2").encode(), "large": b"x" * 3_000_000}
    response = client.post("/slack/events", content=content.get(name, body.encode()), headers={**JSON, **headers})
    assert response.status_code == status
    time.sleep(0.1)
    assert slack.said("chat.postMessage") == []


def test_replayed_request_is_refused(client: TestClient, slack: FakeSlack) -> None:
    body = urlencode({"command": "/troubleshoot", "text": "", "team_id": "T1", "user_id": "U1", "channel_id": "C1"})
    headers = {**FORM, **signed(body)}
    assert client.post("/slack/events", content=body, headers=headers).status_code == 200
    assert client.post("/slack/events", content=body, headers=headers).status_code == 401


def test_url_is_verified(client: TestClient) -> None:
    response = send(client, json.dumps({"type": "url_verification", "challenge": "abc", "token": "x"}))
    assert response.status_code == 200
    assert "abc" in response.text


def test_slash_command_answers_who_asked(client: TestClient, slack: FakeSlack) -> None:
    form = {"command": "/troubleshoot", "text": SAMPLE, "team_id": "T1", "user_id": "U1", "channel_id": "C1"}
    response = send(client, urlencode({**form, "response_url": f"{slack.url}/response"}), FORM)
    assert response.status_code == 200
    assert response.json()["response_type"] == "ephemeral"
    (answer,) = slack.wait(lambda: slack.said("response"))
    assert answer["response_type"] == "ephemeral"
    assert "GLIBC_2.34" in json.dumps(answer["blocks"])


def test_slash_command_without_a_text_helps(client: TestClient) -> None:
    form = {"command": "/troubleshoot", "text": " ", "team_id": "T1", "user_id": "U1", "channel_id": "C1"}
    assert "shortcut" in send(client, urlencode(form), FORM).json()["text"]


def shortcut(slack: FakeSlack, **message: Any) -> str:
    return payload_body(
        {
            "type": "message_action",
            "callback_id": "troubleshoot_message",
            "trigger_id": "1",
            "message_ts": "5.5",
            "team": {"id": "T1"},
            "user": {"id": "U1"},
            "channel": {"id": "C9"},
            "response_url": f"{slack.url}/response",
            "message": {"type": "message", "user": "U2", "ts": "5.5", "text": "", **message},
        }
    )


def test_shortcut_reads_the_files_of_a_message(client: TestClient, slack: FakeSlack) -> None:
    slack.files["train.log"] = ("text/plain", SAMPLE.encode("utf-16"))
    file = {"id": "F1", "name": "train.log", "mode": "snippet", "size": 300, "url_private": f"{slack.url}/f/train.log"}
    assert send(client, shortcut(slack, files=[file]), FORM).status_code == 200
    (answer,) = slack.wait(lambda: slack.said("chat.update"))
    assert "train.log" in json.dumps(answer["blocks"])
    assert slack.said("chat.postMessage")[0]["thread_ts"] == "5.5"


def test_stub_of_a_file_is_asked_for(client: TestClient, slack: FakeSlack) -> None:
    slack.files["a.log"] = ("text/plain", SAMPLE.encode())
    whole = {"id": "F1", "name": "a.log", "mode": "hosted", "url_private": f"{slack.url}/f/a.log"}
    slack.answers["files.info"] = [{"ok": True, "file": whole}]
    send(client, event_body(mention("<@UBOT>", files=[{"id": "F1", "file_access": "check_file_info"}])))
    (answer,) = slack.wait(lambda: slack.said("chat.update"))
    assert "a.log" in json.dumps(answer["blocks"])


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ({"mode": "external", "is_external": True}, "outside Slack"),
        ({"mode": "tombstone"}, "was deleted"),
        ({"size": 200_000_000}, "larger than"),
        ({"url_private": "https://evil.example/a.log"}, "not on Slack"),
        ({"url_private": "http://files.slack.com/a.log"}, "not on Slack"),
        ({"url_private": "LOGIN"}, "files:read"),
    ],
)
def test_file_that_cannot_be_read_is_told(
    client: TestClient, slack: FakeSlack, file: dict[str, Any], words: str
) -> None:
    slack.files["login"] = ("text/html", b"<!DOCTYPE html><title>Log in</title>")
    if file.get("url_private") == "LOGIN":
        file = {"url_private": f"{slack.url}/f/login"}
    send(client, event_body(mention("<@UBOT>", files=[{"id": "F1", "name": "a.log", **file}])))
    (answer,) = slack.wait(lambda: slack.said("chat.update"))
    assert words in answer["text"]


def files_of(slack: FakeSlack, number: int, data: bytes) -> list[dict[str, Any]]:
    for at in range(number):
        slack.files[f"{at}.log"] = ("text/plain", data)
    return [{"id": f"F{at}", "name": f"{at}.log", "url_private": f"{slack.url}/f/{at}.log"} for at in range(number)]


def test_files_that_are_too_many_are_told(client: TestClient, slack: FakeSlack) -> None:
    send(client, event_body(mention("<@UBOT>", files=files_of(slack, 12, SAMPLE.encode()))))
    (answer,) = slack.wait(lambda: slack.said("chat.update"))
    told = [each["elements"][0].get("text") for each in answer["blocks"] if each["type"] == "context"]
    assert "Only the first 10 of 12 files were read." in told
    assert answer["blocks"][-1]["type"] == "actions"


def test_files_of_a_message_are_bounded_together(
    client: TestClient, slack: FakeSlack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """API4: ten files of 32 MB for each of four answers would have been held in memory at once."""
    monkeypatch.setattr("troubleshoot.slack.files.MESSAGE_BYTES", 2500)
    send(client, event_body(mention("<@UBOT>", files=files_of(slack, 3, b"x" * 1000))))
    (answer,) = slack.wait(lambda: slack.said("chat.update"))
    assert "together" in answer["text"]


def test_bot_that_is_not_in_the_channel_answers_privately(client: TestClient, slack: FakeSlack) -> None:
    slack.answers["chat.postMessage"] = [{"ok": False, "error": "not_in_channel"}]
    send(client, shortcut(slack, text=SAMPLE), FORM)
    (answer,) = slack.wait(lambda: slack.said("response"))
    assert answer["response_type"] == "ephemeral"
    assert "GLIBC_2.34" in json.dumps(answer["blocks"])


def test_blocks_that_slack_refuses_are_said_as_text(client: TestClient, slack: FakeSlack) -> None:
    slack.answers["chat.update"] = [{"ok": False, "error": "msg_blocks_too_long"}]
    send(client, event_body(mention()))
    answers = slack.wait(lambda: len(slack.said("chat.update")) == 2 and slack.said("chat.update"))
    assert "GLIBC" in answers[1]["text"]
    assert not answers[1].get("blocks")


def test_limited_call_is_made_again(client: TestClient, slack: FakeSlack) -> None:
    slack.limited.add("chat.postMessage")
    send(client, event_body(mention()))
    slack.wait(lambda: slack.said("chat.update"))
    assert len(slack.said("chat.postMessage")) == 2


def test_shared_channel_is_answered_to_who_asked_only(client: TestClient, slack: FakeSlack) -> None:
    send(client, event_body(mention(), is_ext_shared_channel=True))
    (answer,) = slack.wait(lambda: slack.said("chat.postEphemeral"))
    assert answer["user"] == "U1"
    assert slack.said("chat.postMessage") == []


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message", "channel_type": "im", "channel": "D1", "ts": "1.1", "bot_id": "B9", "text": SAMPLE},
        {"type": "message", "channel_type": "im", "channel": "D1", "ts": "1.1", "subtype": "message_changed"},
        {"type": "message", "channel_type": "channel", "channel": "C1", "ts": "1.1", "user": "U1", "text": SAMPLE},
    ],
)
def test_what_is_not_for_the_bot_is_left_alone(client: TestClient, slack: FakeSlack, event: dict[str, Any]) -> None:
    assert send(client, event_body(event)).status_code == 200
    time.sleep(0.2)
    assert slack.said("chat.postMessage") == []


def test_feedback_and_evidence_buttons(client: TestClient, slack: FakeSlack) -> None:
    send(client, event_body(mention()))
    (answer,) = slack.wait(lambda: slack.said("chat.update"))
    right, *_, evidence, _link = answer["blocks"][-1]["elements"]

    def press(button: dict[str, Any]) -> dict[str, Any]:
        before = len(slack.said("response"))
        action = {"type": "button", "action_id": button["action_id"], "value": button["value"], "block_id": "b"}
        payload = {
            "type": "block_actions",
            "user": {"id": "U1"},
            "team": {"id": "T1"},
            "channel": {"id": "C1"},
            "container": {"message_ts": "7.7", "channel_id": "C1", "thread_ts": "1.1"},
            "response_url": f"{slack.url}/response",
            "actions": [action],
            "trigger_id": str(time.time()),
        }
        assert send(client, payload_body(payload), FORM).status_code == 200
        return slack.wait(lambda: slack.said("response")[before:])[0]

    assert "noted" in press(right)["text"]
    rule = About.load(right["value"]).rule
    assert client.get("/v1/stats/rules").json()["feedback"] == {rule: {"right": 1, "wrong": 0, "fixed": 0}}
    told = press(evidence)
    assert told["response_type"] == "ephemeral"
    assert "GLIBC_2.34" in json.dumps(told["blocks"])
    assert "not kept" in press({**evidence, "value": About("a", "b", "x" * 22).dump()})["text"]


def test_hostile_log_stays_text(client: TestClient, slack: FakeSlack) -> None:
    token = "hf_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD2f"
    log = f"RuntimeError: <!channel> ``` <https://evil.example|fix> {token}\n" * 60
    slack.files["a.log"] = ("text/plain", log.encode())
    file = {"id": "F1", "name": "a.log", "url_private": f"{slack.url}/f/a.log"}
    send(client, event_body(mention("<@UBOT>", files=[file])))
    (answer,) = slack.wait(lambda: slack.said("chat.update"))
    assert token not in json.dumps(answer)
    assert len(answer["blocks"]) <= 50
    assert "<!channel>" not in answer["text"]
    marked = [json.dumps(each) for each in answer["blocks"] if each["type"] in ("section", "context")]
    assert not any("<!channel>" in each or "<https" in each for each in marked)


def test_message_is_undressed_once() -> None:
    dressed = "<@U1> look: &lt;rank 3&gt; &amp;lt; <https://x.example/a|x.example> <#C1|general>"
    assert log_text({"text": dressed}) == "look: <rank 3> &lt; x.example #general"
    assert log_text({"text": "see ```a &gt; b``` please"}) == "a > b"
    block = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "a\n  b"}]}
    assert log_text({"text": "x", "blocks": [{"type": "rich_text", "elements": [block]}]}) == "a\n  b"


def test_token_goes_to_slacks_file_servers_only() -> None:
    settings = SlackSettings(TOKEN, SECRET)
    allowed = [
        *("https://files.slack.com/x", "http://files.slack.com/x", "https://files.slack.com.evil.example/x"),
        *("https://a@files.slack.com/x", "https://evil.example/files.slack.com", "file:///etc/passwd", ""),
    ]
    assert [is_allowed(url, settings) for url in allowed] == [True, *[False] * 6]


def test_bot_without_a_secret_does_not_start() -> None:
    with pytest.raises(UsageError, match="SIGNING_SECRET"):
        SlackSettings.from_environment({"SLACK_BOT_TOKEN": TOKEN})
    with pytest.raises(UsageError, match="BOT_TOKEN"):
        SlackSettings.from_environment({"SLACK_SIGNING_SECRET": SECRET})
    assert SlackSettings.from_environment({"SLACK_BOT_TOKEN": TOKEN, "SLACK_APP_TOKEN": "xapp-1"}).app_token


def test_manifest_fits_what_the_bot_listens_to() -> None:
    over_http = yaml.safe_load(yaml.safe_dump(manifest("https://x.example/")))
    assert over_http["settings"]["event_subscriptions"]["request_url"] == "https://x.example/slack/events"
    assert over_http["features"]["shortcuts"][0]["callback_id"] == "troubleshoot_message"
    socket = manifest(None)
    assert socket["settings"]["socket_mode_enabled"]
    assert "https" not in json.dumps(socket)
