"""Categories of topics and their features: sums of squares by hand, statsmodels, and what no effect looks like."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats
from statsmodels.formula.api import ols

from calibration.errors import CalibrationError
from calibration.results import CalibrationSettings
from calibration.systems.category_effects import category_anova, category_effects, difficulty_of, feature_correlation
from calibration.systems.topic_scores import WINS, topic_scores
from tests.calibration.ranked import verdicts

FEW = CalibrationSettings(resamples=400)


def test_an_anova_worked_by_hand() -> None:
    # means 2 and 5, grand mean 3.5: SSb = 6 * 1.5^2 = 13.5, SSw = 4, SSt = 17.5, F = 13.5 / (4 / 4)
    found = category_anova([1, 2, 3, 4, 5, 6], list("aaabbb"))
    assert (found.f, found.eta_squared) == pytest.approx((13.5, 13.5 / 17.5))
    assert found.omega_squared == pytest.approx((13.5 - 1) / (17.5 + 1))
    assert found.null_eta_squared == 1 / 5
    assert (found.n, found.categories, found.small, found.note) == (6, 2, (), "")
    assert 0 <= found.low < found.eta_squared < found.high < 1


def test_it_is_the_anova_of_statsmodels() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"y": rng.normal(0, 1, 60) + np.repeat([0, 0.5, 1], 20), "g": np.repeat(list("abc"), 20)})
    table = sm.stats.anova_lm(ols("y ~ g", frame).fit())
    found = category_anova(frame["y"], frame["g"])
    assert found.f == pytest.approx(table.loc["g", "F"])
    assert found.p == pytest.approx(table.loc["g", "PR(>F)"])
    assert found.eta_squared == pytest.approx(table.loc["g", "sum_sq"] / table["sum_sq"].sum())


def test_without_an_effect_eta_squared_is_its_null_value_and_omega_squared_nothing() -> None:
    rng, wlc = np.random.default_rng(2), np.arange(100) % 15
    found = [category_anova(rng.normal(0, 1, 100), wlc) for _ in range(400)]
    eta, omega = ([getattr(one, name) for one in found] for name in ("eta_squared", "omega_squared"))
    assert found[0].null_eta_squared == pytest.approx(14 / 99)
    assert abs(np.mean(eta) - 14 / 99) < 4 * np.std(eta) / 20
    assert abs(np.mean(omega)) < 4 * np.std(omega) / 20 + 0.005


def test_the_interval_holds_the_share_of_variance_in_95_of_100() -> None:
    rng, group = np.random.default_rng(3), np.arange(60) % 4
    effect = np.array([-0.6, -0.2, 0.2, 0.6])[group]
    truth = effect.var() / (effect.var() + 1)
    found = [category_anova(effect + rng.normal(0, 1, 60), group) for _ in range(300)]
    held = np.mean([one.low <= truth <= one.high for one in found])
    assert abs(held - 0.95) < 3.5 * math.sqrt(0.95 * 0.05 / 300)


def test_bounds_are_the_noncentralities_of_which_f_is_a_quantile() -> None:
    found = category_anova([1, 2, 3, 4, 5, 6], list("aaabbb"))
    for bound, tail in ((found.low, 0.975), (found.high, 0.025)):
        assert stats.ncf.cdf(found.f, 1, 4, 6 * bound / (1 - bound)) == pytest.approx(tail, abs=1e-6)


@pytest.mark.parametrize(
    ("scores", "categories", "note", "eta"),
    [
        ([], [], "too_few_units", math.nan),
        ([1, 2, 3], ["a", "a", "a"], "too_few_units", math.nan),
        ([1, 2, 3], ["a", "b", "c"], "too_few_units", math.nan),
        ([2, 2, 2, 2], ["a", "a", "b", "b"], "zero_variance", math.nan),
        ([1, 1, 2, 2], ["a", "a", "b", "b"], "zero_variance", 1.0),
    ],
)
def test_what_has_no_anova_says_why(scores: list[float], categories: list[str], note: str, eta: float) -> None:
    found = category_anova(scores, categories)
    assert found.note == note
    assert math.isnan(found.p)
    assert found.eta_squared == pytest.approx(eta, nan_ok=True)


def test_categories_of_one_or_two_topics_are_named() -> None:
    found = category_anova([1, 2, 3, 4, 5, 6, math.nan], ["a", "a", "a", "b", "b", "c", "d"])
    assert (found.small, found.categories, found.n) == (("b", "c"), 3, 6)


def test_an_offset_costs_no_digits() -> None:
    scores = np.array([1, 2, 3, 4, 5, 6.0])
    assert category_anova(scores + 1e9, list("aaabbb")).f == pytest.approx(13.5)


def wlc() -> pd.DataFrame:
    """Two agents against a reference: `good` wins every history topic and half of the others, `bad` none."""
    rows = []
    for topic in range(12):
        good = "A" if topic < 6 or topic % 2 else "B"
        rows += [(f"t{topic:02}", "judge", "good", "wiki", good), (f"t{topic:02}", "judge", "wiki", "bad", "A")]
    frame = verdicts(rows)
    return frame.assign(category=np.where(frame["cluster_id"] < "t06", "history", "physics"))


def test_effects_of_categories_are_of_scores_beside_the_mean_of_all_agents_there() -> None:
    found = category_effects(wlc(), "judge", ["good", "bad"])
    assert set(found) == {"good", "bad"}
    # good: 1 - 1/2 in history, and 1 or 0 minus 1/4 in physics; bad: 0 - 1/2 and 0 - 1/4
    good = category_anova([0.5] * 6 + [-0.25, 0.75] * 3, ["h"] * 6 + ["p"] * 6)
    assert found["good"].eta_squared == pytest.approx(good.eta_squared)
    assert found["bad"].note == "zero_variance"
    assert set(category_effects(wlc(), "judge")) == {"good", "bad", "wiki"}


def test_topics_are_hard_where_the_named_systems_lose() -> None:
    found = difficulty_of(topic_scores(wlc(), "judge", WINS), ("good", "bad"))
    assert found["t00"] == 0.5
    assert (found["t06"], found["t07"]) == (0.0, 0.5)


def test_features_are_correlated_over_topics_both_ways_with_intervals() -> None:
    rng = np.random.default_rng(4)
    views = rng.lognormal(8, 1, 60)
    scores = np.log(views) / 10 + rng.normal(0, 0.1, 60)
    gap = np.where(np.arange(60) < 10, math.nan, views)
    found = feature_correlation(scores, {"views": views, "gap": gap, "same": np.ones(60), "none": [None] * 60}, FEW)
    by_name = {one.feature: one for one in found}
    one = by_name["views"]
    assert one.pearson.value == pytest.approx(stats.pearsonr(scores, views).statistic)
    assert one.spearman.value == pytest.approx(stats.spearmanr(scores, views).statistic)
    for estimate in (one.pearson, one.spearman):
        assert estimate.low < estimate.value < estimate.high
        assert (estimate.n, estimate.method) == (60, "cluster_bootstrap_expanded")
    assert by_name["gap"].pearson.n == 50
    assert "zero_variance" in by_name["same"].spearman.note
    assert "no_items" in by_name["none"].pearson.note


def test_features_of_text_and_of_another_length_are_refused() -> None:
    with pytest.raises(CalibrationError, match="text"):
        feature_correlation([1.0, 2.0], {"name": ["x", "y"]}, FEW)
    with pytest.raises(CalibrationError, match="rows"):
        feature_correlation([1.0, 2.0], {"short": [1.0]}, FEW)
