"""The table a reader sees first: what a judge's agreement must be read beside, in as few columns as that takes."""

from __future__ import annotations

from calibration.metrics import HEADLINE
from calibration.results import CalibrationReport, Estimate
from exports.cells import Cell
from exports.sheets.criteria import Found, agreement, baseline
from exports.tables import AMONG, PEOPLE, Column, Table, per_thousand
from exports.words.notes import label_agreement, methods, origin, remarks


def summary_table(report: CalibrationReport) -> Table:
    """Judges by falling agreement, then the annotators: agreement, κ, best constant answer, n, clusters, cost."""
    pooled = [one for one in report.estimates if one.criterion == one.category == "all"]
    headline = HEADLINE[report.settings.ties]
    judges = list(dict.fromkeys(one.rater for one in pooled if one.reference == PEOPLE))
    rows: list[tuple[str, Found, Estimate | None]] = []
    for judge in judges:
        found = {one.statistic: one for one in pooled if (one.rater, one.reference) == (judge, PEOPLE)}
        rows.append((judge, found, per_thousand(pooled, judge)))
    rows.sort(key=lambda row: _falling(agreement(row[1], headline)))
    people = {one.statistic: one for one in pooled if (one.rater, one.reference) == (PEOPLE, "others")}
    if people:
        rows.append((AMONG, people, per_thousand(pooled, PEOPLE)))
    ranked = set(report.data["criteria"].values()) == {"rating"}
    second = "spearman" if ranked else "cohen_kappa"
    columns = [Column("rater", "rater"), Column("agreement", "agreement"), Column(second, "ρ" if ranked else "κ")]
    columns += [Column("baseline", "constant"), Column("n", "n"), Column("clusters", "clusters")]
    priced = any(cost for _, _, cost in rows)
    columns += [Column("cost_per_1000_items", "USD / 1,000")] * priced
    cells: list[tuple[Cell, ...]] = []
    for name, found, cost in rows:
        first = agreement(found, headline) or next(iter(found.values()))
        row: tuple[Cell, ...] = (name, agreement(found, headline), found.get(second), baseline(found))
        cells.append((*row, first.n, first.clusters, *([cost] * priced)))
    at = [column.key for column in columns].index("baseline")  # the best of several: it never has an interval
    read = [(*row[:at], None, *row[at + 1 :]) for row in cells]
    notes = (
        "n counts comparisons of a judge with one annotator's label on the same item and criterion; constant: the best "
        "answer that is always the same, in a judge's row also the best for each pair of systems; without an interval.",
        label_agreement(report),
        *methods([cell for row in cells for cell in row if isinstance(cell, Estimate)], report),
        *remarks([column.title for column in columns], read),
        origin(report),
    )
    return Table("summary", "Agreement with the annotators", tuple(columns), tuple(cells), notes)


def _falling(one: Estimate | None) -> tuple[bool, float]:
    """Undefined ones last."""
    return (False, -one.value) if one is not None and one.value == one.value else (True, 0.0)
