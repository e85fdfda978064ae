"""The pages over the store: saved answers, statistics, unknown faults and the rule that is started from one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.page.conftest import NewPage, log_of, scan, serving, watched_pages
from tests.page.test_access import CONTRAST, RULES, violations
from troubleshoot.api.keys import new_key, write_keys
from troubleshoot.api.options import ServiceOptions

pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy")
SHM = log_of("nccl-shm-too-small")
HOSTILE = "ZorkError: the <img src=x onerror=alert(1)> at 10.1.2.3 gave up after {} s: $(reboot) 'LOG' \x1b[31m\nLOG\n"
RULE = "nccl/shared-memory-full"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service that has seen some logs."""
    file = tmp_path_factory.mktemp("records") / "reports.db"
    with serving(ServiceOptions(store=f"sqlite:///{file}", keep_days=5, history_days=60)) as address:
        with httpx.Client(base_url=address, timeout=60) as client:
            for number in range(3):
                client.post("/v1/scan", content=HOSTILE.format(number))
            for number in range(32):
                client.post(f"/v1/scan?save=true&name=<b>worker-{number}.log", content=SHM)
            client.post("/v1/scan?save=true&name=zork.log", content=HOSTILE.format(9))
            for fingerprint, comment in (("1", "it was <i>another</i> node"), ("2", "")):
                body = {"rule": RULE, "verdict": "wrong", "fingerprint": fingerprint, "comment": comment}
                client.post("/v1/feedback", json=body).raise_for_status()
            end = time.monotonic() + 20
            while not client.get("/v1/unknown-faults?at_least=4").json() and time.monotonic() < end:
                time.sleep(0.1)
        yield address


@pytest.fixture
def new_page(browser: Any, service: str) -> Iterator[NewPage]:
    with watched_pages(browser, service) as open_page:
        yield open_page


def paths(service: str) -> list[str]:
    (fault,) = httpx.get(f"{service}/v1/unknown-faults?q=zork").json()
    at_fault = f"/unknown-faults/{fault['id']}"
    return [
        *("/history", "/history?q=no-such", "/statistics", f"/statistics?rule={RULE}&days=60", "/unknown-faults"),
        *("/unknown-faults?q=no-such", at_fault),
    ]


@pytest.mark.parametrize("width", [1440, 320])
def test_axe_finds_nothing_light_and_dark_and_nothing_is_too_wide(new_page: NewPage, service: str, width: int) -> None:
    page = new_page("/rules", width=width, bypass_csp=True)
    for path in paths(service):
        page.emulate_media(color_scheme="light")
        page.goto(service + path)
        for summary in page.locator("summary").all():
            summary.click()
        assert (path, violations(page, RULES)) == (path, [])
        page.emulate_media(color_scheme="dark")
        assert (path, violations(page, CONTRAST)) == (path, [])
        assert (path, page.evaluate("document.documentElement.scrollWidth")) == (path, width)


def test_saved_answers_are_found_opened_and_paged(new_page: NewPage) -> None:
    page = new_page("/")
    page.get_by_role("link", name="Records").click()
    expect(page.locator("h1")).to_have_text("Saved answers")
    expect(page.locator(".lead")).to_contain_text("5 days")
    expect(page.locator(".saved > li")).to_have_count(30)
    page.get_by_role("link", name="Older answers").click()
    expect(page.locator(".saved > li")).to_have_count(3)
    page.get_by_role("link", name="Back to the newest").click()
    page.get_by_label("Search the saved answers").fill("zork.log")
    page.keyboard.press("Enter")
    expect(page.locator(".saved > li")).to_have_count(1)
    page.get_by_label("Search the saved answers").fill("")
    page.get_by_label("Verdict").select_option("fault")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".saved-facts").first).to_contain_text("<b>worker-31.log")
    page.locator(".saved a").first.click()
    expect(page.locator("#answer-title")).to_have_text("NCCL could not make its shared memory in /dev/shm")


def test_statistics_tell_scans_findings_and_what_people_said(new_page: NewPage) -> None:
    page = new_page("/statistics")
    expect(page.locator(".tiles .card").first).to_contain_text("36")
    expect(page.locator(".chart rect.is-fault title")).to_contain_text("32 known fault")
    expect(page.locator(".lead")).to_contain_text("60 days")
    row = page.locator(".tallies > li").first
    expect(row).to_contain_text("2 wrong")
    expect(row.locator(".said")).to_have_class("said is-wrong")
    expect(page.locator(".comment")).to_have_text("it was <i>another</i> node")
    row.get_by_role("link").click()
    expect(page.locator("h1")).to_have_text("NCCL could not make its shared memory in /dev/shm")
    page.get_by_text("The numbers as a table").click()
    expect(page.locator(".chart tbody td")).to_have_text("32")
    page.get_by_role("link", name="7 days").click()
    expect(page.locator("[aria-current=true]")).to_have_text("7 days")
    assert RULE in page.url


def test_page_of_a_rule_leads_to_how_often_it_was_found(new_page: NewPage) -> None:
    page = new_page(f"/rules/{RULE}")
    page.get_by_role("link", name="How often it was found").click()
    expect(page.locator(".chart figcaption")).to_have_text("Logs in which it was found, per day")


