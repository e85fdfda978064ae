"""A store to test with: on SQLite and on a PostgreSQL server that is started here from Debian's package."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from troubleshoot.store.database import open_database
from troubleshoot.store.store import Store


class Clock:
    """Time that tests move."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


def find_server() -> Path:
    """Return the folder of PostgreSQL's programs. Fails, and does not skip, where the package is missing."""
    on_path = shutil.which("initdb")
    places = [*Path("/usr/lib/postgresql").glob("*/bin"), *([Path(on_path).resolve().parent] if on_path else [])]
    found = next((place for place in sorted(places, reverse=True) if (place / "initdb").exists()), None)
    assert found is not None, "PostgreSQL is missing: .ci/packages installs it"
    return found


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Start a server of our own on a socket in a folder of its own; return its URL."""
    programs = find_server()
    folder = Path(tempfile.mkdtemp(prefix="troubleshoot-pg-", dir="/tmp"))
    user = "postgres" if os.getuid() == 0 else None  # the server refuses to run as root
    if user:
        shutil.chown(folder, user)
    run = {"user": user, "check": True, "capture_output": True, "cwd": folder}
    data = folder / "data"
    try:
        subprocess.run(
            [programs / "initdb", "-D", data, "-U", "tester", "--auth=trust", "-E", "UTF8", "--no-sync"], **run
        )
        options = f"-k {folder} -c listen_addresses='' -c shared_buffers=16MB"
        start = [programs / "pg_ctl", "-D", data, "-w", "-t", "60", "-l", folder / "log", "-o", options, "start"]
        subprocess.run(start, **{**run, "capture_output": False, "stdout": subprocess.DEVNULL})
        yield f"postgresql://tester@/postgres?host={folder}"
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            subprocess.run([programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"], **run)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'store.db'}"
        return
    server = request.getfixturevalue("postgresql")
    engine = open_database(server)
    with engine.begin() as connection:
        tables = "reports, renderings, logs, feedback, counts, unknown_faults, deliveries"
        connection.execute(text(f"TRUNCATE {tables} RESTART IDENTITY"))
    engine.dispose()
    yield server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[Store]:
    store = Store(open_database(url), keep_days=7, history_days=90, clock=clock)
    yield store
    store.close()
