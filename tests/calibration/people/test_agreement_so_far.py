"""Agreement while a study runs: the numbers of its report, how they came about, and how many pairs it still takes."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from calibration.agreement.ceiling import leave_one_out_ceiling
from calibration.results import CalibrationSettings
from calibration.sizing.agreement_so_far import agreement_so_far, why_unknown
from calibration.sizing.planning import half_width_of_sd
from calibration.totals.inter_human import label_agreement_of_people
from tests.calibration.planted import Person, planted_study
from tests.calibration.studies import made_pairs

QUICK = CalibrationSettings(resamples=99)


@pytest.fixture(scope="module")
def verdicts() -> pd.DataFrame:
    return planted_study([Person(0.8), Person(0.82), Person(0.85)], 1)[0]


@pytest.mark.parametrize("ties", ["three_class", "exclude", "half_credit"])
def test_it_is_the_agreement_and_the_ceiling_of_the_report(verdicts: pd.DataFrame, ties: str) -> None:
    settings = CalibrationSettings(resamples=99, ties=ties)
    found, expected = agreement_so_far(verdicts, (), settings), label_agreement_of_people(verdicts, settings)
    assert found.headline is not None
    assert (found.headline.value, found.headline.low) == pytest.approx((expected.value, expected.low))
    assert found.ceiling == leave_one_out_ceiling(verdicts, settings=settings).human


def test_the_last_step_is_where_it_stands_and_steps_follow_the_order_handed_in(verdicts: pd.DataFrame) -> None:
    order = [f"topic{number:02}" for number in (7, 3, 0)]
    steps = agreement_so_far(verdicts, order, QUICK).steps
    assert [one.clusters for one in steps] == list(range(1, 11))
    first = verdicts[verdicts["cluster_id"] == "topic07"]
    assert steps[0].value == pytest.approx(label_agreement_of_people(first, QUICK).value)
    third = verdicts[verdicts["cluster_id"].isin(order)]
    assert steps[2].value == pytest.approx(label_agreement_of_people(third, QUICK).value)
    assert steps[-1].value == pytest.approx(label_agreement_of_people(verdicts, QUICK).value)


def test_single_criteria_have_no_interval_below_twenty_clusters(verdicts: pd.DataFrame) -> None:
    few, many = agreement_so_far(verdicts, (), QUICK), agreement_so_far(made_pairs(30), (), QUICK)
    assert len(few.criteria) == 39
    assert all(math.isnan(one.low) and "too few pairs" in one.note for pair in few.criteria for one in pair)
    assert not any(math.isnan(one.low) for pair in many.criteria for one in pair)


def test_the_pairs_that_are_needed_make_the_interval_as_narrow_as_wanted(verdicts: pd.DataFrame) -> None:
    found = agreement_so_far(verdicts, (), QUICK)
    needed, safe = found.needed(0.05), found.cautious(0.05)
    assert needed.clusters is not None
    assert safe.clusters is not None
    assert needed.more == needed.clusters - 10
    sd = found.spread.sd
    assert half_width_of_sd(needed.clusters, sd) <= 0.05 < half_width_of_sd(needed.clusters - 1, sd)
    assert safe.clusters > needed.clusters
    assert why_unknown(needed) == ""


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        (lambda v: v[:0], "only 0 of the 5 clusters"),
        (lambda v: v[v["rater_id"] == "ann1"], "only 0 of the 5 clusters"),
        (lambda v: v[v["item_id"] < "p04"], "only 4 of the 5 clusters"),
        (lambda v: v.assign(label="A"), "the same in every cluster"),
    ],
)
def test_where_nobody_can_know_how_many_pairs_it_takes_no_number_is_given(
    verdicts: pd.DataFrame, chosen: object, why: str
) -> None:
    found = agreement_so_far(chosen(verdicts), (), QUICK)  # type: ignore[operator]
    for needed in (found.needed(0.05), found.cautious(0.05)):
        assert needed.clusters is None
        assert why in why_unknown(needed)


def test_judges_change_nothing(verdicts: pd.DataFrame) -> None:
    judged = verdicts[verdicts["rater_id"] == "ann1"].assign(rater_id="mini", rater_kind="judge")
    assert (
        agreement_so_far(pd.concat([verdicts, judged]), (), QUICK).steps == agreement_so_far(verdicts, (), QUICK).steps
    )
