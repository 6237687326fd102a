"""The choice of a judge at one look of several: the same labels, held to what all looks may err in."""

from __future__ import annotations

import math

import pytest

from calibration.calibrate import calibrate
from calibration.choosing.choice import Candidate, Choice
from calibration.choosing.choose import cheapest_adequate_judge
from calibration.inference.looks import Look
from calibration.settings import CalibrationSettings
from tests.calibration.priced import priced

GOOD = {"mini": (0.85, 0.001)}


def chosen(pairs: int = 120, seed: int = 1, **looks: object) -> Choice:
    return cheapest_adequate_judge(priced(GOOD, pairs=pairs, seed=seed), CalibrationSettings(resamples=199, **looks))


def mini(choice: Choice, judge: str = "mini") -> Candidate:
    return next(one for one in choice.candidates if one.judge == judge)


@pytest.fixture(scope="module")
def once() -> Choice:
    return chosen()


def test_the_last_look_of_a_plan_without_earlier_ones_is_one_look(once: Choice) -> None:
    planned = chosen(looks="planned", planned_topics=120)
    assert mini(planned).claim == mini(once).claim
    assert planned.look.startswith("First and last look, at 120 topics")
    assert once.look.startswith("One look is assumed")
    assert planned.plan.plan_sha256 != once.plan.plan_sha256


@pytest.mark.parametrize(
    "looks",
    [
        {"looks": "planned", "planned_topics": 120, "earlier_looks": (Look(60, 0.5),)},
        {"looks": "planned", "planned_topics": 130},
        {"looks": "any_time"},
    ],
)
def test_a_look_of_several_asks_for_more_and_says_so(looks: dict[str, object], once: Choice) -> None:
    several = chosen(**looks)
    strict, plain = mini(several).claim, mini(once).claim
    assert strict is not None
    assert plain is not None
    assert strict.p_adjusted > plain.p_adjusted
    assert strict.test.upper > plain.test.upper
    assert mini(several).constant.p_adjusted > mini(once).constant.p_adjusted
    assert once.status == "chosen"
    assert several.look in several.sentence
    assert "the one-sided bound of this look" in several.sentence


def test_a_judge_that_one_look_shows_is_open_at_an_early_one_and_is_told_how_many_more_decide(once: Choice) -> None:
    early = chosen(looks="planned", planned_topics=5_000)
    claim = mini(early).claim
    assert early.status == "cannot_tell"
    assert claim is not None
    assert math.isnan(claim.test.upper)
    assert "no bound at this look" in early.sentence
    assert claim.needed is not None
    assert 120 < claim.needed.clusters <= 5_000
    assert f"{claim.needed.more:,} more topics" in early.sentence


@pytest.mark.parametrize(("pairs", "planned"), [(8, 30), (8, 60), (14, 60)])
def test_a_look_too_early_for_any_p_has_no_bound_and_says_that_it_is_too_early(pairs: int, planned: int) -> None:
    early = chosen(pairs, looks="planned", planned_topics=planned)
    claim = mini(early).claim
    assert claim is not None
    assert math.isnan(claim.test.upper)
    assert f"First look, at {pairs} of {planned} topics; it is too early to show any judge adequate" in early.sentence


@pytest.mark.parametrize(("judges", "early"), [(1, False), (4, True)])
def test_a_look_is_too_early_for_many_judges_at_which_one_alone_could_be_shown(judges: int, early: bool) -> None:
    labels = priced({f"judge {n}": (0.85, 0.001) for n in range(judges)}, pairs=36)
    found = cheapest_adequate_judge(labels, CalibrationSettings(resamples=999, looks="planned", planned_topics=60))
    assert {math.isnan(one.claim.test.upper) for one in found.candidates if one.claim} == {early}
    assert ("it is too early to show any judge adequate" in found.look) is early
    assert ("today's bound is stricter for it" in found.look) is not early


def test_after_a_look_that_was_to_be_the_only_one_nothing_is_shown() -> None:
    again = chosen(earlier_looks=(Look(40, 1.0),))
    assert again.status == "cannot_tell"
    assert "the look at 40 was to be the last and spent the whole error of 5 %" in again.sentence
    assert "no number of topics decides" in again.sentence


def test_a_judge_at_the_margin_is_ruled_out_no_sooner_by_looks() -> None:
    bad = priced({"tiny": (0.2, 0.0001)}, pairs=120)
    for looks in ({}, {"looks": "any_time"}, {"looks": "planned", "planned_topics": 150}):
        found = cheapest_adequate_judge(bad, CalibrationSettings(resamples=199, **looks))
        assert found.status == "none_adequate", looks
    early = cheapest_adequate_judge(bad, CalibrationSettings(resamples=199, looks="planned", planned_topics=90_000))
    assert early.status == "cannot_tell"


def test_at_any_time_every_interval_is_one_of_a_confidence_sequence_and_says_so() -> None:
    labels = priced(GOOD, pairs=40)
    plain = calibrate(labels, CalibrationSettings(resamples=199))
    told = calibrate(labels, CalibrationSettings(resamples=199, looks="any_time"))
    pairs = list(zip(plain.estimates, told.estimates, strict=True))
    bounded = [(one, other) for one, other in pairs if not math.isnan(other.low) and one.level == 0.95]
    assert len(bounded) > 10
    for one, other in bounded:
        assert (other.method, other.level, other.value) == ("confidence_sequence", 0.95, one.value)
        # a bias that its plain interval excludes may lie in the wider one, which is then at least Wilson's
        assert one.method in other.note or (one.statistic.endswith("_gap") and "wilson_effective_n" in other.note)
        assert other.high - other.low > one.high - one.low or other.high == other.low
    assert told.choice is not None
    agreement = told.choice.candidates[0].agreement
    assert (agreement.method, agreement.level) == ("confidence_sequence", 0.95)
    assert not any(one.method == "confidence_sequence" for one in plain.estimates)


FEW, SPENT = {"looks": "any_time"}, {"earlier_looks": (Look(20, 1.0),)}
PLANNED = {"looks": "planned", "planned_topics": 200}


@pytest.mark.parametrize(
    ("pairs", "looks", "shows_nothing"),
    [(16, FEW, True), (30, FEW, True), (150, PLANNED, False), (40, SPENT, True), (40, {}, False)],
)
def test_where_no_p_would_be_small_enough_it_is_that_which_is_said(
    pairs: int, looks: dict[str, object], shows_nothing: bool
) -> None:
    judges = {"dull": (0.05, 0.001)}  # hardly better than a constant answer
    report = calibrate(priced(judges, pairs=pairs), CalibrationSettings(resamples=199, **looks))
    (told,) = [one.text for one in report.warnings if one.code == "baseline_not_beaten"]
    assert report.choice is not None
    assert mini(report.choice, "dull").constant.can_be_shown is not shows_nothing
    assert ("it has not shown that it reads" in told) is not shows_nothing
    assert ("no p of its test would be small enough" in told) is shows_nothing
    assert "nothing to compare it with" not in report.choice.sentence  # it was compared, and its gap is large


@pytest.mark.parametrize(
    ("looks", "words"),
    [
        ({"looks": "planned", "planned_topics": 40, "earlier_looks": (Look(20, 0.5),)}, "this look being the last"),
        (SPENT, "an earlier look having spent the whole error"),
    ],
)
def test_which_look_spent_the_error_is_said(looks: dict[str, object], words: str) -> None:
    sentence = chosen(pairs=40, seed=2, **looks).sentence
    assert words in sentence, sentence
