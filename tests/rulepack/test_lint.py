from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from troubleshoot.engine import Engine
from troubleshoot.errors import CODES, UsageError
from troubleshoot.model import Pattern, Report, RulePack
from troubleshoot.rulepack import load as load_module
from troubleshoot.rulepack.fields import KEYS
from troubleshoot.rulepack.lint import lint_pack
from troubleshoot.rulepack.lint_patterns import ambiguous_groups, slow_text
from troubleshoot.rulepack.load import load_pack

GOOD = {
    "title": "'It failed on rank {rank}'",
    "severity": "low",
    "signatures": "'turbo encabulator failed on rank {rank:int}'",
    "explanation": "x",
    "fixes": "[{title: mend it, verify: {run: nvidia-smi}}]",
    "references": "[somewhere]",
    "examples": "\n  - match: turbo encabulator failed on rank 3\n    captures: {rank: 3}"
    "\n  - no_match: turbo encabulator failed on host 3\n",
}
Lint = Callable[..., list[str]]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lint:
    """Lint rules given as changes to a good one (None takes a key away); return `code place: text` of each problem."""
    monkeypatch.setattr(load_module, "default_rules_dir", lambda: tmp_path / "none")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "none").mkdir()

    def lint_rules(
        *changes: Mapping[str, str | None], run: bool = False, shared: str = "", **options: object
    ) -> list[str]:
        for name, change in zip("abc", changes, strict=False):
            keys = {**GOOD, **change}
            if "order" not in options:
                keys = {key: keys[key] for key in KEYS if key in keys}
            path = tmp_path / f"p/net/{name}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{key}: {value}\n" for key, value in keys.items() if value is not None), "utf-8")
        (tmp_path / "p/_shared").mkdir(exist_ok=True)
        (tmp_path / "p/_shared/s.yaml").write_text(shared, "utf-8")
        pack = load_pack(["p"], drafts=True, default_rules=False, cache=False)
        assert pack.problems == ()
        options.pop("order", None)
        problems = lint_pack(pack, Engine(pack).scan_texts if run else None, **options)  # type: ignore[arg-type]
        assert {problem.code for problem in problems} <= CODES.keys()
        return [f"{each.severity[0]} {each.code} {str(each.place)[6:]} {each.text}" for each in problems]

    return lint_rules


def test_a_good_rule_passes(lint: Lint) -> None:
    assert lint({}, run=True) == []


def test_keys_out_of_order(lint: Lint) -> None:
    assert lint({"status": "stable"}, order=True) == ["w L001 a.yaml:12:1 `status` stands after `examples`"]


def test_unused_signature(lint: Lint) -> None:
    two = "{a: turbo encabulator failed on rank, b: on host}"
    one = {"title": "t", "signatures": two, "condition": "a"}
    assert lint(one) == ["w L002 a.yaml:3:51 signature `b` is never used"]
    assert lint({**one, "supports": "b"}) == []


def test_examples_are_asked_for(lint: Lint) -> None:
    told = [
        "L003 a.yaml:1:1 no example that matches",
        "L004 a.yaml:1:1 no near-miss",
        "L013 a.yaml:3:1 signature `line` is in no example",
    ]
    assert lint({"examples": None}) == [f"e {told[0]}", f"e {told[1]}", f"w {told[2]}"]
    drafted = [each.replace(":3:", ":4:") for each in told]
    assert lint({"examples": None, "status": "draft"}) == [f"w {each}" for each in drafted]
    assert lint({"examples": "\n  - match: turbo encabulator failed on rank 3"}) == ["e L004 a.yaml:7:1 no near-miss"]


def test_example_that_comes_out_otherwise(lint: Lint) -> None:
    examples = """
  - match: turbo encabulator failed on host 3
  - no_match: turbo encabulator failed on rank 3
  - undecided: turbo encabulator failed on rank 3
  - match: turbo encabulator failed on rank 3
    captures: {rank: 4, host: x}
    confidence: high
"""
    assert lint({"examples": examples}, run=True) == [
        "e L005 a.yaml:8:5 the rule does not fire on this example of `match`",
        "e L005 a.yaml:9:5 the rule fires on this example of `no_match`",
        "e L005 a.yaml:10:5 the rule fires on this example of `undecided`",
        "e L005 a.yaml:12:16 `rank` is `3`, and not `4`",
        "e L005 a.yaml:12:25 `host` is not captured, and not `x`",
        "e L005 a.yaml:13:5 confidence is medium, and not high",
    ]