def test_rule_is_started_from_an_unknown_fault_that_came_back(new_page: NewPage, service: str) -> None:
    page = new_page("/unknown-faults", permissions=["clipboard-read", "clipboard-write"])
    card = page.locator(".unknown-fault").first
    expect(card).to_contain_text("4 times")
    expect(card.locator(".unknown-line")).to_contain_text("<img src=x onerror=alert(1)> at [redacted:ip]")
    card.get_by_role("link", name="Start a rule").click()
    page.get_by_label("Name it").fill("framework/zork-gave-up")
    page.keyboard.press("Enter")
    expect(page.locator(".draft")).to_contain_text("gave up after {after:duration}")
    page.get_by_role("button", name="Copy the command").click()
    copied = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert copied[0] == "troubleshoot rules new framework/zork-gave-up --dir my-rules << 'LOG'"
    assert copied[-2:] == ["LOG", "troubleshoot rules check my-rules/framework/zork-gave-up.yaml"]
    assert not any("\x1b" in line for line in copied)
    with page.expect_download() as saved:
        page.get_by_role("link", name="zork-gave-up.yaml").click()
    assert saved.value.path().read_text() == page.locator(".draft").inner_text()


def test_keyboard_alone_starts_a_rule(new_page: NewPage) -> None:
    page = new_page("/unknown-faults")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent").startswith("Start a rule"):
            break
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Start a rule")
    seen = set()
    for _ in range(16):
        page.keyboard.press("Tab")
        seen.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    assert {"id", "draft", "copy", "button"} <= seen


def test_name_that_no_rule_can_have_is_told(new_page: NewPage, service: str) -> None:
    page = new_page(f"{paths(service)[-1]}?id=Zork%20It")
    expect(page.locator("#problem")).to_contain_text("did you mean `domain/zork-it`?")
    expect(page.get_by_label("Name it")).to_have_attribute("aria-invalid", "true")


def test_records_work_without_javascript_and_a_fault_leaves_the_list(new_page: NewPage, service: str) -> None:
    httpx.post(f"{service}/v1/scan", content="QuuxError: gone quux\n").raise_for_status()
    end = time.monotonic() + 20
    while not httpx.get(f"{service}/v1/unknown-faults?at_least=1&q=quux").json() and time.monotonic() < end:
        time.sleep(0.1)
    page = new_page("/unknown-faults", java_script_enabled=False)
    expect(page.locator(".unknown-fault")).to_have_count(1)
    page.get_by_role("link", name="Show those that came up once").click()
    expect(page.locator(".unknown-fault")).to_have_count(2)
    page.locator(".unknown-fault", has_text="quux").get_by_role("button", name="Take off the list").click()
    page.get_by_role("link", name="Show those that came up once").click()
    expect(page.locator(".unknown-fault")).to_have_count(1)


def test_records_are_not_offered_where_nothing_is_kept(browser: Any, base_url: str) -> None:
    with watched_pages(browser, base_url) as open_page:
        page = open_page("/")
        assert page.get_by_role("link", name="Records").count() == 0
        response = page.goto(f"{base_url}/history")
        assert response.status == 404
        expect(page.locator("h1")).to_have_text("Nothing is kept")


def test_titles_of_rules_are_in_the_readers_language(new_page: NewPage) -> None:
    page = new_page("/statistics?lang=zh-CN")
    title = page.locator(".tallies a").first
    expect(title).to_contain_text("NCCL")
    assert any("\u4e00" <= char <= "\u9fff" for char in title.inner_text())


def test_saved_answer_is_deleted_after_a_second_thought(new_page: NewPage, service: str) -> None:
    saved = httpx.post(f"{service}/v1/scan?save=true&name=oops.log", content=SHM)
    page = new_page("/history?q=oops.log", java_script_enabled=False)
    row = page.locator(".saved > li")
    expect(row.get_by_role("button", name="Delete for good")).to_be_hidden()
    row.locator("summary").click()
    row.get_by_role("button", name="Delete for good").click()
    expect(page.locator("h1")).to_have_text("Saved answers")
    assert httpx.get(service + saved.headers["location"]).status_code == 404


def test_reader_is_offered_what_the_key_may_open(browser: Any, tmp_path: Path) -> None:
    made = {scope: new_key(scope, [scope]) for scope in ("read", "admin")}
    write_keys(tmp_path / "keys.json", [key for _, key in made.values()])
    options = ServiceOptions(store=f"sqlite:///{tmp_path / 'store.db'}", keys_file=str(tmp_path / "keys.json"))
    offered = {"read": ["Statistics"], "admin": ["Saved answers", "Statistics", "Unknown faults"]}
    with serving(options) as address, watched_pages(browser, address) as open_page:
        for scope, (secret, _) in made.items():
            page = open_page("/", http_credentials={"username": "anybody", "password": secret})
            page.get_by_role("link", name="Records").click()
            expect(page.locator(".subnav a")).to_have_text(offered[scope])
            assert page.goto(f"{address}/history").status == (200 if scope == "admin" else 403)
        page.goto(address)
        scan(page, SHM)
        page.get_by_role("button", name="Make a link").click()
        expect(page.locator("#link")).to_be_focused()
        page.goto(f"{address}/history")
        expect(page.locator(".saved > li")).to_have_count(1)
