"""Tables of a calibration report, before any format.

What stands in which cell, and the notes that make it readable alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from calibration.metrics import HEADLINE, METRICS
from calibration.results import CalibrationReport, Estimate
from calibration.verdicts import BOTH_ORDERS
from exports.cells import Cell, shown
from exports.errors import ExportError
from exports.words.notes import label_agreement, methods, origin, remarks

BASELINES = ("constant_judge_baseline", "constant_judge_baseline_by_system")
ALPHAS = ("krippendorff_alpha_ordinal", "krippendorff_alpha_interval", "krippendorff_alpha_nominal")
PEOPLE = "each_annotator"
AMONG = "annotators among themselves"


@dataclass(frozen=True)
class Column:
    """`key` heads the column in CSV and JSON, `title` in print; `symbol` in a narrow page, with a note."""

    key: str
    title: str
    symbol: str = ""


@dataclass(frozen=True)
class Table:
    """What a paper prints, unrounded. `rows`: one cell per column.

    An Estimate cell carries its own interval and method.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        for row in self.rows:
            for column, cell in zip(self.columns, row, strict=True):
                if isinstance(cell, Estimate):
                    refuse_bare(cell, column.title)


def refuse_bare(cell: Estimate, title: str) -> None:
    """Raises `bare_number` on an estimate without a method, or without an interval and a note that says why."""
    bare = not cell.method or (math.isnan(cell.low) and not cell.note)
    if bare:
        raise ExportError(
            "bare_number",
            f"{title} of {cell.rater} ({cell.statistic} = {cell.value}) has no "
            f"{'method' if not cell.method else 'interval and no note'}; every number travels with both",
        )


def agreement_table(report: CalibrationReport) -> Table:
    """One row per judge against the annotators, then the annotators among themselves, pooled over criteria."""
    pooled = [one for one in report.estimates if one.criterion == one.category == "all"]
    rows = [(rater, _by_statistic(pooled, rater, PEOPLE)) for rater in _judges(pooled)]
    rows += [(AMONG, found) for found in [_by_statistic(pooled, PEOPLE, "others")] if found]
    metrics = {metric.name: metric for metric in METRICS}
    headline = HEADLINE[report.settings.ties]
    if not any(headline in found for _, found in rows):
        headline = "percent_agreement"
    alpha = next((name for name in ALPHAS if any(name in found for _, found in rows)), ALPHAS[-1])
    wanted = {
        headline: metrics["percent_agreement"],
        "cohen_kappa": metrics["cohen_kappa"],
        "cohen_kappa_symmetrised": metrics["cohen_kappa_symmetrised"],
        alpha: metrics["krippendorff_alpha"],
        "pearson": metrics["pearson"],
        "spearman": metrics["spearman"],
    }
    shown = [name for name in wanted if any(name in found for _, found in rows)]
    rows = [(rater, found) for rater, found in rows if any(name in found for name in shown)]
    costs = {rater: per_thousand(pooled, rater) for rater, _ in rows}
    columns = [Column("rater", "Rater"), *(Column(name, wanted[name].title, wanted[name].symbol) for name in shown)]
    columns += [Column("n", "n"), Column("clusters", "Clusters", "C")]
    if any(costs.values()):
        columns.append(Column("cost_per_1000_items", "USD per 1,000 items", "USD"))
    cells: list[tuple[Cell, ...]] = []
    for rater, found in rows:
        first = found.get(headline)
        row: list[Cell] = [rater, *(found.get(name) for name in shown)]
        row += [first.n if first else 0, first.clusters if first else 0]
        cells.append((*row, costs[rater]) if any(costs.values()) else tuple(row))
    used = [cell for row in cells for cell in row if isinstance(cell, Estimate)]
    notes = (
        *_reading(report, headline),
        *_orders(rater for rater, _ in rows),
        *_beside(rows),
        *methods(used, report),
        *remarks([column.title for column in columns], cells),
        origin(report),
    )
    return Table("agreement", "Agreement of judges with annotators", tuple(columns), tuple(cells), notes)


def _judges(pooled: Sequence[Estimate]) -> list[str]:
    return list(dict.fromkeys(one.rater for one in pooled if one.reference == PEOPLE))


def _by_statistic(pooled: Sequence[Estimate], rater: str, reference: str) -> dict[str, Estimate]:
    return {one.statistic: one for one in pooled if one.rater == rater and one.reference == reference}


def per_thousand(pooled: Sequence[Estimate], rater: str) -> Estimate | None:
    found = next((one for one in pooled if one.rater == rater and one.statistic == "cost_per_item"), None)
    if found is None:
        return None
    return replace(found, value=found.value * 1000, low=found.low * 1000, high=found.high * 1000)


def _reading(report: CalibrationReport, headline: str) -> Iterator[str]:
    within = "topics they lie in" if report.data["cluster"] == "topic" else "items"
    yield (
        "Each judge is compared with every annotator's label on the same item and criterion; n counts these "
        f"comparisons, clusters the {within}."
    )
    yield label_agreement(report, next(ties for ties, name in HEADLINE.items() if name == headline))
    if "pairwise" in report.data["criteria"].values():
        yield (
            "Correlations and κ use verdicts, never sides; for correlations A = 1, tie = .5, B = 0. κ, symmetrised, "
            "does not depend on which system is called A."
        )
    if report.settings.not_applicable == "drop" and any(
        "not_applicable" in labels for labels in report.data["marginals"].values()
    ):
        yield "Rows where either side says not applicable are dropped."


def _orders(raters: Iterable[str]) -> Iterator[str]:
    """What a judge's own row is where it was asked in both orders, and what the row beside it is."""
    if any(rater.endswith(BOTH_ORDERS) for rater in raters):
        yield (
            "A judge asked in both orders agrees by the mean of its two verdicts on an item; in the row marked both "
            "orders verdicts that agree stand, and anything else is a tie."
        )


def _beside(rows: Sequence[tuple[str, dict[str, Estimate]]]) -> Iterator[str]:
    """Agreement never stands without what a judge that does not read would reach."""
    parts = []
    for rater, found in rows:
        constant = [found[name] for name in BASELINES if name in found]
        if constant and "chance_agreement" in found:
            best = max(constant, key=lambda one: one.value)
            parts.append(f"{rater} {shown(best)[0]} and {shown(found['chance_agreement'])[0]}")
    if parts:
        by_system = any(BASELINES[1] in found for _, found in rows)
        best_of = " (for judges the best for each pair of systems, where that is more)" if by_system else ""
        yield f"Agreement of the best constant answer{best_of}, and expected by chance: {'; '.join(parts)}."
