"""Imported rules -> files of a pack, each tried on the logs that came with it.

    DIR/pack.yaml                   the pack's name, so that its rules can be told from others
    DIR/README.md                   what differs for all rules
    DIR/<domain>/<fault>.yaml       a comment (where it is from, what differs), the rule, its examples

The files are written without examples and loaded; each rule is then tried on its logs, and those that come out as they
should become its examples, cut to the lines that matter where they are long. So an imported rule says itself whether it
was proved. What needs other steps of the program, loading an engine and asking how a pattern is searched for, is handed
in as a `Bench`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from troubleshoot.errors import UsageError
from troubleshoot.importers.foreign import Document, Foreign, ForeignRule, Log
from troubleshoot.model import Finding, Outcome, Pattern, Report, Rule, RulePack

MARK = "# Imported from "
EXAMPLE_CHARS = 4_000  # of a log that is quoted whole
EXAMPLE_LINES = 80  # of one that is quoted by its evidence
PACK_FILE = "pack.yaml"


@dataclass(frozen=True, slots=True)
class Bench:
    """What it takes to try rules: a pack from a folder, a scan with a pack, why a pattern cannot be searched for."""

    load: Callable[[Path], RulePack]
    scanner: Callable[[RulePack], Callable[[Mapping[str, str]], Report]]
    why_slow: Callable[[Pattern], str | None]


@dataclass(slots=True)
class Imported:
    """What became of one rule: its file, whether it loads, and what its own logs showed."""

    rule: ForeignRule
    path: Path
    loaded: bool = False
    problems: tuple[str, ...] = ()
    detected: bool | None = None  # on a log that it must find; None without one
    silent: bool | None = None  # on a log that it must not find
    notes: list[str] = field(default_factory=list)


def write_pack(foreign: Foreign, output: Path, bench: Bench | None = None) -> list[Imported]:
    """Write all rules below `output` and return what became of each. Without a bench nothing is tried.
    Raises UsageError where a file stands in the way that was not imported."""
    imported = [Imported(rule, output / f"{rule.id}.yaml") for rule in foreign.rules]
    for each in imported:
        _check_free(each.path)
    _check_free(output / PACK_FILE)
    for each in imported:
        _write(each.path, _text(foreign, each.rule, each.rule.document, ()))
    pack_document = {"name": foreign.name, "title": f"Imported: {foreign.title}", "version": foreign.version}
    head = f"{MARK}{foreign.title}.\n"
    _write(output / PACK_FILE, head + dump_yaml({key: value for key, value in pack_document.items() if value}))
    _write(output / "README.md", _readme(foreign))
    if bench is not None:
        _try_out(foreign, output, imported, bench)
    return imported


def _try_out(foreign: Foreign, output: Path, imported: Sequence[Imported], bench: Bench) -> None:
    pack = bench.load(output)
    scan = bench.scanner(pack)
    for each in imported:
        rule = pack.rules.get(each.rule.id)
        each.loaded = rule is not None
        if rule is None:
            each.problems = tuple(_problems_of(pack, each.path))
            continue
        document = _with_slow(each.rule.document, rule, bench)
        examples: list[Document] = []
        for log in each.rule.logs:
            fires, example = _try_log(log, rule.id, scan)
            if log.expect == "match":
                each.detected = fires
            else:
                each.silent = not fires
            if example is not None:
                examples.append(example)
            elif fires != (log.expect == "match"):
                each.notes.append(f"it {'fires' if fires else 'does not fire'} on its {log.name}")
            else:
                each.notes.append(f"its {log.name} is too long to be an example, and comes out as it should")
        _write(each.path, _text(foreign, each.rule, document, each.notes, examples))


def _try_log(log: Log, id: str, scan: Callable[[Mapping[str, str]], Report]) -> tuple[bool, Document | None]:
    """Return whether the rule fires on a log, and the log as an example, if it comes out as it should."""
    finding = _finding(scan({log.name: log.text}), id)
    if (finding is not None) != (log.expect == "match"):
        return finding is not None, None
    text = log.text
    if len(text) > EXAMPLE_CHARS or not _is_quotable(text):
        text = _evidence_lines(log.text, finding) if finding is not None else ""
        if not text or not _is_quotable(text) or _finding(scan({log.name: text}), id) is None:
            return finding is not None, None
    example: Document = {log.expect: text if text.endswith("\n") else text + "\n"}
    if log.expect == "no_match":
        example["why"] = f"the authors' own near-miss, {log.name}"
    return finding is not None, example


def _finding(report: Report, id: str) -> Finding | None:
    return next((each for each in (*report.findings, *report.confirmations) if each.rule == id), None)


def _is_quotable(text: str) -> bool:
    """Say whether a text can stand in a rule file as it is."""
    return len(text) <= 4 * EXAMPLE_CHARS and all(char.isprintable() or char in "\n\t" for char in text)


def _evidence_lines(text: str, finding: Finding) -> str:
    lines = text.split("\n")
    numbers: set[int] = set()
    for outcome in _outcomes(finding.outcome):
        for each in outcome.hits:
            record = each.hit.record
            numbers.update(range(record.line, record.end_line + 1))
    numbers.update(each.line for each in finding.evidence)
    wanted = sorted(number for number in numbers if 1 <= number <= len(lines))[:EXAMPLE_LINES]
    return "".join(f"{lines[number - 1]}\n" for number in wanted)


def _outcomes(outcome: Outcome | None) -> Iterator[Outcome]:
    if outcome is not None:
        yield outcome
        for child in outcome.children:
            yield from _outcomes(child)


def _with_slow(document: Document, rule: Rule, bench: Bench) -> Document:
    """Return the document with a reason at each signature that must be tried on every line."""
    written = document["signatures"]
    named = {"line": written} if {"text", "regex"} & written.keys() else dict(written)
    for name, signature in rule.signatures.items():
        reasons = [reason for reason in map(bench.why_slow, signature.patterns) if reason]
        if reasons and name in named:
            named[name] = {**named[name], "slow": reasons[0]}
    return {**document, "signatures": named["line"] if written is not named and "line" in named and len(named) == 1
            and {"text", "regex"} & written.keys() else named}  # fmt: skip


def _problems_of(pack: RulePack, path: Path) -> Iterator[str]:
    for problem in pack.problems:
        if problem.place is not None and Path(problem.place.path).resolve() == path.resolve():
            yield f"{problem.code} {problem.text}"


def _check_free(path: Path) -> None:
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            is_ours = any(stream.readline().startswith(MARK) for _ in range(2))  # one may point editors to a schema
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error
    if not is_ours:
        raise UsageError(f"{path} is already there and was not imported", help="choose another --output")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error


# --- texts -----------------------------------------------------------------------------------------------------------


def _text(
    foreign: Foreign,
    rule: ForeignRule,
    document: Document,
    notes: Sequence[str],
    examples: Sequence[Document] = (),
) -> str:
    lines = [f"{MARK}{foreign.title}: {rule.origin} ({rule.path})."]
    lines += [f"# Differs: {_one_line(remark)}." for remark in rule.remarks]
    lines += [f"# Tried: {_one_line(note)}." for note in notes]
    full = {**document, "examples": list(examples)} if examples else document
    return "\n".join(lines) + "\n" + dump_yaml(full)


def _readme(foreign: Foreign) -> str:
    lines = [f"# Imported: {foreign.title}", ""]
    lines += ["Written by `troubleshoot rules import`; import again to renew it.", ""]
    lines += ["Where an imported rule means something else than the one it was made from:", ""]
    lines += [f"- {difference}" for difference in foreign.differences]
    lines += ["", "What differs in one rule only stands in the comment at the head of its file."]
    if foreign.refused:
        lines += ["", "Not taken over:", ""]
        lines += [f"- {each.origin} ({each.path}): {_one_line(each.why)}" for each in foreign.refused]
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and lists below their key."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        return super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)


def dump_yaml(document: Mapping[str, Any]) -> str:
    """Return a document as YAML that a person can read and edit."""
    return yaml.dump(dict(document), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
