"""`--context N`: the lines around the evidence, as grep -C shows them."""

from __future__ import annotations

import gzip
import json
import os
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from troubleshoot.cli.app import cli
from troubleshoot.report.schema import report_schema

FAULT = (
    "mpirun: /lib/x86_64-linux-gnu/{}: version `GLIBC_2.38' not found "
    "(required by /opt/amazon-efa-ofi/openmpi/lib/libopen-rte.so.40)"
)
LOG = "".join(f"line {number}\n" for number in range(1, 10))
LOG += f"{FAULT.format('libc.so.6')}\nline 11\n{FAULT.format('libm.so.6')}\nline 13\nline 14\n"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "job.log"
    path.write_text(LOG)
    return path


def run(*arguments: str, input: str | None = None) -> Result:
    return CliRunner().invoke(cli, arguments, input=input)


def evidence(result: Result) -> list[dict[str, Any]]:
    report = json.loads(result.stdout)
    jsonschema.validate(report, report_schema())
    found: list[dict[str, Any]] = report["findings"][0]["evidence"]
    return found


def places(result: Result) -> list[str]:
    shown = result.stdout.partition("Evidence\n")[2].partition("\n\n")[0]
    return [line.split()[0] for line in shown.split("\n") if line.startswith("  ") and not line.startswith("   ")]


def test_evidence_stands_among_its_neighbours_each_line_once(log: Path) -> None:
    assert places(run("-C", "2", "job.log")) == [
        "job.log-8", "job.log-9", "job.log:10", "job.log-11", "job.log:12", "job.log-13", "job.log-14"
    ]  # fmt: skip


def test_stretches_are_set_apart(log: Path) -> None:
    log.write_text(LOG.replace("line 11\n", "line\n" * 20))
    assert places(run("-C", "1", "job.log")).count("--") == 1


def test_without_the_option_nothing_changes(log: Path) -> None:
    assert places(run("job.log")) == ["job.log:10", "job.log:12"]
    assert all("before" not in each for each in evidence(run("job.log", "-f", "json")))


def test_json_has_the_lines_before_and_after(log: Path) -> None:
    first, second = evidence(run("--context", "1", "job.log", "-f", "json"))
    assert (first["before"], first["after"]) == (["line 9"], ["line 11"])
    assert (second["before"], second["after"]) == (["line 11"], ["line 13"])


def test_standard_input_and_archives_have_neighbours_too(log: Path) -> None:
    assert evidence(run("-C", "1", "-f", "json", input=LOG))[0]["before"] == ["line 9"]
    Path("job.log.gz").write_bytes(gzip.compress(LOG.encode()))
    assert evidence(run("-C", "1", "-f", "json", "job.log.gz"))[0]["before"] == ["line 9"]
    assert evidence(run("-C", "1", "-f", "json", "job.log.gz", "-", input="x\n"))[0]["before"] == ["line 9"]


def test_lines_far_into_a_large_log_are_found(log: Path) -> None:
    log.write_text("padding of some width here\n" * 400_000 + LOG)
    (first, _) = evidence(run("-C", "1", "-f", "json", "job.log"))
    assert (first["line"], first["before"]) == (400_010, ["line 9"])


def test_secrets_and_control_codes_of_neighbours_never_show(log: Path) -> None:
    token = "hf_" + "abcdefghijklmnopqrstuvwxyzabcdefgh"
    log.write_text(LOG.replace("line 9\n", f"\x1b[31mtoken={token}\n").replace("line 11", "by jane@example.com"))
    result = run("-C", "1", "--anonymize", "job.log")
    assert token not in result.stdout
    assert "[redacted:huggingface-token]" in result.stdout
    assert "jane@example.com" not in result.stdout
    assert "\x1b" not in result.stdout


def test_lines_of_an_unknown_failure_have_neighbours(log: Path) -> None:
    log.write_text("before it\nRuntimeError: zorp exploded in blib\nafter it\n")
    shown = run("-C", "1", "job.log").stdout
    assert "    before it\n    RuntimeError: zorp exploded in blib\n    after it\n" in shown


def test_a_pipe_is_not_waited_for_a_second_time(log: Path) -> None:
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_text(LOG))
    writer.start()
    result = run("-C", "1", "pipe")
    writer.join()
    assert "note: pipe: could not be read again" in result.stdout
    assert places(result) == ["pipe:10", "pipe:12"]


def test_postmortem_takes_it_and_follow_does_not(log: Path) -> None:
    assert evidence(run("postmortem", "-C", "1", "-f", "json", "job.log"))[0]["before"] == ["line 9"]
    refused = run("--follow", "-C", "1", "job.log")
    assert (refused.exit_code, "--context does not go with --follow" in refused.stderr) == (2, True)
    assert run("-C", "101", "job.log").exit_code == 2
