"""The site's search, in a real browser, from a folder: no server, no network."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from troubleshoot.docs.site import build_site
from troubleshoot.rulepack.load import load_pack

sync_api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright (extra `dev`)")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
PASTED = {
    "version `GLIBC_2.34' not found (required by /opt/amazon-efa-ofi/lib/x.so)": "efa/glibc-too-old-for-auto-mount",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB": "cuda/out-of-memory",
    "GLIBC_2.34' not found": "efa/glibc-too-old-for-auto-mount",
    "No space left on device": "storage/no-space-left",
}


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is missing: install Debian's package `chromium`")
def test_a_pasted_line_finds_its_rule_from_a_folder(tmp_path: Path) -> None:
    build_site(load_pack(overrides=None), tmp_path)
    with sync_api.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(offline=True)
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto((tmp_path / "rules/efa/not-used.html").as_uri())
        for line, rule in PASTED.items():
            page.fill("#q", line)
            shown = [each.inner_text() for each in page.query_selector_all("#results li code")]
            assert rule in shown[:3], (line, shown)
        page.fill("#q", "zzzzqqq")
        assert "No page" in page.inner_text("#results")
        page.fill("#q", next(iter(PASTED)))
        page.press("#q", "Enter")
        page.keyboard.press("Enter")
        page.wait_for_load_state()
        assert page.url.startswith("file:") and "rules/" in page.url
        assert said == []
        browser.close()
