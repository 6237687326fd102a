"""The cheapest adequate judge: right where the truth is known, silent where the data are, and never fooled by names."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from calibration.choosing.choice import Candidate, Choice, decided, gate
from calibration.choosing.choice_words import sentence_about, short_sentence
from calibration.choosing.choose import cheapest_adequate_judge
from calibration.errors import CalibrationError
from calibration.inference.deciding import power
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
    assert mini.claim.test.p <= mini.claim.p_adjusted < 0.05
    assert named(eight)["dull"].on_frontier is False
    assert named(eight)["huge"].on_frontier is True
    assert eight.plan.missing_as_wrong


def test_the_sentence_stands_alone_with_numbers_clusters_and_margin(eight: Choice) -> None:
    mini = named(eight)["mini"]
    assert mini.claim is not None
    gap = mini.claim.test
    side = "less" if gap.difference.value < 0 else "more"
    assert eight.sentence == (
        "mini is the cheapest adequate judge of 8 tried. At 3.00 USD per 1,000 items it agrees with the annotators in "
        f"{100 * mini.agreement.value:.1f} % of labels (95 % interval, simultaneous over all tried, "
        f"{100 * mini.agreement.low:.1f} to {100 * mini.agreement.high:.1f} %; 1,080 labels in 120 topics), and a "
        f"left-out annotator agrees {100 * abs(gap.difference.value):.1f} points {side} (at most "
        f"{100 * gap.upper:.1f} points more, by the unadjusted one-sided 95 % bound; margin 10.0 points, adjusted p = .001; 1,080 labels in 120 topics). "
        "Adequate, but of unknown cost and so not chosen: unpriced; fill cost_usd."
    )
    assert eight.headline == "mini is the cheapest adequate judge of 8 tried."
    assert f"{eight.headline} {eight.details}" == eight.sentence


def test_ten_pairs_cannot_tell_and_say_how_many_more_would_decide() -> None:
    choice = cheapest_adequate_judge(
        priced({"one": (0.8, 0.001), "two": (0.75, 0.002)}, pairs=10, seed=1), CalibrationSettings(resamples=499)
    )
    assert (choice.status, choice.judge) == ("cannot_tell", None)
    assert choice.pairs_needed is not None
    assert choice.pairs_needed > 10
    assert choice.headline == "Cannot tell from 10 topics whether any of the 2 judges tried can replace an annotator."
    assert f"with {choice.pairs_needed - 10:,} more topics ({choice.pairs_needed:,} in all)" in choice.sentence
    wanted = next(one for one in choice.candidates if one.clusters_needed)
    rows = {row.question: row for row in wanted.rows}
    unsure = (replace(rows["agreement"], outcome="cannot tell"), rows["ceiling gap"], rows["answers"])
    constant = sentence_about(replace(wanted, rows=unsure), choice.plan)
    assert "Its gap, not whether it beats the best constant answer, is decided with" in constant
    sure = (replace(rows["agreement"], outcome="within"), *unsure[1:])
    assert "Decided with " in sentence_about(replace(wanted, rows=sure), choice.plan)
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
    assert choice.judge in (None, "reader")
    assert (always.constant.outcome, always.standing) == ("below", "ruled_out")
    assert always.agreement.value == pytest.approx(always.baseline)
    if annotators == 3:
        assert always.outcome == "non_inferior"  # the margin alone would have let it pass
        assert always.reason == "baseline_not_beaten"
        assert f"always is not recommended: it agrees in {100 * always.baseline:.1f} % of labels" in choice.sentence
        assert choice.judge == ("reader" if also else None)
        assert choice.status == ("chosen" if also else "none_adequate")


@pytest.mark.parametrize(
    ("agreement", "gap", "answers", "standing", "reason"),
    [
        ("within", "within", "within", "adequate", ""),
        ("cannot tell", "within", "within", "open", "baseline_not_beaten"),
        ("beyond", "within", "within", "ruled_out", "baseline_not_beaten"),
        ("within", "cannot tell", "within", "open", "cannot_tell"),
        ("cannot tell", "beyond", "within", "ruled_out", "inferior"),
        ("within", "within", "cannot tell", "open", "answers"),
        ("within", "within", "beyond", "ruled_out", "answers"),
    ],
)
def test_a_judge_is_adequate_only_where_every_required_row_of_its_card_is_within(
    agreement: str, gap: str, answers: str, standing: str, reason: str
) -> None:
    (found,) = cheapest_adequate_judge(priced({"one": (0.8, 0.001)}, pairs=30), SETTINGS).candidates
    outcomes = {"agreement": agreement, "ceiling gap": gap, "answers": answers}
    rows = [replace(row, outcome=outcomes[row.question]) for row in found.rows if row.question in outcomes]
    told = replace(found, rows=tuple(rows))
    assert told.standing == standing
    if reason:
        assert told.unmet
    assert decided([told])[0] == {"adequate": "chosen", "open": "cannot_tell", "ruled_out": "none_adequate"}[standing]


def test_a_judge_hardly_above_the_constant_answer_is_not_adequate_however_many_labels_there_are() -> None:
    frame = priced({"large": (0.03, 0.001)}, pairs=400, criteria=10, prevalence=(0.5, 0.1, 0.4), skill=0.03)
    choice = cheapest_adequate_judge(frame, CalibrationSettings(resamples=199))
    (large,) = choice.candidates
    assert large.outcome == "non_inferior"  # people agree no more with each other
    assert large.constant.outcome != "above"
    assert (choice.status, choice.judge) != ("chosen", "large")
    assert "people hardly agree here" in choice.headline


@pytest.mark.parametrize("seeds", [range(2, 5), pytest.param(range(40), marks=pytest.mark.slow)])
def test_ten_pairs_rule_no_judge_out_for_a_constant_answer_that_did_better_by_less_than_an_error(seeds: range) -> None:
    open_ones = 0
    for seed in seeds:
        frame = priced({"one": (0.5, 0.001)}, pairs=10, criteria=2, seed=seed, prevalence=(0.6, 0.1, 0.3))
        (found,) = cheapest_adequate_judge(frame, CalibrationSettings(resamples=199)).candidates
        gap = found.agreement.value - found.baseline
        width = (found.agreement.high - found.agreement.low) / 2  # over two standard errors
        if found.outcome != "inferior" and abs(gap) > 1e-9 and -width / 3 < gap <= 0:
            open_ones += 1
            assert found.standing == "open"
            assert found.constant.outcome == "cannot_tell"
    assert open_ones  # there are such studies


def test_a_cheaper_judge_that_is_open_is_named_with_what_would_decide_it() -> None:
    frame = priced({"cheap": (0.6, 0.0001), "dear": (0.95, 0.01)}, pairs=40, seed=4)
    choice = cheapest_adequate_judge(frame, SETTINGS)
    assert (choice.status, choice.judge, named(choice)["cheap"].standing) == ("chosen", "dear", "open")
    assert choice.pairs_needed == named(choice)["cheap"].clusters_needed
    assert choice.pairs_needed is not None
    assert (
        "Cheaper but open is cheap (0.300 USD per 1,000 items): decided with "
        f"{choice.pairs_needed - 40} more topics ({choice.pairs_needed} in all), at power .8 if gap" in choice.sentence
    )


def test_a_choice_from_fewer_than_twenty_pairs_says_that_its_test_is_rough() -> None:
    few, enough = (cheapest_adequate_judge(priced({"one": (0.97, 0.001)}, pairs=n), SETTINGS) for n in (19, 20))
    assert (few.judge, enough.judge) == ("one", "one")
    assert "fewer than 20 topics, where the test may err in 7 % of studies at a level of 5 %" in few.sentence
    assert "fewer than 20" not in enough.sentence


def test_open_judges_that_the_same_would_decide_stand_together() -> None:
    judges = {"one": (0.5, 0.001), "two": (0.5, 0.002)}
    choice = cheapest_adequate_judge(priced(judges, pairs=10, seed=1), CalibrationSettings(resamples=499))
    assert {one.standing for one in choice.candidates} == {"open"}
    assert (
        "Still open: one (3.00 USD per 1,000 items), two (6.00 USD per 1,000 items): no number of topics is likely "
        "to show adequacy, the gap seen reaching the margin." in choice.sentence
    )


def test_two_judges_with_the_very_same_answers_are_level_in_number_and_sentence() -> None:
    frame = priced({"one": (0.7, 0.003)}, pairs=20, seed=1)
    frame = pd.concat([frame, frame[frame["rater_id"] == "one"].assign(rater_id="two", cost_usd=0.001)])
    choice = cheapest_adequate_judge(frame, CalibrationSettings(margin=0.2, resamples=499))
    one, two = choice.candidates
    assert one.clusters_needed == two.clusters_needed is not None
    assert "one and two come closest, level with each other: each agrees with the annotators in" in choice.sentence
    assert "one and two come closest, level with each other (agreement" in short_sentence(choice)
    assert choice.foremost == one == named(choice)["two"], "the card is of the cheaper one"
    people = sorted(frame.loc[frame["rater_kind"] == "human", "rater_id"].unique())
    one_person = cheapest_adequate_judge(frame[~frame["rater_id"].isin(people[1:])], CalibrationSettings(resamples=499))
    assert "level with each other: each agrees with the annotators in" in one_person.sentence


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
    judges = {"unknown": (0.85, math.nan), "other": (0.9, math.nan)}
    choice = cheapest_adequate_judge(priced(judges), SETTINGS)
    assert (choice.status, choice.judge, choice.cheapest_known) == ("chosen", "other", False)  # it agrees most
    assert named(choice)["unknown"].reason == "cost_unknown"
    assert not any(one.on_frontier for one in choice.candidates)
    assert choice.headline == "other is adequate; whether it is the cheapest is unknown, for its cost is."
    assert "Adequate, but of unknown cost and so not chosen: unknown; fill cost_usd." in choice.sentence
    assert gate(choice) == gate(choice, "unknown") == "chosen"  # adequate, whatever it costs
    assert gate(choice, require_cheapest=True) == "cannot_tell"
    half = priced({"paid": (0.85, 0.001)})
    half.loc[half.index[-1], "cost_usd"] = math.nan  # one call that nobody priced
    assert named(cheapest_adequate_judge(half, SETTINGS))["paid"].cost_per_item == pytest.approx(0.003)
    half.loc[half["rater_id"] == "paid", "cost_usd"] = half["cost_usd"].where(np.arange(len(half)) % 3 > 0)
    assert cheapest_adequate_judge(half, SETTINGS).cheapest_known is False


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


@pytest.mark.parametrize(
    "judges", [{"one": (0.9, 0.001)}, {"one": (0.9, 0.001), "two": (0.9, 0.002), "bad": (0.2, 0.0)}]
)
def test_without_a_second_annotator_nobody_is_adequate_and_the_sentence_says_what_would_decide(
    judges: dict[str, tuple[float, float]],
) -> None:
    choice = cheapest_adequate_judge(priced(judges, annotators=1), SETTINGS)
    assert (choice.status, choice.judge, choice.plan.against, gate(choice)) == (
        "cannot_tell", None, "nobody", "cannot_tell",
    )  # fmt: skip
    assert {one.reason for one in choice.candidates} == {"no_reference"}
    number = named(choice)["one"].second_labels
    assert number is not None
    assert "no label has a second annotator's beside it" in choice.headline
    assert f"have a second annotator label the same items on about {number} topics" in choice.sentence
    assert "--at-least .80" in choice.sentence


@pytest.mark.parametrize("annotators", [1, 3])
def test_a_floor_that_was_stated_beforehand_decides_without_a_second_annotator(annotators: int) -> None:
    frame = priced({"good": (0.95, 0.001), "bad": (0.3, 0.0001)}, annotators=annotators)
    reached = {one.judge: one.agreement.value for one in cheapest_adequate_judge(frame, SETTINGS).candidates}
    assert reached["bad"] < 0.6 < 0.7 < reached["good"]
    choice = cheapest_adequate_judge(frame, replace(SETTINGS, at_least=0.65))
    assert (choice.status, choice.judge, choice.plan.against, choice.plan.at_least) == ("chosen", "good", "floor", 0.65)
    assert (
        choice.headline == "good is the cheapest of 2 judges tried that is shown to agree in at least 65 % of labels."
    )
    assert "adequate" not in choice.headline  # never as good as an annotator
    assert named(choice)["bad"].reason == "below_floor"
    floor = named(choice)["good"].floor
    assert floor is not None
    assert floor.p <= floor.p_adjusted < 0.05
    assert floor.bound + floor.lower > 0.65
    above = cheapest_adequate_judge(frame, replace(SETTINGS, at_least=round(reached["good"] - 0.005, 3)))
    assert above.status == "cannot_tell"
    assert {"plan_sha256", "at_least"} <= {*above.plan.kept}
    assert above.plan.plan_sha256 != choice.plan.plan_sha256


def test_a_floor_of_kappa_is_tested_by_the_kappa_that_no_naming_changes() -> None:
    frame = priced({"good": (0.95, 0.001)}, annotators=1)
    floor = named(cheapest_adequate_judge(frame, replace(SETTINGS, at_least_kappa=0.4)))["good"].floor
    assert floor is not None
    assert floor.outcome == "above"
    turned = cheapest_adequate_judge(renamed(frame, {*frame["item_id"][::2]}), replace(SETTINGS, at_least_kappa=0.4))
    assert named(turned)["good"].floor == floor
    assert "reach a κ of at least .4" in turned.headline


def test_a_row_beyond_its_limit_is_a_reservation_in_the_headline_and_bars_where_it_is_required() -> None:
    frame = priced({"one": (0.9, 0.001)})
    own = frame["rater_id"] == "one"
    again = frame[own].assign(run=2)
    changed = again["label"].map({"A": "B", "B": "A", "tie": "A"})
    again["label"] = again["label"].where(np.arange(len(again)) % 5 > 0, changed)
    frame = pd.concat([frame.assign(run=1), again])
    wide = replace(SETTINGS, margin=0.2)
    choice = cheapest_adequate_judge(frame, wide)
    assert (choice.status, choice.judge) == ("chosen", "one")
    assert choice.headline == (
        "one is the cheapest adequate judge of 1 tried, with reservations: asked again, it changes its answers (20.0 %)."
    )
    strict = cheapest_adequate_judge(frame, replace(wide, require=("repeats",)))
    assert (strict.status, strict.candidates[0].reason) == ("none_adequate", "repeats")
    unasked = cheapest_adequate_judge(priced({"one": (0.9, 0.001)}), replace(wide, require=("repeats",)))
    assert (unasked.status, unasked.candidates[0].reason) == ("cannot_tell", "repeats")
    assert "whether it keeps its answers when asked again" in unasked.headline


@pytest.mark.parametrize("looks", ["one", "any_time"])
def test_a_setting_that_was_replaced_is_one_more_candidate_in_every_p_and_sentence(looks: str) -> None:
    frame, settings = priced({"mini": (0.8, 0.001)}, pairs=40, seed=2), replace(SETTINGS, looks=looks)
    asked_twice = frame.assign(settings_tried=np.where(frame["rater_kind"] == "judge", 2, math.nan))
    for stated in (settings, replace(settings, at_least=0.7), replace(settings, at_least_kappa=0.5)):
        once, twice = (cheapest_adequate_judge(one, stated) for one in (frame, asked_twice))
        (first,), (second,) = once.candidates, twice.candidates
        assert first.claim is not None
        assert second.claim is not None
        tests = [(first.claim, second.claim), (first.constant, second.constant)]
        tests += [(first.floor, second.floor)] * (first.floor is not None)
        for alone, of_two in tests:
            assert of_two.p_adjusted > alone.p_adjusted
            assert looks != "one" or of_two.p_adjusted == pytest.approx(2 * alone.p_adjusted)
        assert second.agreement.high - second.agreement.low > first.agreement.high - first.agreement.low
        assert twice.sentence.count("Settings that later ones replaced count as tried too (mini 1): 2 candidates") == 1
        assert once.plan.kept == twice.plan.kept, "what is tried again under one name changes no plan that was kept"
    if looks == "one":
        decided_by = [cheapest_adequate_judge(one, settings) for one in (frame, asked_twice)]
        assert [one.status for one in decided_by] == ["chosen", "cannot_tell"]
        lenient = cheapest_adequate_judge(asked_twice, replace(settings, margin=0.2))
        assert lenient.headline == "mini is the cheapest adequate judge of 2 candidates tried."
        assert "cheapest of the 2 candidates tried (1 judge, with settings" in short_sentence(lenient)


def test_without_a_judge_or_with_one_pair_nothing_can_be_told() -> None:
    choice = cheapest_adequate_judge(priced({}), SETTINGS)
    assert (choice.status, choice.candidates) == ("cannot_tell", ())
    assert choice.sentence == "There is no judge to choose: no row is a judge's."
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


@pytest.mark.parametrize("study", ["chosen", "cannot tell", "baseline"])
def test_no_naming_of_a_and_b_and_no_order_of_rows_changes_the_choice(study: str) -> None:
    frame = STUDIES[study]
    before = told(cheapest_adequate_judge(frame, SETTINGS))
    rng = np.random.default_rng(1)
    coin = {item for item in frame["item_id"].unique() if rng.random() < 0.5}
    for items in (coin, {*frame["item_id"]}):
        other = renamed(frame, items).sample(frac=1, random_state=2)
        assert told(cheapest_adequate_judge(other, SETTINGS)) == before
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


@pytest.mark.parametrize("decimals", [0, 1])
@pytest.mark.parametrize("distance", ["linear", "quadratic"])
def test_scores_choose_a_judge_by_their_distance_however_fine_they_are(decimals: int, distance: str) -> None:
    frame = made_ratings(reports=240, decimals=decimals).assign(cost_usd=0.001)
    frame = frame[frame["item_id"].isin(frame["item_id"][frame["rater_kind"] == "judge"])]
    choice = cheapest_adequate_judge(frame, replace(SETTINGS, distance=distance))
    (judge,) = choice.candidates
    assert (choice.status, choice.judge, choice.plan.ties) == ("chosen", "judge-x", distance)
    assert judge.agreement.statistic == f"percent_agreement_{distance}_missing_as_wrong"
    assert "by the distance of the scores" in choice.sentence
    floors = [{"at_least": 0.5}, {"at_least_kappa": 0.1}] if not decimals else [{"at_least": 0.5}]
    chosen = [cheapest_adequate_judge(frame, replace(SETTINGS, distance=distance, **floor)) for floor in floors]
    rows = [row for one in (choice, *chosen) for row in one.candidates[0].rows]
    said = " ".join([choice.sentence, *(one.sentence for one in chosen), *(row.sentence + row.limit for row in rows)])
    assert "of labels" not in said
    assert "agree to at least 50 %, by the distance of the scores" in said
    assert decimals or (f"reach a {distance} κ of at least .1" in said and f"Its {distance} κ is" in said)
    alone = cheapest_adequate_judge(frame[frame["rater_id"] != "ann2"].query("rater_id != 'ann3'"), SETTINGS)
    assert alone.status == "cannot_tell"


def test_ratings_too_fine_for_one_exact_level_or_for_a_table_of_kappa_are_refused() -> None:
    for settings in (replace(SETTINGS, distance="exact"), replace(SETTINGS, at_least_kappa=0.4)):
        with pytest.raises(CalibrationError) as refused:
            cheapest_adequate_judge(made_ratings(decimals=2, reports=80), settings)
        assert refused.value.code == "unknown_form"


def fixed_by_criterion(frame: pd.DataFrame, judge: str) -> pd.DataFrame:
    """The judge reads nothing: it says B where the criterion is an odd one, else A."""
    own = frame["rater_id"] == judge
    odd = frame["criterion"].str[-1].isin(list("13579"))
    return frame.assign(label=frame["label"].where(~own, np.where(odd, "B", "A")))


def test_a_fixed_answer_for_each_criterion_is_no_judge() -> None:
    frame = priced({"fixed": (0.9, 0.001)}, criteria=4, prevalence=(0.95, 0.0, 0.05), skill=0.9)
    odd = frame["criterion"].isin(["c1", "c3"]) & (frame["rater_kind"] == "human")
    frame["label"] = frame["label"].where(~odd, frame["label"].map({"A": "B", "B": "A", "tie": "tie"}))
    choice = cheapest_adequate_judge(fixed_by_criterion(frame, "fixed"), SETTINGS)
    assert choice.candidates[0].outcome == "non_inferior"
    assert (choice.status, choice.candidates[0].constant.outcome) == ("none_adequate", "below")


@pytest.mark.parametrize("how", ["not asked", "not applicable"])
def test_a_judge_that_leaves_labels_out_is_not_adequate_by_those_it_kept(how: str) -> None:
    frame = priced({"picky": (0.9, 0.001)}).assign(status="ok")
    left = (frame["rater_id"] == "picky") & (frame["item_id"] < "p060")
    frame = frame[~left] if how == "not asked" else frame.assign(label=frame["label"].where(~left, "not_applicable"))
    choice = cheapest_adequate_judge(frame, SETTINGS)
    (picky,) = choice.candidates
    assert (choice.status, picky.reason, picky.outcome) == ("cannot_tell", "answers", "non_inferior")
    assert any("compared on 50.0 % of the annotators' labels only" in row.sentence for row in picky.rows)


def test_one_slip_does_not_make_every_distance_small() -> None:
    frame = made_ratings(reports=120)
    slip = frame.index[frame["rater_id"] == "ann1"][0]
    slipped = frame.assign(label=frame["label"].where(frame.index != slip, 1_000))
    plain, odd = (cheapest_adequate_judge(one, SETTINGS).candidates[0].agreement.value for one in (frame, slipped))
    assert odd == pytest.approx(plain, abs=0.02)


def test_one_topic_with_most_of_the_labels_decides_nothing() -> None:
    frame = priced({"one": (0.9, 0.001)}, pairs=60)
    large = frame.assign(cluster_id=frame["cluster_id"].where(frame["item_id"] >= "p030", "large"))
    choice = cheapest_adequate_judge(large, SETTINGS)
    assert choice.status == "cannot_tell"
    assert "One of the topics holds more than 45 % of the labels" in choice.sentence
