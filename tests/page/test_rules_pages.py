"""The list of rules and the page of each, with and without JavaScript; the plain form."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.page.conftest import NewPage, log_of
from troubleshoot.rulepack.load import load_pack

SHM = log_of("nccl-shm-too-small")


def test_list_narrows_while_one_types(new_page: NewPage) -> None:
    page = new_page("/rules")
    expect(page.locator("#found")).to_contain_text("rules")
    page.locator("#q").fill("glibc too old")
    expect(page.locator("[data-rule='loader/glibc-too-old']")).to_be_visible()
    expect(page.locator("[data-rule='nccl/shared-memory-full']")).to_be_hidden()
    assert page.url.endswith("/rules?q=glibc%20too%20old")
    page.locator("#q").fill("no such thing anywhere")
    expect(page.locator("#none")).to_be_visible()
    expect(page.locator(".domain:visible")).to_have_count(0)
    page.locator("#q").fill("")
    expect(page.locator(".domain").first).to_be_visible()


def test_list_is_searched_without_javascript(new_page: NewPage) -> None:
    page = new_page("/rules", java_script_enabled=False)
    page.locator("#q").fill("shared memory")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("[data-rule='nccl/shared-memory-full']")).to_be_visible()
    expect(page.locator("[data-rule='loader/glibc-too-old']")).to_be_hidden()


def test_rule_page_has_the_headings_and_links_to_its_echoes(new_page: NewPage) -> None:
    page = new_page("/rules")
    page.locator("[data-rule='efa/glibc-too-old-for-auto-mount'] a").click()
    headings = ["What you see", "What it means", "What to do", "How to be sure", "What looks alike", "References"]
    expect(page.locator(".prose h2")).to_have_text(headings)  # all of them, in this order, once the page is there
    page.locator(".prose a[href='/rules/loader/glibc-too-old']").first.click()
    expect(page.locator("h1")).to_contain_text("The C library is too old")


def test_every_rule_has_a_page(base_url: str) -> None:
    pack = load_pack()
    with httpx.Client(base_url=base_url) as client:
        failed = [id for id in pack.rules if client.get(f"/rules/{id}").status_code != 200]
    assert failed == []


def test_rule_that_does_not_exist(base_url: str) -> None:
    response = httpx.get(base_url + "/rules/<script>alert(1)</script>")
    assert response.status_code == 404
    assert "<script>alert" not in response.text


def test_form_works_without_javascript(new_page: NewPage) -> None:
    page = new_page(java_script_enabled=False)
    page.locator("#text").fill(SHM)
    page.locator("#platform").select_option("kubernetes")
    page.locator("#submit").click()
    answer = page.locator(".answer-plain")
    expect(answer.locator("h2").first).to_have_text("NCCL could not make its shared memory in /dev/shm")
    expect(answer).to_contain_text("paste:5")
    expect(answer.locator("a[href='/rules/nccl/shared-memory-full']").first).to_be_visible()


def test_files_are_sent_without_javascript(new_page: NewPage) -> None:
    page = new_page(java_script_enabled=False)
    page.set_input_files("#file", [{"name": "job.log", "mimeType": "", "buffer": SHM.encode()}])
    page.locator("#submit").click()
    expect(page.locator(".answer-plain")).to_contain_text("job.log:5")


def test_empty_form_is_told_so_without_javascript(new_page: NewPage) -> None:
    page = new_page(java_script_enabled=False)
    page.locator("#submit").click()
    expect(page.locator("#problem")).to_have_text("there is no log to read: paste one, or choose a file")


def test_sample_fills_the_field_without_javascript(new_page: NewPage) -> None:
    page = new_page(java_script_enabled=False)
    page.locator("#sample").click()
    assert "Cannot allocate memory" in page.locator("#text").input_value()


def test_too_large_a_form_is_refused_in_words(base_url: str) -> None:
    response = httpx.post(base_url + "/", files={"file": ("big.log", b"x" * (49 * 1024 * 1024))})
    assert response.status_code == 413
    assert "is larger than" in response.text


def test_start_page_needs_little(page: Any) -> None:
    sizes: list[int] = page.evaluate("performance.getEntriesByType('resource').map(each => each.encodedBodySize)")
    assert sum(sizes) < 300_000


@pytest.mark.parametrize(
    ("path", "status", "title"),
    [("/nowhere", 404, "No such page"), ("/history?before=soon", 422, "The address does not fit")],
)
def test_address_that_is_none_is_told_on_a_page(new_page: NewPage, path: str, status: int, title: str) -> None:
    page = new_page("/")
    response = page.goto(page.url.rstrip("/") + path)
    assert response.status == status
    expect(page.locator("h1")).to_have_text(title)
    assert "default-src 'self'" in response.headers["content-security-policy"]


def test_programs_are_told_in_problem_details(base_url: str) -> None:
    for path in ("/nowhere", "/history?before=soon", "/v1/nowhere"):
        accept = {"Accept": "text/html"} if path.startswith("/v1") else {}
        assert httpx.get(base_url + path, headers=accept).headers["content-type"] == "application/problem+json"
