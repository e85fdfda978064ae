"""Lints of translations: files beside rules that would show a reader something old, broken or of no rule.

    rules/efa/not-used.zh-CN.yaml:1:5   explanation is a translation of an older text
      help: translate it anew, then `of: 3fa1c2 9bc277 - 77de01`

A rule works without its translation, so what only makes English stand in is a warning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from troubleshoot.errors import Problem
from troubleshoot.language import canonical
from troubleshoot.model import Fix, Place, Rule, RulePack
from troubleshoot.rulepack.files import translation_of
from troubleshoot.rulepack.positions import Document
from troubleshoot.rulepack.positions import Path as Where
from troubleshoot.rulepack.scaffold import PLACEHOLDER
from troubleshoot.rulepack.shape import did_you_mean
from troubleshoot.rulepack.text import RESERVED_NAMES
from troubleshoot.rulepack.translations import (
    COMMANDS,
    Translation,
    digests,
    next_steps,
    read_translation,
    stale_parts,
    translation_path,
)

_CAPTURE = re.compile(r"(?<!\{)\{([a-z][a-z0-9_]*)\}(?!\})")
# what a reader types or searches for: code spans, variables, paths, flags, libraries, captures, dotted numbers
_NAMES = re.compile(
    r"`[^`\n]+`|\{[a-z][a-z0-9_]*\}|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|(?<![\w./])/[\w./-]+[\w]|(?<!\S)--[a-z][\w-]+"
    r"|\b[\w-]+\.so(?:\.\d+)*\b|(?<![\w.])\d+(?:\.\d+)+(?![\w.]*\w)"
)


def lint_translations(files: Sequence[Path], pack: RulePack) -> list[Problem]:
    """Return what is wrong with these translations of a pack's rules, file by file."""
    by_path = {Path(rule.path).resolve(): rule for rule in pack.rules.values() if rule.path}
    return [problem for file in files for problem in _lint(file, by_path, pack)]


def _lint(file: Path, by_path: dict[Path, Rule], pack: RulePack) -> Iterator[Problem]:
    named = translation_of(file.name)
    shown = _shown(file)
    if named is None:
        return
    fault, tag = named
    if not (file.parent / f"{fault}.yaml").exists():
        return  # told of when the pack was read
    if canonical(tag) != tag:
        help = f"name it `{fault}.{canonical(tag)}.yaml`"
        yield Problem("T007", f"`{tag}` is no language tag as it is written", Place(shown), help=help)
        return
    rule = by_path.get((file.parent / f"{fault}.yaml").resolve())
    if rule is None:
        yield Problem("T002", "its rule does not load", Place(shown), help="mend the rule first", severity="warning")
        return
    read = read_translation(str(translation_path(rule.path, tag)), tag)
    yield from read.document.problems
    if read.translation is not None:
        yield from _unwritten(read.document)
        yield from _stale(rule, read.translation, read.document)
        yield from _fits(rule, read.translation, read.document)
        yield from _looked_up(rule, read.translation, read.document, pack)
        yield from _names(rule, read.translation, read.document, pack)


def _shown(file: Path) -> str:
    try:
        return str(file.resolve().relative_to(Path.cwd()))
    except (OSError, ValueError):
        return str(file)


def _stale(rule: Rule, translation: Translation, document: Document) -> Iterator[Problem]:
    """T001: what was changed since; the reader gets English there."""
    stale = stale_parts(rule, translation)
    fresh = " ".join(digests(rule))
    if stale:
        help = f"look at them again, then write `of: {fresh}`" if len(stale) > 1 else f"then write `of: {fresh}`"
        yield document.problem(
            "T001", f"a translation of an older text: {', '.join(stale)}", document.place(("of",)), help, "warning"
        )
    elif len(translation.of) != len(digests(rule)):
        yield document.problem(
            "T001", "`of` has more parts than the rule", document.place(("of",)), f"write `of: {fresh}`", "warning"
        )


def _unwritten(document: Document) -> Iterator[Problem]:
    """L018: what `rules translate` left to be written, told once for all of it."""
    places = [
        document.place(where)
        for where in document.styles
        if PLACEHOLDER in str(_at(document.data, where)) and where != ("of",)
    ]
    if places:
        lines = ", ".join(dict.fromkeys(str(place.line) for place in places))
        what = f"`{PLACEHOLDER}` left on line{'s' * (',' in lines)} {lines}"
        yield document.problem("L018", what, places[0], "write the text, or remove its key", "warning")


def _at(data: Any, where: Where) -> Any:
    for step in where:
        data = data[step]
    return data


