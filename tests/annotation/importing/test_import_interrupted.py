"""An import that stops between two inserts, by an error or by the death of its process, never happened."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

from annotation.importing.reports.folder import read_folder
from db.connect import open_database
from tests.annotation.layout_trees import bring_in, everything
from tests.small_study import write_reports

ROOT = Path(__file__).resolve().parents[3]
DIES = """
import os, sys
from pathlib import Path
from sqlalchemy import event
from annotation.importing.reports.folder import read_folder
from db.connect import open_database
from tests.annotation.layout_trees import bring_in

engine = open_database(sys.argv[1])

def die(connection, cursor, statement, *rest):
    if statement.startswith("INSERT INTO reports"):
        cursor.execute("SELECT count(*) FROM topics")
        print("topics written", cursor.fetchone()[0], flush=True)
        os._exit(9)

event.listen(engine, "before_cursor_execute", die)
bring_in(engine, read_folder(Path(sys.argv[2])))
"""


class PowerCut(Exception):
    pass


def inserts(engine: Engine, root: Path, stop_at: int | None) -> int:
    """Imports `root`; raises PowerCut before INSERT number `stop_at`. Returns how many INSERTs there were."""
    seen = 0

    def count(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        nonlocal seen
        if statement.startswith("INSERT"):
            seen += 1
            if seen == stop_at:
                raise PowerCut(statement.split("(")[0])

    event.listen(engine, "before_cursor_execute", count)
    try:
        bring_in(engine, read_folder(root), "folder", new_version=True)
    finally:
        event.remove(engine, "before_cursor_execute", count)
    return seen


def test_an_error_before_any_insert_leaves_every_row_of_every_table_as_it_was(engine: Engine, tmp_path: Path) -> None:
    bring_in(engine, read_folder(write_reports(tmp_path / "before", ("older", "tides"))), "folder")
    before = everything(engine)
    root = write_reports(tmp_path / "tree")
    (root / "alpha" / "tides.md").write_text("Another text on the tides. " * 20)
    stop_at = 0
    while True:
        stop_at += 1
        try:
            made = inserts(engine, root, stop_at)
        except PowerCut:
            assert everything(engine) == before
            continue
        break
    assert made == stop_at - 1 >= 4  # the import, its topics, its reports, the audit event
    after = everything(engine)
    assert len(after["reports"]) == len(before["reports"]) + 7  # six on new topics, one new version
    assert len(after["imports"]) == len(before["imports"]) + 1


def test_a_process_that_dies_between_two_inserts_leaves_every_row_as_it_was(database_url: str, tmp_path: Path) -> None:
    engine = open_database(database_url)
    bring_in(engine, read_folder(write_reports(tmp_path / "before", ("older",))), "folder")
    before = everything(engine)
    engine.dispose()
    root = write_reports(tmp_path / "tree")
    died = subprocess.run(
        [sys.executable, "-c", DIES, database_url, str(root)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (died.returncode, died.stdout) == (9, "topics written 4\n"), died.stderr
    assert everything(engine) == before
    assert bring_in(engine, read_folder(root), "folder").new == 9
    engine.dispose()
