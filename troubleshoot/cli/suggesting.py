"""`troubleshoot rules suggest [LOG]...`: which lines of logs that no rule knows are worth a rule."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from troubleshoot.cli.authoring import write_rule
from troubleshoot.cli.choice import choose_logs
from troubleshoot.cli.options import common_options, pack_options
from troubleshoot.cli.output import STDOUT, emit, look_for
from troubleshoot.cli.progress import ReadProgress
from troubleshoot.errors import UsageError

if TYPE_CHECKING:
    from troubleshoot.engine import Engine
    from troubleshoot.suggest import Candidate, Suggestions

UNKNOWN_READ = 500  # unknown faults of a store that are looked at, the most frequent ones


@click.command(short_help="Show the lines of logs that are worth a rule.")
@click.argument("logs", nargs=-1, metavar="[LOG]...")
@click.option("--store", metavar="URL", help="Look at the unknown faults that a service has kept there, and at no log.")
@click.option(
    "--healthy", multiple=True, metavar="LOG", help="A log of a job that went well: its lines are no candidates."
)
@click.option("--top", type=click.IntRange(1), default=8, show_default=True, help="So many lines at most.")
@click.option(
    "--write",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write a draft of a rule for each line shown into this folder.",
)
@click.option("-f", "--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@pack_options
@common_options
def suggest(
    logs: tuple[str, ...],
    store: str | None,
    healthy: tuple[str, ...],
    top: int,
    folder: Path | None,
    format: str,
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    color: str,
    quiet: bool,
) -> None:
    """Show which lines of logs that no rule takes are worth one, best first, with the command that starts it.

    Lines that say the same thing are one. What healthy jobs print ranks low, and what a rule takes, drafts too, is left
    out. From standard input if there is no LOG.
    """
    from troubleshoot.engine import Engine
    from troubleshoot.report.suggestions import render_suggestions, suggestions_document

    if store is not None and logs:
        raise UsageError("logs and --store", help="one of the two")
    written_before = (str(folder),) if folder is not None and folder.is_dir() else ()  # what is there takes its lines
    engine = Engine.default((*rules, *written_before), default_rules=default_rules, drafts=True)
    with ReadProgress(quiet=quiet) as progress:
        told = _from_store(engine, store) if store is not None else _from_logs(engine, logs, healthy, progress)
    named = _named(told.candidates[:top], engine, folder)
    written = [write_rule(folder, id, _example_of(each)) for each, id in named] if folder is not None else []
    if format == "json":
        from troubleshoot.report.json import dump

        document = suggestions_document(told, named)
        if folder is not None:
            document["written"] = [str(path) for path in written]
        emit(dump(document, indent=2) + "\n", for_people=False)
        return
    emit(render_suggestions(told, named, look_for(STDOUT, color), commands=folder is None))
    if written:
        emit("Written:\n" + "".join(f"  {path}\n" for path in written) + f"Next: troubleshoot rules check {folder}\n")


def _from_logs(engine: Engine, logs: tuple[str, ...], healthy: tuple[str, ...], progress: ReadProgress) -> Suggestions:
    from troubleshoot.suggest import suggest as suggest_from_logs

    return suggest_from_logs(engine, choose_logs(logs), choose_logs(healthy) if healthy else (), progress)


def _from_store(engine: Engine, url: str) -> Suggestions:
    """Return suggestions from the store's unknown faults. The store is read as it is, and neither made nor migrated."""
    from sqlalchemy import create_engine
    from sqlalchemy.exc import SQLAlchemyError

    from troubleshoot.store.database import parse_url
    from troubleshoot.store.store import Store
    from troubleshoot.suggest import suggest_from_unknown

    parsed = parse_url(url)
    shown = parsed.render_as_string(hide_password=True)
    if parsed.get_backend_name() == "sqlite" and not Path(parsed.database or "").is_file():
        raise UsageError(f"no such store: {shown}", help="give the URL that `troubleshoot serve --store` has")
    try:
        store = Store(create_engine(parsed))
        try:
            unknown = store.unknown_faults(limit=UNKNOWN_READ, at_least=1)
        finally:
            store.close()
    except ModuleNotFoundError as error:
        raise UsageError(f"{shown} needs {error.name}", help="pip install 'troubleshoot[postgres]'") from error
    except SQLAlchemyError as error:
        why = str(getattr(error, "orig", None) or error).strip().split("\n")[0]
        raise UsageError(
            f"the store {shown} cannot be read: {why}", help="is it there, and used by `serve`?"
        ) from error
    return suggest_from_unknown(
        engine, ({"sample": each.sample, "reason": each.reason, "number": each.number} for each in unknown)
    )


def _example_of(candidate: Candidate) -> str:
    """Return the candidate's line as its log has it, without secrets."""
    from troubleshoot.ingest.lines import read_lines
    from troubleshoot.report.redact import redact_text

    if not candidate.can_be_read_again:
        return redact_text(candidate.sample)
    return redact_text(read_lines(f"{candidate.source}:{candidate.line}", 1))


def _named(candidates: tuple[Candidate, ...], engine: Engine, folder: Path | None) -> list[tuple[Candidate, str]]:
    """Return the candidates with ids that are still free, in the pack and in the folder."""
    from troubleshoot.report.redact import redact_text
    from troubleshoot.rulepack.naming import suggest_id
    from troubleshoot.rulepack.scaffold import text_from_line

    domains = {rule.domain for rule in engine.pack.rules.values()}
    used = set(engine.pack.rules)
    named = []
    for candidate in candidates:
        id = suggest_id(
            text_from_line(redact_text(candidate.sample)),
            domains,
            lambda id: id not in used and not (folder is not None and (folder / f"{id}.yaml").exists()),
        )
        used.add(id)
        named.append((candidate, id))
    return named


COMMANDS = (suggest,)
