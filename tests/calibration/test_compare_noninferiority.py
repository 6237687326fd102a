"""Non-inferiority: by hand, against scipy and statsmodels, over several judges; the plan's hash; clusters that decide."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from calibration.choosing.deciding import clusters_needed, clusters_without_spread, power
from calibration.choosing.noninferiority import ComparisonPlan, against_best, against_ceiling, non_inferiority
from calibration.compare import holm
from calibration.errors import CalibrationError
from calibration.people.left_out import LeftOutScores
from tests.calibration.test_compare_judges import made_scores

NAN = math.nan
PLAN = ComparisonPlan(("a", "b"), ("c1", "c2"), 0.05)


def test_two_clusters_worked_by_hand() -> None:
    # reference - candidate by cluster 0 and 1/2: mean 1/4, se 1/4; with 1 df t is Cauchy, P(T < -1) = 1/4
    found = non_inferiority([1, 1, 0, 1], [1, 1, 1, 1], ["x", "x", "y", "y"], 0.5)
    assert (found.difference.value, found.method, found.outcome) == (1 / 4, "cluster_t", "cannot_tell")
    assert found.p == pytest.approx(1 / 4)
    t = math.tan(math.pi * 0.45)  # one-sided .95
    assert (found.lower, found.upper) == pytest.approx((1 / 4 - t / 4, 1 / 4 + t / 4))


def test_one_label_a_cluster_is_the_one_sided_t_test_of_scipy() -> None:
    candidate, reference = np.random.default_rng(1).normal(size=(2, 30))
    found = non_inferiority(candidate, reference, np.arange(30), 0.3, 0.9)
    test = stats.ttest_1samp(reference - candidate, 0.3, alternative="less")
    assert found.p == pytest.approx(test.pvalue)
    assert found.upper == pytest.approx(test.confidence_interval(0.9).high)


def test_nested_labels_are_the_cluster_robust_regression_of_statsmodels() -> None:
    scores, code = made_scores(judges=2)
    difference = scores["judge 1"] - scores["judge 0"]
    known = ~np.isnan(difference)
    found = non_inferiority(scores["judge 0"], scores["judge 1"], code, 0.1)
    groups = {"groups": code[known]}
    fit = sm.OLS(difference[known], np.ones(known.sum())).fit(cov_type="cluster", cov_kwds=groups, use_t=True)
    assert found.difference.p == pytest.approx(fit.pvalues[0])
    assert found.upper == pytest.approx(fit.conf_int(0.1)[0, 1])


@pytest.mark.parametrize(
    ("gap", "clusters", "outcome"),
    [(0.0, 58, "cannot_tell"), (0.0, 59, "non_inferior"), (-1.0, 4, "cannot_tell"), (-1.0, 5, "non_inferior"),
     (1.0, 5, "inferior"), (1.0, 4, "cannot_tell")],
)  # fmt: skip
def test_clusters_that_all_say_the_same_count_but_never_as_proof(gap: float, clusters: int, outcome: str) -> None:
    # .95^59 < .05 < .95^58; (.95/2)^5 < .05 < (.95/2)^4; lower = 2 x .05^(1/5) - 1 = .098 > .05, 2 x .05^(1/4) - 1 < 0
    candidate, reference = np.full(clusters, min(1.0, 1 - gap)), np.full(clusters, min(1.0, 1 + gap))
    found = non_inferiority(candidate, reference, np.arange(clusters), 0.05)
    assert (found.outcome, found.method) == (outcome, "exact_bound")
    assert found.p == pytest.approx((0.95 / (1 - gap)) ** clusters if gap < 0.05 else 1.0)
    assert (found.upper < 0.05) == (found.p < 0.05)


def test_one_cluster_no_labels_and_constant_ratings_cannot_tell() -> None:
    for x, y, clusters in (([1, 1], [1, 0], [1, 1]), ([], [], []), ([7.0, 6.0], [8.0, 7.0], [1, 2])):
        found = non_inferiority(x, y, clusters, 0.05)
        assert (found.outcome, found.method, math.isnan(found.p)) == ("cannot_tell", "none", True)


@pytest.mark.parametrize("margin", [0, -0.1, NAN])
def test_without_a_margin_nothing_is_tested(margin: float) -> None:
    for function in (lambda: non_inferiority([1], [1], [1], margin), lambda: ComparisonPlan(("a",), ("c",), margin)):
        with pytest.raises(CalibrationError) as refused:
            function()
        assert refused.value.code == "margin_missing"


SCORES = st.lists(st.tuples(st.sampled_from([0, 0.5, 1]), st.sampled_from([0, 0.5, 1]), st.integers(0, 5)), min_size=2)


@given(SCORES, st.floats(0.01, 0.3), st.randoms(use_true_random=False))
def test_outcomes_follow_the_bounds_and_no_order_of_rows_changes_them(rows, margin, random) -> None:
    found = non_inferiority(*zip(*rows, strict=True), margin)
    assert math.isnan(found.upper) or found.lower <= found.difference.value + 1e-12 <= found.upper + 2e-12
    assert (found.outcome == "non_inferior") == (found.upper < margin)
    assert (found.outcome == "inferior") == (found.lower > margin)
    random.shuffle(rows)
    again = non_inferiority(*zip(*rows, strict=True), margin)
    assert (again.outcome, again.p, again.upper) == (
        found.outcome, pytest.approx(found.p, nan_ok=True), pytest.approx(found.upper, nan_ok=True)
    )  # fmt: skip


OTHER = {
    "judges": ("a", "d"), "criteria": ("c1",), "margin": 0.06, "against": "best_judge", "level": 0.9, "power": 0.9,
    "ties": "exclude", "not_applicable": "category", "references": "others_majority", "missing_as_wrong": False,
    "cluster": "item",
}  # fmt: skip


def test_the_plans_hash_changes_with_each_of_its_fields() -> None:
    assert {*OTHER} == {field.name for field in dataclasses.fields(ComparisonPlan)}
    hashes = [dataclasses.replace(PLAN, **{name: value}).plan_sha256 for name, value in OTHER.items()]
    assert len({*hashes, PLAN.plan_sha256}) == len(OTHER) + 1
    assert all(len(one) == 64 for one in hashes)


def test_the_plans_hash_ignores_the_order_of_judges_and_criteria() -> None:
    assert ComparisonPlan(("b", "a"), ("c2", "c1"), 0.05).plan_sha256 == PLAN.plan_sha256
    # written down so that a plan stored by one release is known to the next
    assert PLAN.plan_sha256 == "847db79dd313882527196c939368c15f3b034b83eba9ade92a4e873202d637e0"


def test_a_judge_that_was_not_planned_and_one_that_is_missing_are_refused() -> None:
    scores, code = made_scores(judges=2)
    for names in (("judge 0",), ("judge 0", "judge 1", "judge 2")):
        with pytest.raises(CalibrationError) as refused:
            against_best(scores, code, ComparisonPlan(names, ("c",), 0.05))
        assert refused.value.code == "unknown_form"


def ceilings(gaps: list[float], clusters: int, seed: int = 2) -> tuple[dict[str, LeftOutScores], ComparisonPlan]:
    """Judges whose agreement lies below people's by these gaps, one score a cluster."""
    rng = np.random.default_rng(seed)
    people = rng.uniform(0.7, 0.8, clusters)
    rows = {
        f"judge {n}": LeftOutScores(people, people - gap + rng.normal(0, 0.1, clusters), np.arange(clusters), 0)
        for n, gap in enumerate(gaps)
    }
    return rows, ComparisonPlan(tuple(rows), ("c",), 0.05)


