"""The figure `criteria`: agreement of each judge on each criterion, every value printed in its place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from calibration.results import CalibrationReport, Estimate
from exports.cells import DASH, shown
from exports.criteria import agreement, by_criterion
from exports.figures import EDGE, WIDE, Figure, names_at_left
from exports.fitting import fitted, width_of
from exports.tables import AMONG, HEADLINE
from exports.theme import FULL_PAGE, INK, INK_SOFT, PAPER, TEXT, themed, tint

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas
    from matplotlib.patches import Patch

ROW, THIN_ROW, PAGE = 0.2, 0.15, 7.6  # inches; rows grow thinner before the map outgrows a page
NARROW, BROAD = 0.28, 0.62  # inches of a column: a value of 8 pt needs the first
HEAD = 1.3  # inches for a judge's name, set upright
TWO_LINES = 0.3  # inches of a column that has room for two lines set upright
GAP = 0.08

Cells = dict[tuple[str, str], Estimate | None]


def criteria_map(report: CalibrationReport, width: float = FULL_PAGE) -> Figure | None:
    """Criteria as rows, judges and the annotators as columns; darker is more agreement.

    None where there is but one criterion, where the report was made without `per_criterion`, or where the columns do
    not fit `width` inches. A value without an interval is grey and not shaded, an undefined one a dash.
    """
    headline = HEADLINE[report.settings.ties]
    cells: Cells = {(name, rater): agreement(found, headline) for name, rater, found in by_criterion(report)}
    criteria = list(dict.fromkeys(name for name, _ in cells))
    raters = [rater for rater in dict.fromkeys(rater for _, rater in cells) if rater != AMONG]
    if len(criteria) < 2 or not raters:
        return None
    raters += [AMONG] * any(rater == AMONG for _, rater in cells)
    with themed():
        canvas = _draw(cells, criteria, raters, width)
    if canvas is None:
        return None
    drawn = tuple(one for one in cells.values() if one is not None)
    bare = any(math.isnan(one.low) and not math.isnan(one.value) for one in drawn)
    thin = "; grey values have no interval, too few pairs to rank criteria or judges by them" if bare else ""
    dash = "; a dash has no value" if any(math.isnan(one.value) for one in drawn) or len(drawn) < len(cells) else ""
    caption = (
        f"Agreement with the annotators on each criterion, darker is more{thin}{dash}; the table has the intervals."
    )
    return Figure("criteria", caption, drawn, canvas)


def _draw(cells: Cells, criteria: Sequence[str], raters: Sequence[str], width: float) -> Canvas | None:
    from matplotlib.figure import Figure as Canvas

    left = names_at_left(criteria, width, lines=1)
    heads = ["annotators" if rater == AMONG else rater for rater in raters]
    wanted = max(width_of(head, TEXT) for head in heads) + 2 * GAP
    column = min(max(BROAD, wanted), (width - left.room - 2 * GAP - EDGE) / len(raters))
    if column < NARROW:
        return None
    row = max(THIN_ROW, min(ROW, PAGE / len(criteria)))
    upright = wanted > column
    column = min(column, BROAD) if upright else column
    heads = (
        [fitted(head, HEAD if width < WIDE else 1.4 * HEAD, TEXT, lines=2 if column > 0.3 else 1) for head in heads]
        if upright
        else heads
    )
    tall = max(width_of(line, TEXT) for head in heads for line in head.split("\n")) if upright else 0.13
    height = EDGE + row * len(criteria) + GAP + tall + 3 * EDGE
    canvas = Canvas(figsize=(width, height))
    edge, size = left.room + GAP, (column * len(raters) + GAP, row * len(criteria))
    axes = canvas.add_axes((edge / width, EDGE / height, size[0] / width, size[1] / height))
    axes.set_xlim(0, size[0])
    axes.set_ylim(size[1], 0)
    axes.axis("off")
    for across, rater in enumerate(raters):
        x = across * column + GAP * (rater == AMONG)
        for down, criterion in enumerate(criteria):
            fill, text, ink = _cell(cells.get((criterion, rater)))
            axes.add_patch(_box(x, down * row, column, row, fill))
            axes.text(x + column / 2, (down + 0.5) * row, text, ha="center", va="center_baseline", color=ink)
        axes.text(
            x + column / 2, -GAP, heads[across], rotation=90 if upright else 0, ha="center", va="bottom",
            linespacing=0.95, color=INK_SOFT if rater == AMONG else INK,
        )  # fmt: skip
    left.write(canvas, [EDGE + row * (len(criteria) - index - 0.5) for index in range(len(criteria))])
    return canvas


def _cell(one: Estimate | None) -> tuple[str, str, str]:
    """Fill, text and ink. The darkest fill still carries the ink with a contrast above 4.5 : 1."""
    if one is None or math.isnan(one.value):
        return PAPER, DASH, INK_SOFT
    text = shown(one)[0]
    if math.isnan(one.low):
        return PAPER, text, INK_SOFT
    return tint(0.72 * max(0.0, (one.value - 0.3) / 0.7)), text, INK


def _box(x: float, y: float, width: float, height: float, fill: str) -> Patch:
    from matplotlib.patches import Rectangle

    return Rectangle((x, y), width, height, facecolor=fill, edgecolor=PAPER, linewidth=0.8)
