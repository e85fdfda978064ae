"""Settings from files and the environment: what a flag would say if it were given.

    flags  >  TROUBLESHOOT_* variables  >  --config FILE, or the nearest troubleshoot.toml, .troubleshoot.toml or
    pyproject.toml with [tool.troubleshoot] at or above the current folder  >  the user's config.toml  >  defaults

In: a folder, an environment. Out: `Settings`, each value with its origin, so that `config show` and error messages can
name it. Unknown keys are refused, for a misspelt setting that does nothing is worse than an error. A folder of logs may
come from a stranger and hold a `troubleshoot.toml`: no setting names a file to write to, and what decides whom a
service trusts and what it keeps (`is_trusted`) is not taken from a file that was only found on the way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from troubleshoot.errors import UsageError

PREFIX = "TROUBLESHOOT_"
_SERVICE_LINK = ("tcp://", "udp://", "sctp://")
PROJECT_FILES = ("troubleshoot.toml", ".troubleshoot.toml", "pyproject.toml")

Value = str | bool | int | float | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Key:
    """A setting: its name as in the file, and what it takes: text, number, decimal, flag, list, path or paths.
    `is_trusted`: only from a variable, the user's own file, or one that is named."""

    name: str
    kind: str
    help: str
    is_trusted: bool = False

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper().replace("-", "_")


KEYS: dict[str, Key] = {
    key.name: key
    for key in (
        Key("format", "text", "how a report is rendered"),
        Key("fail-on", "list", "what makes the exit code 1"),
        Key("rules", "paths", "rule folders beside the shipped ones"),
        Key("default-rules", "flag", "whether the shipped rules are used"),
        Key("drafts", "flag", "whether draft rules are used"),
        Key("on", "text", "the platform the job ran on"),
        Key("select", "list", "rules to report, by id, domain, tag or system"),
        Key("ignore", "list", "rules not to report"),
        Key("min-severity", "text", "findings below are left out"),
        Key("min-confidence", "text", "findings below are left out"),
        Key("max-findings", "number", "how many findings are shown; 0 is all"),
        Key("lang", "text", "language of the texts, as a tag: en, zh-CN"),
        Key("anonymize", "flag", "whether e-mail and IP addresses are taken out too"),
        Key("explain-sources", "flag", "whether the report says how each source was read"),
        Key("color", "text", "auto, always or never"),
        Key("quiet", "flag", "whether progress is left out"),
        Key("host", "text", "address the service listens at"),
        Key("port", "number", "port the service listens at"),
        Key("workers", "number", "processes of the service"),
        Key("max-bytes", "number", "largest request body of the service"),
        Key("keys", "path", "file of the service's API keys", is_trusted=True),
        Key("insecure", "flag", "whether others than this machine are served without keys", is_trusted=True),
        Key("rate", "number", "requests a minute per key or address; 0 is no limit"),
        Key("store", "text", "URL of the database in which the service keeps reports and counts", is_trusted=True),
        Key("keep-days", "number", "how long the service keeps a saved report"),
        Key("history-days", "number", "how long the service keeps counts, feedback and unknown faults"),
        Key("keep-logs", "flag", "whether callers may have a log kept, redacted", is_trusted=True),
        Key("slack", "flag", "whether the service answers in Slack", is_trusted=True),
        Key("mcp", "flag", "whether the service has tools for coding agents at /mcp", is_trusted=True),
        Key("scan-processes", "number", "scans at once per worker"),
        Key("scan-seconds", "decimal", "longest scan of the service"),
        Key("scan-mb", "number", "most memory of a scan of the service"),
    )
}


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and where it comes from: a variable's name, or a file's path."""

    value: Value
    origin: str


Settings = Mapping[str, Setting]


def load_settings(
    folder: Path, environment: Mapping[str, str], *, config: Path | None = None, isolated: bool = False
) -> Settings:
    """Return the settings that hold in a folder, by key. With `isolated` there are none.
    Raises UsageError for a file that cannot be read, a key that does not exist, a value of the wrong kind."""
    if isolated:
        return {}
    settings: dict[str, Setting] = {}
    user_file = user_config_file(environment)
    if user_file is not None and user_file.is_file():
        settings |= _read_file(user_file)
    named = config or (Path(environment[f"{PREFIX}CONFIG"]) if environment.get(f"{PREFIX}CONFIG") else None)
    project_file = named or _find_project_file(folder)
    if project_file is not None:
        settings |= _read_file(project_file, is_trusted=named is not None)
    settings |= dict(_read_environment(environment))
    return settings


def user_config_file(environment: Mapping[str, str]) -> Path | None:
    """Return where the user's own settings stand, whether the file exists or not; None without a home."""
    base = environment.get("XDG_CONFIG_HOME") or (
        str(Path(environment["HOME"], ".config")) if environment.get("HOME") else ""
    )
    return Path(base, "troubleshoot", "config.toml") if base else None


