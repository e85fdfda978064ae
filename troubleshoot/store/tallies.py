"""What the store counts and what it is told: feedback, findings per day, unknown faults that come back.

add_feedback, feedback_summary, feedback_told     right, wrong, fixed it: one voice per person and finding
add_counts, rule_counts                           findings per rule and day
add_unknown, unknown_faults                       suspects of unknown faults, grouped by what is left when numbers
                                                  are taken out
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection, Engine

from troubleshoot import limits
from troubleshoot.report.redact import redact_text
from troubleshoot.store import tables
from troubleshoot.suspects import template_of

log = logging.getLogger("troubleshoot.store")

VERDICTS = ("right", "wrong", "fixed")
COMMENT_CHARS = 2000
SAMPLE_CHARS = 1000
ROWS_AT_ONCE = 500
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


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


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody said of a finding; `report_id` while that report is kept."""

    created: datetime
    rule: str
    verdict: str
    comment: str
    report_id: str | None


class Tallies:
    """The half of a store that counts. `Store` is the whole."""

    _engine: Engine
    _clock: Callable[[], datetime]

    def _has_report(self, report_id: str) -> bool:
        raise NotImplementedError

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
        if report_id is not None and not self._has_report(report_id):
            report_id = None
        row = {
            "created": self._clock(),
            "rule": storable(rule)[:200],
            "verdict": verdict,
            "fingerprint": fingerprint and storable(fingerprint)[:100],
            "report_id": report_id,
            "who": hash_of(who),
            "place": storable(place)[:100],
            "comment": redact_text(storable(comment)[:COMMENT_CHARS], emails=True),
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

    def feedback_told(
        self, *, limit: int = 50, rule: str | None = None, verdict: str | None = None, commented: bool = False
    ) -> list[Told]:
        """Return what was said last, newest first; `commented`: only what came with words."""
        table = tables.feedback
        columns = (table.c.created, table.c.rule, table.c.verdict, table.c.comment, table.c.report_id)
        query = select(*columns).order_by(table.c.created.desc(), table.c.id.desc()).limit(limit)
        if rule is not None:
            query = query.where(table.c.rule == storable(rule))
        if verdict is not None:
            query = query.where(table.c.verdict == verdict)
        if commented:
            query = query.where(table.c.comment != "")
        with self._engine.connect() as connection:
            return [Told(**row) for row in connection.execute(query).mappings()]

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
            sample = redact_text(storable(each["text"])[:SAMPLE_CHARS], emails=True, ips=True)
            template = template_of(sample)
            key = hashlib.blake2b(template.encode("utf-8", "replace"), digest_size=16).hexdigest()
            row = rows.setdefault(key, {"number": 0})
            row |= {"id": key, "template": template, "sample": sample, "reason": storable(each["reason"])}
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

    def unknown_faults(
        self, *, limit: int = 50, at_least: int = 2, skip: int = 0, words: Sequence[str] = ()
    ) -> list[UnknownFault]:
        """Return the unknown faults that came back and whose line holds all words, most frequent first."""
        table = tables.unknown_faults
        query = select(table).where(table.c.number >= at_least)
        for word in words:
            query = query.where(func.lower(table.c.sample).contains(storable(word.lower()), autoescape=True))
        query = query.order_by(table.c.number.desc(), table.c.last_seen.desc(), table.c.id)
        with self._engine.connect() as connection:
            rows = connection.execute(query.limit(limit).offset(skip)).mappings()
            return [UnknownFault(**row) for row in rows]

    def unknown_fault(self, fault_id: str) -> UnknownFault | None:
        """Return an unknown fault by its id, or None."""
        query = select(tables.unknown_faults).where(tables.unknown_faults.c.id == storable(fault_id))
        with self._engine.connect() as connection:
            row = connection.execute(query).mappings().one_or_none()
        return None if row is None else UnknownFault(**row)

    def forget_unknown(self, fault_id: str) -> bool:
        """Take an unknown fault off the list, because it has a rule now or needs none; say whether it was there."""
        query = delete(tables.unknown_faults).where(tables.unknown_faults.c.id == storable(fault_id))
        with self._engine.begin() as connection:
            return connection.execute(query).rowcount > 0

    def _thin_out(self, connection: Connection) -> int:
        """Forget the oldest of what strangers can make any number of; return how many rows went."""
        gone = 0
        for table, when, most in (
            (tables.unknown_faults, tables.unknown_faults.c.last_seen, limits.UNKNOWN_FAULTS),
            (tables.feedback, tables.feedback.c.created, limits.FEEDBACK_ROWS),
        ):
            spare = select(table.c.id).order_by(when.desc(), table.c.id).offset(most)
            if self._engine.dialect.name == "sqlite":
                spare = spare.limit(-1)  # it knows no offset without a limit
            ids = list(connection.execute(spare).scalars())
            for at in range(0, len(ids), ROWS_AT_ONCE):
                connection.execute(delete(table).where(table.c.id.in_(ids[at : at + ROWS_AT_ONCE])))
            gone += len(ids)
        if gone:
            log.warning("the store was thinned out: %d of the oldest counts and voices went", gone)
        return gone

    def _insert(self, table: Any) -> Any:
        """Return an insert that knows conflicts; both databases have it, each under its own name."""
        return (postgresql if self._engine.dialect.name == "postgresql" else sqlite).insert(table)


def hash_of(secret: str) -> str:
    """Return what is kept of a secret or of who somebody is."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def storable(text: str) -> str:
    """Return the text without what PostgreSQL takes in no text: NUL, and halves of surrogate pairs."""
    return UNSTORABLE.sub("\ufffd", text)
