"""The index of a study's assignments by status holds open slots in the order in which they are taken.

Revision ID: 0011
Revises: 0010
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_assignments_study_status", "assignments")
    op.create_index(
        "ix_assignments_study_status", "assignments",
        ["study_id", "status", "purpose", sa.text("priority DESC"), "id", "item_id", "reserved_for"],
    )  # fmt: skip


def downgrade() -> None:
    raise NotImplementedError("labels are never thrown away; restore a backup to go back")
