"""Uncertainty from whole clusters: public names of the rooms behind."""

from calibration.inference.bootstrap import (
    EffectiveSample,
    cluster_se,
    cluster_t,
    cluster_weights,
    effective_of_sums,
    effective_sample,
    expanded_percentile,
    fisher_z_linearised,
    one_thread,
    percentile,
    resample,
    se_of_sums,
    undefined_share,
    wilson_effective,
)

__all__ = [
    "EffectiveSample",
    "cluster_se",
    "cluster_t",
    "cluster_weights",
    "effective_of_sums",
    "effective_sample",
    "expanded_percentile",
    "fisher_z_linearised",
    "one_thread",
    "percentile",
    "resample",
    "se_of_sums",
    "undefined_share",
    "wilson_effective",
]
