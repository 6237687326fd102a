"""How well a judge could agree: public names of the rooms behind."""

from calibration.agreement.ceiling import (
    BesideAnnotator,
    Ceiling,
    JudgeCeiling,
    ceiling_estimates,
    ceiling_of,
    compared,
    gap_estimate,
    leave_one_out_ceiling,
    partial_credit_draws,
)

__all__ = [
    "BesideAnnotator",
    "Ceiling",
    "JudgeCeiling",
    "ceiling_estimates",
    "ceiling_of",
    "compared",
    "gap_estimate",
    "leave_one_out_ceiling",
    "partial_credit_draws",
]
