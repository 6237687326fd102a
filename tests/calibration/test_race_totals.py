"""RACE's totals, worked by hand: weights of the topic, t / (t + r) of a view, nothing where a score is missing."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from calibration.results import CalibrationSettings
from calibration.study.left_out import pooled
from calibration.totals.topic_totals import reference_in_views
from calibration.totals.total_scores import race_totals

SETTINGS = CalibrationSettings(resamples=50)
WEIGHTS = {"deep": 0.25, "clear": 0.75}
# 8 and 4: 5.0 beside 6 and 2: 3.0, so .625; 6 and 6 beside 6 and 6: .5; a view that lacks a score has no total
VIEWS = {"atlas": ((8, 4), (6, 2)), "borealis": ((6, 6), (6, 6)), "ceres": ((7, 7), (7, None))}


def table(rater: str = "ana", **without: object) -> pd.DataFrame:
    rows = []
    for system, scores in VIEWS.items():
        items = {f"{system}-own": system, f"{system}-ref": "human"}
        for (item, wrote), given, beside in zip(items.items(), scores, reversed(items), strict=True):
            for (criterion, weight), score in zip(WEIGHTS.items(), given, strict=True):
                rows.append(
                    {
                        "item_id": item, "rater_id": rater, "rater_kind": "human", "criterion": criterion,
                        "label": "" if score is None else str(score), "status": "missing" if score is None else "ok",
                        "cluster_id": "t", "system_a": wrote, "system_b": "", "weight": weight, "beside": beside,
                    }
                )  # fmt: skip
    return pd.DataFrame(rows).drop(columns=list(without))


def totals(verdicts: pd.DataFrame) -> dict[str, float]:
    study, group, scale = pooled(verdicts, SETTINGS)
    (own,) = race_totals(study, study.annotators, group, scale)
    return dict(zip(sorted(set(verdicts["item_id"])), own, strict=True))


def test_a_views_total_is_the_targets_share_by_the_topics_weights() -> None:
    found = totals(table())
    assert (found["atlas-own"], found["borealis-own"]) == (0.625, 0.5)
    assert math.isnan(found["ceres-own"]), "nothing is renormalised"
    assert all(math.isnan(value) for item, value in found.items() if item.endswith("ref"))
    assert reference_in_views(table(), SETTINGS) == "human"


@pytest.mark.parametrize(("column", "atlas"), [("beside", 5.0), ("weight", 6 / (6 + 4))])
def test_without_weights_criteria_count_alike_and_without_views_totals_stand_alone(column: str, atlas: float) -> None:
    assert totals(table(**{column: None}))["atlas-own"] == pytest.approx(atlas)
