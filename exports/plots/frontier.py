"""The figure `frontier`: what each judge's agreement costs, before the annotators' own agreement as a band."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibration.choosing.choice import Candidate
from calibration.results import CalibrationReport, Estimate
from exports.cells import number
from exports.figures import WIDE, Figure, Onto, own_canvas
from exports.plots.names import Box, Point, places, told_apart, width_of
from exports.plots.theme import BAND, BAR, FULL_PAGE, INK, INK_SOFT, LINE, OKABE_ITO, PAPER, TEXT, lettered, themed
from exports.tables import PEOPLE, pooled_in
from exports.words.notes import BY_RULE, label_agreement_in_caption, per_1000_items
from plain.wording import worded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

HEIGHTS = (2.6, 3.2, 4.0, 5.0, 6.4)  # inches; the first in which every name finds room
CROWD = 0.15, 0.25  # inches of height for each judge, on a wide and a narrow figure: names stay near their points
LEFT, BELOW, ABOVE, RIGHT = 0.34, 0.42, 0.28, 0.06  # inches around the axes
APART = 0.6  # inches for judges that are free, or of unknown cost: a logarithmic scale has no place for them
INSIDE = 0.16  # inches between the ends of the scale and its outermost judges
LINE_OF_TEXT = 0.125  # inches
ROOMS = (0.95, 1.9, 2.4)  # inches for a name; a wide figure starts with the second
MARK = 0.045  # inches from the middle of a point to its edge
ANNOTATORS, PEOPLE_BESIDE, KEY = "annotators", 0.66, 0.15  # inches right of a wide axes, and above a narrow one


@dataclass(frozen=True)
class Plan:
    """From values to inches in the axes. `low`, `high`: the agreements at their ends."""

    wide: float
    tall: float
    low: float
    high: float
    costs: tuple[float, float]  # per 1,000 items, at the ends of the scale
    free: bool
    unknown: bool

    def x(self, candidate: Candidate) -> float:
        """Free judges left of the scale, those of unknown cost right of it."""
        if math.isnan(candidate.cost_per_item):
            return self.wide - APART / 2
        return APART / 2 if not candidate.cost_per_item else self.along(1000 * candidate.cost_per_item)

    def along(self, cost: float) -> float:
        """A cost per 1,000 items, above 0."""
        start, end = APART * self.free + INSIDE, self.wide - APART * self.unknown - INSIDE
        low, high = map(math.log10, self.costs)
        return start + (end - start) * (math.log10(cost) - low) / (high - low)

    def y(self, agreement: float) -> float:
        return self.tall * (min(self.high, max(self.low, agreement)) - self.low) / (self.high - self.low)


def frontier(report: CalibrationReport, width: float = FULL_PAGE, onto: Onto = own_canvas) -> Figure | None:
    """Agreement over the cost of 1,000 items, logarithmic; None where no judge has a known cost above 0.

    A free judge stands left of the scale and one of unknown cost right of it. `width`: inches.
    """
    choice = report.choice
    tried = [
        candidate for candidate in (choice.candidates if choice else ()) if not math.isnan(candidate.agreement.value)
    ]
    if choice is None or not any(candidate.cost_per_item > 0 for candidate in tried):
        return None
    ceiling = _ceiling(report)
    titles = BY_RULE.get(choice.plan.ties, "Agreement with the annotators"), per_1000_items(report)
    with themed():
        least = CROWD[width < WIDE] * len(tried)
        heights = [height for height in HEIGHTS if height >= least] or HEIGHTS[-1:]
        drawings = (_draw(titles, tried, choice.judge, ceiling, width, height, onto) for height in heights)
        canvas = next((drawing for drawing in drawings if drawing is not None), None)
    if canvas is None:
        return None  # more names than a page has room for
    drawn = (*(candidate.agreement for candidate in tried), *([ceiling] if ceiling else []))
    return Figure("frontier", _caption(report, tried, choice.judge, ceiling), drawn, canvas)


def _ceiling(report: CalibrationReport) -> Estimate | None:
    """The annotators' own agreement with each other, over all their labels."""
    own = (one for one in pooled_in(report) if one.rater == PEOPLE and one.statistic.startswith("human_ceiling"))
    return next((one for one in own if not math.isnan(one.value)), None)


