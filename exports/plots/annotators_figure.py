"""The figures `annotators` and `annotator_pairs`: how far people agree with each other, each one and two by two."""

import math

from calibration.agreement.catalogue import HEADLINE
from calibration.results import CalibrationReport, Estimate
from exports import cells, figures, tables
from exports.plots import forest, theme, value_maps
from exports.sheets.agreement import agreement
from exports.words.notes import label_agreement_in_caption
from plain.wording import worded

NARROW = 0.28  # inches of a column: a value of 8 pt needs them
SAME = value_maps.Printed(theme.PAPER, "", theme.INK)  # an annotator with himself


def annotators_figure(report: CalibrationReport, width: float = theme.FULL_PAGE) -> figures.Figure | None:
    """One row for each annotator with the others, by falling agreement, then all of them, whose interval is the band.

    Two people are one row. None where no two share an answer. A crowd is drawn without names.
    """
    pooled = [estimate for estimate in tables.pooled_in(report) if estimate.reference == "others"]
    estimates = {(estimate.rater, estimate.statistic): estimate for estimate in pooled}
    names = {estimate.rater for estimate in pooled}
    people = [name for name in report.labels.annotators if name in names]
    statistics = forest.statistics_shown(
        report, "annotators", (estimate for estimate in pooled if estimate.rater in (*people, tables.PEOPLE))
    )
    if not people or not statistics:
        return None
    people.sort(key=lambda name: figures.falling(estimates.get((name, next(iter(statistics))))))
    rows = people if len(people) > 2 else people[:1]
    panels = []
    for name, statistic in statistics.items():
        everyone = estimates.get((tables.PEOPLE, name)) if len(people) > 2 else None
        column = (*(estimates.get((row, name)) for row in rows), *([everyone] if len(people) > 2 else []))
        panels.append(forest.Panel(tables.titled(report, name, statistic.title, asked=None), column, everyone))
    said = [*rows, tables.AMONG] if len(people) > 2 else [" and ".join(sorted(people))]
    with theme.themed():
        canvas = forest.draw_rows(said, panels, width)
    drawn = tuple(estimate for panel in panels for estimate in panel.column if estimate is not None)
    who = worded("each annotator with the others") if len(people) > 2 else worded("the two annotators")
    band = worded("; the grey band is all annotators among themselves") if len(people) > 2 else ""
    caption = worded(
        "Agreement of {who}, pooled over criteria, with {level:g} % intervals that resample whole clusters "
        "({spread} pairs of labels, {clusters:,} clusters){band}{undefined}{label_agreement_in_caption}.",
        who=who, level=100 * report.settings.level, spread=cells.spread(one.n for one in drawn),
        clusters=report.labels.clusters, band=band, undefined=forest.undefined(drawn),
        label_agreement_in_caption=label_agreement_in_caption(report, asked=None),
    )  # fmt: skip
    return figures.Figure("annotators", caption, drawn, canvas)


def annotator_pairs(report: CalibrationReport, width: float = theme.FULL_PAGE) -> figures.Figure | None:
    """Annotators by annotators, darker is more agreement; None unless three to ten of them were compared two by two.

    None too where they do not fit `width` inches. A value without an interval is grey and not shaded.
    """
    people = list(report.labels.annotators)
    headline = HEADLINE[report.settings.ties]
    by_pair: dict[tuple[str, str], dict[str, Estimate]] = {}
    for estimate in tables.pooled_in(report):
        if {estimate.rater, estimate.reference} <= {*people}:
            by_pair.setdefault((estimate.rater, estimate.reference), {})[estimate.statistic] = estimate
    known = {pair: agreement(statistics, headline) for pair, statistics in by_pair.items()}
    found = {pair: estimate for pair, estimate in known.items() if estimate is not None}
    people = [name for name in people if any(name in pair for pair in found)]
    if len(people) < 3:
        return None
    printed = {(name, name): SAME for name in people}
    for (left, right), estimate in found.items():
        printed[left, right] = printed[right, left] = _printed(estimate)
    with theme.themed():
        canvas = value_maps.draw_map(people, people, printed, width, NARROW)
    if canvas is None:
        return None
    drawn = tuple(found.values())
    thin = "; grey values have no interval" * any(
        math.isnan(estimate.low) for estimate in drawn if not math.isnan(estimate.value)
    )
    bare = len(drawn) < len(people) * (len(people) - 1) // 2 or any(math.isnan(estimate.value) for estimate in drawn)
    dash = "; a dash has no value, the two share no answer" * bare
    n, clusters = (cells.spread(getattr(estimate, name) for estimate in drawn) for name in ("n", "clusters"))
    caption = (
        f"Agreement of annotators two by two, pooled over criteria, darker is more ({n} pairs of labels in {clusters} "
        f"clusters each){thin}{dash}; the table has the intervals"
        f"{label_agreement_in_caption(report, asked=None)}."
    )
    return figures.Figure("annotator_pairs", caption, drawn, canvas)


def _printed(estimate: Estimate) -> value_maps.Printed:
    text = cells.shown(estimate)[0]
    if math.isnan(estimate.low):
        return value_maps.Printed(theme.PAPER, text, theme.INK_SOFT)
    return value_maps.Printed(theme.tint(0.72 * max(0.0, (estimate.value - 0.3) / 0.7)), text, theme.INK)
