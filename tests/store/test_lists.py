"""What the store lists: saved reports by words, what people said, unknown faults; on SQLite and on PostgreSQL."""

from __future__ import annotations

import json

import pytest

from tests.store.conftest import Clock
from troubleshoot import scan_text
from troubleshoot.report.json import render_json
from troubleshoot.store.store import Store

FULL_DISK = b"OSError: [Errno 28] No space left on device\n"


def report_on(name: str, text: bytes) -> dict[str, bytes]:
    return {"json": render_json(scan_text(text, name)).encode()}


@pytest.fixture
def ids(store: Store, clock: Clock) -> dict[str, str]:
    logs = {"disk.log": FULL_DISK, "100%_done.log": b"all good\n", "zork.log": b"ValueError: zork\n"}
    made = {}
    for name, text in logs.items():
        made[name] = store.save_report(report_on(name, text)).id
        clock.move(minutes=1)
    return made


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["zork.log", "100%_done.log", "disk.log"]),
        ({"words": ["DISK"]}, ["disk.log"]),
        ({"words": ["file", "system", "disk"]}, ["disk.log"]),
        ({"words": ["0%_d"]}, ["100%_done.log"]),
        ({"words": ["%"]}, ["100%_done.log"]),
        ({"words": ["no\x00such"]}, []),
        ({"verdict": "unknown-fault"}, ["zork.log"]),
        ({"rule": "storage/no-space-left"}, ["disk.log"]),
        ({"rule": "no/such"}, []),
    ],
)
def test_saved_reports_are_found_by_words_verdict_and_rule(
    store: Store, ids: dict[str, str], wanted: dict[str, object], found: list[str]
) -> None:
    assert [each["names"] for each in store.history(**wanted)] == found  # type: ignore[arg-type]  # from the table


def test_reports_of_one_moment_are_all_listed(store: Store) -> None:
    report = report_on("a.log", b"x\n")
    ids = {store.save_report(report).id for _ in range(5)}
    seen: list[str] = []
    last: dict[str, object] = {}
    while page := store.history(limit=2, **last):  # type: ignore[arg-type]  # of the row before
        seen += [each["id"] for each in page]
        last = {"before": page[-1]["created"], "before_id": page[-1]["id"]}
    assert (len(seen), set(seen)) == (5, ids)


def test_what_was_said_is_listed_newest_first(store: Store, clock: Clock) -> None:
    link = store.save_report(report_on("a.log", FULL_DISK))
    for who, verdict, comment in (("ann", "right", ""), ("bob", "wrong", "another disk"), ("cyd", "fixed", "df -h")):
        store.add_feedback("a/b", verdict, who=who, place="r", report_id=link.id, comment=comment)
        clock.move(minutes=1)
    assert [each.verdict for each in store.feedback_told()] == ["fixed", "wrong", "right"]
    assert [each.comment for each in store.feedback_told(commented=True, limit=1)] == ["df -h"]
    assert [each.comment for each in store.feedback_told(verdict="wrong")] == ["another disk"]
    assert store.feedback_told(rule="a/c") == []
    assert store.feedback_told()[0].report_id == link.id
    store.delete_report(link.id, None)
    assert store.feedback_told()[0].report_id is None


def test_unknown_faults_are_searched_paged_and_forgotten(store: Store) -> None:
    for number, word in ((3, "alpha"), (2, "beta"), (2, "gamma")):
        for _ in range(number):
            store.add_unknown([{"text": f"ValueError: {word}", "reason": "exception"}])
    assert [each.number for each in store.unknown_faults()] == [3, 2, 2]
    pages = [store.unknown_faults(limit=1, skip=skip)[0].sample for skip in range(3)]
    assert len(set(pages)) == 3
    (beta,) = store.unknown_faults(words=["BETA"])
    assert store.unknown_fault(beta.id) == beta
    assert store.forget_unknown(beta.id)
    assert not store.forget_unknown(beta.id)
    assert store.unknown_fault(beta.id) is None


def test_log_with_nul_bytes_does_not_stop_the_counts(store: Store) -> None:
    """PostgreSQL refuses NUL in a text. One log made all later counts fail, for it was tried for ever."""
    store.add_unknown([{"text": "ValueError: \x00 zork \ud800", "reason": "exception"}])
    assert store.unknown_faults(at_least=1)[0].sample == "ValueError: \ufffd zork \ufffd"
    wire = json.loads(report_on("a.log", FULL_DISK)["json"])
    wire["sources"][0]["name"] = "a\x00b.log"
    link = store.save_report({"json": json.dumps(wire).encode()}, logs=[("a\x00b.log", b"\x00")])
    assert store.history()[0]["names"] == "a\ufffdb.log"
    assert store.logs(link.id) == [("a\ufffdb.log", b"\x00")]
    store.add_feedback("a/b", "right", who="\x00", place="\x00", fingerprint="\x00", comment="\x00")
    assert store.feedback_told()[0].comment == "\ufffd"


def test_oldest_go_where_there_are_too_many(store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("troubleshoot.limits.UNKNOWN_FAULTS", 3)
    monkeypatch.setattr("troubleshoot.limits.FEEDBACK_ROWS", 2)
    for number in range(5):
        clock.move(minutes=1)
        store.add_unknown([{"text": f"ValueError: {'abcde'[number]}", "reason": "exception"}])
        store.add_feedback("a/b", "right", who=str(number), place="-", comment=str(number))
    assert store.purge() == 5
    assert sorted(each.sample[-1] for each in store.unknown_faults(at_least=1)) == ["c", "d", "e"]
    assert [each.comment for each in store.feedback_told()] == ["4", "3"]
    assert store.purge() == 0


def test_logs_are_found_by_name_and_place(store: Store) -> None:
    link = store.save_report(report_on("a.log", FULL_DISK), logs=[("a.log", b"one"), ("b\x00.log", b"two")])
    assert store.log_names(link.id) == ["a.log", "b\ufffd.log"]
    assert [store.log(link.id, position=at) for at in range(3)] == [b"one", b"two", None]
    assert store.log(link.id, name="b\x00.log") == b"two"
    assert store.log(link.id, name="c.log") is None
    assert store.log("x" * 22) is None
