"""With whom an adjudicator sided: a share of each rater's settled disputes."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from calibration.results import CalibrationSettings
from calibration.study.answering import sided_with

COLUMNS = ["cluster_id", "rater_id", "label", "decided"]


def settled(*rows: tuple[str, str, str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


def test_each_rater_has_the_share_of_their_disputes_that_went_their_way() -> None:
    topics = [f"t{number}" for number in range(4)]
    rows = [(topic, "ann", "A", "A") for topic in topics] + [(topic, "ben", "B", "A") for topic in topics[:3]]
    ann, ben = sided_with(settled(*rows, ("t3", "ben", "tie", "tie")), CalibrationSettings())
    assert (ann.rater, ann.value, ann.n, ann.clusters) == ("ann", 1, 4, 4)
    assert (ben.rater, ben.value, ben.n, ben.reference) == ("ben", pytest.approx(1 / 4), 4, "adjudicator")
    assert ben.low < 1 / 4 < ben.high


def test_disputes_of_one_topic_have_no_interval_and_say_why() -> None:
    (ann,) = sided_with(settled(("t", "ann", "A", "A"), ("t", "ann", "A", "B")), CalibrationSettings())
    assert (ann.value, math.isnan(ann.low)) == (pytest.approx(1 / 2), True)
    assert ann.note


def test_nothing_settled_sides_with_nobody() -> None:
    assert sided_with(settled(), CalibrationSettings()) == ()
