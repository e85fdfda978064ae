"""The app's manifest: what Slack asks for when the app is made ("From a manifest").

python -m troubleshoot.slack.manifest https://troubleshoot.example.com > manifest.yaml
python -m troubleshoot.slack.manifest --socket-mode > manifest.yaml
"""

from __future__ import annotations

import sys
from typing import Any

import yaml

USAGE = "usage: python -m troubleshoot.slack.manifest URL | --socket-mode"


def manifest(url: str | None) -> dict[str, Any]:
    """Return the manifest for a service at `url`, or for Socket Mode where there is none."""
    events = f"{url.rstrip('/')}/slack/events" if url else None
    command = {
        "command": "/troubleshoot",
        "description": "Find the known fault in an error's text",
        "usage_hint": "[error text]",
        "should_escape": False,
    }
    subscriptions: dict[str, Any] = {"bot_events": ["app_mention", "message.im"]}
    interactivity: dict[str, Any] = {"is_enabled": True}
    if events:
        command["url"] = events
        subscriptions["request_url"] = events
        interactivity["request_url"] = events
    return {
        "_metadata": {"major_version": 1, "minor_version": 1},
        "display_information": {
            "name": "Troubleshoot",
            "description": "Finds the known fault in the log of a failed training job",
            "background_color": "#1f2937",
        },
        "features": {
            "app_home": {
                "home_tab_enabled": False,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "troubleshoot", "always_online": True},
            "shortcuts": [
                {
                    "name": "Troubleshoot this log",
                    "type": "message",
                    "callback_id": "troubleshoot_message",
                    "description": "Read the text and files of this message",
                }
            ],
            "slash_commands": [command],
        },
        "oauth_config": {
            "scopes": {"bot": ["app_mentions:read", "chat:write", "commands", "files:read", "im:history"]}
        },
        "settings": {
            "event_subscriptions": subscriptions,
            "interactivity": interactivity,
            "org_deploy_enabled": False,
            "socket_mode_enabled": events is None,
            "token_rotation_enabled": False,
        },
    }


def main() -> int:
    arguments = sys.argv[1:]
    if len(arguments) != 1 or not (arguments[0] == "--socket-mode" or arguments[0].startswith("https://")):
        print(USAGE, file=sys.stderr)
        return 2
    url = None if arguments[0] == "--socket-mode" else arguments[0]
    print(yaml.safe_dump(manifest(url), sort_keys=False), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
