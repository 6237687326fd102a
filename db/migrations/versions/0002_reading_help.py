"""What the page needs beside the reports of an item: alike passages, and a reference that is shown but not rated.

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("items", sa.Column("passages", sa.JSON(), nullable=True))
    op.add_column(
        "items",
        sa.Column("reference_id", sa.Integer(), sa.ForeignKey("reports.id"), nullable=True),
        inline_references=True,
    )


def downgrade() -> None:
    raise NotImplementedError("labels are never thrown away; restore a backup to go back")
