"""Correlation, rank agreement, and preferences made of scores: public names of the rooms behind."""

from calibration.agreement.score_preferences import preferences_from_scores
from calibration.arithmetic.correlation import (
    icc,
    kendall_tau_b,
    pearson,
    rank_agreement_across_items,
    rank_agreement_within_topic,
    refuse_transposed,
    spearman,
)

__all__ = [
    "icc",
    "kendall_tau_b",
    "pearson",
    "preferences_from_scores",
    "rank_agreement_across_items",
    "rank_agreement_within_topic",
    "refuse_transposed",
    "spearman",
]
