"""The catalogue `METRICS`: every statistic of agreement, rates and confidence, in the order in which tables print them.

A statistic that is added here is computed, bounded, printed where it says, and cited; nothing else knows its name.
"""

import math
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import numpy as np

from calibration.agreement import statistic as record
from calibration.agreement.continuous import ratio_distance
from calibration.agreement.statistic import (
    ALL_KINDS,
    BOOTSTRAP,
    NAMES,
    NO_INTERVAL,
    ORDERED,
    PAIRS,
    SCORES,
    SINGLE,
    WILSON,
    Counts,
    Shown,
    Statistic,
    Variety,
)
from calibration.arithmetic import calibration_error, closed_forms, correlation, metrics
from calibration.arithmetic.closed_forms import Array
from calibration.arithmetic.columns import SCORES as PAIR_SCORES
from calibration.arithmetic.columns import SWAP, aligned
from calibration.arithmetic.metrics import fleiss_kappa, krippendorff_alpha, present
from calibration.errors import CalibrationError
from calibration.study.joining import Scale

AGREEMENT, BASELINE = "percent_agreement", "constant_judge_baseline"
# label agreement as estimates call it, by the rule for ties
HEADLINE = {
    "three_class": AGREEMENT,
    "half_credit": "percent_agreement_half_credit",
    "exclude": "percent_agreement_exclude_ties",
}


def _kappa(weights: str) -> Callable[[Counts], Array]:
    return lambda s: closed_forms.kappa(s.of_numbers, closed_forms.disagreement(len(s.numbers), weights))


def _mirrored(tables: Array) -> Array:
    return closed_forms.symmetrised(tables, SWAP[: tables.shape[-1]])


def _alpha(distance: Callable[[Counts], Array]) -> Callable[[Counts], Array]:
    return lambda s: closed_forms.alpha(s.coincidences_of_numbers, distance(s), s.coincidence_scales)


def _ratio_distance(s: Counts) -> Array:
    numbers = np.asarray(s.scale.numbers)
    return ratio_distance(numbers, numbers[:, None])


def _icc(form: str) -> Callable[[Counts], Array]:
    def of(s: Counts) -> Array:
        six = correlation.moments_of_table(s.of_numbers / s.table_scales[:, None, None], s.numbers)
        return correlation.icc_of_sums(correlation.two_rater_sums(six), form)

    return of


def _plain(tables: Array, scale: Scale) -> tuple[Array, Array | None]:
    return tables, None


def _weighted(tables: Array, scale: Scale, weights: str) -> tuple[Array, Array | None]:
    size = len(np.asarray(scale.numbers))
    return tables[..., :size, :size], closed_forms.disagreement(size, weights)


def _why_no_fleiss(counts: Any) -> str:
    counts = np.asarray(counts, dtype=float)
    return "no_items" if not counts.any() else "too_few_units" if counts.sum(axis=1).max() < 2 else "one_category"


def _why_no_shared(ratings: Any, *args: Any, **kw: Any) -> str:
    rated = present(np.asarray(ratings, dtype=object))
    if not rated.any():
        return "no_items"
    return "one_category" if (rated.sum(axis=0) > 1).any() else "no_shared_units"


def _why_no_icc(ratings: Any, *args: Any, **kw: Any) -> str:
    rows = [row for row in np.asarray(ratings, dtype=object) if not any(one is None or one != one for one in row)]
    return "no_items" if not rows else "too_few_units" if min(len(rows), len(rows[0])) < 2 else "zero_variance"


def _why_no_rate(name: str) -> Callable[..., str]:
    return lambda a, b, positive: metrics.why_no_rate(name, metrics.passing_table(a, b, positive))


def _agreement_everywhere(words: str, *others: str) -> tuple[Shown, ...]:
    places = ("table agreement", "table criteria", "table annotators", "table summary", "figure agreement",
              "figure annotators", *others)  # fmt: skip
    return (*map(Shown, places), Shown("page progress", words=words))


