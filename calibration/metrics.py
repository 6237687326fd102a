"""Agreement of two raters, label by label, and the catalogue `METRICS` that every screen and export reads.

Common contract: columns aligned by position; a row where either side is missing is dropped; the result is a float;
undefined is nan without a warning, and `why_undefined` names the reason.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibration import correlation
from calibration.engine import closed_forms
from calibration.engine.closed_forms import Array
from calibration.errors import CalibrationError
from calibration.many_raters import fleiss_kappa, krippendorff_alpha, present
from calibration.reading.columns import Labels, aligned, categories_of, count_table, grouped
from calibration.scores.pairwise import SCORES, SWAP, best_answer, without_ties
from calibration.sure import calibration_error
from calibration.verdicts import PAIRWISE


def percent_agreement(a: Any, b: Any, ties: str = "three_class") -> float:
    """Share of rows where `a` and `b` say the same, 0 to 1. `a`, `b`: shape (rows,). Undefined: no rows (left).

    `three_class`: a tie is a label like another. `half_credit`: a tie against a winner counts one half. `exclude`:
    rows with a tie on either side are dropped, and the share kept must be printed. The last two raise `not_pairwise`
    on labels other than A, B, tie. Wiki Live Challenge calls it PAR.
    """
    _known_rule(ties)
    a, b = aligned(a, b)
    if ties == "three_class":
        return float(closed_forms.agreement(count_table(a, b, categories_of((a, b), None))))
    table = _pairwise_table(a, b)
    if ties == "half_credit":
        return float(closed_forms.half_credit(table, SCORES))
    return float(closed_forms.agreement(without_ties(table)))


def cohen_kappa(a: Any, b: Any, categories: Sequence[Any] | None = None, weights: str | None = None) -> float:
    """(Po - Pe) / (1 - Pe), -1 to 1. Undefined: chance disagreement is 0 (`one_category`).

    `weights`: None, "linear" (|k - l|) or "quadratic" ((k - l)^2), k the position in the declared `categories` (None:
    the sorted labels seen). Cohen 1960, 1968.
    """
    a, b = aligned(a, b)
    scale = categories_of((a, b), categories)
    return float(closed_forms.kappa(count_table(a, b, scale), closed_forms.disagreement(len(scale), weights)))


def symmetrised_kappa(a: Any, b: Any) -> float:
    """Cohen's kappa of every row and its mirrored copy (A and B exchanged): no naming of A and B changes it, -1 to 1.

    Undefined: `one_category`. Raises `not_pairwise` on labels other than A, B, tie.
    """
    table = _pairwise_table(*aligned(a, b))
    return float(closed_forms.kappa(closed_forms.symmetrised(table, SWAP[:3])))


def stratified_kappa(a: Any, b: Any, strata: Any) -> float:
    """sum_q n_q (Po_q - Pe_q) / sum_q n_q (1 - Pe_q) over strata q such as criteria, -1 to 1. `strata`: shape (rows,).

    Undefined: every stratum has one category. Barlow, Lai & Azen 1991.
    """
    group, (a, b) = grouped(strata, a, b)
    scale = categories_of((a, b), None)
    tables = [count_table(a[group == q], b[group == q], scale) for q in np.unique(group)]
    return float(closed_forms.stratified_kappa(np.stack(tables))) if tables else math.nan


def gwet_ac1(a: Any, b: Any, categories: Sequence[Any] | None = None) -> float:
    """(Po - Pe) / (1 - Pe), Pe = sum pi_k (1 - pi_k) / (K - 1), pi_k the mean share of k. Gwet 2008.

    Undefined: no rows, or a scale of one category (declare `categories`; one used category of several gives 1).
    """
    a, b = aligned(a, b)
    return float(closed_forms.gwet_ac1(count_table(a, b, categories_of((a, b), categories))))


def pabak(a: Any, b: Any, categories: Sequence[Any] | None = None) -> float:
    """(K Po - 1) / (K - 1). Undefined as `gwet_ac1`. Byrt, Bishop & Carlin 1993; Brennan & Prediger 1981."""
    a, b = aligned(a, b)
    return float(closed_forms.pabak(count_table(a, b, categories_of((a, b), categories))))


def balanced_accuracy(a: Any, b: Any) -> float:
    """Mean over the labels of the reference `b` of the share of rows where `a` gives it too, 0 to 1; shape (rows,)."""
    a, b = aligned(a, b)
    return float(closed_forms.balanced_accuracy(count_table(a, b, categories_of((a, b), None))))


def matthews_correlation(a: Any, b: Any) -> float:
    """(N sum n_kk - sum r_k c_k) / sqrt((N^2 - sum r_k^2)(N^2 - sum c_k^2)), -1 to 1; of two labels, Pearson's phi.

    Never nearer to 0 than Cohen's kappa, and equal to it where both use every label equally often. Undefined: no rows,
    or a side that always says the same (`zero_variance`). Gorodkin 2004.
    """
    a, b = aligned(a, b)
    return float(_matthews(count_table(a, b, categories_of((a, b), None))))


def _matthews(table: Array) -> Array:
    total, rows, columns = closed_forms.margins(table)
    covariance = total * closed_forms.diagonal(table) - (rows * columns).sum(axis=-1)
    spread = (total * total - (rows * rows).sum(axis=-1)) * (total * total - (columns * columns).sum(axis=-1))
    return closed_forms.ratio(covariance, np.sqrt(spread))


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
    group, (labels,) = grouped(np.zeros(len(reference)) if groups is None else groups, reference)
    if ties != "three_class" and groups is None:
        _pairwise_table(labels, labels)
    found = [best_answer(labels[group == name].astype(str), ties) for name in np.unique(group)]
    return float(closed_forms.ratio(sum(earned for earned, _ in found), sum(rows for _, rows in found)))


def why_undefined(function: Callable[..., float], *args: Any, **kw: Any) -> str:
    """The reason why `function(*args, **kw)` is nan, one of a few words, or "" if it has a value."""
    if not math.isnan(function(*args, **kw)):
        return ""
    given = [*args, *kw.values()]
    if function is fleiss_kappa:
        counts = np.asarray(given[0], dtype=float)
        return "no_items" if not counts.any() else "too_few_units" if counts.sum(axis=1).max() < 2 else "one_category"
    if function in (krippendorff_alpha, light_kappa):
        rated = present(np.asarray(given[0], dtype=object))
        if not rated.any():
            return "no_items"
        return "one_category" if (rated.sum(axis=0) > 1).any() else "no_shared_units"
    if function is correlation.icc:
        rows = [row for row in np.asarray(given[0], dtype=object) if not any(one is None or one != one for one in row)]
        return "no_items" if not rows else "too_few_units" if min(len(rows), len(rows[0])) < 2 else "zero_variance"
    columns = aligned(*[one for one in given if np.ndim(one) == 1][:2])
    if not len(columns[0]) or function in _NAN_ONLY_WITHOUT_ROWS:
        return "no_items"
    if function in (gwet_ac1, pabak):
        return "one_category_scale"
    if function in (correlation.pearson, correlation.spearman, correlation.kendall_tau_b):
        return "too_few_units" if len(columns[0]) < 2 else "zero_variance"
    constant = any(len(np.unique(column)) == 1 for column in columns)
    return "zero_variance" if constant and len(np.unique(np.concatenate(columns))) > 1 else "one_category"


def _known_rule(ties: str) -> None:
    if ties not in ("three_class", "half_credit", "exclude"):
        raise CalibrationError("unknown_form", f"ties is {ties!r}; use three_class, half_credit or exclude")


def _pairwise_table(a: Labels, b: Labels) -> Array:
    outside = [label for side in (a, b) for label in np.unique(side) if str(label) not in PAIRWISE]
    if outside:
        raise CalibrationError("not_pairwise", f"the label {str(outside[0])!r} is not A, B or tie")
    return count_table(a.astype(str), b.astype(str), np.array(PAIRWISE))


# label agreement as estimates call it, by the rule for ties
HEADLINE = {
    "three_class": "percent_agreement",
    "half_credit": "percent_agreement_half_credit",
    "exclude": "percent_agreement_exclude_ties",
}


@dataclass(frozen=True)
class Metric:
    """One line of the catalogue. `kinds`: pairwise, rating, probe. `interval`: how `calibrate` bounds it.

    `of_table`: the closed form on count tables, shape (..., K, K) to (...), of a metric that needs no order of the
    labels; every report then holds it with its interval. `bibtex`: its source, where exports/references.bib has none.
    """

    name: str
    title: str
    symbol: str  # where a page is narrow
    source: str
    function: Callable[..., float]
    kinds: tuple[str, ...]
    interval: str
    of_table: Callable[[Array], Array] | None = None
    bibtex: str = ""


_NAN_ONLY_WITHOUT_ROWS = (
    percent_agreement,
    constant_judge_baseline,
    correlation.rank_agreement_across_items,
    correlation.rank_agreement_within_topic,
)
_ALL, _ORDERED, _PAIRS, _SCORES = ("pairwise", "rating", "probe"), ("pairwise", "rating"), ("pairwise",), ("rating",)
_NAMES = ("pairwise", "probe")
_BOOT, _WILSON = "cluster_bootstrap_expanded", "wilson_effective_n"
_RECALL = "balanced_accuracy", "Balanced accuracy", "BA", "mean recall"
_ECE = "expected_calibration_error", "Calibration error", "ECE", "Naeini, Cooper & Hauskrecht 2015"
_GORODKIN = """@article{gorodkin2004comparing,
  author = {Gorodkin, Jan},
  title = {Comparing two {K}-category assignments by a {K}-category correlation coefficient},
  journal = {Computational Biology and Chemistry},
  volume = {28},
  pages = {367--374},
  year = {2004},
  doi = {10.1016/j.compbiolchem.2004.09.006}
}"""
_MCC = "matthews_correlation", "Matthews correlation", "MCC", "Gorodkin 2004"
METRICS = (
    Metric("percent_agreement", "Agreement", "PA", "share of equal labels", percent_agreement, _ALL, _WILSON),
    Metric("cohen_kappa", "Cohen's κ", "κ", "Cohen 1960", cohen_kappa, _ALL, _BOOT),
    Metric("cohen_kappa_symmetrised", "κ, symmetrised", "κ-s", "κ of T + PTP'", symmetrised_kappa, _PAIRS, _BOOT),
    Metric("stratified_kappa", "κ within criteria", "κ-w", "Barlow, Lai & Azen 1991", stratified_kappa, _ALL, "none"),
    Metric("gwet_ac1", "Gwet's AC1", "AC1", "Gwet 2008", gwet_ac1, _ALL, _BOOT, closed_forms.gwet_ac1),
    Metric("pabak", "PABAK", "PABAK", "Byrt, Bishop & Carlin 1993", pabak, _ALL, _BOOT, closed_forms.pabak),
    Metric(*_RECALL, balanced_accuracy, _NAMES, _BOOT, closed_forms.balanced_accuracy),
    Metric(*_MCC, matthews_correlation, _NAMES, _BOOT, _matthews, _GORODKIN),
    Metric("fleiss_kappa", "Fleiss' κ", "κ-F", "Fleiss 1971", fleiss_kappa, _ALL, _BOOT),
    Metric("light_kappa", "Light's κ", "κ-L", "Light 1971", light_kappa, _ALL, _BOOT),
    Metric("krippendorff_alpha", "Krippendorff's α", "α", "Krippendorff 2004", krippendorff_alpha, _ALL, _BOOT),
    Metric("pearson", "Pearson's r", "r", "Pearson 1895", correlation.pearson, _ORDERED, _BOOT),
    Metric("spearman", "Spearman's ρ", "ρ", "Spearman 1904", correlation.spearman, _ORDERED, _BOOT),
    Metric("kendall_tau_b", "Kendall's τ-b", "τ-b", "Kendall 1945", correlation.kendall_tau_b, _ORDERED, _BOOT),
    Metric("icc", "Intraclass correlation", "ICC", "Shrout & Fleiss 1979", correlation.icc, _SCORES, _BOOT),
    Metric(
        "rank_agreement_across_items",
        "Rank agreement, all reports",
        "RA",
        "DR3-Eval",
        correlation.rank_agreement_across_items,
        _SCORES,
        _BOOT,
    ),
    Metric(
        "rank_agreement_within_topic",
        "Rank agreement in topics",
        "RA-t",
        "DeepResearch Bench",
        correlation.rank_agreement_within_topic,
        _SCORES,
        _WILSON,
    ),
    Metric("constant_judge_baseline", "Best constant answer", "base", "margin", constant_judge_baseline, _ALL, "none"),
    Metric(*_ECE, calibration_error.expected_calibration_error, _ALL, _BOOT),
    Metric("brier_score", "Brier score", "Brier", "Brier 1950", calibration_error.brier_score, _ALL, _BOOT),
    Metric("confidence_auroc", "AUROC", "AUC", "Hanley & McNeil 1982", calibration_error.confidence_auroc, _ALL, _BOOT),
)
