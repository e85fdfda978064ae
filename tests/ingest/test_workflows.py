"""GitHub Actions delivers each log twice; it is read once."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from reading import rows_of

from troubleshoot.engine import Engine
from troubleshoot.ingest import open_sources
from troubleshoot.ingest.workflows import repeated_steps

MARK = b"\xef\xbb\xbf"
STEPS = {
    "1_Set up job.txt": b"2026-11-30T20:15:04.1234567Z Current runner version\n" * 20,
    "2_Run tests.txt": b"2026-11-30T20:15:05.1234567Z torch.OutOfMemoryError: "
    b"CUDA out of memory. Tried to allocate 2.00 GiB\n",
}
FILES = {
    "0_build (3.11).txt": MARK + b"".join(STEPS.values()),
    **{f"build (3.11)/{name}": MARK + text for name, text in STEPS.items()},
    "build (3.11)/system.txt": b"2026-11-30T20:15:04.1234567Z Requested labels\n",
}


def write(path: Path, files: dict[str, bytes], form: str) -> Path:
    if form == "zip":
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
        path = path / "logs_1.zip"
        path.write_bytes(out.getvalue())
        return path
    for name, data in files.items():
        file = path / "logs" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return path / "logs"


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_each_step_is_read_once(tmp_path: Path, form: str) -> None:
    path = write(tmp_path, FILES, form)
    found = {source.source.name: (rows_of(source), source.notes()) for source in open_sources([path])}
    read = sorted(name.removeprefix(f"{path}/") for name, (rows, _) in found.items() if rows)
    assert read == ["0_build (3.11).txt", "build (3.11)/system.txt"]
    assert [note.code for _, notes in found.values() for note in notes] == ["repeated"]


def test_fault_counts_once(tmp_path: Path) -> None:
    report = Engine.default().scan_paths([write(tmp_path, FILES, "zip")])
    (finding,) = [each for each in report.findings if "out-of-memory" in each.rule or "oom" in each.rule][:1]
    assert {each.source.rpartition("/")[2] for each in finding.evidence} == {"0_build (3.11).txt"}


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_steps_are_read_where_the_jobs_file_was_cut(tmp_path: Path, form: str) -> None:
    path = write(tmp_path, FILES | {"0_build (3.11).txt": MARK + b"Current runner version\n"}, form)
    assert sum(bool(rows_of(source)) for source in open_sources([path])) == 4


def test_other_files_are_no_steps() -> None:
    assert repeated_steps({"0_a.txt": 9, "b/1_x.txt": 3, "a/notes.txt": 2, "deep/a/1_x.txt": 1}) == frozenset()
    assert repeated_steps({"r/0_a.txt": 9, "r/a/1_x.txt": 3}) == {"r/a/1_x.txt"}
