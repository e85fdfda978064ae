import itertools
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_packs import build_condition, build_pack, scan_plainly

from troubleshoot import limits
from troubleshoot.engine import Engine
from troubleshoot.evaluate.conditions import Judge
from troubleshoot.evaluate.evaluator import evaluate, explain_rule
from troubleshoot.evaluate.sightings import View, view_rules
from troubleshoot.evaluate.texts import Texts
from troubleshoot.model import Severity, Truth


def evaluated(rules, log, **options):
    pack = build_pack(rules)
    return evaluate(pack, scan_plainly(pack, log, **options))


def test_outcome_tree_tells_which_legs_held():
    rules = {
        "x/a": {
            "signatures": {"a": "alpha", "b": "beta", "c": "gamma"},
            "condition": {"all": ["a", {"any": ["b", "c"]}]},
        }
    }
    evaluation = evaluated(rules, "alpha\n")
    outcome = evaluation.outcomes["x/a"]
    assert outcome.truth is Truth.FALSE
    assert [(each.truth, each.why) for each in outcome.children] == [
        (Truth.TRUE, ""),
        (Truth.FALSE, "0 of any of b, c"),
    ]
    assert [each.hit.record.line for each in outcome.children[0].hits] == [1]


def test_outcome_of_groups_shows_the_one_that_came_closest():
    rules = {
        "x/a": {
            "signatures": {"a": "alpha", "b": "beta", "c": "gamma"},
            "condition": {"all": ["a", "b", "c"], "same": "rank"},
        }
    }
    outcome = evaluated(rules, "r0 alpha\nr1 alpha\nr1 beta\nr2 gamma\n").outcomes["x/a"]
    assert [each.truth for each in outcome.children] == [Truth.TRUE, Truth.TRUE, Truth.FALSE]


def test_a_veto_says_where_it_stands():
    rules = {"x/a": {"signatures": {"a": "alpha", "v": "veto"}, "condition": {"all": ["a"], "unless": "v"}}}
    assert evaluated(rules, "alpha\nveto\n").outcomes["x/a"].why == "vetoed by v (log:2)"


def test_a_rule_without_a_hit_can_be_explained():
    pack = build_pack({"x/a": {"signatures": {"a": "alpha", "b": "beta"}, "condition": {"all": ["a", "b"]}}})
    outcome = explain_rule(pack, scan_plainly(pack, "nothing"), "x/a")
    assert (outcome.truth, outcome.why) == (Truth.FALSE, "no a")


def test_fingerprint_depends_on_rule_and_fingerprint_captures_alone():
    rules = {"x/lib": {"signatures": {"a": "(?P<lib>\\S+) lost at (?P<at>\\d+)"}, "fingerprint": ["lib"]}}
    one = evaluated(rules, "12:00:00 r1 @h1 liba lost at 7").findings
    two = evaluated(rules, "filler\n13:00:00 r2 @h2 LIBA lost at 8").findings
    other = evaluated(rules, "libb lost at 7").findings
    assert one[0].fingerprint == two[0].fingerprint != other[0].fingerprint


def test_too_many_forms_of_one_fault_are_capped_with_a_note():
    rules = {"x/lib": {"signatures": {"a": "(?P<lib>\\S+) lost"}, "fingerprint": ["lib"]}}
    evaluation = evaluated(rules, "\n".join(f"lib{at:03d} lost" for at in range(limits.FINDINGS_PER_RULE + 7)))
    assert [each.captures["lib"] for each in evaluation.findings][:2] == ["lib000", "lib001"]
    assert len(evaluation.findings) == limits.FINDINGS_PER_RULE
    assert [(note.code, "7 more" in note.text) for note in evaluation.notes] == [("findings-capped", True)]


def test_too_many_combinations_are_capped_with_a_note():
    rules = {
        "x/pair": {
            "signatures": {"a": "left (?P<x>\\d+)", "b": "right (?P<y>\\d+)"},
            "condition": {"all": ["a", "b"], "where": "x == y"},
        }
    }
    log = "\n".join(f"left {at}\nright {at + 1_000_000}" for at in range(300))
    evaluation = evaluated(rules, log)
    assert evaluation.findings == ()
    assert [note.code for note in evaluation.notes] == ["where-capped"]
    assert evaluation.notes[0].text.startswith("x/pair was not asked for every combination of hits: ")


