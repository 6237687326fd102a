"""One annotator left out: the person and a judge on the same units, with the same other annotators as reference.

What the ceiling and the alternative annotator test start from. A judge against a majority is never set beside a person
against a person: a majority is easier to agree with.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import SCORES, Codes, tally
from calibration.errors import CalibrationError
from calibration.settings import CalibrationSettings
from calibration.study import bounding, counted, crossing, distance
from calibration.study.joining import MANY_LABELS, Answers, Scale, Study, scale_of, study_of

SUFFIX = {
    "three_class": "", "half_credit": "_half_credit", "exclude": "_exclude_ties", "linear": "_linear",
    "quadratic": "_quadratic", "weighted": "_weighted",
}  # fmt: skip
TIE_RULE = {
    "three_class": "a tie is a label like another",
    "half_credit": "a tie against a winner counts one half",
    "exclude": "labels with a tie on any side dropped",
    "linear": "two scores agree by 1 - their distance / the range of the scale",
    "weighted": "two answers agree by the weight that the plan gives them",
    "quadratic": "two scores agree by 1 - (their distance / the range of the scale) squared",
}


@dataclass(frozen=True)
class LeftOut:
    """One annotator's units that another annotator answered too (and the judge, if any); K labels of the scale."""

    annotator: str
    unit: Codes  # shape (rows,)
    own: Array  # share of the annotator's passes with each label, shape (rows, K)
    judge: Array  # the judge's likewise; the annotator's own where there is no judge; zero where it failed to answer
    others: Array  # how many of the other annotators gave each label
    lost: Array  # share of the judge's passes that failed where another did not, shape (rows,)


@dataclass(frozen=True)
class LeftOutScores:
    """One row per annotator and unit: agreement with the other annotators on it, 0 to 1; shape (rows,)."""

    human: Array
    judge: Array  # on the identical references
    cluster: Codes
    dropped: int  # rows without a reference left: a tied majority, or ties that are excluded
    unit: Codes | None = None  # rows of one unit stand or fall together; None: not known
    weight: Array | None = None  # of each row, by the draw of its cluster


def pooled(verdicts: pd.DataFrame | Study, settings: CalibrationSettings) -> tuple[Study, bounding.Group, Scale]:
    """The study, all its units as one group, and their scale. Raises `mixed_label_types` where criteria share none."""
    study = study_of(verdicts, settings)
    scale = scale_of(study, study.criteria, settings)
    if scale is None:
        raise CalibrationError(
            "mixed_label_types", "the criteria share no scale and cannot be pooled; give the rows of one of them"
        )
    return study, counted.groups_of(study, settings, pooled=True)[0], scale


def left_out_scores(
    study: Study,
    group: bounding.Group,
    scale: Scale,
    judge: Answers | None,
    settings: CalibrationSettings,
    missing_as_wrong: bool = False,
) -> LeftOutScores:
    """All annotators' rows, one annotator after another: what `non_inferiority` needs, judge against human.

    `missing_as_wrong`: where the judge failed to answer its score is 0, and where one of its orders failed that order
    is a disagreement; else the row, or that order, is left out.
    """
    rows = stacked([rows for _, rows in scores_of_each(study, group, scale, judge, settings, missing_as_wrong)])
    return replace(rows, weight=study.weight_of(rows.cluster))


def scores_of_each(
    study: Study,
    group: bounding.Group,
    scale: Scale,
    judge: Answers | None,
    settings: CalibrationSettings,
    missing_as_wrong: bool = False,
) -> Iterator[tuple[str, LeftOutScores]]:
    """Every annotator's name and rows, under the rule for ties or for distances. Raises `unknown_form`."""
    if ties_rule(scale, settings) in distance.BY_DISTANCE and len(scale.labels) > MANY_LABELS:
        yield from _of_fine_scores(study, group, scale, judge, settings, missing_as_wrong)
        return
    for one in left_out(study, group, scale, judge, missing_as_wrong):
        yield one.annotator, scores_of_left_out(study, one, scale, settings)


def _of_fine_scores(
    study: Study, group: bounding.Group, scale: Scale, judge: Answers | None, settings: CalibrationSettings,
    missing_as_wrong: bool,
) -> Iterator[tuple[str, LeftOutScores]]:  # fmt: skip
    """The same for scales of more levels than a table has: every distance is taken once, whoever is left out."""
    if settings.references == "others_majority":
        raise CalibrationError("unknown_form", "scores this fine have no majority: use references = others_each")
    rule, span, size = ties_rule(scale, settings), distance.span_of(scale), study.units
    each = [distance.scores_given(annotator, scale) for annotator in study.annotators]
    people = distance.joined(each)
    weight, earned = distance.credit_sums(people, people, size, rule, span)
    given = None if judge is None else distance.scores_given(judge, scale)
    met = None if given is None else distance.credit_sums(given, people, size, rule, span)
    asked, heard = group.chosen, np.ones(size)
    if judge is not None and given is not None:
        asked = asked & (study.among(given.unit) | (study.among(judge.unreadable) & missing_as_wrong))
        heard = 1 - judge.lost_of(size) * missing_as_wrong
    start = 0
    for annotator, own in zip(study.annotators, each, strict=True):
        here = slice(start, start + len(own.unit))
        start = here.stop
        itself = distance.credit_sums(own, own, size, rule, span)
        unit, place = np.unique(own.unit, return_inverse=True)
        others = tally(place, len(unit), own.weight * (weight[here] - itself[0]))
        human = ratio(tally(place, len(unit), own.weight * (earned[here] - itself[1])), others)
        scores = human
        if given is not None and met is not None:
            near = np.flatnonzero(study.among(unit)[given.unit])
            pass_ = distance.Scores(given.unit[near], given.value[near], given.weight[near])
            with_own = distance.credit_sums(pass_, own, size, rule, span)
            reached, possible = (
                tally(pass_.unit, size, pass_.weight * (met[side][near] - with_own[side]))[unit] for side in (1, 0)
            )
            scores = np.where(possible > 1e-9, ratio(reached, possible), 0.0) * heard[unit]
        kept = (others > 1e-9) & asked[unit]
        yield annotator.rater, LeftOutScores(human[kept], scores[kept], study.unit_cluster[unit[kept]], 0, unit[kept])


