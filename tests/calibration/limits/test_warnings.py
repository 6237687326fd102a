"""Every warning has a case on each side of its limit; `benchmarks/mutations.py` moves the limits and sees them fail."""

from __future__ import annotations

import math
from types import SimpleNamespace as Made
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from calibration.remarks import Reason, told, undefined
from calibration.results import CalibrationSettings
from calibration.study.joining import Answers, study_of
from calibration.study.label_scores import LabelScores
from calibration.warnings import cautions, comparison_cautions, sample_cautions
from tests.calibration.limits.made import estimate

PLAIN = CalibrationSettings()


def codes(warnings: Any) -> list[str]:
    return [one.code for one in warnings]


@pytest.mark.parametrize(
    ("clusters", "criteria", "expected"),
    [(19, 2, ["few_clusters", "thin_criteria"]), (19, 1, ["few_clusters"]), (20, 2, []), (18, 3, ["few_clusters", "thin_criteria"])],
)  # fmt: skip
def test_few_clusters_are_fewer_than_twenty_and_thin_criteria_are_two_or_more(
    clusters: int, criteria: int, expected: list[str]
) -> None:
    study: Any = Made(clusters=range(clusters), criteria=range(criteria))
    assert codes(sample_cautions.few_clusters(study, CalibrationSettings(per_criterion=True))) == expected


@pytest.mark.parametrize(("percent", "warned"), [(0.01, False), (0.99, False), (1.0, True), (4.9, True)])
def test_resamples_without_a_value_are_named_from_one_percent_on(percent: float, warned: bool) -> None:
    left_out = told(Reason.UNDEFINED_RESAMPLES, percent=percent)
    stands = estimate("cohen_kappa", 0.5, remarks=(left_out,), low=0.4, high=0.6)
    assert codes(cautions._dashes([stands])) == ["undefined_shown_as_dash"] * warned


