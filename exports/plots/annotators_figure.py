"""The figures `annotators` and `annotator_pairs`: how far people agree with each other, each one and two by two."""

from __future__ import annotations

import math

from calibration.metrics import HEADLINE
from calibration.results import CalibrationReport, Estimate
from exports.cells import shown, spread
from exports.figures import Figure
from exports.plots.forest import TITLES, Panel, draw_rows, statistics_shown, undefined
from exports.plots.theme import FULL_PAGE, INK, INK_SOFT, PAPER, themed, tint
from exports.plots.value_map import Printed, draw_map
from exports.sheets.criteria import agreement
from exports.tables import AMONG, PEOPLE
from exports.words.notes import label_agreement_in_caption

NARROW = 0.28  # inches of a column: a value of 8 pt needs them
SAME = Printed(PAPER, "", INK)  # an annotator with himself


def annotators_figure(report: CalibrationReport, width: float = FULL_PAGE) -> Figure | None:
    """One row for each annotator with the others, by falling agreement, then all of them, whose interval is the band.

    Two people are one row. None where no two share an answer. A crowd is drawn without names.
    """
    pooled = [one for one in report.estimates if one.criterion == one.category == "all" and one.reference == "others"]
    found = {(one.rater, one.statistic): one for one in pooled}
    names = {one.rater for one in pooled}
    people = [name for name in report.data["annotators"] if name in names]
    statistics = [
        name for name in statistics_shown(report, pooled) if any((one, name) in found for one in (*people, PEOPLE))
    ]
    if not people or not statistics:
        return None
    people.sort(key=lambda name: _falling(found.get((name, statistics[0]))))
    rows = people if len(people) > 2 else people[:1]
    panels = []
    for name in statistics:
        everyone = found.get((PEOPLE, name)) if len(people) > 2 else None
        column = (*(found.get((one, name)) for one in rows), *([everyone] if len(people) > 2 else []))
        panels.append(Panel(TITLES[name], column, everyone))
    said = [*rows, AMONG] if len(people) > 2 else [" and ".join(sorted(people))]
    with themed():
        canvas = draw_rows(said, panels, width)
    drawn = tuple(one for panel in panels for one in panel.column if one is not None)
    who = "each annotator with the others" if len(people) > 2 else "the two annotators"
    band = "; the grey band is all annotators among themselves" if len(people) > 2 else ""
    caption = (
        f"Agreement of {who}, pooled over criteria, with {100 * report.settings.level:g} % intervals that resample "
        f"whole clusters ({spread(one.n for one in drawn)} pairs of labels, {report.data['clusters']:,} clusters)"
        f"{band}{undefined(drawn)}{label_agreement_in_caption(report)}."
    )
    return Figure("annotators", caption, drawn, canvas)


def annotator_pairs(report: CalibrationReport, width: float = FULL_PAGE) -> Figure | None:
    """Annotators by annotators, darker is more agreement; None unless three to ten of them were compared two by two.

    None too where they do not fit `width` inches. A value without an interval is grey and not shaded.
    """
    people = list(report.data["annotators"])
    headline = HEADLINE[report.settings.ties]
    by_pair: dict[tuple[str, str], dict[str, Estimate]] = {}
    for one in report.estimates:
        if one.criterion == one.category == "all" and {one.rater, one.reference} <= {*people}:
            by_pair.setdefault((one.rater, one.reference), {})[one.statistic] = one
    known = {pair: agreement(statistics, headline) for pair, statistics in by_pair.items()}
    found = {pair: one for pair, one in known.items() if one is not None}
    people = [name for name in people if any(name in pair for pair in found)]
    if len(people) < 3:
        return None
    printed = {(name, name): SAME for name in people}
    for (left, right), one in found.items():
        printed[left, right] = printed[right, left] = _printed(one)
    with themed():
        canvas = draw_map(people, people, printed, width, NARROW)
    if canvas is None:
        return None
    drawn = tuple(found.values())
    thin = "; grey values have no interval" * any(math.isnan(one.low) for one in drawn if not math.isnan(one.value))
    bare = len(drawn) < len(people) * (len(people) - 1) // 2 or any(math.isnan(one.value) for one in drawn)
    dash = "; a dash has no value, the two share no answer" * bare
    n, clusters = (spread(getattr(one, name) for one in drawn) for name in ("n", "clusters"))
    caption = (
        f"Agreement of annotators two by two, pooled over criteria, darker is more ({n} pairs of labels in {clusters} "
        f"clusters each){thin}{dash}; the table has the intervals"
        f"{label_agreement_in_caption(report)}."
    )
    return Figure("annotator_pairs", caption, drawn, canvas)


def _printed(one: Estimate) -> Printed:
    text = shown(one)[0]
    if math.isnan(one.low):
        return Printed(PAPER, text, INK_SOFT)
    return Printed(tint(0.72 * max(0.0, (one.value - 0.3) / 0.7)), text, INK)


def _falling(one: Estimate | None) -> float:
    return math.inf if one is None or math.isnan(one.value) else -one.value
