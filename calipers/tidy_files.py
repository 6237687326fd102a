"""From any file to labels: read in its form or layout, mapped as proposed or as the user says, refused all at once."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from annotation.answer_layouts import ANSWER_LAYOUTS, answer_layout_lines, told_by_file, told_by_names
from annotation.errors import AnnotationError, ImportingError
from annotation.files.containers import Said
from annotation.files.decimals import ungrouped
from annotation.files.decoding import some_of
from annotation.files.tables import AS_FOUND, FILE_SUFFIXES, Form, Table, Wants, form_asked, read_table
from annotation.tool_answers.entries import Reading, parse_fields
from annotation.tool_answers.tables import numbered_people, table_of
from calibration.examining.findings import ask_of_items, rare_words
from calibration.table import roles
from calibration.table.verdicts import KNOWN_COLUMNS, REQUIRED
from calibration.tidying import applying, beside, measures, proposing, readings
from calibration.tidying.found import EVERYBODY, NOBODY, ask_who_is_who, kind_of, without_ignored, without_totals
from calibration.tidying.mapping import IGNORED, READ_AS, Asked, LabelMap
from calibration.tidying.raters import called, kind_of_name, person_of
from calibration.tidying.turning import turned
from calibration.tidying.value_sets import ASK
from calibration.tidying.what_was_read import columns_read
from calipers.joined_parts import TidyFile, ours_without_addresses, refuse_apart, together, without_addresses
from calipers.label_files import SHORT, TELLING, none_among_numbers, read_labels
from calipers.mapping_files import Recipe, read_recipe, refuse_absent
from calipers.named_nowhere import unknown_columns, unknown_words
from plain.typed_options import split_at_commas, split_at_plus, typed

PARTS = {"label": "answer", "cluster_id": "topic", "rater_id": "judge", "rationale": "reason"}  # as readers name them
BESIDE = (".csv", ".tsv", ".xlsx", ".ods")  # tables of people's answers beside a tool's file
TABLE = "table"  # --layout table: the file is read by its columns, whatever wrote it


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


NOTHING_SAID = Options()


def read_tidy(path: Path, options: Options = NOTHING_SAID) -> TidyFile:
    """The labels of any file. Raises AnnotationError, ImportingError where no table can be made out.

    A folder may hold a tool's file and tables of people's answers beside it, or files of several tools.
    """
    parts = parts_of(path) if path.is_dir() and not options.layout else {}
    if len(parts) < 2:
        return without_addresses(_read_one(path, options))
    if options.mapping:
        raise AnnotationError(
            "bad_option", f"{path}: is read in parts ({', '.join(parts)}), which no one mapping makes: say what has to "
            "be said by --map and --people, or give labels that were made of it"
        )  # fmt: skip
    made = [
        _read_one(path if layout in ANSWER_LAYOUTS else files[0], options, layout, {*path.rglob("*")} - {*files})
        for layout, files in parts.items()
    ]
    if options.form.turned and not any(one.recipe.form.turned for one in made):
        raise AnnotationError("bad_option", f"{path}: no part has a column {options.form.turned!r} to turn it by")
    joined = together([*parts], made)
    unsaid = _unknown_people([*joined.labels["rater_id"].unique()], options.asked.people, joined.told)
    nowhere = [said for name, said in made[0].nowhere.items() if all(name in one.nowhere for one in made)]
    joined = without_addresses(joined)
    nowhere += [*_unknown_columns(made, options.asked), *_unfollowed(made, options.asked)]
    return replace(joined, problems=(*nowhere, *unsaid, *joined.problems))


def _unfollowed(made: Sequence[TidyFile], asked: Asked) -> list[str]:
    """A sentence for a criterion that is said where every part of a folder has its own."""
    word, words = asked.constants.get("criterion"), {one for part in made for one in part.before.get("criterion", ())}
    has_own = "criterion" not in asked.ignored and all("criterion" in one.before for one in made)
    if not word or not has_own or words == {word}:
        return []
    return [
        f"{typed('--map', f'criterion=={word}')}: every part of the folder says its own criterion, which is followed "
        f"({some_of(sorted(words), 20)}); {typed('--map', f'criterion=={word}', 'ignore=criterion')} where all answer "
        "one question"
    ]


def _unknown_columns(made: Sequence[TidyFile], asked: Asked) -> list[str]:
    """A sentence for each column of --map that no part of a folder has, or of which all cells are blank."""
    held = {str(name) for one in made for name in one.before if one.before[name].ne("").any()}
    return [
        f"--map {part}={name}: no part of the folder has anything there (there are: {some_of(sorted(held), 20)})"
        for part, names in asked.columns.items()
        for name in names
        if name and not {name, name.rpartition(".")[2]} & held
    ]


def options_of(
    columns: Sequence[str], words: Sequence[str], people: Sequence[str], read: Sequence[str], labels_are: str = "",
    layout: str = "", mapping: Path | None = None,
) -> Options:  # fmt: skip
    """The options as they were typed. Raises AnnotationError, ImportingError with what is wrong about them."""
    if labels_are and labels_are not in READ_AS:
        raise AnnotationError("bad_option", f"--labels-are {labels_are}: write one of {', '.join(READ_AS)}")
    if mapping and (unread := [name for name, given in (
        ("--map", columns), ("--map-label", words), ("--people", people), ("--labels-are", labels_are)
    ) if given]):  # fmt: skip
        raise AnnotationError("bad_option", f"--mapping is followed as it stands: leave {', '.join(unread)} out, or it")
    places = parse_fields(",".join(columns), (*KNOWN_COLUMNS, "currency", "ignore"))
    ignored = tuple(filter(None, split_at_plus(places.pop("ignore", ""))))
    constants = {part: place[1:] for part, place in places.items() if place.startswith("=")}
    asked = Asked(
        columns={part: split_at_plus(place) for part, place in places.items() if part not in constants},
        constants=constants,
        words=parse_fields(",".join(words), ()),
        labels_are=labels_are,
        people=tuple(name for one in people for name in split_at_commas(one)),
        ignored=ignored,
    )
    return Options(asked, form_asked(read), layout, mapping)


def _read_one(
    path: Path, options: Options, of_folder: str = "", leave_out: Collection[Path] = (),
    frame: pd.DataFrame | None = None,
) -> TidyFile:  # fmt: skip
    """The labels of a file, of those files of a folder that are of the layout `of_folder`, or of a `frame` of text."""
    followed = read_recipe(options.mapping) if options.mapping else None
    form = followed.form if followed and options.form == AS_FOUND else options.form
    asked_for = options.layout or (followed.layout if followed and not of_folder else "")
    layout = of_folder if of_folder in ANSWER_LAYOUTS else layout_of(path, asked_for)
    people = followed.people if followed else options.asked.people
    asked = options.asked
    if followed:
        words = dict.fromkeys(followed.left_out, IGNORED)
        asked = replace(asked, columns=followed.mapping.columns, people=people, ignored=followed.ignored, words=words)
    unsaid: list[str] = []
    if frame is not None:
        table = Table(frame, form)
    elif layout:
        table, unsaid = read_layout(path, layout, form, asked, is_asked=bool(asked_for), leave_out=leave_out)
    else:
        table = read_table(
            path, form, Wants(telling=TELLING, said=_said(asked, followed), says_none=none_among_numbers)
        )
    nowhere = {} if followed else unknown_columns(table, asked)
    rows, gone, left_out = without_ignored(table.frame, asked)
    rows, totals = without_totals(rows.drop(columns=[*asked.ignored], errors="ignore"))
    rows = rows.apply(lambda cells: cells.str.strip() if cells.dtype == "str" else cells)  # "Anna " is Anna
    asked = replace(asked, words={word: said for word, said in asked.words.items() if word not in left_out})
    table = replace(table, frame=rows, told=(*table.told, *totals, *gone))
    if form.turned and of_folder and form.turned not in table.frame:
        form = replace(form, turned="")  # another part's
    if form.turned:
        rows, turns, why = turned(table.frame, form.turned)
        if why:
            raise AnnotationError("bad_option", f"{path}: {why}")
        table = replace(table, frame=rows, told=(*table.told, *turns), written={})
    if followed:
        refuse_absent(path, table.frame, followed)
        raters, unsaid = followed.beside, beside.differing(table.frame, followed.mapping, followed.beside)
        table = _stacked(table, followed.mapping, raters, asked)
        mapping, told, problems = followed.mapping, tuple[str, ...](), tuple(unsaid)
    else:
        said = _as_called_in(table.frame, asked) if of_folder else asked
        found = proposing.propose(table.frame, said, path.stem if frame is None else "")
        if path.is_dir() and not layout and not of_folder:
            refuse_apart(path, table.frame, found.mapping, said)
        other = beside.raters_beside(table.frame, found.mapping, said, bool(form.records))
        raters = other.raters
        unsaid += [*other.problems, *beside.differing(table.frame, found.mapping, raters)]
        if raters:
            table = _stacked(table, found.mapping, raters, said)
            found = proposing.propose(table.frame, said, path.stem if frame is None else "")
        if not layout and not of_folder and not other.problems:  # a file of a folder need not have every rater
            unsaid += _unknown_people(_raters(table.frame, found.mapping), people)
        mapping, told, problems = found.mapping, (*other.told, *found.told), (*unsaid, *found.problems)
        nowhere |= unknown_words((table.frame, table.as_written()), mapping, asked)
        problems = (*(() if of_folder else nowhere.values()), *problems)
    kept = replace(table.form, sheet=form.sheet, decimal=form.decimal, turned=form.turned)
    recipe = Recipe(mapping, kept, layout or options.layout, path.name, people, asked.ignored, raters, left_out)
    numbers, asks = ungrouped(table.frame, table.points_unread(mapping.numbers), form.decimal)
    columns = columns_read(table.as_written(), numbers, mapping, asked, bool(followed))
    if problems := (*table.asks, *asks, *problems):
        return TidyFile(table.frame[:0], recipe, table.as_written(), (*table.told, *told), problems, nowhere, columns)
    made = applying.tidy(numbers, mapping)
    told = (*table.told, *told, *made.told)
    return TidyFile(made.labels, recipe, table.as_written(), told, made.problems, nowhere, columns)


def _stacked(table: Table, mapping: LabelMap, raters: Mapping[str, str], asked: Asked) -> Table:
    """The table with a row for each answer of a rater whose column stands beside rows of others' answers."""
    if not raters:
        return table
    told = f"a row too for each answer in {', '.join(raters)}"
    return replace(table, frame=beside.stacked(table.frame, mapping, raters, asked), told=(*table.told, told))


