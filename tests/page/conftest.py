"""A real browser on a real server: Debian's Chromium, driven by Playwright, over a socket of this machine.

Every page watches itself: a test fails on a script error, on a message of the console's, and on any request that leaves
the server under test.
"""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from troubleshoot.api.app import create_app
from troubleshoot.api.options import ServiceOptions

sync_api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright (extra `dev`)")

CORPUS = Path(__file__).parents[2] / "corpus"
ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MAX_BYTES = 48 * 1024 * 1024

NewPage = Callable[..., Any]


def chromium_path() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("Chromium is missing: install Debian's package `chromium`")
    return found


@contextmanager
def serving(options: ServiceOptions) -> Iterator[str]:
    """Serve the shipped pack; give the address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    app = create_app(watch=False, max_bytes=MAX_BYTES, options=options)
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.02)
    assert server.started, "the server did not start"
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(timeout=10)


@pytest.fixture(scope="session")
def base_url() -> Iterator[str]:
    """The address of a service that stores nothing."""
    with serving(ServiceOptions()) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    path = chromium_path()
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGS))
        yield browser
        browser.close()


@pytest.fixture
def new_page(browser: Any, base_url: str) -> Iterator[NewPage]:
    """Open pages: `new_page(width=320, color_scheme="dark", java_script_enabled=False)`, on the start page."""
    with watched_pages(browser, base_url) as open_page:
        yield open_page


@contextmanager
def watched_pages(browser: Any, base_url: str) -> Iterator[NewPage]:
    """Give a function that opens pages of the service; fail at the end if one of them had trouble."""
    contexts: list[Any] = []
    troubles: list[str] = []

    def open_page(path: str = "/", *, width: int = 1440, height: int = 900, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce", **options)
        contexts.append(context)
        context.set_default_timeout(10_000)
        context.on("request", lambda request: troubles.extend(_outside(request.url, base_url)))
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("console", lambda message: troubles.extend(_complaint(message)))
        page.goto(base_url + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


def _outside(url: str, base_url: str) -> list[str]:
    return [] if url.startswith((base_url + "/", "blob:" + base_url)) else [f"request to the outside: {url}"]


def _complaint(message: Any) -> list[str]:
    # a refused scan is answered with a status that the browser reports by itself
    is_ours = message.type in ("error", "warning") and "Failed to load resource" not in message.text
    return [f"console: {message.text}"] if is_ours else []


@pytest.fixture
def page(new_page: NewPage) -> Any:
    return new_page()


def log_of(incident: str) -> str:
    """Return the first log of an incident of the corpus."""
    return next(iter(sorted((CORPUS / incident).glob("*.log")))).read_text("utf-8", "replace")


def scan(page: Any, text: str) -> None:
    """Put a text into the field, ask for the cause, and wait for the answer with its log."""
    page.locator("#text").fill(text)
    page.locator("#text").press("Control+Enter")
    wait_for_answer(page)


def wait_for_answer(page: Any) -> None:
    page.locator("#answer-title").wait_for()
    page.locator(".log-line").first.wait_for()
