"""`troubleshoot config`: which settings hold here, and where each comes from."""

from __future__ import annotations

import os

import click

from troubleshoot.cli.options import common_options
from troubleshoot.cli.output import emit
from troubleshoot.config import KEYS, Settings, Value, user_config_file
from troubleshoot.report.printable import visible
from troubleshoot.report.redact import redact_text
from troubleshoot.rulepack.cache import cache_dir, why_not_kept


@click.group()
def config() -> None:
    """Show settings and where they come from."""


@config.command()
@click.option("-f", "--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@common_options
@click.pass_obj
def show(settings: Settings, format: str, color: str, quiet: bool) -> None:
    """Print each setting's value here, and its origin."""
    if format == "json":
        from troubleshoot.report.json import dump

        rows = {name: {"value": _shown(each.value), "origin": each.origin} for name, each in sorted(settings.items())}
        emit(dump(rows, indent=2) + "\n", for_people=False)
        return
    width = max(map(len, KEYS))
    lines = []
    for key in KEYS.values():
        setting = settings.get(key.name)
        if setting is None:
            lines.append(f"{key.name:<{width}}  -  ({key.help}; {key.variable})")
        else:
            value = _shown(setting.value)
            value = ", ".join(value) if isinstance(value, tuple) else value
            lines.append(f"{key.name:<{width}}  {value}  (from {setting.origin})")
    lines.append(f"\nSettings of the user: {user_config_file(os.environ) or 'no home folder'}")
    why = why_not_kept()
    lines.append(f"Prepared rules: {f'not kept ({why}), so each start takes seconds' if why else cache_dir()}")
    emit(visible("\n".join(lines) + "\n"))


def _shown(value: Value) -> Value:
    """Return a value as it may be shown: the URL of a database holds a password."""
    return redact_text(value) if isinstance(value, str) else value
