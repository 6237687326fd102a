"""Reports from a path into a study, for the command and the page alike: found, read, and written whole or refused."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from annotation.errors import ImportingError
from annotation.files.folders import refuse_ways_out
from annotation.importing import layouts
from annotation.importing.reports import import_report, records, table, write
from annotation.people.principals import Principal
from annotation.shown_texts import repeated
from db.connect import reading, transaction


@dataclass(frozen=True)
class Found:
    """What is read, in which layout; `sign`: the file by which the layout was told, where nobody said it."""

    layout: str
    path: Path
    sign: str = ""

    @property
    def folder(self) -> Path | None:
        """Where the pictures that reports name may lie; for a table, whose rows anybody wrote, a folder of its name."""
        if self.path.is_dir():
            return self.path
        own = self.path.with_suffix("")
        return None if own.is_symlink() else own


@dataclass(frozen=True)
class Asked:
    """How its owner wants reports read, and what may be missing or new."""

    encoding: str = "utf-8"
    columns: str = ""  # of a table: FIELD=COLUMN,…
    system: str | None = None  # that wrote every row of a table
    keep_columns: bool = False
    allow_empty: bool = False
    allow_missing: bool = False
    new_version: bool = False


def find(path: Path, layout: str) -> Found:
    """Raises ImportingError where the path leads out of itself, or is in no layout or not in this one."""
    refuse_ways_out(path)
    sign = ""
    if layout == layouts.AUTO:
        layout, sign, path = layouts.propose(path)
    if layout != "table" and not path.is_dir():
        raise ImportingError(
            "{path}: not a folder; give the folder that holds the reports, or use --layout table", path=path
        )
    return Found(layout, layouts.tree_of(layout, path), sign)


def read(found: Found, asked: Asked) -> records.Parsed:
    """Everything that is there, with what is wrong with it; no database is asked."""
    if found.layout == "table":
        options = table.TableOptions(table.parse_map(asked.columns), asked.system, asked.keep_columns)
        return table.read_table(found.path, asked.encoding, options)
    return layouts.LAYOUTS[found.layout].read(found.path, asked.encoding)


def bring_in(
    engine: Engine,
    principal: Principal,
    parsed: records.Parsed,
    layout: str,
    asked: Asked,
    *,
    source: str,
    folder: Path | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
    dry_run: bool = False,
) -> import_report.ImportReport:
    """Prepare, and write all or nothing. Raises ImportingError with every problem, and AnnotationError.

    Texts and pictures are prepared before the writing transaction, in which nobody else can save. `source`: where they
    came from, as is kept with the import; `folder`: where the pictures that reports name may lie. `dry_run`: everything
    is checked, and nothing stays.
    """
    key = write.key_of_pictures(engine, principal, dry_run=dry_run)
    with reading(engine) as session:
        write.refuse_reports(
            session, principal, parsed, allow_empty=asked.allow_empty, allow_missing=asked.allow_missing,
            new_version=asked.new_version,
        )  # fmt: skip
        ready = write.prepare_all(session, principal, parsed, progress, folder, key)
        looks = repeated.looks(session, principal, ready)
    options = {
        "encoding": asked.encoding, "map": table.parse_map(asked.columns), "system": asked.system,
        "keep_columns": asked.keep_columns,
    }  # fmt: skip
    with transaction(engine) as session:
        outcome = write.import_reports(
            session, principal, parsed, layout=layout, source=source, options=options, prepared_texts=ready,
            looks=looks, allow_empty=asked.allow_empty, allow_missing=asked.allow_missing,
            new_version=asked.new_version,
        )  # fmt: skip
        if dry_run:
            session.rollback()
    return outcome
