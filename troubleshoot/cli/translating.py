"""`troubleshoot rules translate`: start the translation of a rule, or say that one still fits."""

from __future__ import annotations

from pathlib import Path

import click

from troubleshoot.cli.options import common_options, complete_rule_id, nearest, pack_options
from troubleshoot.cli.output import emit
from troubleshoot.errors import UsageError
from troubleshoot.language import ENGLISH, canonical


@click.command(short_help="Start a rule's translation, or say that it still fits.")
@click.argument("rule_id", metavar="ID", shell_complete=complete_rule_id)
@click.argument("language", metavar="TAG")
@click.option("--restamp", is_flag=True, help="The file is there and fits the rule's texts of now: write that into it.")
@pack_options
@common_options
def translate(
    rule_id: str,
    language: str,
    restamp: bool,
    rules: tuple[str, ...],
    default_rules: bool,
    drafts: bool,
    color: str,
    quiet: bool,
) -> None:
    """Start the translation of rule ID into the language TAG (zh-CN, de): a file beside the rule, to fill in."""
    from troubleshoot.rulepack.load import load_pack
    from troubleshoot.rulepack.packs import find_rule
    from troubleshoot.rulepack.translating import restamped, scaffold_translation
    from troubleshoot.rulepack.translations import translation_path

    pack = load_pack(rules, drafts=True, default_rules=default_rules)
    rule = find_rule(pack, rule_id)
    if rule is None:
        raise UsageError(f"no rule {rule_id!r}", help=nearest(rule_id, list(pack.rules)) or "see `rules list`")
    tag = canonical(language)
    if tag is None or tag == ENGLISH:
        raise UsageError(f"no language to translate into: {language!r}", help="a BCP 47 tag, such as zh-CN or de")
    path = translation_path(rule.path, tag)
    if path.exists() != restamp:
        help = "--restamp says that its texts still fit" if path.exists() else "without --restamp it is written"
        raise UsageError(f"{path} is {'already' if path.exists() else 'not'} there", help=help)
    text = restamped(_read(path), rule) if restamp else scaffold_translation(rule, tag)
    emit(text, str(path))
    emit(f"{path}\n" + ("" if restamp else f"Fill in what is marked, then: troubleshoot rules check {rule.path}\n"))


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error


COMMANDS = (translate,)
