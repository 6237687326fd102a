"""Does the order of the systems depend on who judges? Rank correlations of win rates on the units both answered."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.bias import EVERYONE
from calibration.correlation import kendall_tau_b, spearman
from calibration.engine.bounding import Pair, drawn
from calibration.engine.closed_forms import Array
from calibration.engine.concordance import KINDS, SAME_SCORE, tau_b
from calibration.engine.joining import Study
from calibration.estimates import Estimate
from calibration.settings import CalibrationSettings
from calibration.systems.placing import Ranking, ranks_of
from calibration.systems.win_rates import rate_draws, win_rate_ranking
from calibration.systems.win_scores import WHOLE, Units, cluster_rates, compared, units_of, win_scores, win_sums

FEW_SYSTEMS = 10


@dataclass(frozen=True)
class RankPair:
    """Two raters' orders of the same systems on the same units.

    `same_first`: share of resamples in which both put one and the same system first, alone; nan where undefined.
    """

    rater: str
    other: str
    kendall: Estimate
    spearman: float
    same_first: float


@dataclass(frozen=True)
class RankStability:
    """Each rater's ranking on all its units, and every two raters on what they share."""

    rankings: tuple[Ranking, ...]
    pairs: tuple[RankPair, ...]


def rank_stability(
    verdicts: pd.DataFrame | Study, judges: Sequence[str] | None = None, settings: CalibrationSettings | None = None
) -> RankStability:
    """Kendall's tau-b and Spearman's rho of system win rates between judges, and between each judge and the people.

    `judges`: None for all (also `<judge> [both orders]`). Tau's interval: cluster bootstrap, each resample ranked anew.
    Undefined: fewer than two systems that both ranked, all of them equal (`zero_variance`). With fewer than ten systems
    the note says so: it is no correlation over reports. Raises `CalibrationError`.
    """
    settings = settings or CalibrationSettings()
    units = units_of(verdicts, settings)
    names = list(judges) if judges is not None else [one.rater for one in units.study.judges]
    if units.study.annotators:
        names = [EVERYONE, *names]
    scores = {name: win_scores(units, name) for name in names}
    rankings = [win_rate_ranking(name, units.systems, win_sums(units, one), settings) for name, one in scores.items()]
    pairs = [_pair(units, one, other, scores, settings) for one, other in itertools.combinations(scores, 2)]
    return RankStability(tuple(rankings), tuple(pairs))


def _pair(units: Units, one: str, other: str, scores: dict[str, Array], settings: CalibrationSettings) -> RankPair:
    shared = ~np.isnan(scores[one]) & ~np.isnan(scores[other])
    wins = [win_sums(units, np.where(shared, scores[name], np.nan)) for name in (one, other)]
    rates = np.stack([cluster_rates(table)[0] for table in wins], axis=1)
    held = ~np.isnan(rates).all(axis=(0, 1))
    x, y = (np.nanmean(rates[:, side][:, held], axis=0) for side in (0, 1))
    value = kendall_tau_b(*_ranked(x, y))
    draws = rate_draws(rates[:, :, held], settings)
    sizes = compared(wins[0]).sum(axis=(1, 2)) / 2
    pair = Pair(one, other, WHOLE, sizes)
    reason = "" if not math.isnan(value) else "no_items" if not pair.n else "zero_variance"
    reason = "two_points" if not reason and held.sum() == 2 else reason
    note = f"over {int(held.sum())} systems" + (", fewer than 10" if held.sum() < FEW_SYSTEMS else "")
    estimate = drawn("kendall_tau_b_systems", pair, value, taus(draws[:, 0], draws[:, 1]), reason, settings, note)
    return RankPair(one, other, estimate, spearman(*_ranked(x, y)), _same_first(draws))


def _ranked(x: Array, y: Array) -> tuple[Array, Array]:
    return ranks_of(x), ranks_of(y)  # rates that differ by rounding share a rank


def taus(x: Array, y: Array) -> Array:
    """Tau-b of each row, shape (resamples,), from values of shape (resamples, systems)."""
    i, j = np.triu_indices(x.shape[1], 1)
    dx, dy = x[:, i] - x[:, j], y[:, i] - y[:, j]
    free_x, free_y = np.abs(dx) >= SAME_SCORE, np.abs(dy) >= SAME_SCORE
    both, alike = free_x & free_y, (dx > 0) == (dy > 0)
    counts = np.zeros((len(x), KINDS))
    for kind, seen in enumerate((both & alike, both & ~alike, free_x, free_y, np.ones_like(both))):
        counts[:, kind] = seen.sum(axis=1)
    whole = ~(np.isnan(dx).any(axis=1) | np.isnan(dy).any(axis=1))
    return np.where(whole, tau_b(counts), np.nan)


def _same_first(draws: Array) -> float:
    """`draws`: shape (resamples, 2, systems)."""
    whole = ~np.isnan(draws).any(axis=(1, 2))
    if draws.shape[-1] < 2 or not whole.any():
        return math.nan
    top = draws[whole] >= draws[whole].max(axis=-1, keepdims=True) - SAME_SCORE
    alone = (top.sum(axis=-1) == 1).all(axis=1)
    return float((alone & (top[:, 0] == top[:, 1]).all(axis=1)).mean())
