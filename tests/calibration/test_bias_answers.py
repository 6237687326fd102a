"""Rates of answers, repeats, drift and copied rationales: by hand, and what few rows cannot tell."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.arithmetic.correlation import icc
from calibration.biases.answer_habits import agreement_of_splits, answer_rates, repeat_agreement
from calibration.biases.rationale_overlap import rationale_overlap
from calibration.settings import CalibrationSettings
from calibration.study.alike_texts import shingles
from tests.calibration.biased import verdict


def said(**raters: str) -> pd.DataFrame:
    """One letter for each item: A, B, t(ie), n(ot applicable), r(efused), i(nvalid), m(issing); a blank is no row."""
    words = {"t": "tie", "n": "not_applicable", "r": "", "i": "", "m": ""}
    status = {"r": "refused", "i": "invalid", "m": "missing"}
    return pd.DataFrame(
        verdict(n, rater, words.get(letter, letter), status=status.get(letter, "ok"))
        for rater, letters in raters.items()
        for n, letter in enumerate(letters)
        if letter != " "
    )


def test_each_rate_has_its_own_denominator() -> None:
    judge, ada, ben, everyone = answer_rates(said(judge="AtnrimBB", ada="ttAAAAAA", ben="tBn     "))
    assert [one.rater for one in (judge, ada, ben, everyone)] == ["judge", "ada", "ben", "each_annotator"]
    # five ok answers, one tie and one not applicable; one refused, invalid and missing of eight rows
    assert [one.value for one in (judge.tie, judge.not_applicable)] == [1 / 5, 1 / 5]
    assert [one.value for one in (judge.refused, judge.invalid, judge.missing)] == [1 / 8] * 3
    assert (everyone.tie.value, everyone.tie.n) == (3 / 11, 11)
    # with the judge's 0, 1, 0, 0, 0 ties stand ada's 1, 1, 0, 0, 0 and ben's 1, 0, 0
    assert (judge.tie_gap.estimate.value, judge.tie_gap.estimate.n) == (pytest.approx((1 + 1 - 2 - 1) / 8), 8)
    assert math.isnan(everyone.tie_gap.estimate.value)


def test_a_judge_that_ties_far_more_than_people_is_found_and_one_that_ties_as_they_do_is_not() -> None:
    people = "ABABABAt" * 40
    assert answer_rates(said(judge="tBtBtBtt" * 40, ada=people))[0].tie_gap.outcome == "found"
    assert answer_rates(said(judge=people, ada=people))[0].tie_gap.outcome == "not_found"
    assert answer_rates(said(judge="ABAB", ada="ABAB"))[0].tie_gap.outcome == "cannot_tell"


def scored(**raters: str) -> pd.DataFrame:
    """One digit for each item, a second pass of all items after a blank."""
    return pd.DataFrame(
        verdict(n, rater, digit, run=run, system_b="")
        for rater, passes in raters.items()
        for run, digits in enumerate(passes.split(), 1)
        for n, digit in enumerate(digits)
    )


def test_scores_have_no_ties_and_leniency_is_the_mean_of_own_minus_each_persons_score() -> None:
    judge, ada, ben, everyone = answer_rates(scored(judge="355 555", ada="155", ben="254"))
    assert (judge.tie.n, math.isnan(judge.tie.value), judge.not_applicable.value) == (0, True, 0.0)
    # its means 4, 5, 5 less ada's 1, 5, 5 and ben's 2, 5, 4, on a scale from 1 to 5
    assert (judge.score_gap.estimate.value, judge.score_gap.estimate.n) == (pytest.approx((3 + 2 + 1) / 6 / 4), 6)
    assert judge.score_gap.estimate.note == "parts of the scale 1 to 5; mean difference 1 points"
    assert ada.score_gap.estimate.value == pytest.approx((-1 + 0 + 1) / 3 / 4) == -ben.score_gap.estimate.value
    assert math.isnan(everyone.score_gap.estimate.value)


def test_a_lenient_judge_is_found_and_scales_of_their_own_are_each_a_part() -> None:
    people = "1524341525" * 12
    lenient = people.replace("4", "5").replace("3", "4").replace("2", "3")
    alone = scored(judge=lenient, ada=people)
    depth = alone.assign(criterion="depth", label=(20 * alone["label"].astype(int)).astype(str))
    slipped = alone.assign(label=[*alone["label"][:-1], "55"])  # of ada
    for frame in (alone, pd.concat([alone, depth]), slipped):  # undeclared: each criterion's own scale, no slip its end
        gap = answer_rates(frame)[0].score_gap
        assert (gap.outcome, gap.estimate.value) == ("found", pytest.approx(0.5 / 4, abs=0.002))
    assert answer_rates(scored(judge=people, ada=people))[0].score_gap.outcome == "not_found"
    two = [scored(judge="15", ada="13"), scored(judge="99", ada="59").assign(criterion="depth")]
    scales = CalibrationSettings(scales={"c": tuple("12345"), "depth": tuple("0123456789")})
    gap = answer_rates(pd.concat(two), scales)[0].score_gap.estimate
    assert (gap.value, gap.note.startswith("parts")) == (pytest.approx((0 + 2 / 4 + 4 / 9 + 0) / 4), False)


def runs(answers: list[str], rater: str = "judge", **given: object) -> pd.DataFrame:
    """One item for each string, one letter a run."""
    return pd.DataFrame(
        verdict(n, rater, {"t": "tie"}.get(letter, letter), run=run, **given)
        for n, letters in enumerate(answers)
        for run, letter in enumerate(letters, 1)
    )


def test_repeats_are_the_share_of_pairs_of_runs_that_agree() -> None:
    one = repeat_agreement(runs(["AAA", "AAB", "ABt", "AA", "A"]), "judge")
    # pairs of runs: 3 of 3, 1 of 3, 0 of 3, 1 of 1; the last label has one run
    assert (one.agreement.value, one.agreement.n, one.runs) == (pytest.approx((1 + 1 / 3 + 0 + 1) / 4), 4, 3)
    assert (one.changed.estimate.value, one.changed.estimate.n) == (2 / 4, 4)


def test_one_change_in_many_is_found_and_none_in_few_cannot_be_told() -> None:
    assert repeat_agreement(runs(["AA"] * 199 + ["AB"]), "judge").changed.outcome == "found"
    assert repeat_agreement(runs(["AA"] * 200), "judge").changed.outcome == "not_found"
    few = repeat_agreement(runs(["AA"] * 20), "judge").changed
    assert (few.outcome, few.detectable) == ("cannot_tell", pytest.approx(1 - 0.2 ** (1 / 20)))


def test_a_judges_orders_are_no_repeats_and_a_persons_retest_is_one_in_either_order() -> None:
    rows = [verdict(n, "judge", "AB"[n % 2], presentation=shown) for n in range(3) for shown in ("AB", "BA")]
    rows += [verdict(n, "ada", "A", presentation=("AB", "BA")[run - 1], run=run) for n in range(3) for run in (1, 2)]
    frame = pd.DataFrame(rows)
    judge, ada, people = (repeat_agreement(frame, name) for name in ("judge", "ada", "each_annotator"))
    assert (judge.agreement.n, math.isnan(judge.agreement.value), judge.runs) == (0, True, 1)
    assert "too_few_units" in judge.agreement.note
    assert (ada.agreement.value, ada.agreement.n) == (people.agreement.value, people.agreement.n) == (1.0, 3)


def test_scores_also_have_the_intraclass_correlation_of_single_runs() -> None:
    scores = [[7, 8], [3, 3], [5, 9], [2, 1]]
    rows = [
        verdict(n, "judge", str(x), run=run, system_b="")
        for n, own in enumerate(scores)
        for run, x in enumerate(own, 1)
    ]
    one = repeat_agreement(pd.DataFrame(rows), "judge")
    assert one.icc_1_1 == pytest.approx(icc(scores, "ICC(1,1)"))
    assert one.changed.estimate.value == 3 / 4
    assert math.isnan(repeat_agreement(runs(["AA", "AB"]), "judge").icc_1_1)


@pytest.mark.parametrize("answers", [["AA"], ["AB"], ["AAB"], ["AA", "AB", "ABt", "A"]])
def test_the_ledger_counts_repeats_as_the_report_does(answers: list[str]) -> None:
    splits = Counter(tuple(Counter(given).values()) for given in answers)
    assert agreement_of_splits(splits) == pytest.approx(repeat_agreement(runs(answers), "judge").agreement.value)
    assert math.isnan(agreement_of_splits({(1,): 3}))


STOCK = "the first one is clearer and better sourced"


def reasons(pairs: list[tuple[str, str]]) -> pd.DataFrame:
    return pd.DataFrame(
        verdict(n, rater, "A", rationale=text)
        for n, pair in enumerate(pairs)
        for rater, text in zip(("ada", "judge"), pair, strict=True)
    )


def test_copies_are_found_and_near_copies_too() -> None:
    texts = [f"report {n} explains its method in part {n * n} and names {n + 7} limits of the study" for n in range(40)]
    pairs = [(text, text if n % 2 else text.replace("and", "And") + "!") for n, text in enumerate(texts)]
    (one,) = rationale_overlap(reasons(pairs))
    assert (one.annotator, one.judge, one.compared, one.identical, one.near) == ("ada", "judge", 40, 20, 40)
    assert one.identical_bias.effect == pytest.approx(0.5)
    assert one.identical_bias.outcome == one.near_bias.outcome == "found"


def test_a_stock_phrase_that_stands_everywhere_is_no_copy() -> None:
    (one,) = rationale_overlap(reasons([(STOCK, STOCK)] * 100))
    assert (one.identical, one.identical_bias.effect, one.identical_bias.outcome) == (100, 0.0, "not_found")


def test_own_words_are_not_found_and_a_handful_cannot_tell() -> None:
    pairs = [(f"ada wrote {n} of her own words here", f"judge has {n * 3} other reasons to give") for n in range(100)]
    assert rationale_overlap(reasons(pairs))[0].near_bias.outcome == "not_found"
    assert rationale_overlap(reasons(pairs[:8]))[0].near_bias.outcome == "cannot_tell"
    assert rationale_overlap(reasons([("a", ""), ("", "b")])) == ()


def test_of_too_many_pairs_some_are_drawn_and_what_stands_on_the_same_label_is_counted_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = [(STOCK if n % 3 else f"{n} of her own words", STOCK if n % 2 else f"{n} of its words") for n in range(300)]
    (every,) = rationale_overlap(reasons(pairs))
    monkeypatch.setattr("calibration.biases.rationale_overlap.EVERY", 0)
    (drawn,) = rationale_overlap(reasons(pairs))
    assert (drawn.identical, drawn.identical_bias, drawn.near) == (every.identical, every.identical_bias, every.near)
    assert drawn.near_bias.effect == pytest.approx(every.near_bias.effect, abs=0.02)
    assert drawn.near_bias.estimate.note.endswith("on other items (20 drawn for each)")
    assert drawn == rationale_overlap(reasons(pairs))[0]


texts = st.lists(st.text("ab ", min_size=1, max_size=12).filter(lambda one: one.strip() != ""), min_size=2, max_size=6)


@settings(max_examples=12)
@given(texts)
def test_near_identical_is_the_jaccard_similarity_of_shingles(rationales: list[str]) -> None:
    pairs = list(zip(rationales, reversed(rationales), strict=True))
    (one,) = rationale_overlap(reasons(pairs))
    alike = [len(shingles(x) & shingles(y)) / len(shingles(x) | shingles(y)) >= 0.8 for x, y in pairs]
    assert (one.near, one.identical) == (sum(alike), sum(x == y for x, y in pairs))
    chance = np.mean([np.mean([x == y for k, (_, y) in enumerate(pairs) if k != n]) for n, (x, _) in enumerate(pairs)])
    assert one.identical_bias.effect == pytest.approx(one.identical / len(pairs) - chance)
