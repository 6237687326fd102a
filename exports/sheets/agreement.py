"""The tables of agreement: `summary` for one screen, `criteria` one by one, and `annotators` among themselves."""

import math
from collections.abc import Collection, Iterator

from calibration.agreement.catalogue import AGREEMENT, HEADLINE, beside_agreement, statistic_of
from calibration.results import CalibrationReport, Estimate
from exports import tables
from exports.cells import Cell
from exports.tables import AMONG, BASELINES, COUNTS, PEOPLE, Column, Table, noted_table
from exports.words.notes import (
    agreement_key,
    agreement_title,
    label_agreement,
    methods,
    origin,
    other_constant,
    remarks,
    unweighted,
)
from plain.wording import worded

Found = dict[str, Estimate]  # statistic -> estimate


def criteria_table(report: CalibrationReport) -> Table | None:
    """Judges against the annotators and the annotators among themselves, criterion by criterion; None where the
    report holds several criteria and was made without `per_criterion`.
    """
    rows = list(by_criterion(report))
    if not rows:
        return None
    headline, leads, last = HEADLINE[report.settings.ties], statistic_of(AGREEMENT), statistic_of(BASELINES[0])
    columns = [Column("criterion", "Criterion"), Column("rater", "Rater")]
    columns.append(Column(agreement_key(report), agreement_title(report), leads.symbol))
    known = {name for _, _, estimates in rows for name in estimates}
    wanted = beside_agreement("table criteria", report.labels.criteria.values(), known)
    columns += [Column(name, statistic.title, statistic.symbol) for name, statistic in wanted.items()]
    columns += [Column("baseline", last.title, last.symbol)]
    columns += COUNTS
    cells: list[tuple[Cell, ...]] = []
    for criterion, rater, estimates in rows:
        first = agreement(estimates, headline) or next(iter(estimates.values()))
        name = worded(AMONG) if rater == AMONG else rater
        row: list[Cell] = [criterion, name, agreement(estimates, headline), *(estimates.get(name) for name in wanted)]
        cells.append((*row, baseline(estimates), first.n, first.clusters))
    notes = (
        "Each judge is compared with every annotator's label on the same item; n counts these comparisons.",
        label_agreement(report),
        *unweighted(report, [column.key for column in columns]),
        *methods(tables.estimates_in(cells), report),
        "The commonest answer, what a judge reaches that always gives it and does not read, is the best of several: no "
        "interval.",
        *remarks([column.title for column in columns], [tables.dashed(row, len(wanted) + 3) for row in cells], names=2),
        origin(report),
    )
    return Table("criteria", "Agreement criterion by criterion", tuple(columns), tuple(cells), notes)


def by_criterion(report: CalibrationReport) -> Iterator[tuple[str, str, Found]]:
    """Criterion, rater and its statistics, in the order of the report: each judge, then the annotators."""
    names = list(report.labels.criteria)
    single = len(names) == 1  # all criteria together are then the criterion itself
    estimates = [one for one in report.estimates if one.category == "all" and (single or one.criterion != "all")]
    for name in names:
        own = [one for one in estimates if one.criterion == ("all" if single else name)]
        yield from (
            (name, rater, tables.by_statistic(own, rater, PEOPLE)) for rater in tables.compared_with_people(own)
        )
        if people := tables.by_statistic(own, PEOPLE, "others"):
            yield name, AMONG, people


def agreement(estimates: Found, headline: str) -> Estimate | None:
    """Agreement under the report's tie rule; labels that know no ties have only the one agreement."""
    return estimates.get(headline, estimates.get("percent_agreement"))


def baseline(estimates: Found) -> Estimate | None:
    """What the best judge reaches that does not read, the higher of the two; None where it is unknown."""
    return max((estimates[name] for name in BASELINES if name in estimates), key=lambda one: one.value, default=None)


