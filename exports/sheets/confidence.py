"""The tables `confidence`, `confidence_levels` and `votes`: whether a rater's confidence and votes can be believed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from calibration.agreement.catalogue import AGREEMENT, at
from calibration.confidence import confidence, sureness, vote_agreement
from calibration.results import CalibrationReport, Estimate
from exports.cells import Cell, Probability
from exports.tables import COUNTS, PEOPLE, Column, Table, called, noted_table
from plain.wording import worded

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
    told: confidence.ConfidenceReading

    @property
    def levels(self) -> tuple[str, ...]:
        """What each point is called."""
        return tuple(estimate.category.removeprefix(confidence.AT) for estimate in self.points)


def believed(report: CalibrationReport) -> list[Believed]:
    """Every rater with a confidence: judges by name, then people; what was stated before votes."""
    out = []
    for told in report.confidence:
        end = sureness.OF_VOTES if told.source == sureness.VOTES else ""
        own = [
            estimate
            for estimate in report.estimates
            if estimate.rater == told.rater and estimate.reference in (told.reference, "")
        ]
        named = {estimate.statistic: estimate for estimate in own if estimate.criterion == estimate.category == "all"}
        names = [name for name in named if name.endswith(sureness.OF_VOTES) == bool(end)]
        points = [estimate for estimate in own if estimate.statistic == f"accuracy_at_confidence{end}"]
        rater = "annotators" if told.rater == PEOPLE else told.rater
        estimates = {name.removesuffix(sureness.OF_VOTES): named[name] for name in names}
        out.append(Believed(rater, _kind(told), estimates, tuple(points), tuple(told.confidence), told))
    return out


def _kind(told: confidence.ConfidenceReading) -> str:
    if told.source == sureness.VOTES:
        return "votes of the others" if told.rater == PEOPLE else "votes"
    return "stated, 1 to 5" if told.read == sureness.FIFTHS else "share of votes"


def confidence_table(report: CalibrationReport) -> Table | None:
    """One row for each rater and kind of confidence; None where nobody has any."""
    rows = believed(report)
    if not rows:
        return None
    error, *others = at("table confidence")
    columns = (
        Column("rater", "Rater"),
        Column("confidence", "Confidence"),
        Column("accuracy", "Accuracy", "Acc."),
        Column("overconfidence", "Overconfidence", "Over"),
        Column(error.name, error.title, error.symbol),
        Column("by_chance", "By chance", "chance"),
        Column("p", "p"),
        *(Column(statistic.name, statistic.title, statistic.symbol) for statistic in others),
        *COUNTS,
        Column("no_majority", "No majority", "none"),
    )
    cells = tuple(_row(curve) for curve in rows)
    reading = (*_reading(rows),)
    return noted_table("confidence", "Can confidence be believed?", columns, cells, reading, report, names=2)


def _row(curve: Believed) -> tuple[Cell, ...]:
    accuracy, chance = curve.found.get("confidence_accuracy"), curve.found.get("calibration_error_by_chance")
    p = curve.told.as_large_by_chance
    return (
        called(curve.told.rater, "annotators"),
        worded(curve.kind),
        accuracy,
        *(curve.found.get(name) for name in ("overconfidence", "expected_calibration_error")),
        chance.value if chance else None,
        None if p is None else Probability(p),
        *(curve.found.get(name) for name in ("brier_score", "confidence_auroc")),
        accuracy.n if accuracy else 0,
        accuracy.clusters if accuracy else 0,
        curve.told.no_majority if curve.told.voted else None,
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
        *COUNTS,
    )
    cells = tuple(row for curve in rows for row in _levels(curve))
    open_ones = [curve for curve in rows if curve.told.no_majority]
    reading = (
        "Claimed: mean confidence of the level, read as a probability; accuracy is what it should be.",
        *["no majority: n counts questions; they are neither right nor wrong, and in no other row."] * bool(open_ones),
    )
    return noted_table(
        "confidence_levels", "Accuracy at each level of confidence", columns, cells, reading, report, names=3
    )


def _levels(curve: Believed) -> Iterator[tuple[Cell, ...]]:
    names = called(curve.told.rater, "annotators"), worded(curve.kind)
    for level, claimed, point in zip(curve.levels, curve.claimed, curve.points, strict=True):
        yield *names, level, claimed, point, point.n, point.clusters
    if curve.told.no_majority:
        share = curve.found["no_majority_share"]
        yield *names, worded(NO_MAJORITY), None, None, curve.told.no_majority, share.clusters


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
    if any(curve.told.read == sureness.FIFTHS for curve in rows):
        yield "A stated level c of 1 to 5 is read as the probability c / 5, a convention; AUROC needs none."
    if any(curve.told.voted for curve in rows):
        yield (
            "Votes are a judge's own repeated answers, a share of votes is that of a panel's members: more than half "
            "decide, their share is the confidence. No majority counts questions; they are neither right nor wrong, "
            "and in no other column."
        )
    silent = [f"{curve.rater} {curve.told.without_confidence:,}" for curve in rows if curve.told.without_confidence]
    if silent:
        yield f"Answers without a confidence, left out: {', '.join(silent)}."


def votes_table(report: CalibrationReport) -> Table | None:
    """Each judge, judges two by two, then all; None where nobody votes."""
    shown = {statistic.name: statistic for statistic in at("table votes", report.labels.criteria.values())}
    found: dict[tuple[str, str], dict[str, Estimate]] = {}
    for estimate in report.estimates:
        name = estimate.statistic.removesuffix(sureness.OF_VOTES)
        if estimate.statistic.endswith(sureness.OF_VOTES) and name in shown:
            found.setdefault((estimate.rater, estimate.reference), {})[name] = estimate
    if not found:
        return None
    columns = (
        Column("votes", "Votes of"),
        *(Column(name, statistic.title, statistic.symbol) for name, statistic in shown.items()),
        *COUNTS,
    )
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (_named(*names), *(own.get(name) for name in shown), own[AGREEMENT].n, own[AGREEMENT].clusters)
        for names, own in found.items()
    )
    reading = (
        "Pairs of usable votes on one question; a failed vote is none. n counts votes; of two judges questions, each "
        "vote of one beside each of the other's. Fleiss' κ: questions with every vote.",
    )
    return noted_table("votes", "Do votes agree?", columns, cells, reading, report)


def _named(rater: str, reference: str) -> str:
    if rater == vote_agreement.ALL_JUDGES:
        return worded("all judges together")
    return (
        worded("{rater} among themselves", rater=rater)
        if reference == sureness.VOTES
        else worded("{rater} with {reference}", rater=rater, reference=reference)
    )
