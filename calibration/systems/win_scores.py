"""Win scores on pairs: what a rater gave to either system of each unit (item x criterion), added up by cluster.

A win is 1, a tie half a win for each, a loss 0. A unit counts once, however many annotators or passes answered it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.bias import EVERYONE
from calibration.engine.bounding import Group
from calibration.engine.closed_forms import Array, ratio
from calibration.engine.joining import Answers, Mask, Study, study_of
from calibration.errors import CalibrationError
from calibration.reading.columns import Codes, distinct, tally
from calibration.scores.pairwise import SCORES
from calibration.settings import CalibrationSettings
from calibration.verdicts import PAIRWISE

WHOLE = Group((), "all", "all", np.ones(0, dtype=bool))


@dataclass(frozen=True)
class Units:
    """The units on pairs of systems, shape (units,) each. `first` is the system earlier by name: no naming of A and B
    can show."""

    study: Study
    systems: tuple[str, ...]
    number: Codes  # of the unit in the study
    first: Codes
    second: Codes
    cluster: Codes

    @property
    def clusters(self) -> int:
        """Clusters of the study, with or without a pair."""
        return len(self.study.clusters)


def has_ranking(study: Study) -> bool:
    """Whether people labelled and some pair names its systems."""
    pairwise = np.array([study.kinds[name] == "pairwise" for name in study.criteria])
    return bool(study.annotators) and bool((pairwise[study.unit_criterion] & (study.unit_systems >= 0)).any())


def units_of(verdicts: pd.DataFrame | Study, settings: CalibrationSettings) -> Units:
    """The units of pairwise criteria that name two systems. Raises `not_pairwise` where there are none."""
    study = study_of(verdicts, settings)
    pairwise = np.array([study.kinds[name] == "pairwise" for name in study.criteria])
    number = np.flatnonzero(pairwise[study.unit_criterion] & (study.unit_systems >= 0))
    if not len(number):
        raise CalibrationError(
            "not_pairwise",
            "no verdict on a pair names system_a and system_b; a ranking needs them (of ratings, first make "
            "preferences_from_scores)",
        )
    both = np.stack(np.divmod(study.unit_systems[number], len(study.systems)))
    used, (first, second) = distinct(both)
    names = tuple(study.systems[place] for place in used)
    return Units(study, names, number, first, second, study.unit_cluster[number])


def win_scores(units: Units, rater: str | None = None) -> Array:
    """Score of the `first` system in each unit by `rater` (None: the mean over all annotators), shape (units,).

    nan: no usable answer; not_applicable is none. Passes over a unit count equally. Raises `unknown_rater`.
    """
    total, given = np.zeros(units.study.units), np.zeros(units.study.units)
    for one in _raters(units.study, rater):
        unit, score = _of_one(units.study, one)
        total[unit] += score
        given[unit] += 1
    return ratio(total[units.number], given[units.number])


def asked(units: Units, rater: str | None = None) -> Mask:
    """Whether anybody meant by `rater` was asked, answered or not; shape (units,)."""
    numbers = [one.asked for one in _raters(units.study, rater)]
    return units.study.among(np.concatenate([np.zeros(0, np.intp), *numbers]))[units.number]


def win_sums(units: Units, score: Array) -> Array:
    """Wins of system i over j in each cluster, shape (clusters, systems, systems); units without a score are left
    out."""
    known, size = ~np.isnan(score), len(units.systems)
    cluster, i, j, won = units.cluster[known], units.first[known], units.second[known], score[known]
    count = units.clusters * size * size
    wins = tally((cluster * size + i) * size + j, count, won) + tally((cluster * size + j) * size + i, count, 1 - won)
    return np.asarray(wins.reshape(units.clusters, size, size))


def compared(wins: Array) -> Array:
    """How often system i met j, either way up; same shape as `wins`."""
    return np.asarray(wins + np.swapaxes(wins, -1, -2))


def cluster_rates(wins: Array) -> tuple[Array, Array]:
    """Mean score of each system in each cluster (nan: it does not stand there) and its units; (clusters, systems)."""
    met = compared(wins).sum(axis=-1)
    return ratio(wins.sum(axis=-1), met), met


def _raters(study: Study, rater: str | None) -> tuple[Answers, ...]:
    if rater is None or rater == EVERYONE:
        return study.annotators
    found = tuple(one for one in (*study.annotators, *study.judges) if one.rater == rater)
    if not found:
        names = ", ".join(one.rater for one in study.judges) or "none"
        raise CalibrationError("unknown_rater", f"no rater is called '{rater}'; the judges are {names}")
    return found


def _of_one(study: Study, one: Answers) -> tuple[Codes, Array]:
    """The units with a score of this rater, sorted, and its mean over passes for the system earlier by name."""
    place = dict(zip(PAIRWISE, SCORES, strict=True))
    score = np.array([place.get(label, np.nan) for label in study.labels])[one.label]
    kept = ~np.isnan(score)
    unit, of_unit = np.unique(one.unit[kept], return_inverse=True)
    sums = tally(of_unit, len(unit), one.weight[kept] * score[kept])
    of_a = sums / tally(of_unit, len(unit), one.weight[kept])
    return unit, np.where(study.unit_mirrored[unit], 1 - of_a, of_a)
