"""One look at a study: its level and p, what more would decide, and what is said of it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from calibration.choosing.looking import Looking, any_time_clusters, looking_of, planned_clusters
from calibration.choosing.open_words import look_words
from calibration.errors import CalibrationError
from calibration.inference.deciding import Needed
from calibration.inference.looks import Look, any_time_level, nominal_levels, sequence_level
from calibration.settings import CalibrationSettings
from calibration.sizing.study_plan import Design, Goals, plan_from_assumptions

OPEN = Needed(100, 60, 0.01, 0.2)
THIRD = Looking("planned", 40, 120, (Look(10, 1 / 12), Look(20, 1 / 6), Look(40, 1 / 3)))


def test_without_a_word_about_looks_nothing_changes() -> None:
    one = looking_of(CalibrationSettings(), 40)
    assert (one.number, one.share, one.level(0.05), one.p(0.031), one.interval_level()) == (1, 1.0, 0.05, 0.031, 0.95)
    assert one.needed(OPEN) is OPEN


def test_a_look_at_planned_topics_knows_its_number_and_is_stricter_for_the_earlier_ones() -> None:
    assert (THIRD.number, THIRD.share) == (3, pytest.approx(1 / 3))
    assert THIRD.level() == nominal_levels([Look(10, 1 / 12), Look(20, 1 / 6), Look(40, 1 / 3)])[-1]
    assert THIRD.level() < 0.001 < replace(THIRD, topics=120).level() < 0.05
    assert THIRD.p(0.001) > 0.05
    assert THIRD.p(THIRD.level() / 2) < 0.05
    assert THIRD.interval_level() == 0.95


def test_topics_labelled_in_part_make_no_bound_looser() -> None:
    settings = CalibrationSettings(looks="planned", planned_topics=120, topics_labelled=30)
    assert looking_of(settings, 120).topics == 30
    assert looking_of(settings, 25).topics == 25
    assert looking_of(replace(settings, topics_labelled=0), 25).level() == 0.0


def test_a_look_after_the_last_one_decides_nothing_and_says_so() -> None:
    after = Looking("one", 40, None, (Look(20, 1.0),))
    assert after.is_spent
    assert after.level() == 0.0
    assert after.p(1e-9) == 1.0
    assert after.needed(OPEN).note == "looks_spent"
    last = Looking("planned", 40, 40, (Look(20, 0.5),))
    assert (last.needed(OPEN).note, last.needed(OPEN).clusters) == ("last_look", None)  # by this look, no earlier one


def test_more_topics_reckon_with_the_looks() -> None:
    planned = THIRD.needed(OPEN)
    assert (planned.clusters, planned.more) == (110, 70)  # at the next look, whose share is then 11 of 12
    any_time = Looking("any_time", 40).needed(OPEN)
    assert any_time.clusters == any_time_clusters(100)
    assert any_time.more == any_time.clusters - 40
    assert Looking("any_time", 40).needed(Needed(None, None, 0.06, 0.2, "gap_reaches_margin")).clusters is None


@pytest.mark.parametrize(("one_look", "most"), [(60, 1.1), (150, 1.06)])
def test_six_planned_looks_cost_at_most_a_tenth_more_topics(one_look: int, most: float) -> None:
    assert one_look < planned_clusters(one_look, 6) <= most * one_look


@pytest.mark.slow
def test_a_plan_reckons_with_the_looks() -> None:
    def topics(**looks: object) -> int:
        found = plan_from_assumptions(Goals(**looks), Design()).aims[1].needed.clusters
        assert found is not None
        return found

    once = topics()
    assert topics(looks=6) == planned_clusters(once, 6)
    assert topics(any_time=True) == any_time_clusters(once)
    assert once < topics(looks=6) < topics(any_time=True) < 1.4 * once

    def power(topics: int, **looks: object) -> float:
        found = plan_from_assumptions(Goals(**looks), Design(), topics=topics).at
        assert found is not None
        return found.power

    assert power(once) > power(once, looks=6) > power(once, any_time=True)
    assert power(topics(looks=6), looks=6) == pytest.approx(power(once), abs=0.01)
    assert power(topics(any_time=True), any_time=True) == pytest.approx(power(once), abs=0.02)


def test_any_time_needs_the_spread_of_the_test_and_makes_intervals_wider() -> None:
    any_time = Looking("any_time", 50)
    assert any_time.level(0.05, 0.3) == any_time_level(50, 0.3)
    assert any_time.level(0.05) == 0.0
    assert any_time.p(1e-4, 0.3) < 0.05 < any_time.p(0.01, 0.3)
    assert any_time.interval_level() == sequence_level(50)
    assert math.isnan(any_time.p(math.nan, 0.3))


@pytest.mark.parametrize(
    ("looking", "begins", "holds"),
    [
        (
            THIRD,
            "Third look, at 40 of 120 topics; it is too early to show any judge adequate: this look",
            "all looks in 5 %",
        ),
        (Looking("planned", 40, 40), "First and last look, at 40 topics, of 40 that were planned", ""),
        (replace(THIRD, topics=120), "Fourth and last look, at 120 of 120 topics", "all looks in 5 %"),
        (Looking("one", 40), "One look is assumed, at 40 topics", "before its first look"),
        (Looking("one", 1), "One look is assumed, at 1 topic:", ""),
        (
            replace(THIRD, begun=42),
            "Third look, at 40 of 120 topics (42 have labels, and one labelled in part counts in part);",
            "",
        ),
        (replace(THIRD, begun=40), "Third look, at 40 of 120 topics; it is too early", ""),
        (Looking("one", 40, None, (Look(20, 1.0),)), "Second look, at 40 topics", "the look at 20 was to be the last"),
        (Looking("any_time", 40), "Looked at whenever one likes, now at 40 topics", "random order"),
        (Looking("any_time", 12), "Looked at whenever one likes", "Before 20 topics it decides nothing."),
        (Looking("planned", 22, 99, tuple(Look(at, at / 99) for at in range(2, 22))), "21st look", ""),
    ],
)
def test_what_is_said_of_a_look(looking: Looking, begins: str, holds: str) -> None:
    said = look_words(looking)
    assert said.startswith(begins)
    assert holds in said


@pytest.mark.parametrize(
    "wrong", [{"looks": "often"}, {"spending": "all"}, {"planned_topics": 0}, {"planned_topics": 2.5}]
)
def test_a_setting_about_looks_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(CalibrationError, match=next(iter(wrong))):
        CalibrationSettings(**wrong)


@pytest.mark.parametrize("mode", ["one", "planned", "any_time"])
def test_before_one_topic_is_labelled_no_look_decides(mode: str) -> None:
    nothing = Looking(mode, 0, 120)
    assert (nothing.level(0.05, 0.3), nothing.p(1e-9, 0.3), nothing.is_only) == (0.0, 1.0, False)