def _as_called_in(frame: pd.DataFrame, asked: Asked) -> Asked:
    """What is said of a tool's places, such as `vars.question`, under the heads of a table beside its file; nothing of
    a column that holds nothing, which another part of the folder may have."""
    own = {name: name.rpartition(".")[2] for names in asked.columns.values() for name in names if name not in frame}
    called = {name: last for name, last in own.items() if last in frame}
    columns = {part: tuple(called.get(name, name) for name in names) for part, names in asked.columns.items()}
    held = {"", *(str(name) for name in frame if frame[name].ne("").any())}
    has_own = "criterion" in frame  # what is said of all parts is of those that lack it
    constants = {part: word for part, word in asked.constants.items() if part != "criterion" or not has_own}
    columns = {part: names for part, names in columns.items() if {*names} <= held}
    return replace(asked, columns=columns, constants=constants)


def _said(asked: Asked, followed: Recipe | None) -> Said:
    """What the options say of the columns of nested records."""
    named = [name for names in asked.columns.values() for name in names]
    held = list(asked.columns.get("label", ())) if {"rater_id"} & {*asked.columns, *asked.constants} else []
    held += [one for part in ("rater_id", "criterion") for one in asked.columns.get(part, ())[1:]]
    if followed:
        spread = [name for one in followed.mapping.spread for name in one.columns]
        named, held = [*named, *spread, *followed.beside], [*held, *spread]
    return Said(
        named, held, asked.ignored, asked.people, person_of, measures.is_criterion, measures.is_spent, kind_of_name
    )


