"""What a bias and a stress test are called turns on limits: a case on each side, and the limit itself."""

from __future__ import annotations

import dataclasses
import math
import warnings
from types import SimpleNamespace as Made
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibration.biases import position_bias
from calibration.biases import preference_bias as length_bias
from calibration.errors import CalibrationError
from calibration.inference import stress_effect
from calibration.inference.compare import Difference, paired_difference
from calibration.results import CalibrationSettings
from calibration.study import bias
from calibration.study.bias import Asked
from calibration.table import checking
from tests.calibration.limits.made import estimate

PLAIN = CalibrationSettings()


@pytest.mark.parametrize(
    ("low", "high", "seen", "word"),
    [
        (0.0, 0.1, 0.01, "cannot_tell"), (0.01, 0.1, 0.01, "found"), (-0.01, 0.1, 0.01, "cannot_tell"),
        (-0.1, 0.0, 0.01, "cannot_tell"), (-0.1, -0.01, 0.01, "found"), (-0.1, 0.01, 0.01, "cannot_tell"),
        (-0.01, 0.01, 0.05, "not_found"), (-0.01, 0.01, 0.0501, "cannot_tell"), (-0.05, 0.05, 0.05, "not_found"),
    ],
)  # fmt: skip
def test_a_bias_is_found_beside_nothing_and_absent_where_its_floor_would_have_been_seen(
    low: float, high: float, seen: float, word: str
) -> None:
    assert bias.outcome(low, high, seen, 0.05) == word


@pytest.mark.parametrize(
    ("one", "other", "word"),
    [(0.1, -0.1, "cannot_tell"), (0.1, 0.0, "cannot_tell"), (0.1, 0.2, "found"), (-0.1, -0.2, "found")],
)
def test_two_measures_agree_in_direction_too(one: float, other: float, word: str) -> None:
    both: Any = [Made(outcome="found", effect=effect) for effect in (one, other)]
    assert bias.both_say(both) == word


@pytest.mark.parametrize(
    ("score", "method"),
    [(0.5, "wilson_effective_n"), (1.0, "wilson_effective_n"), (-1.0, "wilson_effective_n"), (1.5, "none")],
)
def test_scores_without_spread_have_bounds_of_a_share_up_to_one(score: float, method: str) -> None:
    assert bias.bias_of(Asked("s", "j", PLAIN), np.full(8, score), np.repeat(range(4), 2)).estimate.method == method


@pytest.mark.parametrize(
    ("null", "topics", "place"),
    [(0.0, 11, "cannot tell"), (0.0, 12, "within"), (0.5, 6, "cannot tell"), (0.5, 7, "within")],
)
def test_a_rater_that_hardly_varies_is_told_what_one_is_that_never_does(null: float, topics: int, place: str) -> None:
    of, alike = np.repeat(range(topics), 39), np.full(39 * topics, null)
    unlike = np.where(np.arange(39 * topics), alike, null + 0.5)  # one answer of all is another
    never, hardly = (bias.bias_of(Asked("s", "j", PLAIN, null), scores, of) for scores in (alike, unlike))
    assert (never.place, hardly.place, never.outcome) == (place, place, hardly.outcome)
    assert (hardly.effect, hardly.estimate.low) == pytest.approx((never.effect, never.estimate.low), abs=0.003)
    assert hardly.estimate.high == pytest.approx(never.estimate.high, abs=0.003)
    assert hardly.estimate.high >= never.estimate.high > null


@pytest.mark.parametrize(
    ("clusters", "low", "high", "method"),
    [
        (1, -0.001, 0.001, "cluster_t"), (2, -0.001, 0.001, "wilson_effective_n"),
        (9, 0.0, 0.001, "wilson_effective_n"), (9, 0.0001, 0.001, "cluster_t"),
        (9, -0.001, 0.0, "wilson_effective_n"), (9, -0.001, -0.0001, "cluster_t"),
    ],
)  # fmt: skip
def test_an_interval_is_made_wider_where_it_holds_no_effect_and_there_are_two_clusters(
    clusters: int, low: float, high: float, method: str
) -> None:
    found = Difference((low + high) / 2, low, high, 0.5, 90, clusters)
    assert bias.bias_from(Asked("s", "j", PLAIN), found).estimate.method == method


