"""From any file to labels: read in its form or layout, mapped as proposed or as the user says, refused all at once."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from annotation.answer_layouts import ANSWER_LAYOUTS
from annotation.errors import AnnotationError
from annotation.files.tables import AS_FOUND, FILE_SUFFIXES, Form, Wants, read_table
from calibration.table.verdicts import REQUIRED
from calibration.tidying import applying, proposing, readings
from calibration.tidying.mapping import Asked, LabelMap
from calipers.label_files import SHORT, TELLING, read_labels
from calipers.layout_files import layout_of, parts_of, read_layout
from calipers.mapping_files import Recipe, read_recipe


@dataclass(frozen=True)
class Options:
    """What the user says about a file; nothing, unless something has to be said. `mapping`: a TOML file to follow."""

    asked: Asked = proposing.NOTHING
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
PAIR = ("system_a", "system_b")
ASKS_SCORES = "--labels-are scores"  # numbers that may be scores or a verdict are never read in silence


def read_tidy(path: Path, options: Options = NOTHING_SAID) -> TidyFile:
    """The labels of any file. Raises AnnotationError, ImportingError where no table can be made out.

    A folder may hold a tool's file and tables of people's answers beside it, or files of several tools.
    """
    parts = parts_of(path) if path.is_dir() and not options.layout else {}
    if len(parts) < 2:
        return _read_one(path, options)
    made = [
        _read_one(path if layout in ANSWER_LAYOUTS else files[0], options, layout, {*path.rglob("*")} - {*files})
        for layout, files in parts.items()
    ]
    return together([*parts], made)


def _read_one(path: Path, options: Options, of_folder: str = "", leave_out: Collection[Path] = ()) -> TidyFile:
    """The labels of a file, or of those files of a folder that are of the layout `of_folder`."""
    followed = read_recipe(options.mapping) if options.mapping else None
    form = followed.form if followed and options.form == AS_FOUND else options.form
    asked_for = options.layout or (followed.layout if followed and not of_folder else "")
    layout = of_folder if of_folder in ANSWER_LAYOUTS else layout_of(path, asked_for)
    people = followed.people if followed else options.asked.people
    asked = replace(options.asked, columns=followed.mapping.columns, people=people) if followed else options.asked
    unsaid: list[str] = []
    if layout:
        table, unsaid = read_layout(path, layout, form, asked, is_asked=bool(asked_for), leave_out=leave_out)
    else:
        table = read_table(path, form, Wants(telling=TELLING))
    if followed:
        _refuse_absent(path, table.frame, followed.mapping)
        mapping, told, problems = followed.mapping, tuple[str, ...](), tuple[str, ...]()
    else:
        found = proposing.propose(table.frame, options.asked)
        mapping, told, problems = found.mapping, found.told, (*unsaid, *found.problems)
    recipe = Recipe(mapping, replace(table.form, sheet=form.sheet), layout or options.layout, path.name, people)
    if problems:
        return TidyFile(table.frame[:0], recipe, table.frame, (*table.told, *told), problems)
    made = applying.tidy(table.frame, mapping)
    return TidyFile(made.labels, recipe, table.frame, (*table.told, *told, *made.told), made.problems)


def together(names: Sequence[str], made: Sequence[TidyFile]) -> TidyFile:
    """The labels of several parts of a folder, the first one's topics and systems for the items they share.

    A table that holds no labels, such as a test's inputs, is told and left out; a tool's file has to be read.
    """
    labels, told, problems = [made[0].labels], [*made[0].told], [f"{names[0]}: {one}" for one in made[0].problems]
    for name, one in zip(names[1:], made[1:], strict=True):
        if one.problems and name not in ANSWER_LAYOUTS:
            told.append(f"{name} is left out: {one.problems[0]}")
        else:
            problems += [f"{name}: {problem}" for problem in one.problems]
            own, said = _joined_to(made[0].labels, names[0], one)
            labels.append(own)
            told += [f"{name}: {sentence}" for sentence in (*one.told, *said)]
    joined = pd.concat(labels, ignore_index=True).fillna("")
    return replace(made[0], labels=joined, told=tuple(told), problems=tuple(problems))


def _joined_to(first: pd.DataFrame, called: str, one: TidyFile) -> tuple[pd.DataFrame, list[str]]:
    """The labels of one part as the first part's items have them; what was taken for granted, and what joins nothing.

    An only criterion is that of a part without any. A pair named the other way round is turned.
    """
    own = one.labels.copy()
    said: list[str] = []
    if own.empty or first.empty:
        return own, said
    criteria = first["criterion"].unique()
    if one.recipe.mapping.constants.get("criterion") and len(criteria) == 1:
        own["criterion"] = criteria[0]
        said.append(f"what was asked is {criteria[0]!r}, as in {called}")
    known = first.drop_duplicates("item_id").set_index("item_id")
    theirs = {name: own["item_id"].map(known[name]) for name in ("cluster_id", *PAIR) if name in known}
    if {*PAIR} <= theirs.keys() and {*PAIR} <= {*own}:
        turned = (own[PAIR[0]] == theirs[PAIR[1]]) & (own[PAIR[1]] == theirs[PAIR[0]]) & own[PAIR[1]].ne("")
        own["label"] = own["label"].mask(turned, own["label"].replace(applying.TURNED))
        for name in {"presentation"} & {*own}:
            own[name] = own[name].mask(turned, own[name].replace(applying.TURNED))
        is_same = turned | own[PAIR[1]].eq("") | (own[PAIR[0]] == theirs[PAIR[0]])
        theirs |= {name: theirs[name].where(is_same, own[name]) for name in PAIR}
    for name, column in theirs.items():
        own[name] = column.fillna(own.get(name, ""))
    alone = int((~own["item_id"].isin(known.index)).sum())
    return own, [*said, f"{len(own):,} answers, of which on no item of {called} {alone:,}"]


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
    if readings.in_our_words(frame):
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
