"""Agreement by distance: two scores agree by 1 - their distance / the range of the scale, so that near is not far.

With linear weights it is the weighted agreement behind Cohen's weighted kappa (Cohen 1968); 4 and 5 of a scale from 1
to 5 agree by .75, where exact equality calls them as wrong as 1 and 5.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import Codes, tally
from calibration.errors import CalibrationError
from calibration.settings import CalibrationSettings
from calibration.study.joining import Answers, Mask, Scale, Study, lies_far, scale_of
from plain.wording import worded

BY_DISTANCE = ("linear", "quadratic", "weighted")
KAPPA = {"linear": "linear κ", "quadratic": "quadratic κ", "weighted": "unweighted κ"}  # as a choice computes it


def is_by_distance(statistic: str) -> bool:
    """Whether an agreement of this name counts how near scores lie, not whether they are equal."""
    return statistic.removesuffix("_missing_as_wrong").endswith(tuple(f"_{rule}" for rule in BY_DISTANCE))


def said_of(share: str, near: bool) -> str:
    """How a sentence ends that says how much somebody agrees: in so many labels, or to so much by distance."""
    return worded("to {share}, by the distance of the scores" if near else "in {share} of labels", share=share)


@dataclass(frozen=True)
class Scores:
    """Numbers given to units, each with a weight; all arrays of shape (answers,)."""

    unit: Codes
    value: Array
    weight: Array


def span_of(scale: Scale) -> float:
    """The range of the scale: as it is declared, else of people's but for far ones and the outermost half percent.

    Raises `unknown_form` where there is none.
    """
    low, high = scale.ends or (0.0, 0.0)
    if not high > low:
        raise CalibrationError("unknown_form", "agreement by distance needs a scale of two numbers at least")
    return high - low


def row_scores(study: Study) -> Array:
    """The score of each row, nan where it has none. Shape (rows,)."""
    label, status = (study.frame[name].astype("category").cat for name in ("label", "status"))
    numbers = pd.to_numeric(pd.Series(label.categories.astype("str")), errors="coerce").to_numpy(float)
    is_ok = np.append(status.categories == "ok", False)[status.codes]  # the code of no label is -1
    is_score = is_ok & study.of_kind(study.frame, "rating")
    return np.where(is_score, np.append(numbers, np.nan)[label.codes], np.nan)


def far_scores(study: Study, settings: CalibrationSettings) -> Mask:
    """Scores that lie far from the others of their criterion (`lies_far`), shape (rows,); none of a declared scale."""
    given, asked = row_scores(study), study.unit_criterion[study.frame["unit"].to_numpy(np.intp)]
    far = np.zeros(len(given), dtype=bool)
    for at, name in enumerate(study.criteria):
        if name not in settings.scale_ends and name not in settings.scales:
            rows = np.flatnonzero((asked == at) & ~np.isnan(given))
            far[rows] = lies_far(given[rows])
    return far


def places(study: Study, settings: CalibrationSettings) -> tuple[Array, Array]:
    """Each row's score between the ends of its own criterion's scale, 0 to 1, shape (rows,), and these, (criteria, 2).

    What lies outside a scale that nobody declared is below 0 or above 1, far scores are left out. nan: there is none.
    """
    far, asked = far_scores(study, settings), study.unit_criterion[study.frame["unit"].to_numpy(np.intp)]
    score, ends = np.where(far, np.nan, row_scores(study)), np.full((len(study.criteria), 2), np.nan)
    for at, name in enumerate(study.criteria):
        scale = scale_of(study, (name,), settings) if study.kinds[name] == "rating" else None
        if scale and scale.ends:
            usual = score[asked == at] if far[asked == at].any() else np.array(scale.ends)
            ends[at] = np.clip(scale.ends, np.nanmin(usual), np.nanmax(usual))
    low, high = ends[asked].T
    return ratio(score - low, high - low), ends


def credit_of_levels(scale: Scale, rule: str) -> Array:
    """What each answer earns beside each other, shape (K, K); what is outside the scale agrees with itself alone.

    Raises `unknown_form` where the weights of the plan are for another number of answers.
    """
    credit = np.eye(len(scale.labels))
    if rule == "weighted":
        size = len(scale.labels) - ("not_applicable" in scale.labels)
        if len(scale.weights) != size or not (scale.declared or scale.kind == "rating"):
            raise CalibrationError(
                "unknown_form",
                f"settings.weights are for {len(scale.weights)} answers in order, and the scale has {size}: declare it "
                "(scales), and give one row and one column an answer",
            )
        credit[:size, :size] = scale.weights
        return credit
    numbers = above_lowest(scale)
    apart = np.abs(numbers[:, None] - numbers[None, :]) / span_of(scale)
    credit[: len(numbers), : len(numbers)] = 1 - (apart**2 if rule == "quadratic" else apart)
    return credit


def scores_given(answers: Answers, scale: Scale) -> Scores:
    """One rater's scores above the lowest of the scale, every unit weighing 1 over all its passes."""
    place = scale.recode[answers.label]
    kept = place >= 0
    value = place[kept].astype(float) if scale.numbers is None or scale.weights else above_lowest(scale)[place[kept]]
    return Scores(answers.unit[kept], value, answers.weight[kept] / answers.scale)


