"""Whether a rater has a bias: public names of the rooms behind."""

from calibration.study.bias import (
    EVERYONE,
    Asked,
    Bias,
    bias_from,
    bias_of,
    both_say,
    evened,
    named,
    outcome,
    rows_of,
    share_of_faults,
)

__all__ = [
    "EVERYONE",
    "Asked",
    "Bias",
    "bias_from",
    "bias_of",
    "both_say",
    "evened",
    "named",
    "outcome",
    "rows_of",
    "share_of_faults",
]
