"""What a labels file can support, said before anybody calibrates with it; or whether the database is sound."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from app.commands.printing import JSON, echo, print_json, print_table

if TYPE_CHECKING:
    from annotation.facts.soundness import Fault
    from annotation.judges.billed import BillCheck
    from calibration.reading.examining import Examination
    from calibration.reading.findings import Clustering, Join, OddWord, Orientation, Repeats
    from calibration.reading.roles import Column
    from calibration.reading.supporting import Support

SHOWN, SHOWN_PLACES = 12, 5
COUNTED = "(the header is row 1)"


def add_to(app: typer.Typer) -> None:
    """Register this file's command."""
    app.command("doctor")(doctor)


def doctor(
    file: Path = typer.Argument(
        None, help="A labels file: CSV, JSON Lines or Parquet. Without one, the database is checked.", metavar="[FILE]"
    ),
    acknowledged: Path = typer.Option(
        None, help="Of a database: a file of acknowledged client_uuid, one a line; each must be stored once."
    ),
    provider: Path = typer.Option(
        None, help='Of a database: the provider\'s bill, a reply a line as {"model": "…", "in": 1200, "out": 90}.'
    ),
    as_json: bool = JSON,
) -> None:
    """What a labels file can answer; or if the database is sound.

    Prints what its columns hold, which questions it can answer, and which one column each other question lacks.

    Without a file: whether every rule holds that the database must keep. Writes nothing and repairs nothing.

    Example: calipers doctor labels.csv
    """
    if file is None:
        _examine_database(acknowledged, provider, as_json)
        return
    if acknowledged or provider:
        raise typer.BadParameter("--acknowledged and --provider are about the database; give no labels file then")
    from dataclasses import asdict

    from app.label_files import read_labels
    from calibration.reading.examining import examine

    found = examine(read_labels(file))
    command = f"calipers calibrate {shlex.quote(str(file))} --out report"
    if as_json:
        print_json(asdict(found) | {"file": str(file), "next": command})
    else:
        _say(file, found)
        steps = "step 1" if len(found.steps) == 1 else f"steps 1 to {len(found.steps)}"
        typer.echo(f"next: {'' if found.ready else f'{steps} above, in the file; then: '}{command}")
    if not found.ready:
        raise typer.Exit(1)


def _examine_database(acknowledged: Path | None, provider: Path | None, as_json: bool) -> None:
    from dataclasses import asdict

    from annotation.facts.acknowledged import acknowledged_faults
    from annotation.facts.soundness import find_faults
    from annotation.judges.billed import check_bill, read_bill
    from app.commands.database import opened
    from db.connect import reading

    ids = [] if acknowledged is None else _text(acknowledged).split()
    bill = None if provider is None else read_bill(_text(provider).splitlines(), str(provider))
    engine = opened()
    with reading(engine) as session:
        faults = find_faults(session) + acknowledged_faults(session, ids)
        checked = None if bill is None else check_bill(session, bill)
    faults += checked.faults if checked else ()
    named = engine.url.render_as_string()
    if as_json:
        told: dict[str, object] = {"database": named, "sound": not faults, "faults": [asdict(one) for one in faults]}
        told |= {} if acknowledged is None else {"acknowledged": len(set(ids))}
        print_json(told | ({} if checked is None else {"provider": asdict(checked)}))
    else:
        _say_database(named, faults, None if acknowledged is None else len(set(ids)), checked)
    if faults:
        raise typer.Exit(1)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")  # what is no text is no id and no reply, and is named so


def _say_database(named: str, faults: Sequence[Fault], acknowledged: int | None, checked: BillCheck | None) -> None:
    if not faults:
        typer.echo(f"{named}: every rule holds")
    if acknowledged is not None:
        typer.echo(f"{acknowledged:,} acknowledged ids were looked for")
    if checked is not None:
        cost = "of unknown price" if checked.usd is None else f"{checked.usd:.4f} USD"
        typer.echo(
            f"{checked.billed:,} replies billed; {checked.stored:,} stored, {cost}; {checked.unstored:,} never arrived "
            f"(of {checked.unknown:,} tries whose cost nobody knows)"
        )
    for fault in faults:
        echo(f"broken: {fault.rule}: {fault.places} places, first {'; '.join(fault.first[:SHOWN_PLACES])}")
    if faults:
        typer.echo("nothing was repaired; keep a copy of the database and report what led here")


