"""Maps of values, the figures `criteria` and `reliability` among them: every value printed in its place on a shade."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibration.agreement import catalogue, reliability_map
from calibration.results import CalibrationReport, Estimate
from exports.cells import DASH, shown
from exports.figures import EDGE, WIDE, Figure, Names, names_at_left, own_canvas
from exports.plots.names import fitted, width_of
from exports.plots.theme import FULL_PAGE, INK, INK_SOFT, OKABE_ITO, PAPER, TEXT, lettered, themed, tint
from exports.sheets.agreement import agreement, by_criterion
from exports.tables import AMONG
from exports.words.notes import label_agreement_in_caption
from plain.wording import worded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

ROW, THIN_ROW, PAGE = 0.2, 0.15, 7.6  # inches; rows grow thinner before the map outgrows a page
BROAD = 0.62  # inches of a column that has the room
HEAD = 1.3  # inches for a column's name, set upright
LEVEL_HEAD = 0.13
TWO_LINES = 0.3  # inches of a column that has room for two lines set upright
GAP = 0.08


@dataclass(frozen=True)
class Printed:
    """What is in one place: its fill, its text and the ink of that; `below`: a second line."""

    fill: str
    text: str
    ink: str
    bold: bool = False
    below: str = ""


NOTHING = Printed(PAPER, DASH, INK_SOFT)


@dataclass(frozen=True)
class Grid:
    """A map laid out: what is where, and its sizes in inches."""

    rows: Sequence[str]
    columns: Sequence[str]
    printed: Mapping[tuple[str, str], Printed]
    names: Names
    heads: Sequence[str]
    upright: bool
    row: float
    column: float
    head: float
    apart: tuple[str, str]

    @property
    def width(self) -> float:
        """With the names at the left."""
        return self.names.room + GAP + self.across + EDGE

    @property
    def height(self) -> float:
        """With the heads above."""
        return EDGE + self.down + GAP + self.head + 3 * EDGE

    @property
    def across(self) -> float:
        """Of the values alone."""
        return self.column * len(self.columns) + GAP

    @property
    def down(self) -> float:
        """Of the values alone."""
        return self.row * len(self.rows) + GAP * (self.apart[0] in self.rows)

    def draw(self, canvas: Canvas, left: float, low: float, named: bool = True) -> None:
        """Put it on `canvas`, inches from its lower left corner. `named`: with the names of the rows."""
        width, height = canvas.get_size_inches()
        start = left + self.names.room + GAP
        spot = start / width, (low + EDGE) / height, self.across / width, self.down / height
        axes = canvas.add_axes(spot)
        axes.set_xlim(0, self.across)
        axes.set_ylim(self.down, 0)
        axes.axis("off")
        tops = [place * self.row + GAP * (name == self.apart[0]) for place, name in enumerate(self.rows)]
        for place, (name, head) in enumerate(zip(self.columns, self.heads, strict=True)):
            x = place * self.column + GAP * (name == self.apart[1])
            for top, of_row in zip(tops, self.rows, strict=True):
                self._place(axes, x, top, self.printed.get((of_row, name), NOTHING))
            axes.text(
                x + self.column / 2, -GAP, head, rotation=90 if self.upright else 0, ha="center", linespacing=0.95,
                va="bottom" if self.upright else "baseline", color=INK_SOFT if name == self.apart[1] else INK,
            )  # fmt: skip
        if named:
            colours = [INK_SOFT if name == self.apart[0] else INK for name in self.rows]
            self.names.write(canvas, [low + EDGE + self.down - top - self.row / 2 for top in tops], colours, left)

    def _place(self, axes: Axes, x: float, top: float, cell: Printed) -> None:
        from matplotlib.patches import Rectangle

        axes.add_patch(Rectangle((x, top), self.column, self.row, facecolor=cell.fill, edgecolor=PAPER, linewidth=0.8))
        lines = [(cell.text, cell.ink, "bold" if cell.bold else "normal")]
        lines += [(cell.below, cell.ink, "normal")] if cell.below else []
        for line, (text, ink, weight) in enumerate(lines):
            y = top + self.row * (line + 0.5) / len(lines) + (0.012 - 0.024 * line) * (len(lines) - 1)
            axes.text(x + self.column / 2, y, text, ha="center", va="center_baseline", color=ink, weight=weight)


def grid(
    rows: Sequence[str],
    columns: Sequence[str],
    printed: Mapping[tuple[str, str], Printed],
    width: float,
    narrow: float,
    apart: tuple[str, str] = ("", ""),
    heads: Mapping[str, str] | None = None,
    tall: float = ROW,
    room: float = 0.0,
) -> Grid | None:
    """None where columns of `narrow` inches, the least a value needs, do not fit `width`.

    `printed`: by (row, column). `apart`: the row and the column that sum up the others. `heads`: a row or a column in
    other words. `tall`: inches of a row where there is room, and at any rate where values have a second line. `room`:
    inches for the names of rows, where those of any figure are too many.
    """
    said = {name: (heads or {}).get(name, name) for name in (*rows, *columns)}
    names = names_at_left([said[name] for name in rows], width, lines=1, room=room)
    wanted = max(width_of(said[name], TEXT) for name in columns) + 2 * GAP
    column = min(max(BROAD, wanted), (width - names.room - 2 * GAP - EDGE) / len(columns))
    if column < narrow:
        return None
    row = tall if tall > ROW else max(THIN_ROW, min(tall, PAGE / len(rows)))
    upright = wanted - GAP > column
    column = min(column, max(BROAD, narrow)) if upright else column
    above, lines = HEAD if width < WIDE else 1.4 * HEAD, 2 if column > TWO_LINES else 1
    shown = [fitted(said[name], above, TEXT, lines) if upright else said[name] for name in columns]
    head = max(width_of(line, TEXT) for name in shown for line in name.split("\n")) if upright else LEVEL_HEAD
    return Grid(rows, columns, printed, names, shown, upright, row, column, head, apart)


def draw_map(
    rows: Sequence[str],
    columns: Sequence[str],
    printed: Mapping[tuple[str, str], Printed],
    width: float,
    narrow: float,
    apart: tuple[str, str] = ("", ""),
    heads: Mapping[str, str] | None = None,
) -> Canvas | None:
    """A grid alone on a canvas `width` inches wide; None where `grid` is."""
    laid = grid(rows, columns, printed, width, narrow, apart, heads)
    if laid is None:
        return None
    canvas = own_canvas(width, laid.height)
    laid.draw(canvas, 0.0, 0.0)  # where the sentence above it and its caption begin
    return canvas


NARROWEST_VALUE = 0.28  # inches of a column: a value of 8 pt needs them


def criteria_map(report: CalibrationReport, width: float = FULL_PAGE) -> Figure | None:
    """Criteria as rows, judges and the annotators as columns; darker is more agreement.

    None where there is but one criterion, where the report was made without `per_criterion`, or where the columns do
    not fit `width` inches. A value without an interval is grey and not shaded, an undefined one a dash.
    """
    headline = catalogue.HEADLINE[report.settings.ties]
    cells = {(name, rater): agreement(estimates, headline) for name, rater, estimates in by_criterion(report)}
    criteria = list(dict.fromkeys(name for name, _ in cells))
    raters = [rater for rater in dict.fromkeys(rater for _, rater in cells) if rater != AMONG]
    if len(criteria) < 2 or not raters:
        return None
    raters += [AMONG] * any(rater == AMONG for _, rater in cells)
    printed = {place: _printed_agreement(estimate) for place, estimate in cells.items()}
    with themed():
        canvas = draw_map(
            criteria, raters, printed, width, NARROWEST_VALUE, apart=("", AMONG), heads={AMONG: lettered("annotators")}
        )
    if canvas is None:
        return None
    drawn = tuple(estimate for estimate in cells.values() if estimate is not None)
    bare = any(math.isnan(estimate.low) and not math.isnan(estimate.value) for estimate in drawn)
    thin = worded("; grey values have no interval, too few pairs to rank criteria or judges by them") if bare else ""
    dash = (
        worded("; a dash has no value")
        if any(math.isnan(estimate.value) for estimate in drawn) or len(drawn) < len(cells)
        else ""
    )
    caption = worded(
        "Agreement with the annotators on each criterion, darker is more{thin}{dash}; the table has the "
        "intervals{label_agreement_in_caption}.",
        thin=thin, dash=dash, label_agreement_in_caption=label_agreement_in_caption(report),
    )  # fmt: skip
    return Figure("criteria", caption, drawn, canvas)


def _printed_agreement(estimate: Estimate | None) -> Printed:
    """The darkest fill still carries the ink with a contrast above 4.5 : 1."""
    if estimate is None or math.isnan(estimate.value):
        return NOTHING
    text = shown(estimate)[0]
    if math.isnan(estimate.low):
        return Printed(PAPER, text, INK_SOFT)
    return Printed(tint(0.72 * max(0.0, (estimate.value - 0.3) / 0.7)), text, INK)


NARROWEST_CELL = 0.58  # inches of a column: two values of 8 pt need them
ALL = "all"
DARKEST, FAR_BEHIND = 0.6, 0.25  # the shade of a judge that agrees that much less than people do, or less still


def reliability(trusted: reliability_map.ReliabilityMap, width: float = FULL_PAGE) -> Figure | None:
    """Each cell `.74 / .80`: the judge, then a left-out annotator; darker is further behind people.

    Criteria are the rows, or the columns where the categories are too many for `width` inches. None where one cell
    would be all there is, or where neither fits. A cell without an interval is grey and not shaded.
    """
    rows = [*trusted.criteria, *([ALL] * (len(trusted.criteria) > 1 and trusted.cell() is not None))]
    columns = [*trusted.categories, ALL]
    if len(trusted.criteria) == 1 and not trusted.categories:
        return None
    printed = {(row, column): _printed_cell(trusted.cell(row, column)) for row in rows for column in columns}
    with themed():
        canvas = draw_map(rows, columns, printed, width, NARROWEST_CELL, (ALL, ALL), {ALL: lettered(ALL)})
        if canvas is None:
            turned = {(column, row): cell for (row, column), cell in printed.items()}
            canvas = draw_map(columns, rows, turned, width, NARROWEST_CELL, (ALL, ALL), {ALL: lettered(ALL)})
    if canvas is None:
        return None
    cells = [trusted.cell(row, column) for row in rows for column in columns]
    drawn = tuple(estimate for cell in cells if cell for estimate in (cell.agreement, cell.ceiling))
    thin = any(math.isnan(cell.gap.low) and not math.isnan(cell.gap.value) for cell in cells if cell)
    empty = any(cell is None or math.isnan(cell.gap.value) for cell in cells)
    parts = [
        worded(
            "Agreement of {judge} / of a left-out annotator with the same other annotators, in each criterion and "
            "category of topics",
            judge=trusted.judge,
        ),
        worded("darker is further behind people"),
    ]
    parts += [worded("grey cells have too few clusters for an interval")] * thin + [
        worded("a dash has no value")
    ] * empty
    return Figure("reliability", worded("{lead}.", lead=worded("; ").join(parts)), drawn, canvas)


def _printed_cell(cell: reliability_map.Cell | None) -> Printed:
    """The darkest fill still carries the ink with a contrast above 4.5 : 1."""
    if cell is None or math.isnan(cell.gap.value):
        return NOTHING
    text = f"{shown(cell.agreement)[0]} / {shown(cell.ceiling)[0]}"
    if math.isnan(cell.gap.low):
        return Printed(PAPER, text, INK_SOFT)
    behind = min(1.0, max(0.0, cell.gap.value / FAR_BEHIND))
    return Printed(tint(DARKEST * behind, OKABE_ITO[1]), text, INK)
