from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import yaml
from hypothesis import strategies as st

from troubleshoot.errors import CODES
from troubleshoot.model import (
    Condition,
    Confidence,
    Fix,
    Instant,
    Kind,
    Op,
    Reach,
    Rule,
    Severity,
    Signature,
    Status,
    Verify,
    Window,
)
from troubleshoot.reach import parse_instant
from troubleshoot.rulepack.companions import Table, parse_builtin, parse_shared, parse_table
from troubleshoot.rulepack.document import condition_document
from troubleshoot.rulepack.fields import KEYS
from troubleshoot.rulepack.positions import read_document
from troubleshoot.rulepack.schema import parse_rule
from troubleshoot.rulepack.signatures import compile_pattern

HEAD = "title: t\nseverity: high\nexplanation: e\n"
SHARED = parse_shared(
    "efa: [vpc.amazonaws.com/efa, /opt/amazon/efa]\n"
    "nccl: {text: NCCL INFO, applies_to: [log]}\n"
    "enomem: {text: 'Cannot allocate memory', advice: true}\n",
    "rules/_shared/s.yaml",
)[0]


def rule(text: str, tables: dict[str, Table] | None = None) -> Rule:
    parsed, problems = parse_rule(HEAD + text, "rules/a/b.yaml", "a/b", SHARED, tables or {})
    assert [str(problem) for problem in problems] == []
    assert parsed is not None
    return parsed


def sources(signature: Signature) -> list[tuple[str, str]]:
    return [(pattern.kind, pattern.source) for pattern in signature.patterns]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("some words", [("text", "some words")]),
        ("[some words, others]", [("text", "some words"), ("text", "others")]),
        ("[some words, {regex: 'o+thers'}]", [("text", "some words"), ("regex", "o+thers")]),
        ("{text: some words}", [("text", "some words")]),
        ("{regex: [a+b, c+d]}", [("regex", "a+b"), ("regex", "c+d")]),
        ("{use: efa}", [("text", "vpc.amazonaws.com/efa"), ("text", "/opt/amazon/efa")]),
        (
            "[some words, {use: efa}]",
            [("text", "some words"), ("text", "vpc.amazonaws.com/efa"), ("text", "/opt/amazon/efa")],
        ),
    ],
)
def test_forms_of_a_signature(written: str, expected: list[tuple[str, str]]) -> None:
    alone = rule(f"signatures: {written}")
    assert list(alone.signatures) == ["line"]
    assert sources(alone.signatures["line"]) == expected
    assert alone.condition.signature == "line"
    named = rule(f"signatures: {{one: {written}}}")
    assert sources(named.signatures["one"]) == expected
    assert named.condition.signature == "one"


def test_options_of_a_signature() -> None:
    parsed = rule(
        "applies_to: [env]\n"
        "signatures:\n"
        "  a: {text: some words, exact_case: true, lines: 3, slow: it must be, advice: true}\n"
        "  b: {text: others, applies_to: [manifest]}\n"
        "  c: {use: nccl}\n"
        "  d: {use: enomem, exact_case: true}\n"
        "condition: {any: [a, b, c, d]}\n"
    )
    pattern = parsed.signatures["a"].patterns[0]
    assert (pattern.exact_case, pattern.lines, pattern.slow, pattern.advice) == (True, 3, "it must be", True)
    assert "\n" in pattern.regex
    assert {name: each.applies_to for name, each in parsed.signatures.items()} == {
        "a": ("env",), "b": ("manifest",), "c": ("log",), "d": ("env",),
    }  # fmt: skip
    assert {name: each.shared for name, each in parsed.signatures.items()} == {
        "a": "", "b": "", "c": "nccl", "d": "enomem",
    }  # fmt: skip
    again = parsed.signatures["d"].patterns[0]
    assert (again.exact_case, again.advice) == (True, True)


def brief(condition: Condition | None) -> Any:
    if condition is None:
        return None
    if condition.op is Op.SIGNATURE:
        return condition.signature
    return {condition.op.value: [brief(child) for child in condition.children]}


SIGNATURES = "signatures: {a: 'word {n:int}', b: words, c: 'other {n:int}'}\n"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("a", "a"),
        ("{all: [a, b]}", {"all": ["a", "b"]}),
        ("{none: a}", {"none": ["a"]}),
        ("{any: [a, {all: [b, {none: [c]}]}]}", {"any": ["a", {"all": ["b", {"none": ["c"]}]}]}),
        ("{in_order: [a, b]}", {"in_order": ["a", "b"]}),
        ("{at_least: {n: 2, of: [a, b, c]}}", {"at_least": ["a", "b", "c"]}),
        ("{at_least: {n: 3, of: a, distinct: rank}}", {"at_least": ["a"]}),
        ("{missing: a, given: b}", {"missing": ["a"]}),
    ],
)
def test_forms_of_a_condition(written: str, expected: Any) -> None:
    assert brief(rule(f"{SIGNATURES}condition: {written}\n").condition) == expected


