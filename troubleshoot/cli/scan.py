"""`troubleshoot [scan] PATH...`: what is known to be wrong in these logs."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from troubleshoot.cli.context import context_option, stdin_to_read, with_context
from troubleshoot.cli.failing import FOUND, INTERRUPTED
from troubleshoot.cli.options import (
    anonymize_option,
    check_names,
    common_options,
    existing,
    is_stdin_terminal,
    language_option,
    load_engine,
    names_of_rule,
    nearest,
    pack_options,
)
from troubleshoot.cli.output import STDOUT, emit, look_for
from troubleshoot.cli.periods import period_between, period_options
from troubleshoot.cli.progress import ReadProgress
from troubleshoot.cli.reading import Reading, judge, reading_options, runner_for, stopping
from troubleshoot.errors import NOTHING_READ, SourceError, UsageError
from troubleshoot.language import ENGLISH, speaking
from troubleshoot.model import Confidence, Finding, Note, Report, Severity
from troubleshoot.report import FORMATS, RENDERERS
from troubleshoot.report.selection import FAIL_ON, Selection, cut_findings, is_failing, select_findings

if TYPE_CHECKING:
    from troubleshoot.engine import Engine

SEVERITIES = [each.word for each in Severity]
CONFIDENCES = [each.word for each in Confidence]


@click.command(short_help="Find known faults in logs; the default.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
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
@click.option(
    "--fail-on",
    multiple=True,
    type=click.Choice(FAIL_ON),
    help="Exit with 1 for a finding at least so severe, any fault, an unknown one. Repeatable.",
)
@pack_options
@click.option("--on", metavar="PLATFORM", help="Where the job ran; puts the fix's variant for it first.")
@click.option(
    "--select", multiple=True, metavar="NAME", help="Report these rules only: id, domain, tag or system. Repeatable."
)
@click.option("--ignore", multiple=True, metavar="NAME", help="Do not report these rules. Repeatable.")
@click.option("--min-severity", type=click.Choice(SEVERITIES), default="low", help="Leave out findings below.")
@click.option("--min-confidence", type=click.Choice(CONFIDENCES), default="low", help="Leave out findings below.")
@click.option("--max-findings", type=click.IntRange(0), default=0, metavar="N", help="Show at most so many findings.")
@context_option
@click.option("--follow", "follows", is_flag=True, help="Go on reading as the files grow; tell findings as they come.")
@click.option(
    "--explain-sources", is_flag=True, help="Say how each source was read: encoding, wrapper, kind of document."
)
@anonymize_option
@language_option
@period_options
@reading_options
@common_options
@click.pass_context
def scan(
    ctx: click.Context,
    paths: tuple[str, ...],
    format: str,
    output: str,
    fail_on: tuple[str, ...],
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    on: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    min_severity: str,
    min_confidence: str,
    max_findings: int,
    context: int,
    follows: bool,
    explain_sources: bool,
    anonymize: bool,
    lang: str,
    since: str | None,
    until: str | None,
    jobs: int | None,
    on_ray: str | None,
    color: str,
    quiet: bool,
) -> int:
    """Find known faults in logs. This is what `troubleshoot PATH` does.

    PATH is a file, folder, archive or glob, or - for standard input. Several are taken together as one job.
    """
    if not paths and is_stdin_terminal():
        click.echo(ctx.get_help())
        return 0
    from troubleshoot.platform import check_platform

    platform = check_platform(on)
    if anonymize and follows:
        raise UsageError("--anonymize does not go with --follow", help="scan the file once it is whole")
    if context and follows:
        raise UsageError("--context does not go with --follow", help="scan the file once it is whole")
    period = period_between(since, until)
    if follows and period is not None:
        raise UsageError("--since and --until are for what is written; --follow tells what comes", help="leave one out")
    found, missing = find_paths(paths)
    engine = load_engine(rules, default_rules, drafts, quiet=quiet)
    check_names(select, engine.pack, "--select")
    check_names(ignore, engine.pack, "--ignore")
    stopped = False
    if follows:
        report = _follow(engine, found, platform, format, color, lang)
    else:
        with ReadProgress(quiet=quiet, judge=judge(engine)) as progress, stopping() as stop:
            stdin = stdin_to_read(found, again=context > 0)
            reading = Reading(progress, jobs, runner_for(on_ray), stop, period, stdin)
            report = read_report(engine, found, platform, reading)
            stopped = stop()
    report = with_missing(report, missing)
    chosen = Selection(select, ignore, Severity[min_severity.upper()], Confidence[min_confidence.upper()])
    report = select_findings(report, chosen, functools.partial(names_of_rule, engine.pack))
    code = INTERRUPTED if stopped else FOUND if is_failing(report, fail_on) else 0
    report = cut_findings(report, max_findings)
    if context:
        report = with_context(report, found, stdin, context)
    report = without_addresses(report, anonymize)
    report = in_language(report, engine, lang)
    text = render(report, format, output, color, explain_sources)
    emit(text, output, for_people=format == "text", paged=format == "text" and not follows)
    return code


def without_addresses(report: Report, is_wanted: bool) -> Report:
    """Return the report without e-mail and IP addresses where that is wanted."""
    if not is_wanted:
        return report
    from troubleshoot.report.redact import anonymize

    return anonymize(report)


def in_language(report: Report, engine: Engine, language: str) -> Report:
    """Return the report as a reader of that language wants it. English costs nothing."""
    if language == ENGLISH:
        return report
    from troubleshoot.localise import localise

    return localise(report, engine.pack, language)


def _follow(
    engine: Engine, paths: Sequence[str], platform: str | None, format: str, color: str, language: str
) -> Report:
    from troubleshoot.cli.follow import follow
    from troubleshoot.localise import language_of, localise_finding
    from troubleshoot.report.ndjson import render_seen
    from troubleshoot.report.text import render_notice

    def tell(finding: Finding) -> None:
        finding = localise_finding(finding, engine.pack, language)
        if format == "text":
            with speaking(language_of(language)):
                click.echo(render_notice(finding, look_for(STDOUT, color)), nl=False)
        elif format == "ndjson":
            click.echo(render_seen(finding), nl=False)

    return follow(engine, paths, platform, tell)


def find_paths(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the paths to read, standard input if none is given, and those that name nothing.
    Raises UsageError if none names anything."""
    found, missing = existing(paths or ["-"])
    if found:
        return found, missing
    from troubleshoot.cli.app import COMMANDS

    guess = nearest(missing[0], list(COMMANDS)) if len(missing) == 1 else ""
    raise UsageError(f"no such file or folder: {missing[0]}", help=guess or "troubleshoot --help")


