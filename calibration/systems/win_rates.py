"""Win scores of a rater on pairs, and win rates of systems made of them.

A win is 1, a tie half a win for each system, a loss 0. A unit (item x criterion) counts once, however many annotators
or passes answered it. A win rate is a mean over clusters of cluster means, so that a topic with many labels counts as
one topic.
"""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.arithmetic.closed_forms import Array, ratio
from calibration.arithmetic.columns import PAIRWISE, SCORES, Codes, distinct, tally
from calibration.errors import CalibrationError
from calibration.estimates import Estimate
from calibration.inference.bootstrap import resample
from calibration.remarks import Reason, told
from calibration.settings import CalibrationSettings
from calibration.study import bias, joining
from calibration.study.bounding import Group, Pair, share
from calibration.systems.placing import Ranking, placed
from calibration.table.verdicts import SYSTEM_PAIR


@dataclass(frozen=True)
class WinMatrix:
    """Wins of the row's system over the column's, and comparisons of the two, shape (systems, systems).

    In units (item x criterion); a tie is half a win for each. `estimates`: of every two systems that met, the share won
    by the one earlier by name.
    """

    systems: tuple[str, ...]
    wins: Array
    comparisons: Array
    estimates: tuple[Estimate, ...]

    @property
    def rates(self) -> Array:
        """Wins / comparisons; nan where two systems never met."""
        return ratio(self.wins, self.comparisons)


def win_rates(
    verdicts: pd.DataFrame | joining.Study, rater: str | None = None, settings: CalibrationSettings | None = None
) -> Ranking:
    """Win rate of every system, 0 to 1: the mean over clusters of its mean win score (1, .5, 0) in the cluster.

    `rater`: None for all annotators; each unit counts once. Interval: Wilson form with n_eff. Undefined: a system the
    rater never compared, `no_items`. Raises `CalibrationError`.
    """
    settings = settings or CalibrationSettings()
    units = units_of(verdicts, settings)
    wins = win_sums(units, win_scores(units, rater))
    return win_rate_ranking(rater or bias.EVERYONE, units.systems, wins, settings, units.drawn_for(rater))


def win_matrix(
    verdicts: pd.DataFrame | joining.Study, rater: str | None = None, settings: CalibrationSettings | None = None
) -> WinMatrix:
    """Wins and comparisons of every ordered pair of systems, over all units, and their Wilson intervals with n_eff.

    Raises `CalibrationError`.
    """
    settings = settings or CalibrationSettings()
    units = units_of(verdicts, settings)
    wins = win_sums(units, win_scores(units, rater))
    return win_rate_matrix(rater or bias.EVERYONE, units.systems, wins, settings, units.drawn_for(rater))


def win_rate_ranking(
    rater: str, systems: tuple[str, ...], wins: Array, settings: CalibrationSettings, drawn: Array | None = None
) -> Ranking:
    """`win_rates` from wins by cluster, shape (clusters, systems, systems). `drawn`: weights of the clusters."""
    rates, met = cluster_rates(wins)
    estimates = [_estimate(rater, rates[:, one], met[:, one], settings, drawn) for one in range(len(systems))]
    return placed(systems, estimates, rate_draws(rates, settings, drawn))


def win_rate_matrix(
    rater: str, systems: tuple[str, ...], wins: Array, settings: CalibrationSettings, drawn: Array | None = None
) -> WinMatrix:
    """`win_matrix` from wins by cluster, shape (clusters, systems, systems). `drawn`: weights of the clusters."""
    met, estimates = compared(wins), []
    for i, j in zip(*np.triu_indices(len(systems), 1), strict=True):
        if met[:, i, j].any():
            pair = Pair(rater, "", WHOLE, met[:, i, j], drawn)
            one = share("pair_win_rate", pair, wins[:, i, j], settings, told(Reason.WON_BY, system=systems[i]))
            estimates.append(replace(one, category=f"{SYSTEM_PAIR}{systems[i]}, {systems[j]}"))
    return WinMatrix(systems, wins.sum(axis=0), met.sum(axis=0), tuple(estimates))


