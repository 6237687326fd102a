"""Training and attention items, retests beside the slots they repeat, packets taken home, links for many people.

Revision ID: 0006
Revises: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

HELD = "status IN ('open', 'taken', 'submitted', 'locked') AND source IN ('app', 'packet')"


def upgrade() -> None:
    op.create_table(
        "packets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("packet_id", sa.String(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("enrollment_id", sa.Integer(), nullable=False),
        sa.Column("secret", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["enrollment_id"], ["enrollments.id"], name=op.f("fk_packets_enrollment_id")),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_packets_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_packets")),
        sa.UniqueConstraint("packet_id", name=op.f("uq_packets_packet_id")),
    )
    op.create_table(
        "open_links",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("token_sha256", sa.String(), nullable=False),
        sa.Column("places", sa.Integer(), nullable=True),
        sa.Column("quota", sa.Integer(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_open_links_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_open_links")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_open_links_token_sha256")),
    )
    op.execute(
        "ALTER TABLE items ADD COLUMN purpose VARCHAR NOT NULL DEFAULT 'label' "
        "CONSTRAINT ck_items_purpose CHECK (purpose IN ('label', 'training', 'attention'))"
    )
    # SQLite adds a column together with its constraint, or not at all
    for table, column, target in (
        ("assignments", "packet_id", "packets"),
        ("enrollments", "open_link_id", "open_links"),
    ):
        named = f"fk_{table}_{column}"
        op.execute(f"ALTER TABLE {table} ADD COLUMN {column} INTEGER CONSTRAINT {named} REFERENCES {target} (id)")
    op.add_column("enrollments", sa.Column("participant_sha256", sa.String(), nullable=True))
    op.create_index("uq_enrollments_participant", "enrollments", ["study_id", "participant_sha256"], unique=True)
    op.drop_index("uq_assignments_slot", table_name="assignments")
    op.create_index(
        "uq_assignments_slot",
        "assignments",
        ["item_id", "purpose", "slot_no", "pass_no"],
        unique=True,
        sqlite_where=sa.text(HELD),
        postgresql_where=sa.text(HELD),
    )


def downgrade() -> None:
    raise NotImplementedError("labels are never thrown away; restore a backup to go back")
