"""Twelve mistakes of calibrating judges, each on the smallest table that commits it, and on one that does not.

Numbered as in the specification's table of warnings; codes that share a row share its number.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.inference.compare import exact_mcnemar
from calibration.results import CalibrationSettings, Estimate
from calibration.study.joining import scale_of, study_of
from calibration.warnings.comparison_cautions import reference_cautions
from exports.errors import ExportError
from exports.tables import refuse_bare
from tests.calibration.mistakes import asked_twice, table
from tests.calibration.ranked import drawn_study

FEW = CalibrationSettings(resamples=20)
ALTERNATING = "AB" * 30


def told(frame: pd.DataFrame, code: str, settings: CalibrationSettings = FEW) -> list[str]:
    """What the report says under this code."""
    return [one.text for one in calibrate(frame, settings).warnings if one.code == code]


# 1, several labels of one topic are not several topics
@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        (
            table({"ann": "AABB", "judge": "ABAB"}, per_cluster=2),
            "N = 4 comparisons in C = 2 clusters (N/C = 2.0, icc ",
        ),
        (  # fewer than two labels in a cluster, but as a cluster goes so do its labels
            table({"ann": "AAAAA", "judge": "AABBA"}, per_cluster=2),
            "N = 5 comparisons in C = 3 clusters (N/C = 1.7, icc 1.000, design effect 2.80) are worth 2 independent",
        ),
    ],
)
def test_1_nested_labels(mistake: pd.DataFrame, says: str) -> None:
    (text,) = told(mistake, "nested_labels")
    assert text.startswith(says)
    assert not told(table({"ann": "AABB", "judge": "ABAB"}), "nested_labels")


# 2, a number that travels alone
def test_2_bare_number() -> None:
    for one in calibrate(table({"ann": "AABB", "judge": "ABAB"}), FEW).estimates:
        refuse_bare(one, one.statistic)
        for bare in (replace(one, method=""), replace(one, low=math.nan, remarks=())):
            with pytest.raises(ExportError, match=f"of {one.rater} \\({one.statistic} = ") as refused:
                refuse_bare(bare, "x")
            assert refused.value.code == "bare_number"


# 3, knowing which criterion it is looks like knowing the answer
def test_3_pooled_criteria() -> None:
    def two(judge: str) -> pd.DataFrame:
        one, other = "AAAAAAAAAB", "BBBBBBBBBA"
        return pd.concat([
            table({"ann": one, "judge": judge}, criterion="c1"),
            table({"ann": other, "judge": judge.translate(str.maketrans("AB", "BA"))}, criterion="c2"),
        ])  # fmt: skip

    (text,) = told(two("A" * 10), "pooled_criteria")
    assert text.startswith("kappa is 0.80 over all criteria together and 0.00 within criteria")
    assert not told(two("AAAAAAAAAB"), "pooled_criteria")


# 4, a judge that has not shown that it reads
def test_4_baseline_not_beaten_and_skewed_reference() -> None:
    constant = table({"ann": "AAAAAAAAAB", "judge": "AAAAAAAAAA"})
    (text,) = told(constant, "baseline_not_beaten")
    assert text.startswith(
        "agreement 0.900 is not shown to be above 0.900, which the best constant answer (for every criterion and every "
    )
    assert "(one-sided p = 1 over all judges tried)" in text
    (text,) = told(constant, "skewed_reference")
    assert text.startswith("always giving the same answer agrees in 0.900")
    reading = table({"ann": "AAAAABBBBB", "judge": "AAAAABBBBB"})
    assert not told(reading, "baseline_not_beaten") + told(reading, "skewed_reference")
    at_89_percent = table({"ann": "AAAAAAAAB", "judge": "AAAAAAAAB"})
    assert not told(at_89_percent, "skewed_reference")


# 5, labels that are left out without a word
@pytest.mark.parametrize(
    ("judge", "ties", "says", "missing"),
    [
        (
            "--" + "A" * 18,
            "three_class",
            "90.0 % of the annotators' 20 rows",
            "no usable answer in 2 of 20 rows of judge",
        ),
        ("nn" + "A" * 18, "three_class", "90.0 % of the annotators' 20 rows", ""),
        ("tt" + "A" * 18, "exclude", "90.0 % of the annotators' 20 rows", ""),
        (".." + "A" * 18, "three_class", "90.0 % of the annotators' 20 rows", ""),
        ("-" + "A" * 19, "three_class", "", "no usable answer in 1 of 20 rows of judge (1 invalid)"),
        ("tt" + "A" * 18, "three_class", "", ""),
        ("A" * 20, "exclude", "", ""),
    ],
)
def test_5_labels_dropped_and_missing_answers(judge: str, ties: str, says: str, missing: str) -> None:
    frame, settings = table({"ann": "A" * 10 + "B" * 10, "judge": judge}), replace(FEW, ties=ties)
    for code, expected in (("labels_dropped", says), ("missing_answers", missing)):
        texts = told(frame, code, settings)
        assert bool(texts) == bool(expected)
        assert not expected or texts[0].startswith(expected)


# 6, a judge against a majority beside a person against a person
def estimate(rater: str, reference: str, value: float, statistic: str = "percent_agreement") -> Estimate:
    return Estimate(statistic, rater, reference, "all", "all", value, 0, 1, 0.95, 9, 9, "wilson_effective_n", "")


def test_6_unlike_references() -> None:
    people, judge = estimate("each_annotator", "others", 0.745), estimate("judge", "majority", 0.807)
    (one,) = reference_cautions([people, judge], ["judge"])
    assert (one.code, one.rater) == ("unlike_references", "judge")
    assert ": Agreement 0.807 with the majority of the annotators, people 0.745 with each other" in one.text
    assert not list(reference_cautions([judge], ["judge"]))
    assert not list(reference_cautions([people, estimate("judge", "each_annotator", 0.745)], ["judge"]))


def test_6_a_judge_against_others_has_its_ceiling_beside_it() -> None:
    judge, ceiling = estimate("judge", "others", 0.807), estimate("judge", "others", 0.81, "human_ceiling")
    (one,) = reference_cautions([judge], ["judge"])
    assert "0.807 with the other annotators" in one.text
    assert not list(reference_cautions([judge, ceiling], ["judge"]))
    frame = table({"ann1": "AABBA", "ann2": "AABAA", "ann3": "ABBBA", "judge": "AABBB"})
    for references in ("others_each", "others_majority"):
        assert not told(frame, "unlike_references", replace(FEW, references=references))


# 7, the interval of the one that was picked
def test_7_selected_judge() -> None:
    people = {"ann1": "AABBA", "ann2": "AABAA"}
    (text,) = told(table({**people, "judge1": "AABBA", "judge2": "BBABB"}), "selected_judge")
    assert text.startswith("judge1 is one of 2 judges, prompts or settings that were tried")
    assert not told(table({**people, "judge1": "AABBA"}), "selected_judge")


# 8, no difference seen is not a difference seen to be none
def test_8_not_shown_equal() -> None:
    few = table({"ann1": "ABABABABAB", "ann2": "ABABABABAB", "judge": "ABABABABAA"})
    (text,) = told(few, "not_shown_equal")
    assert text.startswith(
        "the left-out annotator minus judge is 10.0 points, interval -12.6 points to 100.0 points in 10 topics"
    )
    assert not any(word in text.split() for word in ("equal", "same", "par"))
    shown = table({"ann1": ALTERNATING, "ann2": ALTERNATING, "judge": ALTERNATING})
    assert not told(shown, "not_shown_equal")  # non-inferior
    worse = table({"ann1": ALTERNATING, "ann2": ALTERNATING, "judge": "BA" * 29 + "AB"})
    assert not told(worse, "not_shown_equal")  # inferior


# 9, judges compared on labels of their own
def test_9_unpaired_judges() -> None:
    def pair(other: str) -> pd.DataFrame:
        return table({"ann": "AB" * 10, "judge1": "AB" * 10, "judge2": other})

    (text,) = told(pair("AA" * 9 + ".."), "unpaired_judges")
    assert text.startswith("judge1 and judge2 share 90.0 % of the labels that either has: only the 18 shared ones")
    assert not told(pair("A" * 19 + "."), "unpaired_judges")  # 95 %


def test_9_mcnemar_is_refused_where_a_cluster_has_two_labels() -> None:
    right, wrong = np.array([1, 1, 1, 0]), np.array([0, 0, 1, 1])
    assert exact_mcnemar(right, wrong, [1, 1, 2, 2]).note == "nested_labels"
    assert exact_mcnemar(right, wrong, [1, 2, 3, 4]).p == 1.0


# 10, scales, tables and means that are not what they seem
def test_10_undeclared_scale() -> None:
    frame = table({"ann": "12341", "judge": "12441"})
    (text,) = told(frame, "undeclared_scale")
    assert text.startswith("c holds 4 different scores and declares no scale")
    assert 'scales = {"c" = [1, 2, 3, …]} in calibration.toml' in text
    declared = CalibrationSettings(**{**vars(FEW), "scales": {"c": [1, 2, 3, 4, 5]}})  # as TOML has them
    assert not told(frame, "undeclared_scale", declared)
    slipped = table({"ann": "1234123412", "judge": "1244123412"})
    assert not told(slipped, "far_score")
    slipped.loc[slipped["rater_id"].eq("ann") & slipped["item_id"].eq(slipped["item_id"].iloc[3]), "label"] = "55"
    (text,) = told(slipped, "far_score")
    assert text.startswith(f"ann gave {slipped['item_id'].iloc[3]} a score of 55 for c, where other scores lie from 1 ")
    assert "to 4: it is 94 % of the variance of all 20 scores, so" in text
    assert not told(table({"ann": "4545454545", "judge": "4545454541"}), "far_score", declared), "on its scale"
    people = [*"12345" * 44, "10", "10"]
    for slips in (people, [*people[:-2], "6", "44"]):
        many = study_of(table({"ann": slips, "judge": ["3"] * len(slips)}), FEW)
        assert scale_of(many, ("c",), FEW).ends == (1, 5), "slips set no range"
    placed = {"cohen_kappa_quadratic", "krippendorff_alpha_ordinal"}
    assert not placed & {one.statistic for one in calibrate(frame, FEW).estimates}
    assert placed <= {one.statistic for one in calibrate(frame, declared).estimates}
    assert "cohen_kappa_quadratic" in {one.statistic for one in calibrate(frame, declared).estimates}


def test_10_maybe_transposed() -> None:
    (text,) = told(table({"ann1": "AB", "ann2": "AB", "ann3": "AB"}), "maybe_transposed")
    assert text.startswith("3 annotators and 2 labels to give")
    assert not told(table({"ann1": "ABA", "ann2": "ABA", "ann3": "ABA"}), "maybe_transposed")


def test_10_thin_rater_pairs() -> None:
    (text,) = told(table({"ann1": "AB" * 5, "ann2": "AB" * 5, "ann3": "A" * 9}), "thin_rater_pairs")
    assert text.startswith("2 of 3 pairs of annotators share fewer than 10 labels (ann1 and ann3 9)")
    assert not told(table({"ann1": "AB" * 5, "ann2": "AB" * 5, "ann3": "A" * 10}), "thin_rater_pairs")


def test_10_few_systems() -> None:
    (text,) = told(drawn_study(topics=6), "few_systems")
    assert text.startswith("Kendall's τ-b of the systems by the annotators and by judge-x is ")
    assert "over 3 systems" in text
    assert "(one of 2 such), fewer than 10" in text
    assert not told(drawn_study(topics=2, systems="abcdefghij"), "few_systems")


# 11, the order of presentation
def test_11_order_unknown() -> None:
    raters = {"ann": "AABB", "judge": "ABAB"}
    frame = table(raters)
    frame.loc[frame["rater_id"] == "judge", "presentation"] = ""
    (text,) = told(frame, "order_unknown")
    assert text.startswith("presentation is empty in 4 of 8 pairwise rows (judge 4)")
    assert not told(table(raters), "order_unknown")


def test_11_unbalanced_order() -> None:
    labels = {"ann": "AABBB" * 4, "judge": "ABABB" * 4}
    (first, second) = told(table(labels, shown="AB"), "unbalanced_order")
    assert first.startswith("ann saw A first in 100 % of 20 items")
    assert second.startswith("judge saw A first in 100 % of 20 items")
    assert not told(table(labels), "unbalanced_order")
    assert not told(table({name: own[:19] for name, own in labels.items()}, shown="AB"), "unbalanced_order")


def test_11_position_bias() -> None:
    (text,) = told(table({"ann": "AABBAA", "judge": "ABABAB"}), "position_bias")  # shown AB, BA, AB, ...
    assert text.startswith(
        "judge prefers the report shown first in 100.0 % of 6 decisive rows (cluster t-test, p = 0.031"
    )
    assert not told(table({"ann": "AABBAA", "judge": "AABBAB"}), "position_bias")
    assert told(table({"ann": "ABABAB", "judge": "AABBAA"}), "position_bias")[0].startswith("each_annotator prefers")


def test_11_order_inconsistent() -> None:
    once = table({"ann": "AABBA", "judge": "ABABA"})
    (text,) = told(asked_twice(once, "judge", "BAABA"), "order_inconsistent")
    assert text.startswith("judge keeps its verdict in 60.0 % of 5 labels made in both orders")
    assert not told(asked_twice(once, "judge", "ABABB"), "order_inconsistent")  # 80 %


# 12, undefined is not zero, and few people are not a panel
def test_12_undefined_shown_as_dash() -> None:
    texts = told(table({"ann": "A" * 8, "judge": "A" * 8}), "undefined_shown_as_dash")
    (text,) = [text for text in texts if text.startswith("undefined for judge, shown as a dash or left out: ")]
    assert "cohen_kappa (one_category)" in text
    varied = table({"ann": "AABBtABtAB" * 6, "judge": "ABBBtABtAA" * 6})
    assert not [text for text in told(varied, "undefined_shown_as_dash") if "cohen_kappa" in text]


def test_12_an_interval_without_enough_defined_resamples_is_no_interval() -> None:
    rare = table({"ann": "A" * 9 + "B", "judge": "A" * 9 + "B"})  # e^-1 of the resamples never draw the last item
    text = " ".join(told(rare, "undefined_shown_as_dash", replace(FEW, resamples=999)))
    assert "interval of cohen_kappa (3" in text
    assert "% undefined)" in text


def test_12_one_annotator_and_two_annotators() -> None:
    one, two, three = (
        calibrate(table({f"ann{n}": "AABB" for n in range(count)} | {"judge": "ABAB"}), FEW) for count in (1, 2, 3)
    )
    codes = [{warning.code for warning in report.warnings} for report in (one, two, three)]
    assert ["one_annotator" in found for found in codes] == [True, False, False]
    assert ["two_annotators" in found for found in codes] == [False, True, False]


def test_12_duplicate_raters() -> None:
    labels = "AABBtABBAA" * 3
    (text,) = told(table({"ann1": labels, "ann2": labels}), "duplicate_raters")
    assert text.startswith("ann1 and ann2 gave identical labels on all 30 they share")
    assert not told(table({"ann1": labels, "ann2": labels[:-1] + "B"}), "duplicate_raters")
    assert not told(table({"ann1": labels[:29], "ann2": labels[:29]}), "duplicate_raters")


def test_12_no_grade_of_agreement_is_ever_a_word() -> None:
    report = calibrate(table({"ann1": "AABB", "ann2": "ABBB", "judge": "ABAB"}), FEW)
    said = " ".join([one.text for one in report.warnings] + [one.note for one in report.estimates]).lower().split()
    assert not {"substantial", "moderate", "fair", "slight", "excellent", "poor"} & {*said}
