"""The table `bias`: each bias that was looked for, its size beside the size these labels could have shown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from calibration.bias import Bias
from calibration.results import CalibrationReport, Estimate
from calibration.verdicts import SYSTEM_PAIR
from exports.cells import Cell, Probability
from exports.tables import PEOPLE, Column, Table
from exports.words.notes import methods, origin, remarks

OUTCOMES = {"found": "found", "not_found": "not found", "cannot_tell": "cannot tell"}
NAMED = 6
REASONS = {"too_few_units": "fewer than 2 clusters", "zero_variance": "every cluster shows the same"}


@dataclass(frozen=True)
class Question:
    """One bias in words."""

    key: str
    title: str  # what a positive effect says of the rater
    statistics: tuple[str, ...]  # the first of them that the labels support


QUESTIONS = (
    Question("order", "report shown first wins", ("order_effect", "first_rate")),
    Question("flips", "turns to first in other order", ("flip_direction",)),
    Question("score_order", "scores what is shown first higher", ("score_shown_first",)),
    Question("length", "longer report, beyond people", ("longer_rate_difference",)),
    Question("length_given_vote", "longer report, given vote", ("longer_rate_given_vote",)),
    Question("ties", "ties more than people", ("tie_rate_gap",)),
    Question("repeats", "changes its answer", ("changed_answers",)),
    Question("self", "own family, beyond people", ("self_preference",)),
    Question("self_minus_others", "own family, minus others", ("self_preference_minus_others",)),
    Question("self_given_vote", "own family, given vote", ("self_preference_given_vote",)),
)


@dataclass(frozen=True)
class Asked:
    """One row: a question, of whom, and what was found."""

    title: str
    rater: str
    bias: Bias


def bias_table(report: CalibrationReport) -> Table | None:
    """Question by question, the raters in the order of the report; None where nothing could be looked for.

    Of systems those of the judge's own family, of other systems and of rationales only what was found.
    """
    columns = (
        Column("bias", "Bias"),
        Column("rater", "Rater"),
        Column("effect", "Effect"),
        Column("against", "Measured against", "null"),
        Column("floor", "Floor"),
        Column("detectable", "Smallest detectable", "MDE"),
        Column("p", "p"),
        Column("outcome", "Outcome"),
        Column("n", "n"),
        Column("clusters", "Clusters", "C"),
    )
    headline, systems, copies = list(headlines(report)), list(_systems(report)), list(_rationales(report))
    shown = [*headline, *(one for one, own in systems if own or one.bias.outcome == "found")]
    shown += [one for one in copies if one.bias.outcome == "found"]
    if not shown and not copies:
        return None
    rows = [_row(one) for one in shown]
    used = [cell for row in rows for cell in row if isinstance(cell, Estimate)]
    notes = (
        *_reading(report),
        *_unasked(report, headline),
        *_left_out(systems, copies),
        *methods(used, report),
        *remarks([column.title for column in columns], rows, names=2),
        origin(report),
    )
    return Table("bias", "Biases looked for", columns, tuple(rows), notes)


def headlines(report: CalibrationReport) -> Iterator[Asked]:
    """Every question that has an answer: judges, then the annotators together."""
    for question in QUESTIONS:
        for rater in raters_of(report):
            bias = answer(report, question, rater)
            if bias is not None:
                yield Asked(question.title, named(rater), bias)


def raters_of(report: CalibrationReport) -> list[str]:
    """The judges, then `each_annotator`."""
    return [*report.data["judges"], PEOPLE]


def named(rater: str) -> str:
    return "annotators" if rater == PEOPLE else rater


def answer(report: CalibrationReport, question: Question, rater: str) -> Bias | None:
    """Of the first statistic with a value; None where there is none."""
    for statistic in question.statistics:
        for one in report.biases:
            found = one.estimate
            same = (found.statistic, found.rater, found.category) == (statistic, rater, "all")
            if same and not math.isnan(found.value):
                return one
    return None


def effect_of(bias: Bias) -> Estimate:
    """The estimate minus its value without bias: 0 is none."""
    one, null, note = bias.estimate, bias.null, bias.estimate.note
    if math.isnan(one.low) and not math.isnan(one.value):
        *_, reason = [part for part in note.split("; ") if part in REASONS] or ["too_few_units"]
        note = f"{note.removesuffix('no interval')}no interval: {REASONS[reason]}"
    return replace(one, value=one.value - null, low=one.low - null, high=one.high - null, note=note)


def _row(one: Asked) -> tuple[Cell, ...]:
    bias, effect = one.bias, effect_of(one.bias)
    detectable = None if math.isnan(bias.detectable) else bias.detectable
    p = None if math.isnan(bias.p) else Probability(bias.p)
    return (
        one.title, one.rater, effect, bias.null, bias.floor, detectable, p, OUTCOMES[bias.outcome], effect.n,
        effect.clusters,
    )  # fmt: skip


def _systems(report: CalibrationReport) -> Iterator[tuple[Asked, bool]]:
    """Each judge with a family on each system, and whether the system is of its family."""
    families = report.settings.families
    for one in report.biases:
        found = one.estimate
        if found.statistic != "self_preference" or found.category == "all" or math.isnan(found.value):
            continue
        system = found.category.removeprefix(SYSTEM_PAIR)
        own = bool(families.get(found.rater)) and families.get(found.rater) == families.get(system)
        yield Asked(f"{system}{' (own)' if own else ''}, beyond people", found.rater, one), own


def _rationales(report: CalibrationReport) -> Iterator[Asked]:
    for one in report.biases:
        found = one.estimate
        if found.statistic == "near_identical_rationales" and not math.isnan(found.value):
            yield Asked(f"rationales like those of {found.reference}", found.rater, one)


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
    if "pairwise" in report.data["criteria"].values():
        yield "Ties: order and length count the labels that name a winner; a tie is half a win for either family."
    if any(report.settings.families.get(judge) for judge in report.data["judges"]):
        yield (
            "A judge that is better or noisier than people moves single measures too: speak of a preference, or of a "
            "pull of length, only where the measures of it agree."
        )


def _unasked(report: CalibrationReport, shown: Sequence[Asked]) -> Iterator[str]:
    """What these labels could not show of a judge is said, not left out."""
    pairs = "pairwise" in report.data["criteria"].values()
    have = {(one.title, one.rater) for one in shown}
    asked = ["order", "length", "ties"] * pairs + ["repeats"]
    together = report.data.get("rated_together", ())
    missing: dict[str, list[str]] = {}
    for question in QUESTIONS:
        for judge in report.data["judges"]:
            due = question.key in asked
            due |= question.key == "self" and pairs and bool(report.settings.families.get(judge))
            due |= question.key == "score_order" and judge in together
            if due and (question.title, judge) not in have:
                missing.setdefault(question.title, []).append(judge)
    if missing:
        parts = [f"{title} ({_some(judges)})" for title, judges in missing.items()]
        yield f"Cannot tell, for these labels cannot show it: {'; '.join(parts)}."


def _some(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= NAMED else f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"


def _left_out(systems: Sequence[tuple[Asked, bool]], copies: Sequence[Asked]) -> Iterator[str]:
    quiet = [one.bias for one, own in systems if not own and one.bias.outcome != "found"]
    if quiet:
        yield f"Systems of other families without a row: {_words(quiet)}."
    quiet = [one.bias for one in copies if one.bias.outcome != "found"]
    if quiet:
        yield f"Pairs of an annotator and a judge with rationales, without a row: {_words(quiet)}."


def _words(biases: Sequence[Bias]) -> str:
    counts = Counter(OUTCOMES[one.outcome] for one in biases)
    return ", ".join(f"{count:,} {word}" for word, count in sorted(counts.items(), reverse=True))