def _fits(rule: Rule, translation: Translation, document: Document) -> Iterator[Problem]:
    """T003, T006: fixes, variants, next steps and look-ups that the rule has not."""
    if translation.fixes and len(translation.fixes) != len(rule.fixes):
        text = f"{len(translation.fixes)} fixes, and the rule has {len(rule.fixes)}"
        help = "one entry per fix in the rule's order; `{}` for one that stays English"
        yield document.problem("T003", text, document.place(("fixes",), key=True), help)
    if len(translation.next) > len(next_steps(rule)):
        text = f"{len(translation.next)} next steps, and the rule has {len(next_steps(rule))}"
        yield document.problem("T006", text, document.place(("next",), key=True), "one per `next:` of the rule")
    if translation.explanation and not rule.explanation:
        yield document.problem("T006", "the rule has no explanation", document.place(("explanation",), key=True))
    for index, (fix, texts) in enumerate(zip(rule.fixes, translation.fixes, strict=False)):
        for platform in texts.variants:
            where = document.place(("fixes", index, "variants", platform), key=True)
            if platform not in fix.variants:
                help = did_you_mean(platform, fix.variants, "variant")
                yield document.problem("T006", f"the fix has no variant `{platform}`", where, help)
            elif platform in COMMANDS:
                yield document.problem("T006", f"`{platform}` is a command, which stays as it is", where, "remove it")
        if texts.expect and (fix.verify is None or not fix.verify.expect):
            where = document.place(("fixes", index, "expect"), key=True)
            yield document.problem("T006", "the fix expects nothing", where, "remove it")


def _looked_up(rule: Rule, translation: Translation, document: Document, pack: RulePack) -> Iterator[Problem]:
    """T006: look-ups that the rule has not, values that no look-up gives."""
    known = {lookup.name: lookup for lookup in rule.lookup}
    for name, values in translation.lookup.items():
        where = document.place(("lookup", name), key=True)
        lookup = known.get(name)
        if lookup is None:
            yield document.problem("T006", f"no look-up `{name}`", where, did_you_mean(name, known, "look-up"))
            continue
        rows = pack.tables.get(lookup.table, {}).values()
        given = {lookup.default, *(row.get(lookup.column, "") for row in rows)}
        for value in values:
            if value not in given:
                where = document.place(("lookup", name, value), key=True)
                yield document.problem("T006", f"no value `{value}` of `{name}`", where, did_you_mean(value, given))


def _names(rule: Rule, translation: Translation, document: Document, pack: RulePack) -> Iterator[Problem]:
    """T004, T005: a capture that would show its braces; a name or command that only the English text has."""
    holes = {hole for each in rule.signatures.values() for pattern in each.patterns for hole in pattern.holes}
    known = sorted({*holes, *(lookup.name for lookup in rule.lookup), *RESERVED_NAMES})
    stale = set(stale_parts(rule, translation))
    for part, english, text, where in _pairs(rule, translation):
        for name in dict.fromkeys(_CAPTURE.findall(text)):
            if name not in known:
                yield document.problem("T004", f"no capture `{name}`", document.place(where), did_you_mean(name, known))
        if part in stale:
            continue
        lost = [name for name in dict.fromkeys(_NAMES.findall(english)) if name not in text]
        if lost:
            listed = ", ".join(name if name.startswith("`") else f"`{name}`" for name in lost)
            help = "what a reader types or searches for stays as it is"
            yield document.problem(
                "T005", f"not here, but in the English text: {listed}", document.place(where), help, "warning"
            )


def _pairs(rule: Rule, translation: Translation) -> Iterator[tuple[str, str, str, Where]]:
    """Yield part, English text, translated text and its path, for each text that is translated."""
    if translation.title:
        yield "title", rule.title, translation.title, ("title",)
    if translation.explanation:
        yield "explanation", rule.explanation, translation.explanation, ("explanation",)
    for english, text in zip(next_steps(rule), translation.next, strict=False):
        yield "next", english, text, ("next",)
    for index, (fix, texts) in enumerate(zip(rule.fixes, translation.fixes, strict=False)):
        part, below = f"fix {index + 1}", ("fixes", index)
        for key, english, text in _fix_pairs(fix, texts.title, texts.do, texts.expect):
            if text:
                yield part, english, text, (*below, key)
        for platform, text in texts.variants.items():
            yield part, fix.variants.get(platform, ""), text, (*below, "variants", platform)


def _fix_pairs(fix: Fix, title: str, do: str, expect: str) -> Iterator[tuple[str, str, str]]:
    yield "title", fix.title, title
    yield "do", fix.do, do
    yield "expect", fix.verify.expect if fix.verify is not None else "", expect


def rule_of(file: Path) -> Path:
    """Return the file of the rule that a translation stands beside."""
    named = translation_of(file.name)
    return file if named is None else file.parent / f"{named[0]}.yaml"
