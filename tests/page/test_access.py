"""Usable by everybody: axe finds nothing in any state, the keyboard does all, 320 pixels are enough."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.page.conftest import NewPage, log_of, scan

axe_module = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")

SHM = log_of("nccl-shm-too-small")
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}, "resultTypes": ["violations"]}


def start(page: Any) -> None:
    page.set_input_files("#file", [{"name": "a.log", "mimeType": "", "buffer": b"x"}])


def problem(page: Any) -> None:
    page.locator("#submit").click()
    expect(page.locator("#problem")).to_be_visible()


def busy(page: Any) -> None:
    silent = socket.create_server(("127.0.0.1", 0))  # takes what is sent and never answers
    address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
    page.route("**/v1/scan*", lambda route: route.continue_(url=address))
    page.once("close", lambda _: silent.close())
    page.locator("#text").fill("x")
    page.locator("#submit").click()
    expect(page.locator("#phase")).to_contain_text("Scanning")


def answer(page: Any) -> None:
    scan(page, log_of("nccl-file-descriptor-limit"))
    for summary in page.locator(".answer summary").all():
        if summary.is_visible():
            summary.click()


def unknown(page: Any) -> None:
    scan(page, log_of("gpu-ddp-rank-exits-3"))


def clean(page: Any) -> None:
    scan(page, log_of("nccl-healthy-warn"))


def confirmed(page: Any) -> None:
    scan(page, log_of("healthy-toolchain-check"))
    page.locator(".confirmed summary").click()


def job(page: Any) -> None:
    files = [
        {"name": f"rank{at}/stderr.log", "mimeType": "", "buffer": log_of("torch-fork-enomem-one-rank").encode()}
        for at in range(2)
    ]
    page.set_input_files("#file", files)
    page.locator("#submit").click()
    page.locator(".job .more summary").click()


def several(page: Any) -> None:
    files = [{"name": f"w{at}.log", "mimeType": "", "buffer": SHM.encode()} for at in range(2)]
    page.set_input_files("#file", files)
    page.locator("#submit").click()
    page.locator(".log-line.is-current").first.wait_for()
    page.locator("#filter").fill("rank")
    page.locator("mark.is-found").first.wait_for()


def keys(page: Any) -> None:
    scan(page, SHM)
    page.keyboard.press("?")


def as_it_is(page: Any) -> None:
    page.locator("h1").wait_for()


STATES: dict[str, tuple[str, Callable[[Any], None]]] = {
    "start": ("/", start),
    "problem": ("/", problem),
    "busy": ("/", busy),
    "answer": ("/", answer),
    "unknown": ("/", unknown),
    "clean": ("/", clean),
    "confirmed": ("/", confirmed),
    "job": ("/", job),
    "several": ("/", several),
    "keys": ("/", keys),
    "rules": ("/rules?q=efa", as_it_is),
    "rule": ("/rules/efa/not-used", as_it_is),
    "missing": ("/rules/no/such", as_it_is),
}


def violations(page: Any, options: dict[str, Any]) -> list[str]:
    """Return what axe objects to, a line each: the rule, the element, the reason."""
    found = axe_module.Axe().run(page, options=options).response["violations"]
    return [
        f"{each['id']}: {node['html'][:160]} {[why['message'] for why in node['any'][:1]]}"
        for each in found
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("state", STATES)
def test_axe_finds_nothing_light_and_dark(new_page: NewPage, state: str) -> None:
    path, reach = STATES[state]
    page = new_page(path, color_scheme="light", bypass_csp=True)  # axe sets styles of its own; the policy has its test
    reach(page)
    assert violations(page, RULES) == []
    page.emulate_media(color_scheme="dark")
    assert violations(page, CONTRAST) == []


@pytest.mark.parametrize("state", STATES)
def test_nothing_is_wider_than_320_pixels(new_page: NewPage, state: str) -> None:
    path, reach = STATES[state]
    page = new_page(path, width=320, height=640)
    reach(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    wide = page.evaluate(
        """() => [...document.querySelectorAll('body *')].filter(each => {
            const { right, width } = each.getBoundingClientRect();
            return width > 1 && right > 321 && !each.closest('.log-box, pre, .table, .vh, .skip');
        }).map(each => each.outerHTML.slice(0, 120))"""
    )
    assert wide == []


def test_keyboard_alone_goes_from_paste_to_fix_and_back(page: Any) -> None:
    page.keyboard.type("OSError: [Errno 28] No space left on device")
    page.keyboard.press("Tab")
    expect(page.locator("#file")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator("#submit")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#answer-title")).to_be_focused()
    expect(page.locator("#status")).to_have_text("Answer: A file system is full")
    seen = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.update(page.evaluate("[document.activeElement.id, ...document.activeElement.classList]"))
    assert {"rule-id", "place", "copy", "log-box", "filter"} <= seen, (
        "something cannot be reached, or the log is a trap"
    )
    page.get_by_role("button", name="Another log").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#text")).to_be_focused()


def test_focus_can_be_seen(page: Any) -> None:
    scan(page, SHM)
    page.keyboard.press("Tab")
    style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid"


def test_colours_follow_the_system_and_the_switch(new_page: NewPage) -> None:
    page = new_page(color_scheme="dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert dark != page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.reload()
    expect(page.locator("#theme")).to_have_attribute("aria-label", "Colours: light")


def test_print_shows_everything_but_the_log(page: Any) -> None:
    scan(page, log_of("torch-fork-enomem-one-rank"))
    page.emulate_media(media="print")
    expect(page.locator(".log")).to_be_hidden()
    expect(page.locator(".bar")).to_be_hidden()
    panels = page.locator(".headline .tabs").first.locator("[role=tabpanel]")
    assert panels.count() > 1
    for panel in panels.all():
        expect(panel).to_be_visible()
    expect(page.locator(".symptoms .folded-body").first).to_be_visible()
