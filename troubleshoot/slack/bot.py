"""The bot: what Slack sends -> an acknowledgement at once, and the answer when the scan is done.

    message shortcut, mention, direct message   ->  "Reading ..." in the thread, replaced by the answer
    slash command                               ->  an answer only its user sees
    Helpful / Fixed it / Not it                 ->  feedback in the store
    Show evidence                               ->  the lines, to whoever asked

Slack wants an answer within three seconds and sends again what it thinks was lost: work is done in tasks of our own,
and what was delivered once is not done twice. Nothing of a message or file is kept but the redacted report.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Protocol

from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from troubleshoot.errors import TroubleshootError
from troubleshoot.language import ENGLISH, speaking
from troubleshoot.language import say as in_words  # `say` is how this module calls what posts a message
from troubleshoot.slack.answer import About, Message, answer_message, evidence_message, with_words, words_message
from troubleshoot.slack.files import FILES, download_all
from troubleshoot.slack.message import log_text
from troubleshoot.slack.settings import SlackSettings

log = logging.getLogger("troubleshoot.slack")

AT_ONCE = 4  # answers under way; more wait
WORK_S = 90.0
KEPT = 200  # reports behind buttons, where there is no store
HELP = (
    "Give me a log: use the shortcut *Troubleshoot this log* on a message, mention me with a file or a code block, "
    "or send `/troubleshoot` with the error's text."
)
DEAF = ("not_in_channel", "channel_not_found", "is_archived", "restricted_action")
TOO_LONG = ("invalid_blocks", "msg_blocks_too_long", "msg_too_long", "invalid_blocks_format")

Scan = Callable[[dict[str, bytes]], Awaitable[dict[str, bytes]]]  # logs by name -> the report by format
Say = Callable[[Message], Awaitable[None]]


class Keeper(Protocol):
    """What the bot asks of a store: `save` returns the key of a report, `load` the report again."""

    async def save(self, renderings: dict[str, bytes]) -> str: ...
    async def load(self, key: str) -> bytes | None: ...
    async def feedback(self, about: About, verdict: str, who: str, place: str) -> bool: ...
    async def is_first(self, delivery: str) -> bool: ...


class Memory:
    """Keeps the last reports in this process, for a service without a store."""

    def __init__(self) -> None:
        self._reports: OrderedDict[str, bytes] = OrderedDict()
        self._seen: OrderedDict[str, float] = OrderedDict()

    async def save(self, renderings: dict[str, bytes]) -> str:
        key = secrets.token_urlsafe(12)
        self._reports[key] = renderings["json"]
        while len(self._reports) > KEPT:
            self._reports.popitem(last=False)
        return key

    async def load(self, key: str) -> bytes | None:
        return self._reports.get(key)

    async def feedback(self, about: About, verdict: str, who: str, place: str) -> bool:
        return False

    async def is_first(self, delivery: str) -> bool:
        now = time.monotonic()
        while self._seen and next(iter(self._seen.values())) < now - 900:
            self._seen.popitem(last=False)
        if delivery in self._seen:
            return False
        self._seen[delivery] = now
        return True


class Bot:
    """Listens to Slack and answers. `app` is Bolt's."""

    def __init__(self, settings: SlackSettings, scan: Scan, keeper: Keeper, language: str = ENGLISH) -> None:
        self._settings = settings
        self._language = language  # a channel has no Accept-Language: the service's own
        self._scan = scan
        self._keeper = keeper
        self._tasks: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(AT_ONCE)
        client = AsyncWebClient(
            token=settings.bot_token,
            base_url=settings.api_url,
            retry_handlers=[AsyncRateLimitErrorRetryHandler(max_retry_count=2)],
            trust_env_in_session=False,
        )
        self.app = AsyncApp(
            token=settings.bot_token, signing_secret=settings.signing_secret or "socket-mode", client=client
        )
        self.app.event("app_mention")(self._on_mention)
        self.app.event("message")(self._on_message)
        self.app.command("/troubleshoot")(self._on_command)
        self.app.shortcut("troubleshoot_message")(self._on_shortcut)
        for verdict in ("right", "wrong", "fixed"):
            self.app.action(f"feedback_{verdict}")(self._on_feedback)
        self.app.action("show_evidence")(self._on_evidence)
        self.app.action("open_report")(_acknowledge)

    async def close(self) -> None:
        """Wait for the answers under way, but not for ever."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=10)
        for task in self._tasks:
            task.cancel()

    # --- what Slack sends ---

    async def _on_mention(self, body: dict[str, Any], event: dict[str, Any], client: AsyncWebClient) -> None:
        await self._on_event(body, event, client)

    async def _on_message(self, body: dict[str, Any], event: dict[str, Any], client: AsyncWebClient) -> None:
        if event.get("channel_type") == "im" and event.get("subtype") in (None, "file_share"):
            await self._on_event(body, event, client)

    async def _on_event(self, body: dict[str, Any], event: dict[str, Any], client: AsyncWebClient) -> None:
        if event.get("bot_id") or not await self._keeper.is_first(f"{body.get('team_id')} {body.get('event_id')}"):
            return
        if body.get("is_ext_shared_channel"):  # others' people read along: only who asked sees the answer
            say = self._ephemerally(client, event["channel"], event["user"], event.get("thread_ts"))
            self._begin(self._answer(event, say, client))
            return
        thread = event.get("thread_ts") or event["ts"]
        self._begin(self._answer_in_thread(event, client, event["channel"], thread, None))

    async def _on_shortcut(self, ack: Any, body: dict[str, Any], client: AsyncWebClient, respond: Any) -> None:
        await ack()
        message = {**body["message"], "user": body["user"]["id"]}
        thread = message.get("thread_ts") or message.get("ts") or body.get("message_ts")
        channel = body["channel"]["id"]

        async def privately(message: Message) -> None:
            await respond(**message, response_type="ephemeral", replace_original=False)

        self._begin(self._answer_in_thread(message, client, channel, thread, privately))

    async def _on_command(self, ack: Any, command: dict[str, Any], client: AsyncWebClient, respond: Any) -> None:
        text = command.get("text", "").strip()
        if not text or text in ("help", "?"):
            await ack(text=self._said(HELP), response_type="ephemeral")
            return
        await ack(text=self._said("Reading ..."), response_type="ephemeral")

        async def say(message: Message) -> None:
            await respond(**message, response_type="ephemeral")

        self._begin(self._answer({"text": text}, say, client))

    async def _on_feedback(self, ack: Any, body: dict[str, Any], action: dict[str, Any], respond: Any) -> None:
        await ack()
        try:
            about = About.load(action.get("value", ""))
        except ValueError:
            return
        verdict = action["action_id"].removeprefix("feedback_")
        container = body.get("container", {})
        place = f"slack {container.get('channel_id', '')} {container.get('message_ts', '')}"
        who = f"slack {body.get('team', {}).get('id', '')} {body['user']['id']}"
        kept = await self._keeper.feedback(about, verdict, who, place)
        thanks = "Thank you, noted." if kept else "Thank you. (This service has no store to note it in.)"
        await respond(text=self._said(thanks), response_type="ephemeral", replace_original=False)

    async def _on_evidence(self, ack: Any, body: dict[str, Any], action: dict[str, Any], respond: Any) -> None:
        await ack()
        try:
            report = await self._keeper.load(About.load(action.get("value", "")).key)
        except ValueError:
            return
        with speaking(self._language):
            gone = self._said("That report is not kept any more.")
            message = evidence_message(json.loads(report)) if report else words_message(gone)
        thread = body.get("container", {}).get("thread_ts") or body.get("message", {}).get("thread_ts")
        extra = {"thread_ts": thread} if thread else {}
        await respond(**message, response_type="ephemeral", replace_original=False, **extra)

    # --- answers ---

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        async def bounded() -> None:
            async with self._places:
                try:
                    async with asyncio.timeout(WORK_S):
                        await work
                except Exception as error:  # the task is nobody's: what is not told here is told nowhere
                    log.error("an answer to Slack failed: %s", _words_of(error))

        task = asyncio.get_running_loop().create_task(bounded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer_in_thread(
        self, message: Mapping[str, Any], client: AsyncWebClient, channel: str, thread: str | None, fallback: Say | None
    ) -> None:
        """Say that it is being read, then replace that by the answer: one message, one notification."""
        try:
            first = await client.chat_postMessage(
                channel=channel,
                thread_ts=thread,
                text=self._said("Reading ..."),
                unfurl_links=False,
                unfurl_media=False,
            )
        except SlackApiError as error:
            if fallback is None or error.response.get("error") not in DEAF:
                raise
            await self._answer(message, fallback, client)
            return

        async def say(answer: Message) -> None:
            await client.chat_update(channel=channel, ts=first["ts"], **answer)

        await self._answer(message, say, client)

    def _ephemerally(self, client: AsyncWebClient, channel: str, user: str, thread: str | None) -> Say:
        async def say(message: Message) -> None:
            await client.chat_postEphemeral(channel=channel, user=user, thread_ts=thread, **message)

        return say

    async def _answer(self, message: Mapping[str, Any], say: Say, client: AsyncWebClient) -> None:
        try:
            logs = await self._logs(message, client)
            answer = await self._report(logs) if logs else {"text": self._said(HELP), "blocks": []}
            if len(files := message.get("files") or []) > FILES:
                answer = with_words(answer, f"Only the first {FILES} of {len(files)} files were read.")
        except TroubleshootError as error:
            answer = words_message(f"{error.text}." + (f" {error.help}." if error.help else ""))
        except Exception as error:
            log.error("a scan for Slack failed: %s", _words_of(error))
            answer = words_message(self._said("That did not work; the service's log says why."))
        try:
            await say(answer)
        except SlackApiError as error:
            if error.response.get("error") not in TOO_LONG:
                raise
            await say({"text": answer["text"], "blocks": []})

    async def _logs(self, message: Mapping[str, Any], client: AsyncWebClient) -> dict[str, bytes]:
        async def whole(file_id: str) -> Mapping[str, Any]:
            found: Mapping[str, Any] = (await client.files_info(file=file_id))["file"]
            return found

        logs = await download_all(message.get("files") or [], self._settings, whole)
        text = log_text(message)
        if text and (not logs or "\n" in text):  # a line beside a file is what its sender says about it
            logs["message"] = text.encode()
        return logs

    async def _report(self, logs: dict[str, bytes]) -> Message:
        renderings = await self._scan(logs)
        key = await self._keeper.save(renderings)
        base = self._settings.public_url
        link = f"{base}/r/{key}" if base and not isinstance(self._keeper, Memory) else None
        with speaking(self._language):
            return answer_message(renderings["slack"], json.loads(renderings["json"]), key, link)

    def _said(self, english: str) -> str:
        with speaking(self._language):
            return in_words(english)


async def _acknowledge(ack: Any) -> None:
    """A button that opens a page asks for no more than this."""
    await ack()


def _words_of(error: Exception) -> str:
    """Return what may be logged of an error: Slack's code for it, or its kind; never its text."""
    if isinstance(error, SlackApiError):
        return f"Slack says {error.response.get('error')!r}"
    return type(error).__name__