def test_an_interval_that_leaves_no_effect_out_stays_as_t_has_it() -> None:
    of, scores = np.repeat(range(10), 39), (np.arange(390) % 39 < 1).astype(float)
    scores[:39] += np.arange(39) == 5  # one or two of 39 in every topic, all the same way
    found = bias.bias_of(Asked("s", "j", PLAIN), scores, of)
    t = paired_difference(scores, np.zeros(390), of)
    assert (found.outcome, found.estimate.low, found.estimate.high, found.p) == ("found", t.low, t.high, t.p)


@pytest.mark.parametrize(
    ("clusters", "worth", "known"), [(1, 5.0, False), (2, 5.0, True), (3, 5.0, True), (2, 0.0, False), (2, 0.5, True)]
)
def test_the_share_of_faults_that_would_be_seen_takes_two_clusters_that_are_worth_something(
    clusters: int, worth: float, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bias, "effective_of_sums", lambda *_: Made(n_eff=worth))
    found = bias.share_of_faults(Asked("s", "j", PLAIN), np.zeros(clusters), np.full(clusters, 5.0))
    assert math.isnan(found.detectable) != known


@pytest.mark.parametrize(
    ("low", "high", "place"),
    [
        (0.05, 0.1, "cannot tell"), (0.0501, 0.1, "beyond"), (-0.1, -0.05, "cannot tell"), (-0.1, -0.0501, "beyond"),
        (-0.05, 0.05, "within"), (-0.0501, 0.05, "cannot tell"), (-0.05, 0.0501, "cannot tell"),
    ],
)  # fmt: skip
def test_an_interval_that_touches_the_tolerance_is_within_it(low: float, high: float, place: str) -> None:
    assert stress_effect.outcome_of(low, high, 0.05) == place


@pytest.mark.parametrize(
    ("score", "tolerance", "refused"),
    [
        (0.0, 0.05, False), (1.0, 0.05, False), (-0.5, 0.05, True), (1.5, 0.05, True), (0.5, 0.0, True),
        (0.5, -0.5, True), (0.5, 1.0, False),
    ],
)  # fmt: skip
def test_scores_of_a_stress_test_are_shares_and_its_tolerance_is_above_nothing(
    score: float, tolerance: float, refused: bool
) -> None:
    scores = np.array([score, 0.5, 0.4, 0.2])
    if not refused:
        assert stress_effect.stress_effect(scores, scores[::-1], [1, 2, 3, 4], tolerance).tolerance == tolerance
        return
    with pytest.raises(CalibrationError):
        stress_effect.stress_effect(scores, scores, [1, 2, 3, 4], tolerance)


def test_five_points_matter_and_eighty_percent_find_where_nobody_says_another() -> None:
    scores = np.array([0.1, 0.5, 0.4, 0.2])
    assert stress_effect.stress_effect(scores, scores[::-1], [1, 2, 3, 4]).tolerance == 0.05
    seen = Difference(0.1, 0.0, 0.2, 0.05, 10, 2)
    assert stress_effect.detectable(seen) == stress_effect.detectable(seen, power=0.8) > 0
    assert math.isnan(stress_effect.detectable(Difference(0.1, 0.0, 0.2, 0.05, 10, 1)))
    faults = bias.share_of_faults(Asked("s", "j", PLAIN), np.zeros(10), np.ones(10))
    assert faults.detectable == pytest.approx(1 - 0.2**0.1)


