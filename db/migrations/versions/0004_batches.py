"""The provider's batch that a try was a line of: a call may go out in two, and each is a bill of its own.

Revision ID: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("judge_attempts", sa.Column("batch_id", sa.String(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("labels are never thrown away; restore a backup to go back")
