"""One annotator left out: the person and a judge on the same units, with the same other annotators as reference.

What the ceiling and the alternative annotator test start from. A judge against a majority is never set beside a person
against a person: a majority is easier to agree with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.engine.bounding import Group
from calibration.engine.closed_forms import Array, ratio
from calibration.engine.counted import groups_of
from calibration.engine.crossing import on_own_units, people_votes, votes
from calibration.engine.joining import Answers, Scale, Study, scale_of, study_of
from calibration.errors import CalibrationError
from calibration.reading.columns import Codes
from calibration.scores.pairwise import SCORES
from calibration.settings import CalibrationSettings

SUFFIX = {"three_class": "", "half_credit": "_half_credit", "exclude": "_exclude_ties"}
TIE_RULE = {
    "three_class": "a tie is a label like another",
    "half_credit": "a tie against a winner counts one half",
    "exclude": "labels with a tie on any side dropped",
}


@dataclass(frozen=True)
class LeftOut:
    """One annotator's units that another annotator answered too (and the judge, if any); K labels of the scale."""

    annotator: str
    unit: Codes  # shape (rows,)
    own: Array  # share of the annotator's passes with each label, shape (rows, K)
    judge: Array  # the judge's likewise; the annotator's own where there is no judge; zero where it failed to answer
    others: Array  # how many of the other annotators gave each label


@dataclass(frozen=True)
class LeftOutScores:
    """One row per annotator and unit: agreement with the other annotators on it, 0 to 1; shape (rows,)."""

    human: Array
    judge: Array  # on the identical references
    cluster: Codes
    dropped: int  # rows without a reference left: a tied majority, or ties that are excluded


def pooled(verdicts: pd.DataFrame, settings: CalibrationSettings) -> tuple[Study, Group, Scale]:
    """The study, all its units as one group, and their scale. Raises `mixed_label_types` where criteria share none."""
    study = study_of(verdicts, settings)
    scale = scale_of(study, study.criteria, settings)
    if scale is None:
        raise CalibrationError(
            "mixed_label_types", "the criteria share no scale and cannot be pooled; give the rows of one of them"
        )
    return study, groups_of(study, settings, pooled=True)[0], scale


def left_out_scores(
    study: Study,
    group: Group,
    scale: Scale,
    judge: Answers | None,
    settings: CalibrationSettings,
    missing_as_wrong: bool = False,
) -> LeftOutScores:
    """All annotators' rows, one annotator after another: what `non_inferiority` needs, judge against human.

    `missing_as_wrong`: where the judge failed to answer its score is 0; else the row is left out.
    """
    parts = [
        scores_of_left_out(study, one, scale, settings)
        for one in left_out(study, group, scale, judge, missing_as_wrong)
    ]
    return stacked(parts)


def left_out(
    study: Study, group: Group, scale: Scale, judge: Answers | None, missing_as_wrong: bool = False
) -> Iterator[LeftOut]:
    """Each annotator with what the others said. Passes of one rater over a unit count as one answer, 1 / passes each.

    A person's own passes are never a reference for that person.
    """
    people, common = people_votes(study, scale)
    judged = None if judge is None else votes([judge], scale, study.units, judge.scale) / judge.scale
    asked = group.chosen
    if judge is not None and judged is not None:
        failed = np.isin(np.arange(study.units), judge.unreadable) & missing_as_wrong
        asked = asked & (judged.any(axis=1) | failed)
    for one in study.annotators:
        unit, own_answers = on_own_units(one)
        own = votes([own_answers], scale, len(unit), common)
        others = people[unit] - own
        kept = asked[unit] & own.any(axis=1) & others.any(axis=1)
        unit, said = unit[kept], own[kept] / common
        yield LeftOut(one.rater, unit, said, said if judged is None else judged[unit], others[kept] / common)


def scores_of_left_out(study: Study, one: LeftOut, scale: Scale, settings: CalibrationSettings) -> LeftOutScores:
    """Agreement of the annotator and of the judge with the same reference, row by row, under the rule for ties."""
    ties = ties_rule(scale, settings)
    places = {"half_credit": [0, 1, 2], "exclude": [0, 2]}.get(ties, list(range(len(scale.labels))))
    credit = 1 - np.abs(SCORES[:, None] - SCORES[None, :]) if ties == "half_credit" else np.eye(len(places))
    said = majority_votes(one.others, scale, settings) if settings.references == "others_majority" else one.others
    own, judge, reference = (_shares(side[:, places]) for side in (one.own, one.judge, said))
    earned = reference @ credit
    human = (own * earned).sum(axis=1)
    silent = ~one.judge.any(axis=1)
    scores = np.where(silent, 0.0, (judge * earned).sum(axis=1))
    kept = ~np.isnan(human) & ~np.isnan(scores)
    return LeftOutScores(human[kept], scores[kept], study.unit_cluster[one.unit[kept]], int((~kept).sum()))


def ties_rule(scale: Scale, settings: CalibrationSettings) -> str:
    """`settings.ties` for pairs; other labels know no tie."""
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
    cluster = np.concatenate([np.zeros(0, np.intp), *(one.cluster for one in parts)])
    return LeftOutScores(human, judge, cluster, sum(one.dropped for one in parts))


def _shares(counts: Array) -> Array:
    return ratio(counts, counts.sum(axis=1, keepdims=True))
