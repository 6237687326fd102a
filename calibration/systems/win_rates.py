"""Win rates of systems: means over clusters of cluster means, so that a topic with many labels counts as one topic."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.bias import EVERYONE
from calibration.bootstrap import resample
from calibration.engine.bounding import Pair, share
from calibration.engine.closed_forms import Array, ratio
from calibration.engine.joining import Study
from calibration.estimates import Estimate
from calibration.settings import CalibrationSettings
from calibration.systems.placing import Ranking, placed
from calibration.systems.win_scores import WHOLE, cluster_rates, compared, units_of, win_scores, win_sums
from calibration.verdicts import SYSTEM_PAIR


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
    verdicts: pd.DataFrame | Study, rater: str | None = None, settings: CalibrationSettings | None = None
) -> Ranking:
    """Win rate of every system, 0 to 1: the mean over clusters of its mean win score (1, .5, 0) in the cluster.

    `rater`: None for all annotators; each unit counts once. Interval: Wilson form with n_eff. Undefined: a system the
    rater never compared, `no_items`. Raises `CalibrationError`.
    """
    settings = settings or CalibrationSettings()
    units = units_of(verdicts, settings)
    return win_rate_ranking(rater or EVERYONE, units.systems, win_sums(units, win_scores(units, rater)), settings)


def win_matrix(
    verdicts: pd.DataFrame | Study, rater: str | None = None, settings: CalibrationSettings | None = None
) -> WinMatrix:
    """Wins and comparisons of every ordered pair of systems, over all units, and their Wilson intervals with n_eff.

    Raises `CalibrationError`.
    """
    settings = settings or CalibrationSettings()
    units = units_of(verdicts, settings)
    return win_rate_matrix(rater or EVERYONE, units.systems, win_sums(units, win_scores(units, rater)), settings)


def win_rate_ranking(rater: str, systems: tuple[str, ...], wins: Array, settings: CalibrationSettings) -> Ranking:
    """`win_rates` from wins by cluster, shape (clusters, systems, systems)."""
    rates, met = cluster_rates(wins)
    estimates = [_estimate(rater, rates[:, one], met[:, one], settings) for one in range(len(systems))]
    return placed(systems, estimates, rate_draws(rates, settings))


def win_rate_matrix(rater: str, systems: tuple[str, ...], wins: Array, settings: CalibrationSettings) -> WinMatrix:
    """`win_matrix` from wins by cluster, shape (clusters, systems, systems)."""
    met, estimates = compared(wins), []
    for i, j in zip(*np.triu_indices(len(systems), 1), strict=True):
        if met[:, i, j].any():
            pair = Pair(rater, "", WHOLE, met[:, i, j])
            one = share("pair_win_rate", pair, wins[:, i, j], settings, f"of {systems[i]}; ties half a win")
            estimates.append(replace(one, category=f"{SYSTEM_PAIR}{systems[i]}, {systems[j]}"))
    return WinMatrix(systems, wins.sum(axis=0), met.sum(axis=0), tuple(estimates))


def rate_draws(rates: Array, settings: CalibrationSettings) -> Array:
    """Mean over the clusters drawn of cluster rates, shape (clusters, ...), nan where none; (resamples, ...)."""
    sums = np.stack([np.nan_to_num(rates), ~np.isnan(rates)], axis=1)
    return resample(sums, lambda summed: ratio(summed[:, 0], summed[:, 1]), settings.resamples, settings.seed)


def _estimate(rater: str, rates: Array, met: Array, settings: CalibrationSettings) -> Estimate:
    held = met > 0
    size = float(met.sum() / max(1, held.sum()))  # every cluster counts alike: each is given the mean number of units
    pair = Pair(rater, "", WHOLE, np.where(held, size, 0.0))
    return share("win_rate", pair, np.nan_to_num(rates) * size, settings, "each cluster counts once; ties half a win")
