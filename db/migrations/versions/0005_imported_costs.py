"""What a label made elsewhere took and cost, as its file says; for those made here it is worked out from their records.

Revision ID: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("labels", sa.Column("seconds", sa.Double(), nullable=True))
    op.add_column("labels", sa.Column("cost_usd", sa.Double(), nullable=True))


def downgrade() -> None:
    raise NotImplementedError("labels are never thrown away; restore a backup to go back")
