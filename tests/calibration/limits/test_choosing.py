"""What a choice turns on has a case on each side of its limit, and the limit itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from inspect import signature
from types import SimpleNamespace as Made
from typing import Any

import numpy as np
import pytest
from scipy import stats

from calibration.choosing import (
    above,
    card,
    choice_words,
    choose,
    looking,
    noninferiority,
    number_words,
    open_words,
    panel_sensitivity,
)
from calibration.choosing.looking import Looking
from calibration.choosing.noninferiority import ComparisonPlan
from calibration.errors import CalibrationError
from calibration.inference.gap_test import Rule
from calibration.results import CalibrationSettings
from tests.calibration.limits.made import estimate

PLAN = ComparisonPlan(("j",), ("c",), margin=0.05)
ERROR = 1 - PLAN.level
PLAIN = CalibrationSettings()


@pytest.mark.parametrize(
    ("p", "upper", "place"),
    [
        (ERROR, 0.0, "cannot_tell"), (ERROR - 1e-9, 0.0, "above"), (ERROR, -1e-9, "below"), (0.5, 0.0, "cannot_tell"),
        (0.045, 0.1, "above"), (0.055, 0.1, "cannot_tell"),
    ],
)  # fmt: skip
def test_a_judge_is_above_with_a_p_below_the_error_and_below_with_a_bound_below_nothing(
    p: float, upper: float, place: str
) -> None:
    one: Any = Made(note="", p_adjusted=p, upper=upper)
    assert above._place(one, PLAN) == place


@pytest.mark.parametrize(
    ("clusters", "note"), [(1, "too_few_units"), (2, "too_few_clusters"), (11, "too_few_clusters"), (12, ""), (13, "")]
)
def test_a_kappa_is_not_held_to_a_floor_below_the_fewest_clusters_of_the_plan(clusters: int, note: str) -> None:
    (found,) = above.kappa_above_floor([("j", 0.6, 0.05, 100, clusters)], PLAN, 0.5)
    assert found.note == note
    assert signature(noninferiority.non_inferiority).parameters["min_clusters"].default == 12
    assert PLAN.min_clusters == Rule(0.05, 0.95).min_clusters == 12


@pytest.mark.parametrize(
    ("clusters", "largest", "reason"),
    [(11, 1, "too_few_clusters"), (12, 1, ""), (11, 20, "too_few_clusters"), (12, 20, "one_large_cluster")],
)
def test_a_gap_is_decided_from_twelve_clusters_on_where_none_of_them_is_large(
    clusters: int, largest: int, reason: str
) -> None:
    code = [*range(clusters), *[0] * (largest - 1)]
    rng = np.random.default_rng(1)
    found = noninferiority.non_inferiority(rng.random(len(code)), rng.random(len(code)), code, 0.05, resamples=999)
    assert found.reason == reason


@pytest.mark.parametrize(
    ("agreement", "constant", "low", "hardly"),
    [(0.75, 0.5, 0.3, False), (0.7, 0.5, 0.3, True), (0.75, 0.5, 0.2, True), (0.75, 0.5, 0.25, False), (0.75, 0.5, 0.15, True)],
)  # fmt: skip
def test_people_hardly_agree_within_the_margin_of_a_constant_answer_or_where_kappa_may_be_a_fifth(
    agreement: float, constant: float, low: float, hardly: bool
) -> None:
    assert above.AmongPeople(agreement, constant, 0.4, low, 0.6, margin=0.25).hardly == hardly


@pytest.mark.parametrize(("labels", "few"), [(25, True), (26, False)])
def test_more_than_twenty_five_answers_have_no_kappa_and_choose_no_judge(
    labels: int, few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scale: Any = Made(labels=range(labels))
    monkeypatch.setattr(above, "left_out_scores", lambda *_: Made(human=np.ones(3), weight=None))
    monkeypatch.setattr(above, "ties_rule", lambda *_: "exact")
    monkeypatch.setattr(above, "_constant", lambda *_: 0.5)
    monkeypatch.setattr(above, "_kappa", lambda *_: (0.4, 0.3, 0.5))
    people = above.among_people(None, None, scale, PLAIN)
    assert people is not None
    assert math.isnan(people.kappa) != few
    monkeypatch.setattr(choose, "comparisons", lambda *_: [])
    monkeypatch.setattr(choose, "pooled", lambda *_: (None, None, scale))
    monkeypatch.setattr(choose, "ties_rule", lambda *_: "exact")
    monkeypatch.setattr(choose, "bias_audit", lambda *_: None)
    monkeypatch.setattr(choose, "answering_estimates", lambda *_: ())
    monkeypatch.setattr(choose, "choice_of", lambda *_: "chosen")
    group, study = Made(chosen=None), Made(judges=())
    monkeypatch.setattr(choose, "pooled", lambda *_: (study, group, scale))
    for ask in (
        lambda: [*choose._kappas(study, group, scale, "exact")],
        lambda: choose.cheapest_adequate_judge(None),
    ):
        if few:
            ask()
            continue
        with pytest.raises(CalibrationError, match=r"26 (levels|different answers)"):
            ask()


@pytest.mark.parametrize(
    ("value", "low", "high", "outcome"),
    [
        (0.97, 0.95, 0.99, "within"), (0.97, 0.949, 0.99, "cannot tell"), (0.9, 0.8, 0.95, "cannot tell"),
        (0.9, 0.8, 0.949, "beyond"), (1.0, 0.8, 1.0, "within"), (0.97, 0.955, 0.99, "within"), (0.9, 0.8, 0.945, "beyond"),
        (0.97, 0.945, 0.99, "cannot tell"), (0.9, 0.8, 0.955, "cannot tell"),
    ],
)  # fmt: skip
def test_usable_answers_are_at_least_ninety_five_percent(value: float, low: float, high: float, outcome: str) -> None:
    assert card._answers("j", estimate("valid_share", value, low=low, high=high)).outcome == outcome


@pytest.mark.parametrize(("covered", "told"), [(0.95, False), (0.949, True), (0.945, True), (0.955, False)])
def test_a_judge_that_is_compared_on_less_than_ninety_five_percent_is_not_within(covered: float, told: bool) -> None:
    row = card._answers("j", estimate("valid_share", 1.0, low=1.0, high=1.0))
    (found,) = card.covering([row], covered)
    assert (found.outcome == "cannot tell") == told


@pytest.mark.parametrize(
    ("bound", "text"),
    [(0.0, "at most 0.0 points more"), (-0.01, "at least 1.0 points less"), (0.01, "at most 1.0 points more"), (-2, "at least 200.0 points less")],
)  # fmt: skip
def test_a_bound_of_nothing_is_at_most_nothing_more(bound: float, text: str) -> None:
    assert number_words._most(bound, True) == text


@pytest.mark.parametrize(
    ("p", "text"), [(0.001, "p = .001"), (0.0009, "p < .001"), (0.0015, "p = .002"), (0.00001, "p < .001")]
)
def test_a_p_below_a_thousandth_has_no_digits(p: float, text: str) -> None:
    assert open_words.p_words(p) == text


@pytest.mark.parametrize(("clusters", "told"), [(19, True), (20, False)])
def test_a_choice_on_fewer_than_twenty_clusters_says_so(clusters: int, told: bool) -> None:
    chosen = Made(agreement=Made(clusters=clusters))
    facts: Any = Made(candidates=(), chosen=chosen, word="topics", plan=PLAN)
    assert bool([*choice_words._few_clusters(facts)]) == told


@pytest.mark.parametrize(("topics", "told"), [(19, True), (20, False)])
def test_looks_at_any_time_decide_nothing_before_the_twentieth_topic(topics: int, told: bool) -> None:
    assert ("Before 20 topics it decides nothing" in open_words.look_words(Looking("any_time", topics))) == told
    assert (Looking("any_time", topics).level(0.05, 0.5) == 0) == told


def test_bounds_of_a_look_without_error_are_none_and_of_another_are_moved() -> None:
    assert math.isnan(looking._moved(0.1, 0.2, 0.05, 0.0, 30))
    assert looking._moved(0.1, 0.2, 0.05, 0.05, 30) == pytest.approx(0.2)
    assert looking._moved(0.1, 0.2, 0.05, 0.01, 30) > 0.2


@pytest.mark.parametrize(
    ("lower", "p", "outcome"),
    [
        (0.05, 0.5, "cannot_tell"), (0.0501, 0.5, "inferior"), (0.0, ERROR, "non_inferior"),
        (0.0, ERROR + 1e-9, "cannot_tell"),
    ],
)  # fmt: skip
def test_a_claim_over_all_looks_is_decided_past_the_margin_or_up_to_the_error(
    lower: float, p: float, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "_moved", lambda value, bound, *_: bound)
    monkeypatch.setattr(looking, "_family_p", lambda *_: p)
    monkeypatch.setattr(looking, "_needed_once", lambda *_: None)
    monkeypatch.setattr(looking, "replace", lambda one, **changed: Made(**vars(one) | changed))
    difference = Made(value=0.02, clusters=30, low=0.0, high=0.04)
    claim: Any = Made(
        test=Made(difference=difference, lower=lower, upper=0.1, law=None),
        outcome="inferior",
        p_adjusted=p,
        needed=None,
    )
    assert looking._claim(claim, PLAN, Looking("planned", 30, 60), 1, 1e-4).outcome == outcome


@pytest.mark.parametrize(
    ("outcome", "p", "upper", "expected"),
    [
        ("above", ERROR, 0.1, "above"), ("above", ERROR + 1e-9, 0.1, "cannot_tell"), ("below", 0.9, -1e-9, "below"),
        ("below", 0.9, 0.0, "cannot_tell"),
    ],
)  # fmt: skip
def test_a_judge_stays_above_over_all_looks_up_to_the_error(
    outcome: str, p: float, upper: float, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "_moved", lambda value, bound, *_: bound)
    monkeypatch.setattr(looking, "_family_p", lambda *_: p)
    monkeypatch.setattr(looking, "replace", lambda one, **changed: Made(**vars(one) | changed))
    one: Any = Made(
        outcome=outcome, p_adjusted=p, upper=upper, lower=-0.2, clusters=30, value=0.6, bound=0.7, needed=None
    )
    assert looking._above(one, PLAN, Looking("planned", 30, 60), 1, 0.001).outcome == expected


@pytest.mark.parametrize(("least", "shown"), [(ERROR, True), (ERROR + 1e-9, False)])
def test_a_look_can_show_what_its_least_p_reaches_the_error_with(
    least: float, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "_family_p", lambda p, *_: p)
    monkeypatch.setattr(looking, "replace", lambda one, **changed: Made(**vars(one) | changed))
    one: Any = Made(
        outcome="cannot_tell", p_adjusted=0.5, upper=0.1, lower=-0.2, clusters=30, value=0.6, bound=0.7, needed=None
    )
    assert looking._above(one, PLAN, Looking("planned", 30, 60), 1, least).can_be_shown == shown


@pytest.mark.parametrize(("gap", "known"), [(0.05, False), (0.06, False), (0.048, True)])
def test_no_number_of_topics_shows_a_gap_of_the_margin_to_be_smaller(gap: float, known: bool) -> None:
    found: Any = Made(value=gap, clusters=30, low=gap - 0.03, high=gap + 0.03)
    needed = looking._needed_once(found, PLAN)
    assert needed is not None
    assert (needed.clusters is not None) == known


@pytest.mark.parametrize(
    ("at_hand", "exact", "clusters"),
    [(30, 9_999.5, 10_000), (30, 10_000.5, None), (2_000, 19_999.5, 20_000), (2_000, 20_000.5, None)],
)
def test_more_clusters_than_anybody_labels_are_no_advice(
    at_hand: int, exact: float, clusters: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = stats.norm.ppf(PLAN.level) + stats.norm.ppf(PLAN.power)
    monkeypatch.setattr(looking, "effect_of", lambda *_: both / math.sqrt(exact))
    needed = looking._needed_once(Made(value=0.0, clusters=at_hand), PLAN)
    assert needed is not None
    assert (needed.clusters, needed.note) == (clusters, "" if clusters else "too_many")


@pytest.mark.parametrize(("least", "early"), [(0.05, False), (0.05 + 1e-9, True)])
def test_a_look_whose_least_p_is_above_the_error_is_too_early(
    least: float, early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "_family_p", lambda *_: least)
    assert ("it is too early to show" in open_words.look_words(Looking("planned", 40, 60))) == early


def test_a_plan_of_looks_is_large_enough_where_it_has_the_power_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "shown_by", lambda *_: 0.8)
    assert looking.planned_clusters.__wrapped__(40, 3, power=0.8) == 40
    monkeypatch.setattr(looking, "shown_by_each", lambda at, *_: np.full(len(at), 0.8))
    assert looking.any_time_clusters.__wrapped__(40, power=0.8) == 20
    assert looking._drift(40, 0.05, 0.8) == pytest.approx((1.6449 + 0.8416) / math.sqrt(40), abs=1e-4)


def test_power_is_eighty_percent_where_nobody_says_another() -> None:
    assert PLAN.power == 0.8
    assert looking.any_time_clusters(40) == looking.any_time_clusters(40, power=0.8)
    assert looking.planned_clusters(40, 2) == looking.planned_clusters(40, 2, power=0.8) > 40
    assert Looking("any_time", 30).needed.__defaults__[-1] == 0.8


@pytest.mark.parametrize(("level", "able"), [(0.0, False), (0.01, True), (1e-9, True)])
def test_a_next_look_without_error_shows_nothing(level: float, able: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Looking, "_level_at", lambda *_: level)
    monkeypatch.setattr(looking, "_at_level", lambda *_: 31)
    assert Looking("planned", 30, 60)._next_look(20, 0.05, 0.8) == (31 if able else None)


@pytest.mark.parametrize(
    ("lower", "p", "outcome"),
    [(0.05, 0.5, "cannot_tell"), (0.0501, 0.5, "inferior"), (0.0, ERROR, "cannot_tell"), (0.0, ERROR - 1e-9, "non_inferior")],
)  # fmt: skip
def test_a_claim_is_decided_past_the_margin_or_below_the_error(lower: float, p: float, outcome: str) -> None:
    test: Any = Made(reason="", lower=lower)
    assert noninferiority._claimed(test, p, PLAN) == outcome


@pytest.mark.parametrize(("margin", "refused"), [(0.0, True), (-0.5, True), (1e-9, False), (0.5, False)])
def test_a_margin_is_above_nothing(margin: float, refused: bool) -> None:
    if not refused:
        noninferiority._need_margin(margin)
        return
    with pytest.raises(CalibrationError):
        noninferiority._need_margin(margin)


@dataclass(frozen=True)
class Panel:
    """Of a study what leaving somebody out reads."""

    annotators: tuple[Any, ...]
    criteria: tuple[str, ...] = ()
    judges: tuple[Any, ...] = field(default=())


@pytest.mark.parametrize(
    ("people", "left_out", "note"),
    [(1, 0, ""), (2, 2, ""), (3, 3, ""), (20, 20, ""), (21, 0, "21 annotators are a crowd")],
)
def test_each_of_two_to_twenty_annotators_is_left_out_in_turn(
    people: int, left_out: int, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel_sensitivity, "scale_of", lambda *_: None)
    monkeypatch.setattr(panel_sensitivity, "_agreement", lambda *_: {})
    monkeypatch.setattr(panel_sensitivity, "_first_places", lambda *_: ())
    study: Any = Panel(tuple(Made(rater=f"p{n}") for n in range(people)))
    found = panel_sensitivity.panel_sensitivity(study, None, PLAIN)
    assert len(found.without) == left_out
    assert found.note.startswith(note)
    assert bool(found.note) == bool(note)


@pytest.mark.parametrize(("labels", "kept"), [(25, True), (26, False)])
def test_agreement_in_one_exact_level_of_more_than_twenty_five_is_left_out_of_the_headlines(
    labels: int, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    scales: list[Any] = []
    monkeypatch.setattr(panel_sensitivity, "scale_of", lambda *_: Made(labels=range(labels)))
    monkeypatch.setattr(panel_sensitivity, "ties_rule", lambda *_: "exact")
    monkeypatch.setattr(panel_sensitivity, "_agreement", lambda study, scale, settings: scales.append(scale) or {})
    monkeypatch.setattr(panel_sensitivity, "_first_places", lambda *_: ())
    study: Any = Panel(())
    panel_sensitivity.panel_sensitivity(study, None, PLAIN)
    assert (scales[0] is not None) == kept
