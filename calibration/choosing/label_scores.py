"""Each annotator's label in turn, and how far each judge agrees with it: the rows on which judges are compared."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibration.engine.closed_forms import Array
from calibration.engine.joining import Answers, Mask, Study
from calibration.reading.columns import Codes, tally


@dataclass(frozen=True)
class LabelScores:
    """One row per annotator and unit answered. `judges`: judge to its agreement, 0 to 1, shape (rows,), nan: none."""

    judges: dict[str, Array]
    clusters: Codes


def label_scores(study: Study, ties: str = "three_class", missing_as_wrong: bool = False) -> LabelScores:
    """The scores of every judge of the study. A judge's passes over a unit count 1 / passes.

    `ties`: `three_class`, the share of passes with the same label; `half_credit`, a tie against a winner counts one
    half; `exclude`, among passes that name a winner, nan for an annotator's tie. `missing_as_wrong`: a unit that the
    judge was asked and gave no usable answer to scores 0, where the annotator's label counts; a unit it was never
    asked, or where not_applicable was dropped, is nan either way.
    """
    unit = np.concatenate([np.zeros(0, np.intp), *(np.unique(one.unit) for one in study.annotators)])
    judges, left_out = {}, _tied(study) if ties == "exclude" else np.zeros(len(unit), bool)
    for judge in study.judges:
        scores = scores_of(study, judge, ties)
        if missing_as_wrong:
            scores[study.among(judge.unreadable)[unit] & ~left_out] = 0.0
        judges[judge.rater] = scores
    return LabelScores(judges, study.unit_cluster[unit])


def _tied(study: Study) -> Mask:
    """Rows where the annotator's label is a tie, in any pass."""
    tie = study.labels.index("tie") if "tie" in study.labels else -1
    parts = [np.isin(np.unique(one.unit), one.unit[one.label == tie]) for one in study.annotators]
    return np.concatenate([np.zeros(0, bool), *parts])


def scores_of(study: Study, judge: Answers | None, ties: str = "three_class") -> Array:
    """Of every annotator's label in turn, the judge's agreement as in `label_scores`; nan: not answered."""
    if judge is None:
        return np.full(sum(len(np.unique(one.unit)) for one in study.annotators), math.nan)
    size, place = len(study.labels), {label: index for index, label in enumerate(study.labels)}
    tie, winners = place.get("tie", -1), [place.get(label, -1) for label in ("A", "B")]
    cell, position = np.unique(judge.unit * size + judge.label, return_inverse=True)
    share = np.append(tally(position, len(cell), judge.weight / judge.scale), 0.0)

    def said(unit: Codes, label: Codes | int) -> Array:
        """Share of the judge's passes over each unit with this label; -1 is a label nobody gave."""
        wanted = np.where(np.asarray(label) < 0, -1, unit * size + label)
        at = np.searchsorted(cell, wanted)
        at[np.append(cell, -2)[at] != wanted] = len(cell)
        return np.asarray(share[at])

    answered = study.among(judge.unit)
    scores = [np.zeros(0)]
    for person in study.annotators:
        agreed, tied = said(person.unit, person.label), person.label == tie
        if ties == "half_credit":
            other = np.where(tied, sum(said(person.unit, one) for one in winners), said(person.unit, tie))
            agreed = agreed + other / 2
        elif ties == "exclude":
            decided = 1 - said(person.unit, tie)
            agreed = np.divide(agreed, decided, out=np.full(len(agreed), math.nan), where=(decided > 1e-9) & ~tied)
        unit, of_unit = np.unique(person.unit, return_inverse=True)
        score = tally(of_unit, len(unit), agreed * person.weight) / person.scale
        scores.append(np.where(answered[unit], score, math.nan))
    return np.concatenate(scores)