def test_equal_values_are_tried_once(monkeypatch):
    monkeypatch.setattr(limits, "COMBINATIONS", 10)
    rules = {
        "x/pair": {
            "signatures": {"a": "left (?P<x>\\d+)", "b": "right (?P<y>\\d+)"},
            "condition": {"all": ["a", "b"], "where": "x == y"},
        }
    }
    log = "\n".join(f"r{rank} left 1\nr{rank} right 1" for rank in range(500))
    evaluation = evaluated(rules, log)
    assert (evaluation.findings[0].count, evaluation.notes) == (500, ())


def test_too_many_windows_are_capped_with_a_note(monkeypatch):
    monkeypatch.setattr(limits, "WINDOW_HITS", 50)
    rules = {
        "x/a": {"signatures": {"a": "alpha", "b": "beta"}, "condition": {"all": ["a", "b"], "within": "5 records"}}
    }
    evaluation = evaluated(rules, "alpha\n" * 100)
    assert [note.code for note in evaluation.notes] == ["window-capped"]
    assert evaluation.notes[0].text == "x/a was not asked over every window: it has too many hits"


def test_evidence_is_capped_and_shows_each_signature_first():
    rules = {"x/a": {"signatures": {"a": "alpha", "b": "beta"}, "condition": {"all": ["a", "b"]}}}
    log = "".join(f"r{rank} alpha\n" for rank in range(40)) + "r3 beta\n"
    finding = evaluated(rules, log).findings[0]
    assert len(finding.evidence) == limits.EVIDENCE_PER_FINDING
    assert [each.signature for each in finding.evidence][:3] == ["a", "b", "a"]
    assert len({each.rank for each in finding.evidence}) > 5
    assert finding.count == 1  # of `all` the rarest leg
    assert finding.ranks == tuple(range(40))


def test_evidence_of_a_very_long_record_is_the_part_around_the_match():
    rules = {"x/a": {"signatures": {"a": "need(?=le)"}}}
    finding = evaluated(rules, "x" * 50_000 + "needle" + "y" * 50_000).findings[0]
    evidence = finding.evidence[0]
    assert len(evidence.text) == limits.EVIDENCE_CHARS
    assert evidence.text[evidence.start : evidence.end] == "need"


def test_texts_take_no_part_of_a_capture_for_a_template():
    rules = {"x/a": {"signatures": {"a": "say (?P<what>.+)"}, "title": "{what} {count}"}}
    assert evaluated(rules, "say {count} {{count}} %s \\1").findings[0].title == "{count} {{count}} %s \\1 1"


def test_long_captures_are_cut_in_texts_only():
    rules = {"x/a": {"signatures": {"a": "say (?P<what>.+)"}, "title": "{what}"}}
    finding = evaluated(rules, "say " + "x" * 5000).findings[0]
    assert len(finding.title) == limits.CAPTURE_CHARS
    assert len(finding.captures["what"]) == 5000


def test_severity_and_flags_come_from_the_rule():
    rules = {"x/a": {"signatures": {"a": "alpha"}, "severity": "critical", "symptom": True, "generic": True}}
    finding = evaluated(rules, "alpha").findings[0]
    assert (finding.severity, finding.symptom, finding.generic) == (Severity.CRITICAL, True, True)


@pytest.mark.parametrize("condition", [
    {"all": ["a", "b"], "same": "rank"},
    {"all": ["a", "b"], "same": "record"},
    {"all": ["a", "b"], "same": "pid"},
    {"all": ["a", "b"], "within": "30 s"},
    {"all": ["a", "b"], "within": "20 records", "unless": "c"},
    {"in_order": ["a", "b"], "same": "source"},
    {"in_order": ["a", "b"]},
    {"at_least": {"n": 3, "of": "a", "distinct": "rank"}},
    {"missing": "c", "given": "a", "same": "source"},
    {"all": ["a", "b"], "where": "pid != pid2"},
])  # fmt: skip
def test_thousands_of_ranks_in_bounded_time(condition):
    rules = {
        "x/a": {
            "signatures": {"a": "alpha (?P<pid>\\d+)", "b": "beta (?P<pid>\\d+)(?P<pid2>)", "c": "gamma"},
            "condition": condition,
        }
    }
    log = {
        f"rank-{rank}.log": f"12:00:{rank % 60:02d} r{rank} alpha {rank}\n12:01:{rank % 60:02d} r{rank} beta {rank}\n"
        for rank in range(3000)
    }
    pack = build_pack(rules)
    results = scan_plainly(pack, log)
    began = time.monotonic()
    evaluate(pack, results)
    assert time.monotonic() - began < 5


