"""What a labels file can support, said before anybody calibrates with it; or whether the database is sound."""

from __future__ import annotations

import math
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from app.commands.printing import JSON, print_json, print_table

if TYPE_CHECKING:
    from calibration.examining import Examination
    from calibration.supporting import Support

SHOWN = 12


def add_to(app: typer.Typer) -> None:
    """Register this file's command."""
    app.command("doctor", rich_help_panel="Results")(doctor)


def doctor(
    file: Path = typer.Argument(
        None, help="A labels file: CSV, JSON Lines or Parquet. Without one, the database is checked.", metavar="[FILE]"
    ),
    as_json: bool = JSON,
) -> None:
    """What a labels file holds, which questions it can answer, and which one column each other question lacks.

    Without a file: whether every rule holds that the database must keep. Writes nothing and repairs nothing.

    Example: calipers doctor labels.csv
    """
    if file is None:
        _examine_database(as_json)
        return
    from app.label_files import read_labels
    from calibration.examining import examine

    found = examine(read_labels(file))
    named = shlex.quote(str(file))
    command = f"calipers calibrate {named} --out report" if found.ready else f"calipers doctor {named}"
    if as_json:
        print_json(_plain(found) | {"file": str(file), "next": command})
    else:
        _say(file, found)
        typer.echo(f"{'next' if found.ready else 'then'}: {command}")
    if not found.ready:
        raise typer.Exit(1)


def _examine_database(as_json: bool) -> None:
    from dataclasses import asdict

    from annotation.soundness import find_faults
    from app.commands.database import opened
    from db.connect import reading

    engine = opened()
    with reading(engine) as session:
        faults = find_faults(session)
    named = engine.url.render_as_string()
    if as_json:
        print_json({"database": named, "sound": not faults, "faults": [asdict(fault) for fault in faults]})
    elif not faults:
        typer.echo(f"{named}: every rule holds")
    for fault in faults if not as_json else ():
        typer.echo(f"broken: {fault.rule}: {fault.places} places, first {'; '.join(fault.first)}")
    if faults and not as_json:
        typer.echo("nothing was repaired; keep a copy of the database and report what led here")
    if faults:
        raise typer.Exit(1)


def _say(file: Path, found: Examination) -> None:
    typer.echo(f"{file}: {found.rows:,} rows, {len(found.columns)} columns\n")
    print_table(
        ("column", "part", "holds", "filled", "distinct", "remark"),
        [
            (one.name, f"{one.role}?" if one.renamed else one.role or None, one.kind, _share(one.filled),
             f"{one.distinct:,}", one.note)
            for one in found.columns
        ],
        numbers=("filled", "distinct"),
    )  # fmt: skip
    if found.repeats:
        rows = found.repeats
        sizes = f"{rows.most}" if rows.fewest == rows.most else f"{rows.fewest} to {rows.most}, median {rows.median:g}"
        again = (
            f"{rows.doubled:,} answer again, first in row {rows.first_row}" if rows.doubled else "none answers again"
        )
        typer.echo(f"{rows.items:,} items; rows to an item: {sizes}; of these {again}")
    if found.clusterings:
        typer.echo(
            f"\nWhat could be the cluster (N = {found.rows:,} labels, C clusters); the first is proposed, none assumed"
        )
        print_table(
            ("column", "C", "N/C", "remark"),
            [
                (one.column, f"{one.clusters:,}", f"{one.labels_per_cluster:.1f}", one.note)
                for one in found.clusterings[:SHOWN]
            ],
            numbers=("C", "N/C"),
        )  # fmt: skip
    if found.joins:
        typer.echo("Rows without a partner on item and criterion")
        sides = ("people's rows without it", "its rows without people", "people's rows beside it")
        print_table(
            ("judge", *sides),
            [
                (one.judge, f"{one.human_rows_alone:,}", f"{one.judge_rows_alone:,}", f"{one.mates:,}")
                for one in found.joins[:SHOWN]
            ],
            numbers=sides,
        )  # fmt: skip
        _rest(len(found.joins), "judges")
    if found.orientation:
        one = found.orientation
        share = "unknown" if math.isnan(one.a_is_stronger) else f"in {100 * one.a_is_stronger:.0f} % of pairs"
        typer.echo(f"A is the stronger system: {share}. {one.note}".rstrip() + "\n")
    if found.words:
        typer.echo("Words outside the vocabulary")
        print_table(
            ("word", "in", "rows", "first row", "remark"),
            [
                (repr(one.word), f"{one.column} of {one.criterion}" if one.criterion else one.column, f"{one.count:,}",
                 one.first_row, one.meaning)
                for one in found.words[:SHOWN]
            ],
            numbers=("rows", "first row"),
        )  # fmt: skip
        _rest(len(found.words), "words")
    typer.echo("Which questions the file can answer")
    print_table(
        ("question", "", "remark"),
        [(one.question, "yes" if one.supported else "no", _remark(one)) for one in found.supports],
    )
    for number, step in enumerate(found.steps, start=1):
        typer.echo(f"{number}. {step}")
    for advice in found.advice:
        typer.echo(f"note: {advice}")


def _remark(one: Support) -> str:
    return f"column {one.missing}: {one.note}" if one.missing else one.note


def _rest(count: int, what: str) -> None:
    if count > SHOWN:
        typer.echo(f"and {count - SHOWN} more {what} (all of them with --json)\n")


def _share(value: float) -> str:
    """Never 100 % of what has gaps: the share is rounded down."""
    return "–" if math.isnan(value) else f"{math.floor(100 * value + 1e-9)} %"


def _plain(found: Examination) -> dict[str, object]:
    from dataclasses import asdict

    def finite(value: object) -> object:
        if isinstance(value, float) and math.isnan(value):
            return None
        if isinstance(value, dict):
            return {key: finite(inner) for key, inner in value.items()}
        return [finite(inner) for inner in value] if isinstance(value, list | tuple) else value

    return {name: finite(value) for name, value in asdict(found).items()}
