"""The median of a skewed amount, such as minutes of an item, with an interval from whole clusters."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from calibration.biases.answering import WHOLE
from calibration.bootstrap import cluster_weights
from calibration.engine.bounding import FEWEST, Pair, drawn
from calibration.engine.closed_forms import Array
from calibration.estimates import Estimate
from calibration.reading.columns import Codes, tally
from calibration.settings import CalibrationSettings


def median_estimate(
    statistic: str, rater: str, values: npt.ArrayLike, clusters: npt.ArrayLike, settings: CalibrationSettings, note: str
) -> Estimate:
    """The median of `values`, shape (rows,), in `clusters`, shape (rows,): of two middle values the lower one.

    nan is left out and counted in the note. Interval: expanded percentile of resampled clusters, from `FEWEST` on.
    Undefined: no values.
    """
    values, clusters = np.asarray(values, float), np.asarray(clusters)
    known = ~np.isnan(values)
    if not known.all():
        note += f"; {int((~known).sum())} of {len(known)} unknown and left out"
    order = np.argsort(values[known], kind="stable")
    ranked = values[known][order]
    code = np.unique(clusters[known][order], return_inverse=True)[1].astype(np.intp)
    pair = Pair(rater, "", WHOLE, tally(code, 0))
    value = float(_medians(np.ones((1, pair.clusters), np.int64), code, ranked)[0]) if len(ranked) else math.nan
    draws = np.zeros(0) if pair.clusters > 1 else None
    if pair.clusters >= FEWEST:
        blocks = cluster_weights(pair.clusters, settings.resamples, settings.seed)
        draws = np.concatenate([_medians(weights, code, ranked) for weights in blocks])
    return drawn(statistic, pair, value, draws, "" if len(ranked) else "no_items", settings, note)


def _medians(weights: npt.NDArray[np.int64], code: Codes, ranked: Array) -> Array:
    """Of each row of cluster weights; the values are in rising order."""
    running = np.cumsum(weights[:, code], axis=1)
    half = (running[:, -1:] + 1) // 2
    return np.asarray(ranked[(running >= half).argmax(axis=1)])
