"""A share counted cluster by cluster, with its interval."""

from collections.abc import Sequence

from calibration.agreement.statistic import WILSON
from calibration.estimates import Estimate
from calibration.inference.bootstrap import wilson_effective
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
