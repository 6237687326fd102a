"""What the tests of single statistics share: one estimate of a report, and resampling by explicit indices."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd

from calibration.calibrate import calibrate
from calibration.results import CalibrationReport, CalibrationSettings, Estimate
from tests.calibration.studies import made_pairs

B, SEED = 25, 7
FEW = CalibrationSettings(resamples=B, seed=SEED)
PEOPLE = ["ann1", "ann2", "ann3"]


def plain_study() -> pd.DataFrame:
    return made_pairs(pairs=24, missing=0.1)


@cache
def plain_report() -> CalibrationReport:
    """What is said of it: worked out when a test first asks."""
    return calibrate(plain_study(), FEW)


def found(
    report: CalibrationReport, statistic: str, rater: str, reference: str = "each_annotator", category: str = "all"
) -> Estimate:
    (one,) = [
        one
        for one in report.estimates
        if (one.statistic, one.rater, one.reference, one.criterion, one.category)
        == (statistic, rater, reference, "all", category)
    ]
    return one


def explicit(rows: pd.DataFrame, clusters: list[str], statistic: Callable[[pd.DataFrame], float]) -> np.ndarray:
    """The statistic of each resample, its clusters' rows repeated as often as the index was drawn."""
    parts = dict(iter(rows.groupby("cluster")))
    (child,) = np.random.SeedSequence(SEED).spawn(1)
    drawn = np.random.Generator(np.random.PCG64(child)).integers(0, len(clusters), (B, len(clusters)))
    return np.array([statistic(pd.concat([parts[clusters[i]] for i in row if clusters[i] in parts])) for row in drawn])


def tables_of(rows: pd.DataFrame, clusters: list[str]) -> np.ndarray:
    """Counts of A, tie, B of each cluster, the rater in rows, shape (clusters, 3, 3)."""
    order = ["A", "tie", "B"]
    return np.array(
        [
            pd.crosstab(pd.Categorical(own["a"], order), pd.Categorical(own["b"], order), dropna=False).to_numpy(float)
            for own in (rows[rows["cluster"] == name] for name in clusters)
        ]
    )
