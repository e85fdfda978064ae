"""`troubleshoot why RULE PATH...`: which of a rule's conditions held on these logs, and which lines almost matched."""

from __future__ import annotations

import click

from troubleshoot.cli.choice import choose_logs, choose_rule, complete_rule
from troubleshoot.cli.options import common_options, pack_options
from troubleshoot.cli.output import STDOUT, emit, look_for
from troubleshoot.cli.progress import ReadProgress


@click.command(short_help="Explain why a rule did or did not fire on a log.")
@click.argument("rule", shell_complete=complete_rule)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("-f", "--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@pack_options
@common_options
def why(
    rule: str,
    paths: tuple[str, ...],
    format: str,
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    color: str,
    quiet: bool,
) -> int:
    """Explain why RULE fired or did not: what held, what did not, the nearest lines and the character where they part.

    RULE is an id, PACK:ID, or the path of one rule's file. Drafts are looked at too.
    """
    from troubleshoot.explain import explain
    from troubleshoot.report.why import render_why, why_document

    engine, chosen = choose_rule(rule, rules, default_rules, quiet=quiet)
    with ReadProgress(quiet=quiet) as progress:
        explanation = explain(engine, chosen.id, choose_logs(paths), progress)
    if format == "json":
        from troubleshoot.report.json import dump

        emit(dump(why_document(explanation), indent=2) + "\n", for_people=False)
    else:
        emit(render_why(explanation, look_for(STDOUT, color)), paged=True)
    return 0
