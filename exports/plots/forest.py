"""The figure `agreement`: each judge's agreement and κ with the annotators, before the annotators' own as a band."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibration.metrics import HEADLINE, METRICS
from calibration.results import CalibrationReport, Estimate
from exports.cells import DASH, number
from exports.figures import WIDE, Figure, names_at_left, room_in_words, write_in_words
from exports.plots.theme import BAND, BAR, FULL_PAGE, INK, INK_SOFT, OKABE_ITO, PAPER, themed
from exports.tables import AMONG, PEOPLE
from exports.words.notes import label_agreement_in_caption

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

ROW, TWO_LINES = 0.22, 0.29  # inches
BELOW, ABOVE = 0.3, 0.22
GAP = 0.14
PAGE = 6.0  # inches, a caption has room below; rows grow thinner before the figure outgrows a page
LEAST = 0.13  # inches of a row that has room for words
TITLES = {metric.name: metric.title for metric in METRICS} | dict.fromkeys(HEADLINE.values(), "Agreement")


@dataclass(frozen=True)
class Panel:
    """One statistic: an estimate for each row, None where it does not exist, and the annotators' own."""

    title: str
    column: tuple[Estimate | None, ...]
    people: Estimate | None


def forest(report: CalibrationReport, width: float = FULL_PAGE) -> Figure | None:
    """One row for each judge, by falling agreement, then the annotators; None where no judge was compared.

    `width`: inches. A point without a bar has no interval, a dash no value.
    """
    pooled = [one for one in report.estimates if one.criterion == one.category == "all"]
    found = {(one.rater, one.reference, one.statistic): one for one in pooled}
    judges = list(dict.fromkeys(one.rater for one in pooled if one.reference == PEOPLE))
    statistics = [
        name for name in statistics_shown(report, pooled) if any((judge, PEOPLE, name) in found for judge in judges)
    ]
    if not statistics:
        return None
    judges.sort(key=lambda judge: _falling(found.get((judge, PEOPLE, statistics[0]))))
    panels = []
    for name in statistics:
        people = found.get((PEOPLE, "others", name))
        column = (*(found.get((judge, PEOPLE, name)) for judge in judges), people)
        panels.append(Panel(TITLES[name], column, people))
    has_people = any(panel.people for panel in panels)
    names = [*judges, AMONG] if has_people else judges
    drawn = tuple(one for panel in panels for one in panel.column if one is not None)
    with themed():
        canvas = draw_rows(names, panels, width)
    band = "; the grey band is the annotators among themselves" if has_people else ""
    caption = (
        "Agreement of each judge with the annotators, pooled over criteria: points with "
        f"{100 * report.settings.level:g} % intervals that resample whole clusters "
        f"({report.data['clusters']:,} clusters){band}{undefined(drawn)}"
        f"{label_agreement_in_caption(report)}."
    )
    return Figure("agreement", caption, drawn, canvas)


def statistics_shown(report: CalibrationReport, pooled: Sequence[Estimate]) -> tuple[str, str]:
    """Agreement under the tie rule and κ; scores are ranked, so ρ stands in for κ there."""
    headline = HEADLINE[report.settings.ties]
    known = any(one.statistic == headline for one in pooled)
    ranked = set(report.data["criteria"].values()) == {"rating"}
    return headline if known else "percent_agreement", "spearman" if ranked else "cohen_kappa"


def _falling(one: Estimate | None) -> float:
    return math.inf if one is None or math.isnan(one.value) else -one.value


def undefined(drawn: Sequence[Estimate]) -> str:
    """The end of a caption, where a mark lacks its bar or its value."""
    bare = any(math.isnan(one.low) and not math.isnan(one.value) for one in drawn)
    nothing = any(math.isnan(one.value) for one in drawn)
    said = ["a point without a bar has no interval"] * bare + ["a dash has no value"] * nothing
    return f"; {' and '.join(said)} (the table says why)" if said else ""


def draw_rows(names: Sequence[str], panels: Sequence[Panel], width: float) -> Canvas:
    """One row for each name, a panel beside the other; rows too thin for words stand without any."""
    from matplotlib.figure import Figure as Canvas

    left = names_at_left(names, width)
    row = TWO_LINES if any("\n" in name for name in left.lines) else ROW
    if row * len(names) > PAGE:
        left, row = names_at_left(names, width, lines=1), PAGE / len(names)
    if row < LEAST:
        left = names_at_left([name if name == AMONG else "" for name in names], width, lines=1)
    height = BELOW + row * len(names) + ABOVE
    canvas = Canvas(figsize=(width, height))
    worded = width > WIDE and row >= LEAST
    beside = room_in_words(one for panel in panels for one in panel.column) if worded else 0.0
    each = (width - left.room) / len(panels)
    for index, panel in enumerate(panels):
        start, room = left.room + index * each + GAP, each - GAP - beside - (0 if beside else GAP / 2)
        axes = canvas.add_axes((start / width, BELOW / height, room / width, row * len(names) / height))
        _panel(axes, panel, len(names), bool(beside))
    middles = [BELOW + row * (len(names) - index - 0.5) for index in range(len(names))]
    left.write(canvas, middles, [INK_SOFT if name == AMONG else INK for name in names])
    return canvas


def _panel(axes: Axes, panel: Panel, rows: int, in_words: bool) -> None:
    axes.set_title(panel.title, loc="left", pad=5, color=INK)
    _scale(axes, panel, rows, fine=in_words)
    people = panel.people
    if people and not math.isnan(people.low):
        axes.axvspan(people.low, people.high, color=BAND, lw=0, zorder=0)
    if people and not math.isnan(people.value):
        axes.axvline(people.value, color=INK_SOFT, lw=0.6, ls=(0, (2, 2)), zorder=1)
    for y, one in enumerate(panel.column[:rows]):
        colour = INK_SOFT if one is people else OKABE_ITO[0]
        if one is None or math.isnan(one.value):
            axes.text(0.5, y, DASH, transform=axes.get_yaxis_transform(), ha="center", va="center", color=INK_SOFT)
            continue
        if not math.isnan(one.low):
            axes.plot([one.low, one.high], [y, y], color=colour, lw=BAR, solid_capstyle="butt", zorder=2)
        axes.plot([one.value], [y], "o", ms=4.2, mfc=PAPER, mec=colour, mew=BAR, zorder=3, clip_on=False)
        if in_words:
            write_in_words(axes, y, one)


def _scale(axes: Axes, panel: Panel, rows: int, fine: bool) -> None:
    """From the tenth below everything drawn to 1, where perfect agreement would be."""
    ends = [end for one in panel.column if one for end in (one.low, one.value, one.high) if not math.isnan(end)]
    low = math.floor(10 * min([*ends, 0.9])) / 10
    axes.set_xlim(low, 1.0)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_yticks([])
    step = 0.1 if 1 - low <= 0.4 and fine else 0.25 if 1 - low <= 0.75 else 0.5
    ticks = [1 - step * count for count in range(9) if 1 - step * count >= low - 1e-9]
    axes.set_xticks(ticks, [f"{tick:g}".replace("0.", ".") if tick in (0, 1) else _tick(tick) for tick in ticks])


def _tick(value: float) -> str:
    return number(value, 2 if round(10 * value, 6) % 1 else 1)