def _find_project_file(folder: Path) -> Path | None:
    """Return the nearest file with settings; a pyproject.toml without the table is passed over, as ruff does."""
    for place in (folder, *folder.parents):
        for name in PROJECT_FILES:
            path = place / name
            if path.is_file() and (name != "pyproject.toml" or _has_table(path)):
                return path
    return None


def _has_table(path: Path) -> bool:
    try:
        if "tool.troubleshoot" not in path.read_text(encoding="utf-8"):
            return False  # spares most projects the parse
        return "troubleshoot" in _parse(path).get("tool", {})
    except (OSError, UnicodeDecodeError, UsageError):
        return False  # somebody else's file: not for us to complain of


def _read_file(path: Path, *, is_trusted: bool = True) -> dict[str, Setting]:
    data = _parse(path)
    if path.name == "pyproject.toml":
        data = data.get("tool", {}).get("troubleshoot", {})
    refused = [name for name in data if name in KEYS and KEYS[name].is_trusted and not is_trusted]
    if refused:
        raise UsageError(
            f"{path}: setting {refused[0]!r} is not taken from a file that nobody named",
            help=f"put it into the user's config.toml or {KEYS[refused[0]].variable}, or say --config {path.name}",
        )
    return {name: Setting(_checked(name, value, path), str(path)) for name, value in data.items()}


def _parse(path: Path) -> dict[str, Any]:
    import tomllib  # 15 ms that only those with a file pay

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from error


def _checked(name: str, value: Any, path: Path) -> Value:
    key = KEYS.get(name)
    if key is None:
        raise UsageError(f"{path}: unknown setting {name!r}", help=_nearest(name))
    if key.kind == "path":
        if isinstance(value, str):
            return str(path.parent / value)
    elif key.kind in ("list", "paths"):
        values = [value] if isinstance(value, str) else value
        if isinstance(values, list) and all(isinstance(each, str) for each in values):
            return tuple(str(path.parent / each) for each in values) if key.kind == "paths" else tuple(values)
    elif key.kind == "flag":
        if isinstance(value, bool):
            return value
    elif key.kind == "number":
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    elif key.kind == "decimal":
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    elif isinstance(value, str):
        return value
    takes = {
        "list": "a list of strings",
        "paths": "a list of paths",
        "flag": "true or false",
        "number": "a whole number",
        "decimal": "a number",
        "path": "a path",
    }
    raise UsageError(f"{path}: setting {name!r} takes {takes.get(key.kind, 'a string')}")


def _read_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, Setting]]:
    for key in KEYS.values():
        text = environment.get(key.variable, "")
        if key.name == "port" and text.startswith(_SERVICE_LINK):
            continue  # set by Kubernetes in every pod beside a Service that is called troubleshoot
        if text:
            yield key.name, Setting(_from_text(key, text), key.variable)


def _from_text(key: Key, text: str) -> Value:
    if key.kind == "paths":
        return tuple(each for each in text.split(os.pathsep) if each)
    if key.kind == "list":
        return tuple(each.strip() for each in text.split(",") if each.strip())
    if key.kind == "flag":
        if text.lower() in ("1", "true", "yes", "on"):
            return True
        if text.lower() in ("0", "false", "no", "off"):
            return False
        raise UsageError(f"{key.variable} takes true or false, not {text!r}")
    if key.kind == "number":
        if not text.isdecimal():
            raise UsageError(f"{key.variable} takes a whole number, not {text!r}")
        return int(text)
    if key.kind == "decimal":
        try:
            return float(text)
        except ValueError:
            raise UsageError(f"{key.variable} takes a number, not {text!r}") from None
    return text


def _nearest(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, KEYS, 1)
    return f"did you mean {close[0]!r}?" if close else f"one of {', '.join(KEYS)}"