# --- the same answers as the plainest reading of the language --------------------------------------------------------

SIGNATURES = {"a": "alpha", "b": "beta", "c": "gamma"}


def modifiers(inner):
    scope = st.sampled_from([{}, {"same": "rank"}, {"same": "source"}, {"same": "record"}])
    veto = st.one_of(st.just({}), st.builds(lambda unless: {"unless": unless}, inner))
    return st.builds(lambda one, other: one | other, scope, veto)


conditions = st.recursive(
    st.sampled_from(["a", "b", "c"]),
    lambda inner: st.one_of(
        st.builds(lambda items, more: {"all": items} | more, st.lists(inner, min_size=1, max_size=3), modifiers(inner)),
        st.builds(lambda items, more: {"any": items} | more, st.lists(inner, min_size=1, max_size=3), modifiers(inner)),
        st.builds(lambda items: {"none": items}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(
            lambda n, items: {"at_least": {"n": n, "of": items}},
            st.integers(1, 3),
            st.lists(inner, min_size=2, max_size=3),
        ),
        st.builds(lambda n, name: {"at_least": {"n": n, "of": name}}, st.integers(1, 3), st.sampled_from("abc")),
        st.builds(lambda m, g: {"missing": m, "given": g}, inner, inner),
    ),
    max_leaves=6,
)


lines = st.builds(
    lambda rank, words: f"r{rank} {' '.join(words)}",
    st.integers(0, 2),
    st.lists(st.sampled_from(["alpha", "beta", "gamma", "x"]), max_size=2),
)
logs = st.dictionaries(
    st.sampled_from(["one", "two"]), st.lists(lines, min_size=1, max_size=4).map("\n".join), min_size=1
)


def holds(condition, hits):
    """The language as one would read it out. `hits` are (signature, source, line, rank)."""
    if isinstance(condition, str):
        return any(hit[0] == condition for hit in hits)
    scope = {"rank": 3, "source": 1}.get(condition.get("same"))
    if condition.get("same") == "record":
        keys = {(hit[1], hit[2]) for hit in hits}
        groups = [[hit for hit in hits if (hit[1], hit[2]) == key] for key in keys] or [[]]
    elif scope is not None:
        groups = [[hit for hit in hits if hit[scope] == key] for key in {hit[scope] for hit in hits}] or [[]]
    else:
        groups = [hits]
    return any(
        core(condition, group) and not ("unless" in condition and holds(condition["unless"], group)) for group in groups
    )


def core(condition, hits):
    if "missing" in condition:
        return not holds(condition["missing"], hits) and holds(condition["given"], hits)
    if "at_least" in condition:
        n, of = condition["at_least"]["n"], condition["at_least"]["of"]
        return (
            sum(hit[0] == of for hit in hits) >= n
            if isinstance(of, str)
            else sum(holds(each, hits) for each in of) >= n
        )
    (key,) = condition.keys() & {"all", "any", "none"}
    answers = [holds(each, hits) for each in condition[key]]
    return {"all": all, "any": any, "none": lambda found: not any(found)}[key](answers)


@settings(max_examples=400, deadline=None)
@given(conditions, logs)
def test_judge_agrees_with_the_plain_reading(condition, log):
    pack = build_pack({"x/a": {"signatures": SIGNATURES, "condition": condition}})
    results = scan_plainly(pack, log)
    names = {use.signature for uses in pack.users for use in uses}
    assert names == set(SIGNATURES)
    hits = [
        (pack.users[hit.pattern][0].signature, result.source.name, hit.record.line, hit.record.identity.rank)
        for result in results
        for hit in result.hits
    ]
    outcome = Judge("x/a").judge(build_condition(condition), view_rules(pack, results).get("x/a", View({})))
    assert (outcome.truth is Truth.TRUE) == holds(condition, hits)
    assert outcome.truth is not Truth.UNDECIDED


@settings(max_examples=100, deadline=None)
@given(conditions, logs, logs)
def test_hits_of_other_rules_change_nothing(condition, log, other):
    alone = {"x/a": {"signatures": SIGNATURES, "condition": condition}}
    both = {**alone, "y/b": {"signatures": {"a": "delta", "x": "x"}, "condition": "x"}}
    elsewhere = {f"{name}-other": re.sub("alpha|beta|gamma", "delta", text) for name, text in other.items()}
    first = evaluated(alone, log)
    second = evaluated(both, log | elsewhere)
    told = [(each.rule, each.count, each.ranks, each.evidence) for each in first.findings]
    assert [
        (each.rule, each.count, each.ranks, each.evidence) for each in second.findings if each.rule == "x/a"
    ] == told


# --- windows and order against every choice of hits ------------------------------------------------------------------

timed_lines = st.builds(
    lambda second, rank, word: f"12:00:{second:02d} r{rank} {word}",
    st.integers(0, 40),
    st.integers(0, 1),
    st.sampled_from(["alpha", "beta", "gamma", "x"]),
)
timed_logs = st.dictionaries(
    st.sampled_from(["one", "two"]), st.lists(timed_lines, min_size=1, max_size=5).map("\n".join), min_size=1
)


def choices(pack, results, names):
    """Yield every way to take one hit of each signature."""
    hits = [
        [hit for result in results for hit in result.hits if pack.users[hit.pattern][0].signature == name]
        for name in names
    ]
    yield from itertools.product(*hits)


def after(a, b):
    if a.record.source == b.record.source:
        return (a.record.line, a.start) < (b.record.line, b.start)
    return (b.record.stamp.time - a.record.stamp.time).total_seconds() >= 1


def judged(condition, pack, results):
    return Judge("x/a").judge(build_condition(condition), view_rules(pack, results).get("x/a", View({})))


@settings(max_examples=200, deadline=None)
@given(timed_logs, st.integers(1, 30))
def test_windows_hold_where_some_choice_of_hits_is_close(log, span):
    pack = build_pack({"x/a": {"signatures": SIGNATURES, "condition": "a"}})
    results = scan_plainly(pack, log)
    seconds = judged({"all": ["a", "b", "c"], "within": f"{span} s"}, pack, results)
    records = judged({"all": ["a", "b"], "within": f"{span % 4 + 1} records"}, pack, results)
    expected_seconds = any(
        max(times) - min(times) <= span
        for chosen in choices(pack, results, "abc")
        for times in [[hit.record.stamp.time.timestamp() for hit in chosen]]
    )
    expected_records = any(
        a.record.source == b.record.source and abs(a.record.line - b.record.line) <= span % 4 + 1
        for a, b in choices(pack, results, "ab")
    )
    assert (seconds.truth is Truth.TRUE, seconds.doubts) == (expected_seconds, ())
    assert records.truth is (Truth.TRUE if expected_records else Truth.FALSE)


@settings(max_examples=200, deadline=None)
@given(timed_logs)
def test_order_holds_where_some_choice_of_hits_is_in_order(log):
    pack = build_pack({"x/a": {"signatures": SIGNATURES, "condition": "a"}})
    results = scan_plainly(pack, log)
    outcome = judged({"in_order": ["a", "b", "c"]}, pack, results)
    certain = any(after(a, b) and after(b, c) for a, b, c in choices(pack, results, "abc"))
    assert (outcome.truth is Truth.TRUE and not outcome.doubts) == certain


def test_what_an_evaluation_left_out_stands_in_the_report():
    rules = {"x/a": {"signatures": {"a": r"frob (?P<n>\d+) died"}, "condition": "a", "fingerprint": ["n"]}}
    lines = "".join(f"frob {number} died\n" for number in range(limits.FINDINGS_PER_RULE + 3))
    notes = Engine(build_pack(rules)).scan_text(lines).notes
    assert [each.text for each in notes if each.code == "findings-capped"] == [
        "x/a was found in 3 more forms than are shown"
    ]


@pytest.mark.parametrize(
    ("value", "command"),
    [
        ("gpu-3", "ping gpu-3"),
        ("~root", "ping {host}"),  # a shell takes it for a folder
        ("=ls", "ping {host}"),  # zsh takes it for a program
        ("-f", "ping {host}"),
        ("a;b", "ping {host}"),
        ("$(id)", "ping {host}"),
    ],
)
def test_a_command_takes_only_what_no_shell_takes_for_more(value, command):
    assert Texts({"host": value}).command("ping {host}") == command
