"""Paths -> a `RulePack`: the one door to rule files.

    list_layers -> cache.read_pack, or assemble.read_pack and cache.write_pack -> RulePack

A pack that was read before, and whose files have not changed since, comes from the cache without YAML or pydantic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from troubleshoot.errors import Problem, RuleError
from troubleshoot.model import Place, RulePack, Status
from troubleshoot.rulepack import cache as pack_cache
from troubleshoot.rulepack.files import Layer, default_rules_dir, list_layer, list_layers, shipped_layer
from troubleshoot.rulepack.files import list_rule_files as _list_rule_files
from troubleshoot.rulepack.overrides import active_file

if TYPE_CHECKING:
    from troubleshoot.rulepack.assemble import Memory

__all__ = ["default_rules_dir", "find_problems", "list_rule_files", "load_pack"]

USERS_OWN = "the user's own"  # overrides: those of --overrides, of the environment, or of the user's configuration


def load_pack(
    paths: Sequence[Path | str] = (),
    *,
    drafts: bool = False,
    strict: bool = False,
    cache: bool = True,
    default_rules: bool = True,
    overrides: Path | str | None = USERS_OWN,
    memory: Memory | None = None,
) -> RulePack:
    """Return the pack of the shipped rules and the given paths (folders, single rules' files, names of pulled packs),
    later over earlier, with the user's overrides, those of a given file, or (None) none.

    Rules that do not load are left out and stand in `problems`; with `strict` they raise RuleError, which holds every
    problem of every file, and so does a rule without an example that matches: nothing says that it can ever fire.
    Raises UsageError for a path that does not exist.
    """
    layers = list_layers(paths, default_rules=default_rules)
    context = [] if default_rules else [list_layer(default_rules_dir())]
    file = active_file() if overrides == USERS_OWN else Path(overrides) if overrides else None
    options = f"drafts={drafts} context={len(context)} overrides={_look_of(file)}"
    key = pack_cache.key_of([*context, *layers], options) if cache else ""
    pack = pack_cache.read_pack(key) if cache else None
    if pack is None:
        pack = _read(layers, drafts, context, file, memory)
        if cache:
            pack_cache.write_pack(key, pack)
    if strict:
        problems = [*pack.problems, *_unproven(pack)]
        if any(each.severity == "error" for each in problems):
            raise refusal(problems)
    return pack


def _look_of(file: Path | None) -> str:
    """Return what must be the same for a file's content to be the same."""
    if file is None:
        return ""
    try:
        stat = file.stat()
    except OSError:
        return f"{file} ?"
    return f"{file.resolve()} {stat.st_size} {stat.st_mtime_ns}"


def list_rule_files(paths: Sequence[Path | str] = (), *, default_rules: bool = True) -> list[Path]:
    """Return every file that a pack over these paths is made of, rules or not, the user's overrides among them."""
    overrides = active_file()
    return [*_list_rule_files(paths, default_rules=default_rules), *([overrides] if overrides is not None else [])]


def find_problems(paths: Sequence[Path | str] = (), memory: Memory | None = None) -> list[Problem]:
    """Return every problem that keeps rules of these paths (the shipped ones if none) from loading, drafts included."""
    shipped = default_rules_dir()
    layers = [list_layer(Path(path)) for path in paths] or [shipped_layer()]
    return list(_read(layers, True, [list_layer(shipped)], memory=memory).problems)


def refusal(problems: Sequence[Problem]) -> RuleError:
    """Return the one error for all problems of all files."""
    files = len({problem.place.path for problem in problems if problem.place is not None})
    what = f"{len(problems)} problem{'s' * (len(problems) != 1)} in {files} rule file{'s' * (files != 1)}"
    return RuleError(what, help="`troubleshoot rules check` lists them", problems=tuple(problems))


def _unproven(pack: RulePack) -> Iterator[Problem]:
    help = "add an example with `match:`, the log lines verbatim"
    for rule in pack.rules.values():
        if rule.status not in (Status.DRAFT, Status.IMPORTED) and not any(
            example.expect == "match" for example in rule.examples
        ):
            yield Problem("L003", "no example that matches", Place(rule.path), help=help)


def _read(
    layers: Sequence[Layer],
    drafts: bool,
    context: Sequence[Layer],
    overrides: Path | None = None,
    memory: Memory | None = None,
) -> RulePack:
    from troubleshoot.rulepack.assemble import read_pack  # brings YAML and pydantic, which a warm start does without

    return read_pack(layers, drafts=drafts, context=context, overrides=overrides, memory=memory)
