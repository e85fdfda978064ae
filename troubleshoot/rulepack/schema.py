"""One rule file's text -> one `Rule`, or everything that is wrong with it.

    text -> positions.read_document -> shape.check_shape -> signatures, conditions -> Rule

A part whose shape is wrong is left out and the rest is still checked, so that one run tells all. What this module does
not know: where files lie, what other rules say (`load.py`, `lint.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from troubleshoot.errors import Problem
from troubleshoot.model import (
    Condition,
    Confidence,
    Example,
    Fix,
    Kind,
    Lookup,
    Op,
    Rule,
    Severity,
    Signature,
    Status,
    Verify,
)
from troubleshoot.rulepack import fields
from troubleshoot.rulepack.companions import Table
from troubleshoot.rulepack.conditions import ConditionBuilder
from troubleshoot.rulepack.positions import Document, Path, read_document
from troubleshoot.rulepack.shape import check_shape, did_you_mean, may_mean, meaning_of, prune, touches
from troubleshoot.rulepack.signatures import build_signature, named_signatures

EXAMPLE_NAME = "example.log"  # the source name of an example of one text
OUTCOMES = ("match", "no_match", "undecided")


def parse_rule(
    text: str,
    path: str,
    rule_id: str,
    shared: Mapping[str, Signature] | None = None,
    tables: Mapping[str, Table] | None = None,
) -> tuple[Rule | None, list[Problem]]:
    """Return the rule, or None, and every problem of the file. The rule's patterns have no ids yet."""
    document = read_document(text, path)
    if document.data is None and document.problems:
        return None, document.problems
    if not isinstance(document.data, dict):
        what = "the file is empty" if document.data is None else "the file is no mapping"
        help = "a rule is a list of `key: value` lines; `troubleshoot rules new` writes one"
        return None, [*document.problems, document.problem("R004", what, document.place(()), help)]
    model, bad = check_shape(document, fields.RuleFields)
    builder = _RuleBuilder(document, bad, shared or {}, tables or {})
    signatures = builder.signatures()
    condition = builder.condition()
    lookups = builder.lookups()
    builder.check_required()
    builder.check_examples()
    problems = sorted(
        document.problems, key=lambda each: (each.place.line, each.place.column) if each.place else (0, 0)
    )
    if problems or not isinstance(model, fields.RuleFields) or condition is None:
        return None, problems
    return _rule(document, model, rule_id, signatures, condition, lookups), []


def _position(problem: Problem) -> tuple[int, int]:
    return (problem.place.line, problem.place.column) if problem.place is not None else (0, 0)


