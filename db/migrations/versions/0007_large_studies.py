"""Indexes that answer for a study of millions of labels: by person, by slot, by act, and what is rare.

Revision ID: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

FAILED, FLAGGED = sa.text("status <> 'ok'"), sa.text("open_flags > 0")


def upgrade() -> None:
    op.create_index(
        "ix_assignments_study_rater", "assignments", ["study_id", "rater_id", "purpose", "status", "item_id"]
    )
    op.create_index(
        "ix_assignments_study_purpose", "assignments",
        ["study_id", "purpose", "source", "status", "item_id", "rater_id"],
    )  # fmt: skip
    op.create_index("ix_events_study_what", "events", ["study_id", "kind", "what"])
    op.create_index("ix_labels_failed", "labels", ["assignment_id"], sqlite_where=FAILED, postgresql_where=FAILED)
    op.create_index("ix_reports_flagged", "reports", ["study_id"], sqlite_where=FLAGGED, postgresql_where=FLAGGED)


def downgrade() -> None:
    raise NotImplementedError("labels are never thrown away; restore a backup to go back")
