"""The cheapest adequate judge: right where the truth is known, silent where the data are, and never fooled by names."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calibration.choose import cheapest_adequate_judge
from calibration.choosing.choice import Candidate, Choice, gate
from calibration.choosing.choice_words import in_two, sentence_about, short_sentence
from calibration.choosing.deciding import power
from calibration.errors import CalibrationError
from calibration.results import CalibrationSettings
from tests.calibration.priced import EIGHT, priced
from tests.calibration.studies import made_ratings

SETTINGS = CalibrationSettings(margin=0.1, resamples=499)


def named(choice: Choice) -> dict[str, Candidate]:
    return {one.judge: one for one in choice.candidates}


@pytest.fixture(scope="module")
def eight() -> Choice:
    return cheapest_adequate_judge(priced(EIGHT), SETTINGS)


def test_of_eight_judges_with_known_accuracies_the_cheapest_adequate_one_is_chosen(eight: Choice) -> None:
    assert (eight.status, eight.judge) == ("chosen", "mini")
    reasons = {one.judge: one.reason for one in eight.candidates}
    assert reasons == {
        "tiny": "inferior", "small": "inferior", "mini": "", "medium": "dearer", "dull": "inferior", "large": "dearer",
        "huge": "dearer", "unpriced": "cost_unknown",
    }  # fmt: skip
    assert [one.judge for one in eight.candidates][-1] == "unpriced"  # the cheapest first, unknown costs last


def test_every_candidate_carries_what_a_reader_asks_for(eight: Choice) -> None:
    mini = named(eight)["mini"]
    assert (mini.valid_share, mini.seconds_per_item) == (1.0, 6.0)  # three criteria an item, two seconds each
    assert mini.cost_per_item == pytest.approx(0.003)
    assert (mini.agreement.method, mini.agreement.n, mini.agreement.clusters) == ("max_t", 1080, 120)
    assert mini.claim is not None
    assert (mini.claim.reference, mini.claim.test.margin) == ("human_ceiling", 0.1)
    assert mini.claim.test.p <= mini.claim.p_holm < 0.05
    assert named(eight)["dull"].on_frontier is False
    assert named(eight)["huge"].on_frontier is True
    assert eight.plan.missing_as_wrong


def test_the_sentence_stands_alone_with_numbers_clusters_and_margin(eight: Choice) -> None:
    mini = named(eight)["mini"]
    assert mini.claim is not None
    gap = mini.claim.test
    side = "less" if gap.difference.value < 0 else "more"
    assert eight.sentence == (
        "mini is the cheapest adequate judge of 8 tried: at 3.00 USD per 1,000 items it agrees with the annotators in "
        f"{100 * mini.agreement.value:.1f} % of labels (95 % interval, simultaneous over all tried, "
        f"{100 * mini.agreement.low:.1f} to {100 * mini.agreement.high:.1f} %; 1,080 labels in 120 pairs), and a "
        f"left-out annotator agrees {100 * abs(gap.difference.value):.1f} points {side} (at most "
        f"{100 * gap.upper:.1f} points more, by the unadjusted one-sided 95 % bound; margin 10.0 points, Holm-adjusted p < .001; 1,080 labels in 120 pairs). "
        "Adequate, but of unknown cost and so not chosen: unpriced; fill cost_usd."
    )
    headline, rest = in_two(eight)
    assert headline == "mini is the cheapest adequate judge of 8 tried."
    assert rest.startswith("At 3.00 USD per 1,000 items it agrees with the annotators in ")
    assert rest.endswith(eight.sentence[-200:])


def test_ten_pairs_cannot_tell_and_say_how_many_more_would_decide() -> None:
    choice = cheapest_adequate_judge(
        priced({"one": (0.8, 0.001), "two": (0.75, 0.002)}, pairs=10, seed=1), CalibrationSettings(resamples=499)
    )
    assert (choice.status, choice.judge) == ("cannot_tell", None)
    assert choice.pairs_needed is not None
    assert choice.pairs_needed > 10
    headline, rest = in_two(choice)
    assert headline == "Cannot tell from 10 pairs whether the 2 judges tried can replace an annotator."
    assert choice.sentence == f"{headline} {rest}"
    assert (
        f"after labelling {choice.pairs_needed - 10:,} more pairs ({choice.pairs_needed:,} in all)" in choice.sentence
    )
    wanted = next(one for one in choice.candidates if one.clusters_needed)
    constant = sentence_about(replace(wanted, beats_baseline=False), choice.plan)
    assert "Its gap, not whether it beats a constant answer, is decided after labelling" in constant
    assert "Decided after labelling" in sentence_about(replace(wanted, beats_baseline=True), choice.plan)
    claims = [one.claim for one in choice.candidates if one.claim and one.claim.needed and one.claim.needed.clusters]
    assert choice.pairs_needed == min(
        claim.needed.clusters for claim in claims if claim.needed and claim.needed.clusters
    )
    first = min(claims, key=lambda claim: (claim.needed and claim.needed.clusters) or 0).needed
    assert first is not None
    # Holm may test it more strictly than at .95, never less
    assert power(choice.pairs_needed, first.sd, 0.05, first.gap, 0.95) >= 0.8


@pytest.mark.parametrize("annotators", [3, 1])
@pytest.mark.parametrize("also", [{}, {"reader": (0.97, 0.002)}])
def test_a_judge_that_always_says_reference_is_never_chosen_at_95_percent(
    annotators: int, also: dict[str, tuple[float, float]]
) -> None:
    judges = {"always": (-1.0, 0.0001), "also always": (-1.0, 0.0002), **also}
    frame = priced(judges, annotators=annotators, prevalence=(0.95, 0.01, 0.04), skill=0.8, pairs=200)
    choice = cheapest_adequate_judge(frame, CalibrationSettings(resamples=499))
    always = named(choice)["always"]
    assert always.claim is not None
    assert choice.judge in (None, "reader")
    assert (always.beats_baseline, always.standing, always.agreement.value) == (False, "ruled_out", always.baseline)
    if annotators == 3:
        assert always.outcome == "non_inferior"  # the margin alone would have let it pass
        assert always.reason == "baseline_not_beaten"
        assert f"always is not recommended: it agrees in {100 * always.baseline:.1f} % of labels" in choice.sentence
        assert choice.judge == ("reader" if also else None)
        assert choice.status == ("chosen" if also else "none_adequate")


@pytest.mark.parametrize(
    ("value", "below", "standing"),
    [(0.50, True, "ruled_out"), (0.60, True, "ruled_out"), (0.58, False, "open"), (0.66, False, "adequate")],
)
def test_a_judge_below_the_constant_answer_by_chance_is_not_ruled_out(value: float, below: bool, standing: str) -> None:
    frame = priced({"one": (0.8, 0.001)}, pairs=30)
    (found,) = cheapest_adequate_judge(frame, SETTINGS).candidates
    assert found.claim is not None
    claim = replace(found.claim, outcome="non_inferior")
    told = replace(
        found, agreement=replace(found.agreement, value=value), baseline=0.6, beats_baseline=value > 0.63, claim=claim,
        below_baseline=below,
    )  # fmt: skip
    assert told.standing == standing


def test_ten_pairs_rule_no_judge_out_for_a_constant_answer_that_did_better_by_less_than_an_error() -> None:
    open_ones = 0
    for seed in range(40):
        frame = priced({"one": (0.5, 0.001)}, pairs=10, criteria=2, seed=seed, prevalence=(0.6, 0.1, 0.3))
        (found,) = cheapest_adequate_judge(frame, CalibrationSettings(resamples=199)).candidates
        gap = found.agreement.value - found.baseline
        width = (found.agreement.high - found.agreement.low) / 2  # over two standard errors
        if found.outcome != "inferior" and abs(gap) > 1e-9 and -width / 3 < gap <= 0:
            open_ones += 1
            assert found.standing == "open"
            assert not found.below_baseline
    assert open_ones  # there are such studies


def test_a_cheaper_judge_that_is_open_is_named_with_what_would_decide_it() -> None:
    frame = priced({"cheap": (0.6, 0.0001), "dear": (0.95, 0.01)}, pairs=40, seed=4)
    choice = cheapest_adequate_judge(frame, SETTINGS)
    assert (choice.status, choice.judge, named(choice)["cheap"].standing) == ("chosen", "dear", "open")
    assert choice.pairs_needed == named(choice)["cheap"].clusters_needed
    assert choice.pairs_needed is not None
    assert (
        "Cheaper but open is cheap (0.300 USD per 1,000 items): decided after labelling "
        f"{choice.pairs_needed - 40} more pairs ({choice.pairs_needed} in all), with power .8 if gap" in choice.sentence
    )


def test_a_choice_from_fewer_than_twenty_pairs_says_that_its_test_is_rough() -> None:
    few, enough = (cheapest_adequate_judge(priced({"one": (0.97, 0.001)}, pairs=n), SETTINGS) for n in (19, 20))
    assert (few.judge, enough.judge) == ("one", "one")
    assert "fewer than 20 pairs, where the test errs more often than its level says" in few.sentence
    assert "fewer than 20" not in enough.sentence


def test_open_judges_that_the_same_would_decide_stand_together() -> None:
    judges = {"one": (0.5, 0.001), "two": (0.5, 0.002)}
    choice = cheapest_adequate_judge(priced(judges, pairs=10, seed=1), CalibrationSettings(resamples=499))
    assert {one.standing for one in choice.candidates} == {"open"}
    assert (
        "Still open: one (3.00 USD per 1,000 items), two (6.00 USD per 1,000 items): no number of pairs is likely "
        "to show adequacy, the gap seen reaching the margin." in choice.sentence
    )


def test_two_judges_with_the_very_same_answers_are_level_in_number_and_sentence() -> None:
    frame = priced({"one": (0.7, 0.003)}, pairs=20, seed=1)
    frame = pd.concat([frame, frame[frame["rater_id"] == "one"].assign(rater_id="two")])
    choice = cheapest_adequate_judge(frame, CalibrationSettings(margin=0.2, resamples=499))
    one, two = choice.candidates
    assert one.clusters_needed == two.clusters_needed is not None
    assert "one and two come closest, level with each other: each agrees with the annotators in" in choice.sentence
    assert "one and two come closest, level with each other (agreement" in short_sentence(choice)


def test_an_annotator_surely_behind_the_judge_agrees_at_least_so_much_less() -> None:
    choice = cheapest_adequate_judge(priced({"better": (1.0, 0.001)}), SETTINGS)
    assert re.search(
        r"agrees [\d.]+ points less \(at least [\d.]+ points less, by the unadjusted one-sided", choice.sentence
    )


def test_when_all_judges_are_inferior_none_is_adequate() -> None:
    choice = cheapest_adequate_judge(priced({"tiny": (0.1, 0.001), "small": (0.3, 0.002)}), SETTINGS)
    assert (choice.status, choice.judge, choice.pairs_needed) == ("none_adequate", None, None)
    assert choice.sentence.startswith("None of the 2 judges tried is adequate. small comes closest")
    assert re.search(r"at least [\d.]+ points more, by the unadjusted one-sided 95 % bound; margin", choice.sentence)


def test_unknown_costs_are_listed_never_chosen_and_zero_is_a_price() -> None:
    judges = {"paid": (0.85, 0.001), "unknown": (0.85, math.nan), "local": (0.85, 0.0)}
    assert cheapest_adequate_judge(priced(judges), SETTINGS).judge == "local"
    judges = {"unknown": (0.85, math.nan), "other": (0.85, math.nan)}
    choice = cheapest_adequate_judge(priced(judges), SETTINGS)
    assert (choice.status, choice.judge) == ("cannot_tell", None)
    assert {one.reason for one in choice.candidates} == {"cost_unknown"}
    assert not any(one.on_frontier for one in choice.candidates)
    assert "is adequate, but nobody can say whether it is the cheapest, for its cost is unknown" in choice.sentence
    assert "Adequate, but of unknown cost and so not chosen: " in choice.sentence
    assert gate(choice, "other") == "chosen"  # adequate, whatever it costs
    half = priced({"paid": (0.85, 0.001)})
    half.loc[half.index[-1], "cost_usd"] = math.nan  # one call that nobody priced
    assert named(cheapest_adequate_judge(half, SETTINGS))["paid"].reason == "cost_unknown"


def test_of_equal_cost_the_judge_that_agrees_more_is_chosen() -> None:
    choice = cheapest_adequate_judge(priced({"a good": (0.8, 0.001), "better": (0.97, 0.001)}), SETTINGS)
    assert choice.judge == "better"
    assert named(choice)["a good"].reason == "lower_agreement"


def test_an_answer_that_could_not_be_used_counts_as_disagreement() -> None:
    frame = priced({"terse": (0.85, 0.001), "dear": (0.85, 0.01)})
    mute = frame.index[(frame["rater_id"] == "terse") & (frame["item_id"] < "p060")]
    frame["status"] = "ok"
    frame.loc[mute, ["label", "status"]] = ["", "invalid"]
    choice = cheapest_adequate_judge(frame, SETTINGS)
    terse, dear = named(choice)["terse"], named(choice)["dear"]
    assert choice.judge == "dear"
    assert (terse.valid_share, terse.reason, terse.agreement.n) == (0.5, "inferior", dear.agreement.n)
    assert terse.cost_per_item == pytest.approx(0.003)  # failed calls were billed


def test_without_a_second_annotator_the_best_judge_is_the_reference_and_the_sentence_says_so() -> None:
    choice = cheapest_adequate_judge(priced({"one": (0.9, 0.001), "two": (0.9, 0.002)}, annotators=1), SETTINGS)
    assert (choice.status, choice.judge, choice.plan.against) == ("chosen", "one", "best_judge")
    assert "two agrees" in choice.sentence
    assert "judges are compared with each other, not with people" in choice.sentence


def test_one_judge_beside_one_annotator_has_nothing_to_be_compared_with() -> None:
    choice = cheapest_adequate_judge(priced({"one": (0.9, 0.001)}, annotators=1), SETTINGS)
    assert (choice.status, choice.pairs_needed, choice.candidates[0].reason) == ("cannot_tell", None, "no_reference")
    assert "cannot be told" in choice.sentence


def test_without_a_judge_there_is_nothing_to_choose() -> None:
    choice = cheapest_adequate_judge(priced({}), SETTINGS)
    assert (choice.status, choice.candidates) == ("cannot_tell", ())
    assert choice.sentence == "There is no judge to choose: no row is a judge's."


def test_one_pair_cannot_tell_and_knows_no_number() -> None:
    choice = cheapest_adequate_judge(priced(EIGHT, pairs=1), SETTINGS)
    assert (choice.status, choice.pairs_needed) in {("cannot_tell", None), ("none_adequate", None)}
    assert not any(one.standing == "adequate" for one in choice.candidates)


def test_a_judge_with_only_unusable_answers_is_no_error() -> None:
    frame = priced({"mute": (0.9, 0.001), "good": (0.9, 0.002)})
    frame["status"] = "ok"
    frame.loc[frame["rater_id"] == "mute", ["label", "status"]] = ["", "invalid"]
    choice = cheapest_adequate_judge(frame, SETTINGS)
    assert (choice.judge, named(choice)["mute"].valid_share, named(choice)["mute"].reason) == ("good", 0.0, "inferior")


def test_a_panel_is_a_judge_whose_rows_cost_the_sum_of_its_members() -> None:
    frame = priced({f"m{n}": (0.5, 0.001) for n in range(5)} | {"dear": (0.95, 0.1)}, pairs=200)
    members = frame[frame["rater_id"].str.startswith("m")]
    votes = members.groupby(["item_id", "criterion", "label"]).size().unstack(fill_value=0).idxmax(axis=1)
    panel = frame[frame["rater_id"] == "m0"].set_index(["item_id", "criterion"])
    panel = panel.assign(label=votes, rater_id="panel", cost_usd=0.005).reset_index()
    alone = cheapest_adequate_judge(frame, SETTINGS)
    choice = cheapest_adequate_judge(pd.concat([frame, panel]), SETTINGS)
    assert (alone.judge, choice.judge) == ("dear", "panel")
    assert named(choice)["panel"].cost_per_item == pytest.approx(0.015)


def test_both_orders_are_a_candidate_of_their_own_at_the_price_of_both() -> None:
    frame = priced({"one": (0.9, 0.001)})
    judge = frame["rater_id"] == "one"
    again = frame[judge].assign(presentation="BA")
    frame["presentation"] = "AB"
    choice = cheapest_adequate_judge(pd.concat([frame, again]), SETTINGS)
    costs = {one.judge: one.cost_per_item for one in choice.candidates}
    assert costs == pytest.approx({"one": 0.003, "one [both orders]": 0.006})
    assert choice.judge == "one"


STUDIES = {
    "chosen": priced(EIGHT, seed=11),
    "cannot tell": priced({"one": (0.8, 0.001), "two": (0.75, 0.002)}, pairs=10, seed=1),
    "none": priced({"tiny": (0.1, 0.001), "small": (0.3, 0.002)}),
    "baseline": priced({"always": (-1.0, 0.0001)}, prevalence=(0.95, 0.01, 0.04), skill=0.8, pairs=200),
}


def told(choice: Choice) -> list[tuple[str, str, str]]:
    return [(choice.status, str(choice.judge), choice.sentence)] + [
        (one.judge, one.standing, one.reason) for one in choice.candidates
    ]


def renamed(frame: pd.DataFrame, items: set[str]) -> pd.DataFrame:
    """A called B and B called A in these items."""
    turned = frame["item_id"].isin(items)
    out = frame.copy()
    out.loc[turned, "label"] = frame["label"].replace({"A": "B", "B": "A"})[turned]
    out.loc[turned, ["system_a", "system_b"]] = frame.loc[turned, ["system_b", "system_a"]].to_numpy()
    return out


@pytest.mark.parametrize("study", STUDIES)
def test_no_naming_of_a_and_b_and_no_order_of_rows_changes_the_choice(study: str) -> None:
    frame = STUDIES[study]
    before = told(cheapest_adequate_judge(frame, SETTINGS))
    rng = np.random.default_rng(1)
    coin = {item for item in frame["item_id"].unique() if rng.random() < 0.5}
    for items in (coin, {*frame["item_id"]}):
        assert told(cheapest_adequate_judge(renamed(frame, items), SETTINGS)) == before
    assert told(cheapest_adequate_judge(frame.sample(frac=1, random_state=2), SETTINGS)) == before
    unnamed = frame.drop(columns=["system_a", "system_b"])
    swapped = unnamed.assign(label=unnamed["label"].replace({"A": "B", "B": "A"}))
    assert told(cheapest_adequate_judge(swapped, SETTINGS)) == told(cheapest_adequate_judge(unnamed, SETTINGS))


def test_the_baseline_is_not_read_off_pairs_of_systems_that_hold_a_pair_or_two() -> None:
    frame = priced({"one": (0.9, 0.001)}, pairs=60)
    frame["system_b"] = "rival of " + frame["item_id"]
    own = cheapest_adequate_judge(frame, SETTINGS)
    assert (own.status, own.judge) == ("chosen", "one")
    assert own.candidates[0].baseline < 0.6


def test_the_gate_asks_the_choice_or_one_named_judge(eight: Choice) -> None:
    assert [gate(eight), gate(eight, "huge"), gate(eight, "tiny")] == ["chosen", "chosen", "none_adequate"]
    with pytest.raises(CalibrationError) as refused:
        gate(eight, "nobody")
    assert refused.value.code == "unknown_form"


def test_criteria_without_a_common_scale_are_refused() -> None:
    frame = priced({"one": (0.9, 0.001)}, pairs=5).drop(columns=["system_a", "system_b"], errors="ignore")
    frame.loc[frame["criterion"] == "c0", "label"] = "7"
    with pytest.raises(CalibrationError) as refused:
        cheapest_adequate_judge(frame, SETTINGS)
    assert refused.value.code == "mixed_label_types"


def test_ratings_too_fine_to_agree_on_exactly_are_refused() -> None:
    with pytest.raises(CalibrationError) as refused:
        cheapest_adequate_judge(made_ratings(decimals=1), SETTINGS)
    assert refused.value.code == "unknown_form"
