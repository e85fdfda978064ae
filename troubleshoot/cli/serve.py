"""`troubleshoot serve`: the HTTP API over the same rules."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from troubleshoot import limits
from troubleshoot.cli.options import common_options, pack_options
from troubleshoot.errors import UsageError

OPTIONS_VARIABLE = "TROUBLESHOOT_SERVE_OPTIONS"  # how the options reach worker processes, which uvicorn starts anew


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
@pack_options
@common_options
def serve(
    host: str,
    port: int,
    workers: int,
    max_bytes: int,
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    color: str,
    quiet: bool,
) -> int:
    """Serve the HTTP API. POST a log to /v1/scan."""
    import uvicorn

    for folder in rules:
        if not Path(folder).exists():
            raise UsageError(f"no such file or folder: {folder}", help="--rules takes folders of rules")
    _check_address(host, port)
    options = {"rules": rules, "default_rules": default_rules, "drafts": drafts, "max_bytes": max_bytes}
    os.environ[OPTIONS_VARIABLE] = json.dumps(options)
    uvicorn.run(
        "troubleshoot.cli.serve:app",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        log_level="warning" if quiet else "info",
        use_colors={"always": True, "never": False}.get(color),
    )
    return 0


def app() -> Any:
    """Return the application with the options of the command that started this process."""
    from troubleshoot.api.app import create_app

    options = json.loads(os.environ.get(OPTIONS_VARIABLE, "{}"))
    return create_app([Path(each) for each in options.pop("rules", ())], **options)


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
            f"cannot listen at {host}:{port}: {error.strerror or error}", help="choose another --port"
        ) from error
