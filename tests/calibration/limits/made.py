"""Estimates as tests of limits need them: a name and a value, all else plain."""

from __future__ import annotations

import math

from calibration.estimates import Estimate
from calibration.remarks import Remark


def estimate(
    statistic: str, value: float, rater: str = "j", reference: str = "", remarks: tuple[Remark, ...] = (),
    low: float = math.nan, high: float = math.nan, clusters: int = 30,
) -> Estimate:  # fmt: skip
    """Of all criteria and categories, 100 labels."""
    return Estimate(statistic, rater, reference, "all", "all", value, low, high, 0.95, 100, clusters, "none", remarks)
