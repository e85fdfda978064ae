"""The command line's reference, from click's own commands."""

from __future__ import annotations

from collections.abc import Iterator

import click

from troubleshoot.docs.tables import cell, code_cell, table


def command_line_page() -> str:
    """Return every command with its arguments and options."""
    from troubleshoot.cli.app import cli

    context = click.Context(cli, info_name="troubleshoot")
    parts = ["# Command line", "`troubleshoot COMMAND --help` says the same in the terminal.", *_parts(cli, context)]
    return "\n\n".join(parts) + "\n"


def _parts(command: click.Command, context: click.Context) -> Iterator[str]:
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        assert isinstance(command, click.Group)
        below = command.get_command(context, name)
        if below is None or below.hidden:
            continue
        inner = click.Context(below, info_name=name, parent=context)
        if isinstance(below, click.Group):
            yield from _parts(below, inner)
            continue
        yield f"## {inner.command_path}"
        usage = " ".join(below.collect_usage_pieces(inner))
        yield f"    {inner.command_path} {usage}"
        yield " ".join((below.help or "").replace("\b", "").split())
        rows = [
            (
                code_cell(", ".join(each.opts + each.secondary_opts)),
                code_cell(_value(each, inner)),
                cell(each.help or ""),
            )
            for each in below.get_params(inner)
            if isinstance(each, click.Option) and not each.hidden
        ]
        yield table(("option", "value", "what it does"), [(a, b if b != "``" else "", c) for a, b, c in rows])


def _value(option: click.Option, context: click.Context) -> str:
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice):
        return ", ".join(map(str, option.type.choices))
    return option.make_metavar(context)
