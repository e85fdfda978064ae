"""`troubleshoot rules`: see what is known, check what was written, start something new."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from troubleshoot.cli.failing import COULD_NOT_RUN, say
from troubleshoot.cli.options import (
    common_options,
    complete_rule_id,
    is_stdin_terminal,
    nearest,
    pack_options,
    stdin_stream,
)
from troubleshoot.cli.output import STDOUT, emit, look_for
from troubleshoot.cli.packs import COMMANDS as PACK_COMMANDS
from troubleshoot.errors import UsageError
from troubleshoot.report.look import SEVERITY_STYLE, Look
from troubleshoot.report.printable import cut_end, one_line, visible

if TYPE_CHECKING:
    from troubleshoot.errors import Problem
    from troubleshoot.model import Rule, RulePack

FORMAT = click.option(
    "-f", "--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True
)
OUTPUT = click.option("-o", "--output", default=STDOUT, metavar="FILE", help="Write there; - is standard output.")


@click.group()
def rules() -> None:
    """List, show, check and write rules."""


# --- list and show ---------------------------------------------------------------------------------------------------


@rules.command("list", short_help="List or search rules.")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--domain", help="Only rules of this folder: efa, nccl, gpu, ...")
@click.option("--system", help="Only rules about this system.")
@FORMAT
@pack_options
@common_options
def list_rules(
    words: tuple[str, ...],
    domain: str | None,
    system: str | None,
    format: str,
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    color: str,
    quiet: bool,
) -> None:
    """List rules; with WORDs, those whose id, title or explanation holds all of them."""
    from troubleshoot.rulepack.search import rule_summary, search_rules

    pack = _load(rules, default_rules, drafts)
    found = search_rules(pack, words, domain=domain, system=system)
    if format == "json":
        from troubleshoot.report.json import dump

        emit(dump([rule_summary(rule) for rule in found], indent=2) + "\n", for_people=False)
        return
    look = look_for(STDOUT, color)
    width = max((len(rule.id) for rule in found), default=0)
    lines = [_row(rule, width, look) for rule in found]
    more = f" of {len(pack.rules)}" if len(found) != len(pack.rules) else ""
    emit(
        "".join(f"{line}\n" for line in lines) + f"{len(found)}{more} rules. `troubleshoot rules show ID` shows one.\n"
    )


def _row(rule: Rule, width: int, look: Look) -> str:
    severity = "good news" if rule.kind.value == "confirmation" else rule.severity.word
    status = "" if rule.status.value == "stable" else f" ({rule.status.value})"
    title = one_line(rule.title)
    if sys.stdout is not None and sys.stdout.isatty():  # a pipe gets the whole title, to search in
        title = cut_end(title, max(look.width - width - 13 - len(status), 20), look.ellipsis)
    title += status
    return f"{rule.id:<{width}}  {look.paint(f'{severity:<9}', *SEVERITY_STYLE[rule.severity])}  {title}"


@rules.command(short_help="Show one rule as a page.")
@click.argument("rule_id", metavar="ID", shell_complete=complete_rule_id)
@FORMAT
@pack_options
@common_options
def show(
    rule_id: str,
    format: str,
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    color: str,
    quiet: bool,
) -> None:
    """Show one rule: what you see, what it means, what to do, how to be sure, what looks alike."""
    rule = _find(_load(rules, default_rules, True), rule_id)
    if format == "json":
        from troubleshoot.report.json import dump
        from troubleshoot.rulepack.document import rule_document

        emit(dump(rule_document(rule), indent=2) + "\n", for_people=False)
        return
    from troubleshoot.rulepack.docs import rule_page

    emit(rule_page(rule))


def _find(pack: RulePack, rule_id: str) -> Rule:
    from troubleshoot.rulepack.packs import find_rule

    rule = find_rule(pack, rule_id.removesuffix(".yaml").removeprefix("rules/"))
    if rule is None:
        help = nearest(rule_id, list(pack.rules)) or "`troubleshoot rules list WORD` searches"
        raise UsageError(f"no rule {rule_id!r}", help=help)
    return rule


# --- check -----------------------------------------------------------------------------------------------------------


@rules.command(short_help="Check rule files: all problems, lints, examples.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--strict", is_flag=True, help="Warnings fail too.")
@FORMAT
@common_options
def check(paths: tuple[str, ...], strict: bool, format: str, color: str, quiet: bool) -> int:
    """Check rules: every problem of every file, the lints, each rule's examples and the other rules on them.

    PATH is a folder of rules or one rule's file; without one, the shipped rules. Exits with 2 if there is an error.
    """
    problems = find_all_problems(paths)
    errors = [each for each in problems if each.severity == "error"]
    if format == "json":
        from troubleshoot.report.json import dump

        emit(dump([_wire_problem(each) for each in problems], indent=2) + "\n", for_people=False)
    else:
        told = "".join(f"{each}\n\n" for each in problems)
        emit(visible(told) + _verdict(len(errors), len(problems) - len(errors)))
    return COULD_NOT_RUN if errors or (strict and problems) else 0


def find_all_problems(paths: Sequence[str]) -> list[Problem]:
    """Return what is wrong with the rules of these paths: errors first, those of loading before those of lints."""
    from troubleshoot.engine import Engine
    from troubleshoot.rulepack.files import default_rules_dir, list_translations
    from troubleshoot.rulepack.lint import lint_pack
    from troubleshoot.rulepack.lint_translations import lint_translations, rule_of
    from troubleshoot.rulepack.load import find_problems, load_pack
    from troubleshoot.scan.planner import choose

    given = [Path(path) for path in paths]
    folders = list(dict.fromkeys(rule_of(path) for path in given))
    problems = find_problems(folders)
    pack = load_pack(folders, drafts=True, overrides=None)
    only = {rule.id for rule in pack.rules.values() if _is_below(rule.path, folders)} if folders else None
    linted = lint_pack(pack, Engine(pack).scan_texts, only=only, choose=choose)
    linted += lint_translations(list_translations(given or [default_rules_dir()]), pack)
    return sorted([*problems, *linted], key=lambda each: each.severity != "error")


def _is_below(path: str, folders: Iterable[Path]) -> bool:
    rule = Path(path).resolve()
    return any(rule.is_relative_to(folder.resolve()) for folder in folders)


def _wire_problem(problem: Problem) -> Mapping[str, object]:
    place = problem.place
    return {
        "code": problem.code,
        "severity": problem.severity,
        "text": problem.text,
        "path": place.path if place else None,
        "line": place.line if place else None,
        "column": place.column if place else None,
        "excerpt": problem.excerpt,
        "help": problem.help,
    }


def _verdict(errors: int, warnings: int) -> str:
    if not errors and not warnings:
        return "All rules are well.\n"
    parts = [
        f"{number} {word}{'s' * (number != 1)}" for number, word in ((errors, "error"), (warnings, "warning")) if number
    ]
    return f"{' and '.join(parts)}.\n"


# --- schema, new, docs -----------------------------------------------------------------------------------------------


@rules.command(short_help="Print the JSON Schema of a rule or a report.")
@click.argument("of", type=click.Choice(["rule", "report"]), default="rule")
@OUTPUT
@common_options
def schema(of: str, output: str, color: str, quiet: bool) -> None:
    """Print the JSON Schema of a rule file, for editors, or of a report."""
    from troubleshoot.report.json import dump
    from troubleshoot.report.schema import report_schema
    from troubleshoot.rulepack.jsonschema import rule_schema

    emit(dump(report_schema() if of == "report" else rule_schema(), indent=2) + "\n", output, for_people=False)


@rules.command(short_help="Start a rule from log lines.")
@click.argument("rule_id", metavar="DOMAIN/FAULT")
@click.argument("log", default="-", metavar="[LOG]")
@click.option(
    "--dir", "folder", type=click.Path(file_okay=False), default="rules", show_default=True, help="Where rules live."
)
@click.option("--force", is_flag=True, help="Write over a rule that is there.")
@common_options
def new(rule_id: str, log: str, folder: str, force: bool, color: str, quiet: bool) -> None:
    """Start a rule from log lines: LOG, or standard input.

    The varying parts become holes, and the lines the rule's first example.
    """
    from troubleshoot.rulepack.scaffold import scaffold_rule

    if log == "-" and is_stdin_terminal():
        say("Paste the log lines of the fault, then press Ctrl-D.")
    data = stdin_stream().read() if log == "-" else Path(log).read_bytes()
    document = scaffold_rule(rule_id, data.decode("utf-8", "replace"))
    path = Path(folder, f"{rule_id}.yaml")
    if path.exists() and not force:
        raise UsageError(f"{path} is already there", help="choose another id, or --force")
    path.parent.mkdir(parents=True, exist_ok=True)
    emit(document, str(path))
    emit(f"{path}\nFill in what is marked, then: troubleshoot rules check {path}\n")


@rules.command()
@click.argument("folder", type=click.Path(file_okay=False))
@pack_options
@common_options
def docs(folder: str, rules: tuple[str, ...], default_rules: bool, drafts: bool, color: str, quiet: bool) -> None:
    """Write one page per rule and an index into FOLDER."""
    from troubleshoot.rulepack.docs import write_docs

    written = write_docs(_load(rules, default_rules, drafts), Path(folder))
    emit(f"{len(written)} pages in {folder}\n")


def _load(rules: Sequence[str], default_rules: bool, drafts: bool) -> RulePack:
    from troubleshoot.rulepack.load import load_pack

    return load_pack(rules, drafts=drafts, default_rules=default_rules)


for _command in PACK_COMMANDS:
    rules.add_command(_command)
