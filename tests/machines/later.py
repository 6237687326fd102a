"""A calipers that is one migration ahead of this one."""

from __future__ import annotations

import shutil
from pathlib import Path

from alembic.script import ScriptDirectory

from db import migrations

LATER = "9001"
MIGRATION = '''
"""All that may be added beside running processes: columns, a table, an index, a trigger-free constraint."""

import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "{later}", "{head}", None, None


def upgrade() -> None:
    op.add_column("labels", sa.Column("mood", sa.String(), nullable=True))
    op.add_column("assignments", sa.Column("weight", sa.Float(), nullable=False, server_default="1"))
    op.create_table("moods", sa.Column("id", sa.Integer(), primary_key=True), sa.Column("name", sa.String()))
    op.create_index("ix_labels_mood", "labels", ["mood"])
'''


def later_scripts(folder: Path) -> Path:
    """A copy of our migrations with one more, which only adds."""
    scripts = folder / "later"
    shutil.copytree(migrations.SCRIPTS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    head = ScriptDirectory(str(migrations.SCRIPTS)).get_current_head()
    (scripts / "versions" / f"{LATER}_moods.py").write_text(MIGRATION.format(later=LATER, head=head))
    return scripts
