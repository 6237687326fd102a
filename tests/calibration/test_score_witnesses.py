"""Intraclass correlation, rank agreement and preferences made of scores, against their definitions in fractions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.formula.api import ols

from calibration.agreement.score_preferences import preferences_from_scores
from calibration.arithmetic import correlation
from calibration.arithmetic.correlation import icc
from tests.calibration.brute_force import FORMS, coefficients
from tests.calibration.witnesses import NAN, agrees, complete, raters, share

RATINGS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def by_explicit_sums(rows: Sequence[Sequence[int]]) -> dict[str, Any]:
    n, k = len(rows), len(rows[0])
    cells = [[Fraction(x) for x in row] for row in rows]
    mean = sum(map(sum, cells), Fraction(0)) / (n * k)
    subjects, judges = [sum(row) / k for row in cells], [sum(column) / n for column in zip(*cells, strict=True)]
    ssr, ssc = k * sum((x - mean) ** 2 for x in subjects), n * sum((x - mean) ** 2 for x in judges)
    ssw = sum((x - subject) ** 2 for row, subject in zip(cells, subjects, strict=True) for x in row)
    msr, msc = ssr / (n - 1), ssc / (k - 1)
    return coefficients(msr, msc, (ssw - ssc) / ((n - 1) * (k - 1)), ssw / (n * (k - 1)), n, k)


@given(st.integers(1, 4).flatmap(lambda k: raters([1, 2, 3, 4, 7], k, most=10)))
def test_every_icc_form_is_its_explicit_sums(columns):
    rows = complete(*columns)
    wanted = by_explicit_sums(rows) if len(rows) > 1 and len(columns) > 1 else dict.fromkeys(FORMS, NAN)
    for form, value in wanted.items():
        agrees(icc, value, np.array(columns, dtype=object).T.reshape(-1, len(columns)), form, crowd=True)


def test_icc_is_made_of_statsmodels_mean_squares():
    long = pd.DataFrame([(i, j, x) for i, row in enumerate(RATINGS) for j, x in enumerate(row)], columns=[*"sjx"])
    anova = sm.stats.anova_lm(ols("x ~ C(s) + C(j)", long).fit())
    squares = anova["sum_sq"] / anova["df"]
    within = anova["sum_sq"][["C(j)", "Residual"]].sum() / 18
    made = coefficients(*map(Fraction, (squares["C(s)"], squares["C(j)"], squares["Residual"], within)), 6, 4)
    for form in FORMS:
        assert icc(RATINGS, form) == pytest.approx(float(made[form]), abs=1e-9)


def test_an_icc_whose_denominator_is_exactly_zero_is_undefined():
    # MSR 8, MSC 2, MSE 18: MSR + (MSC - MSE) / 2 = 0
    agrees(icc, NAN, [[6, 2], [1, 3]], "ICC(2,k)")


def ordered_alike(rows: Sequence[tuple[float, float]], ties: str) -> tuple[Fraction, int]:
    """How many pairs of reports agree, and of how many, pair by pair."""
    earned, count = Fraction(0), 0
    for (x1, y1), (x2, y2) in itertools.combinations(rows, 2):
        one, two = ((d > 1e-9) - (d < -1e-9) for d in (x1 - x2, y1 - y2))
        if ties == "exclude" and 0 in (one, two):
            continue
        count += 1
        if ties == "half_credit":
            earned += 1 - Fraction(abs(one - two), 2)
        else:
            earned += one == two != 0
    return earned, count


RULE = st.sampled_from(["strict", "exclude", "half_credit"])


@given(raters([1, 2, 3, 4, 4 + 1e-12], 2), RULE, st.lists(st.sampled_from(["p", "q", None]), min_size=16, max_size=16))
def test_rank_agreement_is_a_walk_over_all_pairs_of_reports(columns, ties, topics):
    x, y = columns
    agrees(correlation.rank_agreement_across_items, share(*ordered_alike(complete(x, y), ties)), x, y, ties=ties)
    topics = topics[: len(x)]
    inside = [ordered_alike([(a, b) for a, b, q in complete(x, y, topics) if q == name], ties) for name in "pq"]
    earned, count = sum((top for top, _ in inside), Fraction(0)), sum(pairs for _, pairs in inside)
    agrees(correlation.rank_agreement_within_topic, share(earned, count), x, y, topics, ties=ties)


SYSTEMS = ["atlas", "borealis", "cygnus"]
KEYS = list(itertools.product(["t1", "t2"], ["ann", "judge"], ["clarity", "depth"], SYSTEMS))


@given(
    st.lists(st.sampled_from([1, 2, 2.5, 3, None]), min_size=len(KEYS), max_size=len(KEYS)), st.sampled_from([0, 0.5])
)
def test_preferences_are_the_signs_of_score_differences(scores, margin):
    given_ = {key: score for key, score in zip(KEYS, scores, strict=True) if score is not None}
    if not given_:
        return
    rows = [(f"{t}-{s}", r, "judge" if r == "judge" else "human", c, x, t, s) for (t, r, c, s), x in given_.items()]
    names = ["item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id", "system_a"]
    made = preferences_from_scores(pd.DataFrame(rows, columns=names), margin)
    wanted = {}
    for topic, rater, criterion, _ in KEYS[:: len(SYSTEMS)]:
        for one, two in itertools.combinations(SYSTEMS, 2):
            x, y = (given_.get((topic, rater, criterion, system)) for system in (one, two))
            if x is not None and y is not None:
                wanted[topic, rater, criterion, one, two] = "tie" if abs(x - y) <= margin else one if x > y else two
    found = {}
    for row in made.itertuples():
        winner = {"A": row.system_a, "B": row.system_b, "tie": "tie"}[row.label]
        found[row.cluster_id, row.rater_id, row.criterion, *sorted((row.system_a, row.system_b))] = winner
    assert found == wanted
    assert len(made) == len(wanted)
    assert made["derived"].all() or made.empty
