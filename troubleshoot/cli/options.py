"""Options that several commands share, and what is made of them."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import click

from troubleshoot.cli.pager import refuse_pager
from troubleshoot.rulepack import overrides as pack_overrides
from troubleshoot.rulepack.packs import full_name

if TYPE_CHECKING:
    from troubleshoot.engine import Engine
    from troubleshoot.model import RulePack

Command = TypeVar("Command", bound=Callable[..., Any])


def common_options(command: Command) -> Command:
    """Add what every command takes. --debug, --config and --isolated act before the command is called."""
    for option in reversed(
        (
            click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True,
                         help="Colour the output."),
            click.option("-q", "--quiet", is_flag=True, help="No progress on standard error."),
            click.option("--no-pager", is_flag=True, expose_value=False, callback=refuse_pager,
                         help="Do not show long text in $PAGER."),
            click.option("--config", type=click.Path(dir_okay=False), expose_value=False, metavar="FILE",
                         help="Read settings from this file only."),
            click.option("--isolated", is_flag=True, expose_value=False, is_eager=True, callback=_isolate,
                         help="Read no settings from files or environment."),
            click.option("--debug", is_flag=True, expose_value=False, help="Show where an error came from."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


def pack_options(command: Command) -> Command:
    """Add the options that say which rules to use."""
    for option in reversed(
        (
            click.option("--rules", multiple=True, type=click.Path(), metavar="DIR",
                         help="Use these rules too, over the shipped ones. Repeatable."),
            click.option("--default-rules/--no-default-rules", default=True, help="Use the shipped rules, or not."),
            click.option("--drafts", is_flag=True, help="Use rules that are still drafts."),
            click.option("--overrides", type=click.Path(), metavar="FILE", expose_value=False, callback=_override,
                         help="Change or disable rules as this file says, and not the user's own overrides.yaml."),
        )
    ):  # fmt: skip
        command = option(command)
    return command


def language_option(command: Command) -> Command:
    """Add the option that says in which language to speak."""
    option = click.option(
        "--lang",
        default="en",
        metavar="TAG",
        help="Language of the texts: en, zh-CN. English fills what is not translated.",
    )
    return option(command)


def anonymize_option(command: Command) -> Command:
    """Add the option that takes out more than secrets."""
    return click.option("--anonymize", is_flag=True, help="Take out e-mail and IP addresses too.")(command)


def _override(ctx: click.Context, _param: click.Parameter, path: str | None) -> None:
    """Let a file of overrides count for as long as the command runs, in the processes that it starts, too."""
    if path is not None and not ctx.resilient_parsing:
        ctx.call_on_close(pack_overrides.use(path))


def _isolate(ctx: click.Context, _param: click.Parameter, is_wanted: bool) -> None:
    if is_wanted and not ctx.resilient_parsing:
        ctx.call_on_close(pack_overrides.use(pack_overrides.NONE))


@functools.lru_cache(maxsize=4)
def _engine(rules: tuple[str, ...], default_rules: bool, drafts: bool, _overrides: str | None) -> Engine:
    from troubleshoot.engine import Engine

    return Engine.default(rules, default_rules=default_rules, drafts=drafts)


def load_engine(rules: tuple[str, ...], default_rules: bool, drafts: bool, *, quiet: bool = False) -> Engine:
    """Return the engine over the rules that the options name, ready to scan."""
    from troubleshoot.cli.preparing import Preparing

    with Preparing(quiet=quiet):
        engine = _engine(rules, default_rules, drafts, os.environ.get(pack_overrides.VARIABLE))
        engine.scanner()
    return engine


def names_of_rule(pack: RulePack, rule_id: str) -> tuple[str, ...]:
    """Return the other names a rule goes by: domain, tags, systems, and those with its pack's name."""
    rule = pack.rules.get(rule_id)
    if rule is None:
        return ()
    return (rule.domain, *rule.tags, *rule.systems, *((rule.pack, full_name(rule)) if rule.pack else ()))


def check_names(wanted: Sequence[str], pack: RulePack, option: str) -> None:
    """Raise UsageError for a name that no rule goes by: a misspelt --ignore would do nothing in silence."""
    from fnmatch import fnmatchcase

    from troubleshoot.errors import UsageError

    known = {name for rule_id in pack.rules for name in (rule_id, *names_of_rule(pack, rule_id))} if wanted else set()
    for name in wanted:
        if not any(fnmatchcase(each, name.removeprefix("#")) for each in known):
            raise UsageError(f"{option}: no rule goes by {name!r}", help=nearest(name, known) or "see `rules list`")


def nearest(word: str, known: Sequence[str] | set[str]) -> str:
    """Return a `did you mean` for a word that is not known, or nothing."""
    from difflib import get_close_matches

    close = get_close_matches(word, sorted(known), 2, 0.7)
    return f"did you mean {' or '.join(repr(each) for each in close)}?" if close else ""


def is_stdin_terminal() -> bool:
    """Say whether a person would have to type the log. A closed standard input is none."""
    return sys.stdin is not None and sys.stdin.isatty()


def stdin_stream() -> BinaryIO:
    """Return standard input as bytes. Raises UsageError if it is closed."""
    if sys.stdin is None:
        from troubleshoot.errors import UsageError

        raise UsageError("standard input is closed", help="give a path, or a log on standard input")
    return sys.stdin.buffer


def existing(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the paths that name something (`-` and globs that match included), and those that do not."""
    found: list[str] = []
    missing: list[str] = []
    for path in paths:
        if not path:
            from troubleshoot.errors import UsageError

            raise UsageError("an empty path", help="is a variable empty? `.` is this folder")
        (found if path == "-" or Path(path).exists() or _matches(path) else missing).append(path)
    return found, missing


def _matches(path: str) -> bool:
    if not any(char in path for char in "*?["):
        return False
    import glob

    return next(glob.iglob(path, recursive=True), None) is not None  # noqa: PTH207 - the pattern may be absolute


def complete_rule_id(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return rule ids for the shell's completion."""
    from troubleshoot.rulepack.load import load_pack

    return [rule_id for rule_id in sorted(load_pack(drafts=True).rules) if rule_id.startswith(incomplete)]
