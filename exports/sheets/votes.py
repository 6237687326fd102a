"""The table `votes`: whether the votes of one judge agree with each other, with another judge's, and all together."""

from __future__ import annotations

from calibration.metrics import METRICS
from calibration.results import CalibrationReport, Estimate
from calibration.sure.sureness import OF_VOTES, VOTES
from calibration.sure.vote_agreement import ALL_JUDGES
from exports.cells import Cell
from exports.tables import Column, Table
from exports.words.notes import methods, origin, remarks

SHOWN = ("percent_agreement", "krippendorff_alpha_nominal", "fleiss_kappa", "cohen_kappa")


def votes_table(report: CalibrationReport) -> Table | None:
    """Each judge, judges two by two, then all; None where nobody votes."""
    found: dict[tuple[str, str], dict[str, Estimate]] = {}
    for one in report.estimates:
        name = one.statistic.removesuffix(OF_VOTES)
        if one.statistic.endswith(OF_VOTES) and name in SHOWN:
            found.setdefault((one.rater, one.reference), {})[name] = one
    if not found:
        return None
    metrics = {name: next(one for one in METRICS if name.startswith(one.name)) for name in SHOWN}
    columns = (
        Column("votes", "Votes of"),
        *(Column(name, metrics[name].title, metrics[name].symbol) for name in SHOWN),
        Column("n", "n"),
        Column("clusters", "Clusters", "C"),
    )
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (_named(*names), *(own.get(name) for name in SHOWN), own[SHOWN[0]].n, own[SHOWN[0]].clusters)
        for names, own in found.items()
    )
    used = [cell for row in cells for cell in row if isinstance(cell, Estimate)]
    notes = (
        "Pairs of usable votes on one question; a failed vote is none. n counts votes; of two judges questions, each "
        "vote of one beside each of the other's. Fleiss' κ: questions with every vote.",
        *methods(used, report),
        *remarks([column.title for column in columns], cells),
        origin(report),
    )
    return Table("votes", "Do votes agree?", columns, cells, notes)


def _named(rater: str, reference: str) -> str:
    if rater == ALL_JUDGES:
        return "all judges together"
    return f"{rater} among themselves" if reference == VOTES else f"{rater} with {reference}"
