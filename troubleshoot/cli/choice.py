"""Which rule and which logs a command means: a rule by its id, its pack and id, or the path of its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from troubleshoot.cli.options import complete_rule_id, existing, is_stdin_terminal, load_engine, nearest, stdin_stream
from troubleshoot.cli.preparing import Preparing
from troubleshoot.errors import RuleError, UsageError
from troubleshoot.rulepack.packs import find_rule

if TYPE_CHECKING:
    from troubleshoot.engine import Engine
    from troubleshoot.ingest.sources import OpenSource
    from troubleshoot.model import Rule, RulePack


def complete_rule(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return rule ids for the shell's completion, or let it complete the path of a file."""
    ids = [CompletionItem(id) for id in complete_rule_id(ctx, param, incomplete)]
    return ids or [CompletionItem(incomplete, type="file")]


def choose_rule(name: str, rules: tuple[str, ...], default_rules: bool, *, quiet: bool = False) -> tuple[Engine, Rule]:
    """Return the rule that `name` means, drafts too, and an engine that knows it beside the rules that options name.

    Raises UsageError where there is none, and RuleError with its problems for a file that does not load."""
    if name.endswith((".yaml", ".yml")) or Path(name).is_file():
        path = Path(name)
        if not path.exists():
            raise UsageError(f"no such file: {name}", help="give the id of a rule, or the path of its file")
        from troubleshoot.engine import Engine

        with Preparing(quiet=quiet):
            engine = Engine.default((*rules, name), default_rules=default_rules, drafts=True)
        return engine, _rule_of(path, engine.pack)
    engine = load_engine(rules, default_rules, True, quiet=quiet)
    rule = find_rule(engine.pack, name)
    if rule is None:
        help = nearest(name, list(engine.pack.rules)) or "`troubleshoot rules list WORD` searches"
        raise UsageError(f"no rule {name!r}", help=help)
    return engine, rule


def _rule_of(path: Path, pack: RulePack) -> Rule:
    meant = path.resolve()
    rule = next((rule for rule in pack.rules.values() if Path(rule.path).resolve() == meant), None)
    if rule is not None:
        return rule
    own = [each for each in pack.problems if each.place is not None and Path(each.place.path).resolve() == meant]
    help = f"`troubleshoot rules check {path}` says the same" if own else "is it disabled by overrides?"
    raise RuleError(f"{path} gives no rule", help=help, problems=tuple(own))


def choose_logs(paths: Sequence[str]) -> Iterator[OpenSource]:
    """Return the sources that paths name; without paths, standard input. Raises UsageError for what is not there."""
    from troubleshoot.ingest.sources import open_sources

    if not paths and is_stdin_terminal():
        raise UsageError("no log to look at", help="give a path, or a log on standard input")
    found, missing = existing(paths or ["-"])
    if missing:
        raise UsageError(f"no such file or folder: {missing[0]}")
    return open_sources(found, stdin=stdin_stream() if "-" in found else None)