def read_report(engine: Engine, paths: Sequence[str], platform: str | None, reading: Reading) -> Report:
    """Return the report over paths, of which one may be `-`. Raises SourceError when nothing can be read."""
    if list(paths) == ["-"] and reading.stdin is not None and reading.period is None:
        report = engine.scan_stream(reading.stdin, platform=platform, stop=reading.stop)
    else:
        with naming(paths):
            report = engine.scan_paths(paths, platform=platform, **reading.options())
    check_anything_read(report)
    return report


@contextlib.contextmanager
def naming(paths: Sequence[str]) -> Iterator[None]:
    """Let an error that nothing was there to read say where that was."""
    try:
        yield
    except SourceError as error:
        if error.text != NOTHING_READ:
            raise
        shown = ", ".join(paths[:3]) + (" and others" if paths[3:] else "")
        raise SourceError(f"there is no file to read in {shown}", help=error.help) from error


def with_missing(report: Report, missing: Sequence[str]) -> Report:
    """Return the report with a note per path that names nothing: the others were read all the same."""
    notes = tuple(Note("unreadable", "no such file or folder", path) for path in missing)
    return replace(report, notes=(*report.notes, *notes)) if notes else report


def check_anything_read(report: Report) -> None:
    """Raise SourceError if every source was unreadable: that is no report, whatever it looks like."""
    unreadable = {note.source: note.text for note in report.notes if note.code == "unreadable"}
    if report.sources and all(each.bytes == 0 and each.name in unreadable for each in report.sources):
        name = report.sources[0].name
        raise SourceError(f"nothing could be read: {name}: {unreadable[name]}")


def render(report: Report, format: str, output: str, color: str, explain_sources: bool) -> str:
    if format != "text":
        return RENDERERS[format](report)
    from troubleshoot.report.text import render_text

    return render_text(report, look_for(output, color), explain_sources=explain_sources)