def rate_draws(rates: Array, settings: CalibrationSettings, drawn: Array | None = None) -> Array:
    """Mean over the clusters drawn of cluster rates, shape (clusters, ...), nan where none; (resamples, ...)."""
    sums = np.stack([np.nan_to_num(rates), ~np.isnan(rates)], axis=1)
    sums = sums if drawn is None else sums * drawn.reshape(-1, *[1] * (sums.ndim - 1))
    return resample(sums, lambda summed: ratio(summed[:, 0], summed[:, 1]), settings.resamples, settings.seed)


def _estimate(rater: str, rates: Array, met: Array, settings: CalibrationSettings, drawn: Array | None) -> Estimate:
    held = met > 0
    size = float(met.sum() / max(1, held.sum()))  # every cluster counts alike: each is given the mean number of units
    pair = Pair(rater, "", WHOLE, np.where(held, size, 0.0), drawn)
    return share("win_rate", pair, np.nan_to_num(rates) * size, settings, "each cluster counts once; ties half a win")


WHOLE = Group((), "all", "all", np.ones(0, dtype=bool))


@dataclass(frozen=True)
class Units:
    """The units on pairs of systems, shape (units,) each. `first` is the system earlier by name: no naming of A and B
    can show."""

    study: joining.Study
    systems: tuple[str, ...]
    number: Codes  # of the unit in the study
    first: Codes
    second: Codes
    cluster: Codes

    @property
    def clusters(self) -> int:
        """Clusters of the study, with or without a pair."""
        return len(self.study.clusters)

    def drawn_for(self, rater: str | None) -> Array | None:
        """Weights of clusters where they are people's; a judge answered all."""
        return self.study.drawn if rater in (None, bias.EVERYONE) else None


def has_ranking(study: joining.Study) -> bool:
    """Whether people labelled and some pair names its systems."""
    pairwise = np.array([study.kinds[name] == "pairwise" for name in study.criteria])
    return bool(study.annotators) and bool((pairwise[study.unit_criterion] & (study.unit_systems >= 0)).any())


def units_of(verdicts: pd.DataFrame | joining.Study, settings: CalibrationSettings) -> Units:
    """The units of pairwise criteria that name two systems. Raises `not_pairwise` where there are none."""
    study = joining.study_of(verdicts, settings)
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


def asked(units: Units, rater: str | None = None) -> joining.Mask:
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
    """Mean score of each system in each cluster (nan: it is not there) and its units; (clusters, systems)."""
    met = compared(wins).sum(axis=-1)
    return ratio(wins.sum(axis=-1), met), met


def _raters(study: joining.Study, rater: str | None) -> tuple[joining.Answers, ...]:
    if rater is None or rater == bias.EVERYONE:
        return study.annotators
    found = tuple(one for one in (*study.annotators, *study.judges) if one.rater == rater)
    if not found:
        names = ", ".join(judge.rater for judge in study.judges) or "none"
        raise CalibrationError(
            "unknown_rater", "no rater is called '{rater}'; the judges are {names}", rater=rater, names=names
        )
    return found


def _of_one(study: joining.Study, answers: joining.Answers) -> tuple[Codes, Array]:
    """The units with a score of this rater, sorted, and its mean over passes for the system earlier by name."""
    place = dict(zip(PAIRWISE, SCORES, strict=True))
    score = np.array([place.get(label, np.nan) for label in study.labels])[answers.label]
    kept = ~np.isnan(score)
    unit, of_unit = np.unique(answers.unit[kept], return_inverse=True)
    sums = tally(of_unit, len(unit), answers.weight[kept] * score[kept])
    of_a = sums / tally(of_unit, len(unit), answers.weight[kept])
    return unit, np.where(study.unit_mirrored[unit], 1 - of_a, of_a)
