"""Who needs a second look, and why: planted annotators are found, and careful ones are left alone."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from calibration.errors import CalibrationError
from calibration.people.annotator_quality import AnnotatorQuality, annotator_quality, people_of, signals_of
from calibration.people.annotator_signals import Asked, Scores, adjusted, halves_signal, paired_signal
from calibration.results import CalibrationSettings
from calibration.study.bounding import median_estimate
from tests.calibration.planted import ALWAYS_LEFT, RANDOM_AND_FAST, Person, careful, planted_study
from tests.calibration.studies import made_ratings

QUICK = CalibrationSettings(resamples=99)
GOOD = (Person(0.80), Person(0.82), Person(0.85))
PLANTED = (*GOOD, ALWAYS_LEFT, RANDOM_AND_FAST)
Tables = tuple[pd.DataFrame, pd.DataFrame]


def flags_of(verdicts: pd.DataFrame, work: pd.DataFrame) -> dict[str, set[str]]:
    """Annotator -> names of their flags, of those who have any."""
    found = annotator_quality(verdicts, work, QUICK)
    return {one.rater: {flag.name for flag in one.flags} for one in found if one.flags}


def one_of(tables: Tables, rater: str) -> AnnotatorQuality:
    return next(one for one in annotator_quality(*tables, QUICK) if one.rater == rater)


@pytest.fixture(scope="module")
def planted() -> Tables:
    return planted_study(PLANTED, 1)


@pytest.fixture(scope="module")
def looked_at(planted: Tables) -> tuple[AnnotatorQuality, ...]:
    return annotator_quality(*planted, QUICK)


def test_always_left_and_random_and_fast_are_flagged_for_these_two_things_and_nobody_else_is(
    looked_at: tuple[AnnotatorQuality, ...],
) -> None:
    found = {one.rater: {flag.name for flag in one.flags} for one in looked_at if one.flags}
    assert set(found) == {"ann4", "ann5"}
    assert {"side", "same_answer"} <= found["ann4"] <= {"side", "same_answer", "agreement"}
    assert found["ann5"] == {"speed", "agreement"}


def test_two_careful_ones_in_their_place_are_left_alone() -> None:
    assert flags_of(*planted_study((*GOOD, Person(0.80), Person(0.84)), 1)) == {}


@pytest.mark.parametrize(("shift", "flagged"), [(0.0, set()), (-2.0, {"ann3"}), (2.0, {"ann3"})])
def test_a_severe_or_lenient_person_is_told_by_how_much_of_the_scale(shift: float, flagged: set[str]) -> None:
    verdicts = made_ratings(reports=80)
    verdicts = verdicts[verdicts["rater_kind"] == "human"].reset_index(drop=True)
    before, own = verdicts["label"].copy(), verdicts["rater_id"] == "ann3"
    verdicts.loc[own, "label"] = (before[own] + shift).clip(1, 10)
    log = verdicts[["rater_id", "item_id"]].assign(
        purpose="label", submitted_at=pd.Timestamp("2026-01-01"), active_s=math.nan, words=300, attention=""
    )
    found = annotator_quality(verdicts.astype({"label": str}), log, QUICK)
    severity = {one.rater: next(signal for signal in one.signals if signal.name == "severity") for one in found}
    assert {rater for rater, signal in severity.items() if signal.flagged} == flagged  # not the careful ones beside
    two = verdicts[verdicts["rater_id"] != "ann1"].astype({"label": str})
    alone = annotator_quality(two, log[log["rater_id"] != "ann1"], QUICK)
    assert not [flag for one in alone for flag in one.flags if flag.name == "severity"]  # which of two is severe?
    # by hand: mean over the reports that somebody else rated too, in parts of the nine steps from 1 to 10
    wide = verdicts.pivot(index="item_id", columns="rater_id", values="label")
    others = wide[["ann1", "ann2"]].mean(axis=1)
    given = severity["ann3"].estimate
    assert given.value == pytest.approx((wide["ann3"] - others).mean() / 9)
    assert given.low < given.value < given.high


def test_pasted_rationales_are_flagged_as_that() -> None:
    found = flags_of(*planted_study((*GOOD, Person(habit="pastes")), 2))
    assert found == {"ann4": {"rationale"}}


def test_of_130_people_without_a_rationale_each_has_signals() -> None:
    people = [f"ann{n:03}" for n in range(130)]
    rows = [(f"p{k}", one, "clear", "A", f"t{k}", "human", "") for one in people for k in range(2)]
    names = ["item_id", "rater_id", "criterion", "label", "cluster_id", "rater_kind", "rationale"]
    verdicts = pd.DataFrame(rows, columns=names).assign(system_a="atlas", system_b="borealis", presentation="AB")
    log = verdicts[["rater_id", "item_id"]].assign(
        purpose="label", submitted_at=pd.Timestamp("2026-01-01"), active_s=60.0, words=300, attention=""
    )
    study = people_of(verdicts, QUICK)
    assert study is not None
    found = signals_of(study, log, QUICK)
    assert {one.estimate.rater for one in found if one.name == "rationale"} == set(people)


def quick_flags(verdicts: pd.DataFrame, work: pd.DataFrame) -> dict[str, set[str]]:
    """`flags_of` of a study without rationales, and without the figures beside the flags."""
    study = people_of(verdicts.drop(columns="rationale"), QUICK)
    assert study is not None
    found: dict[str, set[str]] = {}
    for one in signals_of(study, work, QUICK):
        if one.flagged:
            found.setdefault(one.estimate.rater, set()).add(one.name)
    return found


def test_with_two_annotators_an_item_agreement_is_set_beside_that_on_other_items() -> None:
    people = (*GOOD, Person(0.82), Person(habit="random"))
    verdicts, work = planted_study(people, 3, pairs=50, criteria=20)
    # each pair of people shares five items
    shared = {f"p{item:02}": pair for item, pair in enumerate(5 * list(itertools.combinations(range(1, 6), 2)))}
    rows = zip(verdicts["item_id"], verdicts["rater_id"], strict=True)
    theirs = [int(rater[-1]) in shared[item] for item, rater in rows]
    found = annotator_quality(verdicts[theirs], work, QUICK)
    signal = next(one for one in found[4].signals if one.name == "agreement")
    assert "on other items" in signal.estimate.note
    assert signal.estimate.value == pytest.approx(0.45 - 0.71, abs=0.1)
    assert {one.rater for one in found if one.flags} == {"ann5"}


@pytest.mark.slow
def test_of_30_studies_of_careful_people_none_flags_anybody() -> None:
    rng = np.random.default_rng(5)
    studies = (planted_study([careful(rng) for _ in range(5)], seed) for seed in range(30))
    # were one study in ten to flag somebody, none would come of it once in twenty-four times
    assert not any(quick_flags(*one) for one in studies)


@pytest.mark.slow
def test_both_planted_ones_are_found_for_the_right_reasons_in_nine_of_ten_studies() -> None:
    rng = np.random.default_rng(6)
    found = [
        quick_flags(*planted_study([*(careful(rng) for _ in range(3)), ALWAYS_LEFT, RANDOM_AND_FAST], seed))
        for seed in range(10)
    ]
    reasons = [
        {"side", "same_answer"} <= one.get("ann4", set()) and {"speed", "agreement"} <= one.get("ann5", set())
        for one in found
    ]
    assert sum(reasons) >= 9
    assert sum(bool(set(one) - {"ann4", "ann5"}) for one in found) <= 1


def renamed(verdicts: pd.DataFrame, work: pd.DataFrame) -> Tables:
    names = {"ann1": "zed", "ann2": "yan", "ann3": "abe", "ann4": "mo", "ann5": "lu"}
    return verdicts.replace({"rater_id": names}), work.replace({"rater_id": names})


def a_and_b_swapped(verdicts: pd.DataFrame, work: pd.DataFrame) -> Tables:
    swapped = verdicts.assign(
        label=verdicts["label"].replace({"A": "B", "B": "A"}),
        presentation=verdicts["presentation"].replace({"AB": "BA", "BA": "AB"}),
        system_a=verdicts["system_b"], system_b=verdicts["system_a"],
    )  # fmt: skip
    return swapped, work


def shuffled(verdicts: pd.DataFrame, work: pd.DataFrame) -> Tables:
    return verdicts.sample(frac=1, random_state=3), work.sample(frac=1, random_state=4)


def test_names_of_annotators_and_reports_and_the_order_of_rows_change_nothing(
    planted: Tables, looked_at: tuple[AnnotatorQuality, ...]
) -> None:
    back = {"zed": "ann1", "yan": "ann2", "abe": "ann3", "mo": "ann4", "lu": "ann5"}
    before = {one.rater: one for one in looked_at}
    changed = renamed(*a_and_b_swapped(*shuffled(*planted)))
    after = {back[one.rater]: one for one in annotator_quality(*changed, QUICK)}
    assert set(before) == set(after)
    for rater, one in before.items():
        other = after[rater]
        assert [flag.name for flag in one.flags] == [flag.name for flag in other.flags]
        for mine, theirs in zip(one.signals, other.signals, strict=True):
            assert mine.estimate.value == pytest.approx(theirs.estimate.value, nan_ok=True)
            assert mine.p_holm == pytest.approx(theirs.p_holm, nan_ok=True)
        figures = [(one.agreement, other.agreement), (one.left, other.left), (one.minutes, other.minutes)]
        assert all(a.value == pytest.approx(b.value) and a.low == pytest.approx(b.low) for a, b in figures)


def small(rows: list[tuple[str, str, str, str, str]]) -> pd.DataFrame:
    """Item (its own topic), rater, criterion, label, presentation."""
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "criterion", "label", "presentation"])
    return frame.assign(rater_kind="human", cluster_id=frame["item_id"], system_a="atlas", system_b="borealis")


def logged(rows: list[tuple[str, str, float, int]], purpose: str = "label", attention: str = "") -> pd.DataFrame:
    """Rater, item, active seconds, words; handed in an hour apart."""
    frame = pd.DataFrame(rows, columns=["rater_id", "item_id", "active_s", "words"])
    when = pd.Timestamp("2026-11-01", tz="UTC") + pd.to_timedelta(np.arange(len(rows)), unit="h")
    return frame.assign(purpose=purpose, submitted_at=when, attention=attention)


def test_the_figures_of_a_study_worked_by_hand() -> None:
    said = {"x": {"p1": "AAAB", "p2": "ABAB"}, "y": {"p1": "AABB", "p2": "AAAA"}}
    presentation = {("x", "p1"): "AB", ("x", "p2"): "BA", ("y", "p1"): "AB", ("y", "p2"): "AB"}
    verdicts = small([
        (item, rater, f"c{place}", label, presentation[rater, item])
        for rater, items in said.items() for item, labels in items.items() for place, label in enumerate(labels)
    ])  # fmt: skip
    work = pd.concat([
        logged([("x", "p1", 600.0, 6_000), ("x", "p2", 1_200.0, 6_000), ("y", "p1", 599.0, 6_000)]),
        logged([("x", "gold1", 60.0, 100), ("x", "gold2", 60.0, 100)], "attention", "failed"),
        logged([("x", "p1", 10.0, 6_000)], "retest"),
    ])  # fmt: skip
    x, y = annotator_quality(verdicts, work, QUICK)
    assert x.left.value == pytest.approx(5 / 8)  # AAA of p1, and the two B of p2, which stood on the left
    assert x.same_answer.value == pytest.approx((3 / 4 + 2 / 4) / 2)
    assert x.agreement.value == pytest.approx(5 / 8)  # three of four on p1, two of four on p2
    assert (x.minutes.value, x.minutes.n) == (10.0, 2)  # of two middle values the lower; a retest is no first reading
    assert x.seconds_per_answer.value == pytest.approx(150)
    assert (x.attention_passed, x.attention_failed) == (0, 2)
    assert (x.too_fast, y.too_fast) == ((), ("p1",))  # 6,000 words at 600 a minute take 600 s, and 599 are fewer
    assert x.tie.value == 0
    assert math.isnan(x.self_agreement.value)
    assert "one run" in x.self_agreement.note
    assert x.empty.value == 1  # nobody wrote a rationale
    assert math.isnan(x.repeated.value)


def test_a_side_is_no_preference_where_the_others_chose_the_same_reports() -> None:
    rows = [(f"p{item}", rater, f"c{place}", "A", "AB") for item in range(8) for rater in "xyz" for place in range(4)]
    x = one_of((small(rows), logged([])), "x")
    side = next(one for one in x.signals if one.name == "side")
    assert x.left.value == 1
    assert (side.estimate.value, side.flagged) == (0, False)


@pytest.mark.parametrize(
    ("change", "signals", "why"),
    [
        (lambda v, w: (v[v["rater_id"] == "ann1"], w), ["agreement"], "nothing to compare"),
        (lambda v, w: (v[v["rater_id"].isin(["ann1", "ann2"])], w), ["agreement"], "nothing to compare"),
        (lambda v, w: (v[v["item_id"] == "p00"], w), ["agreement"], "fewer than 2 clusters"),
        (lambda v, w: (v[v["item_id"] < "p04"], w), ["agreement"], "not tested: fewer than 5 clusters"),
        (lambda v, w: (v, w[:0]), ["speed", "drift"], "nothing to compare"),
        (lambda v, w: (v.drop(columns=["presentation", "rationale"]), w), ["side", "rationale"], "nothing to compare"),
        (lambda v, w: (v[v["criterion"] < "c03"], w), ["same_answer"], "nothing to compare"),
    ],
)
def test_what_cannot_be_known_yet_has_no_value_or_no_test_and_says_why(
    planted: Tables, change: Callable[[pd.DataFrame, pd.DataFrame], Tables], signals: list[str], why: str
) -> None:
    verdicts, work = change(*planted)
    study = people_of(verdicts, QUICK)
    assert study is not None
    found = {one.name: one for one in signals_of(study, work, QUICK) if one.estimate.rater == "ann1"}
    for signal in signals:
        assert math.isnan(found[signal].p)
        assert why in found[signal].estimate.note
        assert not found[signal].flagged


@pytest.mark.parametrize("label", ["A", "not_applicable"])
def test_a_study_in_which_all_say_one_thing_flags_nobody(planted: Tables, label: str) -> None:
    verdicts, work = planted
    assert flags_of(verdicts.assign(label=label), work[work["rater_id"] != "ann5"]) == {}


@pytest.mark.parametrize("mixed", [False, True])
def test_scores_and_studies_of_several_kinds_of_answers_are_looked_at_alike(planted: Tables, mixed: bool) -> None:
    ratings = made_ratings()
    verdicts = pd.concat([planted[0], ratings]) if mixed else ratings
    found = annotator_quality(verdicts, planted[1], QUICK)
    assert all(0 < one.agreement.value < 1 for one in found)
    assert "judge-x" not in {one.rater for one in found}


def test_nothing_handed_in_is_an_empty_answer_and_a_log_without_a_column_is_refused(planted: Tables) -> None:
    verdicts, work = planted
    assert annotator_quality(verdicts[:0], work[:0], QUICK) == ()
    with pytest.raises(CalibrationError, match="no column 'words'"):
        annotator_quality(verdicts, work.drop(columns="words"), QUICK)


def asked(way: str, margin: float = 0.0) -> Asked:
    return Asked("agreement", "x", margin, way, "")  # type: ignore[arg-type]  # one of three words


@pytest.mark.parametrize(("way", "alternative"), [("below", "less"), ("above", "greater"), ("either", "two-sided")])
def test_one_row_a_cluster_is_the_t_test_of_scipy(way: str, alternative: str) -> None:
    own, others = np.random.default_rng(1).random((2, 12))
    rows = Scores(own, others, np.arange(12), np.array([f"p{n}" for n in range(12)]))
    found = paired_signal(asked(way), rows, QUICK)
    expected = stats.ttest_rel(own, others, alternative=alternative)
    assert found.p == pytest.approx(expected.pvalue)
    interval = stats.ttest_rel(own, others).confidence_interval()
    assert (found.estimate.low, found.estimate.high) == pytest.approx((interval.low, interval.high))


def test_early_against_late_is_the_welch_test_of_scipy() -> None:
    scores = np.random.default_rng(2).random(11)
    late = np.arange(11) >= 5
    rows = Scores(scores, np.zeros(11), np.arange(11), np.array([""] * 11))
    found = halves_signal(asked("below"), rows, late, QUICK)
    expected = stats.ttest_ind(scores[late], scores[~late], equal_var=False, alternative="less")
    assert found.p == pytest.approx(expected.pvalue)


def test_the_same_difference_in_every_cluster_has_the_p_of_the_sign_test_and_no_interval() -> None:
    rows = Scores(np.ones(10), np.full(10, 0.5), np.arange(10), np.array([""] * 10))
    found = paired_signal(asked("above", 0.05), rows, QUICK)
    assert found.p == pytest.approx(0.5**10)
    assert math.isnan(found.estimate.low)
    assert "zero_variance" in found.estimate.note
    assert paired_signal(asked("below", 0.05), rows, QUICK).p == 1


def test_halves_without_any_spread_have_the_p_of_the_permutation_test() -> None:
    late = np.arange(11) >= 6
    rows = Scores(np.where(late, 0.0, 1.0), np.zeros(11), np.arange(11), np.array([""] * 11))
    assert halves_signal(asked("below"), rows, late, QUICK).p == pytest.approx(1 / 462)  # ways to choose 5 of 11
    assert halves_signal(asked("above"), rows, late, QUICK).p == 1


def test_everything_that_is_looked_at_counts_in_holm() -> None:
    rows = Scores(np.ones(10), np.full(10, 0.5), np.arange(10), np.array([""] * 10))
    found = adjusted([paired_signal(asked("above"), rows, QUICK)] * 40)
    assert [one.p_holm for one in found] == pytest.approx([40 * 0.5**10] * 40)
    assert all(one.flagged for one in found)
    assert not any(one.flagged for one in adjusted([paired_signal(asked("above"), rows, QUICK)] * 60))


@pytest.mark.parametrize(
    ("values", "median"), [([3.0], 3), ([4.0, 1.0], 1), ([5.0, 1.0, 2.0], 2), ([1.0, math.nan, 9.0, 4.0], 4)]
)
def test_a_median_is_a_value_that_occurred_and_says_what_is_unknown(values: list[float], median: float) -> None:
    found = median_estimate("minutes", "x", values, range(len(values)), QUICK, "minutes")
    assert found.value == median
    assert ("1 of 4 unknown" in found.note) == (len(values) == 4)
    assert math.isnan(found.low)  # fewer than five clusters


def test_a_median_covers_the_middle_of_many_clusters() -> None:
    values = np.random.default_rng(3).lognormal(3, 0.5, 60)
    found = median_estimate("minutes", "x", values, np.arange(60) // 2, CalibrationSettings(resamples=999), "")
    assert found.low < float(np.median(values)) < found.high
    assert (found.n, found.clusters, found.method) == (60, 30, "cluster_bootstrap_expanded")
