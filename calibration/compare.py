"""Judges compared on the same labels: public names of the rooms behind."""

from calibration.inference.compare import (
    Difference,
    JudgePair,
    McNemar,
    cluster_sums,
    compare_judges,
    exact_mcnemar,
    holm,
    order_of,
    paired_difference,
    scores_and_clusters,
    shared_labels,
)

__all__ = [
    "Difference",
    "JudgePair",
    "McNemar",
    "cluster_sums",
    "compare_judges",
    "exact_mcnemar",
    "holm",
    "order_of",
    "paired_difference",
    "scores_and_clusters",
    "shared_labels",
]