def summary_table(report: CalibrationReport) -> Table:
    """Judges by falling agreement, then the annotators: agreement, κ, commonest answer, n, clusters, cost."""
    pooled, headline = tables.pooled_in(report), HEADLINE[report.settings.ties]
    rows = [
        (judge, tables.by_statistic(pooled, judge, PEOPLE), tables.per_thousand(pooled, judge))
        for judge in tables.compared_with_people(pooled)
    ]
    rows.sort(key=lambda row: _falling(agreement(row[1], headline)))
    if people := tables.by_statistic(pooled, PEOPLE, "others"):
        rows.append((worded(AMONG), people, tables.per_thousand(pooled, PEOPLE)))
    known = {name for _, estimates, _ in rows for name in estimates} if rows else None
    others = beside_agreement("table summary", report.labels.criteria.values(), known)
    columns = [Column("rater", "rater"), Column("agreement", agreement_title(report, asked=None).lower())]
    columns += [Column(name, statistic.symbol) for name, statistic in others.items()]
    columns += [Column("baseline", "common"), Column("n", "n"), Column("clusters", "clusters")]
    priced = any(cost for _, _, cost in rows)
    columns += [Column("cost_per_1000_items", f"{report.labels.money} / 1,000")] * priced
    cells: list[tuple[Cell, ...]] = []
    for name, estimates, cost in rows:
        first = agreement(estimates, headline) or next(iter(estimates.values()))
        row: tuple[Cell, ...] = (name, agreement(estimates, headline), *map(estimates.get, others), baseline(estimates))
        cells.append((*row, first.n, first.clusters, *([cost] * priced)))
    at = [column.key for column in columns].index("baseline")  # the best of several: it never has an interval
    read = [tables.dashed(row, at) for row in cells]
    notes = (
        "n counts comparisons of a judge with one annotator's label on the same item and criterion; common: "
        "what always giving the commonest answer reaches, in a judge's row also that of each pair of systems; without "
        "an interval.",
        *other_constant(report, {name: one.value for name, own, _ in rows if (one := baseline(own))}),
        label_agreement(report),
        *methods(tables.estimates_in(cells), report),
        *remarks([column.title for column in columns], read),
        origin(report),
    )
    return Table("summary", "Agreement with the annotators", tuple(columns), tuple(cells), notes)


def points_table(points: CalibrationReport) -> Table:
    """Agreement before the rest of a report is there: `summary`, or `criteria` where nothing is pooled.

    `points`: what `calibration.calibrate.calibrate` tells whoever waits, first values alone, then with intervals.
    """
    table = summary_table(points)
    table = table if table.rows else criteria_table(points) or table
    kept = [number for number, column in enumerate(table.columns) if column.key != "baseline"]
    bounded = any(not math.isnan(one.low) for one in points.estimates)
    rows = tuple(tuple(row[number] if bounded else _value(row[number]) for number in kept) for row in table.rows)
    title = f"Points of {points.labels.rows:,} labels; their intervals and the choice follow"
    title = f"Agreement in {points.labels.rows:,} labels; the choice and the rest follow" if bounded else title
    columns = tuple(table.columns[number] for number in kept)
    return Table("points", title, columns, rows, (label_agreement(points),))


def _value(cell: Cell) -> Cell:
    return cell.value if isinstance(cell, Estimate) else cell


def _falling(estimate: Estimate | None) -> tuple[bool, float]:
    """Undefined ones last."""
    return (False, -estimate.value) if estimate is not None and estimate.value == estimate.value else (True, 0.0)


def annotators_table(report: CalibrationReport) -> Table | None:
    """Agreement, κ and α of people, pooled over criteria; None where no two of them share an answer."""
    rows = list(_people(report))
    if not rows:
        return None
    headline, leads = HEADLINE[report.settings.ties], statistic_of(AGREEMENT)
    known = {name for _, estimates in rows for name in estimates}
    shown = beside_agreement("table annotators", report.labels.criteria.values(), known)
    columns = [
        Column("raters", "Raters"),
        Column(agreement_key(report), agreement_title(report, asked=None), leads.symbol),
    ]
    columns += [Column(name, metric.title, metric.symbol) for name, metric in shown.items()]
    columns += COUNTS
    cells: list[tuple[Cell, ...]] = []
    for name, estimates in rows:
        first = agreement(estimates, headline) or next(iter(estimates.values()))
        cells.append(
            (name, agreement(estimates, headline), *(estimates.get(key) for key in shown), first.n, first.clusters)
        )
    reading = (
        "n counts pairs of labels by two people on the same item and criterion; a person's second answer to an item "
        "is no pair.",
        label_agreement(report, asked=None),
        *unweighted(report, [column.key for column in columns]),
        *_about_alpha(shown),
    )
    return noted_table("annotators", "Agreement of annotators with each other", columns, cells, reading, report)


def _people(report: CalibrationReport) -> Iterator[tuple[str, Found]]:
    """Two by two where the report compares them so, each with the others, then all; two people are one pair."""
    people = list(report.labels.annotators)
    found: dict[tuple[str, str], Found] = {}
    for estimate in tables.pooled_in(report):
        if estimate.rater in people or estimate.rater == PEOPLE:
            found.setdefault((estimate.rater, estimate.reference), {})[estimate.statistic] = estimate
    pairs = [(left, right) for left, right in found if right in people]
    for left, right in pairs:
        yield worded("{left} and {right}", left=left, right=right), found[left, right]
    if len(people) == 2 and not pairs and (people[0], "others") in found:
        yield " and ".join(people), found[people[0], "others"]
    elif len(people) > 2:
        for name in people:
            if (name, "others") in found:
                yield worded("{name} and the others", name=name), found[name, "others"]
        if (PEOPLE, "others") in found:
            yield worded(AMONG), found[PEOPLE, "others"]


def _about_alpha(shown: Collection[str]) -> Iterator[str]:
    for name in shown:
        family, _, level = name.rpartition("_")
        if family == "krippendorff_alpha":
            yield f"α is {level}, over items and criteria that two people or more have labelled."
