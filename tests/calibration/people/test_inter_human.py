"""Inter-human rows as four studies print them: by hand, against other libraries, and on public labels."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from calibration.errors import CalibrationError
from calibration.results import CalibrationSettings
from calibration.totals.inter_human import (
    label_agreement_of_people,
    mean_kappa_of_people,
    rank_agreement_of_people,
    score_correlations_of_people,
)
from tests.calibration.studies import made_pairs, made_ratings

LABELS = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "labels"
FEW = CalibrationSettings(resamples=199)
INTER_HUMAN = {  # the paper's short name
    "wlc": label_agreement_of_people,
    "drg": mean_kappa_of_people,
    "dr3": score_correlations_of_people,
    "race": rank_agreement_of_people,
}


def wide(frame: pd.DataFrame) -> pd.DataFrame:
    people = frame[frame["rater_kind"] == "human"]
    return people.pivot_table(index=["item_id", "criterion"], columns="rater_id", values="label", aggfunc="first")


def scored(totals: dict[str, list[float]], topics: list[int]) -> pd.DataFrame:
    """One report of another system a place; a nan is no answer."""
    rows = [
        (f"r{n}", rater, "human", "c", value, f"t{topic}", f"s{n}")
        for rater, values in totals.items()
        for n, (value, topic) in enumerate(zip(values, topics, strict=True))
        if not math.isnan(value)
    ]
    names = ["item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id", "system_a"]
    return pd.DataFrame(rows, columns=names)


@pytest.mark.parametrize("ties", ["three_class", "half_credit", "exclude"])
def test_wlc_pools_all_pairs_of_labels(ties: str) -> None:
    frame = made_pairs(pairs=25, annotators=4, missing=0.2)
    code = {"A": 1.0, "tie": 0.5, "B": 0.0}
    pairs = [
        (one, two)
        for row in wide(frame).itertuples(index=False)
        for one, two in combinations(pd.Series(row).dropna(), 2)
    ]
    if ties == "exclude":
        pairs = [pair for pair in pairs if "tie" not in pair]
    earned = [1 - abs(code[one] - code[two]) if ties == "half_credit" else one == two for one, two in pairs]
    found = label_agreement_of_people(frame, CalibrationSettings(resamples=199, ties=ties))
    assert (found.value, found.n) == (pytest.approx(np.mean(earned)), len(pairs))
    assert found.low < found.value < found.high


def test_drg_is_the_unweighted_mean_of_kappas_however_few_labels_a_pair_shares() -> None:
    frame = made_pairs(pairs=30, annotators=4, seed=3)
    frame = frame[(frame["rater_id"] != "ann4") | (frame["item_id"] < "p003")]
    table = wide(frame)
    kappas = [cohen_kappa_score(*table[[one, two]].dropna().to_numpy().T) for one, two in combinations(table, 2)]
    found = mean_kappa_of_people(frame, FEW)
    assert found.value == pytest.approx(np.mean(kappas))
    assert "mean over 6 of 6 pairs" in found.note
    assert "3 of them share fewer than 10 labels" in found.note


def test_drg_leaves_out_and_counts_pairs_without_a_kappa() -> None:
    rows = [(f"i{n}", who, "human", "c", label, f"t{n}") for who, text in {"a": "xxy", "b": "xyy", "c": "   z"}.items()
            for n, label in enumerate(text) if label != " "]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id"])
    found = mean_kappa_of_people(frame, FEW)
    assert found.value == pytest.approx(2 / 5)  # Po 2/3, Pe 4/9
    assert "mean over 1 of 3 pairs" in found.note


@pytest.mark.parametrize("construction", ["pairs", "others_mean"])
def test_dr3_correlates_totals_between_experts_by_either_construction(construction: str) -> None:
    frame = pd.concat([made_ratings(seed=seed).assign(criterion=name) for seed, name in ((2, "depth"), (3, "facts"))])
    table = wide(frame).unstack("criterion")
    totals = pd.DataFrame({who: table[who].mean(axis=1, skipna=False) for who in ("ann1", "ann2", "ann3")})
    sides = list(combinations(totals, 2))
    columns = [(totals[one], totals[two]) for one, two in sides]
    if construction == "others_mean":
        columns = [(totals[who], totals.drop(columns=who).mean(axis=1)) for who in totals]
    joined = [pd.concat(pair, axis=1, keys=["x", "y"]).dropna() for pair in columns]
    expected = (
        np.mean([stats.pearsonr(one["x"], one["y"]).statistic for one in joined]),
        np.mean([stats.spearmanr(one["x"], one["y"]).statistic for one in joined]),
        np.mean([strict(one["x"].to_numpy(), one["y"].to_numpy()) for one in joined]),
    )
    found = score_correlations_of_people(frame, FEW, construction)
    assert [one.value for one in found] == pytest.approx(expected)
    assert [one.statistic for one in found] == ["pearson", "spearman", "rank_agreement_across_items"]
    assert all(one.n == sum(map(len, joined)) and one.low < one.value < one.high for one in found)


def strict(x: np.ndarray, y: np.ndarray) -> float:
    """DR3-Eval's formula: 1 / C(n, 2) sum 1[(A_i - A_j)(B_i - B_j) > 0]."""
    return float(np.mean([(x[i] - x[j]) * (y[i] - y[j]) > 1e-12 for i, j in combinations(range(len(x)), 2)]))


