"""`troubleshoot postmortem` as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from bundles import CORPUS, many_ranks, rank_log

Bundle = Callable[[Mapping[str, str]], Path]


def run(*args: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "troubleshoot", "postmortem", *map(str, args)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=CORPUS.parent, env={**os.environ, **environment}
    )


def test_summary_stands_first(bundle: Bundle) -> None:
    done = run(bundle(many_ranks(16, failed=3)))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("What      GPU memory ran out")
    assert "Rank 3 on gpu-node-00 failed first" in done.stdout
    assert "1 of 16 ranks failed (3)" in done.stdout


@pytest.mark.parametrize("format", ["json", "ndjson", "markdown", "html", "sarif", "junit", "slack", "github"])
def test_every_format_goes_to_a_file(bundle: Bundle, tmp_path: Path, format: str) -> None:
    out = tmp_path / "out" / "report"
    out.parent.mkdir()
    folder = bundle({"logs/rank-0.log": rank_log(0, 2, fails=True), "logs/rank-1.log": rank_log(1, 2)}) / "logs"
    done = run(folder, "--format", format, "--output", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "CUDA out of memory" in out.read_text() or "GPU memory ran out" in out.read_text()


def test_job_part_is_there_for_one_source_too(bundle: Bundle) -> None:
    done = run(bundle({"rank-0.log": rank_log(0, 1, fails=True)}), "-f", "json")
    job = json.loads(done.stdout)["job"]
    assert job["first_failure"]["rank"] == 0
    assert job["partial"] is False


def test_fail_on_is_the_only_way_to_exit_with_one(bundle: Bundle) -> None:
    folder = bundle({"rank-0.log": rank_log(0, 1, fails=True)})
    assert run(folder).returncode == 0
    assert run(folder, "--fail-on", "high").returncode == 1


def test_unknown_job_names_those_there_are(bundle: Bundle) -> None:
    folder = bundle({"slurm-4711.out": rank_log(0, 1), "slurm-4712.out": rank_log(0, 1)})
    done = run(folder, "--job", "99")
    assert done.returncode == 2
    assert "4711" in done.stderr and "4712" in done.stderr


def test_nothing_to_read(tmp_path: Path) -> None:
    assert run(tmp_path).returncode == 2
    assert run(tmp_path / "missing").returncode == 2
    assert run().returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_full_disk_is_told_and_leaves_no_half_report(bundle: Bundle) -> None:
    done = run(bundle({"rank-0.log": rank_log(0, 1, fails=True)}), "-o", "/dev/full")
    assert done.returncode == 2
    assert "cannot write /dev/full: no space left on device" in done.stderr


def test_notification_that_fails_changes_nothing_but_a_warning(bundle: Bundle) -> None:
    done = run(bundle({"rank-0.log": rank_log(0, 1, fails=True)}), "--notify", "http://127.0.0.1:1/x")
    assert done.returncode == 0
    assert "warning: not notified" in done.stderr
    assert "failed first" in done.stdout


def test_page_needs_no_template_engine_until_it_is_asked_for() -> None:
    code = "import sys, troubleshoot.cli.app, troubleshoot.cli.postmortem; print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=CORPUS.parent)
    assert done.stdout.strip() == "False"
