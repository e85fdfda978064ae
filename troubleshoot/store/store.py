"""What the service keeps, in a database.

    save_report({"json": ...}) -> Permalink     report(id, "json") -> the same, until it expires or is deleted
    history(words, verdict, rule)               what was saved, newest first
    feedback, counts, unknown faults            tallies.py
    purge()                                     forgets what is past its time

A method that returns has committed: what it acknowledges outlives the process. All text is redacted before it comes
here, and once more on its way in. Methods block; a service calls them in threads.
"""

from __future__ import annotations

import hmac
import json
import re
import secrets
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import and_, delete, func, insert, or_, select, update
from sqlalchemy.engine import Engine
from sqlalchemy.exc import IntegrityError

from troubleshoot import limits
from troubleshoot.errors import StoreFullError
from troubleshoot.store import tables
from troubleshoot.store.tallies import Tallies, hash_of, storable

ID = re.compile(r"[A-Za-z0-9_-]{22}")
DELIVERY_DAYS = 1


@dataclass(frozen=True, slots=True)
class Permalink:
    """Where a report was put, until when, and the secret that may delete it; the secret is not kept."""

    id: str
    expires: datetime
    delete_token: str


class Store(Tallies):
    """The database of one service; several services may share it."""

    def __init__(
        self,
        engine: Engine,
        *,
        keep_days: int = 7,
        history_days: int = 90,
        most_reports: int | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._most_reports = limits.SAVED_REPORTS if most_reports is None else most_reports
        self._keep = timedelta(days=keep_days)
        self._history = timedelta(days=history_days)

    def close(self) -> None:
        self._engine.dispose()

    def ping(self) -> None:
        """Ask the database anything. Raises what SQLAlchemy raises where it does not answer."""
        with self._engine.connect() as connection:
            connection.execute(select(1))

    # --- reports ---

    def save_report(
        self,
        renderings: Mapping[str, bytes],
        *,
        days: int | None = None,
        logs: Sequence[tuple[str, bytes]] = (),
        made_by: str | None = None,
    ) -> Permalink:
        """Keep a report as it was rendered (by format, "json" among them) and, where they are given, its redacted logs.
        `days` only shortens how long. Raises StoreFullError where as many are kept as may be."""
        wire = json.loads(renderings["json"])
        now = self._clock()
        keep = self._keep if days is None else min(self._keep, timedelta(days=days))
        link = Permalink(secrets.token_urlsafe(16), now + keep, secrets.token_urlsafe(16))
        first = next(iter(wire["findings"]), None)
        row = {
            "id": link.id,
            "created": now,
            "expires": link.expires,
            "verdict": wire["verdict"],
            "title": storable(first["title"]) if first else "",
            "rule": first["rule"] if first else None,
            "pack": wire["pack"]["hash"][:100],
            "platform": (wire.get("platform") or "")[:40] or None,
            "names": storable(", ".join(source["name"] for source in wire["sources"][:5])[:500]),
            "lines": min(wire["stats"]["lines"], 2**31 - 1),
            "made_by": made_by,
            "delete_hash": hash_of(link.delete_token),
        }
        with self._engine.begin() as connection:
            if connection.execute(select(func.count()).select_from(tables.reports)).scalar_one() >= self._most_reports:
                raise StoreFullError(
                    f"{self._most_reports} reports are kept, and no more may be",
                    help="delete some, or keep them for fewer days: --keep-days",
                )
            connection.execute(insert(tables.reports), row)
            for format, body in renderings.items():
                rendering = {"report_id": link.id, "format": format, "body": zlib.compress(body)}
                connection.execute(insert(tables.renderings), rendering)
            for position, (name, text) in enumerate(logs):
                log = {"report_id": link.id, "position": position, "text": zlib.compress(text)}
                connection.execute(insert(tables.logs), {**log, "name": storable(name)})
        return link

    def report(self, report_id: str, format: str = "json") -> bytes | None:
        """Return a report as it was saved, or None when there is none (any more), or not in this format."""
        if not self._has_report(report_id):
            return None
        table = tables.renderings
        query = select(table.c.body).where(table.c.report_id == report_id, table.c.format == format)
        with self._engine.connect() as connection:
            found = connection.execute(query).scalar_one_or_none()
        return None if found is None else zlib.decompress(found)

    def logs(self, report_id: str) -> list[tuple[str, bytes]]:
        """Return the redacted logs of a report, where they were kept."""
        if not self._has_report(report_id):
            return []
        columns = select(tables.logs.c.name, tables.logs.c.text).where(tables.logs.c.report_id == report_id)
        with self._engine.connect() as connection:
            rows = connection.execute(columns.order_by(tables.logs.c.position)).all()
        return [(name, zlib.decompress(text)) for name, text in rows]

    def expiry(self, report_id: str) -> datetime | None:
        """Return until when a report is kept, or None where it is not."""
        found: datetime | None = self._one(report_id, tables.reports.c.expires)
        return found

    def log_names(self, report_id: str) -> list[str]:
        """Return the names of the logs that are kept beside a report."""
        if not self._has_report(report_id):
            return []
        query = select(tables.logs.c.name).where(tables.logs.c.report_id == report_id).order_by(tables.logs.c.position)
        with self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def log(self, report_id: str, *, name: str | None = None, position: int = 0) -> bytes | None:
        """Return one of the redacted logs of a report, by its name or its place, or None."""
        if not self._has_report(report_id):
            return None
        table = tables.logs
        query = select(table.c.text).where(table.c.report_id == report_id).order_by(table.c.position).limit(1)
        query = query.where(table.c.position == position if name is None else table.c.name == storable(name))
        with self._engine.connect() as connection:
            text = connection.execute(query).scalar_one_or_none()
        return None if text is None else zlib.decompress(text)

    def delete_report(self, report_id: str, delete_token: str | None) -> bool | None:
        """Delete a report; without a token, because an admin says so. None: no such report; False: not its token."""
        expected = self._one(report_id, tables.reports.c.delete_hash)
        if expected is None:
            return None
        if delete_token is not None and not hmac.compare_digest(hash_of(delete_token), expected):
            return False
        with self._engine.begin() as connection:
            connection.execute(delete(tables.reports).where(tables.reports.c.id == report_id))
        return True

    def history(
        self,
        *,
        limit: int = 50,
        before: datetime | None = None,
        before_id: str = "",
        words: Sequence[str] = (),
        verdict: str | None = None,
        rule: str | None = None,
    ) -> list[dict[str, Any]]:
        """Return what was saved, newest first, without the reports themselves: those whose title, rule, platform or log
        names hold all words. `before` and `before_id` are of the last one seen."""
        table = tables.reports
        columns = [column for column in table.c if column.name != "delete_hash"]
        query = select(*columns).where(table.c.expires > self._clock())
        query = query.order_by(table.c.created.desc(), table.c.id.desc()).limit(limit)
        if before is not None:
            earlier = table.c.created < before
            same_moment = and_(table.c.created == before, table.c.id < storable(before_id))
            query = query.where(or_(earlier, same_moment) if before_id else earlier)
        if verdict is not None:
            query = query.where(table.c.verdict == verdict)
        if rule is not None:
            query = query.where(table.c.rule == storable(rule))
        for word in words:
            places = (table.c.title, table.c.rule, table.c.names, table.c.platform)
            wanted = storable(word.lower())
            query = query.where(or_(*(func.lower(each).contains(wanted, autoescape=True) for each in places)))
        with self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def _has_report(self, report_id: str) -> bool:
        return self._one(report_id, tables.reports.c.id) is not None

    def _one(self, report_id: str, column: Any) -> Any:
        if not ID.fullmatch(report_id):
            return None
        query = select(column).where(tables.reports.c.id == report_id, tables.reports.c.expires > self._clock())
        with self._engine.connect() as connection:
            return connection.execute(query).scalar_one_or_none()

    # --- deliveries and retention ---

    def is_first_delivery(self, delivery_id: str) -> bool:
        """Say whether this was never delivered before, and remember it."""
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(tables.deliveries), {"id": delivery_id[:200], "created": self._clock()})
        except IntegrityError:
            return False
        return True

    def purge(self) -> int:
        """Forget what is past its time; return how many rows went."""
        now = self._clock()
        past = (
            delete(tables.reports).where(tables.reports.c.expires <= now),
            delete(tables.feedback).where(tables.feedback.c.created <= now - self._history),
            delete(tables.counts).where(tables.counts.c.day < (now - self._history).date()),
            delete(tables.unknown_faults).where(tables.unknown_faults.c.last_seen <= now - self._history),
            delete(tables.deliveries).where(tables.deliveries.c.created <= now - timedelta(days=DELIVERY_DAYS)),
        )
        with self._engine.begin() as connection:
            gone = sum(connection.execute(statement).rowcount for statement in past)
            gone += self._thin_out(connection)
            connection.execute(  # a report saved under a longer rule does not outlive a shorter one
                update(tables.reports)
                .where(tables.reports.c.expires > now + self._keep)
                .values(expires=now + self._keep)
            )
        return gone
