"""From any file to labels: read in its form or layout, mapped as proposed or as the user says, refused all at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from annotation.errors import AnnotationError
from annotation.files.tables import AS_FOUND, FILE_SUFFIXES, Form, Wants, read_table
from calibration.table.verdicts import REQUIRED
from calibration.tidying.applying import tidy
from calibration.tidying.mapping import Asked, LabelMap
from calibration.tidying.proposing import NOTHING, propose
from calibration.tidying.readings import in_our_words
from calipers.label_files import SHORT, TELLING, read_labels
from calipers.layout_files import layout_of, read_layout
from calipers.mapping_files import Recipe, read_recipe


@dataclass(frozen=True)
class Options:
    """What the user says about a file; nothing, unless something has to be said. `mapping`: a TOML file to follow."""

    asked: Asked = NOTHING
    form: Form = AS_FOUND
    layout: str = ""
    mapping: Path | None = None

    @property
    def is_empty(self) -> bool:
        return self == Options()


@dataclass(frozen=True)
class TidyFile:
    """The labels of a file and how they were made. `problems`: all that has to be said first; then labels are what
    there is without it, or nothing. `before`: the table as it was read."""

    labels: pd.DataFrame
    recipe: Recipe
    before: pd.DataFrame
    told: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)


NOTHING_SAID = Options()
ASKS_SCORES = "--labels-are scores"  # numbers that may be scores or a verdict are never read in silence


def read_tidy(path: Path, options: Options = NOTHING_SAID) -> TidyFile:
    """The labels of any file. Raises AnnotationError, ImportingError where no table can be made out."""
    followed = read_recipe(options.mapping) if options.mapping else None
    form = followed.form if followed and options.form == AS_FOUND else options.form
    layout = layout_of(path, options.layout or (followed.layout if followed else ""))
    people = followed.people if followed else options.asked.people
    asked = replace(options.asked, columns=followed.mapping.columns, people=people) if followed else options.asked
    unsaid: list[str] = []
    if layout:
        table, unsaid = read_layout(path, layout, form, asked, is_asked=bool(options.layout or followed))
    else:
        table = read_table(path, form, Wants(telling=TELLING))
    if followed:
        _refuse_absent(path, table.frame, followed.mapping)
        mapping, told, problems = followed.mapping, tuple[str, ...](), tuple[str, ...]()
    else:
        found = propose(table.frame, options.asked)
        mapping, told, problems = found.mapping, found.told, (*unsaid, *found.problems)
    recipe = Recipe(mapping, replace(table.form, sheet=form.sheet), layout or options.layout, path.name, people)
    if problems:
        return TidyFile(table.frame[:0], recipe, table.frame, (*table.told, *told), problems)
    made = tidy(table.frame, mapping)
    return TidyFile(made.labels, recipe, table.frame, (*table.told, *told, *made.told), made.problems)


def _refuse_absent(path: Path, frame: pd.DataFrame, mapping: LabelMap) -> None:
    asked = [*(name for names in mapping.columns.values() for name in names), *(one.column for one in mapping.spread)]
    absent = [name for name in asked if name not in frame and not (mapping.spread and name in ("label",))]
    if absent:
        raise AnnotationError("bad_mapping", f"{path}: has no column {absent[0]!r}, which the mapping names")


def read_ours(path: Path, options: Options = NOTHING_SAID, used_only: bool = False) -> pd.DataFrame | None:
    """The labels of a file with our own columns and words, and nothing said about it; None for any other."""
    if not options.is_empty or path.is_dir() or layout_of(path):
        return None
    frame = read_labels(path, used_only)
    if not {*REQUIRED} <= {*frame.columns}:
        return None
    if in_our_words(frame):
        return frame
    problems = read_tidy(path).problems  # our columns: what is wrong with a cell is said with its row
    return frame if problems and not any(ASKS_SCORES in one for one in problems) else None


def labels_of(
    path: Path, options: Options = NOTHING_SAID, used_only: bool = False
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The labels of any file, and how they were read, in words; () where the file has our own columns and words.

    Raises AnnotationError `cannot_tidy` with all that has to be said first.
    """
    ours = read_ours(path, options, used_only)
    if ours is not None:
        return ours, ()
    made = read_tidy(path, options)
    if not made.problems:
        short = [name for name in made.labels if name in SHORT]
        return made.labels.astype(dict.fromkeys(short, "category")), made.told
    raise refusal(path, made)


def refusal(path: Path, made: TidyFile) -> AnnotationError:
    """All problems of a file at once."""
    listed = "".join(f"\n  {number}. {problem}" for number, problem in enumerate(made.problems, start=1))
    return AnnotationError(
        "cannot_tidy",
        f"{path}: cannot be read as labels until this is said:{listed}\ncalipers doctor shows the columns",
    )


def holds_labels(what: str) -> bool:
    """Whether `what` is a file, or is called like one, rather than a study."""
    return Path(what).suffix.lower() in FILE_SUFFIXES or Path(what).is_file()
