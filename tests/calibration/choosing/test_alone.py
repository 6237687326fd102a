"""What a judge may decide alone: sureness by hand, a bound that holds, thresholds in order, a price, a list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from calibration.calibrate import calibrate
from calibration.confidence.sureness import NEVER, ItemSureness, item_surenesses
from calibration.delegating.alone import Alone, alone_of, items_for_people
from calibration.delegating.alone_steps import drawn_topics, upper_bounds
from calibration.delegating.cascade import with_cascade
from calibration.errors import CalibrationError
from calibration.inference.looks import Look
from calibration.settings import CalibrationSettings
from calibration.study.counted import groups_of
from calibration.study.joining import scale_of, study_of

SETTINGS = CalibrationSettings(alone_error=0.2, resamples=1_999)


def row(item: str, rater: str, label: str, **more: object) -> dict[str, object]:
    return {
        "item_id": item, "criterion": "c", "rater_id": rater, "label": label, "system_a": "x", "system_b": "y",
        "rater_kind": "human" if rater.startswith("ann") else "judge", "cluster_id": item.split("-")[0],
        "status": "ok" if label else "invalid", "presentation": "", "run": 1, "cost_usd": math.nan,
        "seconds": math.nan,
    } | more  # fmt: skip


def turned(item: str, labels: Sequence[str], judge: str = "mini", **more: object) -> list[dict[str, object]]:
    """The judge's answers in turn: AB, BA, AB again, BA again."""
    return [
        row(item, judge, label, presentation=("AB", "BA")[n % 2], run=1 + n // 2, cost_usd=0.001, **more)
        for n, label in enumerate(labels)
    ]


def made(topics: int = 40, items: int = 8, unsure: int = 2, wrong: float = 0.0) -> pd.DataFrame:
    """Two annotators who say A throughout. On `unsure` items of a topic the two orders differ; of the others the share
    `wrong` of topics has B throughout."""
    rows = []
    for topic in range(topics):
        for number in range(items):
            item = f"t{topic:03}-{number}"
            said = "B" if topic < wrong * topics else "A"
            rows += turned(item, ("A", "B") if number < unsure else (said, said))
            rows += [row(item, rater, "A", seconds=360.0) for rater in ("ann1", "ann2")]
    return pd.DataFrame(rows)


def alone(frame: pd.DataFrame, settings: CalibrationSettings = SETTINGS) -> list[Alone]:
    study = study_of(frame, settings)
    scale = scale_of(study, study.criteria, settings)
    assert scale is not None
    return alone_of(study, groups_of(study, settings, pooled=True)[0], scale, settings)


def sureness(rows: list[dict[str, object]]) -> dict[str, ItemSureness]:
    study = study_of(pd.DataFrame(rows), SETTINGS)
    scale = scale_of(study, study.criteria, SETTINGS)
    assert scale is not None
    return {one.judge: one for one in item_surenesses(study, scale)}


@pytest.mark.parametrize(("said", "share"), [("A", 1.0), ("B", 0.75)], ids=["all", "what the first one settles"])
def test_a_cascade_has_its_own_bound_and_price_and_what_its_first_judge_settles_comes_first(
    said: str, share: float
) -> None:
    """The cheap judge's orders differ on a quarter of the items, which the dear one takes, and gets right or wrong."""
    frame = made(topics=60)
    dear = [row(item, "large", said, cost_usd=0.02) for item in frame["item_id"].unique()]
    both, _ = with_cascade(pd.concat([frame, pd.DataFrame(dear)], ignore_index=True), "mini", "large", SETTINGS)
    *parts, found = alone(both)
    assert [one.judge for one in (*parts, found)] == ["large", "mini", "mini then large"], "both orders are none"
    assert found.decided is not None
    assert found.decided.share.value == pytest.approx(share)
    assert found.decided.error.high < SETTINGS.alone_error
    assert found.judges_tried == 3, "a bound for all of them at once"
    read = 0.25 if share == 1 else 0.0
    assert found.usd_per_1000_items == pytest.approx(1000 * (2 * 0.001 + read * 0.02)), (
        "of the dear one what it decides"
    )


def test_an_item_that_a_cascades_first_judge_did_not_settle_comes_later_though_both_say_tie() -> None:
    rows = [*turned("t1-1", ("A", "B"), confidence=5), *turned("t2-1", ("A", "A"), confidence=1)]
    rows += [row(f"t{n}-1", "large", "tie", cost_usd=0.02) for n in (1, 2)] + [row("t1-1", "ann1", "A")]
    both, _ = with_cascade(pd.DataFrame(rows), "mini", "large", SETTINGS)
    own = sureness(both.to_dict("records"))["mini then large"]
    assert own.by == ("first",)
    assert list(own.level) == [0, 1]
    np.testing.assert_allclose(own.usd, [0.022, 0.002])
    np.testing.assert_allclose(own.usd_left, 0.002)


@pytest.mark.parametrize(
    ("answers", "agree", "decidable"),
    [
        (("A", "A", "A", "A"), 1.0, True),
        (("A", "A", "A", "tie"), 0.75, True),
        (("A", "A", "B", "B"), 0.5, True),  # a tie, as two orders that differ are
        (("A", "A", "A", ""), 0.75, True),  # three of four asked
        (("A", "A", ""), 0.5, True),  # two of three asked decide, of four asked elsewhere
        (("A", "B", ""), 0.25, False),  # an unusable answer is never a tie
        (("A", ""), 0.25, False),
        (("", ""), 0.0, False),
    ],
)
def test_a_judge_is_as_sure_as_its_answers_agree(answers: tuple[str, ...], agree: float, decidable: bool) -> None:
    rows = [*turned("t1-1", answers), *turned("t2-1", ("B", "B", "B", "B")), row("t1-1", "ann1", "A")]
    own = sureness(rows)["mini"]
    assert own.by == ("answers",)
    assert (own.level[0] != NEVER, own.level[1] != NEVER) == (decidable, True)
    if decidable:
        assert own.agree[0] == pytest.approx(agree)
        assert (own.level[0] < own.level[1]) == (agree < 1)


def test_of_items_with_equal_answers_the_judge_is_surer_where_it_says_so() -> None:
    rows = [one for n, sure in enumerate((2, 5, 4)) for one in turned(f"t{n}-1", ("A", "A"), confidence=sure)]
    own = sureness([*rows, *turned("t3-1", ("A", "B"), confidence=5), row("t0-1", "ann1", "A")])["mini"]
    assert own.by == ("answers", "confidence")
    assert list(np.argsort(own.level)) == [3, 0, 2, 1], "the answers come first, then the confidence"
    np.testing.assert_allclose(own.confidence, [0.4, 1.0, 0.8, 1.0])


def test_a_judge_that_answered_once_is_as_sure_as_others_agree_and_costs_what_all_cost() -> None:
    rows = []
    for n, others in enumerate((("A", "A"), ("A", "B"), ("B", "B"))):
        rows += [row(f"t{n}-1", "mini", "A", cost_usd=0.001), row(f"t{n}-1", "ann1", "A")]
        rows += [row(f"t{n}-1", name, said, cost_usd=0.01) for name, said in zip(("j1", "j2"), others, strict=True)]
    found = sureness(rows)
    assert found["mini"].by == ("others",)
    np.testing.assert_allclose(found["mini"].agree, [1, 0.5, 0])
    np.testing.assert_allclose(found["mini"].usd, 0.021)


def test_a_panel_whose_votes_never_split_is_not_paid_for_its_members_again() -> None:
    """They never differ from it, so they tell no item from another; one that does is asked besides, and paid."""
    rows = [row(f"t{n}-1", name, "A", cost_usd=usd) for n in range(3)
            for name, usd in (("j1", 0.01), ("j2", 0.02), ("p [panel]", 0.03), ("ann1", math.nan))]  # fmt: skip
    alone = sureness(rows)["p [panel]"]
    assert alone.by == ()
    np.testing.assert_allclose(alone.usd, 0.03)
    other = sureness([*rows, *(row(f"t{n}-1", "j3", said, cost_usd=0.1) for n, said in enumerate("AAB"))])["p [panel]"]
    assert (other.by, list(other.agree)) == (("others",), [1, 1, 0])
    np.testing.assert_allclose(other.usd, 0.13)


def test_an_item_with_one_label_without_a_verdict_goes_to_people_whatever_the_rest_says() -> None:
    rows = [*turned("t1-1", ("A", "A")), *turned("t2-1", ("A", "A")), row("t1-1", "ann1", "A")]
    rows += turned("t1-1", ("A", ""), criterion="d") + turned("t2-1", ("A", "tie"), criterion="d")
    own = sureness(rows)["mini"]
    assert list(own.level) == [NEVER, 0]
    assert own.agree[1] == 0.75, "an item is as sure as its labels in the mean"


@given(
    bad=st.integers(0, 30), topics=st.integers(12, 40), level=st.sampled_from([0.05, 0.0125])
)  # fmt: skip
def test_of_topics_of_one_label_each_the_bound_is_that_of_clopper_and_pearson(
    bad: int, topics: int, level: float
) -> None:
    bad = min(bad, topics - 1)
    wrong, n = np.zeros((topics, 1)), np.ones((topics, 1))
    wrong[:bad] = 1
    bound = upper_bounds(drawn_topics(wrong, n, 9_999, 1).shares, level)[0]
    assert bound == pytest.approx(stats.beta.ppf(1 - level, bad + 1, topics - bad), abs=0.02)


@given(st.lists(st.tuples(st.integers(1, 9), st.floats(0, 1)), min_size=2, max_size=25))
def test_the_bound_is_above_the_share_seen_and_above_that_of_topics_all_right(topics: list[tuple[int, float]]) -> None:
    n = np.array([[float(size)] for size, _ in topics])
    wrong = np.array([[round(size * share)] for size, share in topics], float)
    bound, clean = (upper_bounds(drawn_topics(one, n, 999, 1).shares, 0.05)[0] for one in (wrong, 0 * wrong))
    assert wrong.sum() / n.sum() <= bound <= 1
    assert clean <= bound
    # as if no fewer topics than these, as large as the one a random label lies in, had been seen without a fault
    assert clean >= 0.8 * (1 - 0.05 ** ((n**2).sum() / n.sum() ** 2))


def test_more_topics_alike_bring_the_bound_down_to_the_share() -> None:
    wrong, n = np.full((20, 1), 1.0), np.full((20, 1), 10.0)
    bounds = [upper_bounds(drawn_topics(wrong, n, 1_999, 1, times).shares, 0.05)[0] for times in (1.0, 4.0, 64.0)]
    assert bounds[0] > bounds[1] > bounds[2] > 0.1
    assert bounds[2] < 0.105


def test_a_judge_decides_where_its_orders_agree_and_people_take_the_rest_at_this_price() -> None:
    (found,) = alone(made())
    assert found.decided is not None
    assert [(one.agreement, one.outcome) for one in found.steps] == [(1.0, "passed"), (0.5, "failed")]
    assert (found.decided.share.value, found.decided.share.n) == (0.75, 320)
    assert found.decided.error.value == 0
    assert (found.decided.error.n, found.decided.error.clusters) == (240, 40)
    assert found.decided.error.high == pytest.approx(1 - 0.05 ** (1 / 40), abs=0.01)
    assert found.usd_per_1000_items == pytest.approx(2.0)
    assert (found.hours_of_people_alone, found.hours_per_1000_items) == (100.0, 25.0)
    assert found.person is not None
    assert found.judge_beside is not None
    assert (found.person.value, found.judge_beside.value, found.person.n) == (0.0, 0.0, 480)


def test_what_nobody_timed_or_billed_is_unknown_and_never_0() -> None:
    (found,) = alone(made().assign(seconds=math.nan, cost_usd=math.nan))
    assert found.decided is not None
    assert math.isnan(found.usd_per_1000_items)
    assert math.isnan(found.hours_per_1000_items)
    assert math.isnan(found.hours_of_people_alone)


def test_faults_that_fill_a_topic_keep_the_judge_from_deciding() -> None:
    (spread,) = alone(made(topics=20), replace(SETTINGS, alone_error=0.15))
    (filled,) = alone(made(topics=20, wrong=0.05), replace(SETTINGS, alone_error=0.15))
    assert spread.decided is not None
    assert filled.decided is None
    assert filled.steps[0].error.value == 0.05
    assert filled.topics_needed is not None
    assert 30 < filled.topics_needed < 60
    assert f"about {filled.topics_needed} topics in all would be needed, instead of 20" in filled.reason
    enough = filled.topics_needed + 20 - filled.topics_needed % 20
    assert alone(made(topics=enough, wrong=0.05), replace(SETTINGS, alone_error=0.15))[0].decided is not None


def test_a_judge_worse_than_the_error_is_told_that_no_number_of_topics_helps() -> None:
    (found,) = alone(made(unsure=0, wrong=0.5))
    assert found.decided is None
    assert found.topics_needed is None
    assert "no number of topics is known to show 20 % or less" in found.reason
    assert found.hours_per_1000_items == found.hours_of_people_alone, "all items go to people"


@pytest.mark.parametrize(("topics", "decides"), [(11, False), (12, True)])
def test_below_12_topics_nothing_is_said(topics: int, decides: bool) -> None:
    (found,) = alone(made(topics=topics), replace(SETTINGS, alone_error=0.4))
    assert (found.decided is not None) == decides
    if not decides:
        assert found.reason == "11 topics with labels to check it by; below 12 nothing can be said"
        assert found.steps == ()


def test_judges_tried_share_the_error_of_the_level() -> None:
    one = made()
    other = one[one["rater_id"] == "mini"].assign(rater_id="twin")
    (single,), both = alone(one), alone(pd.concat([one, other], ignore_index=True))
    assert single.decided is not None
    for found in both:
        assert found.decided is not None
        assert (found.judges_tried, found.decided.error.value) == (2, single.decided.error.value)
        assert found.decided.error.high > single.decided.error.high
        assert found.decided.error.note == "one-sided, at once for 2 judges"


@pytest.mark.parametrize(
    ("looks", "bound"),
    [
        ({}, 0.07),
        ({"looks": "planned", "planned_topics": 40}, 0.07),
        ({"looks": "planned", "planned_topics": 80}, 0.12),  # half of the topics: little of the error is spent
        ({"looks": "planned", "planned_topics": 40, "earlier_looks": (Look(20, 0.5),)}, 0.08),
        ({"looks": "planned", "planned_topics": 40, "earlier_looks": (Look(30, 1.0),)}, None),
        ({"looks": "any_time"}, None),
    ],
)
def test_each_look_spends_part_of_the_error_and_none_is_left_after_the_last(
    looks: dict[str, Any], bound: float | None
) -> None:
    (found,) = alone(made(), replace(SETTINGS, **looks))
    if bound is None:
        assert found.decided is None
        assert "no error is left for this look" in found.reason
    else:
        assert found.decided is not None
        assert found.decided.error.high == pytest.approx(bound, abs=0.015)


def test_labels_without_a_majority_are_neither_right_nor_wrong_and_are_counted() -> None:
    frame = made(topics=12)
    split = frame["rater_id"].eq("ann2") & frame["item_id"].str.endswith("-7")
    (found,) = alone(frame.assign(label=frame["label"].mask(split, "B")), replace(SETTINGS, alone_error=0.4))
    assert found.decided is not None
    assert found.decided.error.n == 12 * 5
    assert found.without_majority == pytest.approx(1 / 6)
    (counted,) = alone(
        frame.assign(label=frame["label"].mask(split, "B")), replace(SETTINGS, alone_error=0.45, majority_ties="tie")
    )
    assert counted.steps[0].error.value == pytest.approx(1 / 6), "an A where people are tied is wrong"


def test_which_threshold_is_tested_first_does_not_depend_on_anybodys_labels() -> None:
    rng = np.random.default_rng(3)
    frame = made(topics=30, unsure=4)
    people = frame["rater_kind"] == "human"
    firsts = set()
    for _ in range(4):
        labels = frame["label"].mask(people, pd.Series(rng.choice(["A", "B"], len(frame))))
        (found,) = alone(
            frame.assign(label=labels, rater_id=frame["rater_id"].mask(people, "ann1"))[
                lambda own: ~(people & (frame["rater_id"] == "ann2"))
            ]
        )
        firsts.add(next(n for n, one in enumerate(found.steps) if one.outcome != "not_tested"))
    assert len(firsts) == 1


def test_the_list_for_people_holds_every_item_the_judge_may_not_decide_the_least_sure_first() -> None:
    frame = made(topics=41)
    unlabelled = frame[~((frame["cluster_id"] == "t040") & (frame["rater_kind"] == "human"))]
    lost = (unlabelled["item_id"] == "t040-7") & (unlabelled["presentation"] == "BA")
    unlabelled = unlabelled.assign(
        label=unlabelled["label"].mask(lost, ""), status=unlabelled["status"].mask(lost, "missing")
    )
    found, items = items_for_people(unlabelled, "mini", SETTINGS)
    assert found.decided is not None
    assert len(items) == 41 * 2 + 1
    last = items[items["cluster_id"] == "t040"]
    assert last[["item_id", "priority", "labelled"]].to_numpy().tolist() == [
        ["t040-7", 2, False], ["t040-0", 1, False], ["t040-1", 1, False]
    ]  # fmt: skip
    assert {*items["system_a"], *items["system_b"]} == {"x", "y"}
    assert items["labelled"].sum() == 80


def test_where_nothing_may_be_decided_every_item_goes_to_people() -> None:
    found, items = items_for_people(made(topics=11), "mini", SETTINGS)
    assert found.decided is None
    assert len(items) == 88


def test_an_unknown_judge_and_criteria_without_a_scale_are_refused_by_name() -> None:
    with pytest.raises(CalibrationError, match="no judge is called 'large'; there are mini"):
        items_for_people(made(topics=2), "large", SETTINGS)
    rated = made(topics=2).assign(
        criterion="r",
        label="3",
        system_b="",
        presentation="",
        run=lambda own: own.groupby(["item_id", "rater_id"]).cumcount() + 1,
    )
    with pytest.raises(CalibrationError, match="share no scale"):
        items_for_people(pd.concat([made(topics=2), rated.assign(item_id=rated["item_id"] + "r")]), "mini", SETTINGS)


def test_where_nothing_can_be_said_of_any_judge_the_report_says_so() -> None:
    report = calibrate(made(topics=3)[lambda own: own["rater_kind"] == "human"], replace(SETTINGS, resamples=49))
    (told,) = [one.text for one in report.warnings if one.code == "nothing_alone"]
    assert told.startswith("which items a judge may decide alone at an error of 20 % cannot be said")
    assert report.alone is None


@pytest.mark.parametrize("error", [-0.1, 1.0])
def test_an_error_that_is_no_share_is_refused(error: float) -> None:
    with pytest.raises(CalibrationError, match="alone_error"):
        CalibrationSettings(alone_error=error)


def test_the_error_is_part_of_the_plan_and_a_report_that_nobody_asked_for_it_is_as_it_was() -> None:
    frame = made(topics=12, items=3)
    asked, unasked = (calibrate(frame, CalibrationSettings(alone_error=error, resamples=99)) for error in (0.2, 0.0))
    assert unasked.alone is None
    assert asked.alone[0].judge == "mini"
    assert asked.choice is not None
    assert unasked.choice is not None
    assert asked.choice.plan.kept["alone_error"] == 0.2
    assert "alone_error" not in unasked.choice.plan.kept
    assert asked.choice.plan.plan_sha256 != unasked.choice.plan.plan_sha256
