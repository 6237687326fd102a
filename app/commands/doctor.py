"""What a labels file can support, said before anybody calibrates with it; or whether the database is sound."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from app.commands import opening, printing, tidying

if TYPE_CHECKING:
    from annotation.judges.money.ledger import BillCheck
    from annotation.judges.money.queue_rules import Fault
    from calibration.examining import examining, findings
    from calibration.table.roles import Column
    from calipers.joined_parts import TidyFile
    from calipers.tidy_files import Options

SHOWN, SHOWN_PLACES = 12, 5
COUNTED = "(the header is row 1)"


def doctor(
    file: Path = typer.Argument(
        None, help="A file of labels in any form. Without one, the database is checked.", metavar="[FILE]"
    ),
    write: Path = typer.Option(
        None, help="Where the labels are written that the file is read as; the mapping beside it, as NAME.mapping.toml."
    ),
    map_: list[str] = tidying.MAP,
    map_label: list[str] = tidying.MAP_LABEL,
    labels_are: str = tidying.LABELS_ARE,
    people: list[str] = tidying.PEOPLE,
    read: list[str] = tidying.READ,
    layout: str = tidying.LAYOUT,
    mapping: Path = tidying.MAPPING,
    acknowledged: Path = typer.Option(
        None, help="Of a database: a file of acknowledged client_uuid, one a line; each must be stored once."
    ),
    provider: Path = typer.Option(
        None, help='Of a database: the provider\'s bill, a reply a line as {"model": "…", "in": 1200, "out": 90}.'
    ),
    as_json: bool = printing.JSON,
) -> None:
    """What a labels file can answer; or if the database is sound.

    Prints what its columns hold, which questions it can answer, and which one column each other question lacks. A file
    of other columns or words gets a mapping, with examples and ten rows before and after; --write makes the labels.

    Without a file: whether every rule holds that the database must keep; nothing is written then, and nothing repaired.

    Example: calipers doctor labels.csv
    Example: calipers doctor votes.xlsx --write labels.csv
    """
    if file is None:
        _examine_database(acknowledged, provider, as_json)
        return
    if acknowledged or provider:
        raise typer.BadParameter("--acknowledged and --provider are about the database; give no labels file then")
    from calibration.examining import examining
    from calipers.tidy_files import read_ours

    options = tidying.options_of(map_, map_label, people, read, labels_are, layout, mapping)
    ours = read_ours(file, options)
    if ours is None or write is not None:
        said = tidying.typed_again(map_, map_label, people, read, labels_are, layout, mapping)
        _doctor_mapped(file, options, write, as_json, f"{shlex.quote(str(file))}{said}")
        return
    examined = examining.examine(ours)
    command = f"calipers calibrate {shlex.quote(str(file))} --out report"
    if as_json:
        printing.print_json(asdict(examined) | {"file": str(file), "next": command})
    else:
        _say(file, examined)
        tidying.say_reading(ours.attrs["told"])
        typer.echo(f"next: {_after(examined)}{command}")
    if not examined.ready:
        raise typer.Exit(1)


def _doctor_mapped(file: Path, options: Options, write: Path | None, as_json: bool, typed: str) -> None:
    """A file of other columns or words: its mapping, what is to be said first, and the labels it becomes. `typed`: the
    file and its options as a shell takes them.
    """
    from calibration.examining import examining
    from calipers.tidy_files import read_tidy

    made = read_tidy(file, options)
    examined = None if made.problems else examining.examine(made.labels)
    steps = made.problems if examined is None else examined.steps
    if as_json:
        printing.print_json({
            "file": str(file), "rows": len(made.before), "told": made.told, "mapping": asdict(made.recipe.mapping),
            "problems": steps, "labels": None if examined is None else asdict(examined), "ready": not steps,
        })  # fmt: skip
    else:
        printing.echo(f"{file}: {len(made.before):,} rows, {made.before.shape[1]} columns\n")
        tidying.say_mapping(made)
        if examined is None:
            printing.echo(f"\nTo be said first ({len(steps)})")
            for number, problem in enumerate(steps, start=1):
                printing.echo(f"{number}. {problem}")
        else:
            tidying.say_before_and_after(made)
            _say(file, examined, of_labels=True)
    if examined is not None:
        _offer(made, file, write, as_json, _after(examined), typed)
    elif not as_json:
        typer.echo(f"next: calipers doctor {typed} with what is said above")
    if steps:
        raise typer.Exit(1)


def _after(examined: examining.Examination) -> str:
    """What has to be done in the file before the next command works; "" where it works as it is."""
    steps = "step 1" if len(examined.steps) == 1 else f"steps 1 to {len(examined.steps)}"
    return "" if examined.ready else f"{steps} above, in the file; then: "


def _offer(made: TidyFile, file: Path, write: Path | None, as_json: bool, before: str, typed: str) -> None:
    """Write the labels where it was asked for, or say yes at the prompt; else say how. `before`: what is to be done."""
    if write is None and not as_json and sys.stdin.isatty() and sys.stdout.isatty():
        proposed = file.with_name(f"{file.stem}-labels.csv")
        write = proposed if typer.confirm(f"Write these labels to {proposed}?") else None
    if write is not None:
        kept = tidying.write_tidy(made, file, write)
        if not as_json:
            tidying.say_written(made, write, kept)
            typer.echo(f"next: {before}calipers calibrate {shlex.quote(str(write))} --out report")
    elif not as_json:
        typer.echo(
            f"next: {before}calipers calibrate {typed} --out report, or first: "
            f"calipers doctor {typed} --write labels.csv"
        )


def _examine_database(acknowledged: Path | None, provider: Path | None, as_json: bool) -> None:
    from annotation.facts.soundness import acknowledged_faults, find_faults
    from annotation.judges.money.ledger import check_bill, read_bill

    ids = [] if acknowledged is None else _text(acknowledged).split()
    bill = None if provider is None else read_bill(_text(provider).splitlines(), str(provider))
    engine = opening.opened()
    with opening.reading(engine) as session:
        faults = find_faults(session) + acknowledged_faults(session, ids)
        checked = None if bill is None else check_bill(session, bill)
    faults += checked.faults if checked else ()
    named = engine.url.render_as_string()
    if as_json:
        told: dict[str, object] = {
            "database": named,
            "sound": not faults,
            "faults": [asdict(fault) for fault in faults],
        }
        told |= {} if acknowledged is None else {"acknowledged": len(set(ids))}
        printing.print_json(told | ({} if checked is None else {"provider": asdict(checked)}))
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
        printing.echo(f"broken: {fault.rule}: {fault.places} places, first {'; '.join(fault.first[:SHOWN_PLACES])}")
    if faults:
        typer.echo("nothing was repaired; keep a copy of the database and report what led here")


def _say(file: Path, examined: examining.Examination, of_labels: bool = False) -> None:
    if not of_labels:
        printing.echo(f"{file}: {examined.rows:,} rows, {len(examined.columns)} columns\n")
        _say_columns(examined.columns)
    if examined.repeats:
        _say_repeats(examined.repeats)
    if examined.clusterings:
        _say_clusterings(examined.rows, examined.clusterings)
    if examined.joins:
        _say_joins(examined.joins)
    if examined.orientation:
        _say_orientation(examined.orientation)
    if examined.words:
        _say_words(examined.words)
    printing.echo("Which questions the file can answer")
    printing.print_table(
        ("question", "", "remark"),
        [(support.question, "yes" if support.supported else "no", _remark(support)) for support in examined.supports],
    )
    for number, step in enumerate(examined.steps, start=1):
        printing.echo(f"{number}. {step}")
    for advice in examined.advice:
        printing.echo(f"note: {advice}")


def _say_columns(columns: Sequence[Column]) -> None:
    printing.print_table(
        ("column", "part", "holds", "filled", "distinct", "remark"),
        [
            (column.name, f"{column.role}?" if column.renamed else column.role or None, column.kind,
             _share(column.filled), f"{column.distinct:,}", column.note)
            for column in columns
        ],
        numbers=("filled", "distinct"),
    )  # fmt: skip


def _say_repeats(rows: findings.Repeats) -> None:
    sizes = f"{rows.most}" if rows.fewest == rows.most else f"{rows.fewest} to {rows.most}, median {rows.median:g}"
    again = f"{rows.doubled:,} answer again, first in row {rows.first_row} {COUNTED}" if rows.doubled else "none again"
    printing.echo(f"{rows.items:,} items; rows to an item: {sizes}; of these {again}")


def _say_clusterings(rows: int, clusterings: Sequence[findings.Clustering]) -> None:
    printing.echo(f"\nWhat could be the cluster (N = {rows:,} labels, C clusters); the first is proposed, none assumed")
    printing.print_table(
        ("column", "C", "N/C", "remark"),
        [
            (clustering.column, f"{clustering.clusters:,}", f"{clustering.labels_per_cluster:.1f}", clustering.note)
            for clustering in clusterings[:SHOWN]
        ],
        numbers=("C", "N/C"),
    )  # fmt: skip


def _say_joins(joins: Sequence[findings.Join]) -> None:
    printing.echo("Rows without a partner on item and criterion")
    sides = ("people's rows without it", "its rows without people", "people's rows beside it")
    printing.print_table(
        ("judge", *sides),
        [
            (join.judge, f"{join.human_rows_alone:,}", f"{join.judge_rows_alone:,}", f"{join.mates:,}")
            for join in joins[:SHOWN]
        ],
        numbers=sides,
    )  # fmt: skip
    _rest(len(joins), "judges")


def _say_orientation(orientation: findings.Orientation) -> None:
    share = (
        "unknown" if math.isnan(orientation.a_is_stronger) else f"in {100 * orientation.a_is_stronger:.0f} % of pairs"
    )
    printing.echo(f"A is the stronger system: {share}. {orientation.note}".rstrip() + "\n")


def _say_words(words: Sequence[findings.OddWord]) -> None:
    printing.echo(f"Words outside the vocabulary {COUNTED}")
    printing.print_table(
        ("word", "in", "rows", "first row", "remark"),
        [
            (repr(word.word), f"{word.column} of {word.criterion}" if word.criterion else word.column,
             f"{word.count:,}", word.first_row, word.meaning)
            for word in words[:SHOWN]
        ],
        numbers=("rows", "first row"),
    )  # fmt: skip
    _rest(len(words), "words")


def _remark(support: examining.Support) -> str:
    return f"column {support.missing}: {support.note}" if support.missing else support.note


def _rest(count: int, what: str) -> None:
    if count > SHOWN:
        printing.echo(f"and {count - SHOWN} more {what} (all of them with --json)\n")


def _share(value: float) -> str:
    """Never 100 % of what has gaps: the share is rounded down."""
    return "–" if math.isnan(value) else f"{math.floor(100 * value + 1e-9)} %"
