"""A judge asked in both orders, one of which failed: half a disagreement, in choice, gap and coverage alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.settings import CalibrationSettings
from calibration.study.label_scores import label_scores
from calibration.study.left_out import left_out_scores, pooled

ROWS = [  # item, judge's answer shown AB, shown BA ("": failed), annotators' answers
    ("i1", "A", "", "A", "A"), ("i2", "A", "", "B", "A"), ("i3", "tie", "", "A", "A"), ("i4", "A", "B", "A", "B"),
    ("i5", "", "", "A", "A"), ("i6", "B", "B", "B", "tie"),
]  # fmt: skip


def made(rows=ROWS, copies=1):
    """Each row an item of a topic of its own; `copies` of them all."""
    out = []
    for copy in range(copies):
        for item, first, second, *people in rows:
            name = f"{item}-{copy}"
            given = [("j", "judge", "AB", first), ("j", "judge", "BA", second)]
            given += [(f"p{place}", "human", "AB", answer) for place, answer in enumerate(people)]
            out += [
                (name, rater, kind, "q", label, f"t-{name}", "s1", "s2", order, "ok" if label else "invalid")
                for rater, kind, order, label in given
            ]
    columns = [
        "item_id",
        "rater_id",
        "rater_kind",
        "criterion",
        "label",
        "cluster_id",
        "system_a",
        "system_b",
        "presentation",
        "status",
    ]
    return pd.DataFrame(out, columns=columns)


@pytest.mark.parametrize(
    ("ties", "scores"),
    [  # of p0's labels, then of p1's, item by item; nan: an annotator's tie is left out
        ("three_class", [0.5, 0, 0, 0.5, 0, 1, 0.5, 0.5, 0, 0.5, 0, 0]),
        ("half_credit", [0.5, 0, 0.25, 0.5, 0, 1, 0.5, 0.5, 0.25, 0.5, 0, 0.5]),
        ("exclude", [0.5, 0, 0, 0.5, 0, 1, 0.5, 0.5, 0, 0.5, 0, np.nan]),
    ],
)
def test_a_failed_order_is_half_a_disagreement_in_the_choice(ties, scores):
    study, _, _ = pooled(made(), CalibrationSettings(ties=ties))
    assert label_scores(study, ties, missing_as_wrong=True).judges["j"] == pytest.approx(scores, nan_ok=True)
    lenient = label_scores(study, ties).judges["j"]
    assert lenient[:2] == pytest.approx([1, 0])  # elsewhere what was answered stands alone
    assert np.isnan(lenient[4])


@pytest.mark.parametrize(
    ("ties", "gaps"),
    [
        ("three_class", [0.5, 0.5, -0.5, 0, 1, 1, -0.5, -0.5, 1, 1, 0, -1]),
        ("half_credit", [0.5, 0.5, -0.5, 0, 0.75, 0.75, -0.5, -0.5, 1, 1, 0, -0.5]),
        ("exclude", [0.5, 0.5, -0.5, 0, 1, 1, -0.5, -0.5, 1, 1]),
    ],
)
def test_and_in_the_gap_to_a_left_out_annotator(ties, gaps):
    settings = CalibrationSettings(ties=ties)
    study, group, scale = pooled(made(), settings)
    found = left_out_scores(study, group, scale, study.judges[0], settings, missing_as_wrong=True)
    assert sorted(found.human - found.judge) == pytest.approx(sorted(gaps))


def test_and_in_the_coverage_which_says_how_many():
    report = calibrate(made(copies=5), CalibrationSettings(resamples=99))
    named = {one.statistic: one for one in report.estimates if one.rater == "j" and one.reference == "each_annotator"}
    found = named["percent_agreement_missing_as_wrong"]
    assert found.value == pytest.approx(3.5 / 12)
    assert found.n == 60
    assert "of n, 30 rest on one order or repeat where another failed, and that is a disagreement" in found.note
    (candidate,) = [one for one in report.choice.candidates if one.judge == "j"]
    assert candidate.agreement.value == pytest.approx(found.value)
    assert candidate.claim.test.difference.value == pytest.approx(2.5 / 12)
