"""Rules -> pages for people, in Markdown: one page per rule, and an index by domain.

Every page has the same headings: what you see, what it means, what to do, how to be sure, what looks alike, references.
Texts are the rule's own; captures stand in them as `{name}`, as in the rule.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from troubleshoot.language import say
from troubleshoot.model import Condition, Example, Fix, Kind, Op, Rule, RulePack, Signature
from troubleshoot.reach import reach_words
from troubleshoot.rulepack.document import window_words

LINES_SHOWN = 20  # of an example
INDEX = "index.md"
_VARIES = re.compile(r"\{\w+\}")
_CODE = re.compile(r"(`+[^`]*`+)")


def rule_page(rule: Rule) -> str:
    """Return the page of a rule."""
    parts = [
        f"# {_prose(rule.title)}",
        _summary(rule),
        f"## {say('What you see')}",
        *_what_you_see(rule),
        f"## {say('What it means')}",
        *_what_it_means(rule),
        f"## {say('What to do')}",
        *_what_to_do(rule),
        f"## {say('How to be sure')}",
        *_how_to_be_sure(rule),
        f"## {say('What looks alike')}",
        *_what_looks_alike(rule),
        f"## {say('References')}",
        _list([_reference(each) for each in rule.references]) or say("None."),
    ]
    return "\n\n".join(parts) + "\n"


def index_page(pack: RulePack) -> str:
    """Return the index: a table of rules for each domain."""
    parts = ["# Rules", f"{len(pack.rules)} rules in {len({rule.domain for rule in pack.rules.values()})} domains."]
    for domain, rules in itertools.groupby(pack.rules.values(), key=lambda rule: rule.domain):
        rows = [f"| [{rule.id}]({rule.id}.md) | {_cell(rule.title)} | {_standing(rule)} |" for rule in rules]
        parts += [f"## {domain}", "\n".join(["| rule | what it is | severity |", "| --- | --- | --- |", *rows])]
    return "\n\n".join(parts) + "\n"


def untold(title: str) -> str:
    """Return a rule's title as it is without a log: `ended with exit code {code}` -> `ended with exit code …`."""
    return _VARIES.sub("…", title)


def domain_index(domain: str, rules: Iterable[Rule]) -> str:
    """Return the index of a domain's folder: its rules, what each is, and what its lines look like."""
    rows = [
        f"| [{_cell(untold(rule.title))}]({rule.id.removeprefix(domain + '/')}.yaml) | {_standing(rule)} |"
        for rule in sorted(rules, key=lambda rule: rule.id)
    ]
    head = f"# {domain}\n\n{len(rows)} rules. Made by `troubleshoot rules docs --indexes`; not to be edited."
    return "\n".join([head, "", "| what it is | severity |", "| --- | --- |", *rows]) + "\n"


def write_indexes(pack: RulePack, folder: Path) -> list[Path]:
    """Write an index into each domain's folder that lies in `folder`; return the files written. Raises OSError."""
    written = []
    for domain, rules in itertools.groupby(
        sorted(pack.rules.values(), key=lambda rule: rule.id), lambda rule: rule.domain
    ):
        path = folder / domain / "README.md"
        if path.parent.is_dir():
            path.write_text(domain_index(domain, rules), "utf-8")
            written.append(path)
    return written


def write_docs(pack: RulePack, folder: Path) -> list[Path]:
    """Write the index and one page per rule below `folder`; return the files written. Raises OSError."""
    pages = {INDEX: index_page(pack), **{f"{id}.md": rule_page(rule) for id, rule in pack.rules.items()}}
    return write_files(pages, folder)


