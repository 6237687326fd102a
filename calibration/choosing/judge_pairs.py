"""Judges two by two on the annotators' labels that both answered: which agrees more, over all pairs of them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from calibration.choosing.label_scores import label_scores
from calibration.compare import JudgePair, compare_judges
from calibration.engine.closed_forms import Array
from calibration.engine.joining import Study
from calibration.estimates import Estimate
from calibration.settings import CalibrationSettings
from calibration.verdicts import BOTH_ORDERS


def judge_pairs(study: Study, ties: str, settings: CalibrationSettings) -> tuple[JudgePair, ...]:
    """Every two judges; one that has answered in both orders as it is deployed, its two passes counting half each.

    A difference is that of agreement with every annotator's label, 0 to 1; an unusable answer counts as disagreement.
    """
    scores = label_scores(study, ties, missing_as_wrong=True)
    judges: Mapping[str, Array] = {
        name: own for name, own in scores.judges.items() if not name.endswith(BOTH_ORDERS)
    }  # fmt: skip
    return compare_judges(judges, scores.clusters, settings.level) if len(judges) > 1 else ()


def pair_estimate(pair: JudgePair, settings: CalibrationSettings) -> Estimate:
    """`agreement_difference` of the judge and the other, with Holm's p over all pairs in its note."""
    found = pair.difference
    note = f"no interval: {found.note}" if math.isnan(found.low) else f"cluster t; Holm-adjusted p = {pair.p_holm:.3g}"
    method = "none" if math.isnan(found.low) else "cluster_t"
    return Estimate(
        "agreement_difference", pair.judge, pair.other, "all", "all", found.value, found.low, found.high,
        settings.level, found.n, found.clusters, method, note,
    )  # fmt: skip
