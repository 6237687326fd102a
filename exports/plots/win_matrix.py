"""The figure `win_matrix`: how often each system wins over each other one, by people and by one judge alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibration.results import CalibrationReport, Estimate
from exports import cells, figures, tables
from exports.plots.names import width_of
from exports.plots.theme import FULL_PAGE, INK, INK_SOFT, PAPER, TEXT, lettered, themed, tint
from exports.plots.value_maps import NOTHING, Grid, Printed, grid
from exports.sheets import ranking, system_pairs
from plain.wording import worded

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NARROW = 0.25  # inches of a column: a bold value of 8 pt needs them
ONE_LINE, TWO_LINES = 0.17, 0.29  # inches of a row without and with a count below each value
TITLE, BETWEEN = 0.08, 0.14  # inches more for a title, and between two matrices
PAGE = 8.4  # inches
NAMES = ((2.0, 1.4), (1.05,))  # inches for a system's name, on a wide and on a narrow figure
DARKEST = 0.72
ITSELF = Printed(PAPER, "", INK)


@dataclass(frozen=True)
class Layout:
    """Matrices beside or above each other. `counted`: whether n is below each value."""

    grids: Sequence[Grid]
    titles: Sequence[str]
    beside: bool
    counted: bool

    @property
    def height(self) -> float:
        """Inches."""
        each = [TITLE + laid.height for laid in self.grids]
        return max(each) if self.beside else sum(each) + BETWEEN * (len(each) - 1)


def win_matrix(report: CalibrationReport, width: float = FULL_PAGE, judge: str = "") -> figures.Figure | None:
    """Rows and columns in the people's order, a matrix by people and one by `judge` (as of the ranking's table).

    Where two do not fit a page they lose the counts, then the judge's; None where one does not fit `width` inches, or
    no two systems met.
    """
    judge = judge or ranking.judge_shown(report)
    systems = system_pairs.systems_in_order(report)
    by = {rater: won for rater in (tables.PEOPLE, judge) if (won := system_pairs.won_by(report, rater))}
    if not by:
        return None
    with themed():
        laid = _laid_out(systems, by, width)
        canvas = _draw_matrix(laid, width) if laid else None
    if laid is None or canvas is None:
        return None
    shown = list(by.values())[: len(laid.grids)]
    drawn = tuple(
        estimate for won in shown for pair, estimate in won.items() if systems.index(pair[0]) < systems.index(pair[1])
    )
    return figures.Figure("win_matrix", _caption(report, laid, [*by][: len(shown)], len(systems), drawn), drawn, canvas)


def _laid_out(systems: Sequence[str], by: Mapping[str, system_pairs.Won], width: float) -> Layout | None:
    """The first that fits, of the fullest first."""
    for titles in ([*by], [*by][:1]):
        for counted in (True, False):
            for beside in (True, False)[len(titles) < 2 :]:
                grids = [_grid(systems, by[title], width, counted, len(titles) if beside else 1) for title in titles]
                layout = Layout([laid for laid in grids if laid], titles, beside, counted)
                if all(grids) and layout.height <= PAGE:
                    return layout
    return None


def _grid(systems: Sequence[str], won: system_pairs.Won, width: float, counted: bool, across: int) -> Grid | None:
    """One matrix in its share of `width`; columns have numbers where names are not above them."""
    numbers = [str(place) for place in range(1, len(systems) + 1)]
    numbered = [f"{number}  {name}" for number, name in zip(numbers, systems, strict=True)]
    for room in NAMES[width < figures.WIDE]:
        for rows, columns in ((systems, systems), (numbered, numbers)):
            printed = {
                (rows[i], columns[j]): ITSELF if i == j else _printed(won[one, other], counted)
                for i, one in enumerate(systems) for j, other in enumerate(systems) if i == j or (one, other) in won
            }  # fmt: skip
            left = figures.names_at_left(rows, width, lines=1, room=room).room
            own, tall = left + (width - left) / across, TWO_LINES if counted else ONE_LINE
            laid = grid(rows, columns, printed, own, NARROW, tall=tall, room=room)
            if laid is not None and not laid.upright:
                return laid
    return None


def _printed(estimate: Estimate, counted: bool) -> Printed:
    """Bold where the interval leaves a half out; the darkest fill still carries the ink."""
    if math.isnan(estimate.value):
        return NOTHING
    text = cells.number(estimate.value, min(2, cells.decimals(estimate)))
    text, below = "1.0" if text == "1.00" else "0" if text == ".00" else text, f"{estimate.n:,}" if counted else ""
    if math.isnan(estimate.low):
        return Printed(PAPER, text, INK_SOFT, below=below)
    return Printed(tint(DARKEST * estimate.value), text, INK, estimate.low > 0.5 or estimate.high < 0.5, below)


def _draw_matrix(laid: Layout, width: float) -> Canvas:
    canvas = figures.own_canvas(width, laid.height)
    top, left = laid.height, 0.0
    for place, (one, title) in enumerate(zip(laid.grids, laid.titles, strict=True)):
        one.draw(canvas, left, top - TITLE - one.height, named=not (laid.beside and place))
        full = lettered("by people") if title == tables.PEOPLE else lettered("by {judge} alone", judge=title)
        fits = width_of(full, TEXT) <= one.across or title == tables.PEOPLE
        said = full if fits else lettered("by the judge")  # the caption says which
        at = (left + one.names.room + 0.08) / width, (top - figures.EDGE) / laid.height
        canvas.text(*at, said, va="top", ha="left", color=INK_SOFT)
        if laid.beside:
            left += one.across + BETWEEN
        else:
            top -= TITLE + one.height + BETWEEN
    return canvas


def _caption(
    report: CalibrationReport, laid: Layout, titles: Sequence[str], systems: int, drawn: Sequence[Estimate]
) -> str:
    spread, clusters = cells.spread(one.n for one in drawn), report.labels.clusters
    raters = (worded("by people") if one == tables.PEOPLE else worded("by {judge} alone", judge=one) for one in titles)
    by = worded(" and ").join(raters)
    n = worded("({spread} comparisons, {clusters:,} clusters)", spread=spread, clusters=clusters)
    parts = [
        worded(
            "Share of comparisons that the system of a row wins over that of a column, {by}",
            by=by,
        ),
        worded("a tie is half a win, darker is more"),
        worded("below each share its n {n}", n=n) if laid.counted else worded("n of each in the table {n}", n=n),
    ]
    if any(not math.isnan(estimate.low) for estimate in drawn):
        parts.append(worded("bold: the {level:g} % interval leaves .5 out", level=100 * report.settings.level))
    parts += [worded("grey: no interval")] * any(math.isnan(estimate.low) for estimate in drawn)
    parts += [worded("a dash: the two never met")] * (len(drawn) < len(titles) * systems * (systems - 1) // 2)
    return worded("{lead}.", lead=worded("; ").join(parts))
