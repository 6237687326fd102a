"""Correlation, intraclass correlation and rank agreement of columns of numbers, and preferences made of scores.

A row with a missing side is dropped. Nan when undefined, never an exception.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from calibration.engine.closed_forms import Array, ratio
from calibration.engine.concordance import rank_share, sign_counts
from calibration.engine.moments import FORMS, icc_of_sums, rater_sums
from calibration.errors import CalibrationError
from calibration.reading.columns import Codes, grouped, numeric
from calibration.scores.preferences import preferences_from_scores

__all__ = [
    "icc",
    "kendall_tau_b",
    "pearson",
    "preferences_from_scores",
    "rank_agreement_across_items",
    "rank_agreement_within_topic",
    "spearman",
]


def pearson(x: Any, y: Any) -> float:
    """Product-moment correlation of `x` and `y`, shape (rows,), -1 to 1. Undefined: fewer than two rows, a constant
    side.

    Values are centred first: an offset of 1e9 costs no digits.
    """
    return _correlation(*numeric(x, y))


def spearman(x: Any, y: Any) -> float:
    """Pearson of midranks, -1 to 1. `x`, `y`: shape (rows,). Undefined as `pearson`. Spearman 1904."""
    x, y = numeric(x, y)
    return _correlation(stats.rankdata(x), stats.rankdata(y))


def kendall_tau_b(x: Any, y: Any) -> float:
    """(P - Q) / sqrt((n0 - n1)(n0 - n2)), -1 to 1. `x`, `y`: shape (rows,). Undefined as `pearson`. Kendall 1945."""
    x, y = numeric(x, y)
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(stats.kendalltau(x, y, variant="b").statistic)


def icc(ratings: Any, form: str = "ICC(2,1)", crowd: bool = False) -> float:
    """Intraclass correlation, at most 1; negative values are legal. `ratings`: shape (subjects, raters).

    `form`: ICC(1,1), ICC(2,1), ICC(3,1), ICC(1,k), ICC(2,k) or ICC(3,k). Subjects with a missing rating are dropped.
    Undefined: fewer than 2 subjects or raters left, or a denominator of 0. Raises `unknown_form`, and
    `maybe_transposed` where raters outnumber subjects, unless `crowd`. Shrout & Fleiss 1979; McGraw & Wong 1996.
    """
    if form not in FORMS:
        raise CalibrationError("unknown_form", f"form is {form!r}; use one of {', '.join(FORMS)}")
    subjects = np.asarray(ratings, dtype=object)
    if subjects.ndim != 2:
        raise CalibrationError("misaligned", "ratings must be a table of subjects x raters")
    refuse_transposed(subjects.shape[1], subjects.shape[0], "subjects x raters", crowd)
    complete = np.stack(numeric(*subjects.T), axis=1) if subjects.shape[1] else np.zeros((0, 0))
    sums = rater_sums(complete, np.ones(len(complete)), np.zeros(len(complete), np.intp), 1)
    return float(icc_of_sums(sums[0], form))


def rank_agreement_across_items(x: Any, y: Any, ties: str = "strict") -> float:
    """Share of all n (n - 1) / 2 pairs of reports that `x` and `y`, shape (reports,), put in the same order, 0 to 1.

    `strict`: a tie on either side is disagreement (DR3-Eval). `exclude`: such pairs are dropped. `half_credit`: a tie
    against an order counts one half, two ties count one. Differences below 1e-9 are ties. Undefined: no pair (left).
    """
    x, y = numeric(x, y)
    return _ranked(x, y, np.zeros(len(x), np.intp), ties)


def rank_agreement_within_topic(x: Any, y: Any, topics: Any, ties: str = "strict") -> float:
    """`rank_agreement_across_items` over the pairs inside one topic only, pooled over topics; shape (reports,) each.

    The rules for ties are the same. DeepResearch Bench calls it PAR.
    """
    topic, columns = grouped(topics, x, y)
    x, y = numeric(*columns)
    return _ranked(x, y, topic, ties)


def refuse_transposed(raters: int, units: int, shape: str, crowd: bool) -> None:
    """Raises `maybe_transposed` where raters outnumber units: such a table is usually turned on its side."""
    if raters > units > 1 and not crowd:
        raise CalibrationError(
            "maybe_transposed",
            f"the table is {shape} and has {raters} raters for {units} units: it may be transposed; turn it, or say "
            "crowd=True where there are more raters than units",
        )


def _ranked(x: Array, y: Array, topic: Codes, ties: str) -> float:
    if ties not in ("strict", "exclude", "half_credit"):
        raise CalibrationError("unknown_form", f"ties is {ties!r}; use strict, exclude or half_credit")
    counts = sum((sign_counts(x[topic == name], y[topic == name]) for name in np.unique(topic)), np.zeros(5))
    return float(ratio(*rank_share(counts, ties)))


def _correlation(x: Array, y: Array) -> float:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    x, y = x - x[0], y - y[0]  # the offset goes first, exactly, so that the mean is taken of small numbers
    x, y = x - x.mean(), y - y.mean()
    value = float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)))
    return min(1.0, max(-1.0, value))