def test_holm_decides_over_all_judges_and_only_open_ones_are_told_how_many_more() -> None:
    rows, plan = ceilings([0.0, 0.03, 0.3], 60)
    claims = against_ceiling(rows, plan)
    assert [one.outcome for one in claims] == ["non_inferior", "cannot_tell", "inferior"]
    alone = [non_inferiority(one.judge, one.human, one.cluster, 0.05) for one in rows.values()]
    assert [one.test for one in claims] == alone
    assert [one.p_holm for one in claims] == pytest.approx(holm([one.p for one in alone]))
    assert [one.needed is None for one in claims] == [True, False, True]
    needed = claims[1].needed
    assert needed is not None
    assert needed.clusters is not None
    assert needed.more == needed.clusters - 60 > 0
    # the second of three p-values is tested at .05 / 2
    assert power(needed.clusters, needed.sd, 0.05, needed.gap, 0.975) >= 0.8
    assert power(needed.clusters - 1, needed.sd, 0.05, needed.gap, 0.975) < 0.8


def test_ten_pairs_cannot_tell_and_name_a_number() -> None:
    rows, plan = ceilings([0.0, 0.0], 10, seed=5)
    claims = against_ceiling(rows, plan)
    assert {one.outcome for one in claims} == {"cannot_tell"}
    assert all(one.needed and one.needed.more for one in claims)


def test_a_gap_that_reaches_the_margin_names_no_number() -> None:
    x = np.random.default_rng(1).normal(0.7, 0.2, 20)
    claim = against_ceiling({"a": LeftOutScores(x + 0.06, x, np.arange(20), 0)} | ceilings([0.0], 20)[0],
                            ComparisonPlan(("a", "judge 0"), ("c",), 0.2))[0]  # fmt: skip
    assert claim.needed is None
    found = clusters_needed(x, [x + np.where(np.arange(20) % 2, 0.2, 0.0)], np.arange(20), 0.05)
    assert (found.clusters, found.more, found.note) == (None, None, "gap_reaches_margin")
    assert found.gap == pytest.approx(0.1)


