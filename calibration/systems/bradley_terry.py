"""Bradley-Terry strengths of systems from their wins: one convex fit, refused where it has no finite solution."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csgraph

from calibration.bias import EVERYONE
from calibration.bootstrap import resample
from calibration.engine.bounding import Pair, drawn, made
from calibration.engine.closed_forms import Array
from calibration.engine.joining import Mask, Study
from calibration.estimates import Estimate
from calibration.settings import CalibrationSettings
from calibration.systems.placing import Ranking, placed
from calibration.systems.win_scores import WHOLE, compared, units_of, win_scores, win_sums

STEPS, LONGEST = 60, 1.5
FARTHEST = 20.0  # log-odds between two systems that met: more than any number of wins can show
CLOSE = 1e-8  # a Newton step as short leaves an error of its square
LOG_ODDS = "log-odds of winning, mean 0; ties half a win"
NONE = 1e-12  # wins: what rounding leaves of none


def bradley_terry(
    verdicts: pd.DataFrame | Study,
    rater: str | None = None,
    settings: CalibrationSettings | None = None,
    ridge: float = 0.0,
) -> Ranking:
    """Strength of every system, in log-odds of winning, of mean 0; ties are half a win for each. Bradley & Terry 1952.

    `rater`: None for all annotators; each unit counts once. Interval: cluster bootstrap, expanded percentile. Undefined
    for all systems: `no_items`, `not_connected` (some are never compared with the others, even indirectly), `separated`
    (a group of systems never loses to the rest, or never wins; Ford 1957), unless a `ridge` is asked for: half of
    `ridge` times the sum of squared strengths is then taken off the log-likelihood, and the note says so. Raises
    `CalibrationError`.
    """
    settings = settings or CalibrationSettings()
    units = units_of(verdicts, settings)
    wins = win_sums(units, win_scores(units, rater))
    return strength_ranking(rater or EVERYONE, units.systems, wins, settings, ridge)


def strength_ranking(
    rater: str, systems: tuple[str, ...], wins: Array, settings: CalibrationSettings, ridge: float = 0.0
) -> Ranking:
    """`bradley_terry` from wins by cluster, shape (clusters, systems, systems)."""
    draws = resample(wins, lambda sums: strengths(sums, ridge), settings.resamples, settings.seed)
    note = LOG_ODDS + (f"; ridge {ridge:g}" if ridge else "")
    whole, sizes = wins.sum(axis=0), compared(wins).sum(axis=-1)
    point, reason = strengths(whole, ridge), why_no_strengths(whole, ridge)
    return placed_strengths("bradley_terry", rater, systems, sizes, point, draws, reason, note, settings)


def placed_strengths(
    statistic: str, rater: str, systems: tuple[str, ...], sizes: Array, point: Array, draws: Array, reason: str,
    note: str, settings: CalibrationSettings,
) -> Ranking:  # fmt: skip
    """A ranking of strengths. `sizes`: units of each system in each cluster; `draws`: shape (resamples, systems)."""
    out: list[Estimate] = []
    for index in range(len(systems)):
        pair = Pair(rater, "", WHOLE, sizes[:, index])
        if reason:
            out.append(made(statistic, pair, math.nan, (math.nan, math.nan), "none", [note, reason], settings))
        else:
            out.append(drawn(statistic, pair, float(point[index]), draws[:, index], "", settings, note))
    return placed(systems, out, None if reason else draws)


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


def why_no_strengths(wins: Array, ridge: float = 0.0) -> str:
    """Why one table of wins, shape (systems, systems), has no strengths; "" where it has."""
    if not compared(wins).sum() > NONE:
        return "no_items: nothing to compare"
    if not np.isnan(strengths(wins, ridge)).any():
        return ""
    groups, _ = csgraph.connected_components(compared(wins) > NONE, directed=False)
    if groups > 1:
        return f"not_connected: the systems fall into {groups} groups that were never compared with each other"
    return "separated: a system, or a group of them, never lost to the others or never won against them"


def strongly_connected(beat: Mask) -> Mask:
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
    met, even = compared(wins), np.ones((size, size)) / size  # `even` fixes the mean, which no win can
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
