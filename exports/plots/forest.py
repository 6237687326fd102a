"""The figures of estimates in rows: `agreement` of judges, `pass_fail` and `pass_rates`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibration.agreement.catalogue import printed
from calibration.agreement.statistic import Statistic
from calibration.results import CalibrationReport, Estimate
from calibration.systems.pass_rates import CORRECTED, PASS_RATE, ROGAN_GLADEN
from exports.cells import DASH
from exports.figures import (
    WIDE,
    Figure,
    Onto,
    falling,
    names_at_left,
    own_canvas,
    room_in_words,
    tick_text,
    write_in_words,
)
from exports.plots.theme import BAND, BAR, FULL_PAGE, INK, INK_SOFT, OKABE_ITO, PAPER, lettered, themed
from exports.sheets.passing import WHOLE, system_of
from exports.tables import AMONG, PEOPLE, compared_with_people, pooled_in, titled
from exports.words.notes import label_agreement_in_caption
from plain.wording import worded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

ROW, TWO_LINES = 0.22, 0.29  # inches
BELOW, ABOVE = 0.3, 0.22
GAP = 0.14
PAGE = 6.0  # inches, a caption has room below; rows grow thinner before the figure outgrows a page
LEAST = 0.13  # inches of a row that has room for words


@dataclass(frozen=True)
class Panel:
    """One statistic: an estimate for each row, None where it does not exist, and the annotators' own."""

    title: str
    column: tuple[Estimate | None, ...]
    people: Estimate | None


def forest(report: CalibrationReport, width: float = FULL_PAGE, onto: Onto = own_canvas) -> Figure | None:
    """One row for each judge, by falling agreement, then the annotators; None where no judge was compared.

    `width`: inches. A point without a bar has no interval, a dash no value.
    """
    pooled = pooled_in(report)
    estimates = {(estimate.rater, estimate.reference, estimate.statistic): estimate for estimate in pooled}
    judges = compared_with_people(pooled)
    statistics = statistics_shown(
        report, "agreement", (estimate for estimate in pooled if estimate.reference == PEOPLE)
    )
    if not statistics:
        return None
    judges.sort(key=lambda judge: falling(estimates.get((judge, PEOPLE, next(iter(statistics))))))
    panels = []
    for name, statistic in statistics.items():
        people = estimates.get((PEOPLE, "others", name))
        column = (*(estimates.get((judge, PEOPLE, name)) for judge in judges), people)
        panels.append(Panel(titled(report, name, statistic.title), column, people))
    has_people = any(panel.people for panel in panels)
    names = [*judges, AMONG] if has_people else judges
    drawn = tuple(estimate for panel in panels for estimate in panel.column if estimate is not None)
    with themed():
        canvas = draw_rows(names, panels, width, onto)
    band = worded("; the grey band is the annotators among themselves") if has_people else ""
    caption = worded(
        "Agreement of each judge with the annotators, pooled over criteria: points with {level:g} % intervals "
        "that resample whole clusters ({clusters:,} clusters){band}{undefined}{label_agreement_in_caption}.",
        level=100 * report.settings.level, clusters=report.labels.clusters, band=band, undefined=undefined(drawn),
        label_agreement_in_caption=label_agreement_in_caption(report),
    )  # fmt: skip
    return Figure("agreement", caption, drawn, canvas)


def statistics_shown(report: CalibrationReport, figure: str, known: Iterable[Estimate]) -> dict[str, Statistic]:
    """Name to statistic of a panel: agreement under the tie rule, κ or of scores alone ρ, and what else says so."""
    names = {estimate.statistic for estimate in known}
    return printed(f"figure {figure}", report.labels.criteria.values(), names, report.settings.ties)


def undefined(drawn: Sequence[Estimate]) -> str:
    """The end of a caption, where a mark lacks its bar or its value."""
    bare = any(math.isnan(estimate.low) and not math.isnan(estimate.value) for estimate in drawn)
    nothing = any(math.isnan(estimate.value) for estimate in drawn)
    said = [worded("a point without a bar has no interval")] * bare + [worded("a dash has no value")] * nothing
    return worded("; {said} (the table says why)", said=worded(" and ").join(said)) if said else ""


def draw_rows(names: Sequence[str], panels: Sequence[Panel], width: float, onto: Onto = own_canvas) -> Canvas:
    """One row for each name, a panel beside the other; rows too thin for words are without any."""
    said = [lettered(name) if name == AMONG else name for name in names]
    left = names_at_left(said, width)
    row = TWO_LINES if any("\n" in name for name in left.lines) else ROW
    if row * len(names) > PAGE:
        left, row = names_at_left(said, width, lines=1), PAGE / len(names)
    if row < LEAST:
        left = names_at_left([lettered(name) if name == AMONG else "" for name in names], width, lines=1)
    height = BELOW + row * len(names) + ABOVE
    canvas = onto(width, height)
    worded = width > WIDE and row >= LEAST
    beside = room_in_words(estimate for panel in panels for estimate in panel.column) if worded else 0.0
    each = (width - left.room) / len(panels)
    for index, panel in enumerate(panels):
        start, room = left.room + index * each + GAP, each - GAP - beside - (0 if beside else GAP / 2)
        axes = canvas.add_axes((start / width, BELOW / height, room / width, row * len(names) / height))
        _panel(axes, panel, len(names), bool(beside))
    middles = [BELOW + row * (len(names) - index - 0.5) for index in range(len(names))]
    left.write(canvas, middles, [INK_SOFT if name == AMONG else INK for name in names])
    return canvas