def write_files(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Write texts by name below `folder`; return the files written. Raises OSError."""
    written = []
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        written.append(path)
    return written


# --- the parts of a page ---------------------------------------------------------------------------------------------


def _standing(rule: Rule) -> str:
    return say("good news") if rule.kind is Kind.CONFIRMATION else say(rule.severity.word)


def _summary(rule: Rule) -> str:
    words = [f"`{rule.id}`"]
    if rule.kind is Kind.CONFIRMATION:
        words.append(say("good news"))
    else:
        words.append(say("severity {word}", word=say(rule.severity.word)))
    words.append(say("confidence {word}", word=say(rule.confidence.word)))
    words += [rule.status.value] if rule.status.value != "stable" else []
    words += [say("a symptom of something else")] if rule.symptom else []
    words += [say("a catch-all")] if rule.generic else []
    if rule.systems:
        words.append(say("systems: {names}", names=", ".join(rule.systems)))
    return " · ".join(words)


def _what_you_see(rule: Rule) -> Iterator[str]:
    for example in rule.examples:
        if example.expect == "match":
            yield from _log(example)
            break
    yield say("Looked for:")
    yield "\n".join(_signature(signature) for signature in rule.signatures.values())
    if rule.condition.op is not Op.SIGNATURE:
        yield say("Found when:")
        yield "\n".join(outline(rule.condition))


def _what_it_means(rule: Rule) -> Iterator[str]:
    if rule.explanation:
        yield _prose(rule.explanation)
    elif rule.kind is Kind.CONFIRMATION:
        yield say("All is as it should be here.")
    if rule.causes:
        yield say("Explains, where they are found too: {rules}.", rules=_names(rule.causes))


def _what_to_do(rule: Rule) -> Iterator[str]:
    if not rule.fixes:
        yield say("Look for what caused it.") if rule.symptom else say("Nothing.")
        return
    for number, fix in enumerate(rule.fixes, 1):
        yield from _fix(number, fix)
    if rule.retry in ("yes", "no"):
        yield say("Running it again may help." if rule.retry == "yes" else "Running it again as it is does not help.")
    if rule.owner != "user":
        is_platform = rule.owner == "platform"
        yield say("This is for the platform to mend." if is_platform else "This is for the vendor to mend.")


def _fix(number: int, fix: Fix) -> Iterator[str]:
    safe = say(" (safe to try)") if fix.safe else ""
    yield f"**{number}. {_prose(fix.title)}**{safe}"
    if fix.do:
        yield _prose(fix.do)
    if fix.run:
        yield _fenced("\n".join(fix.run))
    for platform, text in fix.variants.items():
        yield say("On {platform}:", platform=platform)
        yield _fenced(text)


def _how_to_be_sure(rule: Rule) -> Iterator[str]:
    checks = list(dict.fromkeys(fix.verify for fix in rule.fixes if fix.verify is not None))
    for check in checks:
        yield _fenced(check.run)
        if check.expect:
            yield say("Once it is mended this says: {text}", text=_code(check.expect))
    if rule.supports:
        yield say("Seen with it, this makes the finding surer: {names}.", names=_names(rule.supports))
    if rule.contradicts:
        yield say("Seen with it, this makes the finding less sure: {names}.", names=_names(rule.contradicts))
    if not (checks or rule.supports or rule.contradicts):
        yield say("The lines above are all there is to go by.")


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _what_looks_alike(rule: Rule) -> Iterator[str]:
    alike = [example for example in rule.examples if example.expect != "match"]
    for example in alike:
        also = say(" (see {rules})", rules=_names(example.also)) if example.also else ""
        verdict = say("Cannot be told") if example.expect == "undecided" else say("Not this")
        yield f"{verdict}{': ' + _prose(example.why) if example.why else ''}{also}"
        yield from _log(example)
    if not alike:
        yield say("Nothing known.")


def _log(example: Example) -> Iterator[str]:
    for name, text in example.files.items():
        if len(example.files) > 1:
            yield say("In {source}:", source=f"`{name}`")
        lines = text.rstrip("\n").split("\n")
        more = [say("... {number} more lines", number=len(lines) - LINES_SHOWN)] if len(lines) > LINES_SHOWN else []
        yield _fenced("\n".join(lines[:LINES_SHOWN] + more))


def _signature(signature: Signature) -> str:
    wordings = say(" or ").join(_code(pattern.source) for pattern in signature.patterns)
    where = say(" (in {names})", names=", ".join(signature.applies_to)) if signature.applies_to else ""
    return f"- `{signature.name}`: {wordings}{where}"


# --- a condition in words --------------------------------------------------------------------------------------------

_HEADS = {
    Op.ALL: "each of these holds",
    Op.ANY: "one of these holds",
    Op.NONE: "none of these holds",
    Op.IN_ORDER: "these follow each other",
    Op.MISSING: "this is missing",
    Op.AT_LEAST: "{number} or more of these hold",
}
_FLAT = {  # of one signature, of several
    Op.ALL: ("{names} is there", "all of {names} are there"),
    Op.ANY: ("{names} is there", "one of {names} is there"),
    Op.NONE: ("{names} is not there", "none of {names} is there"),
    Op.IN_ORDER: ("{names} is there", "{names} are there in this order"),
    Op.MISSING: ("{names} is missing", "{names} are missing"),
    Op.AT_LEAST: ("{names} is there", "{number} or more of {names} are there"),
}


def outline(condition: Condition, depth: int = 0) -> Iterator[str]:
    """Yield a condition as lines of a nested Markdown list: a flat one as a line, a nested one as a head and parts."""
    indent = "  " * depth + "- "
    if all(_is_bare(child) for child in condition.children):
        yield f"{indent}{_flat(condition)}{_modifiers(condition)}"
    else:
        yield f"{indent}{say(_HEADS[condition.op], number=condition.n)}{_modifiers(condition)}:"
        for child in condition.children:
            yield from outline(child, depth + 1)
    modifying = (
        (say("although"), condition.given),
        (say("asked only where"), condition.relevant),
        (say("unless"), condition.unless),
    )
    for word, part in modifying:
        if part is not None:
            first, *rest = outline(part, depth + 1)
            yield first.replace("- ", f"- {word} ", 1)
            yield from rest


def _is_bare(condition: Condition) -> bool:
    return condition.op is Op.SIGNATURE


def _flat(condition: Condition) -> str:
    names = [f"`{child.signature}`" for child in condition.children]
    if condition.op is Op.SIGNATURE:
        return say("{names} is there", names=f"`{condition.signature}`")
    if condition.op is Op.AT_LEAST and condition.distinct:
        distinct = f"`{condition.distinct}`"
        return say(
            "{names} is there with {number} or more different values of {capture}",
            names=names[0],
            number=condition.n,
            capture=distinct,
        )
    if condition.op is Op.AT_LEAST and len(names) == 1:
        return say("{names} is there {number} times or more", names=names[0], number=condition.n)
    one, many = _FLAT[condition.op]
    return say(one if len(names) == 1 else many, names=", ".join(names), number=condition.n)


def _modifiers(condition: Condition) -> str:
    words = ""
    if condition.same is not None:
        words += say(", on the same {what}", what=condition.same)
    if condition.within is not None:
        words += say(", within {window}", window=window_words(condition.within))
    if condition.reach is not None:
        words += f", {reach_words(condition.reach)}"
    if condition.where is not None:
        words += say(", where {comparison}", comparison=_code(condition.where))
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
