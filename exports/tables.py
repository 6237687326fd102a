"""Tables of a calibration report, before any format.

What is in which cell, and the notes that make it readable alone.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from calibration.agreement.catalogue import AGREEMENT, HEADLINE, at, printed
from calibration.agreement.statistic import ALL_KINDS
from calibration.results import CalibrationReport, Estimate
from calibration.table.verdicts import BOTH_ORDERS
from exports.cells import Cell, shown
from exports.errors import ExportError
from exports.words.notes import agreement_title, label_agreement, methods, origin, per_1000_items, remarks
from plain.wording import worded

BASELINES = ("constant_judge_baseline", "constant_judge_baseline_by_system")
PEOPLE = "each_annotator"
AMONG = "annotators among themselves"


def called(rater: str, people: str = "people") -> str:
    """In the cell that names a rater: people by a word of ours, in the reader's language, a judge by its own name."""
    return worded(people) if rater == PEOPLE else rater


@dataclass(frozen=True)
class Column:
    """`key` heads the column in CSV and JSON, `title` in print; `symbol` in a narrow page, with a note."""

    key: str
    title: str
    symbol: str = ""


COUNTS = (Column("n", "n"), Column("clusters", "Clusters", "C"))


@dataclass(frozen=True)
class Table:
    """What a paper prints, unrounded. `rows`: one cell per column.

    An Estimate cell carries its own interval and method. Whoever makes a row words what is ours in its cells: names
    that a study gave are in no language, be they words of a catalogue.
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


def noted_table(
    name: str, title: str, columns: Sequence[Column], rows: Sequence[tuple[Cell, ...]], reading: Iterable[str],
    report: CalibrationReport, names: int = 1,
) -> Table:  # fmt: skip
    """The table with its notes: `reading`, how the intervals were made, why a cell holds a dash, and from which labels.

    `names`: how many leading cells of a row say which row it is.
    """
    lacking = remarks([column.title for column in columns], rows, names)
    notes = (*reading, *methods(estimates_in(rows), report), *lacking, origin(report))
    return Table(name, title, tuple(columns), tuple(rows), notes)


def agreement_table(report: CalibrationReport) -> Table:
    """One row per judge against the annotators, then the annotators among themselves, pooled over criteria."""
    pooled = pooled_in(report)
    rows = [(rater, by_statistic(pooled, rater, PEOPLE)) for rater in compared_with_people(pooled)]
    rows += [(worded(AMONG), estimates) for estimates in [by_statistic(pooled, PEOPLE, "others")] if estimates]
    known = {name for _, estimates in rows for name in estimates}
    headline = HEADLINE[report.settings.ties] if HEADLINE[report.settings.ties] in known else AGREEMENT
    shown = printed("table agreement", report.labels.criteria.values(), known, report.settings.ties)
    rows = [(rater, estimates) for rater, estimates in rows if any(name in estimates for name in shown)]
    costs = {rater: per_thousand(pooled, rater) for rater, _ in rows}
    columns = [
        Column("rater", "Rater"),
        *(Column(name, titled(report, name, statistic.title), statistic.symbol) for name, statistic in shown.items()),
    ]
    columns += COUNTS
    if any(costs.values()):
        columns.append(Column("cost_per_1000_items", per_1000_items(report), report.labels.money))
    cells: list[tuple[Cell, ...]] = []
    for rater, estimates in rows:
        first = estimates.get(headline)
        row: list[Cell] = [rater, *(estimates.get(name) for name in shown)]
        row += [first.n if first else 0, first.clusters if first else 0]
        cells.append((*row, costs[rater]) if any(costs.values()) else tuple(row))
    reading = (
        *_reading(report, headline),
        *_orders(rater for rater, _ in rows),
        *_beside(rows),
    )
    return noted_table("agreement", "Agreement of judges with annotators", columns, cells, reading, report)


def titled(report: CalibrationReport, name: str, title: str, *, asked: bool | None = False) -> str:
    """The head of a statistic's column or panel; agreement says by which rule."""
    return agreement_title(report, asked=asked) if name.startswith(AGREEMENT) else title


