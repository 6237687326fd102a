"""The table `annotators`: how far people agree with each other, pair by pair, each with the others, and together."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from calibration.metrics import HEADLINE, METRICS
from calibration.results import CalibrationReport, Estimate
from exports.cells import Cell
from exports.sheets.criteria import Found, agreement
from exports.tables import ALPHAS, AMONG, PEOPLE, Column, Table
from exports.words.notes import agreement_key, label_agreement, methods, origin, remarks


def annotators_table(report: CalibrationReport) -> Table | None:
    """Agreement, κ and α of people, pooled over criteria; None where no two of them share an answer."""
    rows = list(_people(report))
    if not rows:
        return None
    metrics = {metric.name: metric for metric in METRICS}
    headline = HEADLINE[report.settings.ties]
    alpha = next((name for name in ALPHAS if any(name in found for _, found in rows)), ALPHAS[-1])
    shown = {"cohen_kappa": metrics["cohen_kappa"], alpha: metrics["krippendorff_alpha"]}
    shown = {name: metric for name, metric in shown.items() if any(name in found for _, found in rows)}
    columns = [Column("raters", "Raters"), Column(agreement_key(report), metrics["percent_agreement"].title, "PA")]
    columns += [Column(name, metric.title, metric.symbol) for name, metric in shown.items()]
    columns += [Column("n", "n"), Column("clusters", "Clusters", "C")]
    cells: list[tuple[Cell, ...]] = []
    for name, found in rows:
        first = agreement(found, headline) or next(iter(found.values()))
        cells.append((name, agreement(found, headline), *(found.get(key) for key in shown), first.n, first.clusters))
    used = [cell for row in cells for cell in row if isinstance(cell, Estimate)]
    notes = (
        "n counts pairs of labels by two people on the same item and criterion; a person's second answer to an item "
        "is no pair.",
        label_agreement(report),
        *_about_alpha(alpha, shown),
        *methods(used, report),
        *remarks([column.title for column in columns], cells),
        origin(report),
    )
    return Table("annotators", "Agreement of annotators with each other", tuple(columns), tuple(cells), notes)


def _people(report: CalibrationReport) -> Iterator[tuple[str, Found]]:
    """Two by two where the report compares them so, each with the others, then all; two people are one pair."""
    people = list(report.data["annotators"])
    pooled = [one for one in report.estimates if one.criterion == one.category == "all"]
    found: dict[tuple[str, str], Found] = {}
    for one in pooled:
        if one.rater in people or one.rater == PEOPLE:
            found.setdefault((one.rater, one.reference), {})[one.statistic] = one
    pairs = [(left, right) for left, right in found if right in people]
    for left, right in pairs:
        yield f"{left} and {right}", found[left, right]
    if len(people) == 2 and not pairs and (people[0], "others") in found:
        yield " and ".join(people), found[people[0], "others"]
    elif len(people) > 2:
        for name in people:
            if (name, "others") in found:
                yield f"{name} and the others", found[name, "others"]
        if (PEOPLE, "others") in found:
            yield AMONG, found[PEOPLE, "others"]


def _about_alpha(alpha: str, shown: Collection[str]) -> Iterator[str]:
    if alpha in shown:
        yield f"α is {alpha.rpartition('_')[2]}, over items and criteria that two people or more have labelled."
