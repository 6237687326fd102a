"""The ceiling: by hand, against a second implementation, and on the public votes where they are."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as trials
from hypothesis import strategies as st

from benchmarks.ceiling import Design, broken, differences, made_studies, rates
from calibration.agreement.ceiling import ceiling_estimates, ceiling_of, gap_estimate, leave_one_out_ceiling
from calibration.calibrate import calibrate
from calibration.errors import CalibrationError
from calibration.inference.bootstrap import wilson_effective
from calibration.results import CalibrationSettings
from calibration.study.left_out import left_out, left_out_scores, pooled
from tests.calibration.left_out_by_hand import rows
from tests.calibration.studies import made_pairs, made_ratings

LABELS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "labels"
FEW = CalibrationSettings(resamples=99)
PEOPLE = ("Ada", "Ben", "Cy")


def said(item: int, rater: str, label: str, **more: Any) -> dict[str, Any]:
    return {
        "item_id": f"i{item}", "rater_id": rater, "rater_kind": "human" if rater in PEOPLE else "judge",
        "criterion": "c", "label": label, "cluster_id": f"t{item}", "system_a": "x", "system_b": "y",
        "run": 1, "presentation": "AB", "status": "ok" if label else "invalid",
    } | more  # fmt: skip


def table(**labels: str) -> pd.DataFrame:
    """One letter an item: A, B, t(ie); a dot could not be read, a blank was not asked."""
    words = {"t": "tie", ".": ""}
    given = [said(n, rater, words.get(c, c)) for rater, text in labels.items() for n, c in enumerate(text) if c != " "]
    return pd.DataFrame(given)


SMALL = table(Ada="AA", Ben="AB", Cy="B ", judge="AB")


def average(frame: pd.DataFrame, references: str = "others_each", judge: str = "judge", **options: Any) -> Any:
    found = leave_one_out_ceiling(frame, references, replace(FEW, **options))
    return next(one for one in found.judges if one.judge == judge).average


def test_judge_and_left_out_human_by_hand() -> None:
    # Ada and Ben on i0: 1/2 and 1/2 | Cy: 0 and 1 | on i1 Ada: 0 and 1, Ben: 0 and 0
    found = average(SMALL)
    assert (found.human.value, found.judge.value) == pytest.approx((1 / 5, 3 / 5))
    assert (found.human.n, found.human.clusters, found.gap.n) == (5, 2, 5)
    # cluster sums of h - g are -1 of 3 rows and -1 of 2: residuals 1/5 and -1/5, over 2/5 and 3/5 of the rows left:
    # 1/2 and -1/3, jackknife se sqrt(1/2 (1/4 + 1/9)) / 5
    half = math.tan(math.pi * 0.475) * math.sqrt(13 / 72) / 5  # the t quantile with 1 df is the Cauchy's
    assert found.gap.value == pytest.approx(-2 / 5)
    assert (found.gap.low, found.gap.high) == pytest.approx((-2 / 5 - half, -2 / 5 + half))


@pytest.mark.parametrize(
    ("frame", "options", "human", "judge", "n"),
    [
        # the others of Ada and of Ben on i0 are tied
        (SMALL, {"references": "others_majority"}, Fraction(0), Fraction(2, 3), 3),
        (SMALL, {"references": "others_majority", "majority_ties": "tie"}, Fraction(0), Fraction(2, 5), 5),
        (table(Ada="A", Ben="t", Cy="A", judge="B"), {}, Fraction(1, 3), Fraction(0), 3),
        (table(Ada="A", Ben="t", Cy="A", judge="B"), {"ties": "half_credit"}, Fraction(2, 3), Fraction(1, 6), 3),
        (table(Ada="A", Ben="t", Cy="A", judge="B"), {"ties": "exclude"}, Fraction(1), Fraction(0), 2),
        (table(Ada="A", Ben="t", Cy="A", judge="t"), {"ties": "exclude"}, None, None, 0),  # the judge's tie too
        (table(Ada="AA", Ben="AA", judge="A."), {}, Fraction(1), Fraction(1), 2),  # no answer, no row
    ],
)
def test_ties_and_references_as_the_settings_say(
    frame: pd.DataFrame, options: dict[str, Any], human: Fraction | None, judge: Fraction | None, n: int
) -> None:
    found = average(frame, **options)
    expected = [math.nan if value is None else float(value) for value in (human, judge)]
    assert [found.human.value, found.judge.value] == pytest.approx(expected, nan_ok=True)
    assert found.human.n == found.judge.n == found.gap.n == n


def test_both_sides_rest_on_the_same_rows_and_references() -> None:
    frame = made_pairs(pairs=30, missing=0.25, seed=5)
    before = frame.copy(deep=True)
    found = leave_one_out_ceiling(frame, settings=FEW)
    pd.testing.assert_frame_equal(frame, before)  # no input is changed
    assert {one.judge for one in found.judges} == {"judge-x", "judge-y"}
    for one in found.judges:
        for beside in (one.average, *one.annotators):
            assert (beside.human.n, beside.human.clusters) == (beside.judge.n, beside.judge.clusters)
            assert beside.gap.value == pytest.approx(beside.human.value - beside.judge.value)
        assert one.average.human.n == sum(beside.human.n for beside in one.annotators) < found.human.n


@pytest.mark.parametrize("references", ["others_each", "others_majority"])
@pytest.mark.parametrize("ties", ["three_class", "half_credit", "exclude"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_second_implementation_agrees(references: str, ties: str, seed: int) -> None:
    frame = made_pairs(pairs=25, annotators=4, missing=0.2, seed=seed)
    found = leave_one_out_ceiling(frame, references, replace(FEW, ties=ties)).judges[0]
    witness = pd.DataFrame(rows(frame, found.judge, references, ties), columns=["who", "human", "judge", "cluster"])
    assert len(witness) == found.average.human.n
    for beside in (found.average, *found.annotators):
        own = witness if beside.annotator == "each_annotator" else witness[witness["who"] == beside.annotator]
        assert beside.human.value == pytest.approx(float(own["human"].mean()))
        assert beside.judge.value == pytest.approx(float(own["judge"].mean()))
        assert beside.human.clusters == own["cluster"].nunique()
        if ties != "half_credit":
            by_topic = own["human"].astype(float).groupby(own["cluster"])
            interval = wilson_effective(by_topic.sum(), by_topic.size())
            assert (beside.human.low, beside.human.high) == pytest.approx(interval)
        else:
            assert beside.human.method in ("cluster_bootstrap_expanded", "none")


LETTERS = st.text("ABt ", min_size=8, max_size=8)


@trials(max_examples=15)
@given(LETTERS, LETTERS, LETTERS, LETTERS, st.sampled_from(["three_class", "half_credit", "exclude"]))
def test_order_of_rows_and_naming_of_a_and_b_change_nothing(ada: str, ben: str, cy: str, judge: str, ties: str) -> None:
    frame = table(Ada=ada + "A", Ben=ben + "A", Cy=cy + "t", judge=judge + "B")
    options = replace(FEW, ties=ties)
    found = list(ceiling_estimates(leave_one_out_ceiling(frame, settings=options)))
    shuffled = frame.sample(frac=1, random_state=1)
    again = list(ceiling_estimates(leave_one_out_ceiling(shuffled, settings=options)))
    swapped = frame.assign(label=frame["label"].replace({"A": "B", "B": "A"}), system_a="y", system_b="x")
    renamed = list(ceiling_estimates(leave_one_out_ceiling(swapped, settings=options)))
    for one, other, third in zip(found, again, renamed, strict=True):
        assert one.n == other.n == third.n
        assert (one.value, one.low) == pytest.approx((other.value, other.low), nan_ok=True)
        assert (one.value, one.low) == pytest.approx((third.value, third.low), nan_ok=True)


def test_every_pass_of_a_judge_counts_1_by_passes_and_both_orders_are_a_candidate_of_their_own() -> None:
    frame = pd.concat([table(Ada="AA", Ben="AA"), pd.DataFrame([
        said(0, "judge", "A"), said(0, "judge", "B", presentation="BA"),
        said(1, "judge", "A"), said(1, "judge", "A", presentation="BA"),
    ])])  # fmt: skip
    assert average(frame).judge.value == pytest.approx((1 / 2 + 1) / 2)
    assert average(frame, judge="judge [both orders]").judge.value == pytest.approx((0 + 1) / 2)


def test_a_retest_is_no_reference_and_no_person_agrees_with_oneself() -> None:
    alone = pd.concat([table(Ada="A", judge="A"), pd.DataFrame([said(0, "Ada", "A", run=2)])])
    assert average(alone).human.n == 0
    both = pd.concat([table(Ada="A", Ben="B", judge="A"), pd.DataFrame([said(0, "Ada", "B", run=2)])])
    assert (average(both).human.value, average(both).human.n) == (0.0, 2)


def test_missing_answers_are_left_out_or_wrong_as_asked() -> None:
    study, group, scale = pooled(table(Ada="AAA", Ben="AAA", judge="A. "), FEW)
    judge = study.judges[0]
    left = left_out_scores(study, group, scale, judge, FEW)
    wrong = left_out_scores(study, group, scale, judge, FEW, missing_as_wrong=True)
    assert (list(left.judge), list(wrong.judge)) == ([1.0, 1.0], [1.0, 0.0, 1.0, 0.0])
    assert list(wrong.human) == [1.0] * 4


def test_without_two_annotators_there_is_no_ceiling_and_the_reason_is_given() -> None:
    found = leave_one_out_ceiling(table(Ada="AB", judge="AA"), settings=FEW)
    assert (math.isnan(found.human.value), found.human.n, found.human.method) == (True, 0, "none")
    assert "no_items" in found.human.note
    assert found.annotators == found.judges[0].annotators == ()
    gap = gap_estimate("judge", found.judges[0].average)
    assert (math.isnan(gap.value), gap.method, gap.note) == (True, "none", "left-out annotator minus judge, on the "
            "same references; this panel of annotators is fixed; no_items: nothing to compare")  # fmt: skip


def test_unknown_words_and_criteria_without_a_common_scale_are_refused() -> None:
    with pytest.raises(CalibrationError) as refused:
        leave_one_out_ceiling(SMALL, "majority")
    assert refused.value.code == "unknown_form"
    mixed = pd.concat([made_pairs(pairs=3), made_ratings(reports=4)])
    with pytest.raises(CalibrationError) as refused:
        leave_one_out_ceiling(mixed)
    assert refused.value.code == "mixed_label_types"


def test_the_estimates_have_one_key_each_and_say_how_they_were_made() -> None:
    found = list(ceiling_estimates(leave_one_out_ceiling(made_pairs(pairs=30), settings=FEW)))
    keys = {(one.statistic, one.rater, one.reference) for one in found}
    assert len(keys) == len(found) == 1 + 3 + 2 * (1 + 1 + 1 + 3)
    assert ("human_ceiling", "each_annotator", "others") in keys
    assert ("gap_to_ceiling", "judge-y", "ann2") in keys
    assert all(one.low <= one.value <= one.high and one.method != "none" and one.note for one in found)


def test_a_single_criterion_on_few_clusters_gets_no_interval_of_the_gap() -> None:
    study, group, scale = pooled(made_pairs(pairs=12, criteria=1), FEW)
    found = ceiling_of(study, replace(group, criterion="c0"), scale, FEW).judges[0]
    estimate = gap_estimate(found.judge, found.average)
    assert (estimate.method, math.isnan(estimate.low), math.isnan(estimate.value)) == ("none", True, False)
    assert "too few pairs" in estimate.note


def equal_raters(items: int = 6_000, accuracy: float = 0.85) -> pd.DataFrame:
    """Three people and a judge, all right with the same probability; binary."""
    right = np.random.default_rng(4).random((4, items)) < accuracy
    letters = ["".join("A" if one else "B" for one in row) for row in right]
    return table(Ada=letters[0], Ben=letters[1], Cy=letters[2], judge=letters[3])


def test_a_judge_as_good_as_a_person_has_no_gap_where_a_majority_makes_it_look_better() -> None:
    frame = equal_raters()
    each = average(frame)
    # .85^2 + .15^2 = .745; a majority of three is right with .93925, so the judge has .85 * .93925 + .15 * .06075
    assert (each.human.value, each.judge.value) == pytest.approx((0.745, 0.745), abs=0.015)
    assert each.gap.low < 0 < each.gap.high
    wide = frame.pivot_table(index="item_id", columns="rater_id", values="label", aggfunc="first")
    majority = (wide[list(PEOPLE)] == "A").sum(axis=1).ge(2)
    assert ((wide["judge"] == "A") == majority).mean() == pytest.approx(0.807, abs=0.015)


def test_scores_are_compared_as_numbers_and_know_no_tie_rule() -> None:
    frame = made_ratings(annotators=3)
    found = leave_one_out_ceiling(frame, settings=replace(FEW, ties="half_credit"))
    plain = leave_one_out_ceiling(frame, settings=FEW)
    assert found.human == plain.human
    assert found.human.statistic == "human_ceiling_linear"
    exact = leave_one_out_ceiling(frame, settings=replace(FEW, distance="exact"))
    assert exact.human.statistic == "human_ceiling"
    assert exact.human.value < found.human.value


def test_the_ceiling_of_pairs_is_what_the_report_calls_agreement_with_the_others() -> None:
    frame = made_pairs(pairs=25, annotators=3)  # every unit has three people: rows and pairs weigh alike
    report = calibrate(frame, FEW)
    found = leave_one_out_ceiling(frame, settings=FEW)
    printed = {
        one.rater: one.value
        for one in report.estimates
        if (one.statistic, one.reference) == ("percent_agreement", "others") and not one.rater.startswith("judge")
    }
    assert {one.rater: one.value for one in (found.human, *found.annotators)} == pytest.approx(printed)


@pytest.mark.slow
def test_the_clustered_interval_of_the_gap_covers_and_the_item_level_one_does_not() -> None:
    design, studies = Design(30), 500
    found = rates(design, studies)
    assert list(broken(design, found, studies)) == []
    # the check can fail: what items claim, put in the place of clusters, breaks every one of the three promises
    wrong = found | {name: found[name.replace("topics", "items")] for name in found if "topics" in name}
    assert len(list(broken(design, wrong, studies))) == 3


def test_the_simulation_has_the_truth_it_claims() -> None:
    wins, gaps = zip(*differences(*made_studies(Design(1_000), 40, seed=3)), strict=True)
    assert np.mean(wins) == pytest.approx(0.2, abs=0.004)
    assert np.mean(gaps) == pytest.approx(0.2, abs=0.004)


if LABELS.is_dir():

    def experts() -> pd.DataFrame:
        frame = pd.read_csv(LABELS / "mtbench_votes.csv", dtype=str)
        return frame[~frame["rater_id"].str.startswith("author")]

    @pytest.mark.parametrize(("turn", "equal", "pairs"), [("turn1", 454, 721), ("turn2", 471, 707)])
    def test_the_left_out_rows_are_the_pairs_of_people_of_mt_bench_table_5(turn: str, equal: int, pairs: int) -> None:
        frame = experts()
        study, group, scale = pooled(frame[frame["criterion"] == turn], FEW)
        parts = list(left_out(study, group, scale, study.judges[0]))
        # each unordered pair of people stands in two rows
        assert sum((one.own * one.others).sum() for one in parts) == pytest.approx(2 * equal)
        assert sum(one.others.sum() for one in parts) == pytest.approx(2 * pairs)

    @pytest.mark.parametrize(
        ("turn", "human", "judge", "labels"),
        # published, on different references: judge 66 and people 63 in turn 1, 66 and 67 in turn 2
        [("turn1", 0.6365, 0.6603, 892), ("turn2", 0.6778, 0.6465, 877)],
    )
    def test_gpt_4_beside_a_left_out_person_of_mt_bench(turn: str, human: float, judge: float, labels: int) -> None:
        frame = experts()
        frame = frame[frame["criterion"] == turn]
        found = average(frame, judge="gpt4_pair")
        assert (found.human.value, found.judge.value) == pytest.approx((human, judge), abs=5e-5)
        assert (found.human.n, found.human.clusters) == (labels, 80)
        assert found.gap.low < 0 < found.gap.high  # neither turn tells GPT-4 from a person

    @pytest.mark.parametrize("references", ["others_each", "others_majority"])
    @pytest.mark.parametrize("turn", ["turn1", "turn2"])
    def test_a_second_implementation_agrees_on_mt_bench(turn: str, references: str) -> None:
        frame = experts()
        frame = frame[frame["criterion"] == turn]  # one person voted on one item in both orders: left out here
        frame = frame[~frame.duplicated(["item_id", "rater_id"], keep=False)]
        found = average(frame, references, judge="gpt4_pair")
        plain = frame.assign(label=frame["label"].replace("tie_inconsistent", "tie"))
        witness = pd.DataFrame(rows(plain, "gpt4_pair", references, "three_class"), columns=["who", "h", "g", "c"])
        assert found.human.n == len(witness)
        assert found.human.value == pytest.approx(float(witness["h"].mean()), abs=1e-12)
        assert found.judge.value == pytest.approx(float(witness["g"].mean()), abs=1e-12)
