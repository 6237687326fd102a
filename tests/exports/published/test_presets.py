"""The published studies' own judge tables: whole texts, numbers by hand and by other libraries, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from annotation.importing.layouts import LAYOUTS, RESULT_LAYOUTS
from calibration.calibrate import calibrate
from calibration.remarks import brief
from calibration.results import CalibrationReport, CalibrationSettings, Estimate
from exports.as_json import as_json
from exports.as_latex import as_latex
from exports.cells import Cell, shown
from exports.errors import ExportError
from exports.forms import as_csv, as_markdown
from exports.presets import PRESETS, preset_table
from exports.tables import Table
from tests.calibration.studies import made_gym, made_pairs, made_ratings, made_topics
from tests.exports.toy_studies import dr3_study, gym_study, race_study, wlc_study

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
FORMS = [("md", as_markdown), ("csv", as_csv), ("json", as_json)]
FEW = CalibrationSettings(resamples=99)
STUDIES = {"wlc": wlc_study, "deepresearchgym": gym_study, "dr3_eval": dr3_study, "race": race_study}


@cache
def report_of(name: str) -> CalibrationReport:
    return calibrate(STUDIES[name](), FEW)


def of_study(name: str) -> Table:
    return preset_table(name, STUDIES[name](), report_of(name))


def rounded(table: Table) -> Table:
    """To nine decimals: the last bits of a correlation are the processor's."""

    def cell(one: Cell) -> Cell:
        if not isinstance(one, Estimate):
            return one
        return replace(one, value=round(one.value, 9), low=round(one.low, 9), high=round(one.high, 9))

    return replace(table, rows=tuple(tuple(map(cell, row)) for row in table.rows))


def preset(name: str, frame: pd.DataFrame, settings: CalibrationSettings = FEW) -> Table:
    return preset_table(name, frame, calibrate(frame, settings))


def cells(table: Table) -> list[dict[str, Cell]]:
    return [dict(zip([one.key for one in table.columns], row, strict=True)) for row in table.rows]


def estimate(cell: Cell) -> Estimate:
    assert isinstance(cell, Estimate)
    return cell


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize(("suffix", "write"), FORMS)
def test_the_tables_are_the_ones_a_person_has_read(name, suffix, write):
    table = rounded(of_study(name))
    assert table.name == f"preset_{name}"
    assert write(table) == (GOLDEN / f"{table.name}.{suffix}").read_text(encoding="utf-8")


def test_a_preset_is_called_as_the_layout_of_its_study():
    assert {*PRESETS} <= {*LAYOUTS, *RESULT_LAYOUTS}
    assert PRESETS["race"] is PRESETS["deepresearch_bench"]


def test_wlc_prints_the_share_of_equal_labels_in_percent_and_what_it_costs():
    local, priced, people = cells(of_study("wlc"))
    assert [round(estimate(row["par"]).value, 9) for row in (local, priced, people)] == [
        round(100 * part, 9) for part in (20 / 24, 20 / 22, 10 / 12)
    ]
    assert estimate(priced["par_missing_as_wrong"]).value == pytest.approx(100 * 20 / 24)
    assert estimate(priced["cost"]).value == pytest.approx(0.04)  # two criteria at .02
    assert estimate(priced["valid_share"]).value == pytest.approx(11 / 12)
    assert estimate(local["baseline"]).value == pytest.approx(100 * 20 / 24)  # it is that constant answer
    assert (priced["n"], priced["clusters"], people["n"]) == (22, 6, 12)


def test_a_judge_without_a_price_has_a_blank_cost_and_one_of_unknown_rows_a_dash():
    assert cells(of_study("wlc"))[0]["cost"] is None
    frame = wlc_study()
    frame.loc[frame.index[frame["rater_id"] == "priced"][:3], "cost_usd"] = math.nan
    table = preset("wlc", frame)
    assert shown(cells(table)[1]["cost"]) == ("–", "")
    assert any("unknown is not 0" in note for note in table.notes)
    assert any("it is not 0" in note for note in table.notes)
    free = wlc_study().assign(cost_usd=0.0)
    assert [shown(row["cost"])[0] for row in cells(preset("wlc", free))[:2]] == [".00", ".00"]


def test_wlc_keeps_its_own_rule_for_ties_whatever_the_report_says():
    frame = made_pairs(24, 2, 2)
    tables = [preset("wlc", frame, CalibrationSettings(resamples=99, ties=ties)) for ties in ("three_class", "exclude")]
    first, second = ([row["par"] for row in cells(table)] for table in tables)
    assert first == second
    wide = frame.pivot(index=["item_id", "criterion"], columns="rater_id", values="label")
    people = 100 * np.mean(wide["ann1"] == wide["ann2"])
    assert estimate(first[-1]).value == pytest.approx(people)
    given = [["baseline" in row for row in cells(table)] for table in tables]
    assert [any(one) for one in given] == [True, False], "a constant answer under another rule is no peer of PAR"


