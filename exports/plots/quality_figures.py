"""The figures of a running study: agreement by number of pairs, how annotators differ, and speed by agreement."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from calibration.people.agreement_so_far import AgreementSoFar
from calibration.people.annotator_quality import AnnotatorQuality
from calibration.results import Estimate
from exports.cells import DASH, number, shown, spread
from exports.figures import Figure, names_at_left
from exports.plots.theme import BAND, BAR, INK, INK_SOFT, LINE, OKABE_ITO, PAPER, TEXT, themed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, RED = OKABE_ITO[0], OKABE_ITO[1]
HEIGHT, ROW = 2.5, 0.24  # inches
STEPS, BESIDE, SECOND = 6.4, 6.0, 4.1  # inches: each leaves room beside it on a page
NAMED = 12  # annotators up to which each point of the scatter has its name


def agreement_steps(found: AgreementSoFar, half_width: float, pairs: str, width: float = STEPS) -> Figure | None:
    """Agreement and its interval after each cluster, and the intervals to expect of more of them.

    `pairs`: what clusters are called. None where fewer than two have two annotators.
    """
    steps = [one for one in found.steps if not math.isnan(one.value)]
    if len(steps) < 2:
        return None
    last, needed = steps[-1], found.needed(half_width).clusters
    known = [one for one in steps if not math.isnan(one.low)]
    most = max(1.25 * last.clusters, min(needed or 0, 6 * last.clusters), 10)
    with themed():
        from matplotlib.figure import Figure as Canvas

        canvas = Canvas(figsize=(width, HEIGHT))
        axes = canvas.add_axes((0.42 / width, 0.42 / HEIGHT, (width - 1.4) / width, (HEIGHT - 0.5) / HEIGHT))
        _axes(
            axes, most, [*(end for one in known[len(known) // 2 :] for end in (one.low, one.high)), last.value], pairs
        )
        at = [one.clusters for one in known]
        axes.fill_between(at, [one.low for one in known], [one.high for one in known], color=BAND, lw=0, zorder=1)
        axes.plot([one.clusters for one in steps], [one.value for one in steps], color=BLUE, lw=BAR, zorder=3)
        axes.plot([last.clusters], [last.value], "o", ms=5, color=BLUE, zorder=4)
        _label(axes, (last.clusters, last.value), f"{number(last.value, 2)} {shown(last)[1]}", above=True)
        _expected(axes, found, last, most)
        if needed and last.clusters < needed <= most:
            axes.axvline(needed, color=INK_SOFT, lw=0.6, ls=(0, (3, 2)), zorder=1)
            _label(axes, (needed, axes.get_ylim()[1]), f"{needed}: ±{100 * half_width:g} points", above=False)
    expected = "; dashed, the interval to expect of more" if not math.isnan(found.expected(last.clusters)) else ""
    caption = (
        f"Share of equal answers of two annotators by number of {pairs}s with two or more of them, in the order handed "
        f"in, with {100 * found.level:g} % intervals from whole clusters{expected}."
    )
    return Figure("agreement_so_far", caption, (last,), canvas)


def annotators_at_work(found: Sequence[AnnotatorQuality], width: float = BESIDE) -> Figure | None:
    """One row for each annotator: agreement, side, equal answers within an item, and change of agreement."""
    rows = [one for one in found if not math.isnan(one.agreement.value) or not math.isnan(one.left.value)]
    if not rows:
        return None
    drift = {one.rater: signal.estimate for one in rows for signal in one.signals if signal.name == "drift"}
    panels = (
        ("agreement", [one.agreement for one in rows], "agreement", (0.0, 1.0), math.nan),
        ("taken on the left", [one.left for one in rows], "side", (0.0, 1.0), 0.5),
        ("same answer", [one.same_answer for one in rows], "same_answer", (0.0, 1.0), math.nan),
        ("change", [drift[one.rater] for one in rows], "drift", _around_0(drift.values()), 0.0),
    )
    with themed():
        from matplotlib.figure import Figure as Canvas

        tall = ROW * len(rows)
        height = tall + 0.62
        canvas = Canvas(figsize=(width, height))
        names = names_at_left([one.rater for one in rows], width, lines=1, room=1.1)
        each = (width - names.room - 0.1) / len(panels)
        for place, (title, estimates, name, ends, middle) in enumerate(panels):
            left = names.room + 0.12 + place * each
            axes = canvas.add_axes((left / width, 0.3 / height, (each - 0.3) / width, tall / height))
            axes.set_title(title, loc="left", pad=5, color=INK)
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
    drawn = tuple(one for _, estimates, _, _, _ in panels for one in estimates)
    caption = (
        "Agreement with the others; winners taken on the left; answers of an item that are its most frequent one; and "
        "the change of agreement, beside the others', from the first half of the work to the second. Intervals from "
        f"whole clusters; filled red: flagged ({spread(one.agreement.n for one in rows)} labels each)."
    )
    return Figure("annotators_at_work", caption, drawn, canvas)


def speed_by_agreement(found: Sequence[AnnotatorQuality], width: float = SECOND) -> Figure | None:
    """One point for each annotator: active minutes of an item, and agreement with the others, with intervals."""
    rows = [one for one in found if not math.isnan(one.minutes.value) and not math.isnan(one.agreement.value)]
    if not rows:
        return None
    with themed():
        from matplotlib.figure import Figure as Canvas

        canvas = Canvas(figsize=(width, HEIGHT))
        axes = canvas.add_axes((0.42 / width, 0.42 / HEIGHT, (width - 1.3) / width, (HEIGHT - 0.5) / HEIGHT))
        ends = [end for one in rows for end in _ends(one.agreement)]
        axes.set_xscale("log")
        _minutes(axes, [end for one in rows for end in _ends(one.minutes)])
        _shares(axes, ends)
        axes.set_xlabel("active minutes of an item, median")
        for one in rows:
            flagged = any(flag.name in ("speed", "agreement") for flag in one.flags)
            colour = RED if flagged else BLUE
            (low, high), (left, right) = _ends(one.agreement), _ends(one.minutes)
            axes.plot([one.minutes.value] * 2, [low, high], color=colour, lw=BAR / 2, zorder=2)
            axes.plot([left, right], [one.agreement.value] * 2, color=colour, lw=BAR / 2, zorder=2)
            axes.plot([one.minutes.value], [one.agreement.value], "o", ms=5, mec=colour, mew=BAR,
                      mfc=colour if flagged else PAPER, zorder=3)  # fmt: skip
        _name_points(axes, rows[:NAMED] if len(rows) <= NAMED else [one for one in rows if one.flags])
    caption = (
        "Active minutes of an item and agreement with the others, one point an annotator, with intervals from whole "
        "clusters. Filled red: flagged for one of the two."
    )
    return Figure("speed_by_agreement", caption, tuple(x for one in rows for x in (one.minutes, one.agreement)), canvas)


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
    axes.set_xlabel(f"{pairs}s with two or more annotators")
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


def _expected(axes: Axes, found: AgreementSoFar, last: Estimate, most: float) -> None:
    """The funnel of intervals to come, if clusters go on to differ as they did."""
    at = np.arange(last.clusters, math.floor(most) + 1)
    half = np.array([found.expected(int(count)) for count in at])
    for way in (-1, 1):
        axes.plot(at, last.value + way * half, color=INK_SOFT, lw=0.8, ls=(0, (3, 2)), zorder=2)


def _mark(axes: Axes, one: Estimate, y: int, flagged: bool) -> None:
    if math.isnan(one.value):
        axes.text(0.5, y, DASH, transform=axes.get_yaxis_transform(), ha="center", va="center", color=INK_SOFT)
        return
    colour = RED if flagged else BLUE
    if not math.isnan(one.low):
        axes.plot([one.low, one.high], [y, y], color=colour, lw=BAR, solid_capstyle="butt", zorder=2)
    axes.plot([one.value], [y], "o", ms=4.2, mfc=colour if flagged else PAPER, mec=colour, mew=BAR, zorder=3,
              clip_on=False)  # fmt: skip


def _label(axes: Axes, at: tuple[float, float], text: str, above: bool, ink: str = INK) -> None:
    axes.annotate(
        text, at, (5, 5 if above else -11), textcoords="offset points", color=ink, size=TEXT, zorder=5,
        annotation_clip=False, bbox={"boxstyle": "square,pad=.1", "fc": PAPER, "ec": "none", "alpha": 0.8},
    )  # fmt: skip


def _ends(one: Estimate) -> tuple[float, float]:
    return (one.value, one.value) if math.isnan(one.low) else (one.low, one.high)


def _around_0(found: Iterable[Estimate]) -> tuple[float, float]:
    ends = [abs(end) for one in found for end in (one.value, *_ends(one)) if not math.isnan(end)]
    reach = min(1.0, math.ceil(10 * max([0.2, *ends]) - 1e-9) / 10)
    return -reach, reach
