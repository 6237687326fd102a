"""A report's score where it is read first against its score where it is read second."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from calibration.biases.bias_audit import bias_audit
from calibration.biases.position_bias import score_order
from calibration.results import CalibrationSettings
from calibration.study.joining import study_of

SETTINGS = CalibrationSettings(resamples=50)


def rated(topics: int, lead: float, *, orders: tuple[str, ...] = ("AB", "BA"), noise: float = 0.5) -> pd.DataFrame:
    """Two reports a topic in one view; the judge gives `lead` more to whatever it reads first. People read once."""
    draw = np.random.default_rng(5)
    rows = []
    for topic in range(topics):
        for system, other in (("atlas", "reference"), ("reference", "atlas")):
            worth = draw.uniform(4, 7)
            for criterion in ("deep", "clear"):
                base = {
                    "item_id": f"{topic}-{system}", "criterion": criterion, "cluster_id": f"t{topic}",
                    "system_a": system, "status": "ok", "beside": f"{topic}-{other}",
                }  # fmt: skip
                for order in orders:
                    score = worth + lead * (order == "AB") + draw.normal(0, noise)
                    rows.append(
                        base | {"rater_id": "judge", "rater_kind": "judge", "presentation": order, "label": score}
                    )
                rows.append(base | {"rater_id": "ana", "rater_kind": "human", "presentation": "AB", "label": worth})
    table = pd.DataFrame(rows)
    return table.assign(label=table["label"].map("{:.2f}".format), system_b="")


def test_a_bonus_for_what_is_shown_first_is_found_and_its_size_told() -> None:
    found = score_order(study_of(rated(40, 1.0), SETTINGS), "judge", SETTINGS)
    assert found is not None
    assert found.outcome == "found"
    assert found.estimate.value > 0.7
    assert (found.estimate.n, found.estimate.clusters) == (160, 40)
    assert "mean difference 0.98" in found.estimate.note


def test_without_one_the_share_by_hand_is_what_is_printed() -> None:
    """Higher first in 3 of 4, lower in 1: (3 - 1) / 4."""
    table = rated(1, 0.0, noise=0.0)
    judged = table["rater_kind"] == "judge"
    table.loc[judged, "label"] = ["6", "5", "7", "5", "5", "6", "8", "2"]
    found = score_order(study_of(table, SETTINGS), "judge", SETTINGS)
    assert found is not None
    assert found.estimate.value == 2 / 4


@pytest.mark.parametrize("topics", [40])
def test_no_bonus_is_not_found(topics: int) -> None:
    found = score_order(study_of(rated(topics, 0.0), SETTINGS), "judge", SETTINGS)
    assert found is not None
    assert found.estimate.low < 0 < found.estimate.high


def test_one_order_alone_measures_nothing_and_says_so() -> None:
    (found,) = bias_audit(rated(5, 1.0, orders=("AB",)), SETTINGS).scores
    assert (math.isnan(found.estimate.value), found.outcome) == (True, "cannot_tell")
    assert "no_shared_units" in found.estimate.note


def test_ratings_of_single_reports_have_no_order_to_look_at() -> None:
    table = (
        rated(5, 0.0)
        .assign(presentation="")
        .drop(columns="beside")
        .drop_duplicates(["rater_id", "item_id", "criterion"])
    )
    assert bias_audit(table, SETTINGS).scores == ()
