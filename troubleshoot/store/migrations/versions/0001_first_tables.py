"""First tables: reports and their logs, feedback, counts, unknown faults, deliveries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "reports",
        sa.Column("id", sa.String(22), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("expires", TIME, nullable=False),
        sa.Column("verdict", sa.String(20), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("rule", sa.String(200)),
        sa.Column("pack", sa.String(100), nullable=False),
        sa.Column("platform", sa.String(40)),
        sa.Column("names", sa.Text, nullable=False),
        sa.Column("lines", sa.Integer, nullable=False),
        sa.Column("made_by", sa.String(16)),
        sa.Column("delete_hash", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_reports"),
    )
    op.create_index("ix_reports_created", "reports", ["created"])
    op.create_index("ix_reports_expires", "reports", ["expires"])
    op.create_table(
        "renderings",
        sa.Column("report_id", sa.String(22), nullable=False),
        sa.Column("format", sa.String(20), nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("report_id", "format", name="pk_renderings"),
        sa.ForeignKeyConstraint(
            ["report_id"], ["reports.id"], ondelete="CASCADE", name="fk_renderings_report_id_reports"
        ),
    )
    op.create_table(
        "logs",
        sa.Column("report_id", sa.String(22), nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("text", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("report_id", "position", name="pk_logs"),
        sa.ForeignKeyConstraint(["report_id"], ["reports.id"], ondelete="CASCADE", name="fk_logs_report_id_reports"),
    )
    op.create_table(
        "feedback",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.Column("rule", sa.String(200), nullable=False),
        sa.Column("verdict", sa.String(10), nullable=False),
        sa.Column("fingerprint", sa.String(100)),
        sa.Column("report_id", sa.String(22)),
        sa.Column("who", sa.String(64), nullable=False),
        sa.Column("place", sa.String(100), nullable=False),
        sa.Column("comment", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_feedback"),
        sa.ForeignKeyConstraint(
            ["report_id"], ["reports.id"], ondelete="SET NULL", name="fk_feedback_report_id_reports"
        ),
        sa.UniqueConstraint("rule", "place", "who", name="uq_feedback_rule_place_who"),
    )
    op.create_index("ix_feedback_created", "feedback", ["created"])
    op.create_index("ix_feedback_rule", "feedback", ["rule"])
    op.create_table(
        "counts",
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("day", "kind", "name", name="pk_counts"),
    )
    op.create_table(
        "unknown_faults",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("template", sa.Text, nullable=False),
        sa.Column("sample", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("first_seen", TIME, nullable=False),
        sa.Column("last_seen", TIME, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_unknown_faults"),
    )
    op.create_index("ix_unknown_faults_last_seen", "unknown_faults", ["last_seen"])
    op.create_table(
        "deliveries",
        sa.Column("id", sa.String(200), nullable=False),
        sa.Column("created", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
    )
    op.create_index("ix_deliveries_created", "deliveries", ["created"])


def downgrade() -> None:
    for table in ("deliveries", "unknown_faults", "counts", "feedback", "logs", "renderings", "reports"):
        op.drop_table(table)