def _caption(
    report: CalibrationReport, tried: Sequence[Candidate], chosen: str | None, ceiling: Estimate | None
) -> str:
    at_once = worded(" that hold for all judges at once") if len(tried) > 1 else ""
    parts = [
        worded(
            "Agreement of each judge with the annotators and what it costs, with {level:g} % intervals{at_once}",
            level=100 * report.settings.level,
            at_once=at_once,
        )
    ]
    if sum(candidate.on_frontier for candidate in tried) > 1:
        parts.append(worded("the line joins the judges that no other matches in agreement at the same or a lower cost"))
    if chosen:
        parts.append(worded("the filled point is the chosen judge"))
    if ceiling:
        parts.append(worded("the grey band is a left-out annotator's agreement with the others"))
    if any(math.isnan(candidate.agreement.low) for candidate in tried):
        parts.append(worded("a point without a bar has no interval (the table says why)"))
    return worded("{lead}.", lead=worded("; ").join(parts) + label_agreement_in_caption(report, asked=True))


def _plan(tried: Sequence[Candidate], ceiling: Estimate | None, width: float, height: float) -> Plan:
    shown = [candidate.agreement for candidate in tried] + ([ceiling] if ceiling else [])
    ends = [end for estimate in shown for end in (estimate.low, estimate.value, estimate.high) if not math.isnan(end)]
    low, high = math.floor(10 * max(0.0, min(ends))) / 10, math.ceil(10 * min(1.0, max(ends)) - 1e-9) / 10
    if high - low < 0.2:
        low, high = max(0.0, high - 0.2), max(0.2, high)
    known = [1000 * candidate.cost_per_item for candidate in tried if candidate.cost_per_item > 0]
    costs = min(known), max(known)
    if costs[1] < 10 * costs[0]:  # less than a decade says too little about the scale
        wider = math.sqrt(10 * costs[0] / costs[1])
        costs = (costs[0] / wider, costs[1] * wider)
    free, unknown = (
        any(test(candidate.cost_per_item) for candidate in tried) for test in (lambda cost: cost == 0, math.isnan)
    )
    return Plan(width - LEFT - RIGHT, height - BELOW - ABOVE, low, high, costs, free, unknown)


def _draw(
    titles: tuple[str, str], tried: Sequence[Candidate], chosen: str | None, ceiling: Estimate | None, width: float,
    height: float, onto: Onto,
) -> Canvas | None:  # fmt: skip
    """None where the names do not fit this height."""
    beside = PEOPLE_BESIDE if ceiling and width > WIDE else 0.0  # inches
    plan = _plan(tried, ceiling, width - beside, height)
    canvas = onto(width, height)
    axes = canvas.add_axes((LEFT / width, BELOW / height, plan.wide / width, plan.tall / height))
    axes.set_xlim(0, plan.wide)
    axes.set_ylim(0, plan.tall)
    axes.set_title(lettered(titles[0]), loc="left", pad=8, color=INK, x=-0.28 / plan.wide)
    axes.set_xlabel(lettered(titles[1]), labelpad=3, color=INK_SOFT)
    taken = [*_scales(axes, plan), *_people(axes, plan, ceiling, beside > 0), *_line(axes, plan, tried)]
    drawn = sorted(tried, key=lambda one: (one.judge != chosen, not one.on_frontier, one.judge))
    points = [(plan.x(candidate), plan.y(candidate.agreement.value)) for candidate in drawn]
    for one, (x, y) in zip(drawn, points, strict=True):
        colour = OKABE_ITO[0] if one.on_frontier or one.judge == chosen else INK_SOFT
        if not math.isnan(one.agreement.low):
            ends = plan.y(one.agreement.low), plan.y(one.agreement.high)
            axes.plot([x, x], ends, color=colour, lw=BAR, solid_capstyle="butt", zorder=2)
            taken.append(Box(x - 0.01, ends[0], x + 0.01, ends[1]))
        fill = colour if one.judge == chosen else PAPER
        axes.plot([x], [y], "o", ms=4.6, mfc=fill, mec=colour, mew=BAR, zorder=3, clip_on=False)
        taken.append(Box(x - MARK, y - MARK, x + MARK, y + MARK))
    names = told_apart([candidate.judge for candidate in drawn], ROOMS[0 if width < WIDE else 1 :])
    return canvas if _names(axes, plan, points, names, taken) else None


def _names(axes: Axes, plan: Plan, points: Sequence[Point], judges: Sequence[str], taken: Sequence[Box]) -> bool:
    """Every judge's name beside its point; False where they find no room."""
    sizes = [(width_of(name, TEXT) + 0.02, LINE_OF_TEXT) for name in judges]
    placed = places(points, sizes, taken, Box(0.02, 0.03, plan.wide, plan.tall))
    for name, place in zip(judges, placed or (), strict=False):
        box = place.box
        axes.text(box.left, (box.low + box.high) / 2, name, va="center_baseline", color=INK, zorder=5)
        if place.line:
            axes.plot(*zip(*place.line, strict=True), color=INK_SOFT, lw=0.5, zorder=1.5)
    return placed is not None


