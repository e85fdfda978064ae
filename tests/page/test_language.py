"""The pages in the reader's language: chosen by the browser's list, or by the reader, who is remembered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.page.conftest import NewPage, scan, serving, wait_for_answer, watched_pages
from troubleshoot.api.options import ServiceOptions

EFA = (
    "mpirun: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found "
    "(required by /opt/amazon-efa-ofi/openmpi/lib/libopen-rte.so.40)\n"
)
TITLE = "镜像的 C 库太旧，无法使用挂载的 EFA 软件栈，后者需要 GLIBC 2.34"


def test_the_browsers_language_is_spoken(new_page: NewPage) -> None:
    page = new_page(locale="zh-CN")
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    expect(page.locator("#question")).to_have_text("作业为什么失败？")
    scan(page, EFA)
    expect(page.locator("#answer-title")).to_have_text(TITLE)
    expect(page.locator(".headline .part").first).to_have_text("证据")
    expect(page.locator(".headline .fix-title").first).to_contain_text("先弄清是哪一种情况")
    expect(page.locator(".headline .command").first).to_contain_text("ldd --version | head -1")


def test_a_chosen_language_is_remembered(new_page: NewPage) -> None:
    page = new_page(locale="en-US")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.get_by_role("link", name="简体中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    page.get_by_role("link", name="规则", exact=True).click()
    expect(page.locator("h1")).to_have_text("规则")
    page.get_by_role("link", name="English").click()
    expect(page.locator("h1")).to_have_text("Rules")


def test_an_answer_is_there_again_in_the_other_language(new_page: NewPage) -> None:
    page = new_page(locale="en-US")
    scan(page, EFA)
    page.get_by_role("link", name="简体中文").click()
    wait_for_answer(page)
    expect(page.locator("#answer-title")).to_have_text(TITLE)
    assert page.evaluate("sessionStorage.length") == 0
    page.reload()
    expect(page.locator("#start")).to_be_visible()


def test_rules_are_searched_in_the_language(new_page: NewPage) -> None:
    page = new_page("/rules", locale="zh-CN")
    page.locator("#q").fill("软件栈 太旧")
    expect(page.locator("#found")).to_contain_text("条规则")
    expect(page.locator('[data-rule="efa/glibc-too-old-for-auto-mount"]')).to_be_visible()
    expect(page.locator('[data-rule="gpu/fell-off-bus"]')).to_be_hidden()
    page.goto(page.url.split("/rules")[0] + "/rules/efa/not-used")
    expect(page.get_by_role("heading", name="处理办法")).to_be_visible()


def test_without_javascript_the_answer_speaks_it_too(new_page: NewPage) -> None:
    page = new_page(locale="zh-CN", java_script_enabled=False)
    page.locator("#text").fill(EFA)
    page.locator("#submit").click()
    expect(page.get_by_role("heading", name="镜像的 C 库太旧").first).to_be_visible()
    expect(page.get_by_role("heading", name="处理办法").first).to_be_visible()


def test_every_kind_of_answer_has_words(new_page: NewPage) -> None:
    page = new_page(locale="zh-CN")
    for log in (EFA, "Traceback (most recent call last):\nZorkError: x\n", "all is well\n"):
        scan(page, log)
        for english in ("Evidence", "What was read", "severity", "Nothing found", "worth reading", "Take it along"):
            assert english not in page.locator("#result").inner_text()
        page.get_by_role("button", name="换一个日志").click()


def test_a_link_speaks_the_language_of_whoever_opens_it(browser: Any, tmp_path: Path) -> None:
    options = ServiceOptions(store=f"sqlite:///{tmp_path / 'store.db'}")
    with serving(options) as address, watched_pages(browser, address) as new_page:
        page = new_page(locale="en-US")
        scan(page, EFA)
        page.get_by_role("button", name="Make a link").click()
        link = page.locator("#link").input_value()
        reader = new_page(link.removeprefix(address), locale="zh-CN")
        expect(reader.locator("#answer-title")).to_have_text(TITLE)
        expect(reader.locator("html")).to_have_attribute("lang", "zh-CN")
