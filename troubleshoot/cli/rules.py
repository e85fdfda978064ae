"""`troubleshoot rules`: see what is known, check what was written, start something new."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from troubleshoot.cli.authoring import COMMANDS as AUTHOR_COMMANDS
from troubleshoot.cli.checking import COMMANDS as CHECK_COMMANDS
from troubleshoot.cli.options import (
    common_options,
    complete_rule_id,
    language_option,
    nearest,
    pack_options,
)
from troubleshoot.cli.output import STDOUT, emit, look_for
from troubleshoot.cli.packs import COMMANDS as PACK_COMMANDS
from troubleshoot.cli.suggesting import COMMANDS as SUGGEST_COMMANDS
from troubleshoot.cli.translating import COMMANDS as TRANSLATE_COMMANDS
from troubleshoot.cli.trying import COMMANDS as TRY_COMMANDS
from troubleshoot.errors import UsageError
from troubleshoot.language import say, speaking
from troubleshoot.report.look import SEVERITY_STYLE, Look
from troubleshoot.report.printable import cut_end, one_line, pad

if TYPE_CHECKING:
    from troubleshoot.model import Rule, RulePack

FORMAT = click.option(
    "-f", "--format", "format", type=click.Choice(["text", "json"]), default="text", show_default=True
)


@click.group()
def rules() -> None:
    """List, show, check and write rules."""


# --- list and show ---------------------------------------------------------------------------------------------------


@rules.command("list", short_help="List or search rules.")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--domain", help="Only rules of this folder: efa, nccl, gpu, ...")
@click.option("--system", help="Only rules about this system.")
@FORMAT
@language_option
@pack_options
@common_options
def list_rules(
    words: tuple[str, ...],
    domain: str | None,
    system: str | None,
    format: str,
    lang: str,
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    color: str,
    quiet: bool,
) -> None:
    """List rules; with WORDs, those whose id, title or explanation holds all of them."""
    from troubleshoot.localise import language_of, localise_pack
    from troubleshoot.rulepack.search import rule_summary, search_rules

    pack = localise_pack(_load(rules, default_rules, drafts), lang)
    found = search_rules(pack, words, domain=domain, system=system)
    if format == "json":
        from troubleshoot.report.json import dump

        emit(dump([rule_summary(rule) for rule in found], indent=2) + "\n", for_people=False)
        return
    look = look_for(STDOUT, color)
    width = max((len(rule.id) for rule in found), default=0)
    with speaking(language_of(lang)):
        lines = [_row(rule, width, look) for rule in found]
    more = f" of {len(pack.rules)}" if len(found) != len(pack.rules) else ""
    emit(
        "".join(f"{line}\n" for line in lines) + f"{len(found)}{more} rules. `troubleshoot rules show ID` shows one.\n",
        paged=True,
    )


def _row(rule: Rule, width: int, look: Look) -> str:
    severity = say("good news") if rule.kind.value == "confirmation" else say(rule.severity.word)
    status = "" if rule.status.value == "stable" else f" ({rule.status.value})"
    title = one_line(rule.title)
    if sys.stdout is not None and sys.stdout.isatty():  # a pipe gets the whole title, to search in
        title = cut_end(title, max(look.width - width - 13 - len(status), 20), look.ellipsis)
    title += status
    return f"{rule.id:<{width}}  {look.paint(pad(severity, 9), *SEVERITY_STYLE[rule.severity])}  {title}"


@rules.command(short_help="Show one rule as a page.")
@click.argument("rule_id", metavar="ID", shell_complete=complete_rule_id)
@FORMAT
@language_option
@pack_options
@common_options
def show(
    rule_id: str,
    format: str,
    lang: str,
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    color: str,
    quiet: bool,
) -> None:
    """Show one rule: what you see, what it means, what to do, how to be sure, what looks alike."""
    from troubleshoot.localise import language_of, localise_rule

    rule = localise_rule(_find(_load(rules, default_rules, True), rule_id), lang)
    if format == "json":
        from troubleshoot.report.json import dump
        from troubleshoot.rulepack.document import rule_document

        emit(dump(rule_document(rule), indent=2) + "\n", for_people=False)
        return
    from troubleshoot.rulepack.docs import rule_page

    with speaking(language_of(lang)):
        emit(rule_page(rule), paged=True)


def _find(pack: RulePack, rule_id: str) -> Rule:
    from troubleshoot.rulepack.packs import find_rule

    rule = find_rule(pack, rule_id.removesuffix(".yaml").removeprefix("rules/"))
    if rule is None:
        help = nearest(rule_id, list(pack.rules)) or "`troubleshoot rules list WORD` searches"
        raise UsageError(f"no rule {rule_id!r}", help=help)
    return rule


# --- docs ------------------------------------------------------------------------------------------------------------


@rules.command()
@click.argument("folder", type=click.Path(file_okay=False))
@click.option("--indexes", is_flag=True, help="Write only an index into each domain's folder of the pack in FOLDER.")
@click.option("--markdown", is_flag=True, help="Write Markdown: a page per rule and an index, without the search.")
@pack_options
@common_options
def docs(
    folder: str,
    indexes: bool,
    markdown: bool,
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    color: str,
    quiet: bool,
) -> None:
    """Write a site into FOLDER: a page per rule, what programs print, the reference, a search. It needs no server."""
    if indexes:
        from troubleshoot.rulepack.docs import write_indexes

        own = _load((folder,), False, True)
        emit(f"{len(write_indexes(own, Path(folder)))} indexes in {folder}\n")
        return
    pack = _load(rules, default_rules, drafts)
    if markdown:
        from troubleshoot.rulepack.docs import write_docs

        emit(f"{len(write_docs(pack, Path(folder)))} pages in {folder}\n")
        return
    from troubleshoot.docs.site import build_site

    written = build_site(pack, Path(folder))
    pages = sum(path.suffix == ".html" for path in written)
    emit(f"{pages} pages in {folder}: open {Path(folder) / 'index.html'}\n")


def _load(rules: Sequence[str], default_rules: bool, drafts: bool) -> RulePack:
    from troubleshoot.rulepack.load import load_pack

    return load_pack(rules, drafts=drafts, default_rules=default_rules)


for _command in (
    *CHECK_COMMANDS,
    *TRY_COMMANDS,
    *AUTHOR_COMMANDS,
    *SUGGEST_COMMANDS,
    *TRANSLATE_COMMANDS,
    *PACK_COMMANDS,
):
    rules.add_command(_command)
