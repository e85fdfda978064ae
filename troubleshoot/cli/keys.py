"""`troubleshoot keys`: API keys of the service made, listed, taken away."""

from __future__ import annotations

import os
from pathlib import Path

import click

from troubleshoot.cli.options import common_options
from troubleshoot.errors import UsageError

FILE = click.option(
    "--keys",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file of keys.  [default: keys.json beside the user's settings]",
)


@click.group()
def keys() -> None:
    """API keys of the service: only their hashes are kept."""


@keys.command()
@click.option("--name", required=True, help="Who uses it, as the list will show.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice(["scan", "read", "admin"]),
    help="What it may do. Repeatable.",
)
@click.option("--days", type=click.IntRange(1), help="How long it works.  [default: until it is taken away]")
@FILE
@common_options
def new(name: str, scopes: tuple[str, ...], days: int | None, file: Path | None, color: str, quiet: bool) -> int:
    """Make a key and print it; it cannot be shown again."""
    from troubleshoot.api.keys import new_key, read_keys, write_keys

    path = _path(file)
    there = read_keys(path) if path.exists() else ()
    secret, key = new_key(name, scopes, days)
    write_keys(path, [*there, key])
    click.echo(secret)
    if not quiet:
        click.echo(f"kept as {key.id} in {path}; this is the only time the key is shown", err=True)
    return 0


@keys.command("list")
@FILE
@common_options
def list_keys(file: Path | None, color: str, quiet: bool) -> int:
    """List the keys: id, scopes, end, name."""
    from troubleshoot.api.keys import read_keys

    for key in read_keys(_path(file)):
        click.echo(f"{key.id}  {','.join(key.scopes):<15}  {key.expires or 'no end':<25}  {key.name}")
    return 0


@keys.command()
@click.argument("key_id")
@FILE
@common_options
def revoke(key_id: str, file: Path | None, color: str, quiet: bool) -> int:
    """Take a key away; a running service notices within a second."""
    from troubleshoot.api.keys import read_keys, write_keys

    path = _path(file)
    there = read_keys(path)
    left = [key for key in there if key.id != key_id]
    if len(left) == len(there):
        raise UsageError(f"no key has the id {key_id!r}", help="see `troubleshoot keys list`")
    write_keys(path, left)
    return 0


def _path(file: Path | None) -> Path:
    from troubleshoot.config import user_config_file

    if file is not None:
        return file
    settings = user_config_file(os.environ)
    if settings is None:
        raise UsageError("there is no home to keep keys in", help="give --keys FILE")
    return settings.with_name("keys.json")
