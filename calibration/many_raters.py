"""Agreement of several raters at once, where not everybody answered everything."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from calibration import correlation
from calibration.engine import closed_forms
from calibration.engine.closed_forms import Array
from calibration.errors import CalibrationError
from calibration.reading.columns import Labels, aligned


def fleiss_kappa(units: Any) -> float:
    """(mean P_u - P_e) / (1 - P_e). `units`: counts, shape (units, categories), equal row sums m.

    Undefined: no units, m < 2, one category. Raises `unequal_raters`. Fleiss 1971.
    """
    counts = np.asarray(units, dtype=float)
    raters = np.unique(counts.sum(axis=1)) if counts.size else np.zeros(0)
    if len(raters) > 1:
        raise CalibrationError("unequal_raters", "units have different numbers of ratings; use krippendorff_alpha")
    if not len(raters) or raters[0] < 2:
        return math.nan
    agreed = (counts * (counts - 1)).sum(axis=1).mean() / (raters[0] * (raters[0] - 1))
    expected = ((counts.sum(axis=0) / counts.sum()) ** 2).sum()
    return float(closed_forms.ratio(agreed - expected, 1 - expected))


def krippendorff_alpha(ratings: Any, level: str, crowd: bool = False) -> float:
    """1 - observed / expected disagreement, at most 1. `ratings`: shape (raters, units), NaN = missing.

    `level`: "nominal", "ordinal", "interval" or "ratio"; there is no default on purpose. Undefined: no unit with two
    ratings, or one value only. Raises `negative_ratio_values`, and `maybe_transposed` where raters outnumber units
    unless `crowd` says so. Krippendorff 2004; Hayes & Krippendorff 2007.
    """
    if level not in ("nominal", "ordinal", "interval", "ratio"):
        raise CalibrationError("unknown_form", f"level is {level!r}; use nominal, ordinal, interval or ratio")
    given = np.asarray(ratings, dtype=object)
    if given.ndim != 2:
        raise CalibrationError("misaligned", "ratings must be a table of raters x units")
    correlation.refuse_transposed(given.shape[0], given.shape[1], "raters x units", crowd)
    counts, values = _unit_counts(given)
    if level != "nominal" and len(values) and values.dtype.kind == "U":
        raise CalibrationError("unknown_label", f"level {level} needs numbers, and these ratings are text")
    if level == "ratio" and len(values) and values.min() < 0:
        raise CalibrationError("negative_ratio_values", "ratio distances need values from 0; use level interval")
    if len(values) < 2:
        return math.nan
    if level == "interval":
        return _alpha_interval(counts, values)
    raters = counts.sum(axis=1, keepdims=True)
    share = counts / (raters - 1)
    coincidences = counts.T @ share - np.diag(share.sum(axis=0))
    distance = None
    if level == "ordinal":
        distance = closed_forms.ordinal_distance(coincidences)
    if level == "ratio":
        sums = values[:, None] + values[None, :]
        distance = np.nan_to_num(closed_forms.ratio(values[:, None] - values[None, :], sums)) ** 2
    return float(closed_forms.alpha(coincidences, distance))


def present(ratings: Labels) -> Labels:
    """Which cells hold a rating, neither None nor NaN; the shape of `ratings`."""
    return ~np.asarray([[value is None or value != value for value in row] for row in ratings], dtype=bool)


def _unit_counts(given: Labels) -> tuple[Array, Labels]:
    """How many raters gave each value to each unit with at least two ratings: shape (units, values), and the values."""
    unit = np.broadcast_to(np.arange(given.shape[1]), given.shape)[present(given)]
    flat = aligned(given[present(given)])[0]
    paired = np.bincount(unit, minlength=given.shape[1])[unit] > 1
    values, code = np.unique(flat[paired], return_inverse=True)
    _, row = np.unique(unit[paired], return_inverse=True)
    counts = np.zeros((row.max(initial=-1) + 1, len(values)))
    np.add.at(counts, (row, code), 1)
    return counts, values


def _alpha_interval(counts: Array, values: Labels) -> float:
    """In moments after centring, so that neither many values nor a large offset cost memory or digits."""
    raters, total = counts.sum(axis=1), counts.sum()
    centred = values - values.mean()
    s, q = counts @ centred, counts @ centred**2
    within = ((raters * q - s**2) / (raters - 1)).sum()
    return float(1 - (total - 1) * within / (total * q.sum() - s.sum() ** 2))
