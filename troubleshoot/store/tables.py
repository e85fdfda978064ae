"""The tables, as the newest migration leaves them. Times are UTC; a report is the JSON of its wire format, redacted."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import (
    Column,
    Date,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)
from sqlalchemy.engine import Dialect

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time; SQLite forgets the zone, so it is put back."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


reports = Table(
    "reports",
    metadata,
    Column("id", String(22), primary_key=True),  # 128 random bits
    Column("created", UtcDateTime, nullable=False, index=True),
    Column("expires", UtcDateTime, nullable=False, index=True),
    Column("verdict", String(20), nullable=False),
    Column("title", Text, nullable=False),
    Column("rule", String(200)),  # of the first finding
    Column("pack", String(100), nullable=False),
    Column("platform", String(40)),
    Column("names", Text, nullable=False),  # of the logs, for a list
    Column("lines", Integer, nullable=False),
    Column("made_by", String(16)),  # id of the API key
    Column("delete_hash", String(64), nullable=False),
)

renderings = Table(
    "renderings",
    metadata,
    Column("report_id", ForeignKey("reports.id", ondelete="CASCADE"), primary_key=True),
    Column("format", String(20), primary_key=True),
    Column("body", LargeBinary, nullable=False),  # deflated
)

logs = Table(
    "logs",
    metadata,
    Column("report_id", ForeignKey("reports.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("text", LargeBinary, nullable=False),  # deflated, redacted
)

feedback = Table(
    "feedback",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("created", UtcDateTime, nullable=False, index=True),
    Column("rule", String(200), nullable=False, index=True),
    Column("verdict", String(10), nullable=False),  # right, wrong, fixed
    Column("fingerprint", String(100)),
    Column("report_id", ForeignKey("reports.id", ondelete="SET NULL")),
    Column("who", String(64), nullable=False),  # a hash: one voice per person, finding and place
    Column("place", String(100), nullable=False),
    Column("comment", Text, nullable=False),
    UniqueConstraint("rule", "place", "who"),
)

counts = Table(
    "counts",
    metadata,
    Column("day", Date, primary_key=True),
    Column("kind", String(10), primary_key=True),  # rule, verdict
    Column("name", String(200), primary_key=True),
    Column("number", Integer, nullable=False),
)

unknown_faults = Table(
    "unknown_faults",
    metadata,
    Column("id", String(32), primary_key=True),  # hash of the template
    Column("template", Text, nullable=False),
    Column("sample", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("first_seen", UtcDateTime, nullable=False),
    Column("last_seen", UtcDateTime, nullable=False),
    Column("number", Integer, nullable=False),
    Index("ix_unknown_faults_last_seen", "last_seen"),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("id", String(200), primary_key=True),  # what was delivered: a Slack event, which may come again
    Column("created", UtcDateTime, nullable=False, index=True),
)
