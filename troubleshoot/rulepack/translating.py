"""A translation to start from, and the word that one still fits.

scaffold_translation(rule, "de")     every text in English as a remark, and TODO below it
restamped(text, rule)                the same file, with `of` as of now
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from troubleshoot.model import Rule
from troubleshoot.rulepack.editors import modeline
from troubleshoot.rulepack.scaffold import PLACEHOLDER
from troubleshoot.rulepack.translations import digests, next_steps, prose_variants

_WIDTH = 118
_OF = re.compile(r"^of:.*$", re.MULTILINE)


def scaffold_translation(rule: Rule, language: str) -> str:
    """Return the file of a translation that is still to be written."""
    return "\n".join(_lines(rule, language)) + "\n"


def restamped(text: str, rule: Rule) -> str:
    """Return a translation's file with `of` as it must be for the rule's texts of now."""
    stamp = f"of: {' '.join(digests(rule))}"
    return _OF.sub(stamp, text, count=1) if _OF.search(text) else f"{stamp}\n{text}"


def _lines(rule: Rule, language: str) -> Iterator[str]:
    yield modeline("translation", rule.id.count("/"))
    yield f"# {rule.id} in {language}: captures, commands and names stay as they are; what is left out stays English"
    yield f"of: {' '.join(digests(rule))}"
    yield from _text("title", rule.title)
    yield from _text("explanation", rule.explanation)
    steps = next_steps(rule)
    if steps:
        yield "next:"
        for step in steps:
            yield from _remark(step, "  ")
            yield f"  - {PLACEHOLDER}"
    if rule.fixes:
        yield "fixes:"
    for fix in rule.fixes:
        yield from _remark(fix.title, "  ")
        yield f"  - title: {PLACEHOLDER}"
        yield from _text("do", fix.do, "    ")
        yield from _text("expect", fix.verify.expect if fix.verify is not None else "", "    ")
        variants = prose_variants(fix)
        if variants:
            yield "    variants:"
        for platform, text in variants:
            yield from _text(platform, text, "      ")


def _text(key: str, english: str, indent: str = "") -> Iterator[str]:
    if english:
        yield from _remark(english, indent)
        yield f"{indent}{key}: {PLACEHOLDER}"


def _remark(english: str, indent: str) -> Iterator[str]:
    for line in english.split("\n"):
        wrapped = textwrap.wrap(line, _WIDTH - len(indent), break_long_words=False, break_on_hyphens=False) or [""]
        yield from (f"{indent}# {each}".rstrip() for each in wrapped)
