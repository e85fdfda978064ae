"""The parts of the command line: which command is meant, where output goes, how it looks, what errors become."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from troubleshoot.cli import failing
from troubleshoot.cli.app import COMMANDS, GROUPS, cli, route
from troubleshoot.cli.output import emit, look_of
from troubleshoot.errors import Problem, RuleError, UsageError


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class File(Terminal):
    def isatty(self) -> bool:
        return False


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["job.log"], ["scan", "job.log"]),
        (["scan", "job.log"], ["scan", "job.log"]),
        (["-"], ["scan", "-"]),
        (["--format", "json", "job.log"], ["scan", "--format", "json", "job.log"]),
        (["rules", "list"], ["rules", "list"]),
        (["./rules"], ["scan", "./rules"]),
        (["--", "rules"], ["scan", "--", "rules"]),
        (["--debug", "rules", "list"], ["rules", "list", "--debug"]),
        (["-q", "--color", "never", "config", "show"], ["config", "show", "-q", "--color", "never"]),
        (["-q", "rules", "--help"], ["rules", "--help"]),
        (["--color", "never", "-q", "why", "a/b"], ["why", "--color", "never", "-q", "a/b"]),
        (["--color=never", "job.log"], ["scan", "--color=never", "job.log"]),
        (["--help"], ["--help"]),
        (["--version"], ["--version"]),
        (["--fail-on", "high", "rules"], ["scan", "--fail-on", "high", "rules"]),
    ],
)
def test_first_word_that_is_no_command_is_a_path(args: list[str], expected: list[str]) -> None:
    assert route(args, is_terminal=True) == expected


def test_nothing_at_a_terminal_is_help_and_in_a_pipe_a_scan() -> None:
    assert route([], is_terminal=True) == ["--help"]
    assert route([], is_terminal=False) == ["scan"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_loads_and_has_help(name: str) -> None:
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None
    assert command.get_short_help_str()


@pytest.mark.parametrize(
    ("stream", "color", "environment", "expected"),
    [
        (Terminal(), "auto", {}, True),
        (File(), "auto", {}, False),
        (Terminal(), "auto", {"NO_COLOR": "1"}, False),
        (Terminal(), "auto", {"NO_COLOR": ""}, True),
        (Terminal(), "auto", {"TERM": "dumb"}, False),
        (File(), "auto", {"FORCE_COLOR": "1"}, True),
        (Terminal(), "auto", {"FORCE_COLOR": "0"}, False),
        (File(), "auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (File(), "always", {"NO_COLOR": "1"}, True),
        (Terminal(), "never", {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_rules(stream: io.StringIO, color: str, environment: dict[str, str], expected: bool) -> None:
    assert look_of(stream, color, environment).colour is expected


@pytest.mark.parametrize(("columns", "expected"), [("20", 40), ("72", 72), ("300", 100)])
def test_width_is_the_terminals_within_bounds(monkeypatch: pytest.MonkeyPatch, columns: str, expected: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert look_of(Terminal(), "auto", {}).width == expected
    assert look_of(File(), "auto", {}).width == 100


@pytest.mark.parametrize(
    ("encoding", "expected"), [("utf-8", True), ("UTF8", True), ("ascii", False), ("cp1252", False)]
)
def test_symbols_are_ascii_where_the_encoding_is(encoding: str, expected: bool) -> None:
    stream = File()
    stream.encoding = encoding
    assert look_of(stream, "auto", {}).unicode is expected


def test_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")
    path.chmod(0o640)
    emit("new \ud800", str(path))
    assert path.read_text() == "new \\ud800"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["out.json"]


def test_link_stays_a_link(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("old")
    (tmp_path / "link").symlink_to(target)
    emit("new", str(tmp_path / "link"))
    assert (target.read_text(), (tmp_path / "link").is_symlink()) == ("new", True)


def test_output_that_cannot_be_written_is_the_callers_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot write") as caught:
        emit("x", str(tmp_path / "no" / "out"))
    assert caught.value.help == "its folder must exist"
    with pytest.raises(UsageError):
        emit("x", str(tmp_path))


def test_device_is_written_not_replaced() -> None:
    emit("x", os.devnull)
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize(
    ("error", "code", "expected"),
    [
        (BrokenPipeError(), 141, ""),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (click.Abort(), 130, "interrupted\n"),
        (UsageError("no such file", help="look again"), 2, "error: no such file\nhelp: look again\n"),
        (RuleError("1 problem", problems=(Problem("R001", "bad"),)), 2, "error[R001]: bad\nerror: 1 problem\n"),
        (click.UsageError("Wrong flag."), 2, "error: wrong flag\n"),
        (PermissionError(13, "Permission denied", "a.log"), 2, "error: a.log: Permission denied\n"),
        (KeyError("x"), 2, "error: internal error: KeyError: 'x'\nhelp: --debug shows where; please report it\n"),
        (UsageError("no \x1b[31mred\x1b[0m"), 2, "error: no \\x1b[31mred\\x1b[0m\n"),
    ],
)
def test_errors_become_one_line_and_an_exit_code(
    error: BaseException, code: int, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with failing.guard(debug=False) as outcome:
        raise error
    assert (outcome.code, capsys.readouterr().err) == (code, expected)


def test_debug_shows_where_a_bug_is(capsys: pytest.CaptureFixture[str]) -> None:
    with failing.guard(debug=True):
        raise KeyError("x")
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_groups_are_those_that_have_commands_below_them(name: str) -> None:
    assert isinstance(cli.get_command(click.Context(cli), name), click.Group) == (name in GROUPS)


def test_common_options_before_a_command_below_a_group_count() -> None:
    result = CliRunner().invoke(cli, ["--quiet", "--color=never", "rules", "list", "efa"])
    assert (result.exit_code, "efa/not-used" in result.stdout) == (0, True)
