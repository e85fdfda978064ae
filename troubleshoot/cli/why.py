"""`troubleshoot why RULE PATH...`: which of a rule's conditions held on these logs, and which lines almost matched."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click

from troubleshoot.cli.options import (
    common_options,
    complete_rule_id,
    existing,
    is_stdin_terminal,
    load_engine,
    nearest,
    pack_options,
    stdin_stream,
)
from troubleshoot.cli.output import STDOUT, emit, look_for
from troubleshoot.errors import UsageError
from troubleshoot.rulepack.packs import find_rule


@click.command(short_help="Explain why a rule did or did not fire on a log.")
@click.argument("rule", shell_complete=complete_rule_id)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@pack_options
@common_options
def why(
    rule: str,
    paths: tuple[str, ...],
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    color: str,
    quiet: bool,
) -> int:
    """Explain why RULE fired or did not: what held, what did not, the nearest lines. Drafts are looked at too."""
    engine = load_engine(rules, default_rules, True)
    known = find_rule(engine.pack, rule)
    if known is None:
        raise UsageError(f"no rule {rule!r}", help=nearest(rule, list(engine.pack.rules)) or "see `rules list`")
    if not paths and is_stdin_terminal():
        raise UsageError("no log to look at", help="give a path, or a log on standard input")
    from troubleshoot.explain import explain
    from troubleshoot.report.why import render_why

    found, missing = existing(paths or ["-"])
    if missing:
        raise UsageError(f"no such file or folder: {missing[0]}")
    with TemporaryDirectory(prefix="troubleshoot-") as folder:
        spooled = Path(folder, "stdin")
        if "-" in found:  # the log is read once for the condition and once for the nearest lines
            spooled.write_bytes(stdin_stream().read())
        explanation = explain(engine, known.id, [str(spooled) if path == "-" else path for path in found])
        emit(render_why(explanation, look_for(STDOUT, color)).replace(str(spooled), "stdin"))
    return 0
