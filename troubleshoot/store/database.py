"""A database URL -> an SQLAlchemy engine whose tables are up to date.

    sqlite:///reports.db               a file, or several workers' shared file
    postgresql://user@host/database    extra `postgres`

SQLite writes ahead and waits for the disk at each commit (`synchronous=FULL`): what was answered with a permalink is
there after a crash. Two workers that start at once do not migrate at once: the first holds a lock.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine, event, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError

from troubleshoot.errors import UsageError

MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_S = 20.0  # a writer waits so long for the others' commits
LOCK_ID = 7_312_490_551  # of PostgreSQL's advisory lock around a migration


def open_database(url: str) -> Engine:
    """Return an engine on the database, migrated to the newest tables. Raises UsageError for a URL that is none."""
    parsed = parse_url(url)
    if parsed.get_backend_name() == "sqlite":
        engine = create_engine(parsed, connect_args={"timeout": BUSY_S})
        event.listen(engine, "connect", _set_up_sqlite)
    else:
        engine = create_engine(parsed, pool_pre_ping=True, pool_size=5, max_overflow=10)
    migrate(engine)
    return engine


def parse_url(url: str) -> URL:
    """Return a URL with its driver. A bare path is a file of SQLite."""
    if "://" not in url:
        url = f"sqlite:///{url}"
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise UsageError("the store's URL cannot be read", help="sqlite:///reports.db, postgresql://...") from error
    backend = parsed.get_backend_name()
    if backend in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    if backend != "sqlite":
        raise UsageError(f"no store in {backend!r}", help="sqlite:///reports.db, postgresql://...")
    if parsed.database in (None, "", ":memory:"):
        raise UsageError("a store in memory would be each thread's own", help="name a file: sqlite:///reports.db")
    return parsed


def migrate(engine: Engine, revision: str = "head") -> None:
    """Bring the tables to a revision; `base` takes them all away."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_lock(:id)"), {"id": LOCK_ID})
            connection.commit()
        else:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        config.attributes["connection"] = connection
        try:
            if revision == "base":
                command.downgrade(config, revision)
            else:
                command.upgrade(config, revision)
            connection.commit()
        finally:
            if engine.dialect.name == "postgresql":
                connection.rollback()
                connection.execute(text("SELECT pg_advisory_unlock(:id)"), {"id": LOCK_ID})
                connection.commit()


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA secure_delete=ON")  # a deleted report leaves no bytes in the file
    cursor.close()
