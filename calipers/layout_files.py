"""A file that a tool or a benchmark wrote as a table of text: by the layout that is named, or that it is in plainly."""

from collections.abc import Collection, Iterable
from pathlib import Path

import pandas as pd

from annotation.answer_layouts import ANSWER_LAYOUTS, answer_layout_lines, told_by_file, told_by_names
from annotation.errors import AnnotationError, ImportingError
from annotation.files.decoding import some_of
from annotation.files.tables import Form, Table
from annotation.tool_answers.entries import Reading
from annotation.tool_answers.tables import numbered_people, table_of
from calibration.tidying.found import EVERYBODY, kind_of
from calibration.tidying.mapping import Asked

PARTS = {"label": "answer", "cluster_id": "topic", "rater_id": "judge", "rationale": "reason"}  # as readers name them
NOBODY = "none"  # --people none: all raters are judges
BESIDE = (".csv", ".tsv", ".xlsx", ".ods")  # tables of people's answers beside a tool's file
TABLE = "table"  # --layout table: the file is read by its columns, whatever wrote it


def layout_of(path: Path, asked: str = "") -> str:
    """The layout asked for, else the one that the file is in beyond doubt; "" for any other table.

    Raises AnnotationError where there is none of that name.
    """
    if asked and asked != TABLE and asked not in ANSWER_LAYOUTS:
        raise AnnotationError(
            "bad_option", f"--layout {asked}: there is no such layout; there are\n{answer_layout_lines()}"
        )
    if not path.exists():
        return ""
    return "" if asked == TABLE else asked or told_by_names(path)


def parts_of(path: Path) -> dict[str, list[Path]]:
    """The parts of a folder that are read apart: the files of each layout, and tables beside them by their own name.

    A folder without any file of a tool is one table, or a table a file, as ever.
    """
    layouts = told_by_file(path)
    parts: dict[str, list[Path]] = {}
    for file, layout in layouts.items():
        if layout:
            parts.setdefault(layout, []).append(file)
    if not parts:
        return {}
    kept = {file for files in parts.values() for file in files}
    beside = [file for file in layouts if file not in kept and file.suffix.lower() in BESIDE]
    rest = [file for file in layouts if file not in kept and file not in beside]
    if len(parts) == 1:  # what is told by no name, such as a judge's results, may belong to it
        next(iter(parts.values())).extend(rest)
    return parts | {file.relative_to(path).as_posix(): [file] for file in beside}


def read_layout(
    path: Path, layout: str, form: Form, asked: Asked, is_asked: bool = True, leave_out: Collection[Path] = ()
) -> tuple[Table, list[str]]:
    """The answers under the names of labels.csv, and what has to be said first.

    Places in a record that `asked.columns` names become columns. A place among `asked.people` holds a person's answers.
    What could not be read is counted and told. `leave_out`: files of a folder that are read otherwise. Raises
    ImportingError where nothing could.
    """
    places = {PARTS.get(part, part): one for part, listed in asked.columns.items() for one in listed}
    reading = Reading(form.encoding or "utf-8", places, numbered_people(), frozenset(leave_out))
    found = ANSWER_LAYOUTS[layout].read(path, reading)
    if not found.entries:
        left = "".join(f"; {note}" for note in found.notes())
        raise ImportingError(found.problems or f"{path}: no answers as {ANSWER_LAYOUTS[layout].looks_like}{left}")
    frame, told = table_of(found, [one for listed in asked.columns.values() for one in listed], asked.people)
    how = "" if is_asked else " (by the names in it; --layout table reads its columns instead)"
    lost = len(found.problems)
    told = (
        f"layout {layout}{how}: {len(frame):,} answers",
        *((f"could not be read and left out {lost:,}, first: {found.problems[0][:200]}",) if lost else ()),
        *told,
    )
    return Table(frame, form, told), [*_unknown_people(frame, asked.people, told), *_kinds(frame, asked)]


def _unknown_people(frame: pd.DataFrame, people: Iterable[str], told: Iterable[str]) -> list[str]:
    known = {*frame["rater_id"], NOBODY, EVERYBODY}
    absent = [one for one in people if one not in known and not any(f" at {one} " in sentence for sentence in told)]
    there = some_of(sorted({*frame["rater_id"]}), 8)
    return [
        f"--people {one}: no rater is called so, and no record holds an answer there (raters: {there})"
        for one in absent
    ]


def _kinds(frame: pd.DataFrame, asked: Asked) -> list[str]:
    """Fill in who is a person and who a judge where the file leaves it open; else the sentence that asks."""
    blank = frame["rater_kind"] == ""
    kinds = {name: kind_of(name, asked) for name in frame.loc[blank, "rater_id"].unique()}
    frame.loc[blank, "rater_kind"] = frame.loc[blank, "rater_id"].map(kinds)
    unknown = [name for name, kind in kinds.items() if not kind]
    if not unknown:
        return []
    return [
        f"nothing says whether these raters are people or judges: {some_of(unknown, 8)}; name the people, and the "
        f"others are judges: --people NAME,NAME (or {EVERYBODY}, or {NOBODY})"
    ]
