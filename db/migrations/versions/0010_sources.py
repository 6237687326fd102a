"""Source passages once for each study, however many probes show them.

Revision ID: 0010
Revises: 0009
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TRIGGERS = {
    "sqlite": tuple(
        f"CREATE TRIGGER sources_no_{verb.lower()} BEFORE {verb} ON sources "
        "BEGIN SELECT RAISE(ABORT, 'sources is append-only'); END"
        for verb in ("UPDATE", "DELETE")
    ),
    "postgresql": (
        "CREATE TRIGGER sources_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON sources "
        "FOR EACH STATEMENT EXECUTE FUNCTION calipers_refuse('sources is append-only')",
    ),
}


def upgrade() -> None:
    op.create_table(
        "sources",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_sources_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sources")),
        sa.UniqueConstraint("study_id", "sha256", name=op.f("uq_sources_study_id_sha256")),
    )
    # SQLite adds a column together with its constraint, or not at all
    op.execute("ALTER TABLE items ADD COLUMN source_id INTEGER CONSTRAINT fk_items_source_id REFERENCES sources (id)")
    for statement in TRIGGERS[op.get_bind().dialect.name]:
        op.execute(statement)


def downgrade() -> None:
    raise NotImplementedError("labels are never thrown away; restore a backup to go back")