def read_ours(path: Path, options: Options = NOTHING_SAID, used_only: bool = False) -> pd.DataFrame | None:
    """The labels of a file with our own columns and words, and nothing said about it; None for any other."""
    if not options.is_empty or path.is_dir() or layout_of(path):
        return None
    try:
        frame = read_labels(path, used_only)
    except AnnotationError as error:
        if error.code == "cannot_tidy":  # read_tidy asks it with all else
            return None
        raise
    if not {*REQUIRED} <= {*frame.columns}:
        return None
    if readings.in_our_words(frame):
        frame.attrs["told"] = (*frame.attrs["told"], *readings.unordered(frame))
        return frame
    problems = read_tidy(path).problems  # our columns: what is wrong with a cell is said with its row
    return frame if problems and not any(ASK in one for one in problems) else None


def labels_of_frame(frame: pd.DataFrame, options: Options = NOTHING_SAID) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The labels of a DataFrame, as `labels_of` a file: one with our own columns and words is left as it is.

    Heads of several levels are joined by points, and an index that has a name is a column.
    """
    names = [name for name in frame.index.names if name is not None and name not in frame]
    flat = frame.reset_index(names) if names else frame
    if flat.columns.nlevels > 1:
        flat = flat.set_axis([".".join(filter(None, map(str, head))) for head in flat.columns], axis=1)
    text, twice = roles.as_text(flat)
    is_ours = options.is_empty and {*REQUIRED} <= {*text} and not twice
    if is_ours and readings.in_our_words(text):
        return ours_without_addresses(frame.copy())
    made = without_addresses(_read_one(Path("DataFrame"), options, frame=text))
    if is_ours and made.problems and not any(ASK in one for one in made.problems):
        return frame.copy(), ()
    problems = (*(f"column {name!r} appears twice; rename or remove one" for name in twice), *made.problems)
    if problems:
        raise refusal(Path("DataFrame"), replace(made, problems=problems))
    return made.labels, made.read


def labels_of(
    path: Path, options: Options = NOTHING_SAID, used_only: bool = False
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The labels of any file, and how they were read. Raises AnnotationError `cannot_tidy` with all to say first."""
    return labels_and_readings(path, options, used_only)[:2]


