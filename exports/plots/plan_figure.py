"""The figure `plan`: how wide the interval of agreement is by number of topics, and how far that hangs on the ICC."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from calibration.planning import effective_labels, half_width_of_sd
from calibration.sizing.study_plan import Goals, StudyPlan
from exports.cells import number
from exports.figures import Figure
from exports.plots.theme import BAR, FULL_PAGE, INK, INK_SOFT, LINE, OKABE_ITO, PAPER, TEXT, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ICCS = (0.02, 0.05, 0.1, 0.2, 0.5)
HEIGHT = 2.6  # inches
FEWEST = 5  # topics
HALF_WIDTHS, TICKS = (0.005, 0.4), (0.01, 0.02, 0.05, 0.1, 0.2)
APART = 0.28  # of two lines' logarithms at their ends, for a name of 8 pt at each


def plan_figure(found: StudyPlan, goals: Goals, width: float = FULL_PAGE) -> Figure | None:
    """One line for each of several ICCs, the plan's own in colour. `width`: inches.

    None where the plan's ICC or variance is not known.
    """
    if math.isnan(found.icc) or not found.variance > 0:
        return None
    needed = next(one.needed.clusters for one in found.aims if one.aim == "interval")
    most = max(200, min(5_000, 2 * (needed or 0)))
    with themed():
        from matplotlib.figure import Figure as Canvas

        canvas = Canvas(figsize=(width, HEIGHT))
        axes = canvas.add_axes((0.5 / width, 0.45 / HEIGHT, (width - 1.2) / width, (HEIGHT - 0.5) / HEIGHT))
        _frame(axes, most)
        _lines(axes, found, goals.level, most)
        axes.axhline(goals.half_width, color=INK, lw=0.8, ls=(0, (3, 2)), zorder=1)
        if needed and FEWEST <= needed <= most:
            axes.plot([needed], [goals.half_width], "o", ms=5, color=OKABE_ITO[0], zorder=4)
            axes.annotate(
                f"{needed:,} topics", (needed, goals.half_width), (6, 6), textcoords="offset points", color=INK,
                size=TEXT, bbox={"boxstyle": "square,pad=.1", "fc": PAPER, "ec": "none"}, zorder=5,
            )  # fmt: skip
    caption = (
        f"Half-width of the {100 * goals.level:g} % interval of agreement by number of topics, "
        f"{found.design.labels_per_topic:,.4g} labels of each: a line for each ICC, the plan's own in blue; dashed, "
        "the half-width wanted."
    )
    return Figure("plan", caption, (), canvas)


def _frame(axes: Axes, most: int) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(FEWEST, most)
    axes.set_ylim(*HALF_WIDTHS)
    topics = [count for count in (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000) if count <= most]
    axes.set_xticks(topics, [f"{count:,}" for count in topics])
    axes.set_yticks(TICKS, [f"±{number(one, 2)}" for one in TICKS], color=INK_SOFT)
    axes.minorticks_off()
    axes.yaxis.grid(True, color=LINE, lw=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel("topics")


def _lines(axes: Axes, found: StudyPlan, level: float, most: int) -> None:
    """The plan's own line, then each other one whose name has room at its end."""
    own = max(0.0, found.icc)
    topics = np.unique(np.geomspace(FEWEST, most, 80).round().astype(int)).tolist()
    ends: list[float] = []
    for icc in (own, *ICCS):
        sd = math.sqrt(found.variance / effective_labels(max(1.0, found.design.labels_per_topic), icc))
        widths = [half_width_of_sd(count, sd, level) for count in topics]
        if any(abs(math.log(widths[-1] / end)) < APART for end in ends):
            continue
        chosen = not ends
        ends.append(widths[-1])
        colour = OKABE_ITO[0] if chosen else INK_SOFT
        axes.plot(topics, widths, color=colour, lw=BAR if chosen else BAR / 2, zorder=3 if chosen else 2)
        axes.annotate(
            f"ICC {number(icc, 2)}", (topics[-1], widths[-1]), (4, 0), textcoords="offset points", va="center",
            color=colour, size=TEXT, annotation_clip=False,
        )  # fmt: skip
