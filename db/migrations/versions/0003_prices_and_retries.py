"""The price each try was billed at, which the file may change later; where a retry of a call began; sums by index.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SUMMED = (
    "call_id", "attempt_no", "outcome", "seconds", "cost", "tokens_in", "tokens_cached", "tokens_out",
    "tokens_reasoning",
)  # fmt: skip


def upgrade() -> None:
    op.add_column("judge_attempts", sa.Column("price", sa.JSON(none_as_null=True), nullable=True))
    op.add_column("judge_calls", sa.Column("retried_after", sa.Integer(), nullable=True))
    # the replies between these columns are most of the table: the sums of a ledger must not read them
    op.drop_index("ix_judge_attempts_call_id", "judge_attempts")
    op.create_index("ix_judge_attempts_sums", "judge_attempts", list(SUMMED))


def downgrade() -> None:
    raise NotImplementedError("labels are never thrown away; restore a backup to go back")
