"""`troubleshoot completion SHELL`: the script that completes commands, options and rule ids."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from troubleshoot.cli.output import emit

HOW = {
    "bash": 'eval "$(troubleshoot completion bash)"',
    "zsh": 'eval "$(troubleshoot completion zsh)"',
    "fish": "troubleshoot completion fish | source",
}


@click.command(short_help="Print a completion script for your shell.")
@click.argument("shell", type=click.Choice(list(HOW)))
def completion(shell: str) -> None:
    """Print a completion script for your shell, to be evaluated in its start-up file."""
    from troubleshoot.cli.app import PROGRAM, cli

    made_by = get_completion_class(shell)
    assert made_by is not None, "click knows every shell of the choice"
    emit(f"# {HOW[shell]}\n{made_by(cli, {}, PROGRAM, '_TROUBLESHOOT_COMPLETE').source()}\n")
