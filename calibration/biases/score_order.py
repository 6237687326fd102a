"""Does a report get a higher score where it is read first? Of two reports rated in one view, in both orders."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calibration.bias import Asked, Bias, bias_of, rows_of
from calibration.biases.answering import clusters_of
from calibration.engine.joining import Study
from calibration.settings import CalibrationSettings

KEY = ["rater_id", "unit", "run"]


def score_order(study: Study, rater: str, settings: CalibrationSettings) -> Bias | None:
    """Of scores given in both orders: the share higher where the report was shown first minus the share lower.

    -1 to 1, 0 without bias, whatever the scale. None: no rating has a known presentation. Undefined (nan,
    `no_shared_units`): nothing was rated in both orders, so that position bias cannot be measured.
    """
    rows = rows_of(study, rater)
    known = rows[study.of_kind(rows, "rating") & (rows["presentation"] != "")]
    if known.empty:
        return None
    score = pd.to_numeric(known["label"].astype("str"), errors="coerce")
    usable = known.assign(score=score)[(known["status"] == "ok") & score.notna()]
    # A is the item's own report
    first, second = (usable[usable["presentation"] == order] for order in ("AB", "BA"))
    met = first.merge(second[[*KEY, "score"]], on=KEY, suffixes=("", "_second"))
    shift = (met["score"] - met["score_second"]).to_numpy(float)
    note = (
        "no_shared_units" if met.empty else f"higher minus lower where shown first; mean difference {shift.mean():.2g}"
    )
    return bias_of(Asked("score_shown_first", rater, settings, note=note), np.sign(shift), clusters_of(met))
