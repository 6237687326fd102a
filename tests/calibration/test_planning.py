"""How many topics: the published table, other libraries' power, and studies that are run as planned."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from benchmarks.planning import (
    AGREEMENT,
    LABELS,
    Promise,
    assumed,
    claims,
    differences,
    planned_from_pilots,
    succeeded,
    widths,
)
from benchmarks.planning import pilots as seen_in_pilots
from benchmarks.planning import share as promise
from calibration.choosing.noninferiority import non_inferiority
from calibration.errors import CalibrationError
from calibration.inference.deciding import clusters_needed, power
from calibration.inference.gap_test import FEWEST, gap_sums
from calibration.sizing.pilot import spread_of
from calibration.sizing.planning import (
    Spread,
    _uppers,
    assured,
    confirmed,
    confirmed_apart,
    design_effect,
    design_table,
    effective_labels,
    half_width,
    needed_for_claim,
    needed_for_interval,
    needed_to_tell_apart,
    pairs_needed,
    power_to_tell_apart,
    sd_of_pair_differences,
    sd_of_pair_means,
)

# STATISTICS section 2.9: icc, deff, effective labels, half-widths at C = 10/30/100/210, pairs for .05/.03, with z
TABLE = [
    (0.02, 1.76, 22.2, (0.061, 0.032, 0.017, 0.012), (14, 34), (12, 31)),
    (0.05, 2.9, 13.4, (0.078, 0.041, 0.022, 0.015), (21, 54), (19, 51)),
    (0.10, 4.8, 8.1, (0.100, 0.052, 0.028, 0.019), (33, 87), (31, 85)),
    (0.20, 8.6, 4.5, (0.134, 0.070, 0.037, 0.026), (57, 154), (55, 151)),
]
NONE = np.empty(0)


def of_sd(sd: float, mean: float = 0.0, pilot: int = 0) -> Spread:
    rng = np.random.default_rng(5)
    topics = rng.normal(size=4_000)
    return Spread(mean, sd, mean + (topics - topics.mean()) / topics.std() * sd, pilot)


@pytest.mark.parametrize(("icc", "deff", "worth", "half_widths", "pairs", "normal"), TABLE)
def test_the_published_table(icc, deff, worth, half_widths, pairs, normal):
    assert design_effect(39, icc) == pytest.approx(deff, abs=1e-12)
    assert effective_labels(39, icc) == pytest.approx(worth, abs=0.051)
    assert [round(half_width(count, icc=icc), 3) for count in (10, 30, 100, 210)] == list(half_widths)
    assert tuple(pairs_needed(target, icc=icc) for target in (0.05, 0.03)) == pairs
    # with the normal instead of t, which is what many a planner uses: two to four pairs too few
    z = NormalDist().inv_cdf(0.975)
    assert tuple(math.ceil((z * sd_of_pair_means(0.8, 39, icc) / target) ** 2) for target in (0.05, 0.03)) == normal


def test_the_published_power():
    assert [round(power(count, 0.1529), 3) for count in (10, 30, 100, 210)] == [0.246, 0.542, 0.946, 0.999]


def test_ten_pairs_of_39_labels_are_worth_about_80_independent_ones():
    assert 10 * effective_labels(39, 0.1) == pytest.approx(10 * 39 / 4.8)
    assert effective_labels(math.inf, 0.1) == 10  # no number of criteria buys more


def test_spreads_worked_by_hand():
    # p = 1/2, m = 2, icc = 1/2: variance 1/4 * (1 + 1/2) / 2 = 3/16
    assert sd_of_pair_means(0.5, 2, 0.5) == pytest.approx(math.sqrt(3 / 16))
    assert sd_of_pair_differences(0.5, 0.5, 2, 0.5) == pytest.approx(math.sqrt(6 / 16))
    assert sd_of_pair_differences(0.5, 0.5, 2, 0.5, correlation=1 / 2) == pytest.approx(math.sqrt(3 / 16))


@pytest.mark.parametrize(("sd", "margin", "gap"), [(0.1529, 0.05, 0.0), (0.2, 0.05, 0.02), (0.05, 0.1, 0.0)])
def test_the_claim_needs_what_another_library_says(sd, margin, gap):
    effect = (margin - gap) / sd
    other = TTestPower().solve_power(effect, power=0.8, alpha=0.05, alternative="larger")
    found = needed_for_claim(of_sd(sd, gap), margin)
    assert found.clusters == max(FEWEST, math.ceil(other))  # with fewer nothing is decided
    assert (found.gap, found.sd) == (gap, sd)
    strict = TTestPower().solve_power(effect, power=0.8, alpha=0.05 / 5, alternative="larger")
    assert needed_for_claim(of_sd(sd, gap), margin, tried=5).clusters == max(FEWEST, math.ceil(strict))


@pytest.mark.parametrize(("sd", "difference", "tried"), [(0.2, 0.05, 2), (0.1, 0.03, 2), (0.2, 0.05, 4)])
def test_telling_apart_needs_what_another_library_says(sd, difference, tried):
    alpha = 0.05 / math.comb(tried, 2)
    other = TTestPower().solve_power(difference / sd, power=0.8, alpha=alpha, alternative="two-sided")
    assert needed_to_tell_apart(of_sd(sd), difference, tried=tried).clusters == math.ceil(other)


def test_a_pilots_claim_needs_what_deciding_says():
    rng = np.random.default_rng(6)
    sizes = rng.integers(1, 9, 25)
    code = np.repeat(np.arange(25), sizes)
    judge, person = (rng.binomial(1, 0.8, len(code)).astype(float) for _ in range(2))
    spread = spread_of(person - judge, code)
    asked = clusters_needed(judge, [person], code, 0.1)
    found = needed_for_claim(spread, 0.1)
    # a claim is decided with an error that reckons with faults not seen, which is hardly more in so many clusters
    assert found.clusters == pytest.approx(asked.clusters, rel=0.01)
    assert (found.gap, found.sd) == (pytest.approx(asked.gap), pytest.approx(asked.sd))


def test_assurance_is_the_chi_square_of_the_spread():
    # C = 2: the half-width is t |x - y| / 2 with x - y ~ N(0, 2 sd^2)
    t = float(stats.t.ppf(0.975, 1))
    inside = NormalDist(0, math.sqrt(2) * 0.1).cdf(2 * 0.5 / t) * 2 - 1
    assert assured(2, 0.1, 0.5) == pytest.approx(inside)
    expected, safe = (needed_for_interval(of_sd(0.14), 0.05, assurance=one).clusters for one in (None, 0.8))
    assert expected is not None
    assert safe is not None
    assert safe > expected
    assert assured(safe, 0.14, 0.05) >= 0.8 > assured(safe - 1, 0.14, 0.05)


# laws

agreements, iccs, labels = st.floats(0.05, 0.95), st.floats(0.001, 1), st.integers(1, 500)


@given(agreements, iccs, labels, st.integers(2, 500))
def test_labels_of_a_topic_never_buy_more_than_one_over_icc(agreement, icc, m, pairs):
    rows = design_table(agreement * (1 - agreement), icc, [m, 2 * m, math.inf], [pairs])
    once, twice, limit = (row.half_widths[0] for row in rows)
    assert limit - 1e-12 <= twice <= once + 1e-12
    assert effective_labels(m, icc) <= 1 / icc + 1e-9
    assert once == pytest.approx(half_width(pairs, agreement, m, icc))


@given(agreements, iccs, labels, st.floats(0.01, 0.3))
def test_the_number_of_pairs_is_the_smallest_that_is_enough(agreement, icc, m, target):
    pairs = pairs_needed(target, agreement, m, icc)
    assert half_width(pairs, agreement, m, icc) <= target
    assert pairs == 2 or half_width(pairs - 1, agreement, m, icc) > target


@given(st.floats(0.02, 0.5), st.floats(0.05, 0.5), st.floats(0, 0.8), st.integers(1, 10))
def test_a_claim_is_dearer_for_a_larger_gap_a_wider_spread_and_more_judges(sd, margin, part, tried):
    def needed(wider: float, gap: float, judges: int) -> int:
        return needed_for_claim(Spread(gap * margin, wider * sd, NONE), margin, tried=judges).clusters or 0

    first = needed(1, part, tried)
    assert 2 <= first <= min(needed(1.2, part, tried), needed(1, part, tried + 1), needed(1, 0.05 + 0.95 * part, tried))


def test_a_gap_in_the_judges_favour_is_taken_as_none():
    assert needed_for_claim(of_sd(0.2, -0.3), 0.05) == needed_for_claim(of_sd(0.2, 0.0), 0.05)


# edges


@pytest.mark.parametrize(
    ("found", "note"),
    [
        (needed_for_claim(of_sd(0.2, 0.05), 0.05), "gap_reaches_margin"),
        (needed_for_claim(Spread(0.1, math.nan, NONE, 1, "too_few_units"), 0.2), "too_few_units"),
        (needed_for_claim(of_sd(0.9), 1e-5), "too_many"),
        (needed_for_interval(Spread(0.8, math.nan, NONE, 1, "too_few_units"), 0.05), "too_few_units"),
        (needed_for_interval(Spread(1.0, 0.0, np.ones(9), 9), 0.05), "zero_variance"),
        (needed_for_interval(of_sd(0.9), 1e-5), "too_many"),
        (needed_to_tell_apart(Spread(0.0, 0.0, np.zeros(9), 9), 0.05), "zero_variance"),
        (needed_to_tell_apart(Spread(math.nan, math.nan, NONE, 0, "one_judge"), 0.05), "one_judge"),
    ],
)
def test_where_no_number_is_enough_there_is_a_reason(found, note):
    assert (found.clusters, found.more, found.note) == (None, None, note)


def test_without_any_spread_the_claim_rests_on_the_exact_bound():
    # (1 - .05)^C < .05 from C = 59
    assert needed_for_claim(Spread(0.0, 0.0, np.zeros(10), 10), 0.05).clusters == 59


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda: needed_for_claim(of_sd(0.2), 0.0), "the margin is 0; fix one above 0"),
        (lambda: needed_for_claim(of_sd(0.2), math.nan), "the margin is nan; fix one above 0"),
        (lambda: needed_for_claim(of_sd(0.2), 0.05, wanted=1.0), "the power is 1; use a number above 0 to below 1"),
        (lambda: needed_for_claim(of_sd(0.2), 0.05, level=0.0), "the level is 0"),
        (lambda: needed_for_claim(of_sd(0.2), 0.05, tried=0), "the number of judges tried is 0"),
        (lambda: needed_for_interval(of_sd(0.2), 0.0), "the half-width is 0; use a number above 0"),
        (lambda: needed_for_interval(of_sd(0.2), 0.05, level=0.0), "the level is 0"),
        (lambda: needed_to_tell_apart(of_sd(0.2), 0.0), "the difference is 0"),
        (lambda: pairs_needed(1e-6), "needs over a million pairs"),
        (lambda: pairs_needed(0.05, agreement=1.0), "agreement is 1; use one between 0 and 1"),
        (lambda: design_effect(0.5, 0.1), "labels per pair is 0.5; use a number from 1"),
        (lambda: design_effect(39, 1.2), "the icc is 1.2; use a number from -1 to 1"),
        (lambda: sd_of_pair_differences(0.8, 0.8, 39, 0.1, 1.0), "the correlation is 1"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_words(function, words):
    with pytest.raises(CalibrationError) as refused:
        function()
    assert words in refused.value.text
    assert refused.value.code in ("bad_number", "margin_missing")


def test_an_icc_that_is_not_known_gives_no_design_effect_and_a_negative_one_counts_as_none():
    assert math.isnan(design_effect(39, math.nan))
    assert math.isnan(effective_labels(math.inf, math.nan))
    assert (design_effect(39, -0.02), effective_labels(39, 0.0)) == (1, 39)
    assert effective_labels(math.inf, 0.0) == math.inf


def test_one_pair_has_neither_width_nor_power():
    assert all(math.isnan(one) for one in (half_width(1), assured(1, 0.1, 0.05), power(1, 0.1)))
    assert math.isnan(power_to_tell_apart(1, 0.1, 0.05))


def test_a_cautious_spread_is_wider_the_smaller_the_pilot():
    ten, hundred, none = (of_sd(0.2, pilot=pilot).cautious_sd for pilot in (10, 100, 0))
    assert ten == pytest.approx(0.2 * math.sqrt(9 / 5.3801), rel=1e-4)  # chi-square table: 5.380 at .2 with 9 df
    assert 0.2 < hundred < ten
    assert math.isnan(none)


# studies run as planned


@pytest.mark.slow
@pytest.mark.parametrize("part", [widths, claims, seen_in_pilots], ids=lambda part: part.__name__)
def test_planned_studies_give_what_was_planned(part):
    assert [str(one) for one in part(400) if not one.kept] == []


@pytest.mark.slow
def test_the_number_planned_from_a_pilot_decides():
    found = [replace(one, low=0.7, high=0.9) for one in planned_from_pilots(40, 5)]
    assert [str(one) for one in found if not one.kept] == []


@pytest.mark.slow
def test_studies_planned_as_if_labels_were_independent_decide_far_less_often():
    rng = np.random.default_rng(7)
    naive = needed_for_claim(assumed(AGREEMENT, AGREEMENT, 0.0), 0.05).clusters
    assert naive == 22  # instead of 99: the simulation can tell right from wrong
    assert np.mean(list(succeeded(rng, naive, 400, 0.0, 0.1))) < 0.45


def test_a_number_too_small_is_raised_until_studies_decide():
    spread = of_sd(0.2)
    right = needed_for_claim(spread, 0.05)
    assert right.clusters is not None
    few = replace(right, clusters=3 * right.clusters // 4)
    found, reached = confirmed(few, spread, 0.05)
    assert found.clusters is not None
    assert 0.85 * right.clusters < found.clusters < 1.15 * right.clusters
    assert reached >= 0.77
    assert confirmed(few, spread, 0.05) == (found, reached)  # seeded


def test_a_planned_study_is_decided_as_the_test_of_the_gap_decides_it():
    rng = np.random.default_rng(2)
    studies = [np.where(rng.random(30) < 0.1, 0.9, rng.normal(0, 0.05, 30)) for _ in range(4)]
    none, code = np.full(30, 0.5), np.arange(30)
    alone = [non_inferiority(none - one / 2, none + one / 2, code, 0.1, resamples=999).upper for one in studies]
    assert _uppers([gap_sums(study, code) for study in studies], 0.05) == pytest.approx(alone)


def test_what_has_no_number_is_not_simulated():
    none = needed_for_claim(of_sd(0.2, 0.05), 0.05)
    assert confirmed(none, of_sd(0.2, 0.05), 0.05)[0] == none
    found, reached = confirmed_apart(needed_to_tell_apart(of_sd(0.2), 0.05), of_sd(0.2), 0.95)
    assert found.clusters == 128
    assert reached >= 0.77


def test_a_broken_promise_is_named():
    assert not promise("x", [True] * 50 + [False] * 50, 0.8, 0.8).kept
    assert "BROKEN" in str(Promise("x", 0.5, 0.01, 0.6, 0.7))
    assert next(iter(differences(np.random.default_rng(1), 12, 1, 0.0, 0.1))).n == 12
    assert LABELS == 39
