"""The figure `reliability`: where one judge can be trusted, criterion by category, beside people on the same labels."""

from __future__ import annotations

import math

from calibration.biases.reliability_map import Cell, ReliabilityMap
from exports.cells import shown
from exports.figures import Figure
from exports.plots.theme import FULL_PAGE, INK, INK_SOFT, OKABE_ITO, PAPER, themed, tint
from exports.plots.value_map import NOTHING, Printed, draw_map

NARROW = 0.58  # inches of a column: two values of 8 pt need them
ALL = "all"
DARKEST, FAR_BEHIND = 0.6, 0.25  # the shade of a judge that agrees that much less than people do, or less still


def reliability(found: ReliabilityMap, width: float = FULL_PAGE) -> Figure | None:
    """Each cell `.74 / .80`: the judge, then a left-out annotator; darker is further behind people.

    Criteria are the rows, or the columns where the categories are too many for `width` inches. None where one cell
    would be all there is, or where neither fits. A cell without an interval is grey and not shaded.
    """
    rows = [*found.criteria, *([ALL] * (len(found.criteria) > 1 and found.cell() is not None))]
    columns = [*found.categories, ALL]
    if len(found.criteria) == 1 and not found.categories:
        return None
    printed = {(row, column): _printed(found.cell(row, column)) for row in rows for column in columns}
    with themed():
        canvas = draw_map(rows, columns, printed, width, NARROW, (ALL, ALL))
        if canvas is None:
            turned = {(column, row): one for (row, column), one in printed.items()}
            canvas = draw_map(columns, rows, turned, width, NARROW, (ALL, ALL))
    if canvas is None:
        return None
    cells = [found.cell(row, column) for row in rows for column in columns]
    drawn = tuple(one for cell in cells if cell for one in (cell.agreement, cell.ceiling))
    thin = any(math.isnan(cell.gap.low) and not math.isnan(cell.gap.value) for cell in cells if cell)
    empty = any(cell is None or math.isnan(cell.gap.value) for cell in cells)
    parts = [
        f"Agreement of {found.judge} / of a left-out annotator with the same other annotators, in each criterion and "
        "category of topics",
        "darker is further behind people",
    ]
    parts += ["grey cells have too few clusters for an interval"] * thin + ["a dash has no value"] * empty
    return Figure("reliability", f"{'; '.join(parts)}.", drawn, canvas)


def _printed(cell: Cell | None) -> Printed:
    """The darkest fill still carries the ink with a contrast above 4.5 : 1."""
    if cell is None or math.isnan(cell.gap.value):
        return NOTHING
    text = f"{shown(cell.agreement)[0]} / {shown(cell.ceiling)[0]}"
    if math.isnan(cell.gap.low):
        return Printed(PAPER, text, INK_SOFT)
    behind = min(1.0, max(0.0, cell.gap.value / FAR_BEHIND))
    return Printed(tint(DARKEST * behind, OKABE_ITO[1]), text, INK)
