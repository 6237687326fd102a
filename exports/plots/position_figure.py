"""The figure `position`: how often the report shown first wins, and how often a verdict survives the other order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibration.results import CalibrationReport, Estimate
from calibration.study.bias import Bias
from exports.cells import DASH, spread
from exports.figures import WIDE, Figure, names_at_left, own_canvas, room_in_words, tick_text, write_in_words
from exports.plots import names, theme
from exports.sheets.bias import QUESTIONS, answer, raters_of
from exports.tables import PEOPLE, pooled_in
from plain.wording import worded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

ROW, THIN_ROW, PAGE = 0.22, 0.14, 6.0  # inches, a caption has room below; rows grow thinner first
BELOW, ABOVE, SECOND_LINE, GAP = 0.3, 0.22, 0.13, 0.14
ORDER = next(question for question in QUESTIONS if question.key == "order")


@dataclass(frozen=True)
class Panel:
    """One share for each rater. `middle`: its value without bias, before a band of `floor`; nan where there is none."""

    title: str
    found: Mapping[str, Estimate]
    middle: float
    floor: float
    biased: frozenset[str]


def position_figure(report: CalibrationReport, width: float = theme.FULL_PAGE) -> Figure | None:
    """One row for each judge, then the annotators; None where no presentation is known.

    There is a second panel where a rater labelled in both orders.
    """
    raters = raters_of(report)
    known = {rater: bias for rater in raters if (bias := answer(report, ORDER, rater)) is not None}
    if not known:
        return None
    panels = [_first(known)]
    kept = {one.rater: one for one in pooled_in(report) if one.statistic == "swap_consistency" and one.n}
    if kept:
        panels.append(Panel("same verdict in both orders", kept, math.nan, math.nan, frozenset()))
    rows = [rater for rater in raters if any(rater in panel.found for panel in panels)]
    with theme.themed():
        canvas = _draw(rows, panels, width)
    drawn = tuple(panel.found[rater] for panel in panels for rater in rows if rater in panel.found)
    return Figure("position", _caption(report, panels, rows, drawn), drawn, canvas)


def _first(known: Mapping[str, Bias]) -> Panel:
    estimates = {rater: bias.estimate for rater, bias in known.items()}
    bias = next(iter(known.values()))
    biased = frozenset(rater for rater, bias in known.items() if bias.outcome == "found")
    return Panel(theme.lettered("report shown first wins"), estimates, bias.null, bias.floor, biased)


def _caption(report: CalibrationReport, panels: Sequence[Panel], rows: Sequence[str], drawn: Sequence[Estimate]) -> str:
    both = ", and of verdicts that are the same in both orders" * (len(panels) > 1)
    bare = any(math.isnan(estimate.low) and not math.isnan(estimate.value) for estimate in drawn)
    dash = any(rater not in panel.found for panel in panels for rater in rows)
    parts = [
        worded(
            "Share of winners that were shown first, half without a position bias{both}, with {level:g} % "
            "intervals from whole clusters ({spread} answers, {spread2} clusters)",
            both=both,
            level=100 * report.settings.level,
            spread=spread(one.n for one in drawn),
            spread2=spread(one.clusters for one in drawn),
        ),
        worded("filled: a bias was found"),
        worded("the grey band is what does not matter"),
    ]
    parts += [worded("a point without a bar has no interval")] * bare + [
        worded("a dash: these labels cannot show it")
    ] * dash
    return worded("{lead}.", lead=worded("; ").join(parts))


def _draw(rows: Sequence[str], panels: Sequence[Panel], width: float) -> Canvas:
    left = names_at_left([theme.lettered("annotators") if rater == PEOPLE else rater for rater in rows], width, lines=1)
    row = max(THIN_ROW, min(ROW, PAGE / len(rows)))
    tall = row * len(rows)
    beside = room_in_words(estimate for panel in panels for estimate in panel.found.values()) if width > WIDE else 0.0
    each = (width - left.room) / len(panels)
    room = each - GAP - (beside or GAP / 2)
    titles = [names.fitted(panel.title, room, theme.TEXT) for panel in panels]
    height = BELOW + tall + ABOVE + SECOND_LINE * any("\n" in title for title in titles)
    canvas = own_canvas(width, height)
    for place, (panel, title) in enumerate(zip(panels, titles, strict=True)):
        start = left.room + place * each + GAP
        axes = canvas.add_axes((start / width, BELOW / height, room / width, tall / height))
        axes.set_title(title, loc="left", pad=5, color=theme.INK, linespacing=1.0)
        _scale(axes, panel, len(rows))
        for y, rater in enumerate(rows):
            _mark(axes, panel, rater, y, bool(beside))
    colours = [theme.INK_SOFT if rater == PEOPLE else theme.INK for rater in rows]
    left.write(canvas, [BELOW + row * (len(rows) - place - 0.5) for place in range(len(rows))], colours)
    return canvas


def _scale(axes: Axes, panel: Panel, rows: int) -> None:
    """Half is in the middle of the first panel; the second ends at 1."""
    ends = [
        end
        for estimate in panel.found.values()
        for end in (estimate.low, estimate.value, estimate.high)
        if not math.isnan(end)
    ]
    if math.isnan(panel.middle):
        low, high = math.floor(10 * min([*ends, 0.9]) + 1e-9) / 10, 1.0
    else:
        reach = max(0.1, *(abs(end - panel.middle) for end in ends))
        reach = min(0.5, math.ceil(10 * reach - 1e-9) / 10)
        low, high = panel.middle - reach, panel.middle + reach
        axes.axvspan(panel.middle - panel.floor, panel.middle + panel.floor, color=theme.BAND, lw=0, zorder=0)
        axes.axvline(panel.middle, color=theme.LINE, lw=0.6, zorder=1)
    axes.set_xlim(low, high)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_yticks([])
    ticks = [low, (low + high) / 2, high]
    axes.set_xticks(ticks, [f"{tick:g}" if tick in (0, 1) else tick_text(tick) for tick in ticks])


def _mark(axes: Axes, panel: Panel, rater: str, y: int, in_words: bool) -> None:
    estimate = panel.found.get(rater)
    if estimate is None or math.isnan(estimate.value):
        axes.text(0.5, y, DASH, transform=axes.get_yaxis_transform(), ha="center", va="center", color=theme.INK_SOFT)
        return
    colour = theme.INK_SOFT if rater == PEOPLE else theme.OKABE_ITO[0]
    colour = theme.OKABE_ITO[1] if rater in panel.biased else colour
    if not math.isnan(estimate.low):
        axes.plot([estimate.low, estimate.high], [y, y], color=colour, lw=theme.BAR, solid_capstyle="butt", zorder=2)
    fill = colour if rater in panel.biased else theme.PAPER
    axes.plot([estimate.value], [y], "o", ms=4.2, mfc=fill, mec=colour, mew=theme.BAR, zorder=3, clip_on=False)
    if in_words:
        write_in_words(axes, y, estimate)
