"""Every headline without each rater: the same as a study in which that rater never took part."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calibration.calibrate import calibrate
from calibration.choosing.choice import Choice, decided
from calibration.choosing.choice_words import short_sentence
from calibration.choosing.choose import candidates_of, cheapest_adequate_judge, prices_of, tried
from calibration.choosing.panel_sensitivity import (
    CROWD,
    Decision,
    Headlines,
    PanelSensitivity,
    held_to_the_panel,
    panel_cautions,
    panel_sensitivity,
)
from calibration.results import CalibrationSettings
from calibration.study.joining import study_of
from calibration.study.label_scores import label_scores
from calibration.study.left_out import pooled
from calibration.systems.win_rates import win_rates
from calibration.table.verdicts import BOTH_ORDERS
from exports.as_json import data_of
from tests.calibration.priced import EIGHT, priced
from tests.calibration.ranked import drawn_study
from tests.calibration.studies import made_pairs, made_ratings

SETTINGS = CalibrationSettings(margin=0.1, resamples=49)
THREE = {"cheap": (0.6, 0.0001), "mid": (0.85, 0.001), "dear": (0.95, 0.01)}
DECISIONS = {None: None, "cannot tell": Decision("cannot_tell", None)} | {
    name: Decision("chosen", name) for name in ("mini", "cheap", "dear")
}
STUDIES = {
    "five": priced({name: EIGHT[name] for name in ("tiny", "mini", "unpriced", "dull", "huge")}, pairs=30, seed=11),
    "three": priced(THREE, pairs=12, seed=4),
    "one annotator": priced(THREE, pairs=12, annotators=1, seed=4),
    "both orders": made_pairs(12, both_orders=True, missing=0.1).assign(cost_usd=0.01),
    "systems": drawn_study(topics=9).assign(cost_usd=0.01),
}


def sensitivity(frame: pd.DataFrame, settings: CalibrationSettings = SETTINGS) -> tuple[Choice, PanelSensitivity]:
    choice = cheapest_adequate_judge(frame, settings)
    return choice, panel_sensitivity(study_of(frame, settings), choice, settings)


def decision(choice: Choice) -> str:
    return choice.judge or choice.status.replace("_", " ")


def agreements(frame: pd.DataFrame, settings: CalibrationSettings) -> dict[str, float]:
    scores = label_scores(study_of(frame, settings), settings.ties).judges
    return {judge: float(np.nanmean(own)) for judge, own in scores.items()}


def first_two(frame: pd.DataFrame, settings: CalibrationSettings) -> str:
    """Of systems that share no place."""
    return " before ".join(one.system for one in win_rates(frame, None, settings).systems[:2])


@pytest.mark.parametrize(
    ("study", "ties"),
    [
        ("five", "three_class"),
        ("one annotator", "three_class"),
        pytest.param("both orders", "exclude", marks=pytest.mark.slow),
        pytest.param("systems", "three_class", marks=pytest.mark.slow),
        ("systems", "exclude"),
    ],
)
def test_without_a_rater_the_headlines_are_those_of_a_study_without_that_rater(study: str, ties: str) -> None:
    frame, settings = STUDIES[study], replace(SETTINGS, ties=ties)
    choice, found = sensitivity(frame, settings)
    assert (found.whole.top_two, found.whole.decision) == (first_two(frame, settings), decision(choice))
    people = sorted(frame["rater_id"][frame["rater_kind"] == "human"].unique())
    judges = sorted(frame["rater_id"][frame["rater_kind"] == "judge"].unique())
    chosen = (choice.judge or "").removesuffix(BOTH_ORDERS)
    names = [*(people if len(people) > 1 else []), *(name for name in judges if name != chosen)]
    assert [one.without for one in found.without] == names
    for one in (found.whole, *found.without):
        rest = frame[frame["rater_id"] != one.without]
        assert one.agreement == pytest.approx(agreements(rest, settings), nan_ok=True)
        assert one.top_two == first_two(rest, settings)
        if one.decision is not None:
            assert one.decision == decision(cheapest_adequate_judge(rest, settings))


@pytest.mark.parametrize("study", STUDIES)
def test_the_decision_is_that_of_the_choice_whose_intervals_nobody_asked_for(study: str) -> None:
    made, group, scale = pooled(STUDIES[study], SETTINGS)
    choice = cheapest_adequate_judge(STUDIES[study], SETTINGS)
    habits = {one.judge: tuple(row for row in one.rows if row.question == "answers") for one in choice.candidates}
    found = tried(made, group, scale, prices_of(made, SETTINGS), habits, SETTINGS)
    status, chosen = decided(candidates_of(found, SETTINGS, told=False))
    assert (status, chosen.judge if chosen else None) == (choice.status, choice.judge)
    assert sorted(found.without(["mid"]).plan.judges) == sorted({one.judge for one in choice.candidates} - {"mid"})


def test_an_annotator_who_alone_turns_the_order_of_the_first_two_systems_is_named() -> None:
    frame = drawn_study(topics=12, systems=("atlas", "borealis"))
    people = frame[frame["rater_kind"] == "human"]
    third = people[people["rater_id"] == "ann1"].assign(rater_id="ann3")
    frame = pd.concat([people, third])
    a_is_atlas = frame["system_a"] == "atlas"
    frame["label"] = np.where(a_is_atlas, "A", "B")  # atlas wins everywhere
    frame.loc[(frame["rater_id"] != "ann1") & (frame["cluster_id"] < "t07"), "label"] = np.where(
        a_is_atlas[(frame["rater_id"] != "ann1") & (frame["cluster_id"] < "t07")], "B", "A"
    )
    found = panel_sensitivity(study_of(frame, SETTINGS), None, SETTINGS)
    # of 12 topics ann1 gives atlas all, the others 5: 22 of 36, without ann1 10 of 24, without another 17 of 24
    assert [one.top_two for one in found.without] == ["borealis before atlas"] + ["atlas before borealis"] * 2
    (warning,) = panel_cautions(found)
    assert warning.code == "panel_sensitive"
    assert warning.text == (
        "first two systems by the annotators: atlas before borealis with all, borealis before atlas without ann1 "
        "(1 of 3 raters, left out one at a time, change a headline); say so beside it, and add annotators or pairs"
    )
    steady = frame.assign(label=np.where(a_is_atlas, "A", "B"))
    assert not list(panel_cautions(panel_sensitivity(study_of(steady, SETTINGS), None, SETTINGS)))


def test_an_annotator_without_whom_another_judge_is_chosen_is_named_and_a_judge_likewise() -> None:
    whole = Headlines("", {}, (), Decision("chosen", "mini"))
    found = PanelSensitivity(
        whole,
        (
            Headlines("ann2", {}, (), Decision("cannot_tell", None)),
            Headlines("big", {}, (), Decision("chosen", "tiny")),
            replace(whole, without="x"),
        ),
    )
    (warning,) = panel_cautions(found)
    assert warning.text.startswith("judge chosen: mini with all, cannot tell without ann2, tiny without big (2 of 3")
    assert not list(panel_cautions(replace(found, without=found.without[2:])))


@pytest.mark.parametrize(
    ("status", "decisions", "ends"),
    [
        ("chosen", {"ann0": "mini", "ann1": "mini", "cheap": "dear"}, "tried."),  # a judge less is no reservation
        ("chosen", {"ann0": "cannot tell", "ann1": "mini"}, "tried, but not without ann0."),
        ("chosen", {"ann0": "cannot tell", "ann1": "cheap"}, "tried, but not without ann0 or ann1."),
        ("chosen", {"ann0": None, "ann1": None}, "tried."),
        ("cannot_tell", {"ann0": "mini"}, "tried."),  # nothing is claimed that could hang on anybody
    ],
)
def test_a_judge_that_is_chosen_only_with_one_annotator_is_told_so_in_the_headline(
    status: str, decisions: dict[str, str | None], ends: str
) -> None:
    made, _ = sensitivity(STUDIES["three"])
    choice = replace(made, status=status, headline="mini of 3 tried.", sentence="mini of 3 tried. It agrees.")
    without = tuple(Headlines(name, {}, (), DECISIONS[decided_on]) for name, decided_on in decisions.items())
    held = held_to_the_panel(choice, PanelSensitivity(Headlines("", {}, (), DECISIONS["mini"]), without))
    assert held.headline == f"mini of 3 {ends}"
    assert held.sentence == f"{held.headline} It agrees."
    assert bool(held.hangs_on) == ("but not" in ends)


def test_a_report_and_its_short_sentence_say_on_whom_the_choice_hangs() -> None:
    frame = priced({"mini": (0.8, 0.001)}, pairs=60, seed=7)
    choice = calibrate(frame, CalibrationSettings(margin=0.07, resamples=199)).choice
    assert choice is not None
    assert choice.hangs_on == ("ann0",)
    assert choice.headline.endswith(", but not without ann0.")
    assert short_sentence(choice).endswith(", but not without ann0.")


def test_systems_that_share_a_place_are_told_together() -> None:
    frame = drawn_study(topics=4).assign(label="tie")
    found = panel_sensitivity(study_of(frame, SETTINGS), None, SETTINGS)
    assert found.whole.top_two == "atlas and borealis and cirrus together"
    atlas = (frame["system_a"] == "atlas") | (frame["system_b"] == "atlas")
    frame["label"] = np.where(atlas, np.where(frame["system_a"] == "atlas", "A", "B"), "tie")
    found = panel_sensitivity(study_of(frame, SETTINGS), None, SETTINGS)
    assert found.whole.top_two == "atlas before borealis and cirrus together"


def test_the_chosen_judge_stays_and_a_judge_goes_with_its_both_orders() -> None:
    choice, found = sensitivity(priced(THREE, seed=4))
    assert choice.judge == "mid"
    assert [one.without for one in found.without] == ["ann0", "ann1", "ann2", "cheap", "dear"]
    _, both = sensitivity(STUDIES["both orders"])
    for one in both.without:
        assert not [name for name in one.agreement if name.removesuffix(BOTH_ORDERS) == one.without]


def test_without_one_of_two_annotators_no_judge_can_be_chosen_and_the_note_says_so() -> None:
    _, found = sensitivity(priced(THREE, annotators=2, seed=4))
    assert [one.decision for one in found.without[:2]] == [None, None]
    assert found.note == "without one of two annotators there is no ceiling, so nothing to choose a judge by"
    assert not any("ann" in one.text for one in panel_cautions(found))


def test_no_member_of_a_crowd_is_left_out_and_the_note_counts_them() -> None:
    few, many = (sensitivity(priced({"one": (0.9, 0.001)}, pairs=3, annotators=n))[1] for n in (CROWD, CROWD + 1))
    assert (len(few.without), few.note) == (CROWD, "")
    assert many.note == "21 annotators are a crowd (more than 20): none of them was left out"
    assert not many.without


@pytest.mark.parametrize(
    ("frame", "judges"),
    [(made_ratings(20), ["judge-x"]), (made_ratings(20, decimals=1), ["judge-x"]), (priced({}, pairs=3), [])],
)
def test_a_study_with_nothing_to_choose_has_the_headlines_it_has(frame: pd.DataFrame, judges: list[str]) -> None:
    found = panel_sensitivity(study_of(frame, SETTINGS), None, SETTINGS)
    assert [*found.whole.agreement] == judges
    assert [one.decision for one in (found.whole, *found.without)] == [None] * 4


def test_the_data_of_a_report_hold_every_headline() -> None:
    _, found = sensitivity(STUDIES["systems"])
    data = data_of(replace(calibrate(STUDIES["systems"], SETTINGS), panel_sensitivity=found))["panel_sensitivity"]
    assert data["whole"]["top_two"] == found.whole.top_two
    assert [one["without"] for one in data["without"]] == [one.without for one in found.without]
    assert not math.isnan(data["whole"]["agreement"]["judge-x"])
