"""`troubleshoot rules test RULE [LOG]...`: does a rule fire where it should, and stay silent where it should?"""

from __future__ import annotations

import click

from troubleshoot.cli.choice import choose_logs, choose_rule, complete_rule
from troubleshoot.cli.failing import COULD_NOT_RUN
from troubleshoot.cli.options import common_options, pack_options
from troubleshoot.cli.output import STDOUT, emit, look_for
from troubleshoot.cli.progress import ReadProgress


@click.command("test", short_help="Try one rule on logs and on its examples.")
@click.argument("rule", shell_complete=complete_rule)
@click.argument("logs", nargs=-1, metavar="[LOG]...")
@click.option("--silent", is_flag=True, help="The logs are some on which the rule must not fire.")
@click.option("-f", "--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@pack_options
@common_options
def test(
    rule: str,
    logs: tuple[str, ...],
    silent: bool,
    format: str,
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    color: str,
    quiet: bool,
) -> int:
    """Try RULE on logs, taken together as one job, and on its own examples.

    RULE is an id, PACK:ID, or the path of one rule's file, which need not be in a pack yet. Exits with 2 if it does not
    fire on the logs (with --silent: if it does), or if an example does not come out as it says.
    """
    from troubleshoot.report.trial import render_trial, trial_document
    from troubleshoot.trial import try_rule

    engine, chosen = choose_rule(rule, rules, default_rules, quiet=quiet)
    with ReadProgress(quiet=quiet) as progress:
        trial = try_rule(engine, chosen, choose_logs(logs) if logs else None, progress)
    if format == "json":
        from troubleshoot.report.json import dump

        emit(dump(trial_document(trial, logs, silent=silent), indent=2) + "\n", for_people=False)
    else:
        emit(render_trial(trial, logs, look_for(STDOUT, color), silent=silent))
    return 0 if trial.is_well(silent=silent) else COULD_NOT_RUN


COMMANDS = (test,)
