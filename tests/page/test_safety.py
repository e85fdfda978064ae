"""Logs come from strangers: nothing in one becomes markup, script or a request, and nothing turns its words around."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.page.conftest import NewPage, scan

HOSTILE = """\
<script>window.hacked = 1</script><img src=x onerror="window.hacked = 2"><svg onload=window.hacked=3>
RuntimeError: CUDA error: out of memory </pre></code><iframe src="https://evil.example/"></iframe>
OSError: [Errno 28] No space left on device: '<img src=//evil.example/x onerror=window.hacked=4>.pt'
ModuleNotFoundError: No module named '<script>window.hacked=5</script>'
[click me](javascript:window.hacked=6) ![](https://evil.example/pixel) https://evil.example/link
{{ 7 * 7 }} {% include "/etc/passwd" %} ${7 * 7} `code` ``` ~~~ | a | b |
\x1b]0;title\x07\x1b[31mred\x1b[0m \u202edesrever\u202c zero\u200bwidth \x00nul \x08back
[rank0]: OSError: [Errno 12] Cannot allocate memory <b onmouseover=window.hacked=7>bold</b>
"""


def is_unharmed(page: Any) -> None:
    assert page.evaluate("window.hacked") is None
    assert page.locator("iframe, img, main script, [onerror], [onload], [onmouseover]").count() == 0
    assert page.locator("main a[href^='javascript:'], main a[href*='evil.example']").count() == 0


def test_hostile_log_is_only_text(page: Any) -> None:
    scan(page, HOSTILE)
    for summary in page.locator("summary").all():
        if summary.is_visible():
            summary.click()
    is_unharmed(page)
    expect(page.locator(".log-line[data-line='1'] .log-text")).to_contain_text("<script>window.hacked = 1</script>")
    expect(page.locator(".answer")).to_contain_text("<img src=//evil.example/x onerror=window.hacked=4>")


def test_control_and_direction_characters_are_written_out(page: Any) -> None:
    scan(page, HOSTILE)
    line = page.locator(".log-line[data-line='7'] .log-text")
    text = line.inner_text()
    assert "\\u202edesrever\\u202c" in text and "\\u200b" in text and "\\x00nul \\x08back" in text
    assert "\\x1b]0;title\\x07red " in text, "colours are left out, other commands are shown"
    assert not set("\x1b\x00\x08\u202e\u200b") & set(text)
    expect(line.locator(".control").first).to_be_visible()


def test_hostile_file_names_are_only_text(page: Any) -> None:
    name = '<img src=x onerror=window.hacked=1>\u202egol.log"'
    page.set_input_files(
        "#file", [{"name": name, "mimeType": "", "buffer": b"OSError: [Errno 28] No space left on device"}]
    )
    expect(page.locator(".file-name")).to_contain_text("<img src=x onerror=window.hacked=1>\\u202egol.log")
    page.locator("#submit").click()
    page.locator("#answer-title").wait_for()
    is_unharmed(page)


def test_hostile_log_without_javascript(new_page: NewPage) -> None:
    page = new_page(java_script_enabled=False)
    page.locator("#text").fill(HOSTILE)
    page.locator("#submit").click()
    expect(page.locator(".answer-plain h2").first).to_be_visible()
    content = page.content()
    assert "<script>window" not in content and "<img" not in content and "<iframe" not in content
    assert page.locator("main a[href^='javascript:'], main a[href*='evil.example']").count() == 0
    assert "49" not in page.locator(".answer-plain").inner_text().split()


@pytest.mark.parametrize(
    "path", ["/", "/rules", "/rules/efa/not-used", "/rules/no/such", "/static/app.js", "/static/log/pane.js"]
)
def test_headers_forbid_what_a_page_never_needs(base_url: str, path: str) -> None:
    headers = httpx.get(base_url + path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'self';") and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "same-origin")


def test_answers_are_never_cached(base_url: str) -> None:
    for response in (
        httpx.post(base_url + "/", data={"text": "x"}),
        httpx.post(base_url + "/v1/scan", content="x", headers={"content-type": "text/plain"}),
    ):
        assert (response.status_code, response.headers["cache-control"]) == (200, "no-store")
