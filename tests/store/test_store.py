"""What is saved comes back, as long as it should and no longer; on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, text

from tests.store.conftest import Clock
from troubleshoot import scan_text
from troubleshoot.errors import UsageError
from troubleshoot.report.json import render_json
from troubleshoot.store.database import migrate, open_database, parse_url
from troubleshoot.store.store import Store
from troubleshoot.store.tables import metadata

ROOT = Path(__file__).parents[2]
SECRET = "hf_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD2f"
LOG = f"RuntimeError: the frobnicator 17 gave up\nHF_TOKEN={SECRET} python train.py\n"


@pytest.fixture(scope="module")
def report() -> dict[str, bytes]:
    return {"json": render_json(scan_text(LOG)).encode(), "markdown": "# über".encode()}


def test_report_comes_back_as_it_was(store: Store, report: dict[str, bytes]) -> None:
    link = store.save_report(report, logs=[("a.log", b"one\ntwo"), ("b.log", b"")])
    assert {format: store.report(link.id, format) for format in report} == report
    assert store.report(link.id, "html") is None
    assert store.logs(link.id) == [("a.log", b"one\ntwo"), ("b.log", b"")]
    assert store.report("x" * 22) is None
    assert store.report("' OR 1=1 --") is None


def test_permalinks_are_128_random_bits(store: Store, report: dict[str, bytes]) -> None:
    ids = {store.save_report(report).id for _ in range(20)}
    assert len(ids) == 20
    assert {len(each) for each in ids} == {22}


def test_report_expires_and_is_purged(store: Store, report: dict[str, bytes], clock: Clock) -> None:
    link = store.save_report(report, logs=[("a.log", b"text")])
    shorter = store.save_report(report, days=1)
    longer = store.save_report(report, days=1000)
    clock.move(days=1)
    assert store.report(shorter.id) is None
    clock.move(days=5.99)
    assert store.report(link.id) == report["json"]
    clock.move(days=0.02)
    assert store.report(link.id) is None
    assert store.logs(link.id) == []
    assert store.report(longer.id) is None
    assert store.history() == []
    assert store.purge() == 3
    assert store.purge() == 0


def test_report_is_deleted_by_its_token_or_an_admin(store: Store, report: dict[str, bytes]) -> None:
    link, other = store.save_report(report), store.save_report(report)
    assert store.delete_report(link.id, other.delete_token) is False
    assert store.delete_report(link.id, link.delete_token) is True
    assert store.delete_report(link.id, link.delete_token) is None
    assert store.delete_report(other.id, None) is True
    assert store.report(other.id) is None


def test_history_is_newest_first_and_pages(store: Store, report: dict[str, bytes], clock: Clock) -> None:
    ids = []
    for _ in range(5):
        ids.append(store.save_report(report, made_by="abc").id)
        clock.move(minutes=1)
    first = store.history(limit=3)
    rest = store.history(limit=3, before=first[-1]["created"])
    assert [row["id"] for row in (*first, *rest)] == ids[::-1]
    assert "delete_hash" not in first[0]


def test_feedback_is_one_voice_per_person_and_place(store: Store, report: dict[str, bytes]) -> None:
    link = store.save_report(report)
    store.add_feedback("efa/a", "right", who="ann", place="r1", report_id=link.id)
    store.add_feedback("efa/a", "wrong", who="ann", place="r1")
    store.add_feedback("efa/a", "fixed", who="bob", place="r1", comment="ask ann@example.com " + SECRET)
    store.add_feedback("efa/b", "right", who="bob", place="r2", report_id="x" * 22)
    assert store.feedback_summary() == {
        "efa/a": {"right": 0, "wrong": 1, "fixed": 1},
        "efa/b": {"right": 1, "wrong": 0, "fixed": 0},
    }


def test_counts_add_up_by_day(store: Store, clock: Clock) -> None:
    store.add_counts({"efa/a": 1, "efa/b": 2}, {"fault": 3})
    store.add_counts({"efa/a": 4}, {})
    clock.move(days=1)
    store.add_counts({"efa/a": 1}, {"fault": 1})
    assert store.rule_counts() == [
        (date(2026, 11, 30), "efa/a", 5),
        (date(2026, 11, 30), "efa/b", 2),
        (date(2026, 12, 1), "efa/a", 1),
    ]
    assert store.rule_counts(days=1) == [(date(2026, 12, 1), "efa/a", 1)]
    assert store.rule_counts(kind="verdict") == [(date(2026, 11, 30), "fault", 3), (date(2026, 12, 1), "fault", 1)]


def test_counts_of_many_writers_lose_nothing(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: store.add_counts({"efa/a": 1, "efa/b": 1}, {}), range(40)))
    assert [number for _, _, number in store.rule_counts()] == [40, 40]


def test_unknown_faults_that_come_back_are_grouped_by_template(store: Store, clock: Clock) -> None:
    for number in (17, 18, 19):
        suspects = json.loads(render_json(scan_text(LOG.replace("17", str(number)))))["suspects"]
        store.add_unknown(suspects[:1])
        clock.move(hours=1)
    store.add_unknown([{"text": "ValueError: seen once", "reason": "exception"}])
    (fault,) = store.unknown_faults()
    assert fault.number == 3
    assert "frobnicator" in fault.template
    assert "17" in fault.sample
    assert (fault.last_seen - fault.first_seen).total_seconds() == 7200


def test_history_is_forgotten_in_time(store: Store, clock: Clock) -> None:
    store.add_counts({"efa/a": 1}, {})
    store.add_feedback("efa/a", "right", who="ann", place="r1")
    store.add_unknown([{"text": "ValueError: x", "reason": "exception"}])
    assert store.is_first_delivery("T1 Ev1")
    assert not store.is_first_delivery("T1 Ev1")
    clock.move(days=91)
    store.purge()
    assert store.feedback_summary(days=1000) == {}
    assert store.rule_counts(days=1000) == []
    assert store.unknown_faults(at_least=1) == []
    assert store.is_first_delivery("T1 Ev1")


def test_no_secret_reaches_the_database(store: Store, url: str, report: dict[str, bytes], tmp_path: Path) -> None:
    store.save_report(report)
    store.add_feedback("efa/a", "wrong", who="ann@example.com", place="r1", comment=f"it said {SECRET}")
    store.add_unknown([{"text": f"RuntimeError: {SECRET} from ann@example.com at 198.51.100.7", "reason": "x"}])
    with open_database(url).connect() as connection:
        for table in metadata.sorted_tables:
            for row in connection.execute(table.select()):
                told = " ".join(_readable(value) for value in row)
                assert SECRET not in told
                assert "ann@example.com" not in told
                assert "198.51.100.7" not in told


def _readable(value: object) -> str:
    import zlib

    return zlib.decompress(value).decode() if isinstance(value, bytes) else str(value)


def test_migrations_make_the_tables_and_take_them_away(url: str) -> None:
    engine = open_database(url)
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
    assert differences == []
    migrate(engine, "base")
    assert set(inspect(engine).get_table_names()) <= {"alembic_version"}
    migrate(engine)
    assert "reports" in inspect(engine).get_table_names()
    engine.dispose()


def test_workers_that_start_at_once_do_not_meet(url: str) -> None:
    engine = open_database(url)
    migrate(engine, "base")
    with ThreadPoolExecutor(4) as pool:
        for each in pool.map(open_database, [url] * 4):
            each.dispose()
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM alembic_version")).scalar_one() == 1
    engine.dispose()


@pytest.mark.parametrize("url", ["mysql://host/db", "://", "sqlite3:///x", "sqlite://", "sqlite:///:memory:"])
def test_database_that_we_do_not_speak_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        parse_url(url)


WRITER = """
import sys
from troubleshoot.store.database import open_database
from troubleshoot.store.store import Store
store = Store(open_database(sys.argv[1]))
report = sys.stdin.buffer.read()
while True:
    print(store.save_report({"json": report}, logs=[("a", b"x" * 20000)]).id, flush=True)
"""


def test_killed_writer_loses_nothing_that_it_acknowledged(url: str, report: dict[str, bytes]) -> None:
    open_database(url).dispose()
    acknowledged: list[str] = []
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, url], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(report["json"])
        process.stdin.close()
        acknowledged.append(process.stdout.readline().decode().strip())
        time.sleep(0.1)
        os.kill(process.pid, signal.SIGKILL)
        acknowledged += process.stdout.read().decode().split("\n")[:-1]
        process.wait()
    store = Store(open_database(url))
    assert len(acknowledged) >= 3
    assert [each for each in acknowledged if store.report(each) != report["json"]] == []
    assert [each for each in acknowledged if store.logs(each) != [("a", b"x" * 20000)]] == []
    store.close()