def test_non_inferior_to_the_best_is_non_inferior_to_every_other() -> None:
    scores, code = made_scores(judges=4, clusters=40)
    claims = against_best(scores, code, ComparisonPlan(tuple(scores), ("c",), 0.15, "best_judge"))
    means = {name: np.nanmean(own) for name, own in scores.items()}
    for claim in claims:
        own = scores[claim.judge]
        each = {name: non_inferiority(own, other, code, 0.15) for name, other in scores.items() if name != claim.judge}
        assert claim.test.p == pytest.approx(max(one.p for one in each.values()))
        assert claim.test.upper == pytest.approx(max(one.upper for one in each.values()))
        strict = [
            non_inferiority(own, other, code, 0.15, 1 - 0.05 / 3)
            for name, other in scores.items()
            if name != claim.judge
        ]
        assert claim.test.lower == pytest.approx(max(one.lower for one in strict))
        assert each[claim.reference].difference.value == max(one.difference.value for one in each.values())
        assert claim.test.difference.value == pytest.approx(means[claim.reference] - means[claim.judge], abs=0.03)


def test_one_judge_alone_has_no_best_to_be_compared_with() -> None:
    assert against_best({"a": [1, 0]}, [1, 2], ComparisonPlan(("a",), ("c",), 0.05)) == ()


def test_a_reference_that_cannot_be_tested_leaves_the_claim_open() -> None:
    rng = np.random.default_rng(1)
    scores = {"a": rng.normal(size=40), "b": rng.normal(-9, 1, 40), "silent": np.full(40, NAN)}
    claims = against_best(scores, np.arange(40), ComparisonPlan(("a", "b", "silent"), ("c",), 0.05))
    assert {one.outcome for one in claims} == {"cannot_tell"}
    assert all(one.needed and one.needed.note == "too_few_units" for one in claims)


# --- how many clusters decide


@pytest.mark.parametrize(("pairs", "tabulated"), [(10, 0.246), (30, 0.542), (100, 0.946), (210, 0.999)])
def test_power_is_the_one_tabulated_and_that_of_statsmodels(pairs: int, tabulated: float) -> None:
    assert power(pairs, 0.1529) == pytest.approx(tabulated, abs=5e-4)
    witness = TTestPower().power((0.05 - 0.01) / 0.2, pairs, 0.1, alternative="larger")
    assert power(pairs, 0.2, 0.05, 0.01, 0.9) == pytest.approx(witness)


def test_power_without_spread_or_with_one_pair_is_undefined() -> None:
    assert math.isnan(power(1, 0.1))
    assert math.isnan(power(10, 0.0))


@given(st.floats(0.02, 0.4), st.floats(-0.1, 0.04), st.sampled_from([0.9, 0.95, 0.99]))
def test_the_number_is_the_smallest_with_the_power_wanted(sd: float, gap: float, level: float) -> None:
    d = gap + sd * np.array([-1.0, 1.0] * 4) * math.sqrt(7 / 8)  # sample sd is `sd`
    found = clusters_needed(np.zeros(8), [d], np.arange(8), 0.05, level)
    assert (found.sd, found.gap) == pytest.approx((sd, max(0.0, gap)))
    assert found.clusters is not None
    assert power(found.clusters, found.sd, 0.05, found.gap, level) >= 0.8
    assert found.clusters == 2 or power(found.clusters - 1, found.sd, 0.05, found.gap, level) < 0.8
    assert found.more == max(0, found.clusters - 8)
    size = math.ceil(
        TTestPower().solve_power((0.05 - found.gap) / sd, alpha=1 - level, power=0.8, alternative="larger")
    )
    assert abs(found.clusters - size) <= 1


def test_labels_of_unequal_clusters_are_planned_with_the_spread_behind_their_own_standard_error() -> None:
    scores, code = made_scores(judges=2)
    found = clusters_needed(scores["judge 0"], [scores["judge 1"]], code * 3, 0.4)  # codes with gaps
    test = non_inferiority(scores["judge 0"], scores["judge 1"], code, 0.4)
    df = test.difference.clusters - 1
    assert found.sd == pytest.approx((test.upper - test.difference.value) / stats.t.ppf(0.95, df) * math.sqrt(df + 1))


def test_against_two_references_that_are_one_the_number_is_that_of_one() -> None:
    d = np.random.default_rng(3).normal(0, 0.15, 20)
    one, two = (clusters_needed(np.zeros(20), [d] * count, np.arange(20), 0.08) for count in (1, 2))
    assert one.clusters is not None
    assert two.clusters == pytest.approx(one.clusters, rel=0.03)
    apart = clusters_needed(np.zeros(20), [d, d[::-1]], np.arange(20), 0.08)
    assert apart.clusters is not None
    assert apart.clusters > one.clusters


def test_without_any_spread_the_number_is_that_of_the_exact_bound() -> None:
    assert (clusters_without_spread(0.0, 0.05), clusters_without_spread(-1.0, 0.05)) == (59, 5)
    found = clusters_needed(np.ones(10), [np.ones(10)], np.arange(10), 0.05)
    assert (found.clusters, found.more) == (59, 49)


def test_a_number_nobody_could_label_is_not_advised() -> None:
    d = np.array([0.0499999, 0.0499999]) + np.array([-1, 1]) * 0.3
    found = clusters_needed(np.zeros(2), [d], np.arange(2), 0.05)
    assert (found.clusters, found.note) == (None, "too_many")


def test_one_cluster_says_nothing_about_spread() -> None:
    assert clusters_needed(np.zeros(3), [np.ones(3)], np.zeros(3, int), 0.05).note == "too_few_units"
