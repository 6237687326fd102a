"""The figure `answers`: how often each rater says A, tie and B. Marginals, without which no agreement is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from calibration.results import CalibrationReport
from exports.figures import Figure, names_at_left, own_canvas
from exports.plots.theme import FULL_PAGE, INK, INK_SOFT, LINE, OKABE_ITO, PAPER, themed
from exports.words.notes import is_of_study

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

ROW, TWO_LINES = 0.22, 0.29  # inches
ABOVE, BELOW, RIGHT, GAP = 0.22, 0.05, 0.48, 0.1
FILLS = {"A": (OKABE_ITO[0], PAPER), "tie": (LINE, INK), "B": (OKABE_ITO[5], INK)}  # of the bar, of its text
SEEN = 0.2  # inches from which a part of a bar has room for its number


def answers(report: CalibrationReport, width: float = FULL_PAGE) -> Figure | None:
    """One row for each judge, then the annotators together; None unless every criterion compares pairs.

    `width`: inches. Shares of A, tie and B among a rater's usable answers, in per cent; their number at the right.
    """
    if set(report.labels.criteria.values()) != {"pairwise"}:
        return None
    said: Mapping[str, Mapping[str, int]] = report.labels.marginals or {}
    rows = [(judge, said.get(judge, {})) for judge in report.labels.judges]
    people = [said[name] for name in report.labels.annotators if name in said]
    rows.append(("annotators", {label: sum(person.get(label, 0) for person in people) for label in FILLS}))
    counted = [(name, [counts.get(label, 0) for label in FILLS]) for name, counts in rows]
    counted = [(name, counts) for name, counts in counted if sum(counts)]
    if not counted:
        return None
    with themed():
        canvas = _draw(counted, width)
    planned = "A and B were named when the pair was made, before anyone answered."
    caption = (
        "How often each rater names A, a tie or B, in per cent of its usable answers, with their number at the right; "
        f"{planned if is_of_study(report) else 'A and B are as the file of labels names them.'}"
    )
    return Figure("answers", caption, (), canvas)


def _draw(rows: Sequence[tuple[str, Sequence[int]]], width: float) -> Canvas:
    left = names_at_left([name for name, _ in rows], width)
    row = TWO_LINES if any("\n" in name for name in left.lines) else ROW
    height = BELOW + row * len(rows) + ABOVE
    room = width - left.room - GAP - RIGHT
    canvas = own_canvas(width, height)
    axes = canvas.add_axes(((left.room + GAP) / width, BELOW / height, room / width, row * len(rows) / height))
    axes.set_xlim(0, 100)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.axis("off")
    for y, (_, counts) in enumerate(rows):
        start, total = 0.0, sum(counts)
        for count, (fill, ink) in zip(counts, FILLS.values(), strict=True):
            share = 100 * count / total
            axes.barh(y, share, left=start, height=0.72, color=fill, edgecolor=PAPER, linewidth=0.8)
            if share * room / 100 > SEEN:
                axes.text(start + share / 2, y, f"{share:.0f}", ha="center", va="center_baseline", color=ink)
            start += share
        axes.annotate(
            f"{total:,}",
            (100, y),
            (4, 0),
            textcoords="offset points",
            va="center",
            color=INK_SOFT,
            annotation_clip=False,
        )
    for label, at, side in (("A", 0, "left"), ("tie", 50, "center"), ("B", 100, "right")):
        axes.annotate(
            label,
            (at, 1.0),
            (0, 3),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha=side,
            color=INK_SOFT,
        )
    left.write(canvas, [BELOW + row * (len(rows) - index - 0.5) for index in range(len(rows))])
    return canvas
