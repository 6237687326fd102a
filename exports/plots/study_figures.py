"""The figures of one study, planned and running: the width of its interval, its agreement so far, its annotators."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from calibration.people.annotator_quality import AnnotatorQuality
from calibration.results import Estimate
from calibration.sizing import planning, study_plan
from calibration.sizing.agreement_so_far import AgreementSoFar
from exports.cells import DASH, number, shown, spread
from exports.figures import Figure, names_at_left, own_canvas
from exports.plots.theme import BAND, BAR, FULL_PAGE, INK, INK_SOFT, LINE, OKABE_ITO, PAPER, TEXT, lettered, themed
from plain.wording import worded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

BLUE, RED = OKABE_ITO[0], OKABE_ITO[1]
HEIGHT, ROW = 2.5, 0.24  # inches
STEPS, BESIDE, SECOND = 6.4, 6.0, 4.1  # inches: each leaves room beside it on a page
NAMED = 12  # annotators up to which each point of the scatter has its name


def agreement_steps(so_far: AgreementSoFar, half_width: float, pairs: str, width: float = STEPS) -> Figure | None:
    """Agreement and its interval after each cluster, and the intervals to expect of more of them.

    `pairs`: what clusters are called. None where fewer than two have two annotators.
    """
    steps = [estimate for estimate in so_far.steps if not math.isnan(estimate.value)]
    if len(steps) < 2:
        return None
    last, needed = steps[-1], so_far.needed(half_width).clusters
    known = [estimate for estimate in steps if not math.isnan(estimate.low)]
    most = max(1.25 * last.clusters, min(needed or 0, 6 * last.clusters), 10)
    with themed():
        canvas = own_canvas(width, HEIGHT)
        axes = canvas.add_axes((0.42 / width, 0.42 / HEIGHT, (width - 1.4) / width, (HEIGHT - 0.5) / HEIGHT))
        _axes(
            axes,
            most,
            [*(end for estimate in known[len(known) // 2 :] for end in (estimate.low, estimate.high)), last.value],
            pairs,
        )
        at = [estimate.clusters for estimate in known]
        axes.fill_between(
            at, [estimate.low for estimate in known], [one.high for one in known], color=BAND, lw=0, zorder=1
        )
        axes.plot(
            [estimate.clusters for estimate in steps], [step.value for step in steps], color=BLUE, lw=BAR, zorder=3
        )
        axes.plot([last.clusters], [last.value], "o", ms=5, color=BLUE, zorder=4)
        _label(axes, (last.clusters, last.value), f"{number(last.value, 2)} {shown(last)[1]}", above=True)
        _expected(axes, so_far, last, most)
        if needed and last.clusters < needed <= most:
            axes.axvline(needed, color=INK_SOFT, lw=0.6, ls=(0, (3, 2)), zorder=1)
            told = lettered("{needed}: ±{half_width:g} points", needed=needed, half_width=100 * half_width)
            _label(axes, (needed, axes.get_ylim()[1]), told, above=False)
    expected = (
        worded("; dashed, the interval to expect of more") if not math.isnan(so_far.expected(last.clusters)) else ""
    )
    caption = worded(
        "Share of equal answers of two annotators by number of {pairs}s with two or more of them, in the order "
        "handed in, with {level:g} % intervals from whole clusters{expected}.",
        pairs=worded(pairs), level=100 * so_far.level, expected=expected,
    )  # fmt: skip
    return Figure("agreement_so_far", caption, (last,), canvas)


def annotators_at_work(annotators: Sequence[AnnotatorQuality], width: float = BESIDE) -> Figure | None:
    """One row for each annotator: agreement, side, equal answers within an item, and change of agreement."""
    rows = [
        annotator
        for annotator in annotators
        if not math.isnan(annotator.agreement.value) or not math.isnan(annotator.left.value)
    ]
    if not rows:
        return None
    drift = {
        annotator.rater: signal.estimate for annotator in rows for signal in annotator.signals if signal.name == "drift"
    }
    panels = (
        ("agreement", [annotator.agreement for annotator in rows], "agreement", (0.0, 1.0), math.nan),
        ("taken on the left", [annotator.left for annotator in rows], "side", (0.0, 1.0), 0.5),
        ("same answer", [annotator.same_answer for annotator in rows], "same_answer", (0.0, 1.0), math.nan),
        ("change", [drift[annotator.rater] for annotator in rows], "drift", _around_0(drift.values()), 0.0),
    )
    with themed():
        tall = ROW * len(rows)
        height = tall + 0.62
        canvas = own_canvas(width, height)
        names = names_at_left([annotator.rater for annotator in rows], width, lines=1, room=1.1)
        each = (width - names.room - 0.1) / len(panels)
        for place, (title, estimates, name, ends, middle) in enumerate(panels):
            left = names.room + 0.12 + place * each
            axes = canvas.add_axes((left / width, 0.3 / height, (each - 0.3) / width, tall / height))
            axes.set_title(lettered(title), loc="left", pad=5, color=INK)
            axes.set_xlim(*ends)
            axes.set_ylim(len(rows) - 0.5, -0.5)
            axes.set_yticks([])
            ticks = [ends[0], sum(ends) / 2, ends[1]]
            axes.set_xticks(ticks, [number(tick, 1) if tick % 1 else f"{tick:g}".replace("-", "−") for tick in ticks])
            if not math.isnan(middle):
                axes.axvline(middle, color=LINE, lw=0.8, zorder=1)
            for y, (one, estimate) in enumerate(zip(rows, estimates, strict=True)):
                _mark(axes, estimate, y, any(flag.name == name for flag in one.flags))
        names.write(canvas, [0.3 + tall - ROW * (place + 0.5) for place in range(len(rows))])
    drawn = tuple(estimate for _, estimates, _, _, _ in panels for estimate in estimates)
    caption = worded(
        "Agreement with the others; winners taken on the left; answers of an item that are its most frequent "
        "one; and the change of agreement, beside the others', from the first half of the work to the second. "
        "Intervals from whole clusters; filled red: flagged ({spread} labels each).",
        spread=spread(row.agreement.n for row in rows),
    )
    return Figure("annotators_at_work", caption, drawn, canvas)


def speed_by_agreement(annotators: Sequence[AnnotatorQuality], width: float = SECOND) -> Figure | None:
    """One point for each annotator: active minutes of an item, and agreement with the others, with intervals."""
    rows = [
        annotator
        for annotator in annotators
        if not math.isnan(annotator.minutes.value) and not math.isnan(annotator.agreement.value)
    ]
    if not rows:
        return None
    with themed():
        canvas = own_canvas(width, HEIGHT)
        axes = canvas.add_axes((0.42 / width, 0.42 / HEIGHT, (width - 1.3) / width, (HEIGHT - 0.5) / HEIGHT))
        ends = [end for annotator in rows for end in _ends(annotator.agreement)]
        axes.set_xscale("log")
        _minutes(axes, [end for annotator in rows for end in _ends(annotator.minutes)])
        _shares(axes, ends)
        axes.set_xlabel(lettered("active minutes of an item, median"))
        for annotator in rows:
            flagged = any(flag.name in ("speed", "agreement") for flag in annotator.flags)
            colour = RED if flagged else BLUE
            (low, high), (left, right) = _ends(annotator.agreement), _ends(annotator.minutes)
            axes.plot([annotator.minutes.value] * 2, [low, high], color=colour, lw=BAR / 2, zorder=2)
            axes.plot([left, right], [annotator.agreement.value] * 2, color=colour, lw=BAR / 2, zorder=2)
            axes.plot([annotator.minutes.value], [annotator.agreement.value], "o", ms=5, mec=colour, mew=BAR,
                      mfc=colour if flagged else PAPER, zorder=3)  # fmt: skip
        _name_points(axes, rows[:NAMED] if len(rows) <= NAMED else [annotator for annotator in rows if annotator.flags])
    caption = worded(
        "Active minutes of an item and agreement with the others, one point an annotator, with intervals from "
        "whole clusters. Filled red: flagged for one of the two."
    )
    return Figure(
        "speed_by_agreement",
        caption,
        tuple(x for annotator in rows for x in (annotator.minutes, annotator.agreement)),
        canvas,
    )


def _name_points(axes: Axes, rows: Sequence[AnnotatorQuality]) -> None:
    """At the right of the plot, as high as the point where there is room, with a thin line to it."""
    low, high = axes.get_ylim()
    step, right = (high - low) * 0.085, axes.get_xlim()[1]
    below = high
    for place, one in enumerate(sorted(rows, key=lambda one: -one.agreement.value)):
        floor = low + step * (len(rows) - 1 - place)
        y = max(min(one.agreement.value, below), floor)
        below = y - step
        axes.plot([one.minutes.value, right], [one.agreement.value, y], color=LINE, lw=0.6, zorder=1, clip_on=False)
        axes.annotate(one.rater, (right, y), (4, 0), textcoords="offset points", va="center", color=INK, size=TEXT,
                      annotation_clip=False)  # fmt: skip


def _axes(axes: Axes, most: float, ends: Sequence[float], pairs: str) -> None:
    axes.set_xlim(0.5, most + 0.5)
    _shares(axes, ends)
    axes.set_xlabel(lettered("{pairs}s with two or more annotators", pairs=worded(pairs)))
    step = max(1, round(most / 8))
    axes.set_xticks(range(step, math.floor(most) + 1, step))


def _shares(axes: Axes, ends: Sequence[float]) -> None:
    """From the tenth below the lowest to the tenth above the highest."""
    low = max(0.0, math.floor(10 * min(ends) - 0.5) / 10)
    high = min(1.0, math.ceil(10 * max(ends) + 0.5) / 10)
    axes.set_ylim(low, high)
    ticks = np.arange(low, high + 0.01, 0.1 if high - low <= 0.5 else 0.2)
    axes.set_yticks(ticks, [f"{100 * tick:.0f} %" for tick in ticks], color=INK_SOFT)
    axes.yaxis.grid(True, color=LINE, lw=0.5)
    axes.set_axisbelow(True)


def _minutes(axes: Axes, ends: Sequence[float]) -> None:
    low, high = min(ends) / 1.3, max(ends) * 1.3
    axes.set_xlim(low, high)
    ticks = [tick for tick in (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 240) if low <= tick <= high]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def _expected(axes: Axes, so_far: AgreementSoFar, last: Estimate, most: float) -> None:
    """The funnel of intervals to come, if clusters go on to differ as they did."""
    at = np.arange(last.clusters, math.floor(most) + 1)
    half = np.array([so_far.expected(int(count)) for count in at])
    for way in (-1, 1):
        axes.plot(at, last.value + way * half, color=INK_SOFT, lw=0.8, ls=(0, (3, 2)), zorder=2)


def _mark(axes: Axes, estimate: Estimate, y: int, flagged: bool) -> None:
    if math.isnan(estimate.value):
        axes.text(0.5, y, DASH, transform=axes.get_yaxis_transform(), ha="center", va="center", color=INK_SOFT)
        return
    colour = RED if flagged else BLUE
    if not math.isnan(estimate.low):
        axes.plot([estimate.low, estimate.high], [y, y], color=colour, lw=BAR, solid_capstyle="butt", zorder=2)
    axes.plot([estimate.value], [y], "o", ms=4.2, mfc=colour if flagged else PAPER, mec=colour, mew=BAR, zorder=3,
              clip_on=False)  # fmt: skip


def _label(axes: Axes, at: tuple[float, float], text: str, above: bool, ink: str = INK) -> None:
    axes.annotate(
        text, at, (5, 5 if above else -11), textcoords="offset points", color=ink, size=TEXT, zorder=5,
        annotation_clip=False, bbox={"boxstyle": "square,pad=.1", "fc": PAPER, "ec": "none", "alpha": 0.8},
    )  # fmt: skip


def _ends(estimate: Estimate) -> tuple[float, float]:
    return (estimate.value, estimate.value) if math.isnan(estimate.low) else (estimate.low, estimate.high)


def _around_0(estimates: Iterable[Estimate]) -> tuple[float, float]:
    ends = [abs(end) for estimate in estimates for end in (estimate.value, *_ends(estimate)) if not math.isnan(end)]
    reach = min(1.0, math.ceil(10 * max([0.2, *ends]) - 1e-9) / 10)
    return -reach, reach


ICCS = (0.02, 0.05, 0.1, 0.2, 0.5)
PLAN_HEIGHT = 2.6  # inches
FEWEST = 5  # topics
HALF_WIDTHS, TICKS = (0.005, 0.4), (0.01, 0.02, 0.05, 0.1, 0.2)
APART = 0.28  # of two lines' logarithms at their ends, for a name of 8 pt at each


def plan_figure(plan: study_plan.StudyPlan, goals: study_plan.Goals, width: float = FULL_PAGE) -> Figure | None:
    """One line for each of several ICCs, the plan's own in colour. `width`: inches.

    None where the plan's ICC or variance is not known.
    """
    if math.isnan(plan.icc) or not plan.variance > 0:
        return None
    needed = next(aim.needed.clusters for aim in plan.aims if aim.aim == "interval")
    most = max(200, min(5_000, 2 * (needed or 0)))
    with themed():
        canvas, axes = _framed(width, most, goals)
        _lines(axes, plan, goals.level, most)
        if needed and FEWEST <= needed <= most:
            axes.plot([needed], [goals.half_width], "o", ms=5, color=OKABE_ITO[0], zorder=4)
            axes.annotate(
                lettered("{needed:,} topics", needed=needed), (needed, goals.half_width), (6, 6),
                textcoords="offset points", color=INK, size=TEXT,
                bbox={"boxstyle": "square,pad=.1", "fc": PAPER, "ec": "none"}, zorder=5,
            )  # fmt: skip
    caption = worded(
        "Half-width of the {level:g} % interval of agreement by number of topics, {labels_per_topic:,.4g} "
        "labels of each: a line for each ICC, the plan's own in blue; dashed, the half-width wanted.",
        level=100 * goals.level, labels_per_topic=plan.design.labels_per_topic,
    )  # fmt: skip
    return Figure("plan", caption, (), canvas)


def draw_figure(plan: study_plan.StudyPlan, goals: study_plan.Goals, width: float = FULL_PAGE) -> Figure | None:
    """Half-width of agreement by topics that people label: at random, and drawn where they say most. `width`: inches.

    None where the plan has no pilot that tells what a draw is worth, or nobody said how many topics there are.
    """
    found = next((aim.drawn for aim in plan.aims if aim.aim == "interval"), None)
    if plan.pilot is None or found is None:
        return None
    topics = np.unique(np.geomspace(FEWEST, found.of, 60).round().astype(int))
    random = [planning.half_width_of_sd(count, plan.pilot.scores.sd, goals.level) for count in topics.tolist()]
    labelled, ratio = np.array(found.ratios).T
    drawn = random * np.sqrt(np.interp(topics, labelled, ratio))
    with themed():
        canvas, axes = _framed(width, found.of, goals)
        axes.set_ylim(0.8 * min(*drawn, goals.half_width), 1.1 * max(*random, goals.half_width))
        names = lettered("at random"), lettered("drawn")
        for widths, name, colour, dashes in ((random, names[0], INK_SOFT, (0, (1, 1))), (drawn, names[1], BLUE, "-")):
            axes.plot(topics, widths, color=colour, lw=BAR, ls=dashes, label=name)
        axes.legend(loc="upper right", frameon=False, fontsize=TEXT)
    caption = worded(
        "Half-width of the {level:g} % interval of agreement by topics that people label, of {of:,} that "
        "judges answer: at random, and drawn where judges' answers say most; dashed, the half-width wanted.",
        level=100 * goals.level, of=found.of,
    )  # fmt: skip
    return Figure("draw", caption, (), canvas)


def _framed(width: float, most: int, goals: study_plan.Goals) -> tuple[Canvas, Axes]:
    """Room for half-widths of up to `most` topics, with a line at the one that is wanted."""
    canvas = own_canvas(width, PLAN_HEIGHT)
    axes = canvas.add_axes((0.5 / width, 0.45 / PLAN_HEIGHT, (width - 1.2) / width, (PLAN_HEIGHT - 0.5) / PLAN_HEIGHT))
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(FEWEST, most)
    axes.set_ylim(*HALF_WIDTHS)
    topics = [count for count in (5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000) if count <= most]
    axes.set_xticks(topics, [f"{count:,}" for count in topics])
    axes.set_yticks(TICKS, [f"±{number(tick, 2)}" for tick in TICKS], color=INK_SOFT)
    axes.minorticks_off()
    axes.yaxis.grid(True, color=LINE, lw=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel(lettered("topics"))
    axes.axhline(goals.half_width, color=INK, lw=0.8, ls=(0, (3, 2)), zorder=1)
    return canvas, axes


def _lines(axes: Axes, plan: study_plan.StudyPlan, level: float, most: int) -> None:
    """The plan's own line, then each other one whose name has room at its end."""
    own = max(0.0, plan.icc)
    topics = np.unique(np.geomspace(FEWEST, most, 80).round().astype(int)).tolist()
    ends: list[float] = []
    for icc in (own, *ICCS):
        sd = math.sqrt(plan.variance / planning.effective_labels(max(1.0, plan.design.labels_per_topic), icc))
        widths = [planning.half_width_of_sd(count, sd, level) for count in topics]
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