def test_modifiers_of_a_condition() -> None:
    parsed = rule(
        SIGNATURES + "condition:\n"
        "  missing: a\n  given: [b, c]\n  relevant: [b, c]\n  next: look\n  unless: [b, c]\n"
        "  same: n\n  within: 5 min\n  where: n >= 2 and count < 3\n"
    ).condition
    assert brief(parsed.given) == {"all": ["b", "c"]}
    assert brief(parsed.relevant) == {"any": ["b", "c"]}
    assert brief(parsed.unless) == {"any": ["b", "c"]}
    assert (parsed.same, parsed.within, parsed.where) == ("n", Window(seconds=300.0), "n >= 2 and count < 3")
    assert parsed.next_step == "look"
    assert str(parsed.place) == "rules/a/b.yaml:6:3"


@pytest.mark.parametrize(
    ("written", "window"),
    [
        ("20 records", Window(records=20)),
        ("1 record", Window(records=1)),
        ("30s", Window(seconds=30.0)),
        ("1.5 h", Window(seconds=5400.0)),
        ("250 ms", Window(seconds=0.25)),
    ],
)
def test_windows(written: str, window: Window) -> None:
    assert rule(f"{SIGNATURES}condition: {{all: [a, b], within: {written}}}\n").condition.within == window


def test_vetoes_say_from_when_to_when_they_count() -> None:
    parsed = rule(
        SIGNATURES + "condition:\n  in_order: [a, b]\n  unless:\n"
        "    - { any: c, since: first - 30 s }\n"
        "    - { any: a, since: event 2, until: event 2 + span + 1.5 min }\n    - b\n"
    ).condition
    assert [each.reach for each in parsed.unless.children] == [
        Reach(Instant(1, 0, -30.0), Instant(-1)),
        Reach(Instant(2), Instant(2, 1, 90.0)),
        None,
    ]
    assert condition_document(parsed)["unless"]["any"][:2] == [
        {"any": ["c"], "since": "first - 30 s", "until": "last"},
        {"any": ["a"], "since": "event 2", "until": "event 2 + span + 90 s"},
    ]


@pytest.mark.parametrize("text", ["", "soon", "event 0", "first -", "first - 3 moons", "first 30 s", "event 2 + 5"])
def test_no_moment(text: str) -> None:
    assert parse_instant(text) is None


def test_only_signature_that_does_not_merely_weigh_is_the_condition() -> None:
    parsed = rule("signatures: {oom: out of memory, efa: {use: efa}}\nsupports: efa\n")
    assert (parsed.condition.signature, parsed.supports) == ("oom", ("efa",))


def test_fixes_and_lookup() -> None:
    parsed = rule(
        "signatures: 'Xid {code:int}'\n"
        "lookup: {meaning: {table: xid, key: code, column: name, default: 3.10}}\n"
        "fingerprint: code\n"
        "fixes:\n"
        "  - {title: a, run: nvidia-smi, verify: dmesg}\n"
        "  - {title: b, do: c, run: [d, e], variants: {yaml: 'a: 1'}, safe: true, verify: {run: f, expect: 0}}\n",
        {"xid": Table(("name",))},
    )
    assert parsed.lookup[0].default == "3.10"
    assert parsed.fingerprint == ("code",)
    assert parsed.fixes == (
        Fix("a", run=("nvidia-smi",), verify=Verify("dmesg")),
        Fix("b", "c", ("d", "e"), {"yaml": "a: 1"}, True, Verify("f", "0")),
    )


def test_examples() -> None:
    parsed = rule(
        "signatures: 'v {v:version}'\n"
        "examples:\n"
        "  - match: |\n      v 2.30\n    captures: {v: 2.30}\n    confidence: high\n    also: a/c\n"
        "  - no_match: {a.log: x, b.log: y}\n    why: because\n"
        "  - undecided: z\n"
    ).examples
    assert [(each.expect, dict(each.files)) for each in parsed] == [
        ("match", {"example.log": "v 2.30\n"}),
        ("no_match", {"a.log": "x", "b.log": "y"}),
        ("undecided", {"example.log": "z"}),
    ]
    assert dict(parsed[0].captures) == {"v": "2.30"}
    assert (parsed[0].confidence, parsed[0].also, parsed[1].why) == (Confidence.HIGH, ("a/c",), "because")


def test_yes_and_no_are_words() -> None:
    assert [rule(f"signatures: x y\nretry: {word}\n").retry for word in ("yes", "no", "after-fix", "true")] == [
        "yes", "no", "after-fix", "yes",
    ]  # fmt: skip


def test_defaults() -> None:
    parsed = rule("signatures: some words\n")
    assert (parsed.kind, parsed.status, parsed.severity, parsed.confidence) == (
        Kind.FAULT, Status.STABLE, Severity.HIGH, Confidence.MEDIUM,
    )  # fmt: skip
    good, problems = parse_rule("title: t\nkind: confirmation\nsignatures: x y\n", "p", "a/b")
    assert problems == []
    assert good is not None and good.severity is Severity.LOW


