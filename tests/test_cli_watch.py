"""`troubleshoot rules check --watch`: a real process, and real saves."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from troubleshoot.cli.checking import find_all_problems
from troubleshoot.rulepack.assemble import Memory
from troubleshoot.rulepack.changes import look, wait_for_change

ROOT = Path(__file__).parents[1]
WAIT_S = 60.0
RULE = """\
title: Fan {fan} stopped
severity: high
signatures: "fan {fan:int} of the chassis stopped"
explanation: >
  It no longer turns.
fixes:
  - title: Replace it
    run: replace
    verify: { run: fans, expect: "turning" }
references: [https://example.com/fans]
examples:
  - match: |
      fan 3 of the chassis stopped
  - no_match: |
      fan 3 of the chassis started
    why: it turns
"""


class Watching:
    def __init__(self, *arguments: str, cwd: Path) -> None:
        command = [sys.executable, "-m", "troubleshoot", "rules", "check", "--watch", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(cwd / "cache")}
        self.process = subprocess.Popen(
            command, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def line(self) -> str:
        line = self._lines.get(timeout=WAIT_S)
        assert line is not None, self.process.stderr and self.process.stderr.read()
        return line

    def until(self, end: str) -> list[str]:
        lines = [self.line()]
        while end not in lines[-1]:
            lines.append(self.line())
        return lines

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=WAIT_S)


@pytest.fixture
def rule(tmp_path: Path) -> Path:
    path = tmp_path / "fans" / "stopped.yaml"
    path.parent.mkdir()
    path.write_text(RULE)
    return path


@pytest.fixture
def watching(rule: Path, request: pytest.FixtureRequest) -> Iterator[Watching]:
    running = Watching(*getattr(request, "param", ("fans/stopped.yaml",)), cwd=rule.parent.parent)
    yield running
    running.process.kill()
    running.process.wait()


def save(path: Path, text: str) -> None:
    """Save as many editors do: a new file takes the place of the old one."""
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)


def test_each_save_gets_its_verdict(rule: Path, watching: Watching) -> None:
    assert watching.until("All rules are well.")[0].endswith("  Watching")
    save(rule, RULE.replace("severity: high", "severity: hihg"))
    told = watching.until("1 error.")
    assert told[0].endswith("  fans/stopped.yaml") or told[1].endswith("  fans/stopped.yaml")
    at = told.index("error[R004]: `severity` cannot be `hihg`")
    assert told[at + 1].endswith("fans/stopped.yaml:2:11   severity: hihg")
    assert told[at + 2].index("^") == told[at + 1].index("hihg")
    rule.write_text(RULE.replace("      fan 3 of the chassis stopped", "      fan 3 of the chassis stuttered"))
    assert any("error[L005]: the rule does not fire on this example" in line for line in watching.until("error"))
    rule.unlink()
    watching.until("error[R013]: no such file or folder")
    rule.write_text(RULE)
    watching.until("All rules are well.")
    assert watching.stop() == 0


@pytest.mark.parametrize("watching", [(".", "--format", "json")], indirect=True)
def test_programs_get_a_line_a_verdict(rule: Path, watching: Watching) -> None:
    first: dict[str, Any] = json.loads(watching.line())
    assert (first["changed"], first["problems"]) == ([], [])
    (rule.parent / "second.yaml").write_text("title: [\n")
    second = json.loads(watching.line())
    assert [Path(each).name for each in second["changed"]] == ["second.yaml"]
    assert "R001" in [each["code"] for each in second["problems"]]
    assert watching.stop() == 2  # as the last verdict says


@pytest.mark.parametrize("watching", [("nowhere",)], indirect=True)
def test_what_is_not_there_is_not_watched(watching: Watching) -> None:
    assert watching.process.wait(timeout=WAIT_S) == 2


def test_a_file_that_is_written_in_pieces_is_waited_for(rule: Path) -> None:
    before = look([rule])
    pieces = [RULE[:10], RULE[:20], RULE + "# changed\n"]

    def sleep(_seconds: float) -> None:
        if pieces:
            rule.write_text(pieces.pop(0))

    after, changed = wait_for_change([rule], before, sleep=sleep)
    assert (pieces, after, changed) == ([], look([rule]), [str(rule)])


def test_what_is_remembered_changes_no_verdict(rule: Path) -> None:
    memory: Memory = {}
    for text in (RULE, RULE.replace("high", "hihg"), RULE.replace("{fan} stopped", "{fn} stopped"), RULE):
        rule.write_text(text)
        shared = rule.parent.parent / "_shared"
        shared.mkdir(exist_ok=True)
        (shared / "s.yaml").write_text("s: some words of the program\n")
        assert find_all_problems([str(rule)], memory) == find_all_problems([str(rule)])
    rule.write_text(RULE.replace('"fan {fan:int} of the chassis stopped"', "{ use: s }").replace("{fan} ", ""))
    before = find_all_problems([str(rule)], memory)
    (shared / "s.yaml").write_text("s: fan {fan:int} of the chassis stopped\n")
    assert find_all_problems([str(rule)], memory) == find_all_problems([str(rule)]) != before
