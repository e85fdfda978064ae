"""Small rules in the format of prequel's CRE: they load here, find what they must and leave alone what they must."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from troubleshoot.cli.packs import bench, import_document
from troubleshoot.engine import Engine
from troubleshoot.errors import UsageError
from troubleshoot.importers import read_foreign, write_pack
from troubleshoot.model import RulePack
from troubleshoot.rulepack.editors import associate
from troubleshoot.rulepack.lint import lint_pack
from troubleshoot.rulepack.load import load_pack

RULE = """\
rules:
  - cre:
      id: CRE-2099-0001
      severity: 1
      title: The turbo encabulator lost {phase}
      category: machinery-problems
      tags: [Known Problem, encabulator]
      description: It lost its phase.
      cause: The grammeters were not {synchronised}.
      impact: Nothing turns.
      mitigation: Turn it off and on again.
      references: [https://example.org/encabulator]
      applications: [{name: Turbo Encabulator}]
    metadata: {id: 5UD1RZxGC5LJQnVpAkV11A, gen: 1}
    rule:
"""


def write_rule(folder: Path, rule: str, log: str = "", near_miss: str = "", more: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    indented = "".join(f"      {line}\n" for line in rule.strip().splitlines())
    (folder / "rule.yaml").write_text(RULE + indented + more, "utf-8")
    if log:
        (folder / "test.log").write_text(log, "utf-8")
    if near_miss:
        (folder / "test-fp.log").write_text(near_miss, "utf-8")
    return folder


def imported(tmp_path: Path, rule: str, more: str = "") -> RulePack:
    foreign = read_foreign("cre", write_rule(tmp_path / "foreign", rule, more=more))
    assert foreign.refused == ()
    write_pack(foreign, tmp_path / "out")
    pack = load_pack([tmp_path / "out"], default_rules=False, cache=False, overrides=None)
    assert pack.problems == ()
    return pack


def fires(pack: RulePack, log: str) -> bool:
    return bool(Engine(pack).scan_text(log, "x.log").findings)


def log_of(*lines: str) -> str:
    """Write lines such as `05 text`, the number the second of a minute, as a log."""
    return "".join(f"2026-11-30T12:00:{line[:2]}.000Z {line[3:]}\n" for line in lines)


def test_what_a_rule_says_is_taken_over(tmp_path: Path) -> None:
    rule = "set: {event: {source: cre.log.encabulator}, match: [{value: 'lost phase'}]}"
    write_rule(tmp_path / "in/one", rule, log="it lost phase\n", near_miss="it lost its way\n")
    foreign = read_foreign("cre", tmp_path / "in")
    told = import_document(foreign, write_pack(foreign, tmp_path / "out", bench()), tmp_path / "out")
    assert (told["loaded"], told["detected"], told["silent"], told["short"]) == (1, 1, 1, [])
    text = (tmp_path / "out/machinery/cre-2099-0001.yaml").read_text("utf-8")
    assert text.startswith("# Imported from prequel CRE: CRE-2099-0001 (one/rule.yaml).\n")
    written = yaml.safe_load(text)
    assert written["title"] == "The turbo encabulator lost {{phase}}"
    assert (written["severity"], written["status"]) == ("high", "imported")
    assert written["systems"] == ["turbo-encabulator", "encabulator"]
    assert written["tags"] == ["known-problem", "encabulator"]
    assert written["explanation"] == (
        "It lost its phase.\n\nCause: The grammeters were not {{synchronised}}.\n\nImpact: Nothing turns."
    )
    assert written["fixes"][0]["do"] == "Turn it off and on again."
    assert written["signatures"] == {"text": "lost phase", "exact_case": True, "advice": True}
    assert [next(iter(each)) for each in written["examples"]] == ["match", "no_match"]
    pack = load_pack([tmp_path / "out"], default_rules=False, strict=True, cache=False, overrides=None)
    assert pack.rules["machinery/cre-2099-0001"].pack == "cre"
    assert [each for each in lint_pack(pack, Engine(pack).scan_texts) if each.severity == "error"] == []


@pytest.mark.parametrize(
    ("rule", "log", "expected"),
    [
        # value: letter case counts; regex: on one line, or over the lines of an entry
        ("set: {event: {source: s}, match: [Lost phase]}", log_of("01 lost phase"), False),
        ("set: {event: {source: s}, match: [{regex: 'lost.*again'}]}", log_of("01 lost it again"), True),
        ("set: {event: {source: s}, match: [{regex: 'lost.*again'}]}", log_of("01 lost") + "once again\n", True),
        ("set: {event: {source: s}, match: [{regex: 'lost.*again'}]}", log_of("01 lost", "02 once again"), False),
        # set: any order, within its window
        ("set: {event: {source: s}, window: 5s, match: [alpha, beta]}", log_of("01 beta", "06 alpha"), True),
        ("set: {event: {source: s}, window: 5s, match: [alpha, beta]}", log_of("01 beta", "07 alpha"), False),
        # sequence: in order
        ("sequence: {event: {source: s}, window: 5s, order: [alpha, beta]}", log_of("01 alpha", "02 beta"), True),
        ("sequence: {event: {source: s}, window: 5s, order: [alpha, beta]}", log_of("01 beta", "02 alpha"), False),
        # count, also as equal terms in a row
        (
            "sequence: {event: {source: s}, window: 30s, order: [{value: alpha, count: 2}, beta]}",
            log_of("01 alpha", "02 beta", "03 alpha"),
            False,
        ),
        (
            "sequence: {event: {source: s}, window: 30s, order: [alpha, alpha, beta]}",
            log_of("01 alpha", "02 alpha", "03 beta"),
            True,
        ),
        (
            "set: {event: {source: s}, window: 9s, match: [{value: alpha, count: 3}]}",
            log_of("01 alpha", "02 alpha"),
            False,
        ),
        # negate: between the first event and the last
        ("set: {event: {source: s}, window: 9s, match: [alpha, beta], negate: [stop]}",
         log_of("01 alpha", "02 stop", "03 beta"), False),
        ("set: {event: {source: s}, window: 9s, match: [alpha, beta], negate: [stop]}",
         log_of("01 alpha", "03 beta", "04 stop"), True),
        ("set: {event: {source: s}, match: [alpha], negate: [stop]}", log_of("01 alpha, and stop"), False),
        ("set: {event: {source: s}, match: [alpha], negate: [stop]}", log_of("01 alpha", "02 stop"), True),
        # negate with window, anchor, slide, absolute
        ("set: {event: {source: s}, match: [alpha], negate: [{value: stop, window: 5s}]}",
         log_of("01 alpha", "06 stop"), False),
        ("set: {event: {source: s}, match: [alpha], negate: [{value: stop, window: 5s}]}",
         log_of("01 alpha", "07 stop"), True),
        ("set: {event: {source: s}, window: 9s, match: [alpha, beta], negate: [{value: stop, anchor: 1, window: 3s}]}",
         log_of("01 alpha", "03 beta", "08 stop"), False),
        ("set: {event: {source: s}, window: 9s, match: [alpha, beta], negate: [{value: stop, anchor: 1, window: 3s}]}",
         log_of("01 alpha", "03 beta", "09 stop"), True),
        ("set: {event: {source: s}, window: 9s, match: [alpha, beta],"
         " negate: [{value: stop, anchor: 1, window: 3s, absolute: true}]}",
         log_of("01 alpha", "03 beta", "07 stop"), True),
        ("set: {event: {source: s}, window: 9s, match: [alpha, beta], negate: [{value: stop, slide: -8s}]}",
         log_of("01 stop", "09 alpha", "10 beta"), False),
        ("set: {event: {source: s}, window: 9s, match: [alpha, beta], negate: [{value: stop, slide: -8s}]}",
         log_of("01 stop", "11 alpha", "12 beta"), True),
        # jq
        ('set: {event: {source: s}, match: [{jq: \'select(.event == "crash" and .level == "error")\'}]}',
         '{"time":"2026-11-30T12:00:01Z","level":"error","event":"crash"}\n', True),
        ('set: {event: {source: s}, match: [{jq: \'.event == "crash" and .level == "error"\'}]}',
         '{"level":"info","event":"crash"}\n{"level":"error","event":"start"}\n', False),
        # a set within a sequence, correlated
        ("sequence: {window: 30s, correlations: [hostname], order: ["
         "{set: {event: {source: a, origin: true}, window: 5s, match: [alpha, beta]}},"
         " {set: {event: {source: b}, match: [gamma]}}]}",
         log_of("01 beta", "02 alpha", "09 gamma"), True),
    ],
)  # fmt: skip
def test_it_means_what_it_meant(tmp_path: Path, rule: str, log: str, expected: bool) -> None:
    assert fires(imported(tmp_path, rule), log) is expected


def test_terms_are_looked_up(tmp_path: Path) -> None:
    rule = (
        "sequence: {event: {source: s}, window: 30s, order: [one, {value: two}], negate: [{value: three, window: 5s}]}"
    )
    terms = "terms:\n  one: {value: alpha, count: 2}\n  two: {regex: 'be[t]a'}\n  three: gamma\n"
    pack = imported(tmp_path, rule, terms)
    assert fires(pack, log_of("01 alpha", "02 alpha", "03 beta"))
    assert not fires(pack, log_of("01 alpha", "03 beta"))
    assert not fires(pack, log_of("01 alpha", "02 alpha", "03 beta", "07 gamma"))


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("set: {event: {source: s}, match: []}", "a set without `match`"),
        ("sequence: {event: {source: s}, window: 5s}", "a sequence without `order`"),
        ("set: {event: {source: s}, match: [{promql: {expr: up}}]}", "promql asks for metrics, and this reads logs"),
        ("set: {event: {source: s}, match: [{regex: '('}]}", "the pattern does not compile here"),
        ("set: {event: {source: s}, match: [{jq: '.a | length'}]}", "jq: `length` cannot be asked of a line"),
        ("set: {event: {source: s}, match: [a1], negate: [{value: b1, anchor: 2}]}", "an anchor of 2 with 1 event"),
        ("set: {event: {source: s}, window: soon, match: [a1, b1]}", "`soon` is no duration"),
        ("other: {}", "it has neither `sequence` nor `set`"),
    ],
)
def test_what_cannot_be_taken_over_is_refused_with_the_reason(tmp_path: Path, rule: str, why: str) -> None:
    foreign = read_foreign("cre", write_rule(tmp_path / "in", rule))
    assert foreign.rules == ()
    assert [each.origin for each in foreign.refused] == ["CRE-2099-0001"]
    assert foreign.refused[0].why.startswith(why)


def test_one_bad_file_leaves_the_others(tmp_path: Path) -> None:
    write_rule(tmp_path / "in/good", "set: {event: {source: s}, match: [alpha]}")
    (tmp_path / "in/bad.yaml").write_text("rules: [", "utf-8")
    (tmp_path / "in/other.yaml").write_text("tags: [x]\n", "utf-8")
    foreign = read_foreign("cre", tmp_path / "in")
    assert ([each.origin for each in foreign.rules], [each.path for each in foreign.refused]) == (
        ["CRE-2099-0001"],
        ["bad.yaml"],
    )


def test_a_rule_that_does_not_find_its_log_says_so(tmp_path: Path) -> None:
    write_rule(tmp_path / "in", "set: {event: {source: s}, match: [alpha]}", log="nothing of the sort\n")
    foreign = read_foreign("cre", tmp_path / "in")
    [one] = write_pack(foreign, tmp_path / "out", bench())
    assert (one.loaded, one.detected) == (True, False)
    assert "# Tried: it does not fire on its test.log.\n" in one.path.read_text("utf-8")
    assert "examples" not in yaml.safe_load(one.path.read_text("utf-8"))


def test_long_logs_are_quoted_by_their_evidence(tmp_path: Path) -> None:
    filler = "nothing to see on this line of the log\n" * 500
    write_rule(tmp_path / "in", "set: {event: {source: s}, match: [alpha]}", log=f"{filler}alpha came\n{filler}")
    foreign = read_foreign("cre", tmp_path / "in")
    [one] = write_pack(foreign, tmp_path / "out", bench())
    assert yaml.safe_load(one.path.read_text("utf-8"))["examples"] == [{"match": "alpha came\n"}]


def test_imported_files_that_point_editors_to_a_schema_are_imported_again(tmp_path: Path) -> None:
    foreign = read_foreign("cre", write_rule(tmp_path / "in", "set: {event: {source: s}, match: [alpha]}"))
    write_pack(foreign, tmp_path / "out", bench())
    assert len(associate(tmp_path / "out")) > 1
    [one] = write_pack(foreign, tmp_path / "out", bench())
    assert one.loaded


def test_files_that_were_not_imported_are_left_alone(tmp_path: Path) -> None:
    foreign = read_foreign("cre", write_rule(tmp_path / "in", "set: {event: {source: s}, match: [alpha]}"))
    own = tmp_path / "out/machinery/cre-2099-0001.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("title: mine\n", "utf-8")
    with pytest.raises(UsageError, match="was not imported"):
        write_pack(foreign, tmp_path / "out")
    assert own.read_text("utf-8") == "title: mine\n"
    own.unlink()
    write_pack(foreign, tmp_path / "out")
    write_pack(foreign, tmp_path / "out")  # again over its own
