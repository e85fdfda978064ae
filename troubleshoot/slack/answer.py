"""A rendered report -> the messages of the bot: the answer with its buttons, and the evidence behind it.

A button's value says what it is about: rule, fingerprint, and under which key the report is kept for `Show evidence`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from troubleshoot.language import say
from troubleshoot.report.printable import visible
from troubleshoot.report.slack import cut, escape

MAX_EVIDENCE_BYTES = 11_000  # of a message; Slack refuses about 13,200
MAX_EXCERPT = 1_500
MAX_BLOCKS = 40

Message = dict[str, Any]

BUTTONS = (("right", "Helpful"), ("fixed", "Fixed it"), ("wrong", "Not it"))


@dataclass(frozen=True, slots=True)
class About:
    """What a button is about."""

    rule: str
    fingerprint: str
    key: str

    def dump(self) -> str:
        return json.dumps({"r": self.rule, "f": self.fingerprint, "k": self.key}, separators=(",", ":"))

    @classmethod
    def load(cls, value: str) -> About:
        """Raises ValueError for a value that is not ours."""
        data = json.loads(value)
        if not isinstance(data, dict) or not all(isinstance(data.get(key), str) for key in "rfk"):
            raise ValueError("not a value of ours")
        return cls(data["r"][:200], data["f"][:100], data["k"][:64])


def answer_message(rendered: bytes, report: Mapping[str, Any], key: str, link: str | None) -> Message:
    """Return the message for a report: as rendered, with buttons and the link to the whole."""
    message: Message = json.loads(rendered)
    first = next(iter(report["findings"]), None)
    about = About(first["rule"] if first else "", first["fingerprint"] if first else "", key).dump()
    buttons = [_button(f"feedback_{verdict}", say(label), about) for verdict, label in BUTTONS] if first else []
    if report["findings"] or report["suspects"]:
        buttons.append(_button("show_evidence", say("Show evidence"), about))
    if link:
        buttons.append({"type": "button", "action_id": "open_report", "text": _text(say("Full report")), "url": link})
    if buttons:
        message["blocks"].append({"type": "actions", "elements": buttons})
    return message


def evidence_message(report: Mapping[str, Any]) -> Message:
    """Return the lines behind each finding, or the suspects, as literal text."""
    blocks: list[dict[str, Any]] = []
    room = MAX_EVIDENCE_BYTES
    for label, text in _excerpts(report):
        block = {
            "type": "rich_text",
            "elements": [
                {"type": "rich_text_section", "elements": [{"type": "text", "text": cut(label, 300) + "\n"}]},
                {
                    "type": "rich_text_preformatted",
                    "elements": [{"type": "text", "text": cut(visible(text).strip("\n"), MAX_EXCERPT) or " "}],
                },
            ],
        }
        room -= len(json.dumps(block))
        if room < 0 or len(blocks) >= MAX_BLOCKS:
            note = say("There is more; the full report has it.")
            blocks.append({"type": "context", "elements": [{"type": "mrkdwn", "text": note}]})
            break
        blocks.append(block)
    return {"text": say("The evidence") if blocks else say("There is no evidence to show."), "blocks": blocks}


def words_message(text: str) -> Message:
    """Return a message of plain words, for a failure or a hint."""
    return {"text": cut(escape(text), 2900), "blocks": []}


def with_words(message: Message, text: str) -> Message:
    """Return a message with a line more above its buttons."""
    blocks = [{"type": "context", "elements": [{"type": "mrkdwn", "text": escape(text)}]}, *message["blocks"][-1:]]
    return {**message, "blocks": [*message["blocks"][:-1], *blocks]}


def _excerpts(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    told = [
        (f"{finding['rule']}  {each['source']}:{each['line']}", each["text"])
        for finding in report["findings"]
        for each in finding["evidence"]
    ]
    return told or [(f"{each['source']}:{each['line']}", each["text"]) for each in report["suspects"]]


def _button(action: str, label: str, value: str) -> dict[str, Any]:
    return {"type": "button", "action_id": action, "text": _text(label), "value": value}


def _text(label: str) -> dict[str, str]:
    return {"type": "plain_text", "text": label}
