"""Each number of the paper beside ours: equal, differs by, or cannot be made and why."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.reproducing.recipes import Number
from app.reproducing.simulating import MARK
from calibration.remarks import brief
from calibration.results import Estimate
from exports.cells import Cell, number
from exports.tables import Column, Table

COLUMNS = (
    Column("place", "In the paper"),
    Column("what", "What"),
    Column("published", "Published"),
    Column("ours", "Ours"),
    Column("standing", "Beside the published"),
    Column("rests_on", "Rests on"),
)


@dataclass(frozen=True)
class Came:
    """What one part came to. `tables`: by name, none where nobody's labels are there.

    `lacking`: why people's labels are not; `simulated`: whose answers were invented.
    """

    tables: Mapping[str, Table]
    lacking: str = ""
    simulated: frozenset[str] = frozenset()


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
    is_simulated = any(part.simulated for part in parts.values())
    reading = (
        "Equal: ours, rounded to the digits that are printed. Brackets: 95 % intervals over whole topics; the paper "
        "prints none.",
        *(["Simulated: answers of people who do not exist; they say nothing about a judge."] * is_simulated),
        *notes,
    )
    return Table("reproduced", f"{title}, from its public files", COLUMNS, tuple(rows), reading)


def _row(asked: Number, part: Came) -> tuple[Cell, ...]:
    ours = found_in(part.tables, asked)
    invented = [who for who in asked.needs if who in part.simulated]
    basis = "" if ours is None else f"simulated {' and '.join(invented)}" if invented else "public files"
    told = standing(asked, ours, part.lacking if "people" in asked.needs else "", is_simulated=bool(invented))
    return asked.place, asked.what, asked.published or "unknown", ours, told, basis


def _row_of_sum(one: OwnSum) -> tuple[Cell, ...]:
    printed = f"{one.published:.5f}".removeprefix("0")
    told = beside(printed, one.ours.value)
    return "result files", one.what, printed, one.ours, told, "public files"


def found_in(tables: Mapping[str, Table], asked: Number) -> Estimate | float | None:
    """The cell of ours, times what the paper multiplies by; None where no such row or column is there."""
    table = tables.get(asked.table)
    places = {column.key.replace(MARK, ""): place for place, column in enumerate(table.columns)} if table else {}
    if table is None or asked.column not in places:
        return None
    row = next((row for row in table.rows if _fits(row, asked.row)), None)
    cell = row[places[asked.column]] if row else None
    if isinstance(cell, Estimate):
        value, low, high = (asked.times * one for one in (cell.value, cell.low, cell.high))
        return replace(cell, value=value, low=low, high=high)
    return asked.times * cell if isinstance(cell, int | float) else None


def _fits(row: Sequence[Cell], asked: Sequence[str]) -> bool:
    names = (str(cell).replace(MARK, "").casefold() for cell in row)
    return all(want in ("*", name) for name, want in zip(names, asked, strict=False))


def standing(asked: Number, ours: Estimate | float | None, lacking: str, *, is_simulated: bool = False) -> str:
    """The comparison in words. An undefined value is as good as none, and its reason is told."""
    value = ours.value if isinstance(ours, Estimate) else ours
    if value is None or math.isnan(value):
        lack = ours.lack if isinstance(ours, Estimate) else None
        if lack:
            return f"cannot be made: {brief(lack)}; it takes {asked.lacking}"
        return f"cannot be made: {lacking}" if lacking else f"cannot be made without {asked.lacking}"
    if is_simulated:
        return "simulated, and comparable with nothing"
    if not asked.published:
        return "made; the published number is unknown to us"
    within = isinstance(ours, Estimate) and ours.low <= float(asked.published) <= ours.high
    told = beside(asked.published, value)
    return told if told == "equal" or not within else f"{told}, within our interval"


def beside(published: str, ours: float) -> str:
    """`equal` where ours rounds to what is printed, else by how much it differs, in the digits that are printed."""
    digits = len(published.partition(".")[2])
    difference = round(ours, digits) - float(published)
    if round(difference, digits) == 0:
        return "equal"
    return f"differs by {'+' if difference > 0 else ''}{number(difference, digits)}"
