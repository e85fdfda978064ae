"""What the service keeps, in a database.

    save_report({"json": ...}) -> Permalink     report(id, "json") -> the same, until it expires or is deleted
    add_feedback, feedback_summary      right, wrong, fixed it: one voice per person and finding
    add_counts, rule_counts             findings per rule and day
    add_unknown, unknown_faults         suspects of unknown faults, grouped by what is left when numbers are taken out
    purge()                             forgets what is past its time

A method that returns has committed: what it acknowledges outlives the process. All text is redacted before it comes
here, and once more on its way in. Methods block; a service calls them in threads.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Engine
from sqlalchemy.exc import IntegrityError

from troubleshoot.report.redact import redact_text
from troubleshoot.store import tables
from troubleshoot.suspects import template_of

ID = re.compile(r"[A-Za-z0-9_-]{22}")
VERDICTS = ("right", "wrong", "fixed")
COMMENT_CHARS = 2000
SAMPLE_CHARS = 1000
DELIVERY_DAYS = 1


@dataclass(frozen=True, slots=True)
class Permalink:
    """Where a report was put, until when, and the secret that may delete it; the secret is not kept."""

    id: str
    expires: datetime
    delete_token: str


@dataclass(frozen=True, slots=True)
class UnknownFault:
    """Lines like this came up and no rule knew the fault."""

    id: str
    template: str
    sample: str
    reason: str
    first_seen: datetime
    last_seen: datetime
    number: int


class Store:
    """The database of one service; several services may share it."""

    def __init__(
        self,
        engine: Engine,
        *,
        keep_days: int = 7,
        history_days: int = 90,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._engine = engine
        self._keep = timedelta(days=keep_days)
        self._history = timedelta(days=history_days)
        self._clock = clock

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
        `days` only shortens how long."""
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
            "title": first["title"] if first else "",
            "rule": first["rule"] if first else None,
            "pack": wire["pack"]["hash"][:100],
            "platform": (wire.get("platform") or "")[:40] or None,
            "names": ", ".join(source["name"] for source in wire["sources"][:5])[:500],
            "lines": min(wire["stats"]["lines"], 2**31 - 1),
            "made_by": made_by,
            "delete_hash": _hash(link.delete_token),
        }
        with self._engine.begin() as connection:
            connection.execute(insert(tables.reports), row)
            for format, body in renderings.items():
                rendering = {"report_id": link.id, "format": format, "body": zlib.compress(body)}
                connection.execute(insert(tables.renderings), rendering)
            for position, (name, text) in enumerate(logs):
                log = {"report_id": link.id, "position": position, "name": name, "text": zlib.compress(text)}
                connection.execute(insert(tables.logs), log)
        return link

    def report(self, report_id: str, format: str = "json") -> bytes | None:
        """Return a report as it was saved, or None when there is none (any more), or not in this format."""
        if self._one(report_id, tables.reports.c.id) is None:
            return None
        table = tables.renderings
        query = select(table.c.body).where(table.c.report_id == report_id, table.c.format == format)
        with self._engine.connect() as connection:
            found = connection.execute(query).scalar_one_or_none()
        return None if found is None else zlib.decompress(found)

    def logs(self, report_id: str) -> list[tuple[str, bytes]]:
        """Return the redacted logs of a report, where they were kept."""
        if self._one(report_id, tables.reports.c.id) is None:
            return []
        columns = select(tables.logs.c.name, tables.logs.c.text).where(tables.logs.c.report_id == report_id)
        with self._engine.connect() as connection:
            rows = connection.execute(columns.order_by(tables.logs.c.position)).all()
        return [(name, zlib.decompress(text)) for name, text in rows]

    def delete_report(self, report_id: str, delete_token: str | None) -> bool | None:
        """Delete a report; without a token, because an admin says so. None: no such report; False: not its token."""
        expected = self._one(report_id, tables.reports.c.delete_hash)
        if expected is None:
            return None
        if delete_token is not None and not hmac.compare_digest(_hash(delete_token), expected):
            return False
        with self._engine.begin() as connection:
            connection.execute(delete(tables.reports).where(tables.reports.c.id == report_id))
        return True

    def history(self, *, limit: int = 50, before: datetime | None = None) -> list[dict[str, Any]]:
        """Return what was saved, newest first, without the reports themselves."""
        table = tables.reports
        columns = [column for column in table.c if column.name != "delete_hash"]
        query = select(*columns).where(table.c.expires > self._clock()).order_by(table.c.created.desc()).limit(limit)
        if before is not None:
            query = query.where(table.c.created < before)
        with self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def _one(self, report_id: str, column: Any) -> Any:
        if not ID.fullmatch(report_id):
            return None
        query = select(column).where(tables.reports.c.id == report_id, tables.reports.c.expires > self._clock())
        with self._engine.connect() as connection:
            return connection.execute(query).scalar_one_or_none()

    # --- feedback ---

    def add_feedback(
        self,
        rule: str,
        verdict: str,
        *,
        who: str,
        place: str,
        report_id: str | None = None,
        fingerprint: str | None = None,
        comment: str = "",
    ) -> None:
        """Keep what somebody says of a finding; who says something else later has changed their mind.
        `place` names where: a report, a message. `who` is hashed."""
        if report_id is not None and self._one(report_id, tables.reports.c.id) is None:
            report_id = None
        row = {
            "created": self._clock(),
            "rule": rule[:200],
            "verdict": verdict,
            "fingerprint": fingerprint and fingerprint[:100],
            "report_id": report_id,
            "who": _hash(who),
            "place": place[:100],
            "comment": redact_text(comment[:COMMENT_CHARS], emails=True),
        }
        changed = {key: row[key] for key in ("created", "verdict", "comment")}
        with self._engine.begin() as connection:
            statement = self._insert(tables.feedback).values(row)
            connection.execute(statement.on_conflict_do_update(index_elements=["rule", "place", "who"], set_=changed))

    def feedback_summary(self, days: int = 90) -> dict[str, dict[str, int]]:
        """Return per rule how often it was right, wrong, or the fix worked."""
        table = tables.feedback
        query = (
            select(table.c.rule, table.c.verdict, func.count())
            .where(table.c.created > self._clock() - timedelta(days=days))
            .group_by(table.c.rule, table.c.verdict)
        )
        told: dict[str, dict[str, int]] = {}
        with self._engine.connect() as connection:
            for rule, verdict, number in connection.execute(query):
                told.setdefault(rule, dict.fromkeys(VERDICTS, 0))[verdict] = number
        return told

    # --- counts and unknown faults ---

    def add_counts(self, rules: Mapping[str, int], verdicts: Mapping[str, int]) -> None:
        """Add to today's counts."""
        day = self._clock().date()
        rows = [{"day": day, "kind": "rule", "name": name, "number": n} for name, n in sorted(rules.items())]
        rows += [{"day": day, "kind": "verdict", "name": name, "number": n} for name, n in sorted(verdicts.items())]
        if not rows:
            return
        statement = self._insert(tables.counts).values(rows)
        total = tables.counts.c.number + statement.excluded.number
        with self._engine.begin() as connection:
            connection.execute(
                statement.on_conflict_do_update(index_elements=["day", "kind", "name"], set_={"number": total})
            )

    def rule_counts(self, days: int = 30, kind: str = "rule") -> list[tuple[date, str, int]]:
        """Return day, rule (or verdict) and how often, oldest first."""
        table = tables.counts
        since = self._clock().date() - timedelta(days=days - 1)
        query = (
            select(table.c.day, table.c.name, table.c.number)
            .where(table.c.kind == kind, table.c.day >= since)
            .order_by(table.c.day, table.c.name)
        )
        with self._engine.connect() as connection:
            return [(day, name, number) for day, name, number in connection.execute(query)]

    def add_unknown(self, suspects: Iterable[Mapping[str, Any]]) -> None:
        """Count the suspects (as on the wire) of logs whose fault no rule knew."""
        now = self._clock()
        rows: dict[str, dict[str, Any]] = {}
        for each in suspects:
            sample = redact_text(each["text"][:SAMPLE_CHARS], emails=True, ips=True)
            template = template_of(sample)
            key = hashlib.blake2b(template.encode("utf-8", "replace"), digest_size=16).hexdigest()
            row = rows.setdefault(key, {"number": 0})
            row |= {"id": key, "template": template, "sample": sample, "reason": each["reason"]}
            row |= {"first_seen": now, "last_seen": now, "number": row["number"] + 1}
        if not rows:
            return
        statement = self._insert(tables.unknown_faults).values([rows[key] for key in sorted(rows)])
        changed = {
            "last_seen": statement.excluded.last_seen,
            "number": tables.unknown_faults.c.number + statement.excluded.number,
        }
        with self._engine.begin() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=changed))

    def unknown_faults(self, *, limit: int = 50, at_least: int = 2) -> list[UnknownFault]:
        """Return the unknown faults that came back, most frequent first."""
        table = tables.unknown_faults
        query = select(table).where(table.c.number >= at_least)
        query = query.order_by(table.c.number.desc(), table.c.last_seen.desc(), table.c.id).limit(limit)
        with self._engine.connect() as connection:
            return [UnknownFault(**row) for row in connection.execute(query).mappings()]

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
            connection.execute(  # a report saved under a longer rule does not outlive a shorter one
                update(tables.reports)
                .where(tables.reports.c.expires > now + self._keep)
                .values(expires=now + self._keep)
            )
        return gone

    def _insert(self, table: Any) -> Any:
        """Return an insert that knows conflicts; both databases have it, each under its own name."""
        return (postgresql if self._engine.dialect.name == "postgresql" else sqlite).insert(table)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