class _RuleBuilder:
    def __init__(
        self, document: Document, bad: set[Path], shared: Mapping[str, Signature], tables: Mapping[str, Table]
    ) -> None:
        self._document = document
        self._data: dict[str, Any] = document.data
        self._bad = bad
        self._shared = shared
        self._tables = tables
        self._named: dict[str, tuple[Any, Path]] = {}
        self._built: dict[str, Signature] = {}
        self._lookup_names: tuple[str, ...] = ()
        self._conditions: ConditionBuilder | None = None

    def _good(self, key: str) -> Any:
        """The value of a top-level key whose shape is right, else None."""
        return None if touches(self._bad, (key,)) else self._data.get(key)

    def _refuse(self, code: str, text: str, path: Path, help: str, *, key: bool = False) -> None:
        place = self._document.place(path, key=key)
        self._document.problems.append(self._document.problem(code, text, place, help))

    def signatures(self) -> dict[str, Signature]:
        value = self._data.get("signatures")
        if value is None or ("signatures",) in self._bad:
            return {}
        self._named = named_signatures(value, ("signatures",))
        applies_to = tuple(self._good("applies_to") or ())
        for name, (written, path) in self._named.items():
            if not touches(self._bad, path):
                signature = build_signature(self._document, name, written, path, self._shared, applies_to)
                if signature is not None:
                    self._built[name] = signature
        lookup = self._data.get("lookup")
        self._lookup_names = tuple(lookup) if isinstance(lookup, dict) else ()
        self._conditions = ConditionBuilder(self._document, self._named, self._built, self._lookup_names, self._bad)
        return self._built

    def condition(self) -> Condition | None:
        if self._conditions is None:
            return None
        for key in ("supports", "contradicts"):
            names = self._good(key)
            self._conditions.check_names(_texts(names), (key,), listed=isinstance(names, list))
        names = self._good("fingerprint")
        self._conditions.check_captures(_texts(names), ("fingerprint",), listed=isinstance(names, list))
        if self._data.get("condition") is None:
            return self._only_signature()
        return self._conditions.build(prune(self._data["condition"], self._bad, ("condition",)), ("condition",))

    def _only_signature(self) -> Condition | None:
        """The condition of a rule that has none: its only signature, those that only weigh left aside."""
        weighing = {
            name for key in ("supports", "contradicts") for name in _texts(self._good(key)) if len(self._named) > 1
        }
        names = [name for name in self._named if name not in weighing]
        if len(names) == 1:
            return Condition(op=Op.SIGNATURE, signature=names[0], place=self._document.place(("signatures",), key=True))
        if "condition" not in self._data:
            listed = ", ".join(names)
            help = f"say what must hold: `condition: {{all: [{listed}]}}` or `{{any: [{listed}]}}`"
            self._refuse("R007", f"{len(names)} signatures and no condition", ("signatures",), help, key=True)
        return None

    def lookups(self) -> tuple[Lookup, ...]:
        lookups = []
        for name, written in (self._good("lookup") or {}).items():
            path = ("lookup", name)
            table = self._tables.get(written["table"])
            if table is None:
                help = did_you_mean(written["table"], self._tables, "table")
                self._refuse("R012", f"no table `{written['table']}`", (*path, "table"), help)
            elif written["column"] not in table.columns:
                text = f"no column `{written['column']}` in table `{written['table']}`"
                self._refuse("R012", text, (*path, "column"), did_you_mean(written["column"], table.columns))
            if self._conditions is not None:
                self._conditions.check_captures([written["key"]], (*path, "key"), listed=False)
            default = str(getattr(written.get("default", ""), "raw", written.get("default", "")))
            lookups.append(Lookup(name, written["table"], written["key"], written["column"], default))
        return tuple(lookups)

    def check_required(self) -> None:
        """What pydantic cannot ask for, because it hangs on other keys."""
        data = self._data
        if data.get("kind") == "confirmation":
            return
        misspelt = [path for path in self._bad if path[:-1] == () and path[-1] in data]
        for key in ("severity", "explanation"):
            if data.get(key) is None and not any(may_mean(given, (key,)) for given in misspelt):
                self._refuse("R003", f"missing key `{key}`", (), meaning_of(fields.RuleFields, key))
        title = data.get("title")
        if isinstance(title, str) and "\n" in title.strip():
            self._refuse("R004", "the title spans lines", ("title",), "one line; the rest belongs into `explanation`")

    def check_examples(self) -> None:
        examples = self._data.get("examples")
        for index, example in enumerate(examples if isinstance(examples, list) else []):
            path: Path = ("examples", index)
            if touches(self._bad, path):
                continue
            given = [key for key in OUTCOMES if example.get(key) is not None]
            if len(given) != 1:
                what = " and ".join(f"`{key}`" for key in given) or "neither `match` nor `no_match`"
                self._refuse("R004", f"an example with {what}", path, "one of `match`, `no_match`, `undecided`")
            for key in given:
                below = [(*path, key, name) for name in example[key]] if isinstance(example[key], dict) else []
                for at in below or [(*path, key)]:
                    if self._document.styles.get(at) == ">":
                        help = "write `|`, which keeps line ends; `>` joins lines"
                        self._refuse("R020", "a log text below `>`", at, help)


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _rule(
    document: Document,
    model: fields.RuleFields,
    rule_id: str,
    signatures: Mapping[str, Signature],
    condition: Condition,
    lookups: tuple[Lookup, ...],
) -> Rule:
    return Rule(
        id=rule_id,
        title=model.title.strip(),
        severity=Severity[(model.severity or "low").upper()],
        confidence=Confidence[model.confidence.upper()],
        signatures=signatures,
        condition=condition,
        kind=Kind(model.kind),
        status=Status(model.status),
        symptom=model.symptom,
        generic=model.generic,
        since=model.since or "",
        systems=_texts(model.systems),
        tags=_texts(model.tags),
        supports=_texts(model.supports),
        contradicts=_texts(model.contradicts),
        causes=_texts(model.causes),
        lookup=lookups,
        explanation=(model.explanation or "").strip(),
        fixes=tuple(_fix(fix) for fix in model.fixes or ()),
        owner=model.owner,
        retry=model.retry,
        fingerprint=_texts(model.fingerprint),
        references=_texts(model.references),
        examples=tuple(_example(document, index, each) for index, each in enumerate(model.examples or ())),
        path=document.path,
    )


def _fix(written: fields.FixFields) -> Fix:
    verify = written.verify
    if isinstance(verify, str):
        verify = fields.VerifyFields(run=verify, expect="")
    return Fix(
        title=written.title.strip(),
        do=(written.do or "").strip(),
        run=tuple(each.rstrip("\n") for each in _texts(written.run)),
        variants={platform: text.rstrip("\n") for platform, text in (written.variants or {}).items()},
        safe=written.safe,
        verify=Verify(verify.run.rstrip("\n"), verify.expect.strip()) if verify is not None else None,
    )


def _example(document: Document, index: int, written: fields.ExampleFields) -> Example:
    expect, log = next((key, log) for key in OUTCOMES if (log := getattr(written, key)) is not None)
    return Example(
        expect=expect,
        files={EXAMPLE_NAME: log} if isinstance(log, str) else dict(log),
        captures=dict(written.captures or {}),
        confidence=Confidence[written.confidence.upper()] if written.confidence else None,
        also=_texts(written.also),
        why=(written.why or "").strip(),
        place=document.place(("examples", index)),
    )
