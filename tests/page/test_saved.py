"""Links to answers and feedback, on a service with a store: kept only when asked for, readable, deletable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.page.conftest import NewPage, log_of, scan, serving, watched_pages
from tests.page.test_access import RULES, violations
from troubleshoot.api.options import ServiceOptions

pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy")
SHM = log_of("nccl-shm-too-small") + "export HF_TOKEN=hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH\n"


@pytest.fixture(scope="module")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service with a store."""
    file = tmp_path_factory.mktemp("store") / "reports.db"
    with serving(ServiceOptions(store=f"sqlite:///{file}")) as address:
        yield address


@pytest.fixture
def new_page(browser: Any, store_url: str) -> Iterator[NewPage]:
    with watched_pages(browser, store_url) as open_page:
        yield open_page


def make_link(page: Any) -> str:
    """Scan, ask for a link, return it."""
    expect(page.locator("#limits")).to_contain_text("The log is not stored")
    scan(page, SHM)
    page.get_by_role("button", name="Make a link").click()
    expect(page.locator("#link")).to_be_focused()
    link: str = page.locator("#link").input_value()
    return link


def test_link_shows_the_answer_with_the_lines_it_quotes(new_page: NewPage, store_url: str) -> None:
    link = make_link(new_page())
    assert re.fullmatch(re.escape(store_url) + r"/r/[A-Za-z0-9_-]{22}", link)
    other = new_page(link.removeprefix(store_url) + "#L41")
    expect(other.locator("#answer-title")).to_have_text("NCCL could not make its shared memory in /dev/shm")
    expect(other.locator("#answer-title")).to_be_focused()
    expect(other.locator(".log-note")).to_contain_text("lines that the answer quotes")
    expect(other.locator(".log-line.is-current[data-line='41']")).to_be_in_viewport()
    other.keyboard.press("n")
    expect(other.locator(".log-line.is-current")).not_to_have_attribute("data-line", "41")
    with other.expect_download() as saved:
        other.locator(".take").get_by_role("button", name="Markdown", exact=True).click()
    assert "## NCCL could not make" in saved.value.path().read_text()
    assert other.get_by_role("button", name="Delete it").count() == 0
    expect(other.locator(".take")).to_contain_text(re.compile(r"can read the answer until \d{4}-\d\d-\d\d \d\d:"))


def test_link_works_without_javascript(new_page: NewPage, store_url: str) -> None:
    link = make_link(new_page())
    other = new_page(link.removeprefix(store_url), java_script_enabled=False)
    expect(other.locator(".answer-plain h2").first).to_have_text("NCCL could not make its shared memory in /dev/shm")


def test_maker_deletes_the_link_even_later(new_page: NewPage) -> None:
    page = new_page()
    link = make_link(page)
    page.goto(link)
    page.get_by_role("button", name="Delete it").click()
    expect(page.locator("#question")).to_be_visible()
    response = httpx.get(link)
    assert (response.status_code, "No such answer" in response.text) == (404, True)


def test_deleting_at_once_offers_a_new_link(new_page: NewPage) -> None:
    page = new_page()
    link = make_link(page)
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_role("button", name="Make a link")).to_be_focused()
    assert httpx.get(link).status_code == 404


def test_saved_answer_is_private_and_without_secrets(new_page: NewPage) -> None:
    link = make_link(new_page())
    response = httpx.get(link)
    assert response.headers["cache-control"] == "no-store"
    assert "noindex" in response.text and "hf_aBcDeF" not in response.text
    assert "hf_aBcDeF" not in httpx.get(link.replace("/r/", "/v1/reports/")).text


@pytest.mark.parametrize("width", [1440, 320])
def test_axe_finds_nothing_on_a_saved_answer(new_page: NewPage, store_url: str, width: int) -> None:
    page = new_page(width=width, bypass_csp=True)
    link = make_link(page)
    assert violations(page, RULES) == []
    page.goto(link)
    page.locator(".log-line").first.wait_for()
    assert violations(page, RULES) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_feedback_is_noted(new_page: NewPage, store_url: str) -> None:
    page = new_page()
    scan(page, SHM)
    row = page.locator(".headline .feedback")
    row.get_by_role("button", name="The fix worked").click()
    expect(row).to_contain_text("Thank you, noted.")
    expect(row.get_by_role("button", name="The fix worked")).to_have_attribute("aria-pressed", "true")
    feedback = httpx.get(store_url + "/v1/stats/rules").json()["feedback"]
    assert feedback["nccl/shared-memory-full"]["fixed"] == 1


@pytest.mark.parametrize("id", ["nope", "AAAAAAAAAAAAAAAAAAAAAA", "%3Cscript%3Ealert(1)%3C%2Fscript%3E"])
def test_link_that_leads_nowhere(store_url: str, base_url: str, id: str) -> None:
    for service in (store_url, base_url):
        response = httpx.get(f"{service}/r/{id}")
        assert response.status_code == 404
        assert "<script>alert" not in response.text


def test_nothing_is_offered_without_a_store(browser: Any, base_url: str) -> None:
    with watched_pages(browser, base_url) as open_page:
        page = open_page()
        scan(page, SHM)
        expect(page.locator(".take")).to_contain_text("Nothing is stored")
        assert page.get_by_role("button", name="Make a link").count() == 0
        assert page.locator(".feedback").count() == 0


def test_link_for_outsiders_has_no_addresses(new_page: NewPage) -> None:
    page = new_page()
    scan(page, "ann@example.com on 198.51.100.7: OSError: [Errno 28] No space left on device\n")
    page.get_by_label("without e-mail and IP addresses").check()
    page.get_by_role("button", name="Make a link").click()
    link = page.locator("#link").input_value()
    text = httpx.get(link.replace("/r/", "/v1/reports/")).text
    assert "No space left on device" in text
    assert "ann@example.com" not in text and "198.51.100.7" not in text
