"""What a pilot says: worked by hand, beside scipy's analysis of variance, and where it says nothing."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from calibration.calibrate import calibrate
from calibration.choosing.choose import cheapest_adequate_judge
from calibration.errors import CalibrationError
from calibration.inference.bootstrap import cluster_se, effective_sample
from calibration.results import CalibrationSettings
from calibration.sizing.pilot import Pilot, icc_interval, pilot_of, spread_of
from calibration.sizing.study_plan import (
    Design,
    Goals,
    Prices,
    StudyPlan,
    cost_of,
    plan_from_assumptions,
    plan_from_pilot,
)
from tests.calibration.studies import made_pairs

FRAME = made_pairs(pairs=40, judges={"judge-x": 0.75, "judge-y": 0.6})


def aims(plan: StudyPlan) -> dict[str, int | None]:
    return {one.aim: one.needed.clusters for one in plan.aims}


def test_two_topics_worked_by_hand():
    # 1, 1 | 1, 0: topic means 1 and 1/2, whose sd is sqrt(1/8); studies drawn from these topics must have it too
    found = spread_of([1, 1, 1, 0], ["x", "x", "y", "y"])
    assert (found.mean, found.sd, found.pilot) == (3 / 4, pytest.approx(math.sqrt(1 / 8)), 2)
    assert sorted(found.topics) == pytest.approx([3 / 4 - math.sqrt(1 / 8), 3 / 4 + math.sqrt(1 / 8)])


def test_the_spread_of_unequal_topics_is_that_of_the_clustered_error():
    rng = np.random.default_rng(1)
    code = np.repeat(np.arange(20), rng.integers(1, 12, 20))
    scores = rng.random(len(code))
    found = spread_of(np.append(scores, math.nan), np.append(code, 99))  # a label without a score is left out
    assert found.sd / math.sqrt(20) == pytest.approx(cluster_se(scores, code))
    assert (found.topics.mean(), found.topics.std()) == (pytest.approx(found.mean), pytest.approx(found.sd))


def test_the_interval_of_the_icc_is_that_of_scipys_f():
    rng = np.random.default_rng(2)
    groups = rng.normal(size=(12, 1)) + rng.normal(size=(12, 8))
    icc = effective_sample(groups.ravel(), np.repeat(np.arange(12), 8)).icc
    f = stats.f_oneway(*groups).statistic
    assert icc == pytest.approx((f - 1) / (f + 7))
    bounds = [f / stats.f.ppf(q, 11, 12 * 7) for q in (0.975, 0.025)]
    assert icc_interval(icc, np.full(12, 8.0)) == pytest.approx([(one - 1) / (one + 7) for one in bounds])


def test_a_pilot_says_what_calibration_says():
    settings = CalibrationSettings(resamples=20)
    pilot = pilot_of(FRAME, settings, "judge-x")
    report = calibrate(FRAME, settings)
    said = next(
        one for one in report.estimates
        if (one.statistic, one.rater, one.reference) == ("percent_agreement", "judge-x", "each_annotator")
        and (one.criterion, one.category) == ("all", "all")
    )  # fmt: skip
    assert pilot.agreement.value == pytest.approx(said.value)
    assert (pilot.agreement.low, pilot.agreement.high) == pytest.approx((said.low, said.high))
    assert (pilot.agreement.n, pilot.agreement.clusters, pilot.icc.clusters) == (said.n, 40, 40)
    assert pilot.icc.low < pilot.icc.value < pilot.icc.high
    assert pilot.icc.method == "anova_f"
    assert (pilot.judge, pilot.other, pilot.tried) == ("judge-x", "judge-y", 2)
    assert (pilot.pairs_per_topic, pilot.annotators_per_pair) == (1, 3)
    assert pilot.labels_per_pair == pytest.approx(3 * FRAME.groupby("item_id")["criterion"].nunique().mean())


def test_without_a_name_the_judge_that_varies_most_is_planned_for():
    spreads = {name: pilot_of(FRAME, judge=name).scores.sd for name in ("judge-x", "judge-y")}
    assert pilot_of(FRAME).judge == max(spreads, key=lambda name: spreads[name])


def test_the_order_of_rows_and_the_names_of_a_and_b_change_nothing():
    other = FRAME.sample(frac=1, random_state=3).assign(
        label=lambda rows: rows["label"].map({"A": "B", "B": "A", "tie": "tie"}),
        presentation=lambda rows: rows["presentation"].map({"AB": "BA", "BA": "AB"}),
        system_a="borealis", system_b="atlas",
    )  # fmt: skip
    one, two = (plan_from_pilot(pilot_of(frame), Goals(margin=0.2)) for frame in (FRAME, other))
    assert [found.needed for found in one.aims] == [found.needed for found in two.aims]


def test_time_and_money_come_from_the_pilot_and_what_is_given_wins():
    human = FRAME["rater_kind"] == "human"
    frame = FRAME.assign(seconds=np.where(human, 200.0, np.nan), cost_usd=np.where(human, 0.5, 0.02))
    pilot = pilot_of(frame, judge="judge-x")
    criteria = FRAME.groupby("item_id")["criterion"].nunique().mean()
    assert pilot.seconds_per_pair is not None
    assert pilot.seconds_per_pair.value == pytest.approx(200 * criteria)
    assert pilot.cost_per_pair is not None
    assert pilot.cost_per_pair.value == pytest.approx(0.02 * criteria)
    own = plan_from_pilot(pilot, Goals(margin=0.3)).aims[0].cost
    assert own is not None
    assert own.annotators == pytest.approx(own.pairs * 3 * 0.5 * criteria)
    cost = plan_from_pilot(pilot, Goals(margin=0.3), Prices(hourly_rate=18)).aims[0].cost
    assert cost is not None
    assert cost.hours == pytest.approx(cost.pairs * 3 * 200 * criteria / 3600)
    assert cost.annotators == pytest.approx(18 * cost.hours)
    assert cost.judges == pytest.approx(cost.pairs * 0.02 * criteria)
    given = plan_from_pilot(pilot, Goals(margin=0.3), Prices(minutes_per_pair=60)).aims[0].cost
    assert given is not None
    assert given.hours == given.pairs * 3


def test_a_cost_worked_by_hand_and_unknown_prices_are_not_nothing():
    # 10 topics of 2 pairs, each by 3 people for 20 minutes: 20 hours; 13 criteria x 3 people = 39 labels a pair
    cost = cost_of(10, Design(2, 39, 3), Prices(20, 12, 0.5, 0.25), judges=2)
    assert (cost.pairs, cost.labels, cost.hours) == (20, 780, 20)
    assert (cost.annotators, cost.judges, cost.total) == (240, 15, 255)
    unknown = cost_of(10, Design(2, 39, 3), Prices(20, 12))
    assert unknown.annotators == 240
    assert math.isnan(unknown.judges)
    assert math.isnan(unknown.total)


def few(frame: pd.DataFrame, **settings: object) -> Pilot:
    return pilot_of(frame, CalibrationSettings(**settings))  # type: ignore[arg-type]


def test_one_topic_plans_nothing_and_says_why():
    plan = plan_from_pilot(few(FRAME[FRAME["item_id"] == "p001"]), Goals())
    assert list(aims(plan).values()) == [None, None, None]
    assert {one.why for one in plan.aims} == {"one topic cannot show how topics vary"}
    assert all(one.cost is None and one.cautious is None and math.isnan(one.reached) for one in plan.aims)


def test_one_label_in_each_topic_leaves_the_icc_unknown_and_plans_all_the_same():
    frame = FRAME[(FRAME["criterion"] == "c0") & FRAME["rater_id"].isin(["ann1", "judge-x"])]
    pilot = few(frame)
    assert math.isnan(pilot.icc.value)
    assert pilot.icc.method == "none"
    assert "not estimable: one label in each topic" in pilot.icc.note
    plan = plan_from_pilot(pilot, Goals())
    assert plan.rows == ()  # what more criteria would give, nobody knows
    assert aims(plan)["interval"] is not None
    assert [one.why for one in plan.aims[1:]] == [
        "one annotator, so no left-out one to compare the judge with", "one judge only",
    ]  # fmt: skip


def test_a_judge_that_never_disagrees_gives_no_spread_and_no_interval_is_planned():
    frame = FRAME[FRAME["rater_id"].isin(["ann1", "judge-x"])]
    frame = frame.assign(label="A")
    plan = plan_from_pilot(few(frame), Goals())
    assert plan.rows == ()
    assert plan.pilot is not None
    assert "agreement never varies" in plan.pilot.icc.note
    assert plan.aims[0].why == "all topics show the same value, so it is not known how far others vary"


@pytest.mark.parametrize(
    ("frame", "judge", "other", "code"),
    [
        (FRAME[FRAME["rater_kind"] == "human"], "", "", "no_judge"),
        (FRAME[FRAME["rater_kind"] == "judge"], "", "", "no_annotator"),
        (FRAME, "nobody", "", "unknown_rater"),
        (FRAME, "judge-x", "nobody", "unknown_rater"),
        (FRAME, "judge-x", "judge-x", "unknown_rater"),
        (FRAME.drop(columns="cluster_id"), "", "", "missing_column"),
    ],
)
def test_a_table_that_is_no_pilot_is_refused(frame, judge, other, code):
    with pytest.raises(CalibrationError) as refused:
        pilot_of(frame, judge=judge, other=other)
    assert refused.value.code == code


def test_a_margin_of_nothing_is_refused_before_anything_is_planned():
    for margin in (0.0, -0.1, math.nan):
        with pytest.raises(CalibrationError) as refused:
            Goals(margin=margin)
        assert refused.value.code == "margin_missing"


def test_the_assumed_plan_is_the_published_one():
    plan = plan_from_assumptions(Goals(), Design(), topics=10)
    assert aims(plan)["interval"] == 33
    assert plan.at is not None
    assert round(plan.at.half_width, 3) == 0.100
    assert [row.labels_per_pair for row in plan.rows] == [1, 9, 39, 78, 156, math.inf]
    published = plan.rows[2]
    assert [round(one, 3) for one in published.half_widths] == [0.100, 0.052, 0.028, 0.019]
    three_pairs = plan_from_assumptions(Goals(), Design(pairs_per_topic=3))
    assert aims(three_pairs)["interval"] == 29  # three times the labels, four topics fewer


@pytest.mark.parametrize("judge", ["judge-x", *(pytest.param(f"judge-{n}", marks=pytest.mark.slow) for n in "yz")])
def test_the_plan_and_the_choice_ask_for_topics_by_one_formula_and_studies_may_only_add_to_it(judge):
    judges = {"judge-x": 0.86, "judge-y": 0.82, "judge-z": 0.78}
    frame, settings = made_pairs(14, judges=judges, seed=2), CalibrationSettings(margin=0.08, resamples=999)
    candidates = cheapest_adequate_judge(frame, settings).candidates
    needed = {one.judge: one.clusters_needed for one in candidates if one.clusters_needed}
    other_margin = CalibrationSettings(margin=0.5, resamples=999)  # the step is taken at the margin that is planned for
    steps = {judge: pilot_of(frame, other_margin, judge).step(0.08) for judge in needed}
    assert sorted(steps.values()) == [1, 2, 3], "each at the level at which it is tested once others are shown"
    topics = needed[judge]
    pilot = pilot_of(frame, settings, judge)
    plan = plan_from_pilot(pilot, Goals(margin=0.08), topics=topics)
    claim, at = plan.aims[1], plan.at
    assert claim.formula == topics
    assert at is not None
    assert 0.8 <= at.power < 0.85, "with the faults that the number rests on, at the step it rests on"
    if judge == "judge-x":
        once = plan_from_pilot(pilot, Goals(margin=0.08), topics=claim.needed.clusters)
        assert once.at is not None
        assert once.at.power == once.aims[1].reached, "one number has one power"
    said = plan_from_pilot(pilot, Goals(margin=0.08, tried=pilot.tried)).aims[1].formula
    assert (said is not None and said > topics) == (steps[judge] < 3), "who says a number is held to it"
    assert claim.needed.clusters >= topics
    assert claim.simulated >= 0.77
