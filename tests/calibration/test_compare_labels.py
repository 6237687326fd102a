"""From verdicts to the rows on which judges are compared, and cautions: nothing depends on names, orders or rows."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.choosing.noninferiority import Claim, ComparisonPlan, against_ceiling
from calibration.inference.compare import JudgePair, compare_judges, max_t_band
from calibration.results import CalibrationSettings
from calibration.study.counted import groups_of
from calibration.study.joining import code, scale_of
from calibration.study.label_scores import LabelScores, label_scores
from calibration.study.left_out import LeftOutScores, left_out_scores
from calibration.table.checking import check_verdicts
from calibration.table.verdicts import BOTH_ORDERS
from calibration.warnings.comparison_cautions import changed_plan, not_shown_equal, selected_judge, unpaired_judges
from tests.calibration.studies import made_pairs

FEW = CalibrationSettings(resamples=20)
JUDGES = {"judge-x": 0.8, "judge-y": 0.6, "judge-z": 0.8}


def scored(frame: pd.DataFrame, ties: str = "three_class", missing_as_wrong: bool = False) -> LabelScores:
    return label_scores(code(check_verdicts(frame), FEW), ties, missing_as_wrong)


def renamed(frame: pd.DataFrame, items: set[str]) -> pd.DataFrame:
    """A and B exchanged on some items."""
    out, turned = frame.copy(), frame["item_id"].isin(items)
    swap = {"A": "B", "B": "A", "AB": "BA", "BA": "AB"}
    for column in ("label", "presentation"):
        out.loc[turned, column] = frame.loc[turned, column].replace(swap)
    out.loc[turned, ["system_a", "system_b"]] = frame.loc[turned, ["system_b", "system_a"]].to_numpy()
    return out


def everything(frame: pd.DataFrame) -> tuple[object, ...]:
    """All that is said of the judges of a study."""
    rows = scored(frame)
    plan = ComparisonPlan(tuple(rows.judges), ("c0", "c1", "c2"), 0.1)
    study = code(check_verdicts(frame), FEW)
    scale = scale_of(study, study.criteria, FEW)
    assert scale is not None
    group = groups_of(study, FEW, True)[0]
    beside = {one.rater: left_out_scores(study, group, scale, one, FEW) for one in study.judges}
    return (
        compare_judges(rows.judges, rows.clusters),
        max_t_band(rows.judges, rows.clusters, resamples=99),
        against_ceiling(beside, plan),
    )


def flat(found: object) -> list[object]:
    """Every number and word in nested results, in order."""
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        found = [getattr(found, field.name) for field in dataclasses.fields(found) if field.compare]
    return [leaf for one in found for leaf in flat(one)] if isinstance(found, list | tuple) else [found]


def same(one: object, other: object) -> bool:
    left, right = flat(one), flat(other)
    return len(left) == len(right) and all(
        a == pytest.approx(b, abs=1e-9, nan_ok=True) if isinstance(a, float) else a == b
        for a, b in zip(left, right, strict=True)
    )


@pytest.mark.parametrize("both_orders", [False, True])
def test_renaming_a_and_b_or_reordering_rows_changes_nothing(both_orders: bool) -> None:
    frame = made_pairs(pairs=24, judges=JUDGES, both_orders=both_orders, missing=0.05)
    found = everything(frame)
    items = sorted(frame["item_id"].unique())
    assert same(found, everything(renamed(frame, {*items})))
    assert same(found, everything(renamed(frame, {*items[::3]})))
    assert same(found, everything(frame.sample(frac=1, random_state=3)))


def test_the_comparison_notices_when_something_does_change() -> None:
    frame = made_pairs(pairs=24, judges=JUDGES)
    other = frame.copy()
    first = other.index[(other["rater_id"] == "judge-x") & (other["label"] == "A")][0]
    other.loc[first, "label"] = "B"
    assert not same(everything(frame), everything(other))


@pytest.mark.parametrize(
    ("ties", "statistic"),
    [
        ("three_class", "percent_agreement"),
        ("half_credit", "percent_agreement_half_credit"),
        ("exclude", "percent_agreement_exclude_ties"),
    ],
)
def test_mean_scores_are_the_agreements_of_the_report(ties: str, statistic: str) -> None:
    frame = made_pairs(pairs=12, judges=JUDGES)
    rows = scored(frame, ties)
    report = calibrate(frame, FEW)
    for judge, own in rows.judges.items():
        (value,) = [
            one.value
            for one in report.estimates
            if (one.statistic, one.rater, one.reference, one.criterion) == (statistic, judge, "each_annotator", "all")
        ]
        assert np.nanmean(own) == pytest.approx(value)
    assert len(rows.clusters) == (frame["rater_id"] == "ann1").sum() * 3


def test_passes_in_both_orders_count_half_each_under_every_rule_for_ties() -> None:
    rows = [("ann", "human", "A", "AB"), ("j", "judge", "A", "AB"), ("j", "judge", "tie", "BA")]
    frame = pd.DataFrame(rows, columns=["rater_id", "rater_kind", "label", "presentation"])
    frame = frame.assign(item_id="i", criterion="c", cluster_id="t", system_a="x", system_b="y")
    scores = {ties: scored(frame, ties).judges for ties in ("three_class", "half_credit", "exclude")}
    assert [float(own["j"][0]) for own in scores.values()] == [0.5, 0.75, 1.0]
    merged = [float(own[f"j{BOTH_ORDERS}"][0]) for own in scores.values()]
    assert merged[:2] == [0.0, 0.5]
    assert math.isnan(merged[2])


def test_an_unusable_answer_is_no_score_or_a_wrong_one_and_an_item_never_asked_is_neither() -> None:
    frame = made_pairs(pairs=6, criteria=1, annotators=1, judges={"judge-x": 1.0})
    mine = frame["rater_id"] == "judge-x"
    frame["status"] = np.where(mine & (frame["item_id"] == "p000"), "invalid", "ok")
    frame.loc[mine & (frame["item_id"] == "p000"), "label"] = ""
    frame = frame[~(mine & (frame["item_id"] == "p001"))]
    plain, wrong = scored(frame).judges["judge-x"], scored(frame, missing_as_wrong=True).judges["judge-x"]
    assert np.isnan(plain).tolist() == [True, True, False, False, False, False]
    assert np.isnan(wrong).tolist() == [False, True, False, False, False, False]
    assert wrong[0] == 0.0


# --- cautions, each under its condition and silent beside it


def claims(clusters: int, gaps: dict[str, float], margin: float = 0.05) -> tuple[Claim, ...]:
    rng = np.random.default_rng(1)
    people = rng.normal(0.0, 0.3, clusters)
    rows = {
        name: LeftOutScores(people, people - gap + rng.normal(0, 0.3, clusters), np.arange(clusters), 0)
        for name, gap in gaps.items()
    }
    return against_ceiling(rows, ComparisonPlan(tuple(gaps), ("c",), margin))


def test_the_judge_that_was_chosen_among_several_is_noticed() -> None:
    (one,) = selected_judge(["x", "y", "x (long prompt)"], "x")
    assert (one.code, one.rater) == ("selected_judge", "x")
    assert "one of 3 judges" in one.text
    assert not list(selected_judge(["x"], "x"))
    assert not list(selected_judge(["x", "x"], "x"))


def test_a_gap_that_was_not_shown_is_not_called_equality() -> None:
    few = claims(10, {"x": 0.0, "y": 0.03})
    assert {one.outcome for one in few} == {"cannot_tell"}
    near, beyond = [one.text for claim in few for one in not_shown_equal(claim)]
    assert near.startswith("the left-out annotator minus x is 4.5 points, interval -5.6 points to 23.2 points in 10 t")
    assert near.endswith("within the margin of 5.0 points; cannot tell, label 6,242 more topics")
    items = [one.text for claim in few for one in not_shown_equal(claim, "item")]
    assert items[0].endswith("cannot tell, label 6,242 more items")
    assert beyond.endswith("no number of topics is likely to show it smaller")
    assert not any(word in text for text in (near, beyond) for word in ("equal", "same", "on par"))
    many = claims(4_000, {"x": 0.0, "y": 0.0})
    assert {one.outcome for one in many} == {"non_inferior"}
    assert not [one for claim in many for one in not_shown_equal(claim)]
    apart = claims(400, {"x": 0.0, "y": 0.5})
    assert apart[1].outcome == "inferior"
    assert not [one for claim in apart for one in not_shown_equal(claim)]


@pytest.mark.parametrize(("unshared", "noticed"), [(5, False), (6, True)])
def test_judges_that_share_fewer_than_95_percent_of_their_labels_are_noticed(unshared: int, noticed: bool) -> None:
    x = np.ones(100)
    y = x.copy()
    y[:unshared] = math.nan
    (pair,) = compare_judges({"x": x, "y": y}, np.arange(100))
    found = list(unpaired_judges(pair))
    assert bool(found) == noticed
    assert not noticed or "94.0 % of the labels" in found[0].text
    assert not list(unpaired_judges(dataclasses.replace(pair, shared=math.nan)))
    assert isinstance(pair, JudgePair)


def test_a_plan_that_is_not_the_stored_one_is_noticed() -> None:
    plan = ComparisonPlan(("x", "y"), ("c",), 0.05)
    turned = dataclasses.replace(plan, judges=("y", "x"))
    assert not list(changed_plan(turned, json.loads(json.dumps(plan.kept))))
    assert not list(changed_plan(plan, None))
    (one,) = changed_plan(dataclasses.replace(plan, margin=0.1, judges=("y", "z")), plan.kept)
    assert one.code == "changed_after_labels"
    assert "judges added: z; judges left out: x; margin 0.05 became 0.1" in one.text
    kept = json.loads(json.dumps(plan.kept))
    (two,) = changed_plan(dataclasses.replace(plan, min_clusters=6, seed=3, resamples=999), kept)
    assert "min_clusters 12 became 6; resamples 9999 became 999; seed 0 became 3" in two.text
    older = {name: value for name, value in kept.items() if name not in ("seed", "resamples")} | {"plan_sha256": ""}
    assert not list(changed_plan(dataclasses.replace(plan, seed=7), older))  # which kept neither
    today = {**older, "replaced": {"x": 1}}  # as one release kept it
    assert not list(changed_plan(dataclasses.replace(plan, replaced={"x": 2}), today))
