"""What the bot is told by its environment: tokens, the signing secret, where Slack is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from troubleshoot.errors import UsageError

API_URL = "https://slack.com/api/"
FILE_HOSTS = ("files.slack.com", "files.slack-gov.com")


@dataclass(frozen=True, slots=True)
class SlackSettings:
    """`app_token` makes it Socket Mode; otherwise Slack calls `POST /slack/events`, signed with `signing_secret`.

    `file_hosts` are the hosts that may see the bot's token; a host with a port may be asked without TLS, for tests."""

    bot_token: str
    signing_secret: str | None = None
    app_token: str | None = None
    api_url: str = API_URL
    file_hosts: tuple[str, ...] = FILE_HOSTS
    public_url: str | None = None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> SlackSettings:
        """Raises UsageError where something is missing: an unsigned bot is never started."""
        token = environment.get("SLACK_BOT_TOKEN", "")
        secret = environment.get("SLACK_SIGNING_SECRET") or None
        app_token = environment.get("SLACK_APP_TOKEN") or None
        if not token.startswith("xox"):
            raise UsageError("--slack needs SLACK_BOT_TOKEN", help="the bot token of the installed app, xoxb-...")
        if secret is None and app_token is None:
            raise UsageError(
                "--slack needs SLACK_SIGNING_SECRET, or SLACK_APP_TOKEN for Socket Mode",
                help="both stand under Basic Information of the app",
            )
        url = environment.get("TROUBLESHOOT_PUBLIC_URL", "").rstrip("/") or None
        hosts = tuple(filter(None, environment.get("SLACK_FILE_HOSTS", "").split(","))) or FILE_HOSTS
        return cls(token, secret, app_token, environment.get("SLACK_API_URL") or API_URL, hosts, url)
