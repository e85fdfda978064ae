"""Settings: which file counts, what overrides what, and that a mistake in one is named with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from troubleshoot.config import KEYS, Setting, load_settings, user_config_file
from troubleshoot.errors import UsageError


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_nearest_file_above_counts(tmp_path: Path) -> None:
    write(tmp_path / "troubleshoot.toml", 'format = "json"\non = "slurm"\n')
    near = write(tmp_path / "a" / ".troubleshoot.toml", 'format = "markdown"\n')
    deep = tmp_path / "a" / "b" / "c"
    deep.mkdir(parents=True)
    assert load_settings(deep, {}) == {"format": Setting("markdown", str(near))}


def test_pyproject_counts_only_with_its_table(tmp_path: Path) -> None:
    outer = write(tmp_path / "pyproject.toml", '[tool.troubleshoot]\nfail-on = "high"\n')
    write(tmp_path / "a" / "pyproject.toml", '[project]\nname = "x"\n')
    write(tmp_path / "a" / "b" / "pyproject.toml", "not toml, mentions tool.troubleshoot ][")
    assert load_settings(tmp_path / "a" / "b", {}) == {"fail-on": Setting(("high",), str(outer))}


def test_variable_over_project_over_user(tmp_path: Path) -> None:
    home = tmp_path / "home"
    user = write(home / "troubleshoot" / "config.toml", 'format = "json"\ncolor = "never"\nport = 1\n')
    project = write(tmp_path / "p" / "troubleshoot.toml", 'format = "slack"\nport = 2\n')
    environment = {"XDG_CONFIG_HOME": str(home), "TROUBLESHOOT_FORMAT": "markdown"}
    assert load_settings(tmp_path / "p", environment) == {
        "format": Setting("markdown", "TROUBLESHOOT_FORMAT"),
        "port": Setting(2, str(project)),
        "color": Setting("never", str(user)),
    }


def test_named_file_stands_for_the_project_and_isolated_for_none(tmp_path: Path) -> None:
    write(tmp_path / "troubleshoot.toml", 'format = "json"\n')
    named = write(tmp_path / "other.toml", 'on = "slurm"\n')
    expected = {"on": Setting("slurm", str(named))}
    assert load_settings(tmp_path, {}, config=named) == expected
    assert load_settings(tmp_path, {"TROUBLESHOOT_CONFIG": str(named)}) == expected
    assert load_settings(tmp_path, {"TROUBLESHOOT_ON": "slurm"}, isolated=True) == {}


def test_rule_folders_of_a_file_lie_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "troubleshoot.toml", 'rules = ["mine", "/abs"]\n')
    below = tmp_path / "x"
    below.mkdir()
    assert load_settings(below, {})["rules"].value == (str(tmp_path / "mine"), "/abs")


def test_variables_of_each_kind(tmp_path: Path) -> None:
    environment = {
        "TROUBLESHOOT_RULES": "/a:/b",
        "TROUBLESHOOT_FAIL_ON": "high, unknown",
        "TROUBLESHOOT_DRAFTS": "yes",
        "TROUBLESHOOT_DEFAULT_RULES": "0",
        "TROUBLESHOOT_MAX_FINDINGS": "3",
        "TROUBLESHOOT_ON": "",
    }
    values = {name: each.value for name, each in load_settings(tmp_path, environment).items()}
    assert values == {
        "rules": ("/a", "/b"),
        "fail-on": ("high", "unknown"),
        "drafts": True,
        "default-rules": False,
        "max-findings": 3,
    }


@pytest.mark.parametrize(
    ("text", "expected", "help"),
    [
        ('formt = "json"', "unknown setting 'formt'", "did you mean 'format'?"),
        ('output = "x"', "unknown setting 'output'", ""),
        ("format = 3", "setting 'format' takes a string", ""),
        ('drafts = "yes"', "setting 'drafts' takes true or false", ""),
        ("port = true", "setting 'port' takes a whole number", ""),
        ("rules = [1]", "setting 'rules' takes a list of paths", ""),
        ("format = ", "not valid TOML", ""),
    ],
)
def test_mistake_in_a_file_is_named_with_the_file(tmp_path: Path, text: str, expected: str, help: str) -> None:
    path = write(tmp_path / "troubleshoot.toml", text)
    with pytest.raises(UsageError) as caught:
        load_settings(tmp_path, {})
    assert caught.value.text.startswith(f"{path}: {expected}")
    assert help in caught.value.help


@pytest.mark.parametrize(("name", "value"), [("TROUBLESHOOT_PORT", "x"), ("TROUBLESHOOT_DRAFTS", "maybe")])
def test_mistake_in_a_variable_is_named(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(UsageError, match=name):
        load_settings(tmp_path, {name: value})


def test_missing_named_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        load_settings(tmp_path, {}, config=tmp_path / "none.toml")


def test_place_of_the_users_file() -> None:
    assert user_config_file({"XDG_CONFIG_HOME": "/x"}) == Path("/x/troubleshoot/config.toml")
    assert user_config_file({"HOME": "/h"}) == Path("/h/.config/troubleshoot/config.toml")
    assert user_config_file({}) is None


def test_numbers_and_paths_of_the_service(tmp_path: Path) -> None:
    file = write(tmp_path / "service.toml", 'keys = "keys.json"\nscan-seconds = 2\n')
    values = {name: each.value for name, each in load_settings(tmp_path, {}, config=file).items()}
    assert values == {"keys": str(tmp_path / "keys.json"), "scan-seconds": 2.0}
    assert load_settings(tmp_path, {"TROUBLESHOOT_SCAN_SECONDS": "0.5"})["scan-seconds"].value == 0.5
    with pytest.raises(UsageError, match="takes a number"):
        load_settings(tmp_path, {"TROUBLESHOOT_SCAN_SECONDS": "soon"})


@pytest.mark.parametrize("setting", ['store = "sqlite:///x.db"', "insecure = true", 'keys = "k"', "keep-logs = true"])
def test_file_that_was_only_found_does_not_say_whom_to_trust(tmp_path: Path, setting: str) -> None:
    """A folder of a stranger's logs may hold a file of settings."""
    file = write(tmp_path / "troubleshoot.toml", setting)
    with pytest.raises(UsageError, match="not taken from a file that nobody named") as caught:
        load_settings(tmp_path, {})
    assert "--config troubleshoot.toml" in caught.value.help
    name = setting.partition(" ")[0]
    assert name in load_settings(tmp_path, {}, config=file)
    user = write(tmp_path / "home" / "troubleshoot" / "config.toml", setting)
    (tmp_path / "troubleshoot.toml").unlink()
    assert load_settings(tmp_path, {"XDG_CONFIG_HOME": str(tmp_path / "home")})[name].origin == str(user)


def test_no_setting_writes_a_file() -> None:
    assert "output" not in KEYS
