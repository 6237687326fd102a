"""Each number of the paper beside ours: equal, differs by, or cannot be made and why."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from annotation.files.decoding import some_of
from app.reproducing.recipes import Number
from app.reproducing.simulating import MARK
from calibration.remarks import brief
from calibration.results import Estimate
from exports.cells import Cell, number
from exports.sheets.leakage import ALL
from exports.tables import COUNTS, Column, Table
from exports.words.notes import remarks

COLUMNS = (
    Column("place", "In the paper"),
    Column("what", "What"),
    Column("published", "Published"),
    Column("ours", "Ours"),
    *COUNTS,
    Column("standing", "Beside the published"),
    Column("rests_on", "Rests on"),
)


@dataclass(frozen=True)
class Came:
    """What one part came to. `tables`: by name, none where nobody's labels are there.

    `lacking`: why people's labels are not; `simulated`: whose answers were invented; `real`: the same tables made
    without these.
    """

    tables: Mapping[str, Table]
    lacking: str = ""
    simulated: frozenset[str] = frozenset()
    real: Mapping[str, Table] = field(default_factory=dict)


@dataclass(frozen=True)
class OwnSum:
    """A sum that the study's result files hold themselves, beside the same made anew of the answers in them."""

    what: str
    published: float
    ours: Estimate


def reproduced_table(
    title: str, numbers: Sequence[Number], parts: Mapping[str, Came], sums: Sequence[OwnSum], notes: Sequence[str]
) -> Table:
    """One row for each number of the paper, then for each sum of its result files."""
    rows: list[tuple[Cell, ...]] = [_row(one, parts.get(one.part, Came({}))) for one in numbers]
    rows += [_row_of_sum(one) for one in sums]
    means = any(isinstance(row[3], float) and not math.isnan(row[3]) for row in rows)
    is_simulated = any(part.simulated for part in parts.values())
    reading = (
        "Equal: ours, rounded to the digits that are printed. Brackets: 95 % intervals over whole topics; the paper "
        "prints none.",
        *remarks(
            ["", "Ours"], [(row[1], row[3]) for row in rows if not isinstance(row[3], Estimate) or not is_none(row[3])]
        ),
        *(["Without brackets: a mean over rows of a part's table, each of which has its interval there."] * means),
        *(["Simulated: answers of people who do not exist; they say nothing about a judge."] * is_simulated),
        *_asked_nowhere(numbers, parts),
        *notes,
    )
    return Table("reproduced", f"{title}, from its public files", COLUMNS, tuple(rows), reading)


def _asked_nowhere(numbers: Sequence[Number], parts: Mapping[str, Came]) -> Iterator[str]:
    """Systems of the files that no row here is about."""
    asked = {name for one in numbers if one.table == "systems" for name in one.row}
    for study, part in parts.items():
        rows = part.tables["systems"].rows if "systems" in part.tables else ()
        if others := [str(row[0]) for row in rows if str(row[0]).casefold() not in asked]:
            yield f"No row here is about {some_of(others, 8)}: {study}/systems has their values."


def _row(asked: Number, part: Came) -> tuple[Cell, ...]:
    """A number rests on invented answers where it cannot be made without them."""
    real = found_in(part.real, asked)
    ours = found_in(part.tables, asked) if is_none(real) else real
    invented = part.simulated if is_none(real) and not is_none(ours) else ()
    basis = f"simulated {' and '.join(sorted(invented))}" if invented else "" if ours is None else "public files"
    told = standing(asked, ours, part.lacking if "people" in asked.needs else "", sought(part.tables, asked))
    told = "simulated, and comparable with nothing" if invented else told
    return asked.place, asked.what, asked.published or "unknown", ours, *_counts(ours), told, basis


def _counts(ours: Estimate | float | None) -> tuple[int | None, int | None]:
    return (ours.n, ours.clusters) if isinstance(ours, Estimate) and not is_none(ours) else (None, None)


def is_none(ours: Estimate | float | None) -> bool:
    """An undefined value is as good as none."""
    return math.isnan(_value(ours))


def _value(ours: Estimate | float | None) -> float:
    return math.nan if ours is None else ours.value if isinstance(ours, Estimate) else ours


def _row_of_sum(one: OwnSum) -> tuple[Cell, ...]:
    printed = f"{one.published:.5f}".removeprefix("0")
    told = beside(printed, one.ours.value)
    return "result files", one.what, printed, one.ours, *_counts(one.ours), told, "public files"


def found_in(tables: Mapping[str, Table], asked: Number) -> Estimate | float | None:
    """The cell of ours, times what the paper multiplies by; None where no such row or column is there.

    Of a `mean` the one over all rows that fit, else the first.
    """
    table = tables.get(asked.table)
    places = {_named(column.key): place for place, column in enumerate(table.columns)} if table else {}
    if table is None or asked.column not in places:
        return None
    cells = [_times(row[places[asked.column]], asked.times) for row in table.rows if _fits(row, asked.row)]
    if asked.mean and len(cells) > 1:
        return sum(map(_value, cells)) / len(cells)
    return cells[0] if cells else None


def _times(cell: Cell, times: float) -> Estimate | float | None:
    if isinstance(cell, Estimate):
        return cell.times(times)
    return times * cell if isinstance(cell, int | float) else None


def _named(cell: object) -> str:
    return str(cell).replace(MARK, "")


def _fits(row: Sequence[Cell], asked: Sequence[str]) -> bool:
    names = (_named(cell).casefold() for cell in row)
    return all(
        want in ("*", name) or (want.startswith("!") and want[1:] != name)
        for name, want in zip(names, asked, strict=False)
    )


def sought(tables: Mapping[str, Table], asked: Number) -> str:
    """Which name of a row or column was sought in vain, and which are there; "" where there is no table."""
    table = tables.get(asked.table)
    if table is None:
        return ""
    rows: Sequence[Sequence[Cell]] = table.rows
    for place, want in enumerate(asked.row):
        there = list(dict.fromkeys(name for row in rows if (name := str(row[place])) != ALL))
        rows = [row for row in rows if _fits(row[place : place + 1], [want])]
        if not rows:
            if want.startswith("!"):
                return ""
            return f"; sought {want!r} among {some_of(there, 8)}"
    keys = [_named(column.key) for column in table.columns]
    return "" if asked.column in keys else f"; sought {asked.column!r} among {some_of(keys[len(asked.row) :], 8)}"


def standing(asked: Number, ours: Estimate | float | None, lacking: str, instead: str = "") -> str:
    """The comparison in words. An undefined value is as good as none, and its reason is told."""
    if is_none(ours):
        lack = ours.lack if isinstance(ours, Estimate) else None
        if lack:
            return f"cannot be made: {brief(lack)}; it takes {asked.lacking}"
        return f"cannot be made: {lacking}" if lacking else f"cannot be made without {asked.lacking}{instead}"
    if not asked.published:
        return "made; the published number is unknown to us"
    within = isinstance(ours, Estimate) and ours.low <= float(asked.published) <= ours.high
    told = beside(asked.published, _value(ours))
    return told if told == "equal" or not within else f"{told}, within our interval"


def beside(published: str, ours: float) -> str:
    """`equal` where ours rounds to what is printed, else by how much it differs, in the digits that are printed."""
    digits = len(published.partition(".")[2])
    difference = round(ours, digits) - float(published)
    if round(difference, digits) == 0:
        return "equal"
    return f"differs by {'+' if difference > 0 else ''}{number(difference, digits)}"
