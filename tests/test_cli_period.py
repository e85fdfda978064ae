"""`--since` and `--until`: the part of a log that counts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from troubleshoot import cli, limits
from troubleshoot.cli.periods import parse_time, period_between
from troubleshoot.errors import UsageError

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
LOG = """\
2026-11-30T20:16:04Z [rank3]: Traceback (most recent call last):
[rank3]:   File "/workspace/train.py", line 3, in <module>
[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 3 is full.
2026-11-30T21:16:04Z mpirun: /lib/libc.so.6: version `GLIBC_2.34' not found (required by /opt/amazon-efa-ofi/x.so)
"""
OOM, LOADER = "cuda/out-of-memory", "efa/glibc-too-old-for-auto-mount"


def rules_found(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[list[str], list[str]]:
    """Return the rules found and the codes of notes."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["--isolated", "--quiet", "-f", "json", *args])
    assert ended.value.code == 0
    report = json.loads(capsys.readouterr().out)
    return [each["rule"] for each in report["findings"]], [each["code"] for each in report["notes"]]


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "job.log"
    path.write_text(LOG, "utf-8")
    return str(path)


def test_what_is_earlier_or_later_does_not_count(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert set(rules_found(capsys, log)[0]) == {OOM, LOADER}
    assert rules_found(capsys, "--since", "2026-11-30 21:00", log) == ([LOADER], ["outside-period"])
    assert rules_found(capsys, "--until", "2026-11-30T22:00+01:00", log) == ([OOM], ["outside-period"])
    found, notes = rules_found(capsys, "--since", "2026-11-30", "--until", "2026-12-01", log)
    assert set(found) == {OOM, LOADER}
    assert notes == []


def test_a_line_without_a_time_has_that_of_the_line_before(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The error of a traceback stands two lines behind its stamp."""
    assert OOM not in rules_found(capsys, "--since", "2026-11-30 20:30", log)[0]
    assert OOM in rules_found(capsys, "--until", "2026-11-30 20:30", log)[0]


def test_a_log_without_times_counts_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bare.log"
    path.write_text(LOG.splitlines()[2] + "\n", "utf-8")
    assert rules_found(capsys, "--since", "1h", str(path)) == ([OOM], ["no-time"])


def test_hits_outside_do_not_use_up_what_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HITS_PER_PATTERN", 5)
    path = tmp_path / "long.log"
    early = LOG.splitlines()[3].replace("21:16", "19:16")
    path.write_text("\n".join([*[early] * 50, LOG.splitlines()[3]]) + "\n", "utf-8")
    assert rules_found(capsys, "--since", "2026-11-30 21:00", str(path))[0] == [LOADER]


def test_several_processes_leave_out_the_same(log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.log"
    other.write_text(LOG.replace("2026-11-30", "2026-11-29"), "utf-8")
    given = ("--since", "2026-11-30 21:00", log, str(other))
    assert rules_found(capsys, "-j", "2", *given)[0] == rules_found(capsys, "-j", "1", *given)[0] == [LOADER]


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-11-30", datetime(2026, 11, 30, tzinfo=UTC)),
        ("2026-11-30 20:15", datetime(2026, 11, 30, 20, 15, tzinfo=UTC)),
        ("2026-11-30T20:15:04+08:00", datetime(2026, 11, 30, 12, 15, 4, tzinfo=UTC)),
        ("30min", datetime(2026, 12, 1, 11, 30, tzinfo=UTC)),
        ("1h30m ago", datetime(2026, 12, 1, 10, 30, tzinfo=UTC)),
        ("1d ago", datetime(2026, 11, 30, 12, tzinfo=UTC)),
    ],
)
def test_times(text: str, time: datetime) -> None:
    assert parse_time(text, "--since", NOW) == time


@pytest.mark.parametrize("text", ["", "yesterday", "20:15", "20", "2026-13-01", "1e9 years", "9" * 40 + "d"])
def test_what_is_no_time_is_told(text: str) -> None:
    with pytest.raises(UsageError) as told:
        parse_time(text, "--since", NOW)
    assert "--since" in told.value.text
    assert "2026-11-30 20:15" in told.value.help


def test_a_period_that_ends_before_it_begins_is_told() -> None:
    with pytest.raises(UsageError, match="later than"):
        period_between("1h", "2h", NOW)


def test_following_has_no_period(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--isolated", "--follow", "--since", "1h", log])
    assert ended.value.code == 2
    assert "--follow" in capsys.readouterr().err
