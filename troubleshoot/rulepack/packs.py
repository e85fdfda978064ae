"""Packs beside each other: who each is, what it needs, and what its rules are called from outside.

    pack.yaml    name: acme                     rules of this folder may be called acme:gpu/hot
                 min_engine: "0.2"              an older engine leaves the whole pack out and says so
                 replaces: [gpu/fell-off-bus]   its rule of this id is meant to stand over that of a pack below

Packs are layers, and a later one stands over an earlier one: of two rules with one id the later counts. Where both come
from packs with names that is told, unless `replaces` says that it is meant. The shipped rules are the pack
`troubleshoot`; a folder without `pack.yaml` is no pack, and what it replaces it replaces without a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from troubleshoot import __version__, late
from troubleshoot.errors import Problem
from troubleshoot.model import Place, Rule, RulePack
from troubleshoot.values import order

SHIPPED = "troubleshoot"
_NAME = late.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class PackHeader:
    """What a pack says of itself. A folder without `pack.yaml` has none, and no name."""

    name: str
    version: str = ""
    min_engine: str = ""
    title: str = ""
    replaces: tuple[str, ...] = ()
    place: Place | None = None


def parse_header(text: str, path: str) -> tuple[PackHeader | None, list[Problem]]:
    """Return what a `pack.yaml` says, or None with the reasons why it cannot be told."""
    from troubleshoot.rulepack.pack_fields import PackFields  # pydantic, which a warm start does without
    from troubleshoot.rulepack.positions import read_document
    from troubleshoot.rulepack.shape import check_shape

    document = read_document(text, path)
    if document.data is None and not document.problems:
        document.problems.append(document.problem("R004", "the file is empty", document.place(()), "write `name:`"))
    if document.problems:
        return None, document.problems
    model, _bad = check_shape(document, PackFields, "a pack")
    if not isinstance(model, PackFields):
        return None, document.problems
    if not _NAME.fullmatch(model.name) or model.name == SHIPPED:
        what = "is that of the shipped rules" if model.name == SHIPPED else "cannot name a pack"
        help = "lower-case letters, digits and single hyphens, such as `acme`"
        return None, [document.problem("R004", f"`{model.name}` {what}", document.place(("name",)), help)]
    if model.min_engine and not re.fullmatch(r"\d+(?:\.\d+)*\S*", model.min_engine):
        text = f"`{model.min_engine}` is no version"
        return None, [document.problem("R004", text, document.place(("min_engine",)), "such as `0.2`")]
    replaces = (model.replaces,) if isinstance(model.replaces, str) else tuple(model.replaces or ())
    return (
        PackHeader(
            model.name, model.version or "", model.min_engine or "", model.title or "", replaces, document.place(())
        ),
        [],
    )


def engine_problem(header: PackHeader) -> Problem | None:
    """Return why this engine cannot run the pack, if it cannot."""
    needed = header.min_engine if "." in header.min_engine else f"{header.min_engine}.0"
    if not header.min_engine or (order(__version__, needed) or 0) >= 0:
        return None
    text = f"pack `{header.name}` needs troubleshoot {header.min_engine} or later, and this is {__version__}"
    return Problem("P001", text, header.place, help="update troubleshoot, or use an older version of the pack")


def conflict(header: PackHeader, rule: Rule, below: Rule) -> Problem | None:
    """Return what to tell of a rule that stands over one of another pack, unless it is meant to."""
    if not header.name or not below.pack or header.name == below.pack:
        return None
    if any(fnmatchcase(rule.id, each) for each in header.replaces):
        return None
    text = f"`{rule.id}` of pack `{header.name}` stands in for that of pack `{below.pack}`"
    help = f"if that is meant, write `replaces: [{rule.id}]` into its pack.yaml; otherwise give one of them another id"
    return Problem("P003", text, Place(rule.path), help=help, severity="warning")


# --- names -----------------------------------------------------------------------------------------------------------


def full_name(rule: Rule) -> str:
    """Return what a rule is called from outside: `acme:gpu/hot`, or the id alone where it is of no pack."""
    return f"{rule.pack}:{rule.id}" if rule.pack else rule.id


def goes_by(rule: Rule, name: str) -> bool:
    """Say whether an id or glob, with or without a pack's name before it, means the rule."""
    return fnmatchcase(rule.id, name) or (":" in name and fnmatchcase(full_name(rule), name))


def find_rule(pack: RulePack, name: str) -> Rule | None:
    """Return the rule of an id, with or without its pack's name before it."""
    rule = pack.rules.get(name.rpartition(":")[2])
    return rule if rule is not None and goes_by(rule, name) else None


def resolve_causes(causes: Sequence[str], rules: Mapping[str, Rule]) -> tuple[str, ...]:
    """Return `causes` with names of other packs' rules (`acme:gpu/hot`, `acme:gpu/*`) as plain ids. What means no rule
    stays as it is, for the lint to find."""
    resolved: list[str] = []
    for cause in causes:
        if ":" not in cause or cause.startswith("#"):
            resolved.append(cause)
            continue
        meant = [rule.id for rule in rules.values() if goes_by(rule, cause)]
        resolved += meant or [cause]
    return tuple(dict.fromkeys(resolved))


def nearest_name(name: str, rules: Iterable[Rule]) -> str | None:
    """Return the name of a rule that a wrong one may have meant."""
    import difflib

    known = [full_name(rule) if ":" in name else rule.id for rule in rules]
    return next(iter(difflib.get_close_matches(name, known, n=1)), None)
