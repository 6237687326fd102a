"""Judges two by two, or two runs of one judge, on the annotators' labels that both answered: which agrees more?"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration import estimates, remarks
from calibration.arithmetic.closed_forms import Array
from calibration.inference.compare import Difference, JudgePair, compare_judges, paired_difference
from calibration.settings import CalibrationSettings
from calibration.study import joining, left_out
from calibration.study.label_scores import label_scores, scores_of
from calibration.table.verdicts import BOTH_ORDERS


def judge_pairs(study: joining.Study, scale: joining.Scale, settings: CalibrationSettings) -> tuple[JudgePair, ...]:
    """Every two judges; one that has answered in both orders as it is deployed, its two passes counting half each.

    A difference is that of agreement with every annotator's label, 0 to 1; an unusable answer counts as disagreement.
    """
    scores = label_scores(study, left_out.ties_rule(scale, settings), True, scale)
    judges: Mapping[str, Array] = {
        name: own for name, own in scores.judges.items() if not name.endswith(BOTH_ORDERS)
    }  # fmt: skip
    return compare_judges(judges, scores.clusters, settings.level, study.drawn) if len(judges) > 1 else ()


def pair_estimate(pair: JudgePair, settings: CalibrationSettings) -> estimates.Estimate:
    """`agreement_difference` of the judge and the other, with Holm's p over all pairs in its note."""
    found = pair.difference
    told: str | remarks.Remark = f"cluster t; Holm-adjusted p = {pair.p_holm:.3g}"
    if math.isnan(found.low):
        told = remarks.no_interval(found.note or remarks.Reason.UNKNOWN, found.note)
    method = "none" if math.isnan(found.low) else "cluster_t"
    return estimates.Estimate(
        "agreement_difference", pair.judge, pair.other, "all", "all", found.value, found.low, found.high,
        settings.level, found.n, found.clusters, method, remarks.remarks_of(told),
    )  # fmt: skip


@dataclass(frozen=True)
class AgreementDrift:
    """Label agreement with the annotators, 0 to 1, over the labels that both judges answered; nan where there are none.

    `difference` is `after` - `before`. `labels`: what the annotators gave, answered by the judges or not.
    """

    before: float
    after: float
    difference: Difference
    labels: int


def drift(
    verdicts: pd.DataFrame, before: str, after: str, settings: CalibrationSettings | None = None
) -> AgreementDrift:
    """Paired difference of agreement between the judges `before` and `after` on each annotator's labels. Miller 2024.

    `verdicts`: as for `calibrate`. A label's score is the share of the judge's passes over its unit with the same
    verdict, so each pass counts 1 / passes. A unit that either judge did not answer is left out. Undefined as
    `paired_difference` is. Raises `CalibrationError`.
    """
    settings = settings or CalibrationSettings()
    study = joining.study_of(verdicts, settings)
    judges = {judge.rater: judge for judge in study.judges}
    units = [annotator.unit for annotator in study.annotators]
    unit = np.concatenate([np.unique(one) for one in units] or [np.zeros(0, np.intp)])
    x, y = (scores_of(study, judges.get(name)) for name in (before, after))
    both = ~np.isnan(x) & ~np.isnan(y)
    found = paired_difference(y, x, study.unit_cluster[unit], settings.level)
    return AgreementDrift(_mean(x[both]), _mean(y[both]), found, len(unit))


def _mean(scores: Array) -> float:
    return float(scores.mean()) if len(scores) else math.nan
