"""A rule's texts in another language: the file beside the rule, and what of it still fits.

    rules/efa/not-used.yaml             the rule, in English
    rules/efa/not-used.zh-CN.yaml       its texts in Simplified Chinese; no rule

A translation names in `of` what it is a translation of: six hexadecimal digits of a SHA-256 per part (title,
explanation, each fix), white space aside. Where the English of a part has changed since, that part is stale: it counts
as not there, and English stands in, for advice that was changed was wrong. Commands are not translated.

Files are read when a text is asked for and remembered until they change: who reads English pays nothing.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from troubleshoot import limits
from troubleshoot.errors import Problem
from troubleshoot.language import canonical
from troubleshoot.model import Fix, Place, Rule
from troubleshoot.rulepack.files import SUFFIX
from troubleshoot.rulepack.positions import Document, read_document
from troubleshoot.rulepack.scaffold import PLACEHOLDER
from troubleshoot.rulepack.shape import check_shape
from troubleshoot.rulepack.translation_fields import TranslationFields

COMMANDS = frozenset({"shell", "docker", "kubernetes", "runai-cli", "slurm", "mpirun", "torchrun"})  # evaluate.texts
NOTHING = "-"  # the digest of a part without texts
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class FixTexts:
    """A fix's texts in another language; what is empty stays English."""

    title: str = ""
    do: str = ""
    expect: str = ""
    variants: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Translation:
    """A rule's texts in another language. `of` has a digest per part, as `digests` gives them."""

    language: str
    path: str
    of: tuple[str, ...] = ()
    title: str = ""
    explanation: str = ""
    next: tuple[str, ...] = ()
    lookup: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    fixes: tuple[FixTexts, ...] = ()


@dataclass(frozen=True, slots=True)
class TranslationFile:
    """A translation as read: its document with places, and the translation, None where it does not fit."""

    document: Document
    translation: Translation | None


# --- what a translation is one of ------------------------------------------------------------------------------------


def parts(rule: Rule) -> list[tuple[str, tuple[str, ...]]]:
    """Return the parts of a rule that are translated, each with its English texts."""
    return [
        ("title", (rule.title,)),
        ("explanation", (rule.explanation,)),
        ("next", next_steps(rule)),
        *((f"fix {number}", tuple(_texts_of(fix))) for number, fix in enumerate(rule.fixes, 1)),
    ]


def next_steps(rule: Rule) -> tuple[str, ...]:
    """Return what the rule's conditions advise where they cannot tell, in the order in which they stand."""
    return tuple(each.next_step.strip() for each in rule.condition.walk() if each.next_step)


def _texts_of(fix: Fix) -> Iterator[str]:
    yield from (fix.title, fix.do, fix.verify.expect if fix.verify is not None else "")
    yield from (text for _platform, text in prose_variants(fix))


def prose_variants(fix: Fix) -> list[tuple[str, str]]:
    """Return the variants that are no commands: what to click, a manifest with remarks."""
    return sorted((platform, text) for platform, text in fix.variants.items() if platform not in COMMANDS)


def digests(rule: Rule) -> tuple[str, ...]:
    """Return a digest per part: what `of` says of a translation that is fresh."""
    return tuple(_digest(texts) for _name, texts in parts(rule))


def _digest(texts: Iterable[str]) -> str:
    flat = [" ".join(text.split()) for text in texts]
    if not any(flat):
        return NOTHING
    return hashlib.sha256("\0".join(flat).encode()).hexdigest()[:_DIGITS]


def stale_parts(rule: Rule, translation: Translation) -> list[str]:
    """Return the names of the parts whose English has changed since they were translated."""
    pairs = itertools.zip_longest(parts(rule), digests(rule), translation.of)
    return [part[0] for part, digest, known in pairs if part is not None and digest not in (known, NOTHING)]


# --- putting it in ---------------------------------------------------------------------------------------------------


def fill(rule: Rule, translation: Translation) -> Rule:
    """Return the rule with the translation's texts; English where there is none, or none that is fresh."""
    stale = set(stale_parts(rule, translation))

    def text(part: str, translated: str, english: str) -> str:
        return translated if translated and part not in stale else english

    fixes = rule.fixes
    if len(translation.fixes) == len(rule.fixes):
        fixes = tuple(
            fix if f"fix {number}" in stale else _fill_fix(fix, texts)
            for number, (fix, texts) in enumerate(zip(rule.fixes, translation.fixes, strict=True), 1)
        )
    return replace(
        rule,
        title=text("title", translation.title, rule.title),
        explanation=text("explanation", translation.explanation, rule.explanation),
        fixes=fixes,
    )


