"""The table `references`: whether a system's reports cite the works that they should, and no others."""

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.systems.shares import counted_mean, counted_share
from exports.cells import Cell
from exports.sheets.leakage import ALL, rows_by_system
from exports.tables import Column, Table

COLUMNS = (
    Column("system", "System"),
    Column("precision", "Precision", "Prec."),
    Column("recall", "Recall", "Rec."),
    Column("each", "Works cited a report", "each"),
    Column("found", "Works found", "n found"),
    Column("cited", "Works cited", "n cited"),
    Column("wanted", "Works on the lists", "n listed"),
    Column("address_alone", "Known by an address alone", "n bare"),
    Column("reports", "Reports", "n"),
)


@dataclass(frozen=True)
class CitedReferences:
    """One report, or all of a system on a topic. `cited`: works; `right`: of these those that are wanted; `found` of
    `wanted`: works of the list. `address_alone`: cited works of which only an address is known that is on no list."""

    topic: str
    system: str
    cited: int
    right: int
    found: int
    wanted: int
    address_alone: int


def references_table(reports: Sequence[CitedReferences]) -> Table | None:
    """One row per system, then all; None without a report."""
    if not reports:
        return None
    rows = rows_by_system(reports, _row)
    notes = (
        "Precision: of the works that a system's reports cite, each once a report, those that are on their topic's "
        "list. Recall: of the works on the lists, those that the reports cite. Reports count by their number of works.",
        "One work: the same DOI, arXiv number or address, or the title of the list within the report's own entry or "
        "link. Nothing is fetched, so that works known by an address alone, that is on no list, count as not on the "
        "list: precision and recall are at least these.",
        "Every source counts as a work, scholarly or not.",
        "Brackets: 95 % intervals over whole topics (Wilson with effective sample size and t of C − 1; of works a "
        "report cluster t).",
    )
    return Table("references", "Do reports cite what they should?", COLUMNS, tuple(rows), notes)


def _row(name: str, reports: Sequence[CitedReferences]) -> tuple[Cell, ...]:
    system = "" if name == ALL else name
    topics = list(dict.fromkeys(report.topic for report in reports))
    sums = {
        key: [float(sum(getattr(report, key) for report in reports if report.topic == topic)) for topic in topics]
        for key in ("right", "cited", "found", "wanted")
    }
    total = {key: int(sum(values)) for key, values in sums.items()}
    precision = counted_share("reference_precision", system, sums["right"], sums["cited"]) if total["cited"] else None
    recall = counted_share("reference_recall", system, sums["found"], sums["wanted"])
    bare = sum(report.address_alone for report in reports)
    each = counted_mean(
        "references", system, [report.cited for report in reports], [report.topic for report in reports]
    )
    return name, precision, recall, each, total["found"], total["cited"], total["wanted"], bare, len(reports)