def test_dropped_not_applicable_answers_are_told_under_wlc():
    frame = made_pairs(24, 2, 2)
    frame.loc[frame.index[:6], "label"] = "not_applicable"
    assert any("not applicable" in note for note in preset("wlc", frame).notes)
    assert not any("not applicable" in note for note in of_study("wlc").notes)


def test_deepresearchgym_has_a_row_for_each_score_and_one_for_the_annotators():
    frame = made_gym()
    rows = cells(preset("deepresearchgym", frame))
    assert [(row["score"], row["judge"]) for row in rows] == [
        ("clarity", "large"),
        ("clarity", "mini"),
        ("recall", "large"),
        ("recall", "mini"),
        ("overall", "annotators among themselves"),
    ]
    wide = frame[frame["rater_kind"] == "human"].pivot(index="item_id", columns="rater_id", values="label")
    pairs = [("ann1", "ann2"), ("ann1", "ann3"), ("ann2", "ann3")]
    expected = np.mean([cohen_kappa_score(wide[one], wide[two]) for one, two in pairs])
    assert estimate(rows[-1]["cohen_kappa"]).value == pytest.approx(expected)
    assert all(row["kept"] == f"{row['n']} of 90" for row in rows[:-1])


def test_dr3_eval_prints_its_table_14_and_no_agreement_of_one_person():
    judge, people = cells(of_study("dr3_eval"))
    assert estimate(judge["pearson"]).value == pytest.approx(0.99878, abs=5e-6)
    assert estimate(judge["spearman"]).value == pytest.approx(1)
    assert estimate(judge["rank_agreement_across_items"]).value == 1
    assert people["rater"] == "inter-human, two by two"
    assert [shown(people[key])[0] for key in ("pearson", "spearman", "rank_agreement_across_items")] == ["–"] * 3


def test_dr3_eval_shows_both_constructions_of_its_row_of_people_where_there_are_three():
    frame = made_ratings()
    table = preset("dr3_eval", frame)
    judge, pairs, mean = cells(table)
    totals = frame.pivot(index="item_id", columns="rater_id", values="label")
    people = totals[["ann1", "ann2", "ann3"]]
    known = pd.concat([totals["judge-x"], people.mean(axis=1)], axis=1, keys=["a", "b"]).dropna()
    assert estimate(judge["pearson"]).value == pytest.approx(stats.pearsonr(known["a"], known["b"]).statistic)
    one = [people[[left, right]].dropna() for left, right in (("ann1", "ann2"), ("ann1", "ann3"), ("ann2", "ann3"))]
    assert estimate(pairs["pearson"]).value == pytest.approx(
        np.mean([stats.pearsonr(*rows.T.to_numpy())[0] for rows in one])
    )
    assert mean["rater"] == "inter-human, each with the mean of the others"
    assert any("does not say how its inter-human row was made" in note for note in table.notes)


def test_cost_and_spread_over_runs_stand_there_only_where_they_are_known():
    frame = made_ratings()
    keys = [one.key for one in preset("dr3_eval", frame).columns]
    assert not {"cost", "sd_over_runs"} & {*keys}
    again = frame[frame["rater_kind"] == "judge"].assign(run=2, label=5)
    twice = pd.concat([frame.assign(run=1), again], ignore_index=True).assign(cost_usd=0.1)
    judge = cells(preset("dr3_eval", twice))[0]
    first = frame[frame["rater_kind"] == "judge"]["label"]
    assert estimate(judge["sd_over_runs"]).value == pytest.approx(np.mean(np.abs(first - 5)) / math.sqrt(2))
    assert estimate(judge["cost"]).value == pytest.approx(0.2), "both runs, of which the total is the mean"


def test_race_prints_four_columns_and_their_mean_in_percent():
    judge, people = cells(of_study("race"))
    four = [estimate(judge[key]).value for key in ("par", "opc", "fap", "fas")]
    assert four == pytest.approx([100 * 5 / 9, 100 * math.sqrt(3) / 2, 75, 75])
    assert estimate(judge["overall"]).value == pytest.approx(sum(four) / 4)
    assert estimate(people["par"]).value == pytest.approx(100 * 6 / 9)  # 3 of 3, 3 of 3, 0 of 3
    assert (judge["n"], judge["topics_kept"], people["overall"]) == (9, 2, None)


def test_the_overall_of_a_row_is_the_mean_of_its_four_as_in_the_published_table():
    assert np.mean([73.00, 89.70, 65.35, 59.23]) == pytest.approx(71.82, abs=0.0051)
    judge = cells(preset("race", made_topics()))[0]
    four = [estimate(judge[key]).value for key in ("par", "opc", "fap", "fas")]
    assert estimate(judge["overall"]).value == pytest.approx(np.mean(four))
    assert estimate(judge["overall"]).low < estimate(judge["overall"]).value < estimate(judge["overall"]).high


