"""The figure `criteria`: agreement of each judge on each criterion, every value printed in its place."""

from __future__ import annotations

import math

from calibration.metrics import HEADLINE
from calibration.results import CalibrationReport, Estimate
from exports.cells import shown
from exports.figures import Figure
from exports.plots.theme import FULL_PAGE, INK, INK_SOFT, PAPER, themed, tint
from exports.plots.value_map import NOTHING, Printed, draw_map
from exports.sheets.criteria import agreement, by_criterion
from exports.tables import AMONG
from exports.words.notes import label_agreement_in_caption

NARROW = 0.28  # inches of a column: a value of 8 pt needs them


def criteria_map(report: CalibrationReport, width: float = FULL_PAGE) -> Figure | None:
    """Criteria as rows, judges and the annotators as columns; darker is more agreement.

    None where there is but one criterion, where the report was made without `per_criterion`, or where the columns do
    not fit `width` inches. A value without an interval is grey and not shaded, an undefined one a dash.
    """
    headline = HEADLINE[report.settings.ties]
    cells = {(name, rater): agreement(found, headline) for name, rater, found in by_criterion(report)}
    criteria = list(dict.fromkeys(name for name, _ in cells))
    raters = [rater for rater in dict.fromkeys(rater for _, rater in cells) if rater != AMONG]
    if len(criteria) < 2 or not raters:
        return None
    raters += [AMONG] * any(rater == AMONG for _, rater in cells)
    printed = {place: _printed(one) for place, one in cells.items()}
    with themed():
        canvas = draw_map(criteria, raters, printed, width, NARROW, apart=("", AMONG), heads={AMONG: "annotators"})
    if canvas is None:
        return None
    drawn = tuple(one for one in cells.values() if one is not None)
    bare = any(math.isnan(one.low) and not math.isnan(one.value) for one in drawn)
    thin = "; grey values have no interval, too few pairs to rank criteria or judges by them" if bare else ""
    dash = "; a dash has no value" if any(math.isnan(one.value) for one in drawn) or len(drawn) < len(cells) else ""
    caption = (
        f"Agreement with the annotators on each criterion, darker is more{thin}{dash}; the table has the intervals"
        f"{label_agreement_in_caption(report)}."
    )
    return Figure("criteria", caption, drawn, canvas)


def _printed(one: Estimate | None) -> Printed:
    """The darkest fill still carries the ink with a contrast above 4.5 : 1."""
    if one is None or math.isnan(one.value):
        return NOTHING
    text = shown(one)[0]
    if math.isnan(one.low):
        return Printed(PAPER, text, INK_SOFT)
    return Printed(tint(0.72 * max(0.0, (one.value - 0.3) / 0.7)), text, INK)
