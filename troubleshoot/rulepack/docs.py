"""Rules -> pages for people, in Markdown: one page per rule, and an index by domain.

Every page has the same headings: what you see, what it means, what to do, how to be sure, what looks alike, references.
Texts are the rule's own; captures stand in them as `{name}`, as in the rule.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from troubleshoot.model import Condition, Example, Fix, Kind, Op, Rule, RulePack, Signature
from troubleshoot.reach import reach_words
from troubleshoot.rulepack.document import window_words

LINES_SHOWN = 20  # of an example
INDEX = "index.md"
_CODE = re.compile(r"(`+[^`]*`+)")


def rule_page(rule: Rule) -> str:
    """Return the page of a rule."""
    parts = [
        f"# {_prose(rule.title)}",
        _summary(rule),
        "## What you see",
        *_what_you_see(rule),
        "## What it means",
        *_what_it_means(rule),
        "## What to do",
        *_what_to_do(rule),
        "## How to be sure",
        *_how_to_be_sure(rule),
        "## What looks alike",
        *_what_looks_alike(rule),
        "## References",
        _list([_reference(each) for each in rule.references]) or "None.",
    ]
    return "\n\n".join(parts) + "\n"


def index_page(pack: RulePack) -> str:
    """Return the index: a table of rules for each domain."""
    parts = ["# Rules", f"{len(pack.rules)} rules in {len({rule.domain for rule in pack.rules.values()})} domains."]
    for domain, rules in itertools.groupby(pack.rules.values(), key=lambda rule: rule.domain):
        rows = [f"| [{rule.id}]({rule.id}.md) | {_cell(rule.title)} | {_standing(rule)} |" for rule in rules]
        parts += [f"## {domain}", "\n".join(["| rule | what it is | severity |", "| --- | --- | --- |", *rows])]
    return "\n\n".join(parts) + "\n"


def write_docs(pack: RulePack, folder: Path) -> list[Path]:
    """Write the index and one page per rule below `folder`; return the files written. Raises OSError."""
    pages = {INDEX: index_page(pack), **{f"{id}.md": rule_page(rule) for id, rule in pack.rules.items()}}
    written = []
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        written.append(path)
    return written


# --- the parts of a page ---------------------------------------------------------------------------------------------


def _standing(rule: Rule) -> str:
    return "good news" if rule.kind is Kind.CONFIRMATION else rule.severity.word


def _summary(rule: Rule) -> str:
    words = [f"`{rule.id}`"]
    words += ["good news"] if rule.kind is Kind.CONFIRMATION else [f"severity {rule.severity.word}"]
    words.append(f"confidence {rule.confidence.word}")
    words += [rule.status.value] if rule.status.value != "stable" else []
    words += ["a symptom of something else"] if rule.symptom else []
    words += ["a catch-all"] if rule.generic else []
    if rule.systems:
        words.append("systems: " + ", ".join(rule.systems))
    return " · ".join(words)


def _what_you_see(rule: Rule) -> Iterator[str]:
    for example in rule.examples:
        if example.expect == "match":
            yield from _log(example)
            break
    yield "Looked for:"
    yield "\n".join(_signature(signature) for signature in rule.signatures.values())
    if rule.condition.op is not Op.SIGNATURE:
        yield "Found when:"
        yield "\n".join(outline(rule.condition))


def _what_it_means(rule: Rule) -> Iterator[str]:
    if rule.explanation:
        yield _prose(rule.explanation)
    elif rule.kind is Kind.CONFIRMATION:
        yield "All is as it should be here."
    if rule.causes:
        yield "Explains, where they are found too: " + ", ".join(f"`{each}`" for each in rule.causes) + "."


def _what_to_do(rule: Rule) -> Iterator[str]:
    if not rule.fixes:
        yield "Look for what caused it." if rule.symptom else "Nothing."
        return
    for number, fix in enumerate(rule.fixes, 1):
        yield from _fix(number, fix)
    again = {"yes": "Running it again may help.", "no": "Running it again as it is does not help."}
    if rule.retry in again:
        yield again[rule.retry]
    if rule.owner != "user":
        yield f"This is for the {rule.owner} to mend."


def _fix(number: int, fix: Fix) -> Iterator[str]:
    safe = " (safe to try)" if fix.safe else ""
    yield f"**{number}. {_prose(fix.title)}**{safe}"
    if fix.do:
        yield _prose(fix.do)
    if fix.run:
        yield _fenced("\n".join(fix.run))
    for platform, text in fix.variants.items():
        yield f"On {platform}:"
        yield _fenced(text)


def _how_to_be_sure(rule: Rule) -> Iterator[str]:
    checks = list(dict.fromkeys(fix.verify for fix in rule.fixes if fix.verify is not None))
    for check in checks:
        yield _fenced(check.run)
        if check.expect:
            yield f"Once it is mended this says: {_code(check.expect)}"
    for names, effect in ((rule.supports, "surer"), (rule.contradicts, "less sure")):
        if names:
            yield f"Seen with it, this makes the finding {effect}: {', '.join(f'`{name}`' for name in names)}."
    if not (checks or rule.supports or rule.contradicts):
        yield "The lines above are all there is to go by."


def _what_looks_alike(rule: Rule) -> Iterator[str]:
    alike = [example for example in rule.examples if example.expect != "match"]
    for example in alike:
        also = f" (see {', '.join(f'`{each}`' for each in example.also)})" if example.also else ""
        verdict = "Cannot be told" if example.expect == "undecided" else "Not this"
        yield f"{verdict}{': ' + _prose(example.why) if example.why else ''}{also}"
        yield from _log(example)
    if not alike:
        yield "Nothing known."


def _log(example: Example) -> Iterator[str]:
    for name, text in example.files.items():
        if len(example.files) > 1:
            yield f"In `{name}`:"
        lines = text.rstrip("\n").split("\n")
        more = [f"... {len(lines) - LINES_SHOWN} more lines"] if len(lines) > LINES_SHOWN else []
        yield _fenced("\n".join(lines[:LINES_SHOWN] + more))


def _signature(signature: Signature) -> str:
    wordings = " or ".join(_code(pattern.source) for pattern in signature.patterns)
    where = f" (in {', '.join(signature.applies_to)})" if signature.applies_to else ""
    return f"- `{signature.name}`: {wordings}{where}"


# --- a condition in words --------------------------------------------------------------------------------------------

_HEADS = {
    Op.ALL: "each of these holds",
    Op.ANY: "one of these holds",
    Op.NONE: "none of these holds",
    Op.IN_ORDER: "these follow each other",
    Op.MISSING: "this is missing",
}


def outline(condition: Condition, depth: int = 0) -> Iterator[str]:
    """Yield a condition as lines of a nested Markdown list: a flat one as a line, a nested one as a head and parts."""
    indent = "  " * depth + "- "
    if all(_is_bare(child) for child in condition.children):
        yield f"{indent}{_flat(condition)}{_modifiers(condition)}"
    else:
        many = f"{condition.n} or more of these hold"
        yield f"{indent}{_HEADS.get(condition.op, many)}{_modifiers(condition)}:"
        for child in condition.children:
            yield from outline(child, depth + 1)
    modifying = {"although": condition.given, "asked only where": condition.relevant, "unless": condition.unless}
    for word, part in modifying.items():
        if part is not None:
            first, *rest = outline(part, depth + 1)
            yield first.replace("- ", f"- {word} ", 1)
            yield from rest


def _is_bare(condition: Condition) -> bool:
    return condition.op is Op.SIGNATURE


def _flat(condition: Condition) -> str:
    names = [f"`{child.signature}`" for child in condition.children]
    if condition.op is Op.SIGNATURE:
        return f"`{condition.signature}` is there"
    if condition.op is Op.AT_LEAST and condition.distinct:
        return f"{names[0]} is there with {condition.n} or more different values of `{condition.distinct}`"
    if condition.op is Op.AT_LEAST and len(names) == 1:
        return f"{names[0]} is there {condition.n} times or more"
    one, many = {
        Op.ALL: ("{} is there", "all of {} are there"),
        Op.ANY: ("{} is there", "one of {} is there"),
        Op.NONE: ("{} is not there", "none of {} is there"),
        Op.IN_ORDER: ("{} is there", "{} are there in this order"),
        Op.MISSING: ("{} is missing", "{} are missing"),
        Op.AT_LEAST: ("{} is there", f"{condition.n} or more of {{}} are there"),
    }[condition.op]
    return (one if len(names) == 1 else many).format(", ".join(names))


def _modifiers(condition: Condition) -> str:
    words = ""
    if condition.same is not None:
        words += f", on the same {condition.same}"
    if condition.within is not None:
        words += f", within {window_words(condition.within)}"
    if condition.reach is not None:
        words += f", {reach_words(condition.reach)}"
    if condition.where is not None:
        words += f", where {_code(condition.where)}"
    return words


# --- Markdown --------------------------------------------------------------------------------------------------------


def _prose(text: str) -> str:
    """Return a text in which only what stands in backticks is code, and nothing is taken for a tag or for emphasis."""
    pieces = _CODE.split(text)
    return "".join(piece if at % 2 else re.sub(r"([<*\[\]])", r"\\\1", piece) for at, piece in enumerate(pieces))


def _cell(text: str) -> str:
    return _prose(text).replace("|", "\\|")


def _code(text: str) -> str:
    """Return a text as code within a line."""
    text = " ".join(text.split())
    ticks = "`" * (_longest_run(text) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _fenced(text: str) -> str:
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}text\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)


def _reference(text: str) -> str:
    return f"<{text}>" if re.fullmatch(r"https?://[^\s<>]+", text) else _prose(text)


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)