def _fill_fix(fix: Fix, texts: FixTexts) -> Fix:
    verify = fix.verify
    if verify is not None and texts.expect:
        verify = replace(verify, expect=texts.expect)
    translated = {platform: text for platform, text in texts.variants.items() if platform in fix.variants}
    return replace(
        fix,
        title=texts.title or fix.title,
        do=texts.do or fix.do,
        variants={**fix.variants, **translated},
        verify=verify,
    )


# --- files -----------------------------------------------------------------------------------------------------------


def translation_path(rule_path: str, language: str) -> Path:
    """Return where the translation of a rule's file stands, whether it exists or not."""
    return Path(f"{rule_path.removesuffix(SUFFIX)}.{language}{SUFFIX}")


def find_translation(rule: Rule, language: str) -> tuple[Translation | None, Problem | None]:
    """Return the rule's translation: that of the tag, or of what is left when subtags fall off its end. With it the
    first thing that is wrong with a file that cannot be used."""
    tag = language if canonical(language) == language else ""  # it becomes part of a path
    while tag and rule.path:
        path = translation_path(rule.path, tag)
        try:
            stat = path.stat()
        except OSError:
            tag = tag.rpartition("-")[0]
            continue
        return _remembered(str(path), tag, stat.st_size, stat.st_mtime_ns)
    return None, None


@functools.lru_cache(maxsize=4096)
def _remembered(path: str, language: str, _size: int, _time: int) -> tuple[Translation | None, Problem | None]:
    read = read_translation(path, language)
    return read.translation, next(iter(read.document.problems), None) if read.translation is None else None


def read_translation(path: str, language: str) -> TranslationFile:
    """Return a translation's file as read. Never raises: what is wrong stands in the document's problems."""
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(limits.RULE_FILE_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else f"cannot be read: {error.strerror}".lower()
        return _refused(path, Problem("R013", why, Place(path), help="save the file as UTF-8, readable"))
    if len(data) > limits.RULE_FILE_BYTES:
        return _refused(path, Problem("R013", f"larger than {limits.RULE_FILE_BYTES // 1024} KiB", Place(path)))
    document = read_document(text, path)
    if document.problems:
        return TranslationFile(document, None)
    if not isinstance(document.data, dict):
        help = "a translation is a list of `key: text` lines; `troubleshoot rules translate` writes one"
        document.problems.append(document.problem("R004", "the file is no mapping", document.place(()), help))
        return TranslationFile(document, None)
    model, _bad = check_shape(document, TranslationFields, "a translation")
    if not isinstance(model, TranslationFields):
        return TranslationFile(document, None)
    return TranslationFile(document, _translation(model, path, language))


def _refused(path: str, problem: Problem) -> TranslationFile:
    return TranslationFile(Document(path, [], problems=[problem]), None)


def _translation(written: TranslationFields, path: str, language: str) -> Translation:
    steps = [written.next] if isinstance(written.next, str) else written.next or []
    return Translation(
        language=language,
        path=path,
        of=tuple(re.split(r"\s+", written.of.strip())),
        title=joined(written.title or ""),
        explanation=joined(written.explanation or ""),
        next=tuple(joined(each) for each in steps),
        lookup=written.lookup or {},
        fixes=tuple(
            FixTexts(
                title=joined(fix.title or ""),
                do=joined(fix.do or ""),
                expect=joined(fix.expect or ""),
                variants=_variants(fix.variants or {}),
            )
            for fix in written.fixes or ()
        ),
    )


def _variants(written: Mapping[str, str]) -> dict[str, str]:
    return {platform: text.rstrip("\n") for platform, text in written.items() if text.strip() != PLACEHOLDER}


def joined(text: str) -> str:
    """Return a text without the blanks that YAML puts where a line of it ended between two wide characters. What is
    still to be written is nothing."""
    if text.strip() == PLACEHOLDER:
        return ""
    return re.sub(r"(?<=[\u3000-\u9fff\uff00-\uffef]) (?=[\u3000-\u9fff\uff00-\uffef])", "", text.strip())
