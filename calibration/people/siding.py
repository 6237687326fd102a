"""How often an adjudicator gave the verdict that a rater had given: no agreement, since only disputes are settled."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calibration.biases.answering import WHOLE
from calibration.engine.bounding import Pair, share
from calibration.estimates import Estimate
from calibration.settings import CalibrationSettings


def sided_with(settled: pd.DataFrame, settings: CalibrationSettings) -> tuple[Estimate, ...]:
    """One share for each rater, by name, with its Wilson interval over clusters; none for an empty table.

    `settled`: one row a settled dispute and rater who answered it, with `rater_id`, `label`, `decided` (the adjudicated
    verdict) and `cluster_id`. Disputes are no sample of all questions: two raters who differ cannot both be high.
    """
    found = []
    for rater, rows in settled.groupby("rater_id", sort=True):
        by_cluster = (rows["label"] == rows["decided"]).groupby(rows["cluster_id"], sort=True)
        pair = Pair(str(rater), "adjudicator", WHOLE, np.asarray(by_cluster.size(), float))
        found.append(share("sided_with", pair, np.asarray(by_cluster.sum(), float), settings))
    return tuple(found)
