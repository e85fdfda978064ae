"""The command line as its users meet it: on real input, with the real engine and a pack of two small rules."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from troubleshoot import __version__
from troubleshoot.cli.app import cli
from troubleshoot.cli.scan import check_anything_read
from troubleshoot.errors import SourceError
from troubleshoot.model import Note, Report, SourceInfo, Verdict

ROOT = Path(__file__).parents[1]

RULE = """\
title: The frobnicator of {node} ran dry
severity: high
confidence: high
systems: [frob]
tags: [dry]
signatures: "frobnicator on {node:host} ran dry"
explanation: >
  It had nothing left to frobnicate.
fixes:
  - title: Refill it
    run: refill {node}
    verify: { run: "gauge {node}", expect: "full" }
references: [https://example.com/frob]
examples:
  - match: |
      frobnicator on node-1 ran dry
  - no_match: |
      frobnicator on node-1 is full
    why: nothing is wrong
"""
LOW_RULE = """\
title: The widget is dusty
severity: low
confidence: medium
signatures: "widget covered in dust"
explanation: >
  Dust.
fixes:
  - title: Wipe it
references: [https://example.com/dust]
examples:
  - match: |
      widget covered in dust
  - no_match: |
      widget is clean
    why: clean
"""
FAULT = "step 1\nfrobnicator on node-7 ran dry\nwidget covered in dust\n"
QUIET = "step 1\nstep 2\n"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    for name, text in (("frob/dry.yaml", RULE), ("frob/dusty.yaml", LOW_RULE)):
        path = tmp_path / "pack" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "pack"


@pytest.fixture(autouse=True)
def own_settings_and_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings of whoever runs the tests, no variable of theirs, and a working folder without a project above."""
    for name in list(os.environ):
        if name.startswith("TROUBLESHOOT_") or name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def run(*args: str, pack: Path | None = None, input: str | bytes | None = None) -> Result:
    rules = ["--no-default-rules", "--rules", str(pack)] if pack else []
    return CliRunner().invoke(cli, [*args, *rules], input=input)


def spawn(*args: str, input: bytes | None = b"", **extra: Any) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **extra.pop("env", {})}
    command = [sys.executable, "-m", "troubleshoot", *args]
    return subprocess.run(command, input=input, capture_output=True, env=environment, timeout=120, **extra)


# --- scan ------------------------------------------------------------------------------------------------------------


def test_path_gives_the_cause_its_evidence_and_its_fix(pack: Path, tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(FAULT)
    result = run("job.log", pack=pack)
    assert result.exit_code == 0
    assert result.stdout.startswith("The frobnicator of node-7 ran dry\nseverity high")
    for wanted in ("job.log:2  frobnicator on node-7 ran dry", "1. Refill it", "       refill node-7", "also found"):
        assert wanted.lower() in result.stdout.lower()
    assert result.stderr == ""


@pytest.mark.parametrize("args", [[], ["-"], ["scan"], ["scan", "-"]])
def test_standard_input_is_scanned(pack: Path, args: list[str]) -> None:
    result = run(*args, "--format", "json", pack=pack, input=FAULT)
    report = json.loads(result.stdout)
    assert (report["verdict"], report["findings"][0]["rule"]) == ("fault", "frob/dry")
    assert report["sources"][0]["name"] == "stdin"


def test_archive_on_standard_input_is_looked_into(pack: Path) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo("logs/rank-3.log")
        member.size = len(FAULT.encode())
        archive.addfile(member, io.BytesIO(FAULT.encode()))
    done = spawn("--format", "json", "--no-default-rules", "--rules", str(pack), input=packed.getvalue())
    report = json.loads(done.stdout)
    assert report["findings"][0]["rule"] == "frob/dry"
    assert report["findings"][0]["evidence"][0]["source"] == "stdin/logs/rank-3.log"


def test_standard_input_beside_a_path(pack: Path, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(QUIET)
    report = json.loads(run("a.log", "-", "--format", "json", pack=pack, input=FAULT).stdout)
    assert sorted(each["name"] for each in report["sources"]) == ["a.log", "stdin"]
    assert report["findings"][0]["evidence"][0]["source"] == "stdin"


def test_folder_named_like_a_command_is_reached_with_a_dot(pack: Path, tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "job.log").write_text(FAULT)
    assert "ran dry" in run("./rules", pack=pack).stdout
    assert "ran dry" in run("scan", "rules", pack=pack).stdout


@pytest.mark.parametrize("format", ["text", "json", "ndjson", "markdown", "slack", "github"])
def test_every_format_and_output_to_a_file(pack: Path, tmp_path: Path, format: str) -> None:
    shown = run("--format", format, pack=pack, input=FAULT)
    written = run("--format", format, "--output", "out", pack=pack, input=FAULT)
    assert (shown.exit_code, written.exit_code, written.stdout) == (0, 0, "")
    assert "node-7 ran dry" in shown.stdout
    assert "node-7 ran dry" in (tmp_path / "out").read_text()


def test_nothing_found_says_what_was_read(pack: Path) -> None:
    result = run(pack=pack, input=QUIET)
    assert result.stdout.startswith("Nothing found")
    assert "Read stdin: 2 lines, 14 bytes, with 2 rules" in result.stdout


# --- exit codes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "log", "code"),
    [
        ([], FAULT, 0),
        ([], QUIET, 0),
        (["--fail-on", "low"], FAULT, 1),
        (["--fail-on", "high"], FAULT, 1),
        (["--fail-on", "critical"], FAULT, 0),
        (["--fail-on", "critical", "--fail-on", "any"], FAULT, 1),
        (["--fail-on", "any"], QUIET, 0),
        (["--fail-on", "unknown"], FAULT, 0),
        (["--fail-on", "high", "--ignore", "frob/dry"], FAULT, 0),
        (["--fail-on", "low", "--min-severity", "high", "--ignore", "dry"], FAULT, 0),
        (["--fail-on", "unknown", "--ignore", "frob"], FAULT, 0),
        (["--fail-on", "low", "--max-findings", "1"], FAULT, 1),
        (["no-such.log"], None, 2),
        (["--no-such-option"], None, 2),
        (["--format", "xml"], FAULT, 2),
        (["--fail-on", "fatal"], FAULT, 2),
        (["--on", "mars"], FAULT, 2),
        (["--ignore", "frob/wet"], FAULT, 2),
        (["--rules", "no-such-folder"], FAULT, 2),
        (["--output", "no/such/folder/x"], FAULT, 2),
        (["--config", "no-such.toml"], FAULT, 2),
    ],
)
def test_exit_codes(pack: Path, args: list[str], log: str | None, code: int) -> None:
    result = run(*args, pack=pack, input=log)
    assert result.exit_code == code, result.output
    assert result.stderr.startswith("error: ") if code == 2 else result.stderr == ""
    assert "Traceback" not in result.output


def test_unknown_fault_fails_where_asked_for() -> None:
    log = 'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nZorkError: grue\n'
    assert run("--fail-on", "unknown", input=log).exit_code == 1
    assert run("--fail-on", "critical", input=log).exit_code == 0


def test_what_cannot_be_read_is_a_note_while_something_else_can(pack: Path, tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(FAULT)
    result = run("job.log", "gone.log", pack=pack)
    assert result.exit_code == 0
    assert "note: gone.log: no such file or folder" in result.stdout


def test_nothing_readable_is_an_error() -> None:
    report = Report(
        Verdict.CLEAN,
        sources=(SourceInfo("a.log", 0, 0), SourceInfo("b.log", 0, 0)),
        notes=(Note("unreadable", "cannot be opened: Permission denied", "a.log"), Note("unreadable", "gone", "b.log")),
    )
    with pytest.raises(SourceError, match=r"nothing could be read: a\.log: cannot be opened: Permission denied"):
        check_anything_read(report)
    check_anything_read(replace(report, notes=report.notes[:1]))  # an empty file was read; there was nothing in it


def test_wrong_words_get_a_suggestion(pack: Path) -> None:
    assert "did you mean 'rules'?" in run("rulse").stderr
    assert "did you mean 'frob/dry'?" in run("--ignore", "frob/dri", pack=pack, input=FAULT).stderr
    assert "--format" in run("--fromat", "json").stderr


def test_closed_pipe_is_quiet(pack: Path, tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text("frobnicator on node-7 ran dry\n" * 3000)
    command = f"{sys.executable} -m troubleshoot --format ndjson --no-default-rules --rules {pack} job.log | true"
    script = f"set -o pipefail; trap '' PIPE; {command}; echo ${{PIPESTATUS[0]}}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", script], capture_output=True, env=environment, timeout=120)
    assert done.stderr == b""
    assert done.stdout.strip() in (b"141", b"0")  # 0 where all was written before the reader went


def test_reader_that_goes_away_at_once(pack: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "troubleshoot", "rules", "list", "--no-default-rules", "--rules", str(pack)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        error = process.stderr.read()
        process.wait(timeout=60)
    assert (process.returncode, error) == (141, b"")


def test_interrupt_is_130(pack: Path) -> None:
    def take_interrupts() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a test run in the background may have been told to ignore them

    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "troubleshoot", "--no-default-rules", "--rules", str(pack), "-"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        preexec_fn=take_interrupts,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"step 1\n" * 200_000)  # more than a pipe holds: it is reading once this returns
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert (process.returncode, error.split(b":")[0].strip()) == (130, b"interrupted")


def test_interrupt_while_modules_are_loaded_has_no_traceback() -> None:
    script = """
import builtins, sys
load = builtins.__import__
def interrupted(name, *rest):
    if name == "troubleshoot.cli.app":
        raise KeyboardInterrupt
    return load(name, *rest)
builtins.__import__ = interrupted
from troubleshoot.cli import main
main(["rules", "list"])
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment, timeout=60)
    assert (done.returncode, done.stderr) == (130, b"interrupted\n")


@pytest.mark.parametrize(("redirect", "expected"), [("<&-", b"standard input is closed"), (">&-", b"output is closed")])
def test_closed_stream_is_said(pack: Path, redirect: str, expected: bytes) -> None:
    script = f"{sys.executable} -m troubleshoot --no-default-rules --rules {pack} {redirect}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", script], input=b"x\n", capture_output=True, env=environment, timeout=120)
    assert (done.returncode, done.stdout) == (2, b"")
    assert expected in done.stderr
    assert done.stderr.startswith(b"error: ")


def test_terminal_that_knows_ascii_only(pack: Path) -> None:
    log = "\u4f60\u597d \U0001f600 frobnicator on node-7 ran dry\n".encode()
    env = {"PYTHONIOENCODING": "ascii"}
    rules = ("--no-default-rules", "--rules", str(pack))
    text = spawn(*rules, input=log, env=env).stdout.decode("ascii")
    assert "\\u4f60\\u597d \\U0001f600 frobnicator" in text
    assert "severity high - confidence high" in text
    report = json.loads(spawn("--format", "json", *rules, input=log, env=env).stdout.decode("utf-8"))
    assert report["findings"][0]["evidence"][0]["text"].startswith("\u4f60\u597d \U0001f600")


# --- settings --------------------------------------------------------------------------------------------------------


def test_flag_over_variable_over_file(pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "troubleshoot.toml").write_text('format = "ndjson"\nfail-on = ["low"]\n')
    assert run(pack=pack, input=FAULT).stdout.startswith('{"type":"source"')
    monkeypatch.setenv("TROUBLESHOOT_FORMAT", "markdown")
    assert run(pack=pack, input=FAULT).stdout.startswith("## ")
    assert run("--format", "json", pack=pack, input=FAULT).stdout.startswith("{\n")
    assert run(pack=pack, input=FAULT).exit_code == 1
    assert run("--isolated", pack=pack, input=FAULT).stdout.startswith("The frobnicator")


def test_wrong_setting_is_told_with_its_origin(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TROUBLESHOOT_FORMAT", "xml")
    result = run(pack=pack, input=FAULT)
    assert result.exit_code == 2
    assert "(set by TROUBLESHOOT_FORMAT)" in result.stderr


def test_config_show_names_value_and_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TROUBLESHOOT_FAIL_ON", "high,unknown")
    assert "high, unknown  (from TROUBLESHOOT_FAIL_ON)" in run("config", "show").stdout
    shown = json.loads(run("config", "show", "--format", "json").stdout)
    assert shown == {"fail-on": {"value": ["high", "unknown"], "origin": "TROUBLESHOOT_FAIL_ON"}}


# --- rules and why ---------------------------------------------------------------------------------------------------


def test_rules_are_listed_and_searched(pack: Path) -> None:
    everything = run("rules", "list", pack=pack).stdout
    assert "frob/dry    high       The frobnicator of {node} ran dry" in everything
    assert "2 rules." in everything
    assert "1 of 2 rules." in run("rules", "list", "DUST", pack=pack).stdout
    assert "1 of 2 rules." in run("rules", "list", "--system", "frob", pack=pack).stdout
    assert "0 of 2 rules." in run("rules", "list", "--domain", "gpu", pack=pack).stdout
    listed = json.loads(run("rules", "list", "--format", "json", pack=pack).stdout)
    assert [each["id"] for each in listed] == ["frob/dry", "frob/dusty"]


def test_why_shows_what_held(pack: Path) -> None:
    result = run("why", "frob/dry", pack=pack, input=FAULT)
    assert result.stdout.startswith("frob/dry fired\n")
    assert "yes  line at stdin:2 (node=node-7)" in result.stdout


def test_why_not_shows_the_nearest_line(pack: Path) -> None:
    result = run("why", "frob/dry", pack=pack, input="frobnicator on node-7 is full\n")
    assert result.exit_code == 0
    assert result.stdout.startswith("frob/dry did not fire\n")
    assert re.search(r"stdin:1\s+frobnicator on node-7 is full\n", result.stdout)
    assert re.search(r"\n {26}\^ expected here: ran dry\n", result.stdout)


def test_why_is_told_to_programs_too(pack: Path) -> None:
    told = json.loads(run("why", "frob/dry", "-f", "json", pack=pack, input=FAULT).stdout)
    assert (told["rule"], told["fired"], told["outcome"]["truth"]) == ("frob/dry", True, "true")
    assert told["outcome"]["lines"] == [{"source": "stdin", "line": 2, "signature": "line"}]
    told = json.loads(run("why", "frob/dry", "-f", "json", pack=pack, input="frobnicator on node-7 is full\n").stdout)
    (near,) = told["signatures"][0]["nearest"]
    assert (told["fired"], near["line"], near["column"], near["expected"]) == (False, 1, 23, "ran dry")


def test_why_takes_the_file_of_a_rule_that_is_in_no_pack_yet(pack: Path, tmp_path: Path) -> None:
    file = tmp_path / "new" / "wet.yaml"
    file.parent.mkdir()
    file.write_text(RULE.replace("ran dry", "ran wet"))
    result = run("why", str(file), input="frobnicator on node-7 ran wet\n")
    assert (result.exit_code, result.stdout.splitlines()[0].split("/")[-1]) == (0, "wet fired")
    file.write_text(RULE.replace("severity", "sevrity"))
    refused = run("why", str(file), input="x\n")
    assert (refused.exit_code, "error[R002]: unknown key `sevrity`" in refused.stderr) == (2, True)
    assert run("why", str(tmp_path / "none.yaml"), input="x\n").exit_code == 2


def test_why_of_no_rule_is_an_error(pack: Path) -> None:
    result = run("why", "frob/dri", "x.log", pack=pack)
    assert (result.exit_code, "did you mean 'frob/dry'?" in result.stderr) == (2, True)


# --- start-up --------------------------------------------------------------------------------------------------------


def test_small_scan_imports_nothing_heavy(pack: Path, tmp_path: Path) -> None:
    (tmp_path / "job.log").write_text(FAULT)
    code = (
        "import sys\n"
        "from troubleshoot.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "heavy = ('fastapi', 'starlette', 'uvicorn', 'sqlalchemy', 'pydantic', 'yaml', 'rich', 'jinja2', 'asyncio')\n"
        "print(sorted(name for name in heavy if name in sys.modules), file=sys.stderr)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, "job.log", "--no-default-rules", "--rules", str(pack)]
    for _ in range(2):  # the first run fills the cache of the parsed pack
        done = subprocess.run(command, capture_output=True, env=environment, timeout=120)
    assert (done.stderr.decode().strip(), b"ran dry" in done.stdout) == ("[]", True)


def test_version_names_program_rules_and_python() -> None:
    done = spawn("--version")
    assert done.stdout.decode().startswith(f"troubleshoot {__version__}, rules ")
    assert f"Python {sys.version.split()[0]}" in done.stdout.decode()


def test_help_says_the_exit_codes() -> None:
    shown = spawn("--help").stdout.decode()
    for wanted in ("troubleshoot job.log", "--fail-on", "serve", "Exit codes", "2  it could not run"):
        assert wanted in shown


def test_completion_script_is_printed() -> None:
    assert "_TROUBLESHOOT_COMPLETE" in run("completion", "bash").stdout


# --- writing rules ---------------------------------------------------------------------------------------------------


def test_rule_is_shown_as_page_and_as_json(pack: Path) -> None:
    page = run("rules", "show", "frob/dry", pack=pack).stdout
    for wanted in ("# The frobnicator of {node} ran dry", "## What to do", "refill {node}"):
        assert wanted in page
    assert json.loads(run("rules", "show", "frob/dry", "--format", "json", pack=pack).stdout)["id"] == "frob/dry"
    assert "did you mean 'frob/dry'?" in run("rules", "show", "frob/dri", pack=pack).stderr


def test_check_passes_a_good_rule_and_fails_a_broken_one_with_2(pack: Path) -> None:
    (pack / "frob" / "dusty.yaml").unlink()
    good = run("rules", "check", str(pack))
    assert (good.exit_code, good.stdout) == (0, "All rules are well.\n")
    (pack / "frob" / "dry.yaml").write_text(RULE.replace("severity: high", "severity: fatal"))
    bad = run("rules", "check", str(pack))
    assert bad.exit_code == 2
    assert re.search(r"error\[R004\]: .*\n  \S*frob/dry.yaml:2:\d+ ", bad.stdout)
    problems = json.loads(run("rules", "check", str(pack), "--format", "json").stdout)
    assert (problems[0]["code"], problems[0]["line"]) == ("R004", 2)


def test_check_names_a_rule_whose_example_does_not_fire(pack: Path) -> None:
    (pack / "frob" / "dry.yaml").write_text(
        RULE.replace("frobnicator on node-1 ran dry", "frobnicator on node-1 ran wet")
    )
    result = run("rules", "check", str(pack / "frob" / "dry.yaml"))
    assert (result.exit_code, "error[L005]" in result.stdout) == (2, True)


def test_new_writes_a_rule_that_fires_and_never_over_another(tmp_path: Path) -> None:
    made = run("rules", "new", "frob/stuck", input="frobnicator on node-7 is stuck (code 17)\n")
    assert (made.exit_code, made.stdout.startswith("rules/frob/stuck.yaml\n")) == (0, True)
    log = "frobnicator on node-8 is stuck (code 17)\n"
    scanned = run("--drafts", "--format", "json", pack=tmp_path / "rules", input=log)
    assert json.loads(scanned.stdout)["findings"][0]["rule"] == "frob/stuck"
    again = run("rules", "new", "frob/stuck", input="x is stuck\n")
    assert (again.exit_code, "already there" in again.stderr) == (2, True)
    assert run("rules", "new", "Stuck", input="x is stuck\n").exit_code == 2


def test_schemas_are_printed() -> None:
    assert json.loads(run("rules", "schema").stdout)["title"] == "troubleshoot rule"
    assert json.loads(run("rules", "schema", "report").stdout)["title"] == "troubleshoot report"


def test_docs_are_a_page_per_rule_and_an_index(pack: Path, tmp_path: Path) -> None:
    assert run("rules", "docs", "--markdown", "site", pack=pack).stdout == "3 pages in site\n"
    assert (tmp_path / "site" / "frob" / "dry.md").exists()


# --- serve -----------------------------------------------------------------------------------------------------------


def test_serve_answers_with_the_rules_it_was_given(pack: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [
        sys.executable,
        "-m",
        "troubleshoot",
        "serve",
        "--port",
        str(port),
        "--no-default-rules",
        "--rules",
        str(pack),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment) as process:
        try:
            body = _post(f"http://127.0.0.1:{port}/v1/scan", FAULT.encode())
        finally:
            process.terminate()
            process.wait(timeout=30)
    assert json.loads(body)["findings"][0]["rule"] == "frob/dry"


def _post(url: str, data: bytes) -> bytes:
    request = urllib.request.Request(url, data, {"Content-Type": "text/plain"})
    for _ in range(150):
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                body: bytes = answer.read()
                return body
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    raise AssertionError("the service did not start")


def test_serve_on_a_taken_port_could_not_run() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = run("serve", "--port", str(taken.getsockname()[1]))
    assert (result.exit_code, result.stderr.startswith("error: cannot listen at 127.0.0.1:")) == (2, True)
