"""Layers of files -> one `RulePack`, with every problem of every file.

A later layer's rule replaces an earlier one of the same id, and so do tables, shared and built-in signatures by name; a
rule sees the shared signatures and tables of its own layer and those below. The tables of a pack with a name are its
own: they go by `acme:xid`, and no other pack's rules see them changed. A pack that cannot run here is left out as a
whole. Equal patterns of different rules become one pattern with one id. Rules are taken in the order of their ids, so
the same files always give the same pack.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from troubleshoot import __version__, limits
from troubleshoot.errors import Problem
from troubleshoot.model import Lookup, PackPart, Pattern, PatternUse, Place, Rule, RulePack, Signature, Status
from troubleshoot.rulepack.companions import Table, parse_builtin, parse_shared, parse_table
from troubleshoot.rulepack.files import (
    BUILTIN,
    PACK,
    SHARED,
    SUFFIX,
    TABLES,
    Layer,
    PackFile,
    is_rule_id,
    nearest_id,
    translation_of,
)
from troubleshoot.rulepack.overrides import apply_overrides, read_overrides
from troubleshoot.rulepack.packs import (
    SHIPPED,
    PackHeader,
    conflict,
    engine_problem,
    parse_header,
    resolve_causes,
)
from troubleshoot.rulepack.schema import parse_rule

# What rules' files came to before, by all that decides it: for whoever reads the same pack again and again.
Memory = dict[tuple[object, ...], tuple[Rule | None, list[Problem]]]

_DRAFTS_NAMED = 5


@dataclass(slots=True)
class _Gathered:
    """What has been read so far, lowest layer first."""

    memory: Memory | None = None
    drafts: bool = False
    rules: dict[str, Rule] = field(default_factory=dict)
    shared: dict[str, Signature] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    builtin: dict[str, dict[str, tuple[Signature, dict[str, str]]]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    contents: list[str] = field(default_factory=list)  # a hash of each file read
    parts: list[PackPart] = field(default_factory=list)
    headers: dict[str, PackHeader] = field(default_factory=dict)
    home: dict[str, int] = field(default_factory=dict)  # which part a rule is of


def read_pack(
    layers: Sequence[Layer],
    *,
    drafts: bool = False,
    context: Sequence[Layer] = (),
    overrides: Path | None = None,
    memory: Memory | None = None,
) -> RulePack:
    """Read all files and return the pack; `problems` holds every error, and a rule with one is not in `rules`.

    Of the `context` layers only shared signatures, tables and built-in signatures are taken, none of their problems.
    With a `memory`, a rule's file that is in it, and what it leans on, is not parsed again.
    """
    gathered = _Gathered(memory, drafts)
    for layer in context:
        _read_layer(gathered, layer, PackHeader(""), rules=False)
    gathered.problems.clear()
    for layer in layers:
        header = _header(gathered, layer)
        if header is not None:
            _read_layer(gathered, layer, header, rules=True)
    rules = dict(sorted(gathered.rules.items()))
    rules = {id: replace(rule, causes=resolve_causes(rule.causes, rules)) for id, rule in rules.items()}
    if overrides is not None:
        wanted, problems = read_overrides(overrides)
        rules, meaningless = apply_overrides(rules, wanted)
        gathered.problems += [*problems, *meaningless]
        gathered.contents += [str(each) for each in wanted]
    return _freeze(gathered, rules)


def _header(gathered: _Gathered, layer: Layer) -> PackHeader | None:
    """Return who a layer is, and note it; None if it cannot be used, with the reason among the problems."""
    header = PackHeader("")
    problems: list[Problem] = []
    for file in layer.of(PACK):
        found, problems = parse_header(_text(gathered, file), file.path)
        refusal = engine_problem(found) if found is not None else None
        if found is not None and found.name in gathered.headers:
            help = f"the other one is {gathered.headers[found.name].place}; rename one of them, or use one"
            refusal = Problem("P002", f"a second pack `{found.name}`", found.place, help=help)
        problems = [*problems, *([refusal] if refusal is not None else [])]
        header = found or header
    if layer.is_shipped:
        header = PackHeader(SHIPPED, __version__)
    left_out = problems[0].text if problems else ""
    name = header.name or layer.name
    gathered.parts.append(PackPart(name, layer.path, 0, header.version, header.title, header.min_engine, left_out))
    if problems:
        gathered.problems += [replace(each, text=f"pack `{name}` is left out: {each.text}") for each in problems]
        return None
    if header.name:
        gathered.headers[header.name] = header
    if not layer.is_shipped and not any(each.kind != PACK for each in layer.files):
        help = "rules lie in folders named for their domain, such as `gpu/fell-off-bus.yaml`"
        gathered.problems.append(Problem("P005", f"no rules in `{name}`", Place(layer.path), "", help, "warning"))
    return header


def _read_layer(gathered: _Gathered, layer: Layer, header: PackHeader, *, rules: bool) -> None:
    own: dict[str, Signature] = {}
    prefix = f"{header.name}:" if header.name and not layer.is_shipped else ""
    tables: dict[str, Table] = dict(gathered.tables)
    own_tables: set[str] = set()
    for file in layer.of(SHARED):
        signatures, problems = parse_shared(_text(gathered, file), file.path)
        gathered.problems += problems
        for name in own.keys() & signatures.keys():
            place = signatures[name].place
            text, help = f"duplicate shared signature `{name}`", f"it stands at {own[name].place} too; rename one"
            gathered.problems.append(Problem("R005", text, place, name, help))
        own.update(signatures)
    gathered.shared.update(own)
    for file in layer.of(TABLES):
        table, problems = parse_table(_text(gathered, file), file.path)
        gathered.problems += problems
        if table is not None:
            gathered.tables[prefix + file.name] = tables[file.name] = table
            own_tables.add(file.name)
    for file in layer.of(BUILTIN):
        group, problems = parse_builtin(_text(gathered, file), file.path, gathered.shared)
        gathered.problems += problems
        gathered.builtin.setdefault(file.name, {}).update(group)
    companions = tuple(line for line in gathered.contents if line.startswith((SHARED, TABLES)))
    drafts: list[str] = []
    for file in layer.of("rule") if rules else ():
        rule = _read_rule(gathered, file, tables, companions)
        if rule is None:
            continue
        if prefix:
            rule = replace(rule, lookup=tuple(_own_table(each, own_tables, prefix) for each in rule.lookup))
        if rule.status is Status.DRAFT and not gathered.drafts:
            drafts.append(rule.id)
        else:
            _take(gathered, replace(rule, pack=header.name), header)
    if drafts and not layer.is_shipped:
        gathered.problems.append(_left_out(drafts, layer))


def _left_out(drafts: Sequence[str], layer: Layer) -> Problem:
    """Return the word on drafts of a pack that somebody chose: they look for a finding that cannot come."""
    more = len(drafts) - _DRAFTS_NAMED
    named = ", ".join(drafts[:_DRAFTS_NAMED]) + (f" and {more} more" if more > 0 else "")
    what, are, them = ("draft", "is", "it") if len(drafts) == 1 else ("drafts", "are", "them")
    text = f"{len(drafts)} {what} of {layer.path} {are} left out: {named}; --drafts uses {them}"
    return Problem("P006", text, help="a rule that is ready goes without `status: draft`", severity="warning")


def _read_rule(
    gathered: _Gathered, file: PackFile, tables: Mapping[str, Table], companions: tuple[str, ...]
) -> Rule | None:
    if not is_rule_id(file.name):
        gathered.problems.append(_wrong_id(file))
        return None
    before = len(gathered.problems)
    text = _text(gathered, file)
    if len(gathered.problems) > before:
        return None
    memory = gathered.memory if gathered.memory is not None else {}
    key = (file.path, file.name, text, companions)
    if key not in memory:
        memory[key] = parse_rule(text, file.path, file.name, gathered.shared, tables)
    rule, problems = memory[key]
    gathered.problems += problems
    return rule


def _own_table(lookup: Lookup, own: Collection[str], prefix: str) -> Lookup:
    return replace(lookup, table=prefix + lookup.table) if lookup.table in own else lookup


def _take(gathered: _Gathered, rule: Rule, header: PackHeader) -> None:
    """Put a rule over the one of its id from a layer below, if there is one."""
    below = gathered.rules.get(rule.id)
    told = conflict(header, rule, below) if below is not None else None
    if told is not None:
        gathered.problems.append(told)
    gathered.rules[rule.id] = rule
    gathered.home[rule.id] = len(gathered.parts) - 1


def _wrong_id(file: PackFile) -> Problem:
    if file.name.endswith(".yml"):
        return Problem("R016", f"`{file.name}` does not end in `{SUFFIX}`", Place(file.path), help="rename the file")
    translation = translation_of(f"{file.name.rpartition('/')[2]}{SUFFIX}")
    if translation is not None and "/" in file.name:
        id = f"{file.name.rpartition('/')[0]}/{translation[0]}"
        help = f"no `{translation[0]}{SUFFIX}` stands beside it: rename or remove it"
        return Problem("T002", f"a translation of no rule: `{id}`", Place(file.path), help=help)
    if "/" not in file.name:
        help = f"put the file into a folder named for its domain: `{nearest_id(file.name)}{SUFFIX}`"
        return Problem("R016", f"`{file.name}` is in no domain", Place(file.path), help=help)
    help = f"lower-case letters, digits and hyphens: `{nearest_id(file.name)}{SUFFIX}`"
    return Problem("R016", f"`{file.name}` is no rule id", Place(file.path), help=help)


def _text(gathered: _Gathered, file: PackFile) -> str:
    """Return a file's text, or "" after telling why it cannot be had."""
    place, code = Place(file.path), "R013"
    try:
        with Path(file.path).open("rb") as stream:
            data = stream.read(limits.RULE_FILE_BYTES + 1)
    except OSError as error:
        why = error.strerror or type(error).__name__
        gathered.problems.append(Problem(code, f"cannot be read: {why.lower()}", place, help="check the file's rights"))
        return ""
    if len(data) > limits.RULE_FILE_BYTES:
        help = "long logs belong into `corpus/`, an example needs a few lines"
        text = f"larger than {limits.RULE_FILE_BYTES // 1024} KiB"
        gathered.problems.append(Problem(code, text, place, help=help))
        return ""
    gathered.contents.append(f"{file.kind}/{file.name} {hashlib.sha256(data).hexdigest()}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            gathered.problems.append(Problem(code, "UTF-16, and not UTF-8", place, help="save the file as UTF-8"))
            return ""
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        text = f"not UTF-8: byte 0x{data[error.start]:02x}"
        gathered.problems.append(Problem(code, text, Place(file.path, line, column), help="save the file as UTF-8"))
        return ""


# --- numbering -------------------------------------------------------------------------------------------------------


class _Numbering:
    """Gives equal patterns one id, and notes whom each serves."""

    def __init__(self) -> None:
        self.patterns: list[Pattern] = []
        self.users: list[list[PatternUse]] = []
        self._ids: dict[tuple[object, ...], int] = {}

    def number(self, rule: str, signature: Signature) -> Signature:
        numbered = []
        for pattern in signature.patterns:
            key = (pattern.regex, pattern.exact_case, pattern.lines, pattern.slow, pattern.advice, pattern.entry)
            id = self._ids.setdefault(key, len(self.patterns))
            if id == len(self.patterns):
                self.patterns.append(replace(pattern, id=id))
                self.users.append([])
            use = PatternUse(rule, signature.name)
            if use not in self.users[id]:
                self.users[id].append(use)
            numbered.append(self.patterns[id])
        return replace(signature, patterns=tuple(dict.fromkeys(numbered)))


def _freeze(gathered: _Gathered, rules: Mapping[str, Rule]) -> RulePack:
    numbering = _Numbering()
    numbered = {
        id: replace(
            rule, signatures={name: numbering.number(id, signature) for name, signature in rule.signatures.items()}
        )
        for id, rule in rules.items()
    }
    builtin: dict[str, dict[str, dict[str, str]]] = {}
    for group, entries in sorted(gathered.builtin.items()):
        for name, (signature, attributes) in entries.items():
            numbering.number(f"~{group}", replace(signature, name=name))
            builtin.setdefault(group, {})[name] = attributes
    digest = hashlib.sha256(__version__.encode())
    for line in (
        *gathered.contents,
        *rules,
        *(f"{p.regex} {p.exact_case} {p.lines} {p.entry}" for p in numbering.patterns),
    ):
        digest.update(line.encode() + b"\n")
    return RulePack(
        name="+".join(part.name for part in gathered.parts if not part.left_out),
        version=__version__,
        hash=digest.hexdigest()[:16],
        rules=numbered,
        patterns=tuple(numbering.patterns),
        users=tuple(tuple(users) for users in numbering.users),
        tables={name: table.rows for name, table in gathered.tables.items()},
        builtin=builtin,
        problems=tuple(gathered.problems),
        parts=tuple(
            replace(part, rules=sum(1 for id in rules if gathered.home.get(id) == number))
            for number, part in enumerate(gathered.parts)
        ),
    )
