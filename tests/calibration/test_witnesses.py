"""Every point statistic against an implementation that is not ours, on 200 tables each.

Tables have missing labels, single labels, raters that never vary, no row at all, unused points of a scale. What has no
library is written out in fractions from its definition. Undefined is nan and has a reason; a value never has one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import krippendorff
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from calibration import metrics
from calibration.arithmetic import correlation
from tests.calibration.witnesses import NAN, agrees, columns_of, complete, raters, share, silent

SCORE = {"A": Fraction(1), "tie": Fraction(1, 2), "B": Fraction(0)}
MIRROR = {"A": "B", "B": "A", "tie": "tie"}


PAIR = raters(["A", "B", "tie"], 2)
SCALE = [1, 2, 3, 4, 5]
SCORES = raters(SCALE, 2)


@given(PAIR)
def test_agreement_under_each_tie_rule_is_its_definition(pair):
    rows = complete(*pair)
    decided = [(a, b) for a, b in rows if "tie" not in (a, b)]
    agrees(metrics.percent_agreement, share(sum(a == b for a, b in rows), len(rows)), *pair)
    agrees(metrics.percent_agreement, share(sum(a == b for a, b in decided), len(decided)), *pair, ties="exclude")
    credit = sum((1 - abs(SCORE[a] - SCORE[b]) for a, b in rows), Fraction(0))
    agrees(metrics.percent_agreement, share(credit, len(rows)), *pair, "half_credit")


@given(SCORES, st.sampled_from([None, "linear", "quadratic"]), st.booleans())
def test_kappa_is_scikit_learns_plain_linear_and_quadratic_with_unused_points_of_a_scale(pair, weights, declared):
    rows = complete(*pair)
    a, b = columns_of(rows, 2)
    scale = SCALE if declared else sorted({*a, *b})
    witness = silent(cohen_kappa_score, a, b, labels=scale, weights=weights) if rows else NAN
    agrees(metrics.cohen_kappa, witness, *pair, categories=SCALE if declared else None, weights=weights)


@given(PAIR)
def test_symmetrised_kappa_is_scikit_learns_on_every_row_and_its_mirror(pair):
    a, b = columns_of(complete(*pair), 2)
    both = a + [MIRROR[x] for x in a], b + [MIRROR[x] for x in b]
    agrees(metrics.symmetrised_kappa, silent(cohen_kappa_score, *both) if a else NAN, *pair)


def kappa_parts(rows: Sequence[tuple[Any, ...]]) -> tuple[Fraction, Fraction]:
    """n (Po - Pe) and n (1 - Pe)."""
    a, b = columns_of(rows, 2)
    agreed = Fraction(sum(x == y for x, y in rows))
    expected = sum((Fraction(a.count(k) * b.count(k), len(rows)) for k in {*a, *b}), Fraction(0))
    return agreed - expected, len(rows) - expected


@given(PAIR, st.lists(st.sampled_from(["p", "q", "r", None]), min_size=16, max_size=16))
def test_stratified_kappa_is_its_definition(pair, strata):
    a, b = pair
    strata = strata[: len(a)]
    rows = complete(a, b, strata)
    parts = [kappa_parts([(x, y) for x, y, q in rows if q == name]) for name in {q for _, _, q in rows}]
    witness = share(sum((top for top, _ in parts), Fraction(0)), sum((bottom for _, bottom in parts), Fraction(0)))
    agrees(metrics.stratified_kappa, witness, a, b, strata)


@given(PAIR, st.sampled_from([None, ["A", "B", "tie"], ["A", "B", "tie", "not_applicable"]]))
def test_ac1_and_pabak_are_their_definitions_on_the_declared_scale(pair, scale):
    rows = complete(*pair)
    a, b = columns_of(rows, 2)
    used = scale or sorted({*a, *b})
    size, n = len(used), len(rows)
    ac1: Fraction | float = NAN
    kappa: Fraction | float = NAN
    if n and size > 1:
        agreed = Fraction(sum(x == y for x, y in rows), n)
        pi = [Fraction(a.count(k) + b.count(k), 2 * n) for k in used]
        expected = sum((p * (1 - p) for p in pi), Fraction(0)) / (size - 1)
        ac1, kappa = (agreed - expected) / (1 - expected), (size * agreed - 1) / (size - 1)
    agrees(metrics.gwet_ac1, ac1, *pair, categories=scale)
    agrees(metrics.pabak, kappa, *pair, categories=scale)


@given(PAIR)
def test_balanced_accuracy_is_scikit_learns(pair):
    a, b = columns_of(complete(*pair), 2)
    agrees(metrics.balanced_accuracy, silent(balanced_accuracy_score, b, a) if a else NAN, *pair)


@given(raters(["A", "B", "tie"], 3))
def test_light_kappa_is_the_mean_of_scikit_learns_kappas_that_exist(ratings):
    found = []
    for one, two in itertools.combinations(ratings, 2):
        a, b = columns_of(complete(one, two), 2)
        found.append(silent(cohen_kappa_score, a, b) if len({*a, *b}) > 1 else NAN)
    defined = [value for value in found if not math.isnan(value)]
    agrees(metrics.light_kappa, sum(defined) / len(defined) if defined else NAN, list(ratings), crowd=True)


@given(st.integers(1, 5).flatmap(lambda m: st.lists(st.lists(st.integers(0, 2), min_size=m, max_size=m), max_size=15)))
def test_fleiss_kappa_is_statsmodels(units):
    counts = [[unit.count(k) for k in range(4)] for unit in units]
    raters_, used = len(units[0]) if units else 0, {label for unit in units for label in unit}
    witness = silent(statsmodels_fleiss, np.array(counts)) if raters_ > 1 and len(used) > 1 else NAN
    agrees(metrics.fleiss_kappa, witness, counts)


@given(raters([0, 1, 2, 3, 7], 3, most=15), st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
def test_alpha_is_the_krippendorff_packages_at_all_four_levels(ratings, level):
    numbers = np.array([[NAN if x is None else x for x in rater] for rater in ratings], dtype=float)
    numbers = numbers.reshape(3, -1)
    paired = numbers[:, (~np.isnan(numbers)).sum(axis=0) > 1]
    defined = len(np.unique(paired[~np.isnan(paired)])) > 1
    witness = krippendorff.alpha(reliability_data=numbers, level_of_measurement=level) if defined else NAN
    agrees(metrics.krippendorff_alpha, witness, list(ratings), level, crowd=True)


@given(SCORES)
def test_correlations_are_scipys(pair):
    x, y = columns_of(complete(*pair), 2)
    defined = len(x) > 1 and len(set(x)) > 1 and len(set(y)) > 1
    for function, witness in (
        (correlation.pearson, stats.pearsonr),
        (correlation.spearman, stats.spearmanr),
        (correlation.kendall_tau_b, stats.kendalltau),
    ):
        agrees(function, witness(x, y).statistic if defined else NAN, *pair)


def constant_answers_earn(labels: Sequence[str], ties: str) -> list[tuple[Fraction, int]]:
    """What each constant answer earns on these labels, and of how many."""
    answers = [*({*labels} - {"tie"}), "some other"] + ["tie"] * (ties != "exclude")
    rows = [label for label in labels if ties != "exclude" or label != "tie"]
    credit = Fraction(1, 2) if ties == "half_credit" else Fraction(0)
    earned = []
    for answer in answers:
        each = [Fraction(1) if answer == x else credit if "tie" in (answer, x) else Fraction(0) for x in rows]
        earned.append((sum(each, Fraction(0)), len(rows)))
    return earned


@given(
    st.lists(st.tuples(st.sampled_from(["A", "B", "tie", None]), st.sampled_from(["p", "q", None])), max_size=16),
    st.sampled_from(["three_class", "half_credit", "exclude"]),
)
def test_the_best_constant_judge_is_found_by_trying_them_all(rows, ties):
    labels, groups = columns_of(rows, 2)
    earned, total = max(constant_answers_earn([x for x in labels if x], ties))
    agrees(metrics.constant_judge_baseline, share(earned, total), labels, ties=ties)
    each = [[x for x, g in complete(labels, groups) if g == name] for name in {g for g in groups if g}]
    best = [max(constant_answers_earn(one, ties)) for one in each]
    witness = share(sum((top for top, _ in best), Fraction(0)), sum(bottom for _, bottom in best))
    agrees(metrics.constant_judge_baseline, witness, labels, groups=groups, ties=ties)
