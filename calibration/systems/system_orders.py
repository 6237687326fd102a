"""How alike two raters value the same systems: correlations over systems, with whole clusters resampled."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from calibration.correlation import kendall_tau_b, pearson, spearman
from calibration.engine.bounding import Pair, drawn
from calibration.engine.closed_forms import Array
from calibration.engine.moments import pearson_of_moments
from calibration.estimates import Estimate
from calibration.settings import CalibrationSettings
from calibration.systems.placing import ranks_of
from calibration.systems.rank_stability import FEW_SYSTEMS, taus

FEWEST = 3  # systems: a correlation of two points is always 1 or -1
Sides = tuple[Array, Array]


def order_estimates(pair: Pair, values: Sides, draws: Sides, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Pearson, Spearman and Kendall's tau-b of the systems' values by the two of a pair; none below three systems.

    `values`: of each side, shape (clusters, systems), nan in the same places; `draws`: (resamples, systems). Undefined:
    one side gives all systems one value.
    """
    held = ~np.isnan(values[0]).all(axis=0)
    if held.sum() < FEWEST:
        return
    x, y = (np.nanmean(side[:, held], axis=0) for side in values)
    drawn_x, drawn_y = (side[:, held] for side in draws)
    note = f"over {int(held.sum())} systems" + (f", fewer than {FEW_SYSTEMS}" if held.sum() < FEW_SYSTEMS else "")
    ranked, drawn_ranks = (ranks_of(x), ranks_of(y)), (ranks_of(drawn_x), ranks_of(drawn_y))
    found = {
        "pearson": (pearson(x, y), pearsons(drawn_x, drawn_y)),
        "spearman": (spearman(*ranked), pearsons(*drawn_ranks)),
        "kendall_tau_b": (kendall_tau_b(*ranked), taus(drawn_x, drawn_y)),
    }
    for name, (value, of_draws) in found.items():
        reason = "zero_variance" if math.isnan(value) else ""
        yield drawn(f"aggregate_{name}_systems", pair, value, of_draws, reason, settings, note)


def pearsons(x: Array, y: Array) -> Array:
    """Of each row, shape (resamples,); nan where a system has no value or one side is constant."""
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    return pearson_of_moments(np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1).sum(axis=-2))
