"""Bradley-Terry strengths of systems from their wins, and a judge's strengths corrected by the labels of people.

Both are one convex fit, refused where it has no finite solution. The corrected one is a likelihood of labelled and
unlabelled verdicts together.
"""

import math
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration import estimates, remarks
from calibration.arithmetic.closed_forms import Array, ratio
from calibration.inference.bootstrap import resample
from calibration.settings import CalibrationSettings
from calibration.study import bias, bounding, joining
from calibration.systems import corrected, placing, win_rates

STEPS, LONGEST = 60, 1.5
FARTHEST = 20.0  # log-odds between two systems that met: more than any number of wins can show
CLOSE = 1e-8  # a Newton step as short leaves an error of its square
LOG_ODDS = "log-odds of winning, mean 0; ties half a win"
NONE = 1e-12  # wins: what rounding leaves of none


def bradley_terry(
    verdicts: pd.DataFrame | joining.Study,
    rater: str | None = None,
    settings: CalibrationSettings | None = None,
    ridge: float = 0.0,
) -> placing.Ranking:
    """Strength of every system, in log-odds of winning, of mean 0; ties are half a win for each. Bradley & Terry 1952.

    `rater`: None for all annotators; each unit counts once. Interval: cluster bootstrap, expanded percentile. Undefined
    for all systems: `no_items`, `not_connected` (some are never compared with the others, even indirectly), `separated`
    (a group of systems never loses to the rest, or never wins; Ford 1957), unless a `ridge` is asked for: half of
    `ridge` times the sum of squared strengths is then taken off the log-likelihood, and the note says so. Raises
    `CalibrationError`.
    """
    settings = settings or CalibrationSettings()
    units = win_rates.units_of(verdicts, settings)
    wins = win_rates.win_sums(units, win_rates.win_scores(units, rater))
    return strength_ranking(rater or bias.EVERYONE, units.systems, wins, settings, ridge)


def strength_ranking(
    rater: str, systems: tuple[str, ...], wins: Array, settings: CalibrationSettings, ridge: float = 0.0
) -> placing.Ranking:
    """`bradley_terry` from wins by cluster, shape (clusters, systems, systems)."""
    draws = resample(wins, lambda sums: strengths(sums, ridge), settings.resamples, settings.seed)
    note = LOG_ODDS + (f"; ridge {ridge:g}" if ridge else "")
    whole, sizes = wins.sum(axis=0), win_rates.compared(wins).sum(axis=-1)
    point, reason = strengths(whole, ridge), why_no_strengths(whole, ridge)
    return placed_strengths("bradley_terry", rater, systems, sizes, point, draws, reason, note, settings)


def placed_strengths(
    statistic: str, rater: str, systems: tuple[str, ...], sizes: Array, point: Array, draws: Array,
    reason: remarks.Remark | None, note: str, settings: CalibrationSettings,
) -> placing.Ranking:  # fmt: skip
    """A ranking of strengths. `sizes`: units of each system in each cluster; `draws`: shape (resamples, systems)."""
    out: list[estimates.Estimate] = []
    for index in range(len(systems)):
        pair = bounding.Pair(rater, "", win_rates.WHOLE, sizes[:, index])
        if reason:
            out.append(bounding.made(statistic, pair, math.nan, (math.nan, math.nan), "none", [note, reason], settings))
        else:
            out.append(bounding.drawn(statistic, pair, float(point[index]), draws[:, index], "", settings, note))
    return placing.placed(systems, out, None if reason else draws)


def strengths(wins: npt.ArrayLike, ridge: float = 0.0) -> Array:
    """The strengths that maximise the likelihood of `wins`, shape (..., systems, systems): i over j.

    Result: shape (..., systems), mean 0, by Newton's method; nan where `why_no_strengths` has a reason. The scale of
    `wins` matters only beside a ridge.
    """
    wins = np.asarray(wins, float)
    flat = wins.reshape(-1, *wins.shape[-2:])
    size = flat.shape[-1]
    out = np.full((len(flat), size), math.nan)
    solvable = np.flatnonzero(np.ones(len(flat), bool) if ridge else strongly_connected(flat > NONE))
    if len(solvable):
        out[solvable] = _newton(flat[solvable], ridge)
    return out.reshape(*wins.shape[:-2], size)


def why_no_strengths(wins: Array, ridge: float = 0.0) -> remarks.Remark | None:
    """Why one table of wins, shape (systems, systems), has no strengths; None where it has."""
    if not win_rates.compared(wins).sum() > NONE:
        return remarks.undefined(remarks.Reason.NO_ITEMS)
    if not np.isnan(strengths(wins, ridge)).any():
        return None
    from scipy.sparse import csgraph  # with linear algebra that a short command has no other use for

    groups, _ = csgraph.connected_components(win_rates.compared(wins) > NONE, directed=False)
    if groups > 1:
        return remarks.undefined(remarks.Reason.NOT_CONNECTED, groups=int(groups))
    return remarks.undefined(remarks.Reason.SEPARATED)


