"""A study's attention items have an index of their own; each hand-in read all items to find those not seen yet.

Revision ID: 0012
Revises: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

ATTENTION = sa.text("purpose = 'attention'")


def upgrade() -> None:
    op.create_index("ix_items_attention", "items", ["study_id"], sqlite_where=ATTENTION, postgresql_where=ATTENTION)


def downgrade() -> None:
    raise NotImplementedError("labels are never thrown away; restore a backup to go back")
