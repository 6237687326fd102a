"""The figures `alone` and `confidence`: square panels of one size, each under its rater's name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibration.confidence.sureness import FIFTHS
from calibration.delegating.alone import Alone
from calibration.estimates import Estimate
from calibration.results import CalibrationReport
from exports.figures import WIDE, Figure, own_canvas
from exports.plots.names import fitted
from exports.plots.theme import BAR, FULL_PAGE, INK, INK_SOFT, LINE, OKABE_ITO, PAPER, TEXT, lettered, themed
from exports.sheets.alone import alone
from exports.sheets.confidence import Believed, believed
from exports.words.grammar import percent
from plain.wording import worded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

ACROSS, ACROSS_NARROW = 3, 2  # panels in one row
LEFT, BELOW, ABOVE, GAP, EDGE = 0.58, 0.46, 0.4, 0.3, 0.2  # inches
BETWEEN = 0.24  # inches, of rows
TALLEST = 1.8


@dataclass(frozen=True)
class Panel:
    """`first`: at the left end of its row; `last`: none is below it."""

    axes: Axes
    first: bool
    last: bool


def panels(titles: Sequence[tuple[str, str]], width: float) -> tuple[Canvas, list[Panel]]:
    """One panel for each title, a name and a line below it; `width`: inches."""
    across = min(len(titles), ACROSS if width > WIDE else ACROSS_NARROW)
    down = -(-len(titles) // across)
    side = min(TALLEST, (width - LEFT - EDGE - GAP * (across - 1)) / across)
    each = side + ABOVE
    height = BELOW + each * down + (down - 1) * BETWEEN
    canvas, found = own_canvas(width, height), []
    for place, (name, below) in enumerate(titles):
        row, column = divmod(place, across)
        left, bottom = LEFT + column * (side + GAP), height - each * (row + 1) - row * BETWEEN
        axes = canvas.add_axes((left / width, bottom / height, side / width, side / height))
        title = f"{fitted(name, side, TEXT, 1)}\n{below}"
        axes.set_title(title, loc="left", pad=5, color=INK, linespacing=1.1)
        found.append(Panel(axes, column == 0, place + across >= len(titles)))
    return canvas, found


MOST_PANELS = 6  # raters drawn; the table holds them all


def alone_figure(report: CalibrationReport, width: float = FULL_PAGE) -> Figure | None:
    """A panel for each judge, six at most, those that decide most first; None where no threshold was looked at."""
    rows = sorted((delegation for delegation in alone(report) if delegation.steps), key=_decides, reverse=True)
    if not rows:
        return None
    shown = rows[:MOST_PANELS]
    with themed():
        canvas = _draw_alone(shown, width)
    drawn = tuple(step.error for delegation in shown for step in delegation.steps)
    return Figure("alone", _caption_alone(report, rows), drawn, canvas)


def _decides(delegation: Alone) -> float:
    return delegation.decided.share.value if delegation.decided else 0.0


def _caption_alone(report: CalibrationReport, rows: Sequence[Alone]) -> str:
    allowed, level = percent(report.settings.alone_error), percent(report.settings.level)
    several = worded(", for all {n} judges at once", n=len(rows)) if len(rows) > 1 else ""
    parts = [
        worded(
            "Share of labels that differ from the annotators' majority over the share of items that a judge would "
            "decide without a person, the surest first; bars end at the one-sided {level} bound{several}",
            level=level,
            several=several,
        ),
        worded("the dashed line is the error allowed, {allowed}", allowed=allowed),
        worded(
            "filled points are thresholds up to which that error is shown, the last of them is what the judge may "
            "decide"
        ),
    ]
    if len(rows) > MOST_PANELS:
        parts.append(worded("{most} of {rows} judges, the table has all", most=MOST_PANELS, rows=len(rows)))
    return worded("{lead}.", lead=worded("; ").join(parts))


def _draw_alone(rows: Sequence[Alone], width: float) -> Canvas:
    bounds = [step.error.high for delegation in rows for step in delegation.steps if not math.isnan(step.error.high)]
    top = min(1.0, math.ceil(10 * max([*bounds, rows[0].error_allowed]) - 1e-9) / 10)
    canvas, found = panels(
        [(one.judge, lettered("decides {share}", share=percent(_decides(one)))) for one in rows], width
    )
    for delegation, panel in zip(rows, found, strict=True):
        _scales(panel, top, ["0", percent(top / 2), percent(top)], "items decided", "error")
        panel.axes.axhline(delegation.error_allowed, color=INK_SOFT, lw=0.8, ls=(0, (3, 2)), zorder=1)
        known = [step for step in delegation.steps if not math.isnan(step.error.value)]
        _curve(panel.axes, [(one.share.value, one.error, one.error.value, one.outcome == "passed") for one in known])
    return canvas


def _scales(panel: Panel, top: float, words: list[str], across: str, up: str) -> None:
    """`words`: of the levels 0, half of `top` and `top`."""
    axes = panel.axes
    axes.set_xlim(0, 1)
    axes.set_ylim(0, top)
    axes.set_xticks([0, 0.5, 1], ["0", "50 %", "100 %"])
    axes.set_yticks([0, top / 2, top], words if panel.first else [""] * 3, color=INK_SOFT)
    axes.yaxis.grid(True, color=LINE, lw=0.5)
    axes.set_axisbelow(True)
    if panel.last:
        axes.set_xlabel(lettered(across))
    if panel.first:
        axes.set_ylabel(lettered(up))


def _curve(axes: Axes, points: Sequence[tuple[float, Estimate, float, bool]]) -> None:
    """Estimates by their place across, each with a bar from where it begins, nan for none; and which are filled."""
    blue = OKABE_ITO[0]
    axes.plot([x for x, *_ in points], [one.value for _, one, *_ in points], color=blue, lw=0.6, zorder=2)
    for x, one, begins, is_filled in points:
        if not math.isnan(begins):
            axes.plot([x, x], [begins, one.high], color=blue, lw=BAR, solid_capstyle="butt", zorder=3, clip_on=False)
        fill = blue if is_filled else PAPER
        axes.plot([x], [one.value], "o", ms=4.2, mfc=fill, mec=blue, mew=BAR, zorder=4, clip_on=False)


def confidence_figure(report: CalibrationReport, width: float = FULL_PAGE) -> Figure | None:
    """A panel for each rater and kind of confidence, six at most; None where nobody has a confidence."""
    rows = [curve for curve in believed(report) if curve.points]
    if not rows:
        return None
    shown = rows[:MOST_PANELS]
    with themed():
        canvas = _draw_confidence(shown, width)
    drawn = tuple(point for curve in shown for point in curve.points)
    return Figure("confidence", _caption_confidence(report, rows), drawn, canvas)


def _caption_confidence(report: CalibrationReport, rows: Sequence[Believed]) -> str:
    parts = [
        worded(
            "Share of answers that agree with the annotators at each level of confidence, with {level:g} % "
            "intervals from whole clusters; on the dashed line a rater is right as often as it says, below it less "
            "often",
            level=100 * report.settings.level,
        )
    ]
    if any(curve.told.read == FIFTHS for curve in rows):
        parts.append(worded("a stated level of 1 to 5 stands at its fifth"))
    if len(rows) > MOST_PANELS:
        parts.append(worded("the first {most} of {rows} curves, the table has all", most=MOST_PANELS, rows=len(rows)))
    return worded("{lead}.", lead=worded("; ").join(parts))


def _draw_confidence(rows: Sequence[Believed], width: float) -> Canvas:
    canvas, found = panels([(curve.rater, curve.kind) for curve in rows], width)
    for curve, panel in zip(rows, found, strict=True):
        _scales(panel, 1, ["0", "50 %", "100 %"], "confidence", "right")
        panel.axes.plot([0, 1], [0, 1], color=INK_SOFT, lw=0.8, ls=(0, (3, 2)), zorder=1)
        points = zip(curve.claimed, curve.points, strict=True)
        _curve(panel.axes, [(x, one, one.low, False) for x, one in points if not math.isnan(one.value)])
    return canvas