def above_lowest(scale: Scale) -> Array:
    """The numbers of the scale from 0 on, those beyond its ends at these: an offset of a million costs no digits."""
    low, high = scale.ends or (0.0, 0.0)
    return np.asarray(np.clip(np.asarray(scale.numbers, float), low, high) - low)


def joined(parts: list[Scores]) -> Scores:
    """The scores of several raters together."""
    if not parts:
        return Scores(np.zeros(0, np.intp), np.zeros(0), np.zeros(0))
    columns = ([getattr(part, name) for part in parts] for name in ("unit", "value", "weight"))
    unit, value, weight = (np.concatenate(column) for column in columns)
    return Scores(unit, value, weight)


def credit_sums(asked: Scores, given: Scores, units: int, rule: str, span: float) -> tuple[Array, Array]:
    """Of each asked score: the weight of the scores given to its unit, and their summed credit 1 - distance / span.

    `quadratic`: 1 - (distance / span)^2. Shape (asked,) each; 0 and 0 where nobody scored the unit. Costs what sorting
    the scores costs, however many people scored a unit.
    """
    weight = tally(given.unit, units, given.weight)[asked.unit]
    if rule == "quadratic":
        first, second = (tally(given.unit, units, given.weight * given.value**power)[asked.unit] for power in (1, 2))
        return weight, weight - (weight * asked.value**2 - 2 * asked.value * first + second) / span**2
    return weight, weight - _absolute_distances(asked, given) / span


def _absolute_distances(asked: Scores, given: Scores) -> Array:
    """Summed weighted |x - y| to the scores given to the same unit, from running sums over the sorted scores."""
    values = np.unique(np.concatenate([given.value, asked.value]))
    size = len(values)
    key = given.unit * size + np.searchsorted(values, given.value)
    order = np.argsort(key, kind="stable")
    key, value, weight = key[order], given.value[order], given.weight[order]
    weights, sums = (np.concatenate([[0.0], np.cumsum(column)]) for column in (weight, weight * value))
    start, end = (np.searchsorted(key, (asked.unit + more) * size) for more in (0, 1))
    middle = np.searchsorted(key, asked.unit * size + np.searchsorted(values, asked.value))
    below, above = weights[middle] - weights[start], weights[end] - weights[middle]
    return np.asarray(asked.value * (below - above) - (sums[middle] - sums[start]) + (sums[end] - sums[middle]))


def mean_credit(asked: Scores, given: Scores, units: int, rule: str, span: float) -> Array:
    """Of each asked score its mean credit with those given to its unit, 0 to 1; nan where there is none."""
    weight, earned = credit_sums(asked, given, units, rule, span)
    return ratio(np.clip(earned, 0.0, weight), weight)


def best_number(people: Scores, rule: str) -> float:
    """The score that agrees best with all of these: their weighted median, or for `quadratic` the one at the mean.

    The lower of two medians; always a score that somebody gave. nan: there are none.
    """
    if not len(people.value):
        return float("nan")
    if rule == "quadratic":
        mean = float(np.average(people.value, weights=people.weight))
        return float(people.value[np.argmin(np.abs(people.value - mean))])
    order = np.argsort(people.value, kind="stable")
    running = np.cumsum(people.weight[order])
    return float(people.value[order][np.searchsorted(running, running[-1] / 2 - 1e-9)])
