"""The figure `ranking`: how often each system wins by people, by one judge alone, and by that judge corrected."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibration.results import CalibrationReport, Estimate
from exports import cells, figures, tables
from exports.plots.names import width_of
from exports.plots.theme import BAR, FULL_PAGE, INK, INK_SOFT, LINE, OKABE_ITO, PAPER, TEXT, lettered, themed
from exports.sheets.ranking import CORRECTED, WIN_RATE, Placing, by_people, judge_shown, placing
from plain.wording import worded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

ROW, BETWEEN = 0.42, 0.115  # inches of a system, and between its marks
PAGE = 6.0  # inches, a caption has room below; rows grow thinner before the figure outgrows a page
BELOW, ABOVE, RIGHT, GAP = 0.42, 0.3, 0.1, 0.14
KEY, NAME = 0.14, 1.3  # inches between words above the axes, and of a judge's name there


@dataclass(frozen=True)
class Series:
    """One way to rank, with its marks."""

    said: str
    placing: Placing
    colour: str
    fill: str
    marker: str


def ranking_figure(report: CalibrationReport, width: float = FULL_PAGE, judge: str = "") -> figures.Figure | None:
    """One row for each system, in the order of the people's win rates, each with one mark and bar for every ranking.

    `judge`: as of the table. None where people ranked no system.
    """
    judge = judge or judge_shown(report)
    people = placing(report, WIN_RATE, tables.PEOPLE)
    if people is None:
        return None
    room = NAME if width > figures.WIDE else NAME / 2
    named = judge if width_of(judge, TEXT) <= room else lettered("the judge")  # which one, the caption says
    ways = (
        (lettered("people"), people, INK_SOFT, PAPER, "s"),
        (lettered("{named} alone", named=named), placing(report, WIN_RATE, judge), OKABE_ITO[0], PAPER, "o"),
        (lettered("corrected"), placing(report, CORRECTED, judge), OKABE_ITO[0], OKABE_ITO[0], "o"),
    )
    series = [Series(said, placing, *look) for said, placing, *look in ways if placing is not None]
    systems = by_people(people)
    drawn = tuple(line.placing.estimates[name] for line in series for name in systems if name in line.placing.estimates)
    with themed():
        canvas = _draw(systems, series, width)
    corrected = worded("; corrected: {judge} with the people's labels", judge=judge) if len(series) > 2 else ""
    alone = worded(", by {judge} alone", judge=judge) if len(series) > 1 else ""
    bare = any(math.isnan(estimate.low) and not math.isnan(estimate.value) for estimate in drawn)
    dash = worded("; a mark without a bar has no interval (the table says why)") if bare else ""
    caption = worded(
        "Win rate of each system by people{alone}{more}, with {level:g} % intervals from whole clusters "
        "({clusters:,} clusters); a tie is half a win{corrected}{dash}.",
        alone=alone, more=worded(" and corrected") if corrected else "", level=100 * report.settings.level,
        clusters=report.labels.clusters, corrected=corrected, dash=dash,
    )  # fmt: skip
    return figures.Figure("ranking", caption, drawn, canvas)


def _draw(systems: Sequence[str], series: Sequence[Series], width: float) -> Canvas:
    left = figures.names_at_left(systems, width)
    row = min(ROW, max(len(series) * BETWEEN, PAGE / len(systems)))
    tall = row * len(systems)
    height, room = BELOW + tall + ABOVE, width - left.room - GAP - RIGHT
    canvas = figures.own_canvas(width, height)
    axes = canvas.add_axes(((left.room + GAP) / width, BELOW / height, room / width, tall / height))
    low, high = _span(systems, series)
    axes.set_xlim(low, high)
    axes.set_ylim(tall, 0)
    axes.set_yticks([])
    step = next(step for step in (0.1, 0.2, 0.5) if (high - low) / step * 0.35 <= room)
    ticks = [step * count for count in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    axes.set_xticks(ticks, [cells.number(tick, 1) if tick not in (0, 1) else f"{tick:g}" for tick in ticks])
    axes.set_xlabel(lettered("win rate"), labelpad=3, color=INK_SOFT)
    axes.axvline(0.5, color=LINE, lw=0.6, zorder=0)
    for place, name in enumerate(systems):
        if place:
            axes.axhline(place * row, color=LINE, lw=0.4, zorder=0)
        for at, line in enumerate(series):
            y = (place + 0.5) * row + (at - (len(series) - 1) / 2) * BETWEEN
            _mark(axes, line.placing.estimates.get(name), y, line)
    _key(axes, series, room)
    left.write(canvas, [BELOW + tall - row * (place + 0.5) for place in range(len(systems))])
    return canvas


def _mark(axes: Axes, estimate: Estimate | None, y: float, line: Series) -> None:
    if estimate is None or math.isnan(estimate.value):
        return
    if not math.isnan(estimate.low):
        axes.plot([estimate.low, estimate.high], [y, y], color=line.colour, lw=BAR, solid_capstyle="butt", zorder=2)
    axes.plot(
        [estimate.value], [y], line.marker, ms=3.8, mfc=line.fill, mec=line.colour, mew=BAR, zorder=3, clip_on=False
    )


def _key(axes: Axes, series: Sequence[Series], room: float) -> None:
    """The marks and what they are, in one line above the axes, from the right."""
    low, high = axes.get_xlim()
    x = room
    for line in reversed(series):
        x -= width_of(line.said, TEXT)
        at = low + x / room * (high - low)
        axes.text(at, -0.13, line.said, ha="left", va="center_baseline", color=INK if line.marker == "o" else INK_SOFT)
        mark = low + (x - 0.07) / room * (high - low)
        axes.plot([mark], [-0.13], line.marker, ms=3.8, mfc=line.fill, mec=line.colour, mew=BAR, clip_on=False)
        x -= 0.12 + KEY


def _span(systems: Sequence[str], series: Sequence[Series]) -> tuple[float, float]:
    estimates = [line.placing.estimates[name] for line in series for name in systems if name in line.placing.estimates]
    ends = [
        end for estimate in estimates for end in (estimate.low, estimate.value, estimate.high) if not math.isnan(end)
    ] or [0.0, 1.0]
    return math.floor(10 * min(*ends, 0.45) + 1e-9) / 10, math.ceil(10 * max(*ends, 0.55) - 1e-9) / 10
