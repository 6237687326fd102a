"""The pictures that reports show.

Revision ID: 0009
Revises: 0008
"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "figures",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("picture", sa.LargeBinary(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_figures_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_figures")),
        sa.UniqueConstraint("study_id", "name", name=op.f("uq_figures_study_id_name")),
    )


def downgrade() -> None:
    raise NotImplementedError("labels are never thrown away; restore a backup to go back")