@pytest.mark.parametrize(("items", "rest"), [(2, ""), (3, ""), (4, " and 1 more"), (5, " and 2 more")])
def test_of_examples_three_are_named(items: int, rest: str) -> None:
    text = checking._warning("j", [f"i{n}" for n in range(items)], items, 10).text
    assert text.count(" more)") == bool(rest)
    assert rest in text


@pytest.mark.parametrize(("longer", "counted"), [(50, 0), (51, 1), (49, 0)])
def test_a_report_is_longer_by_more_than_the_least_difference(
    longer: int, counted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = {"unit": 0, "cluster": 0, "own": 1.0, "people": 1.0, "decided": 1.0, "len_a": 100.0 + longer, "len_b": 100.0}
    monkeypatch.setattr(length_bias, "study_of", lambda *_: None)
    monkeypatch.setattr(length_bias, "with_people", lambda *_: pd.DataFrame([one]))
    assert length_bias.length_bias(pd.DataFrame(), "j", 50).longer_rate.estimate.n == counted


def shown(a_first: int, of: int) -> pd.DataFrame:
    """One pair of systems, so often the first of them shown first; each item a cluster."""
    names = [f"i{n:02}" for n in range(of)]
    order = ["AB"] * a_first + ["BA"] * (of - a_first)
    table = {"item_id": names, "cluster_id": names, "presentation": order, "run": 1, "system_a": "x", "system_b": "y"}
    made = pd.DataFrame(table).astype({"cluster_id": "category", "system_a": "category", "system_b": "category"})
    return made.assign(first=np.arange(of) % 3 > 0)


@pytest.mark.parametrize(("items", "known"), [(4, False), (5, True), (6, True)])
def test_an_order_effect_takes_five_items_for_each_further_system(items: int, known: bool) -> None:
    found = position_bias._order_effect(shown(items // 2, items), "j", PLAIN)
    assert (position_bias.UNNAMED in found.estimate.remarks) != known


@pytest.mark.parametrize(("a_first", "of", "confounded"), [(24, 25, False), (49, 50, True), (20, 25, False)])
def test_an_order_of_which_the_systems_leave_less_than_a_tenth_is_confounded(
    a_first: int, of: int, confounded: bool
) -> None:
    """Of one pair they leave 1 - ((k - m) / n)^2: .154, .078 and .64."""
    found = position_bias._order_effect(shown(a_first, of), "j", PLAIN)
    assert (position_bias.CONFOUNDED in found.estimate.remarks) == confounded


def test_an_order_of_which_the_systems_leave_just_enough_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(position_bias, "LEFT", 1.0)
    monkeypatch.setattr(position_bias, "_signs", lambda first, second, systems: np.zeros((len(first), systems)))
    found = position_bias._order_effect(shown(3, 6), "j", PLAIN)  # they explain nothing, and leave all of it
    assert position_bias.CONFOUNDED not in found.estimate.remarks


@pytest.mark.parametrize(
    ("value", "low", "high", "answers", "leans"),
    [
        (1.0, math.nan, math.nan, 6, True), (1.0, math.nan, math.nan, 5, False), (0.0, math.nan, math.nan, 6, True),
        (0.9, 0.5, 1.0, 100, False), (0.9, 0.501, 1.0, 100, True), (0.1, 0.0, 0.5, 100, False), (0.1, 0.0, 0.499, 100, True),
    ],
)  # fmt: skip
def test_a_rater_leans_beside_one_half_or_where_all_of_six_answers_fall_on_one_side(
    value: float, low: float, high: float, answers: int, leans: bool
) -> None:
    rate = dataclasses.replace(estimate("first_rate", value, low=low, high=high), n=answers)
    assert position_bias.leans(rate) == leans


@pytest.mark.parametrize(("topics", "known"), [(1, False), (2, True)])
def test_labels_of_one_topic_bound_nothing_and_warn_of_nothing(topics: int, known: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = bias.bias_of(Asked("s", "j", PLAIN), np.zeros(4), np.arange(4) % topics)
    assert math.isnan(found.estimate.low) != known
    assert math.isnan(found.detectable) != known
