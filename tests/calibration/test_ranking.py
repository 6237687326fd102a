"""Win rates, their order and its stability: by hand, under renaming, and on published votes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.arithmetic.correlation import kendall_tau_b
from calibration.errors import CalibrationError
from calibration.inference.bootstrap import cluster_weights
from calibration.results import CalibrationSettings
from calibration.systems.placing import Ranking, keeps_first, ranks_of
from calibration.systems.ranking import SideBySide, rank_stability, side_by_side
from calibration.systems.win_rates import rate_draws, win_matrix, win_rates
from tests.calibration.ranked import drawn_study, turned, verdicts

LABELS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "labels"
FEW = CalibrationSettings(resamples=300)

HAND = [
    ("t1", "ann", "x", "y", "A"),
    ("t1", "ann", "x", "z", "A"),
    ("t1", "ann", "y", "z", "tie"),
    ("t2", "ann", "y", "x", "A"),
    ("t3", "ann", "z", "x", "tie"),
]


def test_a_win_rate_is_the_mean_over_topics_and_a_tie_is_half_a_win() -> None:
    found = win_rates(verdicts(HAND), settings=FEW)
    # x: (1 + 0 + 1/2) / 3; y: (1/4 + 1) / 2; z: (1/4 + 1/2) / 2
    assert found.values == pytest.approx({"x": 1 / 2, "y": 5 / 8, "z": 3 / 8})
    assert [(one.system, one.rank) for one in found.systems] == [("y", 1), ("x", 2), ("z", 3)]
    x = found.systems[1].estimate
    assert (x.n, x.clusters, x.method, x.rater, x.category) == (
        4,
        3,
        "wilson_effective_n",
        "each_annotator",
        "systems: x",
    )


def test_the_win_matrix_counts_wins_and_comparisons_of_ordered_pairs() -> None:
    found = win_matrix(verdicts(HAND))
    assert found.systems == ("x", "y", "z")
    assert found.wins.tolist() == [[0, 1, 1.5], [1, 0, 0.5], [0.5, 0.5, 0]]
    assert found.comparisons.tolist() == [[0, 2, 2], [2, 0, 1], [2, 1, 0]]
    assert found.rates[0, 1] == 0.5
    assert math.isnan(found.rates[0, 0])
    assert [(one.category, one.value, one.n, one.clusters) for one in found.estimates] == [
        ("systems: x, y", 0.5, 2, 2), ("systems: x, z", 0.75, 2, 2), ("systems: y, z", 0.5, 1, 1),
    ]  # fmt: skip
    assert found.estimates[1].low < 0.75 < found.estimates[1].high
    assert found.estimates[2].note.endswith("no interval: fewer than 2 clusters")


def test_a_unit_counts_once_however_many_annotators_or_passes_answered_it() -> None:
    rows = [("t1", f"ann{n}", "x", "y", "A") for n in range(9)] + [("t2", "ann0", "x", "y", "B")]
    found = win_rates(verdicts(rows), settings=FEW)
    assert found.values == {"x": 0.5, "y": 0.5}
    assert [one.rank for one in found.systems] == [1.5, 1.5]
    assert (math.isnan(found.keeps_first), found.note) == (True, "2 systems share the first place")
    twice = verdicts([("t1", "judge", "x", "y", "A"), ("t1", "judge", "x", "y", "B"), ("t2", "judge", "x", "y", "A")])
    twice["run"] = [1, 2, 1]
    assert win_rates(twice, "judge", FEW).values["x"] == 0.75


def test_an_interval_of_one_topic_is_refused_and_of_a_rater_without_pairs_there_is_no_value() -> None:
    one = win_rates(verdicts(HAND[:1]), settings=FEW).systems[0].estimate
    assert (one.value, math.isnan(one.low), one.method) == (1.0, True, "none")
    frame = verdicts([*HAND, ("t1", "judge", "x", "y", "A")])
    none = {one.system: one.estimate for one in win_rates(frame, "judge", FEW).systems}
    assert math.isnan(none["z"].value)
    assert "no_items" in none["z"].note


@pytest.mark.parametrize(("rater", "system_b", "code"), [("judge-q", "y", "unknown_rater"), (None, "", "not_pairwise")])
def test_what_cannot_be_ranked_is_refused(rater: str | None, system_b: str, code: str) -> None:
    frame = verdicts(HAND)
    if not system_b:
        frame = frame.assign(system_b="", label="7")[:1]
    with pytest.raises(CalibrationError) as refused:
        win_rates(frame, rater, FEW)
    assert refused.value.code == code


def test_the_first_place_is_shared_evenly_and_lost_where_a_draw_is_undefined() -> None:
    values = np.array([0.6, 0.5, 0.4])
    draws = np.array([[0.6, 0.5, 0.1], [0.5, 0.5, 0.1], [0.1, 0.2, 0.0], [0.9, 0.2, 0.0]])
    assert keeps_first(values, draws) == (2.5 / 4, "")
    assert keeps_first(values, np.full((4, 3), math.nan))[1] == "more than 5 % of resamples undefined"
    assert keeps_first(np.array([0.6, math.nan]), draws)[1] == "a system has no value"
    assert ranks_of(np.array([0.3, 0.3 + 1e-12, math.nan, 0.9])) == pytest.approx([2.5, 2.5, math.nan, 1], nan_ok=True)


def test_shared_resamples_give_the_share_that_counting_them_gives() -> None:
    frame = drawn_study(8, seed=3)
    units = frame[frame["rater_kind"] == "human"].copy()
    score = units["label"].map({"A": 1.0, "tie": 0.5, "B": 0.0})
    both = pd.concat(
        [units.assign(system=units["system_a"], score=score), units.assign(system=units["system_b"], score=1 - score)]
    )
    rates = both.groupby(["cluster_id", "system"])["score"].mean().unstack()
    weights = np.concatenate(list(cluster_weights(8, FEW.resamples, FEW.seed)))
    first = (weights @ rates.to_numpy() / 8).argmax(axis=1)
    found = win_rates(frame, settings=FEW)
    top = list(rates.columns).index(found.systems[0].system)
    assert found.keeps_first == pytest.approx((first == top).mean(), abs=0.02)  # exact ties between draws share


def test_a_resample_is_the_mean_over_the_clusters_drawn_in_which_a_system_stands() -> None:
    rates = np.array([[0.2, math.nan], [0.4, 0.5], [0.9, math.nan], [0.1, 0.7]])
    weights = np.concatenate(list(cluster_weights(4, FEW.resamples, FEW.seed)))
    for system, there in ((0, [0, 1, 2, 3]), (1, [1, 3])):
        mine = weights[:, there]
        with np.errstate(invalid="ignore"):
            expected = mine @ rates[there, system] / mine.sum(axis=1)
        assert rate_draws(rates, FEW)[:, system] == pytest.approx(expected, nan_ok=True)


def numbers(ranking: Ranking, names: dict[str, str] | None = None) -> dict[str, list[float]]:
    return {
        (names or {}).get(one.system, one.system): [
            one.rank, one.estimate.value, one.estimate.low, one.estimate.high, one.estimate.n, ranking.keeps_first
        ]
        for one in ranking.systems
    }  # fmt: skip


def everything(found: SideBySide, names: dict[str, str] | None = None) -> list[dict[str, list[float]]]:
    rates = (found.win_rates.people, found.win_rates.judge_alone, found.win_rates.corrected)
    tau = found.stability.pairs[0]
    rest = {"tau": [tau.kendall.value, tau.kendall.low, tau.kendall.high, tau.spearman, tau.same_first]}
    return [*(numbers(one, names) for one in (*rates, *found.strengths)), rest]


def alike(one: list[dict[str, list[float]]], other: list[dict[str, list[float]]], digits: float) -> None:
    for mine, theirs in zip(one, other, strict=True):
        assert mine.keys() == theirs.keys()
        for name in mine:
            assert mine[name] == pytest.approx(theirs[name], abs=digits, nan_ok=True)


@settings(max_examples=5)
@given(st.sets(st.integers(0, 35)), st.permutations(["p", "q", "r"]), st.integers(0, 1000))
def test_renaming_a_and_b_or_systems_or_reordering_rows_changes_nothing(
    items: set[int], names: list[str], seed: int
) -> None:
    frame = drawn_study(12, labelled=6)
    before = side_by_side(frame, "judge-x", FEW)
    ids = sorted(frame["item_id"].unique())
    swapped = turned(frame, {ids[n] for n in items}).sample(frac=1, random_state=seed)
    alike(everything(side_by_side(swapped, "judge-x", FEW)), everything(before), 1e-12)
    new = dict(zip(("atlas", "borealis", "cirrus"), names, strict=True))
    renamed = frame.assign(system_a=frame["system_a"].map(new), system_b=frame["system_b"].map(new))
    alike(everything(side_by_side(renamed, "judge-x", FEW)), everything(before, new), 1e-9)


def test_reordering_rows_alone_changes_not_one_bit_and_the_table_stays_as_it_was() -> None:
    frame = drawn_study(12, labelled=6)
    copy = frame.copy()
    one, two = (
        everything(side_by_side(each, "judge-x", FEW)) for each in (frame, frame.sample(frac=1, random_state=1))
    )
    alike(one, two, 0.0)
    pd.testing.assert_frame_equal(frame, copy)


def test_rank_stability_is_tau_of_the_rates_on_what_both_answered() -> None:
    frame = drawn_study(12, labelled=6, systems=("a", "b", "c", "d", "e"))
    found = rank_stability(frame, settings=FEW)
    assert [one.rater for one in found.rankings] == ["each_annotator", "judge-x", "judge-y"]
    assert [(one.rater, one.other) for one in found.pairs] == [
        ("each_annotator", "judge-x"), ("each_annotator", "judge-y"), ("judge-x", "judge-y"),
    ]  # fmt: skip
    beside = found.pairs[0]
    shared = frame[frame["cluster_id"] < "t06"]
    people, judge = win_rates(shared, settings=FEW).values, win_rates(shared, "judge-x", FEW).values
    assert beside.kendall.value == pytest.approx(kendall_tau_b(list(people.values()), list(judge.values())))
    assert (beside.kendall.n, beside.kendall.clusters) == (60, 6)
    assert "over 5 systems, fewer than 10" in beside.kendall.note
    assert found.pairs[2].kendall.n == 120
    assert 0 <= beside.same_first <= 1


def test_a_judge_that_says_what_people_say_has_tau_1_in_every_resample_and_two_systems_have_none() -> None:
    frame = drawn_study(12)
    people = frame[frame["rater_id"] == "ann1"]
    copied = pd.concat([people, people.assign(rater_id="judge", rater_kind="judge")])
    (pair,) = rank_stability(copied, settings=FEW).pairs
    assert pair.kendall.value == pytest.approx(1)
    assert math.isnan(pair.kendall.low)
    assert "every resample gives the same value" in pair.kendall.note
    two = drawn_study(12, systems=("a", "b"))
    (pair, *_) = rank_stability(two, settings=FEW).pairs
    assert math.isnan(pair.kendall.value)
    assert "two_points" in pair.kendall.note


@pytest.mark.parametrize("topics", [1, 2, 5])
def test_few_topics_and_judges_without_people_have_values_and_say_what_they_lack(topics: int) -> None:
    frame = drawn_study(topics)
    alone = frame[frame["rater_kind"] == "judge"]
    found = side_by_side(alone, "judge-x", FEW)
    assert all("no_items" in one.estimate.note for one in found.win_rates.corrected.systems)
    assert all("no_items" in one.estimate.note for one in found.strengths[2].systems)
    assert not any(math.isnan(one.estimate.value) for one in found.win_rates.judge_alone.systems)
    assert found.stability.pairs == ()
    both = side_by_side(frame, "judge-x", FEW)
    assert not any(math.isnan(one.estimate.value) for one in both.win_rates.corrected.systems)


def test_every_number_carries_its_interval_or_the_reason_why_not() -> None:
    found = side_by_side(drawn_study(12, labelled=6), "judge-x", FEW)
    rates = (found.win_rates.people, found.win_rates.judge_alone, found.win_rates.corrected)
    for one in (each.estimate for ranking in (*rates, *found.strengths) for each in ranking.systems):
        assert one.note
        assert (one.method == "none") == math.isnan(one.low)
        assert math.isnan(one.low) or one.low <= one.value <= one.high


if LABELS.is_dir():

    @pytest.fixture(scope="module")
    def mtbench() -> SideBySide:
        frame = pd.read_csv(LABELS / "mtbench_votes.csv", dtype=str, keep_default_na=False)
        return side_by_side(frame, "gpt4_pair", CalibrationSettings(resamples=999))

    def test_mt_bench_has_a_ranking_that_is_corrected_by_its_votes(mtbench: SideBySide) -> None:
        rates = mtbench.win_rates
        order = ["gpt-4", "claude-v1", "gpt-3.5-turbo", "vicuna-13b-v1.2", "alpaca-13b", "llama-13b"]
        for ranking in (rates.people, rates.judge_alone, rates.corrected, *mtbench.strengths):
            assert [one.system for one in ranking.systems] == order
        # gpt-4 as a judge gives its own reports twelve points more than people do; corrected, that is gone
        gain = rates.judge_alone.values["gpt-4"] - rates.people.values["gpt-4"]
        assert 0.11 < gain < 0.14
        assert abs(rates.corrected.values["gpt-4"] - rates.people.values["gpt-4"]) < 0.02
        people, corrected = (
            {one.system: one.estimate for one in each.systems} for each in (rates.people, rates.corrected)
        )
        assert all(corrected[name].high - corrected[name].low < people[name].high - people[name].low for name in order)
        assert mtbench.stability.pairs[0].kendall.value == pytest.approx(1)

    def test_every_topic_of_mt_bench_is_labelled_in_part_and_so_refused_unless_asked_for(mtbench: SideBySide) -> None:
        assert mtbench.win_rates.people.keeps_first > 0.95
        frame = pd.read_csv(LABELS / "mtbench_votes.csv", dtype=str, keep_default_na=False)
        refused = side_by_side(frame, "gpt4_pair", CalibrationSettings(resamples=99), "refuse")
        assert all("cluster_straddles" in one.estimate.note for one in refused.win_rates.corrected.systems)