def left_out(
    study: Study, group: bounding.Group, scale: Scale, judge: Answers | None, missing_as_wrong: bool = False
) -> Iterator[LeftOut]:
    """Each annotator with what the others said. Passes of one rater over a unit count as one answer, 1 / passes each.

    A person's own passes are never a reference for that person.
    """
    people, common = crossing.people_votes(study, scale)
    judged = None if judge is None else crossing.votes([judge], scale, study.units, judge.scale) / judge.scale
    asked, lost = group.chosen, np.zeros(study.units)
    if judge is not None and judged is not None:
        failed = np.isin(np.arange(study.units), judge.unreadable) & missing_as_wrong
        asked = asked & (judged.any(axis=1) | failed)
        lost = judge.lost_of(study.units) * missing_as_wrong
    for annotator in study.annotators:
        unit, own_answers = crossing.on_own_units(annotator)
        own = crossing.votes([own_answers], scale, len(unit), common)
        others = people[unit] - own
        kept = asked[unit] & own.any(axis=1) & others.any(axis=1)
        unit, said = unit[kept], own[kept] / common
        of_judge = said if judged is None else judged[unit]
        yield LeftOut(annotator.rater, unit, said, of_judge, others[kept] / common, lost[unit])


def scores_of_left_out(study: Study, one: LeftOut, scale: Scale, settings: CalibrationSettings) -> LeftOutScores:
    """Agreement of the annotator and of the judge with the same reference, row by row, under the rule for ties."""
    ties = ties_rule(scale, settings)
    places = {"half_credit": [0, 1, 2], "exclude": [0, 2]}.get(ties, list(range(len(scale.labels))))
    credit = np.eye(len(places))
    if ties == "half_credit":
        credit = 1 - np.abs(SCORES[:, None] - SCORES[None, :])
    elif ties in distance.BY_DISTANCE:
        credit = distance.credit_of_levels(scale, ties)
    said = majority_votes(one.others, scale, settings) if settings.references == "others_majority" else one.others
    own, judge, reference = (_shares(side[:, places]) for side in (one.own, one.judge, said))
    earned = reference @ credit
    human = (own * earned).sum(axis=1)
    scores = (judge * earned).sum(axis=1)
    # of the judge's passes those that count: under `exclude` ties do not, and failed ones always do
    counting = ratio(one.judge[:, places].sum(axis=1), one.judge.sum(axis=1)) * (1 - one.lost)
    scores = np.where(one.lost > 0, np.nan_to_num(scores) * ratio(counting, counting + one.lost), scores)
    scores = np.where(~one.judge.any(axis=1), 0.0, scores)
    kept = ~np.isnan(human) & ~np.isnan(scores)
    unit = one.unit[kept]
    return LeftOutScores(human[kept], scores[kept], study.unit_cluster[unit], int((~kept).sum()), unit)


def ties_rule(scale: Scale, settings: CalibrationSettings) -> str:
    """`settings.ties` for pairs, `settings.distance` for scores, `weighted` where the plan has weights.

    Other labels are the same or not.
    """
    if scale.weights:
        return "weighted"
    if scale.kind == "rating" and settings.distance != "exact" and len(scale.labels) > 1:
        return settings.distance
    return settings.ties if scale.kind == "pairwise" else "three_class"


def majority_votes(others: Array, scale: Scale, settings: CalibrationSettings) -> Array:
    """One vote for the one most frequent label of each row; a tied top has none, or votes tie; shape (rows, K)."""
    top = np.isclose(others, others.max(axis=1, keepdims=True, initial=0.0))
    out = np.where(top.sum(axis=1, keepdims=True) == 1, top, 0.0)
    if settings.majority_ties == "tie" and scale.kind == "pairwise":
        out[~out.any(axis=1), 1] = 1.0
    return np.asarray(out, float)


def stacked(parts: Sequence[LeftOutScores]) -> LeftOutScores:
    """The rows of all parts."""
    human, judge = (np.concatenate([np.zeros(0), *(getattr(o, name) for o in parts)]) for name in ("human", "judge"))
    cluster = np.concatenate([np.zeros(0, np.intp), *(part.cluster for part in parts)])
    units = [part.unit for part in parts if part.unit is not None]
    unit = np.concatenate([np.zeros(0, np.intp), *units]) if len(units) == len(parts) else None
    return LeftOutScores(human, judge, cluster, sum(part.dropped for part in parts), unit)


def _shares(counts: Array) -> Array:
    return ratio(counts, counts.sum(axis=1, keepdims=True))
