"""What is shown of a log that only the service can open: its lines under their numbers, bounded, without secrets."""

from __future__ import annotations

import bz2
import io
import lzma
import tarfile

import pytest
import zstandard
from fastapi.testclient import TestClient

from troubleshoot.api.app import create_app
from troubleshoot.api.faults import NotFoundError
from troubleshoot.api.viewing import CUT, redacted_logs, view_source

SECRET = "hf_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD2f"
LOG = "".join(f"line {number}\n" for number in range(1, 2001))


@pytest.mark.parametrize(
    ("ending", "compress"),
    [("xz", lzma.compress), ("bz2", bz2.compress), ("zst", zstandard.ZstdCompressor().compress)],
)
def test_compressed_log_is_shown(ending: str, compress: object) -> None:
    data = compress(f"{LOG}HF_TOKEN={SECRET}\n".encode())  # type: ignore[operator]  # a function of the table
    view = view_source({f"a.log.{ending}": data}, f"a.log.{ending}")
    assert view.text == f"{LOG}HF_TOKEN=[redacted:huggingface-token]\n"
    assert (view.first_line, view.more_before, view.more_after) == (1, False, False)


def test_member_of_an_archive_is_shown() -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz") as archive:
        for name, text in (("a/0.log", "zero\n"), ("a/1.log", "one\n")):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    uploads = {"job.tar.xz": packed.getvalue()}
    assert view_source(uploads, "job.tar.xz/a/1.log").text == "one\n"
    assert dict(redacted_logs(uploads)) == {"job.tar.xz/a/0.log": "zero\n", "job.tar.xz/a/1.log": "one\n"}
    with pytest.raises(NotFoundError, match="no log of that name"):
        view_source(uploads, "../../etc/passwd")


@pytest.mark.parametrize("around", [1, 2, 700, 1999, 2000, 2001, 9_999])
@pytest.mark.parametrize("most", [200, 3000, 100_000])
def test_lines_around_one_are_shown_under_their_numbers(
    around: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("troubleshoot.api.viewing.READ_BYTES", 64)
    view = view_source({"a.log": LOG.encode()}, "a.log", around, most)
    lines = view.text.splitlines()
    assert len(view.text) <= most + 64
    assert lines == [f"line {view.first_line + at}" for at in range(len(lines))]
    assert view.first_line <= min(around, 2001)
    if around <= 2000:
        assert f"line {around}" in lines
    assert view.more_before == (view.first_line > 1)
    assert view.more_after == (not LOG.endswith(view.text) or not lines)


def test_line_without_an_end_is_bounded() -> None:
    view = view_source({"a.log": b"x" * 3_000_000 + b"\nend\n"}, "a.log", 2, 100_000)
    assert (view.text, view.first_line) == ("end\n", 2)
    assert view.more_before


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-8"])
def test_encoding_is_that_of_the_scan(encoding: str) -> None:
    text = "première ligne\nzwei ärgerliche Zeilen\n" * 20
    assert view_source({"a.log": text.encode(encoding)}, "a.log").text == text


def test_kept_logs_are_bounded_and_say_so() -> None:
    kept = list(redacted_logs({"a.log": LOG.encode(), "b.log": LOG.encode(), "c.log": b"x"}, most=len(LOG) + 300))
    assert kept[0] == ("a.log", LOG)
    assert kept[1][1].endswith(f"\n{CUT}")
    assert len(kept) == 3 or kept[-1] == ("...", CUT)


def test_log_is_read_over_http() -> None:
    with TestClient(create_app(watch=False)) as client:
        packed = lzma.compress(f"{LOG}HF_TOKEN={SECRET}\n".encode())
        names = [each["name"] for each in client.post("/v1/scan", files={"file": ("a.xz", packed)}).json()["sources"]]
        answer = client.post("/v1/log", params={"source": names[0], "around": 7}, files={"file": ("a.xz", packed)})
        assert answer.json()["text"].splitlines()[6] == "line 7"
        assert SECRET not in answer.text
        assert answer.headers["cache-control"] == "no-store"
        missing = client.post("/v1/log?source=nope", files={"file": ("a.xz", packed)})
        assert (missing.status_code, missing.headers["content-type"]) == (404, "application/problem+json")
        assert client.post("/v1/log?around=0", content=LOG).status_code == 422
