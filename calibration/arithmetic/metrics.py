"""Agreement of two raters or several, label by label, and rates of right answers where one answer passes.

Common contract: columns aligned by position; a row where either side is missing is dropped; the result is a float;
undefined is nan without a warning, and `calibration.metrics.why_undefined` names the reason. Tables of rates have the
shape (..., 2, 2), what passes first: rows hold the judge's answers, columns the people's.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from calibration.arithmetic import closed_forms, columns, correlation
from calibration.errors import CalibrationError


def percent_agreement(a: Any, b: Any, ties: str = "three_class") -> float:
    """Share of rows where `a` and `b` say the same, 0 to 1. `a`, `b`: shape (rows,). Undefined: no rows (left).

    `three_class`: a tie is a label like another. `half_credit`: a tie against a winner counts one half. `exclude`:
    rows with a tie on either side are dropped, and the share kept must be printed. The last two raise `not_pairwise`
    on labels other than A, B, tie. Wiki Live Challenge calls it PAR.
    """
    _known_rule(ties)
    a, b = columns.aligned(a, b)
    if ties == "three_class":
        return float(closed_forms.agreement(columns.count_table(a, b, columns.categories_of((a, b), None))))
    table = _pairwise_table(a, b)
    if ties == "half_credit":
        return float(closed_forms.half_credit(table, columns.SCORES))
    return float(closed_forms.agreement(columns.without_ties(table)))


def chance_agreement(a: Any, b: Any) -> float:
    """sum_k p_k q_k, the agreement expected of raters who say k as often as these, independently; 0 to 1.

    `a`, `b`: shape (rows,). Undefined: no rows.
    """
    a, b = columns.aligned(a, b)
    return float(closed_forms.chance(columns.count_table(a, b, columns.categories_of((a, b), None))))


def cohen_kappa(a: Any, b: Any, categories: Sequence[Any] | None = None, weights: str | None = None) -> float:
    """(Po - Pe) / (1 - Pe), -1 to 1. Undefined: chance disagreement is 0 (`one_category`).

    `weights`: None, "linear" (|k - l|) or "quadratic" ((k - l)^2), k the position in the declared `categories` (None:
    the sorted labels seen). Cohen 1960, 1968.
    """
    a, b = columns.aligned(a, b)
    scale = columns.categories_of((a, b), categories)
    return float(closed_forms.kappa(columns.count_table(a, b, scale), closed_forms.disagreement(len(scale), weights)))


def symmetrised_kappa(a: Any, b: Any) -> float:
    """Cohen's kappa of every row and its mirrored copy (A and B exchanged): no naming of A and B changes it, -1 to 1.

    Undefined: `one_category`. Raises `not_pairwise` on labels other than A, B, tie.
    """
    table = _pairwise_table(*columns.aligned(a, b))
    return float(closed_forms.kappa(closed_forms.symmetrised(table, columns.SWAP[:3])))


def stratified_kappa(a: Any, b: Any, strata: Any) -> float:
    """sum_q n_q (Po_q - Pe_q) / sum_q n_q (1 - Pe_q) over strata q such as criteria, -1 to 1. `strata`: shape (rows,).

    Undefined: every stratum has one category. Barlow, Lai & Azen 1991.
    """
    group, (a, b) = columns.grouped(strata, a, b)
    scale = columns.categories_of((a, b), None)
    tables = [columns.count_table(a[group == q], b[group == q], scale) for q in np.unique(group)]
    return float(closed_forms.stratified_kappa(np.stack(tables))) if tables else math.nan


def gwet_ac1(a: Any, b: Any, categories: Sequence[Any] | None = None) -> float:
    """(Po - Pe) / (1 - Pe), Pe = sum pi_k (1 - pi_k) / (K - 1), pi_k the mean share of k. Gwet 2008.

    Undefined: no rows, or a scale of one category (declare `categories`; one used category of several gives 1).
    """
    a, b = columns.aligned(a, b)
    return float(closed_forms.gwet_ac1(columns.count_table(a, b, columns.categories_of((a, b), categories))))


def pabak(a: Any, b: Any, categories: Sequence[Any] | None = None) -> float:
    """(K Po - 1) / (K - 1). Undefined as `gwet_ac1`. Byrt, Bishop & Carlin 1993; Brennan & Prediger 1981."""
    a, b = columns.aligned(a, b)
    return float(closed_forms.pabak(columns.count_table(a, b, columns.categories_of((a, b), categories))))


def balanced_accuracy(a: Any, b: Any) -> float:
    """Mean over the labels of the reference `b` of the share of rows where `a` gives it too, 0 to 1; shape (rows,)."""
    a, b = columns.aligned(a, b)
    return float(closed_forms.balanced_accuracy(columns.count_table(a, b, columns.categories_of((a, b), None))))


def matthews_correlation(a: Any, b: Any) -> float:
    """(N sum n_kk - sum r_k c_k) / sqrt((N^2 - sum r_k^2)(N^2 - sum c_k^2)), -1 to 1; of two labels, Pearson's phi.

    Never nearer to 0 than Cohen's kappa, and equal to it where both use every label equally often. Undefined: no rows,
    or a side that always says the same (`zero_variance`). Gorodkin 2004.
    """
    a, b = columns.aligned(a, b)
    return float(closed_forms.matthews(columns.count_table(a, b, columns.categories_of((a, b), None))))


def light_kappa(ratings: Any, crowd: bool = False) -> float:
    """Unweighted mean of Cohen's kappa over pairs of raters. `ratings`: shape (raters, units), missing allowed.

    Pairs without a kappa are left out. Undefined: no pair has one. Raises `maybe_transposed`. Light 1971.
    """
    correlation.refuse_transposed(len(ratings), max(map(len, ratings), default=0), "raters x units", crowd)
    pairs = [cohen_kappa(one, two) for one, two in itertools.combinations(ratings, 2)]
    defined = [value for value in pairs if not math.isnan(value)]
    return float(np.mean(defined)) if defined else math.nan


def constant_judge_baseline(reference: Any, groups: Any = None, ties: str = "three_class") -> float:
    """Agreement with `reference` of the best judge that always says the same thing, 0 to 1. Undefined: no rows.

    `groups`: the unordered system pair of each row, labels then being system names; the best constant answer within
    each. `ties`: as in `percent_agreement`.
    """
    _known_rule(ties)
    group, (labels,) = columns.grouped(np.zeros(len(reference)) if groups is None else groups, reference)
    if ties != "three_class" and groups is None:
        _pairwise_table(labels, labels)
    found = [columns.best_answer(labels[group == name].astype(str), ties) for name in np.unique(group)]
    return float(closed_forms.ratio(sum(earned for earned, _ in found), sum(rows for _, rows in found)))


def _known_rule(ties: str) -> None:
    if ties not in ("three_class", "half_credit", "exclude"):
        raise CalibrationError("unknown_form", f"ties is {ties!r}; use three_class, half_credit or exclude")


def _pairwise_table(a: columns.Labels, b: columns.Labels) -> closed_forms.Array:
    outside = [label for side in (a, b) for label in np.unique(side) if str(label) not in columns.PAIRWISE]
    if outside:
        raise CalibrationError("not_pairwise", f"the label {str(outside[0])!r} is not A, B or tie")
    return columns.count_table(a.astype(str), b.astype(str), np.array(columns.PAIRWISE))


def fleiss_kappa(units: Any) -> float:
    """(mean P_u - P_e) / (1 - P_e). `units`: counts, shape (units, categories), equal row sums m.

    Undefined: no units, m < 2, one category. Raises `unequal_raters`. Fleiss 1971.
    """
    counts = np.asarray(units, dtype=float)
    raters = np.unique(counts.sum(axis=1)) if counts.size else np.zeros(0)
    if len(raters) > 1:
        raise CalibrationError("unequal_raters", "units have different numbers of ratings; use krippendorff_alpha")
    if not len(raters) or raters[0] < 2:
        return math.nan
    agreed = (counts * (counts - 1)).sum(axis=1).mean() / (raters[0] * (raters[0] - 1))
    expected = ((counts.sum(axis=0) / counts.sum()) ** 2).sum()
    return float(closed_forms.ratio(agreed - expected, 1 - expected))


def krippendorff_alpha(ratings: Any, level: str, crowd: bool = False) -> float:
    """1 - observed / expected disagreement, at most 1. `ratings`: shape (raters, units), NaN = missing.

    `level`: "nominal", "ordinal", "interval" or "ratio"; there is no default on purpose. Undefined: no unit with two
    ratings, or one value only. Raises `negative_ratio_values`, and `maybe_transposed` where raters outnumber units
    unless `crowd` says so. Krippendorff 2004; Hayes & Krippendorff 2007.
    """
    if level not in ("nominal", "ordinal", "interval", "ratio"):
        raise CalibrationError("unknown_form", f"level is {level!r}; use nominal, ordinal, interval or ratio")
    given = np.asarray(ratings, dtype=object)
    if given.ndim != 2:
        raise CalibrationError("misaligned", "ratings must be a table of raters x units")
    correlation.refuse_transposed(given.shape[0], given.shape[1], "raters x units", crowd)
    counts, values = _unit_counts(given)
    if level != "nominal" and len(values) and values.dtype.kind == "U":
        raise CalibrationError("unknown_label", f"level {level} needs numbers, and these ratings are text")
    if level == "ratio" and len(values) and values.min() < 0:
        raise CalibrationError("negative_ratio_values", "ratio distances need values from 0; use level interval")
    if len(values) < 2:
        return math.nan
    if level == "interval":
        return _alpha_interval(counts, values)
    raters = counts.sum(axis=1, keepdims=True)
    share = counts / (raters - 1)
    coincidences = counts.T @ share - np.diag(share.sum(axis=0))
    distance = None
    if level == "ordinal":
        distance = closed_forms.ordinal_distance(coincidences)
    if level == "ratio":
        sums = values[:, None] + values[None, :]
        distance = np.nan_to_num(closed_forms.ratio(values[:, None] - values[None, :], sums)) ** 2
    return float(closed_forms.alpha(coincidences, distance))


def present(ratings: columns.Labels) -> columns.Labels:
    """Which cells hold a rating, neither None nor NaN; the shape of `ratings`."""
    return ~np.asarray([[value is None or value != value for value in row] for row in ratings], dtype=bool)


def _unit_counts(given: columns.Labels) -> tuple[closed_forms.Array, columns.Labels]:
    """How many raters gave each value to each unit with at least two ratings: shape (units, values), and the values."""
    unit = np.broadcast_to(np.arange(given.shape[1]), given.shape)[present(given)]
    flat = columns.aligned(given[present(given)])[0]
    paired = np.bincount(unit, minlength=given.shape[1])[unit] > 1
    values, code = np.unique(flat[paired], return_inverse=True)
    _, row = np.unique(unit[paired], return_inverse=True)
    counts = np.zeros((row.max(initial=-1) + 1, len(values)))
    np.add.at(counts, (row, code), 1)
    return counts, values


def _alpha_interval(counts: closed_forms.Array, values: columns.Labels) -> float:
    """In moments after centring, so that neither many values nor a large offset cost memory or digits."""
    raters, total = counts.sum(axis=1), counts.sum()
    centred = values - values.mean()
    s, q = counts @ centred, counts @ centred**2
    within = ((raters * q - s**2) / (raters - 1)).sum()
    return float(1 - (total - 1) * within / (total * q.sum() - s.sum() ** 2))


def true_positive_rate(a: Any, b: Any, positive: Any) -> float:
    """Of the rows where the reference `b` is `positive`, the share where `a` is too, 0 to 1: recall, or sensitivity.

    `a`, `b`: shape (rows,); every other label is negative. Undefined: no such row, `no_positives`. Youden 1950.
    """
    return float(of_positives(passing_table(a, b, positive)))


def true_negative_rate(a: Any, b: Any, positive: Any) -> float:
    """Of the rows where the reference `b` is not `positive`, the share where `a` is not either, 0 to 1: specificity.

    `a`, `b`: shape (rows,). Undefined: no such row, `no_negatives`. Youden 1950.
    """
    return float(of_negatives(passing_table(a, b, positive)))


def precision(a: Any, b: Any, positive: Any) -> float:
    """Of the rows where `a` is `positive`, the share where the reference `b` is too, 0 to 1. `a`, `b`: shape (rows,).

    Undefined: `a` never says so, `never_positive`. van Rijsbergen 1979.
    """
    return float(of_passed(passing_table(a, b, positive)))


def f1_score(a: Any, b: Any, positive: Any) -> float:
    """2 TP / (2 TP + FP + FN), 0 to 1: the harmonic mean of precision and recall. `a`, `b`: shape (rows,).

    Undefined: neither ever says `positive`, `no_positives`. van Rijsbergen 1979.
    """
    return float(f1(passing_table(a, b, positive)))


def youden_j(a: Any, b: Any, positive: Any) -> float:
    """True positive rate + true negative rate - 1, -1 to 1; 0 for answers that say nothing about `b`, as constant ones.

    `a`, `b`: shape (rows,); it is the same whichever of two labels is `positive`. Undefined: the reference never says
    one of the two, `no_positives` or `no_negatives`. Youden 1950.
    """
    return float(youden(passing_table(a, b, positive)))


def passing_table(a: Any, b: Any, positive: Any) -> closed_forms.Array:
    """Counts of shape (2, 2), `positive` first; rows where either side is missing are dropped."""
    a, b = columns.aligned(a, b)
    own, other = (np.where(column == positive, 0, 1) for column in (a, b))
    return np.asarray(np.bincount(own * 2 + other, minlength=4).reshape(2, 2).astype(float))


def of_positives(table: closed_forms.Array) -> closed_forms.Array:
    """The true positive rate of each table."""
    return closed_forms.ratio(table[..., 0, 0], table[..., :, 0].sum(axis=-1))


def of_negatives(table: closed_forms.Array) -> closed_forms.Array:
    """The true negative rate of each table."""
    return closed_forms.ratio(table[..., 1, 1], table[..., :, 1].sum(axis=-1))


def of_passed(table: closed_forms.Array) -> closed_forms.Array:
    """The precision of each table."""
    return closed_forms.ratio(table[..., 0, 0], table[..., 0, :].sum(axis=-1))


def f1(table: closed_forms.Array) -> closed_forms.Array:
    """2 TP / (2 TP + FP + FN) of each table."""
    return closed_forms.ratio(2 * table[..., 0, 0], table[..., 0, :].sum(axis=-1) + table[..., :, 0].sum(axis=-1))


def youden(table: closed_forms.Array) -> closed_forms.Array:
    """True positive rate + true negative rate - 1 of each table."""
    return of_positives(table) + of_negatives(table) - 1


def why_no_rate(name: str, table: closed_forms.Array) -> str:
    """Why a rate of this one table is undefined, in one word; "" where it has a value."""
    passed, truly, truly_not = table[0].sum(), table[:, 0].sum(), table[:, 1].sum()
    if not table.sum():
        return "no_items"
    lacking = {
        "true_positive_rate": [("no_positives", truly)],
        "true_negative_rate": [("no_negatives", truly_not)],
        "precision": [("never_positive", passed)],
        "f1_score": [("no_positives", passed + truly)],
        "youden_j": [("no_positives", truly), ("no_negatives", truly_not)],
    }[name]
    return next((reason for reason, count in lacking if not count), "")


RATES: tuple[Callable[..., float], ...] = (true_positive_rate, true_negative_rate, precision, f1_score, youden_j)
