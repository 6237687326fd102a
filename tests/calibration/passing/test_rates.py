"""Rates of right answers where one answer passes: scikit-learn's, by hand, and undefined with a reason."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from sklearn.metrics import f1_score as sklearns_f1
from sklearn.metrics import precision_score, recall_score

from calibration.agreement.catalogue import METRICS, why_undefined
from calibration.arithmetic.metrics import RATES, f1_score, precision, true_negative_rate, true_positive_rate, youden_j
from tests.calibration.witnesses import columns_of, complete, raters, silent

PAIR = raters(["pass", "fail"], 2)


@given(PAIR)
def test_every_rate_is_scikit_learns(pair):
    a, b = columns_of(complete(*pair), 2)
    nothing = {"zero_division": math.nan}
    found = {rate.__name__: rate(*pair, "pass") for rate in RATES}
    assert found["true_positive_rate"] == pytest.approx(_witness(recall_score, b, a, "pass", **nothing), nan_ok=True)
    assert found["true_negative_rate"] == pytest.approx(_witness(recall_score, b, a, "fail", **nothing), nan_ok=True)
    assert found["precision"] == pytest.approx(_witness(precision_score, b, a, "pass", **nothing), nan_ok=True)
    assert found["f1_score"] == pytest.approx(_witness(sklearns_f1, b, a, "pass", **nothing), nan_ok=True)
    j = found["true_positive_rate"] + found["true_negative_rate"] - 1
    assert found["youden_j"] == pytest.approx(j, nan_ok=True)


def _witness(score, truth, judged, positive, **kw):
    return (
        float(silent(score, truth, judged, pos_label=positive, labels=["pass", "fail"], **kw))
        if len(truth)
        else math.nan
    )


def test_by_hand():
    judge = ["pass"] * 45 + ["fail"] * 55
    people = ["pass"] * 40 + ["fail"] * 5 + ["pass"] * 10 + ["fail"] * 45
    assert true_positive_rate(judge, people, "pass") == pytest.approx(40 / 50)
    assert true_negative_rate(judge, people, "pass") == pytest.approx(45 / 50)
    assert precision(judge, people, "pass") == pytest.approx(40 / 45)
    assert f1_score(judge, people, "pass") == pytest.approx(80 / 95)
    assert youden_j(judge, people, "pass") == youden_j(judge, people, "fail") == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("judge", "people", "reasons"),
    [
        ([], [], dict.fromkeys(["true_positive_rate", "precision", "f1_score", "youden_j"], "no_items")),
        (["pass"], ["fail"], {"true_positive_rate": "no_positives", "true_negative_rate": "", "f1_score": ""}),
        (["fail"], ["pass"], {"precision": "never_positive", "youden_j": "no_negatives", "true_positive_rate": ""}),
        (["fail"], ["fail"], {"f1_score": "no_positives", "precision": "never_positive", "youden_j": "no_positives"}),
    ],
)
def test_undefined_is_nan_with_its_reason(judge, people, reasons):
    functions = {one.__name__: one for one in RATES}
    for name, reason in reasons.items():
        assert math.isnan(functions[name](judge, people, "pass")) == bool(reason)
        assert why_undefined(functions[name], judge, people, "pass") == reason


def test_the_catalogue_names_them_all():
    named = {one.name: one.function for one in METRICS}
    assert all(named[one.__name__] is one for one in RATES)
