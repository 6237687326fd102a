"""Published numbers that calipers must reproduce. Label files are not part of the repository: collected where they are."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest

from calibration.arithmetic.correlation import icc, pearson, rank_agreement_across_items, spearman
from calibration.arithmetic.metrics import cohen_kappa, constant_judge_baseline, percent_agreement
from tests.calibration.plain_aggregates import majority, mean, share, target_share

LABELS = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "labels"

# DR3-Eval, Table 14: five reports (rows), criteria IR, FA, DQ, IF, CC (columns)
DR3_JUDGE = [
    [30.00, 46.23, 70, 93.33, 66.67],
    [40.27, 50.38, 70, 86.67, 66.67],
    [42.85, 52.25, 70, 64, 16.67],
    [30, 43.84, 60, 77.78, 50],
    [49.29, 60.33, 70, 84, 71.43],
]
DR3_HUMAN = [
    [32.5, 42.76, 72, 92.42, 66.67],
    [38.68, 53.89, 68, 83.25, 66.67],
    [40.78, 56.65, 66.86, 62.38, 16.67],
    [31.5, 46.29, 58.76, 75.94, 50],
    [46.73, 57.83, 73.56, 82.37, 71.43],
]


def test_dr3_eval_correlations_of_report_means():
    judge, human = [mean(row) for row in DR3_JUDGE], [mean(row) for row in DR3_HUMAN]
    assert pearson(judge, human) == pytest.approx(0.99878, abs=5e-6)
    assert spearman(judge, human) == pytest.approx(1)
    assert rank_agreement_across_items(judge, human) == 1


@pytest.mark.parametrize(
    ("column", "r", "rho", "ranked"),
    [
        (0, 0.9942, 0.9747, 0.9),
        (1, 0.8465, 0.9, 0.9),
        (2, 0.8784, 0.7071, 0.4),  # four of the five judge scores are 70: Pearson .88 beside .40
        (3, 0.9965, 1, 1),
        (4, 1, 1, 0.9),
    ],
)
def test_dr3_eval_correlations_of_each_criterion(column, r, rho, ranked):
    judge, human = [row[column] for row in DR3_JUDGE], [row[column] for row in DR3_HUMAN]
    assert pearson(judge, human) == pytest.approx(r, abs=5e-5)
    assert spearman(judge, human) == pytest.approx(rho, abs=5e-5)
    assert rank_agreement_across_items(judge, human) == pytest.approx(ranked)


def test_deepresearchgym_key_point_recall_and_contradiction():
    supported = {1, 2, 4, 5, 10, 12}
    answers = ["Supported" if point in supported else "Omitted" for point in range(1, 14)]
    assert share(answers, ["Supported"]) == 6 / 13
    assert share(answers, ["Contradicted"]) == 0 / 13
    assert math.isnan(share([], ["Supported"]))


# DeepResearch Bench README: overall / PAR / OPC / FAP / FAS
RACE = [
    (71.82, 73.00, 89.70, 65.35, 59.23),
    (70.58, 71.33, 90.14, 65.39, 55.45),
    (70.11, 71.00, 86.76, 66.70, 55.99),
]


@pytest.mark.parametrize("row", RACE)
def test_the_overall_column_of_race_is_the_mean_of_its_four(row):
    overall, *columns = row
    assert mean(columns) == pytest.approx(overall, abs=0.0051)


@pytest.mark.parametrize(("par", "equal"), [(73.00, 219), (71.33, 214), (71.00, 213)])
def test_pairwise_agreement_of_race_is_counted_in_three_hundredths(par, equal):
    verdicts = ["A"] * equal + ["B"] * (300 - equal)
    assert 100 * percent_agreement(verdicts, ["A"] * 300) == pytest.approx(par, abs=0.005)


def test_race_scores_of_equal_reports_give_one_half_whatever_is_missing():
    weights = [0.5, 0.3, 0.2]
    assert target_share(mean([6, 6, 6], weights), mean([6, 6, 6], weights)) == 0.5
    # a missing score takes its weight along, so that six against six stays one half; theirs gave .667
    assert target_share(mean([6, 6, None], weights), mean([6, None, 6], weights)) == pytest.approx(0.5)
    assert math.isnan(target_share(mean([None], [1]), 6))


def test_wiki_live_challenge_wins_of_one_article_and_the_judge_that_never_reads():
    winners = ["agent"] * 2 + ["reference"] * 37
    assert share(winners, ["agent"]) == pytest.approx(0.05128, abs=5e-6)
    assert percent_agreement(winners, ["reference"] * 39) == constant_judge_baseline(winners) == 37 / 39


@pytest.mark.parametrize(
    ("votes", "answer", "confidence"),
    [
        (["true"] * 6, "true", 6 / 6),
        (["true"] * 4 + ["false"] * 2, "true", 4 / 6),
        (["true"] * 3 + ["false"] * 3, "", 3 / 6),  # ReportBench counts this as wrong
        (["true", "", "true"], "true", 2 / 2),  # a reply that could not be read is no vote; theirs is FALSE
    ],
)
def test_votes_of_reportbench(votes, answer, confidence):
    assert majority(votes) == (answer, confidence)


def test_shrout_and_fleiss_table_4():
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    forms = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")
    assert [round(icc(ratings, form), 2) for form in forms] == [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]


if LABELS.is_dir():
    from calibration.arithmetic.columns import PAIRWISE
    from calibration.calibrate import calibrate
    from calibration.results import CalibrationReport, CalibrationSettings
    from calibration.table.checking import check_verdicts

    def votes(name: str) -> pd.DataFrame:
        frame = check_verdicts(pd.read_csv(LABELS / f"{name}.csv"))
        return frame.astype(dict.fromkeys(("item_id", "rater_id", "rater_kind", "criterion", "label"), "str"))

    def judge_with_people(frame: pd.DataFrame) -> pd.DataFrame:
        people = frame[frame["rater_kind"] == "human"]
        return people.merge(
            frame[frame["rater_id"] == "gpt4_pair"], on=["item_id", "criterion"], suffixes=("", "_judge")
        )

    def pairs_of_people(frame: pd.DataFrame) -> pd.DataFrame:
        people = frame[frame["rater_kind"] == "human"].groupby(["item_id", "criterion"])["label"]
        pairs = [pair for _, labels in people for pair in combinations(labels, 2)]
        return pd.DataFrame(pairs, columns=["label", "label_judge"])

    MT_BENCH_TABLE_5 = [
        ("turn1", judge_with_people, True, 886, 1343),
        ("turn1", judge_with_people, False, 727, 859),
        ("turn1", pairs_of_people, True, 454, 721),
        ("turn1", pairs_of_people, False, 388, 479),
        ("turn2", judge_with_people, True, 871, 1325),
        ("turn2", judge_with_people, False, 731, 864),
        ("turn2", pairs_of_people, True, 471, 707),
        ("turn2", pairs_of_people, False, 388, 474),
    ]

    @pytest.mark.parametrize(("turn", "compared", "ties", "equal", "n"), MT_BENCH_TABLE_5)
    def test_mt_bench_table_5(turn, compared, ties, equal, n):
        frame = votes("mtbench_votes")
        frame = frame[~frame["rater_id"].str.startswith("author") & (frame["criterion"] == turn)]
        rows = compared(frame if ties else frame[frame["label"] != "tie"])
        assert len(rows) == n
        assert percent_agreement(rows["label"], rows["label_judge"]) == pytest.approx(equal / n, abs=1e-12)

    def test_the_report_itself_holds_mt_bench_table_5():
        frame = votes("mtbench_votes")
        frame = frame[~frame["rater_id"].str.startswith("author")]
        report = calibrate(frame, CalibrationSettings(resamples=20, per_criterion=True))
        found = {(one.criterion, one.rater, one.reference, one.statistic): one for one in report.estimates}
        for turn, compared, ties, equal, n in MT_BENCH_TABLE_5:
            judged = compared is judge_with_people
            raters = ("gpt4_pair", "each_annotator") if judged else ("each_annotator", "others")
            one = found[turn, *raters, "percent_agreement" if ties else "percent_agreement_exclude_ties"]
            assert (one.value, one.n) == (pytest.approx(equal / n, abs=1e-12), n)
            assert one.low < one.value < one.high  # what the paper's table does not have

    def most_frequent(labels: pd.Series) -> str:
        top = labels.mode()
        return str(top.iloc[0]) if len(top) == 1 else "tie"

    def joined_with_the_mode(frame: pd.DataFrame, key: list[str]) -> pd.DataFrame:
        mode = frame[frame["rater_kind"] == "human"].groupby(key)["label"].agg(most_frequent)
        return frame[frame["rater_id"] == "gpt4_pair"].join(mode.rename("label_people"), on=key, how="inner")

    @pytest.mark.parametrize(
        ("key", "items", "agreement", "kappa", "agreement_without_ties", "kappa_without_ties"),
        [
            (["item_id"], 1814, 0.6719955899, 0.5046563669, 0.8840445269, 0.7670224869),
            (["item_id", "file_orientation"], 1232, 0.6842532468, 0.4100263320, 0.8705416116, 0.4614290070),
        ],
        ids=["joined on the item", "joined on the file's orientation, losing 582 items"],
    )
    def test_two_public_reanalyses_of_mt_bench(
        key, items, agreement, kappa, agreement_without_ties, kappa_without_ties
    ):
        frame = votes("mtbench_votes")
        if len(key) > 1:
            frame = as_in_the_file(frame)
        rows = joined_with_the_mode(frame, key)
        assert len(rows) == items
        assert percent_agreement(rows["label"], rows["label_people"]) == pytest.approx(agreement, abs=1e-9)
        assert cohen_kappa(rows["label"], rows["label_people"]) == pytest.approx(kappa, abs=1e-9)
        decided = rows[(rows["label"] != "tie") & (rows["label_people"] != "tie")]
        assert percent_agreement(decided["label"], decided["label_people"]) == pytest.approx(
            agreement_without_ties, abs=1e-9
        )
        assert cohen_kappa(decided["label"], decided["label_people"]) == pytest.approx(kappa_without_ties, abs=1e-9)

    def as_in_the_file(frame: pd.DataFrame) -> pd.DataFrame:
        swapped = frame["label"].map({"A": "B", "B": "A", "tie": "tie"})
        return frame.assign(label=frame["label"].where(frame["file_orientation"] == "AB", swapped))

    def test_the_join_loss_mistake_is_noticed_and_the_file_as_it_is_is_not_blamed():
        frame = votes("mtbench_votes")
        few = CalibrationSettings(resamples=20)
        mistaken = as_in_the_file(frame)
        mistaken["item_id"] += "|" + mistaken["file_orientation"]
        assert "join_loss" in codes(calibrate(mistaken, few))
        assert "join_loss" not in codes(calibrate(frame, few))

    def codes(report: CalibrationReport) -> set[str]:
        return {warning.code for warning in report.warnings}

    def test_what_the_mt_bench_file_holds():
        report = calibrate(pd.read_csv(LABELS / "mtbench_votes.csv"), CalibrationSettings(resamples=20))
        assert report.labels.aliases == {"tie_inconsistent": 380}
        assert (report.labels.clusters, len(report.labels.annotators)) == (80, 65)
        assert {"order_unknown", "nested_labels"} <= codes(report)

    PANDALM = [(1, 2, 0.8520226785), (1, 3, 0.8789438113), (2, 3, 0.8616614541)]

    @pytest.mark.parametrize(("one", "two", "kappa"), PANDALM)
    def test_pandalm_kappas_between_annotators(one, two, kappa):
        frame = votes("pandalm_testset").pivot(index="item_id", columns="rater_id", values="label")
        assert len(frame) == 999
        value = cohen_kappa(frame[f"annotator{one}"], frame[f"annotator{two}"], categories=PAIRWISE)
        assert value == pytest.approx(kappa, abs=1e-9)

    @pytest.mark.parametrize(("one", "two", "kappa"), PANDALM)
    def test_the_report_itself_holds_pandalms_kappas(one, two, kappa):
        report = calibrate(pd.read_csv(LABELS / "pandalm_testset.csv"), CalibrationSettings(resamples=20))
        (found,) = [
            e
            for e in report.estimates
            if (e.statistic, e.rater, e.reference) == ("cohen_kappa", f"annotator{one}", f"annotator{two}")
        ]
        assert (found.value, found.n) == (pytest.approx(kappa, abs=1e-9), 999)

    def test_pandalm_majorities_and_unparsed_answers():
        frame = votes("pandalm_testset")
        people = frame[frame["rater_kind"] == "human"].groupby("item_id")["label"]
        strict = people.agg(lambda labels: labels.mode().iloc[0] if labels.value_counts().iloc[0] > 1 else "none")
        assert strict.value_counts().to_dict() == {"B": 472, "A": 422, "tie": 105}
        assert (frame["status"] == "invalid").sum() == 25
        report = calibrate(pd.read_csv(LABELS / "pandalm_testset.csv"), CalibrationSettings(resamples=20))
        assert report.labels.aliases == {"unparsed": 25}
        assert "missing_answers" in codes(report)
        share = [one for one in report.estimates if one.statistic == "valid_share" and one.rater == "gpt-3.5-turbo"]
        assert share[0].value == 974 / 999
