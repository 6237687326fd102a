"""The table `criteria`: on which criteria judges agree with people, one row for each criterion and rater."""

from __future__ import annotations

from collections.abc import Iterator

from calibration.metrics import HEADLINE, METRICS
from calibration.results import CalibrationReport, Estimate
from exports.cells import Cell
from exports.tables import AMONG, BASELINES, PEOPLE, Column, Table
from exports.words.notes import agreement_key, label_agreement, methods, origin, remarks

Found = dict[str, Estimate]  # statistic -> estimate


def criteria_table(report: CalibrationReport) -> Table | None:
    """Judges against the annotators and the annotators among themselves, criterion by criterion; None where the
    report holds several criteria and was made without `per_criterion`.
    """
    rows = list(by_criterion(report))
    if not rows:
        return None
    titles = {metric.name: metric.title for metric in METRICS}
    headline = HEADLINE[report.settings.ties]
    columns = [Column("criterion", "Criterion"), Column("rater", "Rater")]
    columns.append(Column(agreement_key(report), titles["percent_agreement"], "PA"))
    # scores can be too fine to agree on as labels
    wanted = ("cohen_kappa", *(["spearman"] if "rating" in report.data["criteria"].values() else []))
    wanted = tuple(name for name in wanted if any(name in found for _, _, found in rows))
    symbols = {metric.name: metric.symbol for metric in METRICS}
    columns += [Column(name, titles[name], symbols[name]) for name in wanted]
    columns += [Column("baseline", titles["constant_judge_baseline"], "base")]
    columns += [Column("n", "n"), Column("clusters", "Clusters", "C")]
    cells: list[tuple[Cell, ...]] = []
    for criterion, rater, found in rows:
        first = agreement(found, headline) or next(iter(found.values()))
        row: list[Cell] = [criterion, rater, agreement(found, headline), *(found.get(name) for name in wanted)]
        cells.append((*row, baseline(found), first.n, first.clusters))
    used = [cell for row in cells for cell in row if isinstance(cell, Estimate)]
    notes = (
        "Each judge is compared with every annotator's label on the same item; n counts these comparisons.",
        label_agreement(report),
        *methods(used, report),
        "The best constant answer, what a judge reaches that does not read, is the best of several: no interval.",
        *remarks([column.title for column in columns], [_without(row, len(wanted) + 3) for row in cells], names=2),
        origin(report),
    )
    return Table("criteria", "Agreement criterion by criterion", tuple(columns), tuple(cells), notes)


def _without(row: tuple[Cell, ...], position: int) -> tuple[Cell, ...]:
    return (*row[:position], None, *row[position + 1 :])


def by_criterion(report: CalibrationReport) -> Iterator[tuple[str, str, Found]]:
    """Criterion, rater and its statistics, in the order of the report: each judge, then the annotators."""
    names = list(report.data["criteria"])
    single = len(names) == 1  # all criteria together are then the criterion itself
    estimates = [one for one in report.estimates if one.category == "all" and (single or one.criterion != "all")]
    for name in names:
        own = [one for one in estimates if one.criterion == ("all" if single else name)]
        for rater in dict.fromkeys(one.rater for one in own if one.reference == PEOPLE):
            yield name, rater, {one.statistic: one for one in own if (one.rater, one.reference) == (rater, PEOPLE)}
        people = {one.statistic: one for one in own if (one.rater, one.reference) == (PEOPLE, "others")}
        if people:
            yield name, AMONG, people


def agreement(found: Found, headline: str) -> Estimate | None:
    """Agreement under the report's tie rule; labels that know no ties have only the one agreement."""
    return found.get(headline, found.get("percent_agreement"))


def baseline(found: Found) -> Estimate | None:
    """What the best judge reaches that does not read, the higher of the two; None where it is unknown."""
    return max((found[name] for name in BASELINES if name in found), key=lambda one: one.value, default=None)
