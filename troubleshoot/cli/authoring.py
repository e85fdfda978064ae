"""`troubleshoot rules new|schema`: start a rule from log lines, and give an editor what it completes from."""

from __future__ import annotations

from pathlib import Path

import click

from troubleshoot.cli.failing import say
from troubleshoot.cli.options import common_options, is_stdin_terminal, stdin_stream
from troubleshoot.cli.output import STDOUT, emit
from troubleshoot.errors import UsageError

SCHEMAS = ("rule", "pack", "shared", "table", "overrides", "translation", "report")
FOLDER = click.option(
    "--dir", "folder", type=click.Path(file_okay=False), default="rules", show_default=True, help="Where rules live."
)


@click.command(short_help="Start a rule from log lines.")
@click.argument("rule_id", metavar="DOMAIN/FAULT")
@click.argument("log", default="-", metavar="[LOG[:LINE[-LINE]]]")
@FOLDER
@click.option("--force", is_flag=True, help="Write over a rule that is there.")
@common_options
def new(rule_id: str, log: str, folder: str, force: bool, color: str, quiet: bool) -> None:
    """Start a rule from log lines: standard input, a file, or the lines of one that a report names (job.log:812).

    The varying parts become holes, and the lines the rule's first example.
    """
    from troubleshoot.rulepack.scaffold import EXAMPLE_LINES

    if log == "-":
        if is_stdin_terminal():
            say("Paste the log lines of the fault, then press Ctrl-D.")
        text = stdin_stream().read().decode("utf-8", "replace")
        if text.count("\n") > EXAMPLE_LINES:
            help = "keep those that show the fault, or name them: job.log:40-52"
            raise UsageError(f"more than {EXAMPLE_LINES} lines", help=help)
    else:
        from troubleshoot.ingest.lines import read_lines

        text = read_lines(log, EXAMPLE_LINES)
    if "\0" in text:
        raise UsageError("the lines are not text", help="name the lines of a log: job.log:40-52")
    path = write_rule(Path(folder), rule_id, text, force=force)
    emit(
        f"{path}\nFill in what is marked, then:\n"
        f"  troubleshoot rules check --watch {path}\n"
        f"  troubleshoot rules test {path} LOG\n"
    )


def write_rule(folder: Path, rule_id: str, text: str, *, force: bool = False) -> Path:
    """Write a new rule's file, and the schemas that editors read beside it; return its path.
    Raises UsageError for lines or an id that no rule can be made of, and for a file that is there already."""
    from troubleshoot.near_misses import near_misses
    from troubleshoot.report.redact import redact_text
    from troubleshoot.rulepack.editors import modeline, write_schemas
    from troubleshoot.rulepack.load import load_pack
    from troubleshoot.rulepack.scaffold import scaffold_rule

    path = folder / f"{rule_id}.yaml"
    if path.exists() and not force:
        raise UsageError(f"{path} is already there", help="choose another id, or --force")
    document = scaffold_rule(rule_id, redact_text(text), lambda new: near_misses(load_pack(overrides=None), new))
    document = f"{modeline('rule', rule_id.count('/'))}\n{document}"
    path.parent.mkdir(parents=True, exist_ok=True)
    emit(document, str(path))
    write_schemas(folder)
    return path


@click.command(short_help="Print a JSON Schema, or tie a folder of rules to its schemas.")
@click.argument("of", type=click.Choice(SCHEMAS), default="rule")
@click.option(
    "--into",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    metavar="DIR",
    help="Write the schemas into this folder of rules, and into each file the line by which editors find them.",
)
@click.option("-o", "--output", default=STDOUT, metavar="FILE", help="Write there; - is standard output.")
@common_options
def schema(of: str, into: Path | None, output: str, color: str, quiet: bool) -> None:
    """Print the JSON Schema of a rule, for editors, of another file of a pack, of overrides, or of a report.

    With --into, an editor with a YAML language server completes and checks all files of that folder.
    """
    from troubleshoot.rulepack.editors import associate, schema_text

    if into is not None:
        changed = associate(into)
        emit("".join(f"{path}\n" for path in changed) + f"{len(changed)} files written.\n")
    elif of == "report":
        from troubleshoot.report.json import dump
        from troubleshoot.report.schema import report_schema

        emit(dump(report_schema(), indent=2) + "\n", output, for_people=False)
    else:
        emit(schema_text(of), output, for_people=False)


COMMANDS = (new, schema)
