"""Intervals beside the main one: linearised where clusters are few, and of single labels where a reader asks for them.

Their statistics carry a suffix, so that no table can take them for the main interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import stats

from calibration.bootstrap import fisher_z_linearised
from calibration.engine import closed_forms
from calibration.engine.bounding import FEW_CLUSTERS, Pair, made
from calibration.engine.closed_forms import Array
from calibration.engine.joining import Scale
from calibration.estimates import Estimate
from calibration.scores.pairwise import SWAP
from calibration.settings import CalibrationSettings

UNCLUSTERED = "unclustered: treats nested labels as independent, which covers 33-86 % where it says 95 %"


def linearised(
    name: str, pair: Pair, table: Array, value: float, scale: Scale, settings: CalibrationSettings
) -> Iterator[Estimate]:
    """`<kappa>_linearised` below 20 clusters: Fisher z with t of C - 1. `table`: shape (clusters, K, K)."""
    if not name.startswith("cohen_kappa") or pair.clusters >= FEW_CLUSTERS or pair.clusters < 2 or pair.group.single:
        return
    weights = None
    if name == "cohen_kappa_symmetrised":
        table = closed_forms.symmetrised(table, SWAP[: table.shape[-1]])
    if name.endswith(("_linear", "_quadratic")):
        size = len(np.asarray(scale.numbers))
        table, weights = table[..., :size, :size], closed_forms.disagreement(size, name.rsplit("_", 1)[-1])
    interval = fisher_z_linearised(value, kappa_se(table, weights), pair.clusters, settings.level)
    notes = ["a second opinion on the bootstrap at few clusters"]
    if math.isnan(interval[0]):
        notes.append("no interval: no spread between clusters")
    yield made(f"{name}_linearised", pair, value, interval, "fisher_z_linearised", notes, settings)


def kappa_se(table: Array, weights: Array | None = None) -> float:
    """Linearised standard error of kappa, sqrt(C / (C - 1) sum z_c^2), z_c = gradient . counts of cluster c.

    `table`: shape (clusters, K, K); empty clusters are left out. Undefined: fewer than 2 clusters.
    """
    table = table[table.sum(axis=(-2, -1)) > 0]
    count = len(table)
    if count < 2:
        return math.nan
    z = (table * closed_forms.kappa_gradient(table.sum(axis=0), weights)).sum(axis=(-2, -1))
    return float(math.sqrt(count / (count - 1) * (z @ z)))


def unclustered(pair: Pair, table: Array, settings: CalibrationSettings) -> Iterator[Estimate]:
    """Agreement and kappa as if every comparison were a cluster. Wilson 1927; Fleiss, Cohen & Everitt 1969."""
    summed = table.sum(axis=0)
    total, level = round(float(summed.sum())), settings.level
    if not total:
        return
    agree = float(closed_forms.diagonal(summed))
    found = stats.binomtest(round(agree), total).proportion_ci(level, method="wilson")
    wilson = float(found.low), float(found.high)
    share = agree / float(summed.sum())
    yield made("percent_agreement_unclustered", pair, share, wilson, "wilson_unclustered", [UNCLUSTERED], settings)
    value = float(closed_forms.kappa(summed))
    gradient = closed_forms.kappa_gradient(summed)
    se = math.sqrt(float((summed * gradient**2).sum())) if not math.isnan(value) else math.nan
    interval = fisher_z_linearised(value, se, total, level)
    notes = [UNCLUSTERED] if not math.isnan(interval[0]) else [UNCLUSTERED, "no interval: no spread"]
    yield made("cohen_kappa_unclustered", pair, value, interval, "fisher_z_unclustered", notes, settings)
