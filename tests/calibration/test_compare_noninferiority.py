"""Non-inferiority: by hand, against scipy and statsmodels, over several judges; the plan's hash; clusters that decide."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from calibration.choosing.noninferiority import ComparisonPlan, against_ceiling, non_inferiority
from calibration.errors import CalibrationError
from calibration.inference import deciding
from calibration.inference.bootstrap import cluster_se
from calibration.inference.deciding import claim_power, clusters_needed, clusters_without_spread, power
from calibration.inference.gap_test import gap_of, gap_sums
from calibration.study.left_out import LeftOutScores
from tests.calibration.test_compare_judges import made_scores

NAN = math.nan
PLAN = ComparisonPlan(("a", "b"), ("c1", "c2"), 0.05)


def test_labels_without_clusters_are_decided_as_by_the_one_sided_t_test_of_scipy() -> None:
    # many labels in each cluster and none alike: the law is that of t, and nothing is added to the error
    candidate, reference = np.random.default_rng(1).uniform(size=(2, 3_000))
    code = np.arange(3_000) % 30
    found = non_inferiority(candidate, reference, code, 0.03, 0.9)
    means = [(reference - candidate)[code == cluster].mean() for cluster in range(30)]
    test = stats.ttest_1samp(means, 0.03, alternative="less")
    assert found.p == pytest.approx(test.pvalue, abs=0.02)
    assert found.upper == pytest.approx(test.confidence_interval(0.9).high, abs=0.002)


@pytest.mark.parametrize(
    ("gap", "clusters", "outcome"),
    [(0.0, 58, "cannot_tell"), (0.0, 59, "non_inferior"), (-1.0, 4, "cannot_tell"), (-1.0, 5, "non_inferior"),
     (1.0, 5, "inferior"), (1.0, 4, "cannot_tell")],
)  # fmt: skip
def test_clusters_that_all_say_the_same_count_but_never_as_proof(gap: float, clusters: int, outcome: str) -> None:
    # .95^59 < .05 < .95^58; (.95/2)^5 < .05 < (.95/2)^4; lower = 2 x .05^(1/5) - 1 = .098 > .05, 2 x .05^(1/4) - 1 < 0
    candidate, reference = np.full(clusters, min(1.0, 1 - gap)), np.full(clusters, min(1.0, 1 + gap))
    found = non_inferiority(candidate, reference, np.arange(clusters), 0.05, min_clusters=2)
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
    found = non_inferiority(*zip(*rows, strict=True), margin, min_clusters=2)
    assert math.isnan(found.upper) or found.lower <= found.difference.value + 1e-12 <= found.upper + 2e-12
    assert (found.outcome == "non_inferior") == (found.upper < margin)
    assert (found.outcome == "inferior") == (found.lower > margin)
    random.shuffle(rows)
    again = non_inferiority(*zip(*rows, strict=True), margin, min_clusters=2)
    assert (again.outcome, again.p, again.upper) == (
        found.outcome, pytest.approx(found.p, nan_ok=True), pytest.approx(found.upper, nan_ok=True)
    )  # fmt: skip


OTHER = {
    "judges": ("a", "d"), "criteria": ("c1",), "margin": 0.06, "against": "floor", "level": 0.9, "power": 0.9,
    "ties": "exclude", "not_applicable": "category", "references": "others_majority", "missing_as_wrong": False,
    "cluster": "item", "alone_error": 0.1, "min_clusters": 8, "at_least": 0.8, "at_least_kappa": 0.5,
    "required": ("agreement", "floor"), "weights": ((1.0,),), "epsilon": 0.2, "looks": "planned", "planned_topics": 40,
    "spending": "pocock", "resamples": 999, "seed": 7,
}  # fmt: skip


def test_the_plans_hash_changes_with_each_of_its_fields_but_what_was_replaced() -> None:
    assert {*OTHER, "replaced"} == {field.name for field in dataclasses.fields(ComparisonPlan)}
    looked = dataclasses.replace(PLAN, looks="any_time")  # how one looks again is kept where one does
    hashes = [dataclasses.replace(looked, **{name: value}).plan_sha256 for name, value in OTHER.items()]
    assert len({*hashes, looked.plan_sha256, PLAN.plan_sha256}) == len(OTHER) + 2
    assert all(len(one) == 64 for one in hashes)
    assert dataclasses.replace(PLAN, replaced={"a": 1, "of no plan": 3}).kept == PLAN.kept


def test_the_plans_hash_ignores_the_order_of_judges_and_criteria() -> None:
    assert ComparisonPlan(("b", "a"), ("c2", "c1"), 0.05).plan_sha256 == PLAN.plan_sha256
    # written down so that a plan stored by one release is known to the next
    assert PLAN.plan_sha256 == "a58102c14fbbb88994032c7a6e340f2696bb69174de78c23aacd7dd3580bed01"


def test_a_judge_that_was_not_planned_and_one_that_is_missing_are_refused() -> None:
    rows, _ = ceilings([0.0, 0.1], 20)
    for names in (("judge 0",), ("judge 0", "judge 1", "judge 2")):
        with pytest.raises(CalibrationError) as refused:
            against_ceiling(rows, ComparisonPlan(names, ("c",), 0.05))
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


def test_all_judges_are_decided_together_and_only_open_ones_are_told_how_many_more() -> None:
    rows, plan = ceilings([0.0, 0.03, 0.3], 60)
    claims = against_ceiling(rows, plan)
    assert [one.outcome for one in claims] == ["non_inferior", "cannot_tell", "inferior"]
    alone = [non_inferiority(one.judge, one.human, one.cluster, 0.05) for one in rows.values()]
    assert [(one.test.p, one.test.upper) for one in claims] == [(one.p, pytest.approx(one.upper)) for one in alone]
    assert all(one.p <= claim.p_adjusted for one, claim in zip(alone, claims, strict=True))
    assert [one.needed is None for one in claims] == [True, False, True]
    needed = claims[1].needed
    assert needed is not None
    assert needed.clusters is not None
    assert needed.more == needed.clusters - 60 > 0
    # the second of three p-values is tested at .05 / 2, and its error reckons with faults not seen
    assert power(needed.clusters, needed.sd, 0.05, needed.gap, 0.975) > 0.8


def test_ten_pairs_cannot_tell_and_name_a_number() -> None:
    rows, plan = ceilings([0.0, 0.0], 10, seed=5)
    claims = against_ceiling(rows, plan)
    assert {one.outcome for one in claims} == {"cannot_tell"}
    assert all(one.needed and one.needed.more for one in claims)


def test_a_gap_that_reaches_the_margin_names_no_number() -> None:
    x = np.random.default_rng(1).normal(0.7, 0.2, 20)
    claim = against_ceiling({"a": LeftOutScores(x + 0.06, x, np.arange(20), 0)} | ceilings([0.0], 20)[0],
                            ComparisonPlan(("a", "judge 0"), ("c",), 0.2))[0]  # fmt: skip
    assert claim.outcome == "non_inferior"
    found = clusters_needed(x, [x + np.where(np.arange(20) % 2, 0.2, 0.0)], np.arange(20), 0.05)
    assert (found.clusters, found.more, found.note) == (None, None, "gap_reaches_margin")
    assert found.gap == pytest.approx(0.1)


# --- how many clusters decide


@pytest.mark.parametrize(("pairs", "tabulated"), [(10, 0.246), (30, 0.542), (100, 0.946), (210, 0.999)])
def test_power_is_the_one_tabulated_and_that_of_statsmodels(pairs: int, tabulated: float) -> None:
    assert power(pairs, 0.1529) == pytest.approx(tabulated, abs=5e-4)
    witness = TTestPower().power((0.05 - 0.01) / 0.2, pairs, 0.1, alternative="larger")
    assert power(pairs, 0.2, 0.05, 0.01, 0.9) == pytest.approx(witness)


def test_power_without_spread_or_with_one_pair_is_undefined() -> None:
    assert math.isnan(power(1, 0.1))
    assert math.isnan(power(10, 0.0))


@given(st.floats(0.02, 0.4), st.floats(-0.1, 0.03), st.sampled_from([0.9, 0.95, 0.99]))
def test_the_number_is_the_smallest_with_the_power_wanted(sd: float, gap: float, level: float) -> None:
    d = gap + sd * np.array([-1.0, 1.0] * 4) * math.sqrt(7 / 8)  # sample sd is `sd`
    found = clusters_needed(np.zeros(8), [d], np.arange(8), 0.05, level)
    assert (found.sd, found.gap) == pytest.approx((sd, max(0.0, gap)))
    assert found.clusters is not None
    like = gap_of(gap_sums(d, np.arange(8)))
    assert claim_power(found.clusters, found.sd, 0.05, found.gap, level, like) >= 0.8
    assert found.clusters == 2 or claim_power(found.clusters - 1, found.sd, 0.05, found.gap, level, like) < 0.8
    assert found.more == max(0, found.clusters - 8)
    size = TTestPower().solve_power((0.05 - found.gap) / sd, alpha=1 - level, power=0.8, alternative="larger")
    assert size - 1 <= found.clusters  # the error reckons with faults not seen


def test_labels_of_unequal_clusters_are_planned_with_the_spread_behind_their_own_standard_error() -> None:
    scores, code = made_scores(judges=2)
    found = clusters_needed(scores["judge 0"], [scores["judge 1"]], code * 3, 0.4)  # codes with gaps
    d = scores["judge 1"] - scores["judge 0"]
    known = ~np.isnan(d)
    se = cluster_se(d[known], code[known])
    assert found.sd == pytest.approx(se * math.sqrt(len(np.unique(code[known]))))


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


@pytest.mark.parametrize(("gap", "known"), [(0.0499999, False), (0.042, False), (0.043, False), (0.039, True)])
def test_a_number_nobody_could_label_is_not_advised(gap: float, known: bool) -> None:
    d = gap + np.array([-1, 1]) * 0.3
    found = clusters_needed(np.zeros(2), [d], np.arange(2), 0.05)
    assert (found.clusters is not None, found.note) == (known, "" if known else "too_many")
    assert not known or 5_000 < (found.clusters or 0) <= 10_000
    for at_hand, most in ((30, 10_000), (2_000, 20_000)):
        fewest = [deciding._fewest(enough.__le__, deciding.reach(at_hand)) for enough in (most, most + 1)]
        assert fewest == [most, None], "ten times those at hand, and 10,000 in any case"


def test_one_cluster_says_nothing_about_spread() -> None:
    assert clusters_needed(np.zeros(3), [np.ones(3)], np.zeros(3, int), 0.05).note == "too_few_units"
