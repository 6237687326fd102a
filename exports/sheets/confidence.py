"""The tables `confidence` and `confidence_levels`: whether a rater's confidence can be believed, and level by level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from calibration.metrics import METRICS
from calibration.results import CalibrationReport, Estimate
from calibration.sure.confidence import AT
from calibration.sure.sureness import FIFTHS, OF_VOTES, VOTES
from exports.cells import Cell, Probability
from exports.tables import PEOPLE, Column, Table
from exports.words.notes import methods, origin, remarks

NO_MAJORITY = "no majority"


@dataclass(frozen=True)
class Believed:
    """One rater and one kind of confidence. `found`: statistic, without its ending, to estimate; `points`: the curve,
    from the least sure; `claimed`: the mean confidence at each."""

    rater: str
    kind: str  # in words
    found: Mapping[str, Estimate]
    points: tuple[Estimate, ...]
    claimed: tuple[float, ...]
    told: Mapping[str, Any]

    @property
    def levels(self) -> tuple[str, ...]:
        """What each point is called."""
        return tuple(one.category.removeprefix(AT) for one in self.points)


def believed(report: CalibrationReport) -> list[Believed]:
    """Every rater with a confidence: judges by name, then people; what was stated before votes."""
    out = []
    for told in report.data.get("confidence", ()):
        end = OF_VOTES if told["source"] == VOTES else ""
        own = [
            one for one in report.estimates if one.rater == told["rater"] and one.reference in (told["reference"], "")
        ]
        named = {one.statistic: one for one in own if one.criterion == one.category == "all"}
        names = [name for name in named if name.endswith(OF_VOTES) == bool(end)]
        points = [one for one in own if one.statistic == f"accuracy_at_confidence{end}"]
        rater = "annotators" if told["rater"] == PEOPLE else told["rater"]
        found = {name.removesuffix(OF_VOTES): named[name] for name in names}
        out.append(Believed(rater, _kind(told), found, tuple(points), tuple(told["confidence"]), told))
    return out


def _kind(told: Mapping[str, Any]) -> str:
    if told["source"] == VOTES:
        return "votes of the others" if told["rater"] == PEOPLE else "votes"
    return "stated, 1 to 5" if told["read"] == FIFTHS else "share of votes"


def confidence_table(report: CalibrationReport) -> Table | None:
    """One row for each rater and kind of confidence; None where nobody has any."""
    rows = believed(report)
    if not rows:
        return None
    titles = {metric.name: metric for metric in METRICS}
    columns = (
        Column("rater", "Rater"),
        Column("confidence", "Confidence"),
        Column("accuracy", "Accuracy", "Acc."),
        Column("overconfidence", "Overconfidence", "Over"),
        *(Column(name, titles[name].title, titles[name].symbol) for name in ("expected_calibration_error",)),
        Column("by_chance", "By chance", "chance"),
        Column("p", "p"),
        *(Column(name, titles[name].title, titles[name].symbol) for name in ("brier_score", "confidence_auroc")),
        Column("n", "n"),
        Column("clusters", "Clusters", "C"),
        Column("no_majority", "No majority", "none"),
    )
    cells = tuple(_row(one) for one in rows)
    used = [cell for row in cells for cell in row if isinstance(cell, Estimate)]
    notes = (
        *_reading(rows),
        *methods(used, report),
        *remarks([column.title for column in columns], cells, names=2),
        origin(report),
    )
    return Table("confidence", "Can confidence be believed?", columns, cells, notes)


def _row(one: Believed) -> tuple[Cell, ...]:
    accuracy, chance = one.found.get("confidence_accuracy"), one.found.get("calibration_error_by_chance")
    p = one.told["as_large_by_chance"]
    return (
        one.rater,
        one.kind,
        accuracy,
        *(one.found.get(name) for name in ("overconfidence", "expected_calibration_error")),
        chance.value if chance else None,
        None if p is None else Probability(p),
        *(one.found.get(name) for name in ("brier_score", "confidence_auroc")),
        accuracy.n if accuracy else 0,
        accuracy.clusters if accuracy else 0,
        one.told["no_majority"] if one.told["voted"] else None,
    )


def confidence_levels_table(report: CalibrationReport) -> Table | None:
    """The reliability curve: one row for each level or bin, and one for what no majority decided."""
    rows = believed(report)
    if not rows:
        return None
    columns = (
        Column("rater", "Rater"),
        Column("confidence", "Confidence"),
        Column("level", "Level"),
        Column("claimed", "Claimed"),
        Column("accuracy", "Accuracy", "Acc."),
        Column("n", "n"),
        Column("clusters", "Clusters", "C"),
    )
    cells = tuple(row for one in rows for row in _levels(one))
    used = [cell for row in cells for cell in row if isinstance(cell, Estimate)]
    open_ones = [one for one in rows if one.told["no_majority"]]
    notes = (
        "Claimed: mean confidence of the level, read as a probability; accuracy is what it should be.",
        *["no majority: n counts questions; they are neither right nor wrong, and in no other row."] * bool(open_ones),
        *methods(used, report),
        *remarks([column.title for column in columns], cells, names=3),
        origin(report),
    )
    return Table("confidence_levels", "Accuracy at each level of confidence", columns, cells, notes)


def _levels(one: Believed) -> Iterator[tuple[Cell, ...]]:
    for level, claimed, point in zip(one.levels, one.claimed, one.points, strict=True):
        yield one.rater, one.kind, level, claimed, point, point.n, point.clusters
    if one.told["no_majority"]:
        share = one.found["no_majority_share"]
        yield one.rater, one.kind, NO_MAJORITY, None, None, one.told["no_majority"], share.clusters


def _reading(rows: list[Believed]) -> Iterator[str]:
    yield (
        "Accuracy: the same answer as each annotator (as each other annotator, for people), of answers with a "
        "confidence. Overconfidence: mean confidence minus accuracy; below 0 a rater is right more often than it says."
    )
    yield (
        "Calibration error: mean distance between confidence and accuracy over levels, weighted by n. Noise alone "
        "makes it larger than 0: by chance is what a rater that is right as often as it says would show, p how often "
        "it would show as much. n counts comparisons of an answer that has a confidence with one annotator's label."
    )
    yield (
        "AUROC: how often a right answer had more confidence than a wrong one; .5 is no use of confidence, and only "
        "its order counts."
    )
    if any(one.told["read"] == FIFTHS for one in rows):
        yield "A stated level c of 1 to 5 is read as the probability c / 5, a convention; AUROC needs none."
    if any(one.told["voted"] for one in rows):
        yield (
            "Votes are a judge's own repeated answers, a share of votes is that of a panel's members: more than half "
            "decide, their share is the confidence. No majority counts questions; they are neither right nor wrong, "
            "and in no other column."
        )
    silent = [f"{one.rater} {one.told['without_confidence']:,}" for one in rows if one.told["without_confidence"]]
    if silent:
        yield f"Answers without a confidence, left out: {', '.join(silent)}."
