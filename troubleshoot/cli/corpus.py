"""`troubleshoot corpus check`: is what the rules say of known incidents right."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import click

from troubleshoot.cli.options import common_options, load_engine, pack_options
from troubleshoot.errors import UsageError

FAILED = 2  # as for `rules check`: 1 is kept for --fail-on


@click.group("corpus", short_help="Check the rules on incidents with known answers.")
def corpus() -> None:
    """Incidents with known answers: a folder each, with logs and `expected.yaml`. See corpus/README.md."""


@corpus.command("check")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default="corpus")
@click.option("--only", multiple=True, metavar="INCIDENT", help="Check this incident only. Repeatable.")
@click.option("-f", "--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@pack_options
@common_options
def check(
    folder: Path,
    only: tuple[str, ...],
    format: str,
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    color: str,
    quiet: bool,
) -> int:
    """Scan every incident below FOLDER and compare: the root first, what else was expected, nothing forbidden.

    Prints recall, first-place rate and false alarms by domain, and the rules that no incident exercises. Exits with 2
    when an incident is not as expected.
    """
    from troubleshoot.corpus import check_corpus

    result = check_corpus(load_engine(rules, default_rules, drafts, quiet=quiet), folder, only)
    if not result.incidents:
        raise UsageError(f"no incident in {folder}", help="an incident is a folder that holds expected.yaml")
    if format == "json":
        click.echo(json.dumps(dataclasses.asdict(result), indent=2, sort_keys=True))
    else:
        for incident in result.wrong:
            click.echo(f"{incident.name}: {'; '.join(incident.differences)}")
        click.echo(f"{'domain':<12} {'incidents':>9} {'recall':>7} {'first':>7}")
        for domain, figures in result.domains.items():
            rates = (figures.found / figures.incidents, figures.first / figures.incidents)
            click.echo(f"{domain:<12} {figures.incidents:>9} {rates[0]:>7.1%} {rates[1]:>7.1%}")
        if result.unused and not only:
            click.echo(f"no incident exercises: {', '.join(result.unused)}")
        click.echo(
            f"{len(result.incidents)} incidents, {len(result.wrong)} not as expected, "
            f"{result.false_alarms} false alarms on healthy ones"
        )
    return FAILED if result.wrong else 0
