"""Options of `troubleshoot serve` from files and variables: every one of them, and what stands above what."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from troubleshoot.api.keys import new_key, write_keys
from troubleshoot.cli.app import SERVE_KEYS, cli
from troubleshoot.cli.serve import OPTIONS_VARIABLE, serve
from troubleshoot.config import KEYS

FILE = """
host = "0.0.0.0"
workers = 2
max-bytes = 1000
keys = "keys.json"
rate = 7
store = "sqlite:///file.db"
keep-days = 3
history-days = 30
keep-logs = true
mcp = true
scan-processes = 1
scan-seconds = 1.5
scan-mb = 128
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(OPTIONS_VARIABLE, "")
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    write_keys(tmp_path / "keys.json", [new_key("a", ["scan"])[1]])
    (tmp_path / "service.toml").write_text(FILE)
    return tmp_path


@pytest.fixture
def served(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs `serve` as far as uvicorn, and returns what it would serve with."""
    called: dict[str, Any] = {}
    monkeypatch.setattr("uvicorn.run", lambda app, **options: called.update(options))
    monkeypatch.setattr("signal.signal", lambda *_: None)

    def run(*arguments: str) -> dict[str, Any]:
        with pytest.raises(SystemExit) as ended:
            cli.main(["serve", "--port", "0", *arguments])
        assert ended.value.code == 0
        options: dict[str, Any] = json.loads(os.environ[OPTIONS_VARIABLE])
        return {**options.pop("options"), **options, "host": called["host"], "workers": called["workers"]}

    return run


def test_every_option_of_a_named_file_counts(served: Any, folder: Path) -> None:
    options = served("--config", "service.toml")
    expected = {
        "host": "0.0.0.0",
        "workers": 2,
        "max_bytes": 1000,
        "rate_per_minute": 7,
        "keep_days": 3,
        "store": "sqlite:///file.db",
        "history_days": 30,
        "keep_logs": True,
        "mcp": True,
        "scan_processes": 1,
        "keys_file": "keys.json",
        "scan_seconds": 1.5,
        "scan_memory_bytes": 128 << 20,
        "is_private": False,
    }
    assert {name: options[name] for name in expected} == expected


def test_variable_stands_above_the_file_and_the_flag_above_both(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TROUBLESHOOT_STORE", "sqlite:///variable.db")
    monkeypatch.setenv("TROUBLESHOOT_KEEP_DAYS", "4")
    monkeypatch.setenv("TROUBLESHOOT_RATE", "8")
    monkeypatch.setenv("TROUBLESHOOT_MCP", "no")
    options = served("--config", "service.toml", "--keep-days", "5", "--store", "sqlite:///flag.db")
    told = [options[name] for name in ("store", "keep_days", "rate_per_minute", "mcp", "history_days")]
    assert told == ["sqlite:///flag.db", 5, 8, False, 30]


def test_isolated_takes_nothing_from_files_and_variables(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TROUBLESHOOT_STORE", "sqlite:///variable.db")
    options = served("--config", "service.toml", "--isolated")
    assert (options["store"], options["keys_file"], options["host"]) == (None, None, "127.0.0.1")


def test_commands_about_keys_take_the_same_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TROUBLESHOOT_KEYS", "other.json")
    with pytest.raises(SystemExit):
        cli.main(["keys", "new", "--name", "bot", "--scope", "scan"])
    assert (folder / "other.json").exists()


def test_password_of_the_store_is_not_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TROUBLESHOOT_STORE", "postgresql://app:hunter2@db/x")
    for format in ("text", "json"):
        with pytest.raises(SystemExit):
            cli.main(["config", "show", "-f", format])
        told = capsys.readouterr().out
        assert "postgresql://app:" in told
        assert "hunter2" not in told


def test_every_option_of_serve_has_a_setting() -> None:
    """A new option gets one too, or is named here: these say where settings come from, or act once."""
    of_one_call = {"config", "isolated", "debug", "overrides", "no-pager", "help"}
    names = {max(parameter.opts, key=len).removeprefix("--") for parameter in serve.params}
    assert names - of_one_call <= set(SERVE_KEYS)
    assert set(SERVE_KEYS) <= set(KEYS)