def _panel(axes: Axes, panel: Panel, rows: int, in_words: bool) -> None:
    axes.set_title(lettered(panel.title), loc="left", pad=5, color=INK)
    _scale(axes, panel, rows, fine=in_words)
    people = panel.people
    if people and not math.isnan(people.low):
        axes.axvspan(people.low, people.high, color=BAND, lw=0, zorder=0)
    if people and not math.isnan(people.value):
        axes.axvline(people.value, color=INK_SOFT, lw=0.6, ls=(0, (2, 2)), zorder=1)
    for y, estimate in enumerate(panel.column[:rows]):
        colour = INK_SOFT if estimate is people else OKABE_ITO[0]
        if estimate is None or math.isnan(estimate.value):
            axes.text(0.5, y, DASH, transform=axes.get_yaxis_transform(), ha="center", va="center", color=INK_SOFT)
            continue
        if not math.isnan(estimate.low):
            axes.plot([estimate.low, estimate.high], [y, y], color=colour, lw=BAR, solid_capstyle="butt", zorder=2)
        axes.plot([estimate.value], [y], "o", ms=4.2, mfc=PAPER, mec=colour, mew=BAR, zorder=3, clip_on=False)
        if in_words:
            write_in_words(axes, y, estimate)


def _scale(axes: Axes, panel: Panel, rows: int, fine: bool) -> None:
    """From the tenth below everything drawn to 1, where perfect agreement would be."""
    ends = [
        end
        for estimate in panel.column
        if estimate
        for end in (estimate.low, estimate.value, estimate.high)
        if not math.isnan(end)
    ]
    low = math.floor(10 * min([*ends, 0.9])) / 10
    axes.set_xlim(low, 1.0)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_yticks([])
    step = 0.1 if 1 - low <= 0.4 and fine else 0.25 if 1 - low <= 0.75 else 0.5
    ticks = [1 - step * count for count in range(9) if 1 - step * count >= low - 1e-9]
    axes.set_xticks(ticks, [f"{tick:g}".replace("0.", ".") if tick in (0, 1) else tick_text(tick) for tick in ticks])


PANELS = {"true_positive_rate": "True positive rate", "true_negative_rate": "True negative rate"}
WAYS = (
    (PASS_RATE, "people"), (PASS_RATE, "judge alone"), (ROGAN_GLADEN, "Rogan–Gladen"), (CORRECTED, "PPI++"),
)  # fmt: skip


def pass_fail_figure(report: CalibrationReport, width: float = FULL_PAGE) -> Figure | None:
    """One row for each judge, then the annotators; None where no rate exists over all criteria. `width`: inches."""
    pooled = [estimate for estimate in pooled_in(report) if estimate.statistic in PANELS]
    judges = compared_with_people(pooled)
    if not judges:
        return None
    estimates = {(estimate.rater, estimate.statistic): estimate for estimate in pooled}
    panels = []
    for name, title in PANELS.items():
        people = estimates.get((PEOPLE, name))
        panels.append(Panel(title, (*(estimates.get((judge, name)) for judge in judges), people), people))
    names = [*judges, AMONG] if any(panel.people for panel in panels) else judges
    drawn = tuple(estimate for panel in panels for estimate in panel.column if estimate is not None)
    with themed():
        canvas = draw_rows(names, panels, width)
    caption = worded(
        "How often each judge is right about what annotators say passes and about what they say fails, each "
        "annotator's label in turn: points with {level:g} % intervals over whole clusters ({clusters:,} "
        "clusters){undefined}.",
        level=100 * report.settings.level, clusters=report.labels.clusters, undefined=undefined(drawn),
    )  # fmt: skip
    return Figure("pass_fail", caption, drawn, canvas)


def pass_rates_figure(report: CalibrationReport, width: float = FULL_PAGE, judge: str = "") -> Figure | None:
    """Four rows for each system: by people, by one judge (the choice's, or the first), and corrected in two ways.

    None where nothing is known to pass over all criteria, or no judge is beside people. `width`: inches.
    """
    judge = judge or judge_shown(report)
    pooled = [estimate for estimate in report.estimates if estimate.criterion == WHOLE]
    estimates = {(estimate.statistic, estimate.rater, estimate.category): estimate for estimate in pooled}
    categories = list(dict.fromkeys(estimate.category for estimate in pooled if estimate.statistic == ROGAN_GLADEN))
    if not categories:
        return None
    rows: list[tuple[str, Estimate | None]] = []
    for category in categories:
        for statistic, way in WAYS:
            rater = PEOPLE if way == "people" else judge
            rows.append((f"{system_of(category)}, {way}", estimates.get((statistic, rater, category))))
    drawn = tuple(estimate for _, estimate in rows if estimate is not None)
    if all(math.isnan(estimate.value) for estimate in drawn):
        return None
    with themed():
        canvas = draw_rows(
            [name for name, _ in rows], [Panel("Pass rate", tuple(estimate for _, estimate in rows), None)], width
        )
    caption = (
        f"Pass rates by people, by {judge} alone, and by {judge} without its errors (Rogan and Gladen's correction and "
        f"prediction-powered inference): points with {100 * report.settings.level:g} % intervals over whole clusters"
        f"{undefined(drawn)}."
    )
    return Figure("pass_rates", caption, drawn, canvas)


def judge_shown(report: CalibrationReport) -> str:
    """The judge that the choice puts first where it has a corrected rate, else the first that has."""
    known = list(dict.fromkeys(estimate.rater for estimate in report.estimates if estimate.statistic == ROGAN_GLADEN))
    foremost = report.choice.foremost if report.choice else None
    return foremost.judge if foremost and foremost.judge in known else next(iter(known), "")