_GORODKIN = """@article{gorodkin2004comparing,
  author = {Gorodkin, Jan},
  title = {Comparing two {K}-category assignments by a {K}-category correlation coefficient},
  journal = {Computational Biology and Chemistry},
  volume = {28},
  pages = {367--374},
  year = {2004},
  doi = {10.1016/j.compbiolchem.2004.09.006}
}"""
_CODED = "coded A = 1, tie = .5, B = 0"
_COHEN, _COHEN_WEIGHTED = ("cohen1960coefficient",), ("cohen1968weighted",)
_KRIPPENDORFF = ("krippendorff2004content", "hayes2007answering")
_SHROUT, _YOUDEN = ("shrout1979intraclass", "mcgraw1996forming"), ("youden1950index",)
_RIJSBERGEN = ("rijsbergen1979information",)
_KAPPA, _ALPHA = ("Cohen's κ", "κ"), ("Krippendorff's α", "α")

METRICS: tuple[Statistic, ...] = (
    Statistic(
        AGREEMENT, "Agreement", "PA", (), metrics.percent_agreement, ALL_KINDS, WILSON, closed_forms.agreement,
        shown=_agreement_everywhere("Equal answers", "table votes"), undefined=record.undefined_without_rows,
        perfect=record.at_agreement,
    ),
    Statistic(
        "percent_agreement_half_credit", "Agreement", "PA", (),
        partial(metrics.percent_agreement, ties="half_credit"), PAIRS, BOOTSTRAP,
        shown=_agreement_everywhere("Equal answers, ties half"), undefined=record.undefined_without_rows,
        of_counts=lambda s: closed_forms.half_credit(s.tables[..., :3, :3], PAIR_SCORES), family=AGREEMENT,
        perfect=record.at_agreement,
    ),
    Statistic(
        "percent_agreement_exclude_ties", "Agreement", "PA", (), partial(metrics.percent_agreement, ties="exclude"),
        PAIRS, WILSON, shown=_agreement_everywhere("Equal answers, without ties"),
        undefined=record.undefined_without_rows, family=AGREEMENT, perfect=record.at_agreement,
    ),
    Statistic(
        "chance_agreement", "Chance agreement", "Pe", (), metrics.chance_agreement, ALL_KINDS, BOOTSTRAP,
        closed_forms.chance, undefined=record.undefined_without_rows, of_single_raters=True, note=record.margins_note,
    ),
    Statistic(
        "cohen_kappa", *_KAPPA, _COHEN, metrics.cohen_kappa, ALL_KINDS, BOOTSTRAP, closed_forms.kappa,
        shown=(
            Shown("table agreement"), Shown("table criteria"), Shown("table annotators"),
            Shown("table votes", later=1), Shown("table summary", record.not_scores_alone),
            Shown("figure agreement", record.not_scores_alone), Shown("figure annotators", record.not_scores_alone),
            Shown("page progress"), Shown("text methods"),
        ),
        undefined=record.empty_of_constant, of_single_raters=True,
        coding="labels A, tie and B are categories, A and B as named when the pair was made",
        perfect=record.kappa_at, linearised=_plain,
    ),
    Statistic(
        "cohen_kappa_symmetrised", "κ, symmetrised", "κ-s", _COHEN, metrics.symmetrised_kappa, PAIRS, BOOTSTRAP,
        shown=(Shown("table agreement"),), of_counts=lambda s: closed_forms.kappa(_mirrored(s.tables)),
        of_single_raters=True, coding="every row and its mirrored copy: no naming of A and B changes it",
        perfect=record.kappa_at, linearised=lambda tables, scale: (_mirrored(tables), None),
    ),
    Statistic(
        "cohen_kappa_by_system", *_KAPPA, _COHEN, metrics.cohen_kappa, PAIRS, BOOTSTRAP,
        undefined=record.empty_of_constant, of_counts=lambda s: closed_forms.kappa(np.asarray(s.by_system)),
        needs=record.needs_one_system, family="cohen_kappa", perfect=record.kappa_at, linearised=_plain,
    ),
    Statistic(
        "stratified_kappa", "κ within criteria", "κ-w", ("barlow1991comparison",), metrics.stratified_kappa, ALL_KINDS,
        NO_INTERVAL,
    ),
    Statistic(
        "gwet_ac1", "Gwet's AC1", "AC1", ("gwet2008computing",), metrics.gwet_ac1, NAMES, BOOTSTRAP,
        closed_forms.gwet_ac1, undefined=record.undefined_on_one_label, note=record.prevalent_note,
        perfect=record.ac1_at,
    ),
    Statistic(
        "pabak", "PABAK", "PABAK", ("byrt1993bias", "brennan1981coefficient"), metrics.pabak, NAMES, BOOTSTRAP,
        closed_forms.pabak, undefined=record.undefined_on_one_label, note=record.prevalent_note,
        perfect=record.pabak_at,
    ),
    Statistic(
        "balanced_accuracy", "Balanced accuracy", "BA", (), metrics.balanced_accuracy, NAMES, BOOTSTRAP,
        closed_forms.balanced_accuracy, note=record.recall_note,
    ),
    Statistic(
        "matthews_correlation", "Matthews correlation", "MCC", ("gorodkin2004comparing",),
        metrics.matthews_correlation, NAMES, BOOTSTRAP, closed_forms.matthews, _GORODKIN,
    ),
    Statistic(
        "true_positive_rate", "True positive rate (recall)", "TPR", _YOUDEN, metrics.true_positive_rate, SINGLE, WILSON,
        shown=(Shown("table pass_fail"),), of_passing=metrics.of_positives, why=_why_no_rate("true_positive_rate"),
    ),
    Statistic(
        "true_negative_rate", "True negative rate", "TNR", _YOUDEN, metrics.true_negative_rate, SINGLE, WILSON,
        shown=(Shown("table pass_fail"),), of_passing=metrics.of_negatives, why=_why_no_rate("true_negative_rate"),
    ),
    Statistic(
        "precision", "Precision", "Prec.", _RIJSBERGEN, metrics.precision, SINGLE, WILSON,
        shown=(Shown("table pass_fail"),), of_passing=metrics.of_passed, why=_why_no_rate("precision"),
    ),
    Statistic(
        "f1_score", "F1", "F1", _RIJSBERGEN, metrics.f1_score, SINGLE, BOOTSTRAP, shown=(Shown("table pass_fail"),),
        of_passing=metrics.f1, why=_why_no_rate("f1_score"),
    ),
    Statistic(
        "youden_j", "Youden's J", "J", _YOUDEN, metrics.youden_j, SINGLE, BOOTSTRAP, shown=(Shown("table pass_fail"),),
        of_passing=metrics.youden, why=_why_no_rate("youden_j"),
    ),
    *(
        Statistic(
            f"cohen_kappa_{weights}", *_KAPPA, _COHEN_WEIGHTED, partial(metrics.cohen_kappa, weights=weights), SINGLE,
            BOOTSTRAP, shown=(Shown("text methods"),) if weights == "quadratic" else (),
            undefined=record.empty_of_constant, of_counts=_kappa(weights), needs=record.needs_declared_order,
            family="cohen_kappa", of_single_raters=True, linearised=partial(_weighted, weights=weights),
        )
        for weights in ("linear", "quadratic")
    ),
    Statistic(
        "krippendorff_alpha", *_ALPHA, _KRIPPENDORFF, krippendorff_alpha, ALL_KINDS, BOOTSTRAP, why=_why_no_shared,
    ),
    Statistic(
        "krippendorff_alpha_interval", *_ALPHA, _KRIPPENDORFF, partial(krippendorff_alpha, level="interval"), SCORES,
        BOOTSTRAP,
        shown=(
            Shown("table agreement"), Shown("table annotators"), Shown("text methods", later=1),
            Shown("page progress", later=1, words="Krippendorff's α, interval"),
        ),
        undefined=record.empty_of_one_unit, needs=record.needs_numbers, family="krippendorff_alpha",
        of_counts=_alpha(lambda s: np.subtract.outer(s.numbers, s.numbers) ** 2), of_single_raters=True,
        of_ratings=True, why=_why_no_shared,
    ),
    Statistic(
        "krippendorff_alpha_ratio", *_ALPHA, _KRIPPENDORFF, partial(krippendorff_alpha, level="ratio"), SCORES,
        BOOTSTRAP, undefined=record.empty_of_one_unit, of_counts=_alpha(_ratio_distance), needs=record.needs_ratios,
        family="krippendorff_alpha", of_ratings=True, why=_why_no_shared,
    ),
    *(
        Statistic(
            correlation.icc_name(form), "Intraclass correlation", "ICC", _SHROUT, partial(correlation.icc, form=form),
            SCORES, BOOTSTRAP, shown=(Shown("text methods", later=2),) if form == "ICC(2,1)" else (),
            undefined=record.undefined_without_spread, of_counts=_icc(form), needs=record.needs_numbers, family="icc",
            of_single_raters=form == "ICC(2,1)", of_all_people=False, note=record.single_reports_note,
            why=_why_no_icc,
        )
        for form in ("ICC(2,1)", "ICC(3,1)")
    ),
    Statistic(
        "krippendorff_alpha_nominal", *_ALPHA, _KRIPPENDORFF, partial(krippendorff_alpha, level="nominal"), NAMES,
        BOOTSTRAP,
        shown=(
            Shown("table agreement"), Shown("table annotators"), Shown("table votes"), Shown("text methods"),
            Shown("page progress", words="Krippendorff's α"),
        ),
        undefined=record.empty_of_one_unit,
        of_counts=lambda s: closed_forms.alpha(s.coincidences, None, s.coincidence_scales),
        family="krippendorff_alpha", of_ratings=True, coding="labels are categories without order",
        perfect=record.alpha_at, why=_why_no_shared,
    ),
    Statistic(
        "krippendorff_alpha_ordinal", *_ALPHA, _KRIPPENDORFF, partial(krippendorff_alpha, level="ordinal"), SINGLE,
        BOOTSTRAP,
        shown=(
            Shown("table agreement"), Shown("table annotators"), Shown("text methods"),
            Shown("page progress", words="Krippendorff's α, ordinal"),
        ),
        undefined=record.empty_of_one_unit, needs=record.needs_declared_order, family="krippendorff_alpha",
        of_counts=_alpha(lambda s: closed_forms.ordinal_distance(s.coincidences_of_numbers)), of_ratings=True,
        why=_why_no_shared,
    ),
    Statistic(
        "fleiss_kappa", "Fleiss' κ", "κ-F", ("fleiss1971measuring",), fleiss_kappa, ALL_KINDS, BOOTSTRAP,
        shown=(Shown("table votes"), Shown("text methods", later=1)), why=_why_no_fleiss,
    ),
    Statistic(
        "light_kappa", "Light's κ", "κ-L", ("light1971measures",), metrics.light_kappa, ALL_KINDS, BOOTSTRAP,
        why=_why_no_shared,
    ),
    Statistic(
        "pearson", "Pearson's r", "r", ("pearson1895note",), correlation.pearson, ORDERED, BOOTSTRAP,
        shown=(Shown("table agreement"),), undefined=record.empty_of_two_points,
        of_counts=lambda s: closed_forms.pearson(s.of_numbers, s.numbers, s.numbers), needs=record.needs_numbers,
        of_single_raters=True, coding=_CODED, note=record.single_reports_note,
    ),
    Statistic(
        "spearman", "Spearman's ρ", "ρ", ("spearman1904proof",), correlation.spearman, ALL_KINDS, BOOTSTRAP,
        shown=(
            Shown("table agreement"), Shown("table criteria", record.with_scores),
            Shown("table summary", record.scores_alone), Shown("figure agreement", record.scores_alone),
            Shown("figure annotators", record.scores_alone),
        ),
        undefined=record.empty_of_two_points, of_counts=lambda s: closed_forms.spearman(s.of_numbers),
        needs=record.needs_numbers, of_single_raters=True, coding=f"{_CODED}; midranks",
        note=record.single_reports_note,
    ),
    Statistic(
        "kendall_tau_b", "Kendall's τ-b", "τ-b", ("kendall1945treatment",), correlation.kendall_tau_b, ALL_KINDS,
        BOOTSTRAP, undefined=record.empty_of_two_points, of_counts=lambda s: closed_forms.kendall(s.of_numbers),
        needs=record.needs_numbers, coding=_CODED, note=record.single_reports_note,
    ),
    Statistic(
        "icc", "Intraclass correlation", "ICC", _SHROUT, correlation.icc, SCORES, BOOTSTRAP, why=_why_no_icc,
    ),
    Statistic(
        "rank_agreement_across_items", "Rank agreement, all reports", "RA", ("xie2026dr3",),
        correlation.rank_agreement_across_items, SCORES, BOOTSTRAP, undefined=record.undefined_without_rows,
    ),
    Statistic(
        "rank_agreement_within_topic", "Rank agreement in topics", "RA-t", ("du2025deepresearch",),
        correlation.rank_agreement_within_topic, SCORES, WILSON, undefined=record.undefined_without_rows,
    ),
    Statistic(
        BASELINE, "Commonest answer", "common", (), metrics.constant_judge_baseline, ALL_KINDS,
        NO_INTERVAL, shown=(Shown("table criteria"), Shown("table summary", words="common")),
        undefined=record.undefined_without_rows,
    ),
    Statistic(
        "expected_calibration_error", "Calibration error", "ECE", ("naeini2015obtaining", "kumar2019verified"),
        calibration_error.expected_calibration_error, ALL_KINDS, BOOTSTRAP, shown=(Shown("table confidence"),),
    ),
    Statistic(
        "brier_score", "Brier score", "Brier", ("brier1950verification", "murphy1973new"),
        calibration_error.brier_score, ALL_KINDS, BOOTSTRAP, shown=(Shown("table confidence"),),
    ),
    Statistic(
        "confidence_auroc", "AUROC", "AUC", ("hanley1982meaning",), calibration_error.confidence_auroc, ALL_KINDS,
        BOOTSTRAP, shown=(Shown("table confidence"),),
    ),
)  # fmt: skip