def _say(file: Path, found: Examination) -> None:
    echo(f"{file}: {found.rows:,} rows, {len(found.columns)} columns\n")
    _say_columns(found.columns)
    if found.repeats:
        _say_repeats(found.repeats)
    if found.clusterings:
        _say_clusterings(found.rows, found.clusterings)
    if found.joins:
        _say_joins(found.joins)
    if found.orientation:
        _say_orientation(found.orientation)
    if found.words:
        _say_words(found.words)
    echo("Which questions the file can answer")
    print_table(
        ("question", "", "remark"),
        [(one.question, "yes" if one.supported else "no", _remark(one)) for one in found.supports],
    )
    for number, step in enumerate(found.steps, start=1):
        echo(f"{number}. {step}")
    for advice in found.advice:
        echo(f"note: {advice}")


def _say_columns(columns: Sequence[Column]) -> None:
    print_table(
        ("column", "part", "holds", "filled", "distinct", "remark"),
        [
            (one.name, f"{one.role}?" if one.renamed else one.role or None, one.kind, _share(one.filled),
             f"{one.distinct:,}", one.note)
            for one in columns
        ],
        numbers=("filled", "distinct"),
    )  # fmt: skip


def _say_repeats(rows: Repeats) -> None:
    sizes = f"{rows.most}" if rows.fewest == rows.most else f"{rows.fewest} to {rows.most}, median {rows.median:g}"
    again = f"{rows.doubled:,} answer again, first in row {rows.first_row} {COUNTED}" if rows.doubled else "none again"
    echo(f"{rows.items:,} items; rows to an item: {sizes}; of these {again}")


def _say_clusterings(rows: int, clusterings: Sequence[Clustering]) -> None:
    echo(f"\nWhat could be the cluster (N = {rows:,} labels, C clusters); the first is proposed, none assumed")
    print_table(
        ("column", "C", "N/C", "remark"),
        [
            (one.column, f"{one.clusters:,}", f"{one.labels_per_cluster:.1f}", one.note)
            for one in clusterings[:SHOWN]
        ],
        numbers=("C", "N/C"),
    )  # fmt: skip


def _say_joins(joins: Sequence[Join]) -> None:
    echo("Rows without a partner on item and criterion")
    sides = ("people's rows without it", "its rows without people", "people's rows beside it")
    print_table(
        ("judge", *sides),
        [
            (one.judge, f"{one.human_rows_alone:,}", f"{one.judge_rows_alone:,}", f"{one.mates:,}")
            for one in joins[:SHOWN]
        ],
        numbers=sides,
    )  # fmt: skip
    _rest(len(joins), "judges")


def _say_orientation(one: Orientation) -> None:
    share = "unknown" if math.isnan(one.a_is_stronger) else f"in {100 * one.a_is_stronger:.0f} % of pairs"
    echo(f"A is the stronger system: {share}. {one.note}".rstrip() + "\n")


def _say_words(words: Sequence[OddWord]) -> None:
    echo(f"Words outside the vocabulary {COUNTED}")
    print_table(
        ("word", "in", "rows", "first row", "remark"),
        [
            (repr(one.word), f"{one.column} of {one.criterion}" if one.criterion else one.column, f"{one.count:,}",
             one.first_row, one.meaning)
            for one in words[:SHOWN]
        ],
        numbers=("rows", "first row"),
    )  # fmt: skip
    _rest(len(words), "words")


def _remark(one: Support) -> str:
    return f"column {one.missing}: {one.note}" if one.missing else one.note


def _rest(count: int, what: str) -> None:
    if count > SHOWN:
        echo(f"and {count - SHOWN} more {what} (all of them with --json)\n")


def _share(value: float) -> str:
    """Never 100 % of what has gaps: the share is rounded down."""
    return "–" if math.isnan(value) else f"{math.floor(100 * value + 1e-9)} %"
