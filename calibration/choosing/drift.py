"""Two runs of a judge, or two judges, on the same labels: how much more or less the second agrees with people."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.choosing.label_scores import scores_of
from calibration.compare import Difference, paired_difference
from calibration.engine.closed_forms import Array
from calibration.engine.joining import study_of
from calibration.settings import CalibrationSettings


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
    study = study_of(verdicts, settings)
    judges = {one.rater: one for one in study.judges}
    units = [one.unit for one in study.annotators]
    unit = np.concatenate([np.unique(one) for one in units] or [np.zeros(0, np.intp)])
    x, y = (scores_of(study, judges.get(name)) for name in (before, after))
    both = ~np.isnan(x) & ~np.isnan(y)
    found = paired_difference(y, x, study.unit_cluster[unit], settings.level)
    return AgreementDrift(_mean(x[both]), _mean(y[both]), found, len(unit))


def _mean(scores: Array) -> float:
    return float(scores.mean()) if len(scores) else math.nan