def labels_and_readings(
    path: Path, options: Options, used_only: bool
) -> tuple[pd.DataFrame, tuple[str, ...], tuple[str, ...]]:
    """As `labels_of`, and how they were read without a word of a column, as it may be given away."""
    ours = read_ours(path, options, used_only)
    if ours is not None:
        told = ours.attrs.pop("told")  # which every table made of it would copy
        told = (*told, *filter(None, [ask_of_items(ours, ours[["cluster_id"]])]), *rare_words(ours))
        return *ours_without_addresses(ours, told), ()
    made = read_tidy(path, options)
    if not made.problems:
        short = [name for name in made.labels if name in SHORT]
        return made.labels.astype(dict.fromkeys(short, "category")), made.read, made.to_give_away
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
    return Table(frame, form, told), [
        *([] if leave_out else _unknown_people([*frame["rater_id"].unique()], asked.people, told)),
        *_kinds(frame, asked),
    ]


def _raters(frame: pd.DataFrame, mapping: LabelMap) -> list[str]:
    """Whom a mapping makes raters, as far as it says."""
    (column,) = mapping.columns.get("rater_id", ("",))[:1]
    return [*mapping.kinds] or ([str(one) for one in frame[column].unique()] if column else [])


def _unknown_people(raters: Sequence[str], people: Iterable[str], told: Sequence[str] = ()) -> list[str]:
    """A sentence for each of --people whom no rater is called; nothing where no rater is known yet."""
    absent = [one for one in people if one not in (NOBODY, EVERYBODY) and not called(one, raters)]
    absent = [one for one in absent if raters and not any(f" at {one} " in sentence for sentence in told)]
    near = {one: get_close_matches(one, raters, 3, 0.4) for one in absent}
    return [
        f"{typed('--people', one)}: no rater is called so, and no record holds an answer there (raters: "
        f"{some_of([*near[one], *sorted({*raters} - {*near[one]})], 8)})"
        for one in absent
    ]


def _kinds(frame: pd.DataFrame, asked: Asked) -> list[str]:
    """Fill in who is a person and who a judge where the file leaves it open; else the sentence that asks."""
    blank = frame["rater_kind"] == ""
    kinds = {name: kind_of(name, asked) for name in frame.loc[blank, "rater_id"].unique()}
    frame.loc[blank, "rater_kind"] = frame.loc[blank, "rater_id"].map(kinds)
    if all(kinds.values()):
        return []
    return [ask_who_is_who([name for name, kind in kinds.items() if kind != "judge"])]
