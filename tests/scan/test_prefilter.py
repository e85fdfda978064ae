from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scan_samples import pattern

from troubleshoot import limits
from troubleshoot.model import Pattern
from troubleshoot.scan import planner, prefilter
from troubleshoot.scan.fallback import FallbackSearch
from troubleshoot.scan.fragment import Fragment, escape
from troubleshoot.scan.plan import Entry
from troubleshoot.scan.planner import build_plan, unsearchable
from troubleshoot.scan.prefilter import Prefilter, TooManyError

PATTERNS = (
    pattern(r"cannot allocate zygotes", 0),
    pattern(r"zygotes (?:in|out)", 1),
    pattern(r"\d+\|oom \d+", 2),
    pattern(r"内存不足", 3),
    pattern(r"\w+ \w+", 4, slow="it is everywhere"),
)


class Memory:
    """A store that is a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.common: dict[str, bytes] = {}

    def read(self, name: str) -> bytes | None:
        return self.kept.get(name)

    def write(self, name: str, data: bytes) -> None:
        self.kept[name] = data

    def read_common(self, name: str) -> bytes | None:
        return self.common.get(name)

    def write_common(self, name: str, data: bytes) -> None:
        self.common[name] = data

    def of_another_pack(self) -> Memory:
        """Return a store in which nothing of a pack is kept, and what is kept for all is."""
        other = Memory()
        other.common = dict(self.common)
        return other


def test_equal_literals_are_one_entry() -> None:
    plan = build_plan(PATTERNS)
    assert [entry.patterns for entry in plan.entries if entry.literal == b"zygotes"] == [(0, 1)]


def test_scan_gives_pattern_and_end() -> None:
    data = "Zygotes. \u5185存不足 3|OOM 4\n".encode()
    found = Prefilter(PATTERNS).scan(data)
    assert found == [(0, 7), (1, 7), (3, 21), (2, 28)]


def test_patterns_without_anything_to_search_for_are_tried_everywhere() -> None:
    plan = build_plan(PATTERNS)
    assert plan.everywhere == (4,)
    assert plan.unsearchable == {}


@pytest.mark.parametrize("source", [r"\w+ \w+", r".*", r"\d+", r"(?=x)", r"(a|)b?", r"\w+xid\w+"])
def test_unsearchable_names_pattern_and_reason(source: str) -> None:
    one = pattern(source)
    ((found, reason),) = unsearchable([one, pattern("zygotes", 1)])
    assert found is one
    assert reason


def test_variant_leaves_patterns_out_and_is_kept() -> None:
    whole = Prefilter(PATTERNS)
    less = whole.without(frozenset({0}))
    assert [pattern for pattern, _ in less.scan(b"zygotes\n")] == [1]
    assert whole.without(frozenset({0})) is less
    assert whole.without(frozenset({0, 1, 2, 3, 4})).scan(b"zygotes\n") == []


def test_word_to_avoid_gives_way_to_another() -> None:
    whole = Prefilter((pattern(r"zygotes and zebras"),))
    (first,) = whole.plan.entries
    (second,) = whole.without(frozenset(), frozenset({first.literal or b""})).plan.entries
    assert {first.literal, second.literal} == {b"zygotes", b"zebras"}


def test_word_to_avoid_without_another_is_searched_with_what_follows() -> None:
    whole = Prefilter((pattern(r"zygotes\s*\d+ x"),))
    sharp = whole.without(frozenset(), frozenset({b"zygotes"}))
    assert len(whole.scan(b"zygotes here, zygotes 7 x\n")) == 2
    assert len(sharp.scan(b"zygotes here, zygotes 7 x\n")) == 1


def test_fragment_that_hyperscan_refuses_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "fragment_of", lambda pattern: Fragment(b"(?<=x)zygotes"))
    planner._made_choices.cache_clear()
    whole = Prefilter((pattern(r"zygotes\s*\d+\w"),))
    assert whole.without(frozenset(), frozenset({b"zygotes"})).plan == whole.plan
    planner._made_choices.cache_clear()


def test_too_many_candidates_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CANDIDATES_PER_SCAN", 10)
    search = Prefilter((pattern("aaaa"),)).search()
    with pytest.raises(TooManyError):
        search.candidates(b"a" * 100 + b"\n")
    assert search.present(b"a" * 100 + b"\n") == {0}


def test_stored_database_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Memory()
    first = Prefilter(PATTERNS, store)
    monkeypatch.setattr(planner, "build_plan", None)
    second = Prefilter(PATTERNS, store)
    assert second.plan == first.plan
    assert second.scan(b"zygotes 3|oom 4\n") == first.scan(b"zygotes 3|oom 4\n")


def test_a_changed_pack_plans_only_what_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Memory()
    Prefilter(PATTERNS, store)
    planned: list[str] = []
    make = planner._make_choice
    monkeypatch.setattr(planner, "_make_choice", lambda each: planned.append(each.regex) or make(each))
    changed = (pattern("horses gone"), *(replace(each, id=each.id + 1) for each in PATTERNS), pattern("zebras", 9))
    store = store.of_another_pack()
    plan = Prefilter(changed, store).plan
    assert planned == ["horses gone", "zebras"]
    assert plan == build_plan(changed)
    del planned[:]
    assert Prefilter((pattern("zebras"), pattern("zebras", 1, lines=2)), store.of_another_pack()).plan.starts
    assert planned == ["zebras"]


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: b"{}\n", lambda data: data[:-9], lambda data: b"\0" * 99]
)
def test_damaged_store_is_built_anew(damage) -> None:  # type: ignore[no-untyped-def]
    store = Memory()
    expected = Prefilter(PATTERNS, store).plan
    store.kept = {name: damage(data) for name, data in store.kept.items()}
    store.common = {name: damage(data) for name, data in store.common.items()}
    again = Prefilter(PATTERNS, store)
    assert again.plan == expected
    assert again.scan(b"zygotes\n") == [(0, 7), (1, 7)]


def test_store_of_another_library_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Memory()
    Prefilter(PATTERNS, store)
    monkeypatch.setattr(prefilter.hyperscan, "__version__", "0.0.1")
    Prefilter(PATTERNS, store)
    assert len(store.kept) == 2


def test_threads_search_one_prefilter_at_once() -> None:
    whole = Prefilter(PATTERNS)
    data = b"no such thing\n" * 50_000 + b"zygotes\n"
    results: list[int] = []

    def work() -> None:
        search = whole.search()
        for _ in range(5):
            results.append(len(search.candidates(data)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [1] * 40


WORDS = [b"aba", b"ab", b"abab", b"b", b"\xc3\xa9a", b"a\xc3", b"a\x00b", b"bab", b"a.b"]


@settings(max_examples=200, deadline=None)
@given(
    st.sets(st.sampled_from(WORDS), min_size=1),
    st.lists(st.sampled_from([b"a", b"B", b"\xc3", b"\xc3\xa9", b"\0", b"\n", b"."]), max_size=30).map(b"".join),
)
def test_fallback_reports_what_hyperscan_reports(words: set[bytes], data: bytes) -> None:
    entries = tuple(Entry(escape(word), (0,), word) for word in sorted(words))
    found: list[tuple[int, int]] = []
    prefilter._compile(entries).scan(data, lambda entry, start, end, flags, context: found.append((entry, end)))
    assert sorted(found) == sorted(FallbackSearch(entries).matches(data))


def test_prefilter_without_hyperscan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefilter, "hyperscan", None)
    found = Prefilter(PATTERNS).scan("Zygotes. \u5185存不足 3|OOM 4\n".encode())
    assert sorted(found) == [(0, 7), (1, 7), (2, 28), (3, 21)]
    assert Prefilter(()).scan(b"anything\n") == []


def test_pack_without_patterns_finds_nothing() -> None:
    none: tuple[Pattern, ...] = ()
    assert Prefilter(none).scan(b"anything\n") == []
