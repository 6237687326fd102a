"""The figure `bias`: the effect of each bias on each judge, before the sizes that do not matter as a band around 0."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibration.results import CalibrationReport
from calibration.study.bias import Bias
from exports import cells, figures
from exports.plots.names import fitted, told_apart
from exports.plots.theme import BAND, BAR, FULL_PAGE, INK, INK_SOFT, LINE, OKABE_ITO, PAPER, TEXT, lettered, themed
from exports.sheets.bias import QUESTIONS, Question, answer, effect_of, is_turned, named, raters_of
from exports.tables import PEOPLE
from plain.wording import worded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

ROW, THIN_ROW = 0.19, 0.15  # inches
PAGE = 8.6  # inches; a taller figure first gets thinner rows, then loses the questions of `SECOND`
LEAST = 0.9  # inches of a panel
GAP, BELOW, ABOVE = 0.16, 0.3, 0.36  # inches between panels, for the scale, for a title of two lines
SECOND = ("flips", "length_given_vote", "self_minus_others", "self_given_vote")
NAMES = ((1.9,), (1.05,))  # inches for a name, on a wide and on a narrow figure
OF_FEW = "self"  # from here on in lines of their own: only judges with a family have them


@dataclass(frozen=True)
class Panel:
    """One question: rater to bias, where these labels can show it."""

    question: Question
    found: Mapping[str, Bias]


@dataclass(frozen=True)
class Line:
    """Panels side by side, with one row for each rater that any of them has."""

    panels: Sequence[Panel]
    raters: Sequence[str]


def bias_figure(report: CalibrationReport, width: float = FULL_PAGE) -> figures.Figure | None:
    """One panel for each question, one row for each judge, then the annotators; None where no effect has an interval.

    `width`: inches. All panels have one scale. What would not fit a page is in the table alone.
    """
    raters, panels = raters_of(report), []
    for question in QUESTIONS:
        given = [(rater, answer(report, question, rater)) for rater in raters]
        known = {rater: bias for rater, bias in given if bias is not None and not math.isnan(bias.estimate.low)}
        panels.append(Panel(question, known))
    panels = [panel for panel in panels if panel.found]
    if not panels:
        return None
    with themed():
        lines, height, row = _laid_out(panels, raters, width)
        canvas = _draw(lines, width, height, row)
    biases = [bias for line in lines for panel in line.panels for bias in panel.found.values()]
    rows = [(panel, rater) for line in lines for panel in line.panels for rater in line.raters if rater != PEOPLE]
    dash = (
        worded("; a dash: these labels cannot show it")
        if any(rater not in panel.found for panel, rater in rows)
        else ""
    )
    turned = worded("; left of 0 a rater does the reverse of the title") if any(map(is_turned, biases)) else ""
    caption = worded(
        "Biases looked for, as differences from a rater without them, with {level:g} % intervals; filled: "
        "found, the interval leaves 0 out; the grey band is what does not matter{dash}{turned}.",
        level=100 * report.settings.level, dash=dash, turned=turned,
    )  # fmt: skip
    return figures.Figure("bias", caption, tuple(effect_of(bias) for bias in biases), canvas)


def _laid_out(panels: Sequence[Panel], raters: Sequence[str], width: float) -> tuple[list[Line], float, float]:
    """The lines, their height and that of a row, in inches."""
    room = figures.names_at_left([named(rater) for rater in raters], width, lines=1).room
    most = max(1, int((width - room - figures.EDGE) / (LEAST + GAP)))
    kept = panels
    for row, keys in ((ROW, ()), (THIN_ROW, ()), (THIN_ROW, SECOND)):
        kept = [panel for panel in panels if panel.question.key not in keys]
        lines = _lines(kept, raters, most)
        height = sum(ABOVE + row * len(line.raters) + BELOW for line in lines)
        if height <= PAGE:
            break
    return lines, height, row


def _lines(panels: Sequence[Panel], raters: Sequence[str], most: int) -> list[Line]:
    of_few = [panel for panel in panels if panel.question.key.startswith(OF_FEW)]
    out = []
    for group in ([panel for panel in panels if panel not in of_few], of_few):
        for start in range(0, len(group), most):
            own = group[start : start + most]
            out.append(Line(own, [rater for rater in raters if any(rater in panel.found for panel in own)]))
    return out


def _draw(lines: Sequence[Line], width: float, height: float, row: float) -> Canvas:
    canvas = figures.own_canvas(width, height)
    judges = list(dict.fromkeys(rater for line in lines for rater in line.raters if rater != PEOPLE))
    short = dict(zip(judges, told_apart(judges, NAMES[width < figures.WIDE]), strict=True)) | {
        PEOPLE: lettered(named(PEOPLE))
    }
    room = figures.names_at_left(list(short.values()), width, lines=1).room
    across, top = max(len(line.panels) for line in lines), height
    limit = _limit([panel for line in lines for panel in line.panels])
    for line in lines:
        top -= ABOVE
        tall, each = row * len(line.raters), (width - room - figures.EDGE) / across
        for place, panel in enumerate(line.panels):
            start, wide = room + place * each + GAP, each - GAP
            axes = canvas.add_axes((start / width, (top - tall) / height, wide / width, tall / height))
            _panel(axes, panel, line.raters, limit, wide)
        left = figures.names_at_left([short[rater] for rater in line.raters], width, lines=1)
        colours = [INK_SOFT if rater == PEOPLE else INK for rater in line.raters]
        left.write(canvas, [top - row * (place + 0.5) for place in range(len(line.raters))], colours)
        top -= tall + BELOW
    return canvas


def _panel(axes: Axes, panel: Panel, raters: Sequence[str], limit: float, room: float) -> None:
    axes.set_title(fitted(lettered(panel.question.title), room, TEXT), loc="left", pad=4, color=INK, linespacing=1.0)
    axes.set_xlim(-limit, limit)
    axes.set_ylim(len(raters) - 0.5, -0.5)
    axes.set_yticks([])
    axes.set_xticks([-limit / 2, 0.0, limit / 2], [_tick(tick) for tick in (-limit / 2, 0.0, limit / 2)])
    axes.axvline(0, color=LINE, lw=0.6, zorder=1)
    for y, rater in enumerate(raters):
        bias = panel.found.get(rater)
        if bias is None:
            if rater != PEOPLE:  # most questions compare with people, and are not asked of them
                axes.text(0, y, cells.DASH, ha="center", va="center", color=INK_SOFT)
            continue
        effect, colour = effect_of(bias), INK_SOFT if rater == PEOPLE else OKABE_ITO[0]
        fill = PAPER
        if bias.outcome == "found":
            colour = fill = OKABE_ITO[1]
        axes.fill_between([-bias.floor, bias.floor], y - 0.5, y + 0.5, color=BAND, lw=0, zorder=0)
        axes.plot([effect.low, effect.high], [y, y], color=colour, lw=BAR, solid_capstyle="butt", zorder=2)
        axes.plot([effect.value], [y], "o", ms=4.2, mfc=fill, mec=colour, mew=BAR, zorder=3)


def _limit(panels: Sequence[Panel]) -> float:
    """The end of the scale that all panels share: holds every bar."""
    biases = [bias for panel in panels for bias in panel.found.values()]
    ends = [abs(end) for estimate in map(effect_of, biases) for end in (estimate.low, estimate.high)]
    most = 1.02 * max(*ends, *(1.2 * bias.floor for bias in biases))
    return next((limit for limit in (0.1, 0.2, 0.4, 0.6, 0.8) if most <= limit), max(1.0, most))


def _tick(value: float) -> str:
    text = cells.number(abs(value), 2 if abs(value) < 0.1 else 1) if value else "0"
    return f"{cells.MINUS}{text}" if value < 0 else f"+{text}" if value else text
