"""Any file of answers made into labels.csv, its mapping kept beside it; and the options that say how one is read."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from annotation.errors import AnnotationError
from app.commands import completing, printing

if TYPE_CHECKING:
    import pandas as pd

    from calipers.joined_parts import TidyFile
    from calipers.tidy_files import Options

HOW_READ = "How another tool's file is read"
LAYOUTS = (
    "inspect", "promptfoo", "deepeval", "mlflow", "langfuse", "langsmith", "phoenix", "openai_evals", "label_studio",
    "argilla", "potato", "prodigy", "alpaca_eval", "mt_bench", "judge_bench", "judgebench", "pandalm", "llmbar",
    "summeval",
)  # fmt: skip
ROWS, WIDE, CELL = 10, 8, 24  # rows and columns of a table that is shown, and characters of a cell
MAP = typer.Option(
    [],
    "--map",
    help="PART=COLUMN, PART=ONE+OTHER or PART==VALUE, such as label=vote.winner; ignore=ONE+OTHER.",
    rich_help_panel=HOW_READ,
)
MAP_LABEL = typer.Option(
    [],
    "--map-label",
    help="WORD=OURS, such as 1=A,2=B,0=tie; or a status: missing; or answer, as it stands. COLUMN:WORD=invalid is of "
    "a column of statuses, COLUMN:WORD=ignore leaves its rows out.",
    rich_help_panel=HOW_READ,
)
LABELS_ARE = typer.Option(
    "", "--labels-are", help="verdicts, sides, systems, scores or words, where a file leaves it open.",
    rich_help_panel=HOW_READ, autocompletion=completing.among("verdicts", "sides", "systems", "scores", "words"),
)  # fmt: skip
PEOPLE = typer.Option(
    [], "--people", help="NAME,NAME: raters who are people; the others are judges.", rich_help_panel=HOW_READ
)
READ = typer.Option(
    [],
    "--read",
    help="encoding=, separator=, decimal=, sheet= or records= (lists in JSON, A+B), where they are not found out; "
    "turned=COLUMN of raters where each row is one.",
    rich_help_panel=HOW_READ,
)
LAYOUT = typer.Option(
    "", "--layout", help=f"The tool that wrote it, where it is not found out: {', '.join(LAYOUTS)}; table: none.",
    rich_help_panel=HOW_READ, autocompletion=completing.among(*LAYOUTS, "table"),
)  # fmt: skip
MAPPING = typer.Option(
    None, "--mapping", help="A mapping that doctor or tidy kept: followed as it stands.", rich_help_panel=HOW_READ
)


def typed_again(
    columns: Sequence[str], words: Sequence[str], people: Sequence[str], read: Sequence[str], labels_are: str = "",
    layout: str = "", mapping: Path | None = None,
) -> str:  # fmt: skip
    """The options by which a file is read as a shell takes them, so that the next command can be pasted."""
    several = {"--map": columns, "--map-label": words, "--people": people, "--read": read}
    once = {"--labels-are": labels_are, "--layout": layout, "--mapping": str(mapping or "")}
    given = [(name, one) for name, values in several.items() for one in values] + [
        *filter(lambda one: one[1], once.items())
    ]
    return "".join(f" {name} {shlex.quote(value)}" for name, value in given)


def tidy(
    file: Path = typer.Argument(..., help="A file of answers in any form, or a folder of them."),
    out: Path = typer.Option(..., help="Where the labels are written; the mapping beside it, as NAME.mapping.toml."),
    map_: list[str] = MAP,
    map_label: list[str] = MAP_LABEL,
    labels_are: str = LABELS_ARE,
    people: list[str] = PEOPLE,
    read: list[str] = READ,
    layout: str = LAYOUT,
    mapping: Path = MAPPING,
    as_json: bool = printing.JSON,
) -> None:
    """Any table of answers as a labels.csv.

    Finds out which columns hold what, how answers are written and what names an item; says all of it, and asks all at
    once where two readings are possible. The mapping is kept beside the labels, to be followed again with --mapping.

    Example: calipers tidy votes.xlsx --out labels.csv
    Example: calipers tidy logs/run.eval --layout inspect --out labels.csv
    Example: calipers tidy votes.jsonl --map label=vote.winner,rater_id=vote.by --out labels.csv
    """
    from calibration.errors import CalibrationError
    from calibration.examining.findings import ask_of_items
    from calibration.table.checking import check_verdicts
    from calibration.tidying.readings import in_our_words
    from calipers.tidy_files import read_tidy, refusal

    made = read_tidy(file, options_of(map_, map_label, people, read, labels_are, layout, mapping))
    if made.problems:
        raise refusal(file, made)
    try:  # what calibrate would refuse is not written
        check_verdicts(made.labels)
    except CalibrationError as error:
        raise AnnotationError("cannot_tidy", f"{file}: the labels made of it are refused: {error.text}") from None
    kept = write_tidy(made, file, out)
    scores = "" if in_our_words(made.labels) else " --labels-are scores"  # 1 and 2, which another head said to be such
    command = f"calipers calibrate {shlex.quote(str(out))}{scores} --out report"
    if as_json:
        printing.print_json(
            {"file": str(file), "rows": len(made.labels), "told": made.told, "labels": str(out),
             "mapping": None if kept is None else str(kept), "next": command}
        )  # fmt: skip
    else:
        say_reading(made.told)
        say_written(made, out, kept)
        typer.echo(f"next: {command}")
    if ask_of_items(made.labels, made.labels[["item_id"]]):  # said above: no judge can be compared with people
        raise typer.Exit(1)


def say_written(made: TidyFile, out: Path, kept: Path | None) -> None:
    """Where the labels are, and the mapping, or why none is kept."""
    mapping = f", the mapping to {kept}" if kept else f"; no one mapping makes those of {', '.join(made.parts)}"
    typer.echo(f"{len(made.labels):,} labels written to {out}{mapping}")


def write_tidy(made: TidyFile, file: Path, out: Path) -> Path | None:
    """Write the labels to `out`, and the mapping beside it, whose path is returned; None where no one mapping makes
    them."""
    from app.files.whole_files import whole_file
    from calipers.mapping_files import recipe_text
    from plain.spreadsheets import guarded

    if out.suffix.lower() != ".csv":
        raise AnnotationError("bad_option", f"{out}: labels are written as a CSV; give a name that ends in .csv")
    if out.exists() and out.resolve() == file.resolve():
        raise AnnotationError("bad_option", f"{out}: is the file that is read; give the labels another name")
    with whole_file(out) as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(made.labels.columns)
        writer.writerows([guarded(cell) for cell in row] for row in made.labels.itertuples(index=False, name=None))
    if made.parts:
        return None
    kept = out.with_suffix(".mapping.toml")
    with whole_file(kept) as text:
        text.write(recipe_text(made.recipe))
    return kept


def say_reading(told: Sequence[str]) -> None:
    """How a file was read, a line each."""
    for sentence in told:
        printing.echo(f"read: {sentence}")


def say_mapping(made: TidyFile) -> None:
    """Which column holds what, how that is known, and what was taken for granted."""
    printing.print_table(
        ("column", "is read as", "known", "holds", "may be"),
        [(one.name, one.part or None, one.known, one.holds, one.may_be) for one in made.columns],
    )
    for part, value in made.recipe.mapping.constants.items():
        printing.echo(f"{part} is {value!r} in every row")
    say_reading(made.told)


def say_before_and_after(made: TidyFile) -> None:
    """Ten rows of the table as it is, and the labels made of them."""
    printing.echo(f"\nThe first rows as they are ({len(made.before):,} rows)")
    _say_rows(made.before)
    printing.echo(f"The first labels made of them ({len(made.labels):,} labels)")
    _say_rows(made.labels)


def _say_rows(frame: pd.DataFrame) -> None:
    shown = frame.iloc[:ROWS, :WIDE].astype("str")
    rows: list[list[Any]] = [[_short(cell) for cell in row] for row in shown.itertuples(index=False, name=None)]
    printing.print_table([str(name) for name in shown], rows)
    if frame.shape[1] > WIDE:
        printing.echo(f"and {frame.shape[1] - WIDE} more columns\n")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= CELL else f"{text[: CELL - 1]}…"


def options_of(
    columns: Sequence[str], words: Sequence[str], people: Sequence[str], read: Sequence[str], labels_are: str = "",
    layout: str = "", mapping: Path | None = None,
) -> Options:  # fmt: skip
    """The options as they were typed; nothing of pandas is imported before they are."""
    from calipers import tidy_files

    return tidy_files.options_of(columns, words, people, read, labels_are, layout, mapping)
