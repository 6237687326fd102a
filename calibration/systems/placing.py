"""Systems in their order: each with its estimate and rank, and how firmly the first one holds its place."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.arithmetic import closed_forms, correlation
from calibration.estimates import Estimate
from calibration.inference.bootstrap import MAX_UNDEFINED
from calibration.table.verdicts import SYSTEM_PAIR


@dataclass(frozen=True)
class RankedSystem:
    """One system's estimate and place; 1 is the best, equal values share their mean rank, nan where undefined."""

    system: str
    rank: float
    estimate: Estimate


@dataclass(frozen=True)
class Ranking:
    """Systems by one rater and one statistic, best first.

    `keeps_first`: share of resamples of clusters in which the first system is first again (of k that share the place,
    each counts 1 / k); nan where `note` says why.
    """

    statistic: str
    rater: str
    systems: tuple[RankedSystem, ...]
    keeps_first: float
    note: str = ""

    @property
    def values(self) -> dict[str, float]:
        """System to value, by name."""
        return {system.system: system.estimate.value for system in sorted(self.systems, key=lambda one: one.system)}


def placed(systems: Sequence[str], estimates: Sequence[Estimate], draws: closed_forms.Array | None) -> Ranking:
    """`estimates`, in the order of `systems`, become a ranking. `draws`: shape (resamples, systems), or None.

    The system is written into each estimate's category, behind the prefix that no category of topics can have.
    """
    values = np.array([estimate.value for estimate in estimates])
    ranks = ranks_of(values)
    kept, note = keeps_first(values, draws)
    rows = [
        RankedSystem(name, float(rank), replace(one, category=f"{SYSTEM_PAIR}{name}"))
        for name, rank, one in zip(systems, ranks, estimates, strict=True)
    ]
    rows.sort(key=lambda one: (math.isnan(one.rank), one.rank, one.system))
    return Ranking(estimates[0].statistic, estimates[0].rater, tuple(rows), kept, note)


def ranks_of(values: closed_forms.Array) -> closed_forms.Array:
    """Rank of each value along the last axis, the largest 1, midranks; values within 1e-9 are equal; nan stays nan."""
    steps = np.rint(np.asarray(values, float) / correlation.SAME_SCORE)
    if not steps.size:
        return steps
    rows = pd.DataFrame(steps.reshape(-1, steps.shape[-1]))
    return rows.rank(axis=1, ascending=False).to_numpy().reshape(steps.shape)


def keeps_first(values: closed_forms.Array, draws: closed_forms.Array | None) -> tuple[float, str]:
    """Share of `draws`, shape (resamples, systems), in which the system first by `values` is first; and why not.

    Undefined: a system without a value, two that share the first place, no draws, more than 5 % of them undefined.
    """
    if np.isnan(values).any():
        return math.nan, "a system has no value"
    best = np.flatnonzero(values >= values.max() - correlation.SAME_SCORE)
    if len(best) > 1:
        return math.nan, f"{len(best)} systems share the first place"
    whole = np.zeros(0, bool) if draws is None else ~np.isnan(draws).any(axis=1)
    if draws is None or (~whole).mean() > MAX_UNDEFINED:
        return math.nan, "no resamples" if draws is None else "more than 5 % of resamples undefined"
    top = draws[whole] >= draws[whole].max(axis=1, keepdims=True) - correlation.SAME_SCORE
    return float((top[:, best[0]] / top.sum(axis=1)).mean()), ""