def test_dr3_a_total_needs_every_criterion_asked_of_the_report() -> None:
    frame = made_ratings(reports=12)
    extra = frame[frame["rater_id"] == "ann1"].iloc[:1].assign(criterion="facts")
    before, after = (score_correlations_of_people(one, FEW)[0] for one in (frame, pd.concat([frame, extra])))
    item = extra["item_id"].iloc[0]
    raters = frame[(frame["item_id"] == item) & (frame["rater_kind"] == "human")]["rater_id"].nunique()
    assert before.n - after.n == raters * (raters - 1) / 2  # only ann1 has a total of that report now


def test_race_counts_pairs_of_systems_within_a_topic_for_each_two_annotators() -> None:
    # topic 0: a and b agree on (0,1) and (0,2), not on (1,2); topic 1: b ties. c scored topic 1 only, as a did
    totals = {"a": [3, 2, 1, 5, 4], "b": [3, 1, 2, 4, 4], "c": [math.nan, math.nan, math.nan, 9, 1]}
    frame = scored(totals, [0, 0, 0, 1, 1])
    found = rank_agreement_of_people(frame, FEW)
    assert (found.value, found.n, found.clusters) == (pytest.approx(3 / 6), 6, 2)  # a-b 2 of 4, a-c 1 of 1, b-c 0 of 1
    without = rank_agreement_of_people(frame, FEW, ties="exclude")
    assert (without.value, without.n) == (pytest.approx(3 / 4), 4)


def test_race_of_fifty_topics_four_systems_and_three_annotators_counts_nine_hundredths() -> None:
    rng = np.random.default_rng(1)
    frame = scored({name: list(rng.random(200)) for name in "abc"}, [n // 4 for n in range(200)])
    found = rank_agreement_of_people(frame, FEW)
    assert (found.n, found.clusters) == (900, 50)  # 68.78 % of DeepResearch Bench is 619 of 900


@pytest.mark.parametrize("name", ["dr3", "race"])
def test_preferences_are_no_scores(name: str) -> None:
    with pytest.raises(CalibrationError) as refused:
        INTER_HUMAN[name](made_pairs(pairs=4), FEW)
    assert refused.value.code == "not_scores"


@pytest.mark.parametrize(
    ("function", "options"),
    [(score_correlations_of_people, {"construction": "mean"}), (rank_agreement_of_people, {"ties": "half_credit"})],
)
def test_an_unknown_construction_is_refused(function: object, options: dict[str, str]) -> None:
    with pytest.raises(CalibrationError) as refused:
        function(made_ratings(), FEW, **options)  # type: ignore[operator]
    assert refused.value.code == "unknown_form"


@pytest.mark.parametrize("name", list(INTER_HUMAN))
def test_one_annotator_agrees_with_nobody(name: str) -> None:
    frame = made_ratings(annotators=1) if name in ("dr3", "race") else made_pairs(pairs=4, annotators=1)
    found = INTER_HUMAN[name](frame, FEW)
    for one in found if isinstance(found, tuple) else (found,):
        assert (math.isnan(one.value), one.n, one.method) == (True, 0, "none")
        assert "no_items" in one.note


@pytest.mark.parametrize("name", list(INTER_HUMAN))
def test_each_row_says_whose_formula_it_is(name: str) -> None:
    frame = made_ratings() if name in ("dr3", "race") else made_pairs(pairs=10)
    found = INTER_HUMAN[name](frame, FEW)
    assert all(one.note.startswith(f"{name}: ") for one in (found if isinstance(found, tuple) else (found,)))


if LABELS.is_dir():

    def test_drg_on_pandalm_is_the_mean_of_its_three_published_kappas() -> None:
        found = mean_kappa_of_people(pd.read_csv(LABELS / "pandalm_testset.csv", dtype=str), FEW)
        assert found.value == pytest.approx((0.8520226785 + 0.8789438113 + 0.8616614541) / 3, abs=1e-9)

    @pytest.mark.parametrize(
        ("turn", "ties", "equal", "n"),
        [
            ("turn1", "three_class", 454, 721),
            ("turn1", "exclude", 388, 479),
            ("turn2", "three_class", 471, 707),
            ("turn2", "exclude", 388, 474),
        ],
    )
    def test_wlc_on_mt_bench_is_human_human_of_its_table_5(turn: str, ties: str, equal: int, n: int) -> None:
        frame = pd.read_csv(LABELS / "mtbench_votes.csv", dtype=str)
        frame = frame[~frame["rater_id"].str.startswith("author") & (frame["criterion"] == turn)]
        found = label_agreement_of_people(frame, CalibrationSettings(resamples=99, ties=ties))
        assert (found.value, found.n) == (pytest.approx(equal / n, abs=1e-12), n)