@pytest.mark.parametrize(("labels", "many"), [(25, False), (26, True)])
def test_many_labels_are_more_than_twenty_five(labels: int, many: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    scale = Made(labels=range(labels), declared=False)
    for module in (cautions, sample_cautions):
        monkeypatch.setattr(module, "scale_of", lambda *_: scale)
    nobody = pd.DataFrame({"rater_kind": [], "criterion": []})
    study: Any = Made(kinds={"c": "free"}, criteria=("c",), frame=nobody)
    assert codes(cautions._kinds(study, PLAIN)) == ["many_labels"] * many
    study.kinds = {"c": "rating"}  # so many scores are what ratings are
    assert codes(sample_cautions._scales(study, PLAIN)) == ["undeclared_scale"] * (not many)


def crowd(monkeypatch: pytest.MonkeyPatch, people: int, shared: int, units: int = 1_000) -> Any:
    """A study of so many people of whom the first two share so many labels, all alike, and the others none."""
    table = np.zeros((people, people), int)
    if people > 1:
        table[0, 1] = table[1, 0] = shared
    for module in (cautions, sample_cautions):
        monkeypatch.setattr(module, "shared_units", lambda *_, **__: table)
    return Made(annotators=[Made(rater=f"p{n}") for n in range(people)], units=units)


@pytest.mark.parametrize(
    ("people", "shared", "expected"),
    [
        (0, 0, ["one_annotator"]), (1, 0, ["one_annotator"]), (2, 0, ["two_annotators"]), (3, 0, []),
        (3, 29, []), (3, 30, ["duplicate_raters"]), (200, 30, ["duplicate_raters"]), (201, 30, []),
    ],
)  # fmt: skip
def test_how_many_annotators_there_are_and_who_may_be_one_person(
    people: int, shared: int, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert codes(cautions._people(crowd(monkeypatch, people, shared))) == expected


@pytest.mark.parametrize(
    ("equal", "warned"),
    [
        (0.93, False),  # 21 pairs, .93 to the power of 30: 2.4 such pairs are to be expected
        (0.80, True),  # .03 of a pair
        (1.00, True),  # all say the same throughout, which no chance explains
    ],
)
def test_thirty_equal_labels_are_two_people_where_others_agree_as_often(equal: float, warned: bool) -> None:
    shared = np.triu(np.full((7, 7), 30), 1)
    alike = np.triu(np.full((7, 7), 30 * equal), 1)
    alike[0, 1] = 30
    assert bool(cautions._by_chance(shared, alike)[0, 1]) is not warned


def by_chance(others: int, alike: int) -> bool:
    """Of a pair with 30 equal labels beside one with so many others."""
    shared, equal = np.zeros((3, 3), int), np.zeros((3, 3), int)
    shared[0, 1:], equal[0, 1:] = (30, others), (30, alike)
    with np.errstate(all="raise"):
        return bool(cautions._by_chance(shared, equal)[0, 1])


def test_what_chance_explains_is_one_pair_in_twenty_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    assert by_chance(1_000, 887)  # two such pairs, .887 to the power of 30: .055 are to be expected
    assert not by_chance(1_000, 881)  # .045
    assert not by_chance(0, 0)
    monkeypatch.setattr(cautions, "UNLIKELY", 0.5**30)
    assert by_chance(2, 1)


@pytest.mark.parametrize(("others", "never"), [(7, True), (6, False)])  # .5 to the power of 7 is .008, of 6 .016
def test_a_word_is_never_given_where_chance_is_below_one_percent(others: int, never: bool) -> None:
    own, other = pd.Series({"x": 5, "y": 5, "z": 0}), pd.Series({"x": 0, "y": others, "z": 0})
    assert sample_cautions._never_of(own, other) == ({"x": 5} if never else {})


def test_a_word_as_likely_as_the_limit_is_no_word_of_one_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_cautions, "RARE", 0.25)
    assert sample_cautions._never_of(pd.Series({"x": 1, "y": 1}), pd.Series({"x": 0, "y": 2})) == {}


def test_people_and_judges_alone_are_enough_for_words_of_one_kind() -> None:
    said = [("human", "none"), ("human", "yes"), ("judge", "ignore"), ("judge", "yes")] * 7
    frame = pd.DataFrame(said, columns=["rater_kind", "label"]).assign(criterion="c", status="ok")
    study: Any = Made(
        frame=frame, of_kind=lambda table, kind: np.full(len(table), kind == "probe"), kinds={"c": "probe"}
    )
    assert codes(sample_cautions._words_of_one_kind(study)) == ["words_of_one_kind"]


@pytest.mark.parametrize(
    ("people", "shared", "units", "expected"),
    [
        (3, 9, 1_000, ["thin_rater_pairs"]), (3, 10, 1_000, []), (3, 1, 1_000, ["thin_rater_pairs"]), (3, 0, 1_000, []),
        (2, 9, 1_000, []), (200, 9, 1_000, ["thin_rater_pairs"]), (201, 9, 1_000, []),
        (3, 0, 2, ["maybe_transposed"]), (3, 0, 3, []), (2, 0, 1, []),
    ],
)  # fmt: skip
def test_a_thin_pair_shares_one_to_nine_labels_and_a_table_on_its_side_has_more_raters_than_labels(
    people: int, shared: int, units: int, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert codes(sample_cautions._panel(crowd(monkeypatch, people, shared, units))) == expected


def test_thin_pairs_are_counted_among_the_pairs_that_share_a_label(monkeypatch: pytest.MonkeyPatch) -> None:
    study = crowd(monkeypatch, 3, 1)
    sample_cautions.shared_units(study)[0, 2] = 10
    (told,) = sample_cautions._panel(study)
    assert told.text.startswith("1 of 2 pairs of annotators share fewer than 10 labels (p0 and p1 1)")


def shown(first: int, of: int, known: bool = True, raters: int = 1) -> Any:
    """Pairs of which so many were shown with A first."""
    names = [f"r{n % raters}" for n in range(of)]
    order = ["AB"] * first + ["BA"] * (of - first) if known else [""] * of
    frame = pd.DataFrame(
        {"rater_id": pd.Categorical(names), "item_id": [f"i{n}" for n in range(of)], "run": 1, "presentation": order}
    )
    return Made(frame=frame, of_kind=lambda table, kind: np.ones(len(table), bool))


@pytest.mark.parametrize(
    ("first", "of", "warned"),
    [
        (5, 20, False), (4, 20, True), (15, 20, False), (16, 20, True), (19, 19, False), (20, 20, True), (0, 20, True),
        (59, 90, True), (57, 90, False), (240, 400, False), (241, 400, True), (160, 400, False), (140, 400, True),
        (450, 1_000, False),
    ],
)  # fmt: skip
def test_an_unbalanced_order_is_outside_of_forty_to_sixty_percent_and_of_what_a_coin_draws(
    first: int, of: int, warned: bool
) -> None:
    assert codes(cautions._orders(shown(first, of), [], [])) == ["unbalanced_order"] * warned


def test_an_order_just_as_far_out_as_a_coin_draws_is_no_habit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cautions, "Z_OF_A_COIN", 2.0)  # 2.576 roots of a whole number are never whole so far out
    assert codes(cautions._orders(shown(40, 64), [], [])) == []
    assert codes(cautions._orders(shown(41, 64), [], [])) == ["unbalanced_order"]


@pytest.mark.parametrize(("raters", "rest"), [(4, False), (5, False), (6, True), (7, True)])
def test_of_raters_without_an_order_five_are_named(raters: int, rest: bool) -> None:
    (told,) = cautions._orders(shown(0, raters, known=False, raters=raters), [], [])
    assert (f"and {raters - 5} more raters" in told.text) == rest


@pytest.mark.parametrize(("p", "warned"), [(0.05, False), (0.0499, True), (0.045, True), (0.055, False)])
def test_a_position_bias_has_a_p_below_five_percent(p: float, warned: bool) -> None:
    bias: Any = Made(estimate=estimate("first_rate", 0.6), p=p)
    assert codes(cautions._orders(shown(10, 20), [], [bias])) == ["position_bias"] * warned


@pytest.mark.parametrize(("value", "warned"), [(0.8, False), (0.79, True), (0.75, True), (0.85, False)])
def test_an_inconsistent_order_keeps_fewer_than_eighty_percent(value: float, warned: bool) -> None:
    told = cautions._orders(shown(10, 20), [estimate("swap_consistency", value)], [])
    assert codes(told) == ["order_inconsistent"] * warned


@pytest.mark.parametrize(
    ("count", "shows"), [(1, "alpha (one_unit)"), (2, "alpha (one_unit) × 2"), (3, "alpha (one_unit) × 3")]
)
def test_dashes_of_one_kind_are_counted_from_two_on(count: int, shows: str) -> None:
    (told,) = cautions._dashes([estimate("alpha", np.nan, remarks=(undefined(Reason.ONE_UNIT),))] * count)
    assert told.text.endswith(f": {shows}")


@pytest.mark.parametrize(
    ("tried", "warned"), [((), False), (("a",), False), (("a", "b"), True), (("a", "b", "c"), True)]
)
def test_a_selected_judge_is_one_of_two_or_more(tried: tuple[str, ...], warned: bool) -> None:
    assert bool([*comparison_cautions.selected_judge(tried, "a")]) == warned


@pytest.mark.parametrize(("shared", "warned"), [(0.95, False), (0.949, True), (0.945, True), (0.955, False)])
def test_unpaired_judges_share_less_than_ninety_five_percent(
    shared: float, warned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair: Any = Made(judge="a", other="b", shared=shared, difference=Made(n=10))
    assert bool([*comparison_cautions.unpaired_judges(pair)]) == warned
    compared: list[int] = []
    scores: Any = Made(judges={"a": 0, "b": 0}, clusters=None)
    monkeypatch.setattr(comparison_cautions, "shared_labels", lambda *_: shared)
    monkeypatch.setattr(comparison_cautions, "compare_judges", lambda *_: compared.append(1) or [pair])
    assert bool([*comparison_cautions._unpaired(scores, PLAIN)]) == bool(compared) == warned


@pytest.mark.parametrize(
    ("low", "high", "warned"), [(0.0, 0.1, True), (-0.1, 0.0, True), (0.01, 0.1, False), (-0.1, -0.01, False)]
)
def test_a_difference_that_was_not_shown_has_an_interval_that_holds_nothing_at_its_very_end(
    low: float, high: float, warned: bool
) -> None:
    gap = Made(low=low, high=high, value=(low + high) / 2, clusters=30)
    claim: Any = Made(
        test=Made(difference=gap, margin=0.05), outcome="cannot_tell", reference="human_ceiling", judge="j", needed=None
    )
    assert bool([*comparison_cautions.not_shown_equal(claim)]) == warned


@pytest.mark.parametrize(
    ("deff", "n", "warned"),
    [
        (1.5, [1, 2], False), (1.55, [1, 2], True), (1.45, [1, 2], False), (1.0, [2, 2], True), (1.0, [1, 2], False),
        (1.0, [2, 2, 0, 0], True), (1.0, [1, 3, 1, 2], False),
    ],
)  # fmt: skip
def test_labels_are_nested_from_a_design_effect_of_one_and_a_half_or_two_a_cluster(
    deff: float, n: list[int], warned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = np.array(n, float)
    monkeypatch.setattr(cautions, "agreement_by_cluster", lambda *_: (sizes, sizes))
    monkeypatch.setattr(cautions, "effective_of_sums", lambda *_: Made(deff=deff, icc=0.1, n_eff=1.0))
    assert bool([*cautions.nested_labels(None, Made(rater="j"))]) == warned


def answers(*units: int, label: int = 0) -> Answers:
    count, none = len(units), np.zeros(0, int)
    asked, weight = np.array(units), np.ones(count, int)
    return Answers("r", "judge", asked, np.full(count, label), weight, 1, asked, none, none, none, np.zeros(0))


def test_only_labels_that_the_judge_answered_too_are_compared_or_dropped_as_ties() -> None:
    study: Any = Made(
        clusters=range(2), labels=("tie", "A"), units=2, unit_cluster=np.array([0, 1]), annotators=[answers(0, 1)]
    )
    agree, n = cautions.agreement_by_cluster(study, answers(0))
    assert (agree.tolist(), n.tolist()) == ([1, 0], [1, 0])
    assert cautions._tied(study, answers(0)) == 1


@pytest.mark.parametrize(
    ("items", "unasked", "expected"),
    [(100, 5, []), (100, 6, ["join_loss", "labels_dropped"]), (100, 0, [])],
)
def test_more_than_five_percent_without_a_row_are_a_loss_of_the_join_and_less_than_ninety_five_compared_are_told(
    items: int, unasked: int, expected: list[str]
) -> None:
    rows = [(f"i{n:03}", rater, kind) for n in range(items) for rater, kind in (("ann", "human"), ("j", "judge"))]
    frame = pd.DataFrame(rows, columns=["item_id", "rater_id", "rater_kind"])
    frame["criterion"], frame["label"], frame["cluster_id"] = "c", "A", frame["item_id"]
    lost = (frame["rater_id"] == "j") & (frame["item_id"] < f"i{unasked:03}")
    study = study_of(frame[~lost], PLAIN)
    assert codes(cautions.lost_answers(study, study.judges[0], PLAIN)) == expected


def test_studies_that_are_joined_lose_no_row_of_people_and_a_judges_own_loss_is_told_of_what_it_was_asked() -> None:
    """People prefer, and say how many points a report covers; `scores` rates reports, `points` counts points."""
    rows = [(f"i{n:03}", "overall", "ann", "human", "AB"[n % 2]) for n in range(40)]
    rows += [(f"quality: {n}", "clarity", "scores", "judge", str(n % 10)) for n in range(40)]
    rows += [(f"points: {n}", "KPR", "ann", "human", f"0.{n % 9}") for n in range(20)]
    rows += [(f"points: {n}", "KPR", "points", "judge", f"0.{n % 8}") for n in range(2, 40)]
    rows += [(f"i{n:03}", "clearness", "same items", "judge", str(n % 10)) for n in range(40)]
    rows += [(f"i{n:03}", "Overall", "misspelt", "judge", "A") for n in range(40)]
    frame = pd.DataFrame(rows, columns=["item_id", "criterion", "rater_id", "rater_kind", "label"])
    study = study_of(frame.assign(cluster_id=frame["item_id"]), PLAIN)
    told = {
        judge.rater: [(one.code, one.facts.get("lost"), one.facts["rows"]) for one in warnings]
        for judge in study.judges
        if (warnings := [*cautions.lost_answers(study, judge, PLAIN)])
    }
    assert told == {
        "points": [("join_loss", 2, 20), ("labels_dropped", None, 20)],
        "misspelt": [("join_loss", 40, 40), ("labels_dropped", None, 40)],
    }


@pytest.mark.parametrize(("within", "warned"), [(0.1, False), (0.15, True), (0.05, False), (0.25, True)])
def test_pooled_and_stratified_kappa_more_than_a_tenth_apart_are_told(within: float, warned: bool) -> None:
    own = [
        estimate(name, value, "j", "each_annotator")
        for name, value in (("cohen_kappa", 0.0), ("stratified_kappa", within))
    ]
    assert bool([*cautions.constant_answers(Made(rater="j"), own, None)]) == warned


@pytest.mark.parametrize(
    ("value", "bound", "note", "expected"),
    [
        (0.7, 0.7, "too_few_clusters", ["baseline_not_beaten"]), (0.71, 0.7, "too_few_clusters", []),
        (0.71, 0.7, "", ["baseline_not_beaten"]), (0.95, 0.9, "few", ["skewed_reference"]), (0.95, 0.89, "few", []),
        (0.95, 0.85, "few", []),
    ],
)  # fmt: skip
def test_a_constant_answer_is_beaten_above_its_own_value_and_skewed_from_ninety_percent(
    value: float, bound: float, note: str, expected: list[str]
) -> None:
    found: Any = Made(
        outcome="cannot_tell", note=note, value=value, bound=bound, p_adjusted=np.nan, judge="j", can_be_shown=True
    )
    assert codes(cautions._no_better_than_constant(found, near=False)) == expected


@pytest.mark.parametrize(("copied", "of", "warned"), [(2, 10, True), (1, 10, False), (1, 5, True), (1, 6, False)])
def test_a_fifth_of_the_rationales_is_copied(copied: int, of: int, warned: bool) -> None:
    names, kinds = ["ann"] * of + ["j"] * of, ["human"] * of + ["judge"] * of
    frame = pd.DataFrame({"rater_id": names, "rater_kind": kinds, "unit": [*range(of)] * 2})
    own = [f"same {n}" if n < copied else f"own {n}" for n in range(of)] + [f"same {n}" for n in range(of)]
    study: Any = Made(written=(pd.Series(own, dtype="str"), np.arange(2 * of)), frame=frame)
    assert bool([*sample_cautions._same_reasons(study)]) == warned


@pytest.mark.parametrize(
    ("value", "warned"), [(0.0, False), (0.5, False), (1.0, False), (-0.5, True), (1.5, True), (np.nan, False)]
)
def test_a_share_is_out_of_range_below_nothing_and_above_one(value: float, warned: bool) -> None:
    study: Any = Made(frame=pd.DataFrame({"cost_usd": [np.nan], "rater_id": ["j"]}))
    assert bool([*sample_cautions._ranges(study, [estimate("percent_agreement", value)])]) == warned


@pytest.mark.parametrize(("dear", "warned"), [(1.0, False), (1.005, True), (0.995, False), (1.02, True)])
def test_a_row_costs_more_than_a_hundred_times_the_median_of_those_that_cost_anything(
    dear: float, warned: bool
) -> None:
    study: Any = Made(frame=pd.DataFrame({"cost_usd": [0.0] * 6 + [0.01] * 4 + [dear], "rater_id": "j"}))
    assert bool([*sample_cautions._ranges(study, [])]) == warned


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        ((9,), "over 9 systems, fewer"), ((10,), ""), ((9, 8), "over 8 systems (one of 2 such)"), ((9, 8, 7), "(one of 3 such)"),
        ((0,), ""), ((1,), "over 1 systems, fewer"),
    ],
)  # fmt: skip
def test_few_systems_are_fewer_than_ten_and_further_such_correlations_are_counted(
    systems: tuple[int, ...], said: str
) -> None:
    found = [estimate("pearson_systems", 0.5, remarks=(told(Reason.OVER_SYSTEMS, systems=count),)) for count in systems]
    warned = [one.text for one in comparison_cautions.system_cautions(found)]
    assert [said in text for text in warned] == [True] * bool(said)


def test_a_label_is_one_of_several_where_its_unit_has_two() -> None:
    units, agreed = np.array([0, 1, 1, 2, 2, 2]), np.array([1.0, 0.5, 0.25, 0.0, 0.0, 0.0])
    [found] = comparison_cautions.twice_or_once(LabelScores({"j": agreed}, units, units, len(units)))
    assert (found.once, found.twice) == (1.0, 0.15)
    assert found.fewest == 0, "of the one label that stands alone the judge misses none: three of three say nothing"


@pytest.mark.parametrize(
    ("agreed", "topics", "several", "p"),
    [
        ([1.0, 0.5, 0.5, 1.0], [0, 1, 0, 1], [1, 1, 0, 0], 1.0),  # both means are .75
        ([1.0, 0.5, 0.5, 1.0], [0, 0, 0, 0], [1, 1, 0, 0], math.nan),  # one topic has no spread
        ([1.0, 1.0, 0.5, 0.5], [0, 1, 0, 1], [1, 1, 0, 0], math.nan),  # nor have topics that are all alike
        # influences (1/8, -1/8) of the two topics with a label; the third has none: t = (3/4 - 1/4) / sqrt(2 / 32) = 2 on 1 df
        ([1.0, 0.5, 0.25, 0.25, math.nan], [0, 1, 0, 0, 2], [1, 1, 0, 0, 1], 2 * stats.t.sf(2, 1)),
    ],
)  # fmt: skip
def test_unlike_second_labels_are_told_by_t_over_the_topics_that_hold_labels(
    agreed: list[float], topics: list[int], several: list[int], p: float
) -> None:
    found = comparison_cautions._compared("j", np.array(agreed), np.array(topics), np.array(several, bool))
    assert found.p == pytest.approx(p, nan_ok=True)


@pytest.mark.parametrize(
    ("others", "p", "twice", "fewest", "kind"),
    [(0, 0.01, 0.5, 5, None), (0, 0.00999, 0.5, 5, "harder"), (1, 0.005, 0.5, 5, None), (1, 0.00499, 0.6, 5, "easier"),
     (0, 0.001, 0.55, 5, "easier"), (0, 0.001, 0.5, 4.9, None)],
)  # fmt: skip
def test_second_labels_are_unlike_below_one_percent_over_all_judges(
    others: int, p: float, twice: float, fewest: float, kind: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    several = [(f"o{n}", 0.5, 0.5, 0.9, 5) for n in range(others)]
    rows = [("j", twice, 0.55, p, fewest), *several, ("none", *[math.nan] * 3, 0)]
    made = [comparison_cautions.TwiceOrOnce(*row) for row in rows]
    monkeypatch.setattr(comparison_cautions, "twice_or_once", lambda _: made)
    told_of: Any = [*comparison_cautions.second_label_cautions(Made())]  # type: ignore[arg-type] - read by the stub alone
    assert codes(told_of) == ["unlike_second_labels"] * (kind is not None)
    assert all(f"on {kind} items" in one.text for one in told_of)


def copying(people: int, shared: int, alike: int, with_people: float, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Warnings where the first annotator gave so many of the judge's labels; all annotators agree with each other so."""
    both, same = np.full((people + 1, people + 1), 100), np.full((people + 1, people + 1), 100 * with_people)
    both[0, -1], same[0, -1] = shared, alike
    same[1:, -1] = 0
    monkeypatch.setattr(sample_cautions, "shared_units", lambda *_, alike: same if alike else both)
    study: Any = Made(annotators=[Made(rater=f"p{n}") for n in range(people)], judges=[Made(rater="j")])
    return codes(sample_cautions._copied(study))


@pytest.mark.parametrize(
    ("people", "shared", "alike", "with_people", "warned"),
    [
        (2, 30, 30, 0.5, True), (2, 29, 29, 0.5, False), (2, 100, 97, 0.5, True), (2, 100, 96, 0.5, False),
        (2, 100, 100, 0.85, True), (2, 100, 100, 0.95, False), (1, 100, 100, 0.5, False), (3, 100, 100, 0.5, True),
        (200, 100, 100, 0.5, True), (201, 100, 100, 0.5, False),
    ],
)  # fmt: skip
def test_labels_are_copied_from_thirty_on_at_ninety_seven_percent_and_a_tenth_above_that_with_people(
    people: int, shared: int, alike: int, with_people: float, warned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert copying(people, shared, alike, with_people, monkeypatch) == ["copied_labels"] * warned


def test_labels_are_copied_where_the_difference_is_just_the_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_cautions, "APART", 0.125)  # no two shares are a tenth apart to the last bit
    assert copying(2, 100, 100, 0.875, monkeypatch) == ["copied_labels"]


@pytest.mark.parametrize(
    ("marks", "differ", "repeated"),
    [([1, 2], [1, 2], False), ([1, 1, 1], [1], True), ([1, 2, 3], [1, 2, 3], True)],
)
def test_topics_are_repeated_past_ten_bits(
    marks: list[int], differ: list[int], repeated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two topics of 32 units, all alike; those that differ between raters say 10, 10.2 and 15 bits."""
    of_topic = np.array([*marks, *range(10, 42 - len(marks))], np.uint64)
    both = np.concatenate([of_topic, of_topic])
    monkeypatch.setattr(sample_cautions, "_unit_marks", lambda _: (both, np.isin(both, differ)))
    study: Any = Made(
        unit_criterion=np.zeros(64, int), criteria=("c",), unit_cluster=np.repeat([0, 1], 32), clusters=("s", "t")
    )
    assert sample_cautions.repeated_topics(study) == [["s", "t"]] * repeated


def test_topics_that_share_their_labels_with_no_other_are_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = np.arange(64, dtype=np.uint64)
    monkeypatch.setattr(sample_cautions, "_unit_marks", lambda _: (marks, marks < 100))
    study: Any = Made(
        unit_criterion=np.zeros(64, int), criteria=("c",), unit_cluster=np.repeat([0, 1], 32), clusters=("s", "t")
    )
    assert sample_cautions.repeated_topics(study) == []


def test_only_what_raters_differ_on_tells_topics_apart() -> None:
    raters = [Made(rater=name, unit=np.arange(2), label=np.array([0, label])) for name, label in (("a", 0), ("b", 1))]
    study: Any = Made(
        annotators=raters, judges=[], labels=("A", "B"), unit_criterion=np.zeros(2, int), units=2,
        unit_systems=np.zeros(2, int),
    )  # fmt: skip
    assert sample_cautions._unit_marks(study)[1].tolist() == [False, True]


@pytest.mark.parametrize(("groups", "rest"), [(0, None), (3, ""), (4, " and 1 more groups"), (5, " and 2 more groups")])
def test_of_repeated_topics_three_groups_are_named(
    groups: int, rest: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_cautions, "repeated_topics", lambda _: [["s", "t"]] * groups)
    told = [one.text for one in sample_cautions._repeated(None)]
    assert len(told) == (rest is not None)
    assert rest is None or (rest in told[0] and ("more groups" in told[0]) == bool(rest))
