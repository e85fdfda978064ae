"""Logs that a browser cannot open (xz, bzip2, zstd): the service opens them, and the log stands beside the answer."""

from __future__ import annotations

import bz2
import io
import lzma
import tarfile
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import zstandard
from playwright.sync_api import expect

from tests.page.conftest import log_of, serving, wait_for_answer, watched_pages
from tests.page.test_access import RULES, violations
from troubleshoot.api.options import ServiceOptions

SHM = log_of("nccl-shm-too-small")
SECRET = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"
FULL = "OSError: [Errno 28] No space left on device"


def upload(page: Any, name: str, data: bytes) -> None:
    page.set_input_files("#file", [{"name": name, "mimeType": "", "buffer": data}])
    page.locator("#submit").click()
    wait_for_answer(page)


@pytest.mark.parametrize(
    ("name", "pack"),
    [("a.log.xz", lzma.compress), ("a.log.bz2", bz2.compress), ("a.log.zst", zstandard.ZstdCompressor().compress)],
)
def test_log_stands_beside_the_answer_at_its_evidence(page: Any, name: str, pack: Any) -> None:
    upload(page, name, pack(f"{SHM}export HF_TOKEN={SECRET}\n".encode()))
    expect(page.locator(".log-note")).to_contain_text("The service opened this log, secrets taken out.")
    expect(page.locator(".log-line.is-current mark.is-match")).to_be_in_viewport()
    lines = SHM.count("\n") + 1
    expect(page.locator(".log-amount")).to_have_text(f"{lines} lines")
    page.locator("#filter").fill("HF_TOKEN")
    expect(page.locator(".log-line")).to_have_count(1)
    expect(page.locator(".log-line")).to_contain_text("[redacted:huggingface-token]")
    assert SECRET not in page.content()


def test_member_of_a_packed_archive_is_shown(page: Any) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as archive:
        for name, text in (("job/rank0.log", "all good\n"), ("job/rank1.log", SHM)):
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    upload(page, "job.tar.xz", packed.getvalue())
    expect(page.locator(".log-line.is-current")).to_be_in_viewport()
    page.locator("#source").select_option("job.tar.xz/job/rank0.log")
    expect(page.locator(".log-line").first).to_contain_text("all good")


def test_long_log_comes_in_parts_with_its_own_line_numbers(page: Any) -> None:
    filler = [f"step {at} loss 1.0 and some forty letters more of text" for at in range(1, 400_001)]
    for at in (1_001, 200_001, 399_001):
        filler[at - 1] = FULL
    upload(page, "big.log.zst", zstandard.ZstdCompressor().compress("\n".join(filler).encode()))
    for line in (1_001, 200_001, 399_001):
        current = page.locator(f".log-line.is-current[data-line='{line}']")
        expect(current).to_be_in_viewport()
        expect(current).to_contain_text("No space left on device")
        page.keyboard.press("n")
    expect(page.locator(".log-line.is-current")).to_have_attribute("data-line", "1001")
    expect(page.locator(".log-note")).to_contain_text("a part of it")
    last = int(page.locator(".log-amount").inner_text().split()[-1].replace(",", ""))
    page.get_by_role("button", name="Later lines").click()
    expect(page.locator(f".log-line[data-line='{last + 1}']")).to_be_in_viewport()
    page.get_by_role("button", name="Earlier lines").click()
    page.locator(".log-line").first.wait_for()


def test_quotes_are_shown_with_the_reason_where_the_service_refuses(page: Any) -> None:
    body = {"status": 503, "detail": "too many large logs at once"}
    page.route("**/v1/log*", lambda route: route.fulfill(status=503, json=body))
    upload(page, "a.log.xz", lzma.compress(SHM.encode()))
    expect(page.locator(".log-note")).to_have_text(
        "The service could not open this log: too many large logs at once. These are the lines that the answer quotes."
    )
    expect(page.locator(".log-line.is-current")).to_be_in_viewport()


@pytest.fixture(scope="module")
def keeping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a service that keeps logs where its callers want that."""
    file = tmp_path_factory.mktemp("keeping") / "reports.db"
    with serving(ServiceOptions(store=f"sqlite:///{file}", keep_logs=True)) as address:
        yield address


@pytest.mark.parametrize("width", [1440, 320])
def test_log_is_kept_with_the_answer_only_where_its_reader_says_so(browser: Any, keeping: str, width: int) -> None:
    with watched_pages(browser, keeping) as open_page:
        page = open_page("/", width=width, bypass_csp=True)
        upload(page, "a.log.xz", lzma.compress(f"{SHM}export HF_TOKEN={SECRET}\n".encode()))
        assert violations(page, RULES) == []
        for with_log in (False, True):
            page.get_by_label("with the log").set_checked(with_log)
            page.get_by_role("button", name="Make a link").click()
            link = page.locator("#link").input_value()
            other = open_page(link.removeprefix(keeping), width=width)
            other.locator(".log-line.is-current").wait_for()
            note = "stored with the answer" if with_log else "The log was not stored"
            expect(other.locator(".log-note")).to_contain_text(note)
            kept = httpx.get(link.replace("/r/", "/v1/reports/") + "/log")
            assert kept.status_code == (200 if with_log else 404)
            if with_log:
                assert kept.text == f"{SHM}export HF_TOKEN=[redacted:huggingface-token]\n"
            page.get_by_role("button", name="Delete it").click()
            page.get_by_role("button", name="Make a link").wait_for()
