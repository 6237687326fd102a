"""A share counted cluster by cluster, and a mean of counts of reports, with their intervals."""

import math
from collections.abc import Sequence

import numpy as np

from calibration.agreement.statistic import WILSON
from calibration.estimates import Estimate
from calibration.inference.bootstrap import wilson_effective
from calibration.inference.compare import paired_difference
from calibration.remarks import Reason, Remark, no_interval


def counted_share(
    statistic: str, of_system: str, part: Sequence[float], whole: Sequence[float], level: float = 0.95
) -> Estimate:
    """So many of so many, each a number a cluster, all clusters pooled. n is the sum of `whole`, which is not 0."""
    low, high = wilson_effective(part, whole, level)
    clusters = sum(of > 0 for of in whole)
    remarks: tuple[Remark, ...] = () if clusters > 1 else (no_interval(Reason.TOO_FEW_UNITS),)
    category = f"systems: {of_system}" if of_system else "all"
    return Estimate(
        statistic, "", "", "all", category, sum(part) / sum(whole), low, high, level, int(sum(whole)), clusters, WILSON,
        remarks,
    )  # fmt: skip


def counted_mean(
    statistic: str, of_system: str, counts: Sequence[float], clusters: Sequence[str], level: float = 0.95
) -> Estimate:
    """The mean of one count a report, with its cluster t interval; `clusters`: of each report. At least one report."""
    found = paired_difference(counts, [0.0] * len(counts), np.unique(clusters, return_inverse=True)[1], level)
    reason = Reason.TOO_FEW_UNITS if found.clusters < 2 else Reason.ZERO_VARIANCE
    return Estimate(
        statistic, "", "", "all", f"systems: {of_system}" if of_system else "all", found.value, found.low, found.high,
        level, found.n, found.clusters, "cluster_t", (no_interval(reason),) if math.isnan(found.low) else (),
    )  # fmt: skip