def statistic_of(name: str) -> Statistic:
    """The statistic of this name. Raises `unknown_form`."""
    for statistic in METRICS:
        if statistic.name == name:
            return statistic
    raise CalibrationError("unknown_form", f"no statistic is called {name!r}; calibration.metrics.METRICS lists them")


def drawn_of(scale: Scale, by_system: bool) -> tuple[Statistic, ...]:
    """The statistics of count tables that labels of this scale have, those of pairs alone first.

    `by_system`: whether all pairs share one system.
    """
    fitting = [
        metric
        for metric in METRICS
        if metric.is_drawn and scale.kind in metric.kinds and metric.needs(scale, by_system)
    ]
    return tuple(sorted(fitting, key=lambda one: one.kinds != PAIRS))


def at(where: str, kinds: Collection[str] = ()) -> tuple[Statistic, ...]:
    """What is printed in a place such as `table agreement`, of a report with labels of these kinds, in its order."""
    placed = [(metric, place) for metric in METRICS if (place := metric.at(where, kinds)) is not None]
    return tuple(one for one, _ in sorted(placed, key=lambda pair: pair[1].later))


def printed(
    where: str, kinds: Collection[str], known: Collection[str] | None = None, ties: str = "three_class"
) -> dict[str, Statistic]:
    """Name to statistic of one place, in its order, of a report that holds the statistics `known`; None: any.

    Of label agreement the form of the rule for ties, or the plain one; of another family the last form that is known.
    """
    placed = [one for one in at(where, kinds) if known is None or one.name in known]
    own = HEADLINE[ties] if known is None or HEADLINE[ties] in known else AGREEMENT
    found = {one.head: one for one in placed if one.head != AGREEMENT or one.name == own}
    return {one.name: one for one in found.values()}


def beside_agreement(where: str, kinds: Collection[str], known: Collection[str] | None = None) -> dict[str, Statistic]:
    """The same without label agreement, which leads every row, and the commonest answer, which ends it."""
    return {name: one for name, one in printed(where, kinds, known).items() if one.head not in (AGREEMENT, BASELINE)}


def why_undefined(function: Callable[..., float], *args: Any, **kw: Any) -> str:
    """The reason why `function(*args, **kw)` is nan, one of a few words, or "" if it has a value."""
    value = function(*args, **kw)
    if not math.isnan(value):
        return ""
    own = next((metric for metric in METRICS if metric.function is function), None)
    if own is not None and own.why is not None:
        return own.why(*args, **kw)
    columns = aligned(*[given for given in (*args, *kw.values()) if np.ndim(given) == 1][:2])
    labels = [np.unique(column) for column in columns]
    seen = Variety(
        len(columns[0]), any(len(label) == 1 for label in labels), len(np.unique(np.concatenate(labels))) > 1
    )
    return (own.undefined if own else record.undefined_without_chance)(seen, value)