def strongly_connected(beat: joining.Mask) -> joining.Mask:
    """Whether every system reaches every other along wins; `beat`: shape (..., systems, systems). Ford 1957."""
    reached = beat | np.eye(beat.shape[-1], dtype=bool)
    for _ in range(max(1, math.ceil(math.log2(max(2, beat.shape[-1]))))):
        reached = (reached.astype(np.float32) @ reached.astype(np.float32)) > 0
    return np.asarray(reached.all(axis=(-2, -1)))


def chances(strength: Array) -> Array:
    """P(i beats j), shape (..., systems, systems), from strengths of shape (..., systems)."""
    return np.asarray(1 / (1 + np.exp(strength[..., None, :] - strength[..., :, None])))


def _newton(wins: Array, ridge: float) -> Array:
    """Strengths of each table, shape (tables, systems); nan where there is no finite maximum."""
    size = wins.shape[-1]
    met, even = win_rates.compared(wins), np.ones((size, size)) / size  # `even` fixes the mean, which no win can
    scale = met.sum(axis=(-2, -1))
    found = np.zeros(wins.shape[:2])
    done = np.zeros(len(wins), bool)
    for _ in range(STEPS):
        todo = np.flatnonzero(~done)
        if not len(todo):
            break
        p, total = chances(found[todo]), scale[todo, None]
        gradient = (wins[todo] - met[todo] * p).sum(axis=-1) / total - ridge * found[todo] / total
        weight = met[todo] * p * (1 - p) / total[..., None]
        hessian = -weight + np.eye(size) * (weight.sum(axis=-1) + ridge / total)[..., None] + even
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1)
        found[todo] += step * np.minimum(1.0, LONGEST / np.maximum(longest, CLOSE))[:, None]
        done[todo] = (longest < CLOSE) | (_widest(found[todo], met[todo]) > FARTHEST)
    found[~done | (_widest(found, met) > FARTHEST)] = math.nan
    return np.asarray(found - found.mean(axis=-1, keepdims=True))


def _widest(strength: Array, met: Array) -> Array:
    gaps = np.abs(strength[..., None, :] - strength[..., :, None])
    return np.asarray(np.where(met > NONE, gaps, 0.0).max(axis=(-2, -1)))


def judge_corrected_strengths(
    verdicts: pd.DataFrame | joining.Study,
    judge: str,
    settings: CalibrationSettings | None = None,
    straddling: corrected.Straddling = "refuse",
) -> tuple[placing.Ranking, placing.Ranking, placing.Ranking]:
    """Strengths by people, by the judge alone, and corrected: (log-odds of winning, mean 0) of every system.

    The corrected ones maximise l_h + lam (l_g unlabelled - l_g labelled), each a mean over units: as the likelihood is
    linear in wins, that is Bradley-Terry on corrected wins. One lam within 0 to 1 for all systems, the least trace of
    the clustered covariance of the score at the people's strengths. Boyeau et al. 2024. Intervals: cluster bootstrap of
    all clusters at that lam, so labelled and unlabelled units of one cluster stay together. Undefined: as
    `bradley_terry`, and `cluster_straddles` under `refuse`. Raises as `judge_corrected_win_rates`.
    """
    settings = settings or CalibrationSettings()
    units = win_rates.units_of(verdicts, settings)
    halves = corrected.halves_of(units, judge, straddling)
    lam = tuning(halves)
    parts = np.stack([halves.people, halves.judged, halves.elsewhere], axis=1)
    whole = corrected_wins(parts.sum(axis=0), lam)
    reason = _straddle(halves) if straddling == "refuse" else None
    reason = reason or why_no_strengths(np.nan_to_num(whole))
    draws = resample(parts, partial(corrected_strength, lam=lam), settings.resamples, settings.seed)
    note = "; ".join(filter(None, [f"{LOG_ODDS}; lambda {lam:.3f}", halves.note]))
    sizes = win_rates.compared(parts[:, 0] + parts[:, 2]).sum(axis=-1)
    name = "judge_corrected_bradley_terry"
    point = corrected_strength(parts.sum(axis=0), lam)
    return (
        strength_ranking(bias.EVERYONE, units.systems, halves.people, settings),
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


def tuning(halves: corrected.Halves) -> float:
    """The lam of least variance: scores of people (a) against what the correction adds (b), by cluster."""
    fits = [strengths(wins.sum(axis=0)) for wins in (halves.people, halves.judged)]
    at = next((fit for fit in fits if not np.isnan(fit).any()), None)
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
    score = (wins - win_rates.compared(wins) * expected).sum(axis=-1)
    sizes = win_rates.compared(wins).sum(axis=-1)
    return np.asarray(score - sizes * np.nan_to_num(ratio(score.sum(axis=0), sizes.sum(axis=0))))


def _straddle(halves: corrected.Halves) -> remarks.Remark | None:
    both = int(corrected.straddles(halves.people, halves.elsewhere).sum())
    return remarks.undefined(remarks.Reason.CLUSTER_STRADDLES, clusters=both) if both else None
