"""The table `bias`: each bias that was looked for, its size beside the size these labels could have shown."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from calibration.remarks import Reason, no_interval
from calibration.results import CalibrationReport, Estimate
from calibration.study.bias import Bias
from calibration.table.verdicts import SYSTEM_PAIR
from exports import cells, tables
from plain.wording import worded

OUTCOMES = {"found": "found", "not_found": "not found", "cannot_tell": "cannot tell"}
NAMED = 6
REASONS = {Reason.TOO_FEW_UNITS: "fewer than 2 clusters", Reason.ZERO_VARIANCE: "every cluster shows the same"}


@dataclass(frozen=True)
class Question:
    """One bias in words."""

    key: str
    title: str  # what a positive effect says of the rater
    reverse: str  # what a negative one does
    statistics: tuple[str, ...]  # the first of them that the labels support


QUESTIONS = (
    Question("order", "report shown first wins", "report shown second wins", ("order_effect", "first_rate")),
    Question("flips", "turns to first in other order", "turns to second in other order", ("flip_direction",)),
    Question(
        "score_order", "scores what is shown first higher", "scores what is shown first lower", ("score_shown_first",)
    ),
    Question("length", "longer report, beyond people", "shorter report, beyond people", ("longer_rate_difference",)),
    Question(
        "length_given_vote", "longer report, given vote", "shorter report, given vote", ("longer_rate_given_vote",)
    ),
    Question("ties", "ties more than people", "ties less than people", ("tie_rate_gap",)),
    Question("scores", "scores higher than people", "scores lower than people", ("score_gap",)),
    Question("repeats", "changes its answer", "changes its answer", ("changed_answers",)),
    Question("self", "own family, beyond people", "own family, less than people", ("self_preference",)),
    Question(
        "self_minus_others", "own family, minus others", "others, minus own family", ("self_preference_minus_others",)
    ),
    Question(
        "self_given_vote", "own family, given vote", "other families, given vote", ("self_preference_given_vote",)
    ),
)


@dataclass(frozen=True)
class Asked:
    """One row: a question, of whom, and what was found."""

    title: str
    rater: str
    bias: Bias
    reverse: str = ""  # the title of a negative effect

    @property
    def said(self) -> str:
        """The title in the direction of the effect, where one was found."""
        return worded(self.reverse if self.reverse and is_turned(self.bias) else self.title)


def is_turned(bias: Bias) -> bool:
    """Whether the reverse of what was looked for was found."""
    return bias.outcome == "found" and bias.estimate.value < bias.null


def bias_table(report: CalibrationReport) -> tables.Table | None:
    """Question by question, the raters in the order of the report; None where nothing could be looked for.

    Of systems those of the judge's own family, of other systems and of rationales only what was found.
    """
    columns = (
        tables.Column("bias", "Bias"),
        tables.Column("rater", "Rater"),
        tables.Column("effect", "Effect"),
        tables.Column("against", "Measured against", "null"),
        tables.Column("floor", "Floor"),
        tables.Column("detectable", "Smallest detectable", "MDE"),
        tables.Column("p", "p"),
        tables.Column("outcome", "Outcome"),
        *tables.COUNTS,
    )
    headline, systems, copies = list(headlines(report)), list(_systems(report)), list(_rationales(report))
    shown = [*headline, *(asked for asked, own in systems if own or asked.bias.outcome == "found")]
    shown += [asked for asked in copies if asked.bias.outcome == "found"]
    if not shown and not copies:
        return None
    rows = [_row(asked) for asked in shown]
    reading = (
        *_reading(report),
        *[worded("A negative effect that is found is named by its reverse.")]
        * any(is_turned(one.bias) for one in shown),
        *_unasked(report, headline),
        *_left_out(systems, copies),
    )
    return tables.noted_table("bias", "Biases looked for", columns, rows, reading, report, names=2)


def headlines(report: CalibrationReport) -> Iterator[Asked]:
    """Every question that has an answer: judges, then the annotators together."""
    for question in QUESTIONS:
        for rater in raters_of(report):
            bias = answer(report, question, rater)
            if bias is not None:
                yield Asked(question.title, named(rater), bias, question.reverse)


def raters_of(report: CalibrationReport) -> list[str]:
    """The judges, then `each_annotator`."""
    return [*report.labels.judges, tables.PEOPLE]


def named(rater: str) -> str:
    return "annotators" if rater == tables.PEOPLE else rater


def answer(report: CalibrationReport, question: Question, rater: str) -> Bias | None:
    """Of the first statistic with a value; None where there is none."""
    for statistic in question.statistics:
        for bias in report.biases:
            estimate = bias.estimate
            same = (estimate.statistic, estimate.rater, estimate.category) == (statistic, rater, "all")
            if same and not math.isnan(estimate.value):
                return bias
    return None


def effect_of(bias: Bias) -> Estimate:
    """The estimate minus its value without bias: 0 is none."""
    estimate, null, remarks = bias.estimate, bias.null, bias.estimate.remarks
    if estimate.reason in REASONS and math.isnan(estimate.low) and not math.isnan(estimate.value):
        remarks = (*remarks[:-1], no_interval(estimate.reason, worded(REASONS[estimate.reason])))
    return replace(
        estimate, value=estimate.value - null, low=estimate.low - null, high=estimate.high - null, remarks=remarks
    )


def _row(asked: Asked) -> tuple[cells.Cell, ...]:
    bias, effect = asked.bias, effect_of(asked.bias)
    detectable = None if math.isnan(bias.detectable) else bias.detectable
    p = None if math.isnan(bias.p) else cells.Probability(bias.p)
    return (
        asked.said, tables.called(effect.rater, "annotators"), effect, bias.null, bias.floor, detectable, p,
        worded(OUTCOMES[bias.outcome]), effect.n, effect.clusters,
    )  # fmt: skip


def _systems(report: CalibrationReport) -> Iterator[tuple[Asked, bool]]:
    """Each judge with a family on each system, and whether the system is of its family."""
    families = report.settings.families
    for bias in report.biases:
        estimate = bias.estimate
        if estimate.statistic != "self_preference" or estimate.category == "all" or math.isnan(estimate.value):
            continue
        system = estimate.category.removeprefix(SYSTEM_PAIR)
        own = bool(families.get(estimate.rater)) and families.get(estimate.rater) == families.get(system)
        title = "{system} (own), beyond people" if own else "{system}, beyond people"
        reverse = "{system} (own), less than people" if own else "{system}, less than people"
        yield Asked(worded(title, system=system), estimate.rater, bias, worded(reverse, system=system)), own


def _rationales(report: CalibrationReport) -> Iterator[Asked]:
    for bias in report.biases:
        estimate = bias.estimate
        if estimate.statistic == "near_identical_rationales" and not math.isnan(estimate.value):
            yield Asked(f"rationales like those of {estimate.reference}", estimate.rater, bias)


def _reading(report: CalibrationReport) -> Iterator[str]:
    yield (
        "Effect: measured minus what it is measured against, the value of a rater without this bias; its interval is "
        "one of whole clusters. Floor: an effect below it is taken not to matter. Smallest detectable: the "
        "true effect that 80 of 100 such studies would find."
    )
    yield (
        "beyond people: chosen more often than by people on the same labels. given vote: how often where people chose "
        "it as often as not. minus others: beyond people, less the same of the other systems."
    )
    yield (
        "found: the interval leaves 0 out. not found: it lies within the floor and an effect as large as the floor "
        "would have been seen. cannot tell: anything else; label more. p is empty where one fault is proof."
    )
    if "pairwise" in report.labels.criteria.values():
        yield "Ties: order and length count the labels that name a winner; a tie is half a win for either family."
    if any(bias.estimate.statistic == "changed_answers" for bias in report.biases):
        yield (
            "Repeats: agreement, κ and correlations hold each label of a person against every answer that the rater "
            "gave to it, each counting 1 / their number; n counts the person's label once."
        )
    if "rating" in report.labels.criteria.values():
        yield "Higher or lower scores: the mean of a score less a person's of the same item, as a part of the scale."
    if any(report.settings.families.get(judge) for judge in report.labels.judges):
        yield (
            "A judge that is better or noisier than people moves single measures too: speak of a preference, or of a "
            "pull of length, only where the measures of it agree."
        )


def _unasked(report: CalibrationReport, shown: Sequence[Asked]) -> Iterator[str]:
    """What these labels could not show of a judge is said, not left out."""
    pairs = "pairwise" in report.labels.criteria.values()
    have = {(asked.title, asked.rater) for asked in shown}
    rated = "rating" in report.labels.criteria.values()
    asked = ["order", "length", "ties"] * pairs + ["scores"] * rated + ["repeats"]
    together = report.rated_together
    missing: dict[str, list[str]] = {}
    for question in QUESTIONS:
        for judge in report.labels.judges:
            due = question.key in asked
            due |= question.key == "self" and pairs and bool(report.settings.families.get(judge))
            due |= question.key == "score_order" and judge in together
            if due and (question.title, judge) not in have:
                missing.setdefault(question.title, []).append(judge)
    if missing:
        parts = [f"{worded(title)} ({_some(judges)})" for title, judges in missing.items()]
        yield worded("Cannot tell, for these labels cannot show it: {parts}.", parts=worded("; ").join(parts))


def _some(names: Sequence[str]) -> str:
    return (
        ", ".join(names)
        if len(names) <= NAMED
        else worded("{names} and {named} more", names=", ".join(names[:NAMED]), named=len(names) - NAMED)
    )


def _left_out(systems: Sequence[tuple[Asked, bool]], copies: Sequence[Asked]) -> Iterator[str]:
    quiet = [asked.bias for asked, own in systems if not own and asked.bias.outcome != "found"]
    if quiet:
        yield worded("Systems of other families without a row: {words}.", words=_words(quiet))
    quiet = [asked.bias for asked in copies if asked.bias.outcome != "found"]
    if quiet:
        yield worded("Pairs of an annotator and a judge with rationales, without a row: {words}.", words=_words(quiet))


def _words(biases: Sequence[Bias]) -> str:
    counts = Counter(worded(OUTCOMES[bias.outcome]) for bias in biases)
    return ", ".join(f"{count:,} {word}" for word, count in sorted(counts.items(), reverse=True))
