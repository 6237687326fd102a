"""The database's own keys; and the hashes of internet addresses that were made without one are taken away.

Revision ID: 0008
Revises: 0007
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

# what was counted stays, who it was goes: four thousand million addresses can be tried against a plain hash
FORGET = (
    "UPDATE events SET what = 'invite_failed' WHERE what LIKE 'invite_failed:%'",
    "UPDATE events SET what = 'entered' WHERE what LIKE 'entered:%'",
)
UNLOCK = {
    "sqlite": ("DROP TRIGGER events_no_update",),
    "postgresql": ("ALTER TABLE events DISABLE TRIGGER events_append_only",),
}
LOCK = {
    "sqlite": (
        "CREATE TRIGGER events_no_update BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events is append-only'); END",
    ),
    "postgresql": ("ALTER TABLE events ENABLE TRIGGER events_append_only",),
}


def upgrade() -> None:
    op.create_table(
        "keys",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("secret", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_keys")),
    )
    dialect = op.get_bind().dialect.name
    for statement in (*UNLOCK[dialect], *FORGET, *LOCK[dialect]):
        op.execute(statement)


def downgrade() -> None:
    raise NotImplementedError("labels are never thrown away; restore a backup to go back")
