"""From a log to its answer, as somebody in a browser gets it."""

from __future__ import annotations

import gzip
import io
import json
import re
import tarfile
import zipfile
from typing import Any

from playwright.sync_api import expect

from tests.page.conftest import CORPUS, MAX_BYTES, NewPage, log_of, scan, wait_for_answer

FORK = log_of("torch-fork-enomem-one-rank")
SHM = log_of("nccl-shm-too-small")


def test_paste_gives_cause_evidence_and_fix(new_page: NewPage) -> None:
    page = new_page(permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", SHM)
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.press("Control+V")
    page.keyboard.press("Control+Enter")
    wait_for_answer(page)
    expect(page.locator("h1#answer-title")).to_have_text("NCCL could not make its shared memory in /dev/shm")
    expect(page.locator("#answer-title")).to_be_focused()
    expect(page.locator(".standing")).to_contain_text("high confidence")
    expect(page.locator(".headline .rule-id")).to_have_attribute("href", "/rules/nccl/shared-memory-full")
    expect(page.locator(".headline .quote mark").first).to_contain_text("failed to extend /dev/shm/nccl-")
    page.locator(".fix .copy").first.click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator(".fix pre").first.inner_text().strip("\n")


def test_symptoms_are_folded_below_the_cause(page: Any) -> None:
    scan(page, FORK)
    symptoms = page.locator(".symptoms")
    expect(symptoms.locator(".folded").first).to_be_hidden()
    symptoms.locator("summary").first.click()
    expect(symptoms).to_contain_text("torchrun ended the job because a worker failed")
    symptoms.locator(".folded summary").first.click()
    expect(symptoms.locator(".folded-body .where").first).to_be_visible()


def test_chosen_platform_has_the_first_tab(page: Any) -> None:
    page.locator("#platform").select_option("sagemaker")
    scan(page, FORK)
    tabs = page.locator(".headline [role=tablist]").first
    expect(tabs.locator("[role=tab]").first).to_have_text("SageMaker")
    expect(tabs.locator("[role=tab]").first).to_have_attribute("aria-selected", "true")
    tabs.locator("[role=tab]").first.press("ArrowRight")
    chosen = tabs.locator("[aria-selected=true]")
    expect(chosen).to_be_focused()
    panel = page.locator(f"#{chosen.get_attribute('aria-controls')}")
    expect(panel).to_be_visible()
    assert page.locator(".headline .tabs").first.locator("[role=tabpanel]:visible").count() == 1


def test_unknown_fault_shows_the_lines_worth_reading(page: Any) -> None:
    scan(page, log_of("gpu-ddp-rank-exits-3"))
    expect(page.locator("#answer-title")).to_have_text("No rule knows this fault")
    expect(page.locator(".headline .quote").first).to_contain_text("data manifest version 7 does not match")
    expect(page.locator(".log-line.is-current .log-text")).to_contain_text("data manifest version 7 does not match")


def test_clean_log_says_what_was_read_and_what_cannot_be_told(page: Any) -> None:
    scan(page, log_of("nccl-healthy-warn"))
    expect(page.locator("#answer-title")).to_have_text("Nothing found in this log")
    expect(page.locator(".undecided")).to_contain_text("NCCL_DEBUG=INFO")
    expect(page.locator(".read summary")).to_contain_text("13 lines")


def test_confirmation_is_no_alarm(page: Any) -> None:
    scan(page, log_of("healthy-toolchain-check"))
    expect(page.locator(".confirmed .folded")).to_have_count(1)
    assert page.locator(".level.high, .level.critical").count() == 0


def drop(page: Any, files: dict[str, str]) -> None:
    transfer = page.evaluate_handle(
        """files => {
            const transfer = new DataTransfer();
            for (const [name, text] of Object.entries(files)) transfer.items.add(new File([text], name));
            return transfer;
        }""",
        files,
    )
    for event in ("dragenter", "dragover", "drop"):
        page.dispatch_event("body", event, {"dataTransfer": transfer})


def test_dropped_files_are_scanned_as_one_job(page: Any) -> None:
    drop(page, {"worker-0.log": SHM, "worker-1.log": "step 1\nstep 2\n"})
    expect(page.locator("#files li")).to_have_count(3)  # and all of them
    expect(page.locator("#submit")).to_be_focused()
    page.keyboard.press("Enter")
    wait_for_answer(page)
    expect(page.locator(".headline .place").first).to_have_text("worker-0.log:5")
    expect(page.locator("#source option")).to_have_count(2)
    page.locator("#source").select_option("worker-1.log")
    expect(page.locator(".log-amount")).to_have_text("2 lines")
    expect(page.locator(".log-line").nth(1)).to_contain_text("step 2")


def test_job_of_many_logs_tells_who_failed_first(page: Any) -> None:
    folder = CORPUS / "torch-log-tree-two-faults"
    logs = [path for path in sorted(folder.rglob("*")) if path.suffix in (".log", ".json")]
    given = [{"name": str(path.relative_to(folder)), "mimeType": "", "buffer": path.read_bytes()} for path in logs]
    page.set_input_files("#file", given)
    page.locator("#submit").click()
    wait_for_answer(page)
    job = page.locator(".job")
    expect(job.locator("h2")).to_have_text("Rank 3 on gpu-node-17 failed first")
    expect(job.locator(".fates")).to_contain_text("0-2")
    job.locator("summary").click()
    job.locator(".event", has_text="last step").locator(".place").click()
    expect(page.locator("#source")).to_have_value(re.compile(r"attempt_0/\d/stdout\.log$"))
    expect(page.locator(".log-line.is-chosen")).to_be_in_viewport()


def test_files_can_be_taken_away(page: Any) -> None:
    drop(page, {f"worker-{at}.log": "x" for at in range(40)})
    expect(page.locator("#files")).to_contain_text("and 10 files more")
    page.get_by_role("button", name="Take away worker-0.log").click()
    expect(page.locator("#files")).to_contain_text("and 9 files more")
    page.get_by_role("button", name="Take all away").click()
    expect(page.locator("#files")).to_be_hidden()
    expect(page.locator("#text")).to_be_focused()


def test_file_dropped_on_an_answer_starts_anew(page: Any) -> None:
    scan(page, "step 1\n")
    drop(page, {"worker-0.log": SHM})
    expect(page.locator("#files li")).to_have_count(1)
    expect(page.locator("#answer-title")).to_have_count(0)


def tar_of(files: dict[str, str]) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return target.getvalue()


def zip_of(files: dict[str, str]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return target.getvalue()


def test_compressed_files_and_archives_are_shown_too(page: Any) -> None:
    deep = f"{'very-' * 30}long/rank1/stderr.log"  # longer than a tar header's name
    given = {
        "job.log.gz": gzip.compress(SHM.encode()),
        "logs.tar.gz": tar_of({"rank0/stdout.log": "step 1\n", deep: SHM}),
        "bundle.zip": zip_of({"rank2/stderr.log": SHM}),
        "wide.log": SHM.encode("utf-16"),
    }
    page.set_input_files("#file", [{"name": n, "mimeType": "", "buffer": data} for n, data in given.items()])
    page.locator("#submit").click()
    wait_for_answer(page)
    names = {
        "job.log.gz",
        "logs.tar.gz/rank0/stdout.log",
        f"logs.tar.gz/{deep}",
        "bundle.zip/rank2/stderr.log",
        "wide.log",
    }
    assert names == set(page.locator("#source option").evaluate_all("all => all.map(each => each.value)"))
    for name in names - {"logs.tar.gz/rank0/stdout.log"}:
        page.locator("#source").select_option(name)
        expect(page.locator(".log-amount")).to_have_text("82 lines")
        expect(page.locator(".log-line[data-line='5'] .log-text")).to_contain_text("NCCL WARN Error: failed to extend")
    expect(page.locator(".log-note")).to_be_hidden()


def test_downloads(page: Any) -> None:
    scan(page, SHM)
    take = page.locator(".take")
    with page.expect_download() as saved:
        take.get_by_role("button", name="JSON").click()
    assert saved.value.suggested_filename == "troubleshoot.json"
    report = json.loads(saved.value.path().read_text())
    assert (report["verdict"], report["findings"][0]["rule"]) == ("fault", "nccl/shared-memory-full")
    with page.expect_download() as saved:
        take.get_by_role("button", name="Markdown", exact=True).click()
    assert "## NCCL could not make its shared memory in /dev/shm" in saved.value.path().read_text()


def test_too_large_a_log_is_refused_before_it_is_sent(page: Any) -> None:
    posts: list[str] = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    page.evaluate(
        """size => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([new Uint8Array(size)], 'big.log'));
            document.getElementById('file').files = transfer.files;
            document.getElementById('file').dispatchEvent(new Event('change'));
        }""",
        MAX_BYTES + 1,
    )
    expect(page.locator("#problem")).to_contain_text("at most 48 MiB")
    page.locator("#submit").click()
    expect(page.locator("#start")).to_be_visible()
    assert posts == []


def test_problem_of_the_service_is_told_in_words(page: Any) -> None:
    body = json.dumps({"status": 503, "detail": "too many large logs at once", "help": "try again in a moment"})
    page.route(
        "**/v1/scan*", lambda route: route.fulfill(status=503, body=body, content_type="application/problem+json")
    )
    page.locator("#text").fill("x")
    page.locator("#submit").click()
    expect(page.locator("#problem")).to_have_text("Too many large logs at once. Try again in a moment.")
    expect(page.locator("#text")).to_have_value("x")


def test_scan_can_be_cancelled(page: Any) -> None:
    page.route("**/v1/scan*", lambda route: None)  # it never answers
    page.locator("#text").fill(SHM)
    page.locator("#submit").click()
    expect(page.locator("#phase")).to_be_visible()
    page.locator("#cancel").click()
    expect(page.locator("#start")).to_be_visible()
    expect(page.locator("#text")).to_have_value(SHM)


def test_sample_log_has_an_answer(page: Any) -> None:
    page.locator("#sample").click()
    wait_for_answer(page)
    expect(page.locator(".headline .fix").first).to_be_visible()
    page.get_by_role("button", name="Another log").click()
    expect(page.locator("#text")).to_be_focused()
    expect(page.locator("#text")).to_have_value("")


def test_log_below_the_answer_has_a_way_back(new_page: NewPage) -> None:
    page = new_page(width=800, height=700)
    scan(page, SHM)
    page.locator(".headline .quote .place").first.click()
    expect(page.locator(".log-line.is-current").first).to_be_in_viewport()
    expect(page.locator("#answer-title")).not_to_be_in_viewport()
    page.get_by_role("link", name="Back to the answer").click()
    expect(page.locator("#answer-title")).to_be_in_viewport()
    expect(page.locator("#answer-title")).to_be_focused()
