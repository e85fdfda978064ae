"""`troubleshoot serve`: the HTTP API over the same rules, and what keeps it safe where others reach it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from troubleshoot import limits
from troubleshoot.cli.options import common_options, language_option, pack_options
from troubleshoot.errors import UsageError
from troubleshoot.language import LANGUAGES, shipped

OPTIONS_VARIABLE = "TROUBLESHOOT_SERVE_OPTIONS"  # how the options reach worker processes, which uvicorn starts anew
DRAIN_S = 30  # requests that run when the service is asked to stop have so long to end


def service_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options about who may ask for what, and how much of it."""
    for option in reversed(
        (
            click.option("--keys", type=click.Path(dir_okay=False), metavar="FILE",
                         help="Ask for API keys; FILE is made by `troubleshoot keys new`."),
            click.option("--insecure", is_flag=True, help="Serve others than this machine without asking for keys."),
            click.option("--rate", type=click.IntRange(0), metavar="N",
                         help="Requests a minute per key or address; 0 is no limit.  [default: 600, on loopback 0]"),
            click.option("--store", metavar="URL",
                         help="Keep reports, counts and feedback: sqlite:///FILE or postgresql://..."),
            click.option("--keep-days", type=click.IntRange(1, 3650), default=7, show_default=True,
                         help="How long a saved report is kept."),
            click.option("--history-days", type=click.IntRange(1, 3650), default=90, show_default=True,
                         help="How long counts, feedback and unknown faults are kept."),
            click.option("--keep-logs", is_flag=True, help="Let callers keep a log, redacted, beside its report."),
            click.option("--slack", is_flag=True,
                         help="Answer in Slack; tokens come from SLACK_BOT_TOKEN and SLACK_SIGNING_SECRET."),
            click.option("--mcp", is_flag=True, help="Give coding agents their tools at /mcp."),
            click.option("--scan-processes", type=click.IntRange(0), metavar="N",
                         help="Scans at once per worker; 0 scans in the worker itself.  [default: by cores]"),
            click.option("--scan-seconds", type=click.FloatRange(0.1), default=limits.REQUEST_S, show_default=True,
                         help="Longest scan; its process is stopped."),
            click.option("--scan-mb", type=click.IntRange(64), default=1024, show_default=True,
                         help="Most memory of a scan."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="Port to listen at.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option(
    "--max-bytes",
    type=click.IntRange(1),
    default=limits.BODY_BYTES,
    show_default=True,
    help="Largest request body, decompressed.",
)
@service_options
@language_option
@pack_options
@common_options
def serve(
    host: str,
    port: int,
    workers: int,
    max_bytes: int,
    lang: str,
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    color: str,
    quiet: bool,
    **service: Any,
) -> int:
    """Serve the HTTP API. POST a log to /v1/scan."""
    import uvicorn

    from troubleshoot.api.journal import log_config
    from troubleshoot.api.patience import PatientProtocol
    from troubleshoot.rulepack.files import list_layer

    for folder in rules:
        list_layer(Path(folder))  # a path that is no pack is told now, and not by a worker
    _check_address(host, port)
    options = {
        "rules": rules,
        "default_rules": default_rules,
        "drafts": drafts,
        "max_bytes": max_bytes,
        "options": {**_options(host, workers, **service), "language": _language(lang)},
    }
    os.environ[OPTIONS_VARIABLE] = json.dumps(options)
    signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn drains, then raises the signal again: we end with 0
    with _shared_metrics(workers):
        uvicorn.run(
            "troubleshoot.cli.serve:app",
            factory=True,
            host=host,
            port=port,
            workers=workers,
            log_config=log_config("warning" if quiet else "info"),
            access_log=False,  # ours says more, and nothing of queries
            server_header=False,
            http=PatientProtocol,
            timeout_graceful_shutdown=DRAIN_S,
        )
    return 0


def app() -> Any:
    """Return the application with the options of the command that started this process."""
    from troubleshoot.api.app import create_app
    from troubleshoot.api.options import ServiceOptions

    options = json.loads(os.environ.get(OPTIONS_VARIABLE, "{}"))
    service = ServiceOptions.from_json(options.pop("options", {}))
    return create_app([Path(each) for each in options.pop("rules", ())], options=service, **options)


def _options(
    host: str,
    workers: int,
    *,
    keys: str | None,
    insecure: bool,
    rate: int | None,
    store: str | None = None,
    keep_days: int = 7,
    history_days: int = 90,
    keep_logs: bool = False,
    slack: bool = False,
    mcp: bool = False,
    scan_processes: int | None,
    scan_seconds: float,
    scan_mb: int,
) -> dict[str, Any]:
    """Return the service's options as JSON. Raises UsageError for an address that others reach, without keys."""
    from troubleshoot.api.keys import read_keys
    from troubleshoot.api.options import DEFAULT_RATE_PER_MINUTE, LOOPBACK_HOSTS, default_scan_processes, is_loopback

    if store is not None:
        _check_store(store)
    if slack:
        _check_slack()
    if mcp:
        check_mcp()
    if keys is not None:
        read_keys(Path(keys))  # what is wrong with it is told now
    is_local = is_loopback(host)
    if keys is None and not is_local and not insecure:
        raise UsageError(
            f"others reach {host}, and no API keys are asked for",
            help="make one with `troubleshoot keys new` and give --keys FILE; or say --insecure",
        )
    return {
        "keys_file": keys,
        "rate_per_minute": (0 if is_local else DEFAULT_RATE_PER_MINUTE) if rate is None else rate,
        "hosts": LOOPBACK_HOSTS if is_local and keys is None else (),
        "is_private": is_local,
        "scan_processes": default_scan_processes(workers) if scan_processes is None else scan_processes,
        "scan_seconds": scan_seconds,
        "scan_memory_bytes": scan_mb << 20,
        "workers": workers,
        "store": store,
        "keep_days": keep_days,
        "history_days": history_days,
        "keep_logs": keep_logs,
        "slack": slack,
        "mcp": mcp,
    }


def _language(tag: str) -> str:
    """Return the language for requests that ask for none. Raises UsageError for one that the program does not speak."""
    language = shipped(tag)
    if language is None:
        raise UsageError(f"--lang: there are no words in {tag!r}", help=f"one of {', '.join(LANGUAGES)}")
    return language


def _check_store(url: str) -> None:
    """Raise UsageError if the store cannot be opened: the server would show a traceback, and exit with 3."""
    from sqlalchemy.exc import SQLAlchemyError

    from troubleshoot.store.database import open_database, parse_url

    parsed = parse_url(url)
    shown = parsed.render_as_string(hide_password=True)
    try:
        open_database(url).dispose()
    except ModuleNotFoundError as error:
        raise UsageError(f"{shown} needs {error.name}", help="pip install 'troubleshoot[postgres]'") from error
    except SQLAlchemyError as error:
        why = str(getattr(error, "orig", None) or error).strip().split("\n")[0]
        raise UsageError(f"the store {shown} cannot be opened: {why}", help="--store URL names it") from error


def check_mcp() -> None:
    """Raise UsageError where the extra is not installed."""
    import importlib.util

    if importlib.util.find_spec("mcp") is None:
        raise UsageError("this needs the extra `mcp`", help="pip install 'troubleshoot[mcp]'")


def _check_slack() -> None:
    """Raise UsageError where the bot could not start."""
    import importlib.util

    if importlib.util.find_spec("slack_bolt") is None or importlib.util.find_spec("aiohttp") is None:
        raise UsageError("--slack needs the extra `slack`", help="pip install 'troubleshoot[slack]'")
    from troubleshoot.slack.settings import SlackSettings

    SlackSettings.from_environment(os.environ)


def _shared_metrics(workers: int) -> Any:
    """Return a context in which several workers count into one folder, so that any of them answers for all."""
    import contextlib
    import tempfile

    from troubleshoot.api.options import MULTIPROC_VARIABLE

    if workers == 1 or MULTIPROC_VARIABLE in os.environ:
        return contextlib.nullcontext()
    folder = tempfile.TemporaryDirectory(prefix="troubleshoot-metrics-")
    os.environ[MULTIPROC_VARIABLE] = folder.name
    return folder


def _check_address(host: str, port: int) -> None:
    """Raise UsageError if the port cannot be had: uvicorn would exit with 1, which means something else here."""
    import socket

    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, proto) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise UsageError(
            f"cannot listen at {host}:{port}: {error.strerror or error}", help="choose another --host or --port"
        ) from error