def _people(axes: Axes, plan: Plan, ceiling: Estimate | None, beside: bool) -> list[Box]:
    if ceiling is None:
        return []
    if not math.isnan(ceiling.low):
        axes.axhspan(plan.y(ceiling.low), plan.y(ceiling.high), color=BAND, lw=0, zorder=0)
    middle = plan.y(ceiling.value)
    axes.axhline(middle, color=INK_SOFT, lw=0.6, ls=(0, (2, 2)), zorder=1)
    at, side = ((plan.wide, middle), "left") if beside else ((plan.wide, plan.tall + KEY), "right")
    axes.annotate(
        lettered(ANNOTATORS), at, (3 if beside else 0, 0), textcoords="offset points", ha=side, va="center_baseline",
        color=INK_SOFT, annotation_clip=False,
    )  # fmt: skip
    if not beside:  # no room at the right: what the band is stands above it
        end = plan.wide - width_of(lettered(ANNOTATORS), TEXT) - 0.06
        axes.fill_between([end - 0.2, end], plan.tall + KEY - 0.045, plan.tall + KEY + 0.045, color=BAND, lw=0,
                          clip_on=False)  # fmt: skip
        axes.plot([end - 0.2, end], [plan.tall + KEY] * 2, color=INK_SOFT, lw=0.6, ls=(0, (2, 2)), clip_on=False)
    return [Box(0, middle - 0.005, plan.wide, middle + 0.005)]


def _line(axes: Axes, plan: Plan, tried: Sequence[Candidate]) -> list[Box]:
    """From each judge on the frontier to the next dearer one: until then more money buys no more agreement."""
    steps = sorted(
        (plan.x(candidate), plan.y(candidate.agreement.value)) for candidate in tried if candidate.on_frontier
    )
    boxes = []
    for (x, y), (next_x, next_y) in itertools.pairwise(steps):
        axes.plot([x, next_x, next_x], [y, y, next_y], color=OKABE_ITO[0], lw=0.6, zorder=1.5)
        boxes += [Box(x, y - 0.005, next_x, y + 0.005), Box(next_x - 0.005, y, next_x + 0.005, next_y)]
    return boxes


def _scales(axes: Axes, plan: Plan) -> list[Box]:
    boxes = []
    step = next(step for step in (0.05, 0.1, 0.2, 0.5) if (plan.high - plan.low) / step <= plan.tall / 0.3)
    first, last = math.ceil(plan.low / step - 1e-9), math.floor(plan.high / step + 1e-9)
    levels = [step * count for count in range(first, last + 1)]
    axes.set_yticks([plan.y(level) for level in levels], [number(level, 2 if step < 0.1 else 1) for level in levels])
    axes.tick_params(axis="y", labelcolor=INK_SOFT)
    axes.grid(axis="y", color=LINE, lw=0.4)
    axes.set_axisbelow(True)
    costs = _round_costs(plan)
    axes.set_xticks([plan.along(cost) for cost in costs], [_usd(cost) for cost in costs])
    for there, x, edge, word in (
        (plan.free, APART / 2, APART, "free"),
        (plan.unknown, plan.wide - APART / 2, plan.wide - APART, "unknown"),
    ):
        if there:
            axes.axvline(edge, color=LINE, lw=0.6, zorder=0.5)
            axes.annotate(
                word, (x, 0), (0, -5.5), textcoords="offset points", ha="center", va="top", color=INK_SOFT,
                annotation_clip=False,
            )  # fmt: skip
            boxes.append(Box(edge, 0, edge, plan.tall))
    return boxes


def _round_costs(plan: Plan) -> list[float]:
    """The densest round costs whose words do not touch."""
    low, high = (math.log10(cost) for cost in plan.costs)
    decades = range(math.floor(low) - 1, math.ceil(high) + 1)
    for digits, every in (((1, 2, 5), 1), ((1, 3), 1), ((1,), 1), ((1,), 2), ((1,), 4)):
        costs = [digit * 10.0**power for power in decades if not power % every for digit in digits]
        costs = [cost for cost in costs if low - 1e-9 <= math.log10(cost) <= high + 1e-9]
        rooms = [(plan.along(cost), width_of(_usd(cost), TEXT) / 2) for cost in costs]
        if all(x - w > last + v + 0.08 for (last, v), (x, w) in itertools.pairwise(rooms)):
            return costs
    return []


def _usd(cost: float) -> str:
    return number(cost, max(0, -math.floor(math.log10(cost) + 1e-9)))