def asked_for_agreement() -> tuple[str, ...]:
    """Names of the statistics that `agreement_table` prints of any report.

    With `calibrate(labels, settings, only=asked_for_agreement())` the table is that of the whole report, to the byte.
    """
    return (
        *(statistic.name for statistic in at("table agreement", ALL_KINDS)),
        "chance_agreement",
        *BASELINES,
        "cost_per_item",
    )


def pooled_in(report: CalibrationReport) -> list[Estimate]:
    """The estimates over all criteria and categories."""
    return [one for one in report.estimates if one.criterion == one.category == "all"]


def compared_with_people(estimates: Iterable[Estimate]) -> list[str]:
    """The judges that were, in the order of the report."""
    return list(dict.fromkeys(one.rater for one in estimates if one.reference == PEOPLE))


def by_statistic(estimates: Iterable[Estimate], rater: str, reference: str) -> dict[str, Estimate]:
    """The estimates of one rater beside one reference, by their statistic."""
    return {one.statistic: one for one in estimates if (one.rater, one.reference) == (rater, reference)}


def estimates_in(rows: Iterable[Sequence[Cell]]) -> list[Estimate]:
    """The cells that are estimates, row by row."""
    return [cell for row in rows for cell in row if isinstance(cell, Estimate)]


def dashed(row: Sequence[Cell], place: int) -> tuple[Cell, ...]:
    """A row with a dash in one place."""
    return (*row[:place], None, *row[place + 1 :])


def per_thousand(pooled: Iterable[Estimate], rater: str) -> Estimate | None:
    """What a judge costs for a thousand items; None where that is unknown."""
    costs = (one for one in pooled if one.rater == rater and one.statistic == "cost_per_item")
    return next((one.times(1000) for one in costs), None)


def _reading(report: CalibrationReport, headline: str) -> Iterator[str]:
    within = worded("topics they lie in") if report.labels.cluster == "topic" else "items"
    yield (
        worded(
            "Each judge is compared with every annotator's label on the same item and criterion; n counts these "
            "comparisons, clusters the {within}.",
            within=within,
        )
    )
    yield label_agreement(report, next(ties for ties, name in HEADLINE.items() if name == headline))
    if "pairwise" in report.labels.criteria.values():
        yield (
            worded(
                "Correlations and κ use verdicts, never sides; for correlations A = 1, tie = .5, B = 0. κ, "
                "symmetrised, does not depend on which system is called A."
            )
        )
    if report.settings.not_applicable == "drop" and any(
        "not_applicable" in labels for labels in (report.labels.marginals or {}).values()
    ):
        yield worded("Rows where either side says not applicable are dropped.")


def _orders(raters: Iterable[str]) -> Iterator[str]:
    """What a judge's own row is where it was asked in both orders, and what the row beside it is."""
    if any(rater.endswith(BOTH_ORDERS) for rater in raters):
        yield (
            worded(
                "A judge asked in both orders agrees by the mean of its two verdicts on an item; in the row marked "
                "both orders verdicts that agree stand, and anything else is a tie."
            )
        )


def _beside(rows: Sequence[tuple[str, dict[str, Estimate]]]) -> Iterator[str]:
    """Agreement is never shown without what a judge that does not read would reach."""
    parts = []
    for rater, estimates in rows:
        constant = [estimates[name] for name in BASELINES if name in estimates]
        if constant and "chance_agreement" in estimates:
            best = max(constant, key=lambda one: one.value)
            parts.append(
                worded(
                    "{rater} {best} and {chance_agreement}",
                    rater=rater,
                    best=shown(best)[0],
                    chance_agreement=shown(estimates["chance_agreement"])[0],
                )
            )
    if parts:
        by_system = any(BASELINES[1] in estimates for _, estimates in rows)
        best_of = worded(" (for judges the best for each pair of systems, where that is more)") if by_system else ""
        yield worded(
            "Agreement of the commonest answer{best_of}, and expected by chance: {parts}.",
            best_of=best_of, parts=worded("; ").join(parts),
        )  # fmt: skip
