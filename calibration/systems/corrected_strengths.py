"""Bradley-Terry strengths of a judge, corrected by the labels of people: one likelihood of labelled and unlabelled."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from calibration.bias import EVERYONE
from calibration.bootstrap import resample
from calibration.engine.closed_forms import Array, ratio
from calibration.engine.joining import Study
from calibration.settings import CalibrationSettings
from calibration.systems.bradley_terry import (
    LOG_ODDS,
    chances,
    placed_strengths,
    strength_ranking,
    strengths,
    why_no_strengths,
)
from calibration.systems.corrected import Halves, Straddling, halves_of, straddles
from calibration.systems.placing import Ranking
from calibration.systems.win_scores import compared, units_of


def judge_corrected_strengths(
    verdicts: pd.DataFrame | Study,
    judge: str,
    settings: CalibrationSettings | None = None,
    straddling: Straddling = "refuse",
) -> tuple[Ranking, Ranking, Ranking]:
    """Strengths by people, by the judge alone, and corrected: (log-odds of winning, mean 0) of every system.

    The corrected ones maximise l_h + lam (l_g unlabelled - l_g labelled), each a mean over units: as the likelihood is
    linear in wins, that is Bradley-Terry on corrected wins. One lam within 0 to 1 for all systems, the least trace of
    the clustered covariance of the score at the people's strengths. Boyeau et al. 2024. Intervals: cluster bootstrap of
    all clusters at that lam, so labelled and unlabelled units of one cluster stay together. Undefined: as
    `bradley_terry`, and `cluster_straddles` under `refuse`. Raises as `judge_corrected_win_rates`.
    """
    settings = settings or CalibrationSettings()
    units = units_of(verdicts, settings)
    halves = halves_of(units, judge, straddling)
    lam = tuning(halves)
    parts = np.stack([halves.people, halves.judged, halves.elsewhere], axis=1)
    whole = corrected_wins(parts.sum(axis=0), lam)
    reason = _straddle(halves) if straddling == "refuse" else ""
    reason = reason or why_no_strengths(np.nan_to_num(whole))
    draws = resample(parts, partial(corrected_strength, lam=lam), settings.resamples, settings.seed)
    note = "; ".join(filter(None, [f"{LOG_ODDS}; lambda {lam:.3f}", halves.note]))
    sizes = compared(parts[:, 0] + parts[:, 2]).sum(axis=-1)
    name = "judge_corrected_bradley_terry"
    point = corrected_strength(parts.sum(axis=0), lam)
    return (
        strength_ranking(EVERYONE, units.systems, halves.people, settings),
        strength_ranking(judge, units.systems, halves.judged + halves.elsewhere, settings),
        placed_strengths(name, judge, units.systems, sizes, point, draws, reason, note, settings),
    )


def corrected_wins(sums: Array, lam: float) -> Array:
    """Wins per unit, shape (..., systems, systems), from (..., 3, systems, systems): people, judge there, judge
    elsewhere.

    A cell may be below 0 where the judge gave much more than the people. nan: nothing labelled.
    """
    people, judged, elsewhere = np.moveaxis(sums, -3, 0)
    n, rest = (part.sum(axis=(-2, -1))[..., None, None] for part in (people, elsewhere))
    if not lam:
        return ratio(people, n)
    return ratio(people, n) + lam * (ratio(elsewhere, rest) - ratio(judged, n))


def corrected_strength(sums: Array, lam: float) -> Array:
    """Strengths of `corrected_wins`, shape (..., systems); nan where nothing is labelled, or there is no maximum."""
    return strengths(np.nan_to_num(corrected_wins(sums, lam)))


def tuning(halves: Halves) -> float:
    """The lam of least variance: scores of people (a) against what the correction adds (b), by cluster."""
    fits = [strengths(wins.sum(axis=0)) for wins in (halves.people, halves.judged)]
    at = next((one for one in fits if not np.isnan(one).any()), None)
    n, rest = halves.people.sum(), halves.elsewhere.sum()
    if at is None or not n or not rest:
        return 0.0
    expected = chances(at)
    a, g, other = (_left(wins, expected) for wins in (halves.people, halves.judged, halves.elsewhere))
    b = g / n - other / rest
    bottom = float((b * b).sum())
    return min(1.0, max(0.0, float((a / n * b).sum()) / bottom)) if bottom > 0 else 0.0


def _left(wins: Array, expected: Array) -> Array:
    """Wins beyond expectation of each system in each cluster, shape (clusters, systems), of mean 0 per unit."""
    score = (wins - compared(wins) * expected).sum(axis=-1)
    sizes = compared(wins).sum(axis=-1)
    return np.asarray(score - sizes * np.nan_to_num(ratio(score.sum(axis=0), sizes.sum(axis=0))))


def _straddle(halves: Halves) -> str:
    both = int(straddles(halves.people, halves.elsewhere).sum())
    text = f"cluster_straddles: {both} clusters hold labelled and unlabelled items; label whole clusters, or ask for "
    return text + "drop or joint" if both else ""