def test_scan_that_fails_is_told(lint: Lint) -> None:
    def refuse(files: Mapping[str, str]) -> Report:
        raise UsageError("not today")

    lint({})
    pack = load_pack(["p"], default_rules=False)
    assert [each.text for each in lint_pack(pack, refuse)] == ["the example cannot be scanned: not today"] * 2


def test_example_that_fires_another_rule(lint: Lint) -> None:
    wide = {"title": "w", "signatures": "turbo encabulator", "fingerprint": None}
    near = "\n  - match: turbo encabulator\n    also: net/a\n  - no_match: turbines\n"
    told = lint({}, {**wide, "examples": near}, run=True)
    assert told == [
        "e L006 a.yaml:8:5 net/b fires on this example too",
        "e L006 a.yaml:10:5 net/b fires on this example too",
    ]
    allowed = GOOD["examples"].replace("    captures", "    also: [net/*]\n    captures") + "    also: net/b\n"
    assert lint({"examples": allowed}, {**wide, "examples": near}, run=True) == []
    assert lint({}, {**wide, "generic": "true", "examples": near}, run=True) == []


def test_texts_name_known_captures(lint: Lint) -> None:
    fixes = "[{title: '{rank} {rnk}', do: '{{rnk}} ${{x}} {count}', run: 'a {b}', variants: {yaml: '{Up} {c d} {e}'}, "
    fixes += "verify: {run: '{f}', expect: '{g}'}}]"
    told = lint({"title": "'{ranks} {code}'", "fixes": fixes})
    assert told == [
        "e L007 a.yaml:1:8 no capture `code`",
        *(
            f"e L007 a.yaml:5:{column} no capture `{name}`"
            for column, name in ((17, "rnk"), (68, "b"), (94, "e"), (127, "f"), (142, "g"))
        ),
    ]


def test_references_to_unknown_rules(lint: Lint) -> None:
    told = lint(
        {
            "causes": "[net/b, net/c, '#lost', '#lots', gpu/*, net/a]",
            "examples": GOOD["examples"] + "    also: net/x\n",
        },
        {
            "tags": "[lost]",
            "signatures": "words of another",
            "title": "t",
            "examples": "[{match: words of another}, {no_match: x y}]",
        },
    )
    assert told == [
        "e L008 a.yaml:6:17 no rule `net/c`",
        "e L008 a.yaml:6:33 no rule has the tag `#lots`",
        "e L008 a.yaml:6:42 no rule `gpu/*`",
        "e L008 a.yaml:6:49 `net/a` is this rule itself",
        "e L008 a.yaml:12:11 no rule `net/x`",
    ]


def test_causes_in_a_circle(lint: Lint) -> None:
    other = {"title": "t", "examples": "[{match: words}, {no_match: x}]"}
    told = lint(
        {"causes": "[net/b]"},
        {**other, "signatures": "words", "causes": "[net/c]"},
        {
            **other,
            "signatures": "words words",
            "examples": "[{match: words words}, {no_match: x}]",
            "causes": "[net/a]",
        },
    )
    assert [each for each in told if "L009" in each] == [
        "e L009 a.yaml:6:1 causes go round: net/a -> net/b -> net/c -> net/a"
    ]


def test_tags_may_point_at_each_other(lint: Lint) -> None:
    other = {"title": "t", "examples": "[{match: words}, {no_match: x}]"}
    told = lint(
        {"tags": "[one]", "causes": "['#two']"},
        {**other, "signatures": "words", "tags": "[two]", "causes": "['#one']"},
    )
    assert [each for each in told if "L009" in each] == []


def test_same_signature_as_another_rule(lint: Lint) -> None:
    twice = [
        "w L010 a.yaml:3:1 signature `line` is also one of net/b",
        "w L010 b.yaml:3:1 signature `line` is also one of net/a",
    ]
    assert [each for each in lint({}, {}) if "L010" in each] == twice
    used = {"signatures": "{use: failed}"}
    assert lint(used, used, shared=f"failed: {GOOD['signatures']}\n") == []


def test_references_fixes_and_verification_are_asked_for(lint: Lint) -> None:
    assert lint({"references": None, "fixes": None}) == ["e L011 a.yaml:1:1 no reference", "e L012 a.yaml:1:1 no fix"]
    assert lint({"fixes": None, "symptom": "true"}) == []
    assert lint({"fixes": "[{title: x, do: y}]"}) == ["w L016 a.yaml:5:1 no fix says how to see that it worked"]


def test_unknown_platform(lint: Lint) -> None:
    fixes = "[{title: x, verify: y, variants: {runai: z, slurm: z}}]"
    assert lint({"fixes": fixes}) == ["w L014 a.yaml:5:42 unknown platform `runai`"]


