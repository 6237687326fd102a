"""A sign-in by an account of a lab's provider says so, with the account's groups: it leads to all studies of theirs.

Revision ID: 0013
Revises: 0012
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("invites", sa.Column("account_groups", sa.JSON()))


def downgrade() -> None:
    raise NotImplementedError("labels are never thrown away; restore a backup to go back")