def test_race_says_which_topics_it_left_out_by_which_rule_and_how_few_systems_there_are():
    notes = " ".join(of_study("race").notes)
    assert "leave out 1 of 3 topics" in notes
    assert "ICC(1,1) of the annotators' totals below 0" in notes
    assert "not confirmed" in notes
    assert "3 systems, fewer than 10" in notes


@pytest.mark.parametrize("name", STUDIES)
def test_every_preset_says_its_ties_its_data_and_that_published_values_are_others(name):
    notes, report = " ".join(of_study(name).notes), report_of(name)
    for words in ("agreement", "tie", "not comparable", "clusters", report.labels.verdicts_sha256[:12]):
        assert words in notes.lower()


@pytest.mark.parametrize(
    ("name", "frame", "words"),
    [
        ("wlc", race_study(), "criterion 'overall' has labels of kind rating"),
        ("dr3_eval", wlc_study(), "criterion 'c0' has labels of kind pairwise"),
        ("race", gym_study(), "criterion 'overall' has labels of kind pairwise"),
        ("deepresearchgym", race_study(), "people answer 0 criteria on pairs (none)"),
        ("deepresearchgym", wlc_study(), "people answer 2 criteria on pairs (c0, c1)"),
    ],
)
def test_labels_of_another_kind_are_refused_with_what_to_do(name, frame, words):
    with pytest.raises(ExportError) as refused:
        preset(name, frame)
    assert refused.value.code == "wrong_task"
    assert words in refused.value.text
    assert "give the rows" in refused.value.text


def test_scores_on_other_topics_than_people_compared_are_refused():
    frame = gym_study()
    judged = frame["rater_kind"] == "judge"
    frame.loc[judged, "cluster_id"] = "u" + frame.loc[judged, "cluster_id"]
    with pytest.raises(ExportError, match="no judge scored both reports of a pair") as refused:
        preset("deepresearchgym", frame)
    assert refused.value.code == "wrong_task"


def test_scales_that_cannot_be_pooled_are_refused():
    frame = pd.concat([made_ratings().assign(criterion=name) for name in ("depth", "facts")])
    scales = {"depth": tuple(map(str, range(1, 11))), "facts": tuple(map(str, range(11)))}
    with pytest.raises(ExportError, match="share no scale") as refused:
        preset("dr3_eval", frame, CalibrationSettings(resamples=9, scales=scales))
    assert refused.value.code == "wrong_task"


def test_an_unknown_name_and_other_verdicts_are_refused():
    frame = wlc_study()
    report = calibrate(frame, FEW)
    with pytest.raises(ExportError, match="use one of wlc, deepresearchgym, dr3_eval, deepresearch_bench, race") as one:
        preset_table("reportbench", frame, report)
    with pytest.raises(ExportError, match="the very verdicts that were calibrated") as other:
        preset_table("wlc", frame.iloc[1:], report)
    assert (one.value.code, other.value.code) == ("unknown_preset", "other_verdicts")


ODD = [
    ("wlc", wlc_study()[lambda rows: rows["rater_id"] != "ann2"]),
    ("wlc", made_pairs(24, 1, 2, both_orders=True)),
    ("wlc", made_pairs(3, 2, 1)),
    ("wlc", made_pairs(6, 2, 2)[lambda rows: rows["rater_kind"] == "human"]),
    ("deepresearchgym", made_gym(8)[lambda rows: ~rows["rater_id"].isin(["ann2", "ann3"])]),
    ("deepresearchgym", made_gym(4)),
    ("deepresearchgym", made_pairs(24, 1, 3, both_orders=True)),
    ("dr3_eval", made_ratings(annotators=1)),
    ("dr3_eval", made_ratings(4)),
    ("dr3_eval", made_ratings(12, annotators=2)[lambda rows: rows["rater_kind"] == "human"]),
    ("race", made_ratings(annotators=1)),
    ("race", made_topics(2)),
    ("race", race_study().assign(cluster_id=lambda rows: rows["item_id"])),
]


@pytest.mark.parametrize(("name", "frame"), ODD)
def test_any_study_can_be_written_every_dash_has_its_reason_and_nothing_is_changed(name, frame):
    before, report = frame.copy(deep=True), calibrate(frame, FEW)
    table = preset_table(name, frame, report)
    pd.testing.assert_frame_equal(frame, before)
    assert as_csv(table)
    assert as_markdown(table)
    assert as_latex(table)
    json.loads(as_json(table))
    for cell in (cell for row in table.rows for cell in row):
        assert not (isinstance(cell, float) and math.isnan(cell))
        if isinstance(cell, Estimate) and math.isnan(cell.low):
            assert cell.note
            is_baseline = cell.statistic.startswith("constant_judge_baseline")
            assert is_baseline or any(brief(cell.lack) in note for note in table.notes)


def test_the_same_verdicts_in_any_order_of_rows_give_the_same_table():
    for name, make in STUDIES.items():
        assert as_json(preset(name, make().sample(frac=1, random_state=3))) == as_json(of_study(name))