def test_placeholders(lint: Lint) -> None:
    assert lint({"explanation": "'TODO: say it'"}) == ["e L018 a.yaml:4:14 `TODO` left on line 4"]
    examples = "[{match: turbo encabulator failed on rank 3}, {no_match: TODO, why: TODO}]"
    told = lint({"fixes": "[{title: TODO, run: x, verify: TODO}]", "examples": examples})
    assert told == ["e L018 a.yaml:5:17 `TODO` left on lines 5, 7"]


@dataclass(frozen=True)
class _Cost:
    cost: float


def test_patterns_that_cannot_be_searched_for(lint: Lint) -> None:
    def choose(pattern: Pattern) -> object:
        return {"turbo": "too common", "encabulator": _Cost(500_000)}.get(pattern.source, _Cost(1))

    signatures = "{a: [turbo, encabulator, failed on rank], b: {text: turbo, slow: it must be}}"
    told = lint({"title": "t", "signatures": signatures, "condition": "{any: [a, b]}"}, choose=choose)
    assert [each for each in told if "L001" not in each] == [
        "e R014 a.yaml:3:14 `turbo`: too common",
        "w L017 a.yaml:3:14 `encabulator`: its rarest word stands on 500,000 of a million ordinary lines",
    ]


def test_the_scan_itself_says_what_it_cannot_search_for(lint: Lint) -> None:
    from troubleshoot.scan.planner import choose

    signatures = "{a: {regex: '^[A-Z]{3}$'}, b: turbo encabulator failed}"
    told = lint({"title": "t", "signatures": signatures, "condition": "{any: [a, b]}"}, choose=choose)
    assert [each.split(" ")[1] for each in told if each.startswith("e ")] == ["R014"]


@pytest.mark.parametrize(
    ("source", "ambiguous"),
    [
        (r"(a+)+b", "(a+)+"),
        (r"x(?:\s*\w+)*y", r"(?:\s*\w+)*"),
        (r"(?P<all>(?:\w|\d)+)!", r"(?:\w|\d)+"),
        (r"(?:[^,]+,?)*;", r"(?:[^,]+,?)*"),
        (r"(?:a|a)*", "(?:a|a)*"),
        (r"(?:[.+-][0-9a-z]+)*", None),
        (r"(.*a){25}", "(.*a){25}"),
        (r"x(?:\w{1,9}){0,9}!", r"(?:\w{1,9}){0,9}"),
        (r"((a{1,20}){1,20}){1,20}", "(a{1,20}){1,20}"),
        (r"(?:.*,){2}", None),
        (r"(?:\d{1,3}\.){3}\d{1,3}", None),
        (r"(?:.*a){25}+", None),
        (r"(?:\w+,)*", None),
        (r"(?:a|b)*", None),
        (r"\((a+)\+", None),
        (r"[(a+)+]", None),
        (r"(?:[^\n]*\n){1,9}", None),
        (r"(?=(a+))+", None),
        (r"(?:a+)++", None),
    ],
)
def test_ambiguous_groups(source: str, ambiguous: str | None) -> None:
    assert next(ambiguous_groups(source), None) == ambiguous


def test_long_running_patterns(lint: Lint) -> None:
    signatures = r"{regex: 'turbo(?: |\w+)+ rank \d+$'}"
    (told,) = lint({"title": "t", "signatures": signatures})
    assert told.startswith("w L015 a.yaml:3:1 `(?: |\\w+)+` can be read in many ways")


def test_trial_tells_cubic_cost_from_what_the_scan_can_bear() -> None:
    def pattern(source: str) -> Pattern:
        return Pattern(0, "regex", source, source)

    text = ["start a 1 a 2 a 3 end"]
    assert slow_text(pattern(r"\w.*\w.*\w.*\w.*end"), text) is not None
    assert slow_text(pattern(r"start.*end"), text) is None
    assert slow_text(pattern(r"start \w+ \d+ \w+"), text) is None


def test_only_named_rules_are_linted(lint: Lint) -> None:
    assert lint({"fixes": None}, {"fixes": None}, only={"net/b"}) == [
        "e L012 b.yaml:1:1 no fix",
        "w L010 b.yaml:3:1 signature `line` is also one of net/a",
    ]


def test_rules_without_a_file_are_linted(tmp_path: Path, lint: Lint) -> None:
    lint({"references": None})
    pack: RulePack = load_pack(["p"], default_rules=False)
    (tmp_path / "p/net/a.yaml").unlink()
    assert [(each.code, str(each.place)) for each in lint_pack(pack)] == [("L011", "p/net/a.yaml:1:1")]
