"""`troubleshoot postmortem PATH...`: one report on one failed job, from what all of its ranks left behind."""

from __future__ import annotations

import os

import click

from troubleshoot.cli.context import context_option, stdin_to_read, with_context
from troubleshoot.cli.failing import FOUND, INTERRUPTED
from troubleshoot.cli.options import (
    anonymize_option,
    common_options,
    language_option,
    load_engine,
    pack_options,
)
from troubleshoot.cli.output import STDOUT, emit
from troubleshoot.cli.periods import period_between, period_options
from troubleshoot.cli.progress import ReadProgress
from troubleshoot.cli.reading import Reading, judge, reading_options, runner_for, stopping
from troubleshoot.cli.scan import (
    check_anything_read,
    find_paths,
    in_language,
    naming,
    render,
    with_missing,
    without_addresses,
)
from troubleshoot.errors import UsageError
from troubleshoot.report import FORMATS
from troubleshoot.report.selection import FAIL_ON, is_failing

SECRET = "TROUBLESHOOT_NOTIFY_SECRET"


@click.command(short_help="Report on a failed job: who failed first, why, whom it reached.")
@click.argument("paths", nargs=-1, metavar="PATH...", required=True)
@click.option(
    "-f",
    "--format",
    "format",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="How to render the report.",
)
@click.option(
    "-o",
    "--output",
    default=STDOUT,
    metavar="FILE",
    help="Write the report there, whole or not at all; - is standard output.",
)
@click.option("--job", metavar="ID", help="Of several jobs in the paths, report on this one and not on the largest.")
@click.option(
    "--notify",
    metavar="URL",
    help=f"Also post the report as JSON there, signed if {SECRET} is set. Never changes the exit code.",
)
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(FAIL_ON),
    help="Exit with 1 for a finding at least so severe, any fault, an unknown one. Repeatable.",
)
@context_option
@pack_options
@click.option("--on", metavar="PLATFORM", help="Where the job ran; puts the fix's variant for it first.")
@anonymize_option
@language_option
@period_options
@reading_options
@common_options
def postmortem(
    paths: tuple[str, ...],
    format: str,
    output: str,
    job: str | None,
    notify: str | None,
    fail_on: tuple[str, ...],
    context: int,
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    on: str | None,
    anonymize: bool,
    lang: str,
    since: str | None,
    until: str | None,
    jobs: int | None,
    on_ray: str | None,
    color: str,
    quiet: bool,
) -> int:
    """Report on one failed job from all the logs it left: a folder, an archive, files of single ranks or hosts.

    Says who failed first and how that is known, whom the failure reached, what happened when, what to do. An interrupt
    ends the reading and gives the report on what was read until then.
    """
    from troubleshoot.platform import check_platform

    platform = check_platform(on)
    period = period_between(since, until)
    found, missing = find_paths(paths)
    engine = load_engine(rules, default_rules, drafts, quiet=quiet)
    with ReadProgress(quiet=quiet, judge=judge(engine)) as progress, stopping() as stop:
        stdin = stdin_to_read(found, again=context > 0)
        reading = Reading(progress, jobs, runner_for(on_ray), stop, period, stdin)
        with naming(found):
            report = engine.postmortem_paths(found, platform=platform, job=job, **reading.options())
        stopped = stop()
    check_anything_read(report)
    if job is not None and report.job is not None and report.job.id not in (None, job):
        known = [each for each in (report.job.id, *report.job.other_ids) if each]
        raise UsageError(f"no job {job!r} in these logs", help=f"there are {', '.join(known)}")
    if context:
        report = with_context(report, found, stdin, context)
    report = in_language(without_addresses(with_missing(report, missing), anonymize), engine, lang)
    try:
        text = render(report, format, output, color, False)
        emit(text, output, for_people=format == "text", paged=format == "text")
    finally:
        if notify:
            _notify(notify, report)
    return INTERRUPTED if stopped else FOUND if is_failing(report, fail_on) else 0


def _notify(url: str, report: object) -> None:
    from troubleshoot.cli.failing import say
    from troubleshoot.model import Report
    from troubleshoot.notify import notify
    from troubleshoot.report.json import render_json

    assert isinstance(report, Report), "it was rendered"
    problem = notify(url, render_json(report).encode(), os.environ.get(SECRET, ""))
    if problem:
        say(f"warning: not notified: {problem}")
