"""`troubleshoot rules check`: all that is wrong with rules, once or at each save."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from troubleshoot.cli.failing import COULD_NOT_RUN
from troubleshoot.cli.options import common_options
from troubleshoot.cli.output import STDOUT, emit, look_for
from troubleshoot.errors import Problem, TroubleshootError, UsageError
from troubleshoot.report.look import Look
from troubleshoot.report.printable import visible

if TYPE_CHECKING:
    from troubleshoot.rulepack.assemble import Memory

FORMAT = click.option(
    "-f", "--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True
)


@click.command(short_help="Check rule files: all problems, lints, examples.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--strict", is_flag=True, help="Warnings fail too.")
@click.option("--watch", is_flag=True, help="Check again at each save, until interrupted.")
@click.option(
    "--default-rules/--no-default-rules",
    default=True,
    help="Try the shipped rules on the examples too, or not: for a pack that is used without them.",
)
@FORMAT
@common_options
def check(
    paths: tuple[str, ...], strict: bool, watch: bool, default_rules: bool, format: str, color: str, quiet: bool
) -> int:
    """Check rules: every problem of every file, the lints, each rule's examples and the other rules on them.

    PATH is a folder of rules or one rule's file; without one, the shipped rules. Exits with 2 if there is an error.
    With --watch and --format json, each verdict is one line.
    """
    if not paths and not default_rules:
        raise UsageError("--no-default-rules and no PATH: there is nothing to check", help="give a folder of rules")
    if watch:
        return _watch(paths, strict, format, look_for(STDOUT, color), default_rules)
    problems = find_all_problems(paths, default_rules=default_rules)
    if format == "json":
        from troubleshoot.report.json import dump

        emit(dump([_wire_problem(each) for each in problems], indent=2) + "\n", for_people=False)
    else:
        look = look_for(STDOUT, color)
        emit("".join(map(partial(_told, look), problems)) + _verdict(problems), paged=True)
    return _code(problems, strict)


def _told(look: Look, problem: Problem) -> str:
    """Return a problem with an empty line below it: severity and caret painted, where there is colour."""
    told = visible(str(problem))
    style = "red" if problem.severity == "error" else "yellow"
    told = look.paint(problem.severity, "bold", style) + told.removeprefix(problem.severity)
    lines = [look.paint(line, style) if line.strip() == "^" else line for line in told.split("\n")]
    return "\n".join(lines) + "\n\n"


def _code(problems: Sequence[Problem], strict: bool) -> int:
    return COULD_NOT_RUN if (strict and problems) or any(each.severity == "error" for each in problems) else 0


def _watch(paths: Sequence[str], strict: bool, format: str, look: Look, default_rules: bool) -> int:
    """Say the verdict now and at each save, until interrupted; return the exit code of the last one."""
    from troubleshoot.rulepack import changes

    given = [Path(path) for path in paths]
    memory: Memory = {}
    changed: list[str] = []
    code = 0
    state = changes.look(given)
    if not any(size >= 0 for size, *_ in state.values()):
        raise UsageError(f"no such file or folder: {paths[0]}", help="give a folder of rules, or one rule's file")
    try:
        while True:
            try:
                problems = find_all_problems(paths, memory, default_rules=default_rules)
            except TroubleshootError as error:  # a file that is gone may come back
                problems = [Problem("R013", error.text, help=error.help)]
            code = _code(problems, strict)
            _say_verdict(problems, changed, format, look)
            state, changed = changes.wait_for_change(given, state)
    except KeyboardInterrupt:
        return code


def _say_verdict(problems: Sequence[Problem], changed: Sequence[str], format: str, look: Look) -> None:
    now = datetime.now(UTC).astimezone()
    if format == "json":
        told = {"time": now.isoformat(timespec="seconds"), "changed": list(changed)}
        emit(json.dumps({**told, "problems": [_wire_problem(each) for each in problems]}) + "\n", for_people=False)
        return
    if sys.stdout is not None and sys.stdout.isatty():
        click.clear()
    what = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if changed[3:] else "") if changed else "Watching"
    head = look.paint(visible(f"{now:%H:%M:%S}  {what}"), "dim")
    verdict = _verdict(problems)
    style = "green" if not problems else "red" if any(each.severity == "error" for each in problems) else "yellow"
    body = "".join(map(partial(_told, look), problems))
    emit(f"{head}\n\n{body}{look.paint(verdict.rstrip(), 'bold', style)}\n\n")


def find_all_problems(
    paths: Sequence[str], memory: Memory | None = None, *, default_rules: bool = True
) -> list[Problem]:
    """Return what is wrong with the rules of these paths: errors first, those of loading before those of lints.
    `memory` keeps what was parsed, for whoever asks again and again. `default_rules`: the shipped ones are beside."""
    from troubleshoot.engine import Engine
    from troubleshoot.rulepack.files import default_rules_dir, list_translations
    from troubleshoot.rulepack.lint import lint_pack
    from troubleshoot.rulepack.lint_translations import lint_translations, rule_of
    from troubleshoot.rulepack.load import find_problems, load_pack
    from troubleshoot.scan.planner import choose

    given = [Path(path) for path in paths]
    folders = list(dict.fromkeys(rule_of(path) for path in given))
    problems = find_problems(folders, memory)
    pack = load_pack(
        folders, drafts=True, default_rules=default_rules, overrides=None, cache=memory is None, memory=memory
    )
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


def _verdict(problems: Sequence[Problem]) -> str:
    if not problems:
        return "All rules are well.\n"
    errors = sum(each.severity == "error" for each in problems)
    counted = ((errors, "error"), (len(problems) - errors, "warning"))
    parts = [f"{number} {word}{'s' * (number != 1)}" for number, word in counted if number]
    return f"{' and '.join(parts)}.\n"


COMMANDS = (check,)
