"""`troubleshoot rules check`: all that is wrong with rules, once or at each save."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from troubleshoot.cli.failing import COULD_NOT_RUN
from troubleshoot.cli.options import common_options
from troubleshoot.cli.output import emit
from troubleshoot.report.printable import visible

if TYPE_CHECKING:
    from troubleshoot.errors import Problem

FORMAT = click.option(
    "-f", "--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True
)


@click.command(short_help="Check rule files: all problems, lints, examples.")
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


COMMANDS = (check,)
