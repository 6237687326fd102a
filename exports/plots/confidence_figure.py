"""The figure `confidence`: the reliability curve of each rater, what was claimed against what was kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from calibration.results import CalibrationReport
from calibration.sure.sureness import FIFTHS
from exports.figures import WIDE, Figure
from exports.plots.fitting import fitted
from exports.plots.theme import BAR, FULL_PAGE, INK, INK_SOFT, LINE, OKABE_ITO, PAPER, TEXT, themed
from exports.sheets.confidence import Believed, believed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MOST = 6  # curves drawn; the table holds them all
ACROSS, ACROSS_NARROW = 3, 2  # panels in one row
LEFT, BELOW, ABOVE, GAP, EDGE = 0.58, 0.46, 0.4, 0.3, 0.2  # inches
TALLEST = 1.8


def confidence_figure(report: CalibrationReport, width: float = FULL_PAGE) -> Figure | None:
    """A panel for each rater and kind of confidence, six at most; None where nobody has a confidence."""
    rows = [one for one in believed(report) if one.points]
    if not rows:
        return None
    shown = rows[:MOST]
    with themed():
        canvas = _draw(shown, width)
    drawn = tuple(point for one in shown for point in one.points)
    return Figure("confidence", _caption(report, rows), drawn, canvas)


def _caption(report: CalibrationReport, rows: Sequence[Believed]) -> str:
    parts = [
        "Share of answers that agree with the annotators at each level of confidence, with "
        f"{100 * report.settings.level:g} % intervals from whole clusters; on the dashed line a rater is right as "
        "often as it says, below it less often"
    ]
    if any(one.told["read"] == FIFTHS for one in rows):
        parts.append("a stated level of 1 to 5 stands at its fifth")
    if len(rows) > MOST:
        parts.append(f"the first {MOST} of {len(rows)} curves, the table has all")
    return f"{'; '.join(parts)}."


def _draw(rows: Sequence[Believed], width: float) -> Canvas:
    from matplotlib.figure import Figure as Canvas

    across = min(len(rows), ACROSS if width > WIDE else ACROSS_NARROW)
    down = -(-len(rows) // across)
    side = min(TALLEST, (width - LEFT - EDGE - GAP * (across - 1)) / across)
    each = side + ABOVE
    height = BELOW + each * down + (down - 1) * 0.24
    canvas = Canvas(figsize=(width, height))
    for place, one in enumerate(rows):
        row, column = divmod(place, across)
        left, bottom = LEFT + column * (side + GAP), height - each * (row + 1) - row * 0.24
        axes = canvas.add_axes((left / width, bottom / height, side / width, side / height))
        title = f"{fitted(one.rater, side, TEXT, 1)}\n{one.kind}"
        axes.set_title(title, loc="left", pad=5, color=INK, linespacing=1.1)
        _scales(axes, first=column == 0, last=place + across >= len(rows))
        _curve(axes, one)
    return canvas


def _scales(axes: Axes, *, first: bool, last: bool) -> None:
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    ticks, words = [0, 0.5, 1], ["0", "50 %", "100 %"]
    axes.set_xticks(ticks, words)
    axes.set_yticks(ticks, words if first else [""] * 3, color=INK_SOFT)
    axes.yaxis.grid(True, color=LINE, lw=0.5)
    axes.set_axisbelow(True)
    axes.plot([0, 1], [0, 1], color=INK_SOFT, lw=0.8, ls=(0, (3, 2)), zorder=1)
    if last:
        axes.set_xlabel("confidence")
    if first:
        axes.set_ylabel("right")


def _curve(axes: Axes, one: Believed) -> None:
    known = [(x, point) for x, point in zip(one.claimed, one.points, strict=True) if not math.isnan(point.value)]
    blue = OKABE_ITO[0]
    axes.plot([x for x, _ in known], [point.value for _, point in known], color=blue, lw=0.6, zorder=2)
    for x, point in known:
        if not math.isnan(point.low):
            axes.plot(
                [x, x], [point.low, point.high], color=blue, lw=BAR, solid_capstyle="butt", zorder=3, clip_on=False
            )
        axes.plot([x], [point.value], "o", ms=4.2, mfc=PAPER, mec=blue, mew=BAR, zorder=4, clip_on=False)