def test_first_example_of_the_readme_loads() -> None:
    readme = (Path(__file__).parents[2] / "rules" / "README.md").read_text("utf-8")
    written = re.findall(r"```yaml\n(title: .*?)```", readme, re.DOTALL)
    assert written
    for text in written:
        parsed, problems = parse_rule(text, "rules/README.md", "a/b")
        assert problems == []
        assert parsed is not None
        for example in parsed.examples:
            found = compile_pattern(parsed.signatures["line"].patterns[0].regex).search(example.files["example.log"])
            assert (found is not None) == (example.expect == "match")


def test_table_cells_are_texts_as_written() -> None:
    table, problems = parse_table(
        "columns: [since, action]\nrows:\n  79: {since: 2.30, action: reboot}\n  80: {}\n", "t"
    )
    assert problems == []
    assert table == Table(("since", "action"), {"79": {"since": "2.30", "action": "reboot"}, "80": {}})


def test_wrong_tables_are_told() -> None:
    _table, problems = parse_table("columns: [name]\nrows: {'1': {nam: x}}\n", "t.yaml")
    assert [(each.code, str(each.place)) for each in problems] == [("R012", "t.yaml:2:14")]
    assert [each.code for each in parse_table("", "t.yaml")[1]] == ["R004"]
    assert [each.code for each in parse_table("rows: 3", "t.yaml")[1]] == ["R003", "R004"]


def test_builtin_signatures_have_attributes() -> None:
    group, problems = parse_builtin(
        "killed: {signature: [Killed by signal, {use: nccl}], weight: 3, reason: a signal}\n", "b.yaml", SHARED
    )
    assert problems == []
    signature, attributes = group["killed"]
    assert sources(signature) == [("text", "Killed by signal"), ("text", "NCCL INFO")]
    assert attributes == {"weight": "3", "reason": "a signal"}
    assert [each.code for each in parse_builtin("x: {weight: 3}", "b.yaml", {})[1]] == ["R003"]
    assert [each.code for each in parse_builtin("x: {signature: '{a}'}", "b.yaml", {})[1]] == ["R009"]


def test_hostile_yaml_is_refused_quickly() -> None:
    bomb = "a: &a [x, x]\n" + "\n".join(
        f"{n}: &{n} [*{p}, *{p}]" for p, n in zip("abcdefghij", "bcdefghijk", strict=True)
    )
    document = read_document(bomb, "f")
    assert all(problem.code == "R001" for problem in document.problems)
    assert len(str(document.data)) < 2000
    for text in (
        "[" * 5000,
        "a: " + "{b: " * 60 + "c" + "}" * 60,
        "- " * 3000,
        "\x00",
        "a: \x07",
        "? {a: b}\n: c",
        "\ufeffa: b",
    ):
        read_document(text, "f")


def test_control_characters_are_pointed_at() -> None:
    (problem,) = read_document("a: b\nc: d\x07\ne: f\n", "f").problems
    assert (str(problem.place), problem.excerpt) == ("f:2:5", "c: d?")


def test_excerpts_hold_no_control_codes() -> None:
    document = read_document("a: b\x1b[31m\u202ec\n", "f")
    place = document.place(("a",))
    assert document.problem("R004", "x", place).excerpt.isprintable()


NAMES = [*KEYS, "text", "regex", "use", "lines", "all", "any", "none", "at_least", "of", "n", "distinct", "in_order"]
NAMES += ["missing", "given", "relevant", "same", "within", "where", "unless", "match", "no_match", "captures", "also"]
NAMES += ["table", "key", "column", "run", "verify", "title", "a", "b"]
SCALARS = st.sampled_from(
    ["a", "b", "line", "{x:int} y", "(", "", "x > 3", "3 s", "rank", 3, 2.5, True, None, "yes", "low"]
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


@hypothesis.settings(max_examples=150, deadline=None)
@hypothesis.given(st.dictionaries(st.sampled_from(NAMES), DATA, max_size=8))
def test_any_mapping_is_a_rule_or_has_problems_with_places(data: dict[str, Any]) -> None:
    text = yaml.safe_dump({"title": "t", "signatures": {"a": "some words", "b": "x {n:int}"}, **data}, sort_keys=False)
    parsed, problems = parse_rule(text, "f.yaml", "a/b", SHARED, {})
    assert (parsed is None) == bool(problems)
    last = text.count("\n") + 1
    assert all(each.place is not None and 1 <= each.place.line <= last and each.code in CODES for each in problems)


@hypothesis.settings(max_examples=150, deadline=None)
@hypothesis.given(st.text(st.sampled_from("ab: -\n|>'\"{}[]&*!#%@,?\t\x00é~0"), max_size=60))
def test_any_text_is_read_or_has_problems(text: str) -> None:
    parsed, problems = parse_rule(text, "f.yaml", "a/b")
    assert (parsed is None) == bool(problems)
    for function in (
        lambda: parse_shared(text, "f"),
        lambda: parse_builtin(text, "f", {}),
        lambda: parse_table(text, "f"),
    ):
        function()
