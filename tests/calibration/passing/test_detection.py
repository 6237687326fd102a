"""What passes is named or recognised, never guessed; rates of judges are clustered, and undefined ones say why."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from benchmarks.pass_fail import DESIGNS, promises
from calibration.calibrate import calibrate
from calibration.errors import CalibrationError
from calibration.inference.bootstrap import wilson_effective
from calibration.settings import CalibrationSettings
from tests.calibration.passing.passed import by_name, made_answers

FEW = CalibrationSettings(resamples=199)
RATE_NAMES = {"true_positive_rate", "true_negative_rate", "precision", "f1_score", "youden_j"}


def told(report):
    return {one.statistic for one in report.estimates if one.category == "all"} & RATE_NAMES


def test_every_label_has_its_own_precision_and_recall_and_people_one_number_for_both():
    """Counted by hand: of six topics with two statements each, judge and one person."""
    judge = ["yes", "no", "unread", "yes", "no", "yes", "yes", "no", "unread", "yes", "no", "no"]
    person = ["yes", "no", "no", "no", "no", "yes", "yes", "unread", "unread", "yes", "yes", "no"]
    rows = [
        (f"i{at}", rater, kind, "q", label, f"t{at // 2}")
        for rater, kind, labels in (("j", "judge", judge), ("p", "human", person), ("o", "human", person[:2]))
        for at, label in enumerate(labels)
    ]
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id"])
    report = calibrate(frame, FEW)
    (once,) = {by_name(report, "precision", category="label: unread").value}
    assert once == 1 / 2
    assert by_name(report, "true_positive_rate", category="label: unread").value == 1 / 2
    # the person "o" says again what "p" says of the first two statements
    assert by_name(report, "precision", category="label: yes").value == 5 / 6
    assert by_name(report, "true_positive_rate", category="label: yes").value == 5 / 6
    assert by_name(report, "precision", category="label: no").value == 4 / 6
    assert by_name(report, "true_positive_rate", category="label: no").value == 4 / 6
    pooled = by_name(report, "precision", "each_annotator", category="label: no")
    assert (pooled.value, pooled.n) == (1, 1)
    wide = by_name(report, "precision", category="label: yes")
    assert (wide.low, wide.high) == wilson_effective(
        np.array([2.0, 0, 1, 1, 1, 0]), np.array([2.0, 1, 1, 1, 1, 0]), 0.95
    )
    assert (wide.n, wide.clusters) == (6, 5)


@pytest.mark.parametrize(
    ("words", "positive", "chosen"),
    [
        (("pass", "fail"), "pass", "recognised"), (("Yes", "No"), "Yes", "recognised"), (("1", "0"), "1", "recognised"),
        (("supported", "not_supported"), "supported", "recognised"), (("grounded", "FAIL"), "grounded", "recognised"),
        (("red", "blue"), "", ""), (("good", "correct"), "", ""),
    ],
)  # fmt: skip
def test_of_two_answers_the_one_that_says_so_passes_and_else_it_is_asked_for(words, positive, chosen):
    report = calibrate(made_answers(words=words), FEW)
    assert {(one.chosen) for one in report.pass_fail} == {chosen}
    asked = [one.text for one in report.warnings if one.code == "positive_unknown"]
    if positive:
        assert told(report) == RATE_NAMES
        assert f"positive is {positive} (by its own word)" in by_name(report, "true_positive_rate").note
        assert not asked
    else:
        assert told(report) == {"youden_j"}  # which needs no name
        assert len(asked) == 1
        assert "positive = " in asked[0]


@pytest.mark.parametrize("words", [("3", "4"), ("A", "B")])
def test_two_grades_of_a_scale_and_verdicts_on_pairs_are_no_matter_of_passing(words):
    frame = made_answers(words=words)
    if words == ("A", "B"):
        frame = frame.assign(system_a="one", system_b="other")
    report = calibrate(frame, FEW)
    assert not told(report)
    assert not report.pass_fail
    assert not [one for one in report.warnings if one.code == "positive_unknown"]


def test_a_named_answer_passes_and_every_other_does_not():
    frame = made_answers(words=("red", "blue"))
    report = calibrate(frame, CalibrationSettings(resamples=199, positive="blue"))
    assert "positive is blue (as the settings name it), negative red" in by_name(report, "precision").note
    three = frame.assign(label=frame["label"].where(np.arange(len(frame)) % 5 > 0, "green"))
    found = calibrate(three, CalibrationSettings(resamples=199, positive="blue"))
    assert {one.negative for one in found.pass_fail} == {"not blue"}
    plain = calibrate(three.replace({"label": {"red": "rest", "green": "rest"}}), CalibrationSettings(resamples=199, positive="blue"))  # fmt: skip
    for name in RATE_NAMES:
        one, other = by_name(found, name), by_name(plain, name)
        assert (one.value, one.low, one.high) == (other.value, other.low, other.high)
    with pytest.raises(CalibrationError, match=r"settings\.positive is 'violet', which is no answer of this table"):
        calibrate(frame, CalibrationSettings(positive="violet"))
    later = CalibrationSettings(resamples=99, positive="violet", answer_values={"violet": 1.0, "red": 0.0})
    assert not told(calibrate(frame, later))  # a study's answer that nobody has given yet


def test_rates_are_those_of_the_counts_with_intervals_of_whole_clusters():
    frame = made_answers(people=2)
    report = calibrate(frame, FEW)
    own = frame[frame["rater_id"] == "j"].set_index("item_id")["label"]
    people = frame[frame["rater_kind"] == "human"].assign(judge=lambda rows: rows["item_id"].map(own))
    passing = (
        people[people["label"] == "pass"].groupby("cluster_id")["judge"].agg(["size", lambda x: (x == "pass").sum()])
    )
    found = by_name(report, "true_positive_rate")
    size, hits = passing.to_numpy().T
    assert found.value == pytest.approx(hits.sum() / size.sum())
    assert (found.n, found.clusters) == (size.sum(), len(size))
    assert (found.low, found.high) == pytest.approx(wilson_effective(hits, size))
    (counts,) = [one for one in report.pass_fail if one.rater == "j"]
    assert counts.both + counts.reference_only == size.sum()
    assert sum(getattr(counts, name) for name in ("both", "rater_only", "reference_only", "neither")) == len(people)
    among = [by_name(report, name, "each_annotator", "others") for name in ("true_positive_rate", "precision")]
    assert among[0].value == among[1].value  # nobody is the truth


def test_an_unusable_answer_is_never_a_category_and_a_criterion_has_its_own_rates():
    frame = made_answers()
    spoilt = frame.assign(status="ok")
    lost = (spoilt["rater_id"] == "j") & (np.arange(len(frame)) % 7 == 0)
    spoilt.loc[lost, ["label", "status"]] = ["", "invalid"]
    whole, left = calibrate(spoilt, FEW), calibrate(frame[~lost.to_numpy()], FEW)
    for name in RATE_NAMES:
        assert by_name(whole, name).value == by_name(left, name).value


def test_criteria_with_other_words_each_have_rates_of_their_own():
    frame = made_answers()
    other = frame.assign(criterion="r", label=frame["label"].map({"pass": "yes", "fail": "no"}))
    both = calibrate(pd.concat([frame, other]), CalibrationSettings(resamples=199, per_criterion=True))
    assert {(one.criterion, one.positive) for one in both.pass_fail} == {("q", "pass"), ("r", "yes")}
    corrected = [one for one in both.estimates if one.statistic == "rogan_gladen_pass_rate" and one.category == "all"]
    rates = {one.criterion: one.value for one in corrected}
    assert rates["q"] == rates["r"] == by_name(calibrate(frame, FEW), "rogan_gladen_pass_rate").value


@pytest.mark.parametrize(
    ("judge", "people", "nans"),
    [
        ("as it is", "fail", {"true_positive_rate": "no_positives", "youden_j": "no_positives"}),
        ("as it is", "pass", {"true_negative_rate": "no_negatives", "youden_j": "no_negatives"}),
        ("fail", "as it is", {"precision": "never_positive"}),
    ],
)
def test_a_rate_of_nothing_is_nan_and_says_why(judge, people, nans):
    frame = made_answers()
    for kind, said in (("judge", judge), ("human", people)):
        if said != "as it is":
            frame.loc[frame["rater_kind"] == kind, "label"] = said
    report = calibrate(frame, FEW)
    for name in RATE_NAMES:
        found = by_name(report, name, reference="each_annotator")
        assert math.isnan(found.value) == (name in nans), name
        assert nans.get(name, "") in found.note
        assert math.isnan(found.value) or not found.value < 0


@pytest.mark.parametrize("kind", ["human", "judge"])
def test_with_one_kind_of_rater_alone_there_is_no_rate_of_a_judge(kind):
    frame = made_answers(people=2)
    other = frame[frame["rater_kind"] == "judge"].assign(rater_id="k")
    alone = pd.concat([frame, other])
    report = calibrate(alone[alone["rater_kind"] == kind], FEW)
    assert not [one for one in report.estimates if one.statistic in RATE_NAMES and one.reference == "each_annotator"]
    assert any(one.statistic == "pass_rate" for one in report.estimates)


def test_intervals_cover_where_wilsons_for_independent_labels_does_not():
    found = {
        one.name.split(",")[0] + ("*" if "iid" in one.name else ""): one for one in promises(DESIGNS[:1], 300, 299)
    }
    for name in ("true positive rate", "true negative rate", "Youden's J", "F1", "Rogan-Gladen"):
        assert 90 <= found[name].value <= 98.5, name
    assert max(found["true positive rate*"].value, found["true negative rate*"].value) < 85
